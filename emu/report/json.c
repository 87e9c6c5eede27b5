#include "emu/report/json.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

/* A double survives 15 digits as a decimal, and 0.1 stays 0.1. */
#define REAL_DIGITS 15

void json_out_init(struct json_out *j, FILE *file) { *j = (struct json_out){.file = file}; }

static void dump(struct json_out *j, json_t *value)
{
    if (value)
        json_dumpf(value, j->file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS));
    else
        fputs("null", j->file);
    json_decref(value);
}

static void dump_text(struct json_out *j, const char *text)
{
    json_t *value = json_string(text);
    char *copy = value ? NULL : strdup(text);
    if (copy) { /* not UTF-8 */
        for (char *c = copy; *c; c++)
            *c = (unsigned char)*c < 0x80 ? *c : '?';
        value = json_string(copy);
        free(copy);
    }
    dump(j, value);
}

/* What stands before a member: comma, line break, key. */
static void lead(struct json_out *j, const char *key)
{
    if (j->depth) {
        bool lines = j->open[j->depth - 1].lines;
        if (j->open[j->depth - 1].any)
            fputs(lines ? "," : ", ", j->file);
        if (lines)
            fprintf(j->file, "\n%*s", j->depth, "");
        j->open[j->depth - 1].any = true;
    }
    if (key) {
        dump_text(j, key);
        fputs(": ", j->file);
    }
}

static void begin(struct json_out *j, const char *key, enum json_layout layout, const char *brackets)
{
    assert(j->depth < JSON_OUT_DEPTH);
    lead(j, key);
    fputc(brackets[0], j->file);
    bool inside_line = j->depth && !j->open[j->depth - 1].lines;
    j->open[j->depth].close = brackets[1];
    j->open[j->depth].lines = layout == JSON_ON_LINES && !inside_line;
    j->open[j->depth].any = false;
    j->depth++;
}

void json_out_object(struct json_out *j, const char *key, enum json_layout layout) { begin(j, key, layout, "{}"); }

void json_out_array(struct json_out *j, const char *key, enum json_layout layout) { begin(j, key, layout, "[]"); }

void json_out_end(struct json_out *j)
{
    assert(j->depth);
    j->depth--;
    if (j->open[j->depth].lines && j->open[j->depth].any)
        fprintf(j->file, "\n%*s", j->depth, "");
    fputc(j->open[j->depth].close, j->file);
    if (!j->depth)
        fputc('\n', j->file);
}

void json_out_string(struct json_out *j, const char *key, const char *text)
{
    lead(j, key);
    if (text)
        dump_text(j, text);
    else
        dump(j, json_null());
}

void json_out_integer(struct json_out *j, const char *key, int64_t value)
{
    lead(j, key);
    dump(j, json_integer(value));
}

void json_out_count(struct json_out *j, const char *key, uint64_t value)
{
    json_out_integer(j, key, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void json_out_real(struct json_out *j, const char *key, double value)
{
    lead(j, key);
    dump(j, isfinite(value) ? json_real(value == 0 ? 0 : value) : json_null()); /* no -0 */
}

void json_out_bool(struct json_out *j, const char *key, bool value)
{
    lead(j, key);
    dump(j, json_boolean(value));
}

void json_out_null(struct json_out *j, const char *key)
{
    lead(j, key);
    dump(j, json_null());
}

/* struct json_in is jansson's value under our name. */
static const json_t *theirs(const struct json_in *value) { return (const json_t *)(const void *)value; }

static const struct json_in *ours(const json_t *value) { return (const struct json_in *)(const void *)value; }

struct json_in *json_in_load(const char *path, char *problem, size_t size)
{
    json_error_t error;
    json_t *root;
    if (!strcmp(path, "-")) {
        root = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error);
    } else {
        FILE *file = fopen(path, "r");
        if (!file) {
            snprintf(problem, size, "%s: %s", path, strerror(errno));
            return NULL;
        }
        root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
        fclose(file);
    }
    if (!root)
        snprintf(problem, size, "%s:%d:%d: %s", path, error.line, error.column, error.text);
    return (struct json_in *)(void *)root;
}

struct json_in *json_in_parse(const char *text, size_t length, char *problem, size_t size)
{
    json_error_t error;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        snprintf(problem, size, "%d:%d: %s", error.line, error.column, error.text);
    return (struct json_in *)(void *)root;
}

void json_in_free(struct json_in *root) { json_decref((json_t *)(void *)root); }

const struct json_in *json_in_member(const struct json_in *object, const char *key)
{
    return ours(json_object_get(theirs(object), key));
}

const char *json_in_unknown(const struct json_in *object, const char *const *known)
{
    json_t *o = (json_t *)(uintptr_t)object; /* jansson's iterators are not const; nothing is changed */
    for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
        const char *key = json_object_iter_key(i);
        size_t k = 0;
        while (known[k] && strcmp(known[k], key) != 0)
            k++;
        if (!known[k])
            return key;
    }
    return NULL;
}

size_t json_in_size(const struct json_in *array) { return json_array_size(theirs(array)); }

const struct json_in *json_in_element(const struct json_in *array, size_t i)
{
    return ours(json_array_get(theirs(array), i));
}

const char *json_in_text(const struct json_in *value) { return json_string_value(theirs(value)); }

bool json_in_number(const struct json_in *value, double *number)
{
    if (!value || !json_is_number(theirs(value)))
        return false;
    *number = json_number_value(theirs(value));
    return true;
}

bool json_in_count(const struct json_in *value, uint64_t *count)
{
    if (!value || !json_is_integer(theirs(value)) || json_integer_value(theirs(value)) < 0)
        return false;
    *count = (uint64_t)json_integer_value(theirs(value));
    return true;
}

bool json_in_true(const struct json_in *value) { return value && json_is_true(theirs(value)); }

const char *json_in_next_key(const struct json_in *object, const char *key)
{
    json_t *o = (json_t *)(uintptr_t)object; /* jansson's iterators take no const */
    if (!json_is_object(o))
        return NULL;
    return json_object_iter_key(key ? json_object_iter_next(o, json_object_key_to_iter(key)) : json_object_iter(o));
}

bool json_in_is_array(const struct json_in *value) { return json_is_array(theirs(value)); }

int json_in_bool(const struct json_in *value)
{
    return json_is_true(theirs(value)) ? 1 : json_is_false(theirs(value)) ? 0 : -1;
}
