#include "emu/report/expect_text.h"

#include <math.h>
#include <stdio.h>

#include "emu/model/topology.h"
#include "emu/model/units.h"

char *expect_print_value(char *buf, size_t size, double value, enum expect_unit unit)
{
    char number[32];
    if (isnan(value))
        snprintf(buf, size, "-");
    else if (unit == EXPECT_BYTES_PER_S && fabs(value) >= 1e5)
        snprintf(buf, size, "%s MB/s", unit_print_mbps(number, sizeof number, value));
    else if (unit == EXPECT_SECONDS && fabs(value) >= 600)
        snprintf(buf, size, "%.4g min", value / 60);
    else if (unit == EXPECT_SECONDS && fabs(value) >= 2)
        snprintf(buf, size, "%.4g s", value);
    else if (unit == EXPECT_SECONDS)
        snprintf(buf, size, "%.3g ms", value * 1e3);
    else if (value == floor(value) && fabs(value) < 1e15)
        snprintf(buf, size, "%.0f", value);
    else
        snprintf(buf, size, "%.4g", value);
    return buf;
}

char *expect_print_document(char *buf, size_t size, const struct expect_outcome *o)
{
    const struct topo_expect *e = o->expect;
    char near[48], min[48], max[48];
    expect_print_value(near, sizeof near, e->near, o->unit);
    expect_print_value(min, sizeof min, e->min, o->unit);
    expect_print_value(max, sizeof max, e->max, o->unit);
    if (!isnan(e->near) && e->exact)
        snprintf(buf, size, "%s", near);
    else if (!isnan(e->near))
        snprintf(buf, size, "%s +- %g %%", near, e->within * 100);
    else if (isnan(e->max))
        snprintf(buf, size, "at least %s", min);
    else if (isnan(e->min))
        snprintf(buf, size, "at most %s", max);
    else
        snprintf(buf, size, "%s to %s", min, max);
    return buf;
}

char *expect_print_error(char *buf, size_t size, const struct expect_outcome *o)
{
    if (isnan(o->error))
        snprintf(buf, size, "-");
    else
        snprintf(buf, size, "%+.1f %%", fabs(o->error) < 0.0005 ? 0 : o->error * 100);
    return buf;
}
