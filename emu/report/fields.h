/* Everything that a report holds, field by field in one fixed order, told to a sink. The forms for programs (JSON and
 * tab-separated) are sinks, so that they can't say different things.
 *
 * Rates are bytes/s, also those of links; times are seconds; a latency, a finish or a value that does not exist is null
 * (sinks get it as NaN or NULL).
 */
#ifndef EMU_REPORT_FIELDS_H
#define EMU_REPORT_FIELDS_H

#include <stdbool.h>
#include <stdint.h>

struct report;

struct report_sink {
    /* An object or array begins, `key` NULL within arrays; one_line: a row of a table rather than a section. */
    void (*begin)(struct report_sink *s, const char *key, bool array, bool one_line);
    void (*end)(struct report_sink *s);
    /* A string that names the object it is in, or one that is a value. */
    void (*name)(struct report_sink *s, const char *key, const char *text);
    void (*text)(struct report_sink *s, const char *key, const char *text);
    void (*count)(struct report_sink *s, const char *key, uint64_t value);
    void (*real)(struct report_sink *s, const char *key, double value);
    void (*truth)(struct report_sink *s, const char *key, bool value);
};

void report_fields(const struct report *r, struct report_sink *s);

#endif
