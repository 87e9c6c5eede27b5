#include "emu/report/fields.h"
#include "emu/report/json.h"
#include "emu/report/report.h"

struct json_sink {
    struct report_sink sink;
    struct json_out json;
};

static struct json_out *json(struct report_sink *s) { return &((struct json_sink *)(void *)s)->json; }

static void begin(struct report_sink *s, const char *key, bool array, bool one_line)
{
    enum json_layout layout = one_line ? JSON_ON_ONE_LINE : JSON_ON_LINES;
    if (array)
        json_out_array(json(s), key, layout);
    else
        json_out_object(json(s), key, layout);
}

static void end(struct report_sink *s) { json_out_end(json(s)); }

static void text(struct report_sink *s, const char *key, const char *value) { json_out_string(json(s), key, value); }

static void count(struct report_sink *s, const char *key, uint64_t value) { json_out_count(json(s), key, value); }

static void real(struct report_sink *s, const char *key, double value) { json_out_real(json(s), key, value); }

static void truth(struct report_sink *s, const char *key, bool value) { json_out_bool(json(s), key, value); }

int report_json(const struct report *r, FILE *out)
{
    struct json_sink s = {
        .sink = {.begin = begin, .end = end, .name = text, .text = text, .count = count, .real = real, .truth = truth}};
    json_out_init(&s.json, out);
    report_fields(r, &s.sink);
    return 0;
}
