#include "emu/model/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A decimal number is read exactly, as digits without the point and the number of places behind it: no strtod, which
 * obeys the locale, and no rounding before the unit has been multiplied in. */
struct decimal {
    uint64_t digits;
    unsigned places;
};

enum { PLACES_MAX = 12 };

static const uint64_t power_of_ten[PLACES_MAX + 1] = {1,           10,           100,          1000,      10000,
                                                      100000,      1000000,      10000000,     100000000, 1000000000,
                                                      10000000000, 100000000000, 1000000000000};

struct unit {
    const char *name;
    uint64_t factor;
};

/* Reads "12.5" and returns what follows it, or NULL when there is no number or one with too many digits. */
static const char *read_decimal(const char *text, struct decimal *out)
{
    struct decimal d = {0, 0};
    const char *p = text;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (d.digits > (UINT64_MAX - 9) / 10)
            return NULL;
        d.digits = d.digits * 10 + (uint64_t)(*p - '0');
    }
    if (p == text)
        return NULL;
    if (*p == '.') {
        const char *point = p++;
        for (; *p >= '0' && *p <= '9'; p++) {
            if (d.digits > (UINT64_MAX - 9) / 10 || d.places == PLACES_MAX)
                return NULL;
            d.digits = d.digits * 10 + (uint64_t)(*p - '0');
            d.places++;
        }
        if (p == point + 1)
            return NULL;
    }
    *out = d;
    return p;
}

/* The factor of the unit that `text` is, or 0. One blank between number and unit is allowed. */
static uint64_t find_unit(const char *text, const struct unit *units)
{
    if (*text == ' ')
        text++;
    for (; units->name; units++)
        if (strcmp(text, units->name) == 0)
            return units->factor;
    return 0;
}

/* Reads a number with one of the units into an integer; false when it is none, too large, or not whole. */
static bool read_whole(const char *text, const struct unit *units, uint64_t *out)
{
    struct decimal d;
    const char *rest = read_decimal(text, &d);
    if (!rest)
        return false;
    uint64_t factor = find_unit(rest, units), product;
    for (; d.places && factor % 10 == 0 && factor; d.places--)
        factor /= 10;
    if (!factor || __builtin_mul_overflow(d.digits, factor, &product))
        return false;
    if (product % power_of_ten[d.places])
        return false;
    *out = product / power_of_ten[d.places];
    return true;
}

/* The same where fractions are meant. */
static bool read_real(const char *text, const struct unit *units, double *out)
{
    struct decimal d;
    const char *rest = read_decimal(text, &d);
    uint64_t factor = rest ? find_unit(rest, units) : 0;
    if (!factor)
        return false;
    *out = (double)d.digits * (double)factor / (double)power_of_ten[d.places];
    return true;
}

#define KILO UINT64_C(1000)
#define MEGA UINT64_C(1000000)
#define GIGA UINT64_C(1000000000)
#define TERA UINT64_C(1000000000000)
#define KIBI (UINT64_C(1) << 10)
#define MEBI (UINT64_C(1) << 20)
#define GIBI (UINT64_C(1) << 30)
#define TEBI (UINT64_C(1) << 40)

const char *unit_parse_rate(const char *text, bps_t *bit_per_s)
{
    static const struct unit units[] = {{"K", KILO},      {"k", KILO},      {"M", MEGA},      {"G", GIGA},
                                        {"T", TERA},      {"bit/s", 1},     {"kbit/s", KILO}, {"Kbit/s", KILO},
                                        {"Mbit/s", MEGA}, {"Gbit/s", GIGA}, {"Tbit/s", TERA}, {NULL, 0}};
    return read_whole(text, units, bit_per_s) ? NULL : "a rate such as 1G, 100M or 2.5Gbit/s";
}

const char *unit_parse_byte_rate(const char *text, double *bytes_per_s)
{
    static const struct unit units[] = {{"B/s", 1},      {"kB/s", KILO},  {"KB/s", KILO},
                                        {"MB/s", MEGA},  {"GB/s", GIGA},  {"KiB/s", KIBI},
                                        {"MiB/s", MEBI}, {"GiB/s", GIBI}, {NULL, 0}};
    return read_real(text, units, bytes_per_s) ? NULL : "bytes per second such as 600MB/s or 350MiB/s";
}

const char *unit_parse_size(const char *text, uint64_t *bytes)
{
    static const struct unit units[] = {{"", 1},       {"B", 1},      {"kB", KILO},  {"KB", KILO},
                                        {"MB", MEGA},  {"GB", GIGA},  {"TB", TERA},  {"KiB", KIBI},
                                        {"MiB", MEBI}, {"GiB", GIBI}, {"TiB", TEBI}, {NULL, 0}};
    return read_whole(text, units, bytes) ? NULL : "a size such as 64KiB, 9000B or 1MB (a bare 1G is a rate)";
}

const char *unit_parse_time(const char *text, ps_t *ps)
{
    static const struct unit units[] = {
        {"ps", 1},       {"ns", PS_PER_NS},      {"us", PS_PER_US},      {"ms", PS_PER_MS},
        {"s", PS_PER_S}, {"min", 60 * PS_PER_S}, {"h", 3600 * PS_PER_S}, {"d", 86400 * PS_PER_S},
        {NULL, 0}};
    static const char expected[] = "a time such as 5us, 2.5ms, 30s or 10min";
    uint64_t value;
    if (strcmp(text, "0") == 0)
        value = 0;
    else if (!read_whole(text, units, &value) || value > (uint64_t)(INT64_C(8640000) * PS_PER_S))
        return expected;
    *ps = (ps_t)value;
    return NULL;
}

const char *unit_parse_count(const char *text, double *value)
{
    static const struct unit units[] = {{"", 1}, {"k", KILO}, {"K", KILO}, {"M", MEGA}, {"G", GIGA}, {NULL, 0}};
    return read_real(text, units, value) ? NULL : "a number such as 4, 20k or 1.5M";
}

const char *unit_parse_percent(const char *text, double *fraction)
{
    static const struct unit units[] = {{"%", 1}, {NULL, 0}};
    double value;
    if (!read_real(text, units, &value))
        return "a percentage such as 8% or 0.1%";
    *fraction = value / 100;
    return NULL;
}

/* Prints value / scale with up to three places, trailing zeros dropped, and the unit's name. */
static char *print_scaled(char *buf, size_t size, uint64_t value, uint64_t scale, const char *name)
{
    uint64_t whole = value / scale, thousandths = (uint64_t)((double)(value % scale) / (double)scale * 1000 + 0.5);
    if (thousandths == 1000) {
        whole++;
        thousandths = 0;
    }
    if (thousandths == 0)
        snprintf(buf, size, "%" PRIu64 " %s", whole, name);
    else if (thousandths % 100 == 0)
        snprintf(buf, size, "%" PRIu64 ".%" PRIu64 " %s", whole, thousandths / 100, name);
    else if (thousandths % 10 == 0)
        snprintf(buf, size, "%" PRIu64 ".%02" PRIu64 " %s", whole, thousandths / 10, name);
    else
        snprintf(buf, size, "%" PRIu64 ".%03" PRIu64 " %s", whole, thousandths, name);
    return buf;
}

/* With the largest unit that the value reaches; the list ends with factor 1. */
static char *print_largest(char *buf, size_t size, uint64_t value, const struct unit *units)
{
    while (units->factor > 1 && value < units->factor)
        units++;
    return print_scaled(buf, size, value, units->factor, units->name);
}

char *unit_print_rate(char *buf, size_t size, bps_t bit_per_s)
{
    static const struct unit units[] = {
        {"Tbit/s", TERA}, {"Gbit/s", GIGA}, {"Mbit/s", MEGA}, {"kbit/s", KILO}, {"bit/s", 1}};
    return print_largest(buf, size, bit_per_s, units);
}

char *unit_print_mbps(char *buf, size_t size, double bytes_per_s)
{
    bool negative = bytes_per_s < 0;
    double tenths = (negative ? -bytes_per_s : bytes_per_s) / 1e5 + 0.5;
    if (!(tenths < 9e18)) {
        snprintf(buf, size, "-"); /* no number, or none that a link carries */
        return buf;
    }
    uint64_t value = (uint64_t)tenths;
    snprintf(buf, size, "%s%" PRIu64 ".%" PRIu64, negative && value ? "-" : "", value / 10, value % 10);
    return buf;
}

char *unit_print_size(char *buf, size_t size, uint64_t bytes)
{
    static const struct unit units[] = {{"TiB", TEBI}, {"GiB", GIBI}, {"MiB", MEBI}, {"KiB", KIBI}, {"B", 1}};
    return print_largest(buf, size, bytes, units);
}

char *unit_print_time(char *buf, size_t size, ps_t ps)
{
    static const struct unit units[] = {
        {"s", PS_PER_S}, {"ms", PS_PER_MS}, {"us", PS_PER_US}, {"ns", PS_PER_NS}, {"ps", 1}};
    if (ps >= 0)
        return print_largest(buf, size, (uint64_t)ps, units);
    if (size > 1) {
        buf[0] = '-';
        print_largest(buf + 1, size - 1, ps == INT64_MIN ? (uint64_t)INT64_MAX + 1 : (uint64_t)-ps, units);
    }
    return buf;
}
