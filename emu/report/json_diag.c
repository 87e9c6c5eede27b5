#include "emu/report/json_diag.h"

#include "emu/model/diag.h"
#include "emu/report/json.h"

static void place(struct json_out *j, const char *key, int value)
{
    if (value > 0)
        json_out_integer(j, key, value);
    else
        json_out_null(j, key);
}

void json_diag(struct json_out *j, const char *key, struct diag *d)
{
    diag_sort(d);
    json_out_array(j, key, JSON_ON_LINES);
    for (size_t i = 0; i < d->count; i++) {
        const struct diag_entry *e = &d->entries[i];
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "severity", diag_severity_name(e->severity));
        json_out_string(j, "id", e->id);
        place(j, "line", e->mark.line);
        place(j, "column", e->mark.line > 0 ? e->mark.column : 0);
        place(j, "length", e->mark.line > 0 ? e->mark.length : 0);
        json_out_string(j, "text", e->text);
        json_out_string(j, "hint", e->hint);
        json_out_bool(j, "allowed", e->allowed);
        json_out_string(j, "reason", e->reason);
        json_out_end(j);
    }
    json_out_end(j);
}
