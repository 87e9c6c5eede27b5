/* JSON out, written as it comes, and in, as a tree: the only door to jansson for everything in `emu`.
 *
 * Writing keeps no tree, so a result of a thousand hosts costs no memory. Keys stand in the order of the calls, numbers
 * have one form, nothing depends on locale or machine: equal values give equal bytes. Errors of writing stay in the FILE.
 */
#ifndef EMU_REPORT_JSON_H
#define EMU_REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_OUT_DEPTH 16

/* How the members of an object or array are laid out; what is inside an ON_ONE_LINE is on that line as well. */
enum json_layout { JSON_ON_LINES, JSON_ON_ONE_LINE };

struct json_out {
    FILE *file;
    int depth;
    struct {
        char close; /* '}' or ']' */
        bool lines, any;
    } open[JSON_OUT_DEPTH];
};

void json_out_init(struct json_out *j, FILE *file);

/* `key` is NULL in arrays and at the top. Each object and array is ended by json_out_end(); the last also ends the line. */
void json_out_object(struct json_out *j, const char *key, enum json_layout layout);
void json_out_array(struct json_out *j, const char *key, enum json_layout layout);
void json_out_end(struct json_out *j);

void json_out_string(struct json_out *j, const char *key,
                     const char *text); /* NULL: null. Bytes that are no UTF-8: ? */
void json_out_integer(struct json_out *j, const char *key, int64_t value);
void json_out_count(struct json_out *j, const char *key, uint64_t value); /* up to INT64_MAX */
void json_out_real(struct json_out *j, const char *key, double value);    /* 15 digits; NaN and infinity: null */
void json_out_bool(struct json_out *j, const char *key, bool value);
void json_out_null(struct json_out *j, const char *key);

/* A parsed value. All of these accept NULL and give NULL, 0 or false for what is not there or of another kind. */
struct json_in;

/* Reads a whole file ("-" is standard input). NULL with a sentence in `problem` (place and what is wrong). */
struct json_in *json_in_load(const char *path, char *problem, size_t size);
/* The same of text in memory, one value and nothing after it but blanks. */
struct json_in *json_in_parse(const char *text, size_t length, char *problem, size_t size);
void json_in_free(struct json_in *root); /* the root only */

const struct json_in *json_in_member(const struct json_in *object, const char *key);
/* The first member of an object that is not among `known` (ended by NULL): a misspelt one. NULL: all are known. */
const char *json_in_unknown(const struct json_in *object, const char *const *known);
size_t json_in_size(const struct json_in *array);
const struct json_in *json_in_element(const struct json_in *array, size_t i);
const char *json_in_text(const struct json_in *value);
/* The keys of an object one after the other, in the order of the text: the one behind `key`, NULL: the first. NULL at the end. */
const char *json_in_next_key(const struct json_in *object, const char *key);
bool json_in_is_array(const struct json_in *value);
/* 1 true, 0 false, -1 neither. */
int json_in_bool(const struct json_in *value);
bool json_in_number(const struct json_in *value, double *number);
bool json_in_count(const struct json_in *value, uint64_t *count); /* an integer that is not negative */
bool json_in_true(const struct json_in *value);

#endif
