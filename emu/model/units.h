/* Units of the topology file and of every report: parsing "1G", "64KiB", "50us" and printing them again.
 *
 * Inside the program there is one unit per quantity:
 *   time   int64_t picoseconds (ps_t), 0 = start of the run; 106 days fit
 *   rate   uint64_t bit/s for links (bps_t), double bytes/s in results
 *   size   uint64_t bytes
 * All parsing and printing is independent of the locale.
 */
#ifndef EMU_MODEL_UNITS_H
#define EMU_MODEL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int64_t ps_t;
typedef uint64_t bps_t;

#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S  INT64_C(1000000000000)
#define PS_NEVER  INT64_MAX

/* Each parser reads the whole of `text`; returns NULL when it is a value of that kind, else a static sentence that
 * says what was expected (for example "a rate such as 1G, 100M or 2.5Gbit/s"). Out is untouched on failure. */
const char *unit_parse_rate(const char *text, bps_t *bit_per_s);         /* 1G, 10Gbit/s, 100M */
const char *unit_parse_byte_rate(const char *text, double *bytes_per_s); /* 600MB/s, 350MiB/s */
const char *unit_parse_size(const char *text, uint64_t *bytes);          /* 64KiB, 9000B, 1MB, 512; not a bare 1G */
const char *unit_parse_time(const char *text, ps_t *ps);                 /* 5us, 30s, 2.5ms, 10min, 1h */
const char *unit_parse_count(const char *text, double *value);           /* 20k, 1.5M, 4 */
const char *unit_parse_percent(const char *text, double *fraction);      /* 8% -> 0.08 */

/* Each printer writes at most `size` bytes including the NUL and returns `buf`. */
char *unit_print_rate(char *buf, size_t size, bps_t bit_per_s);    /* "1 Gbit/s" */
char *unit_print_mbps(char *buf, size_t size, double bytes_per_s); /* "117.7" (MB/s, 10^6) */
char *unit_print_size(char *buf, size_t size, uint64_t bytes);
char *unit_print_time(char *buf, size_t size, ps_t ps);

#endif
