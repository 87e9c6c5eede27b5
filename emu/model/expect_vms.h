/* Private to expect_metric.c: metrics of virtual machines. A selector is GROUP or GROUP:PHASE. */
#ifndef EMU_MODEL_EXPECT_VMS_H
#define EMU_MODEL_EXPECT_VMS_H

#include <stdbool.h>

struct result;
struct topo;

bool expect_vms_select(const struct topo *t, const char *selector, int *index);

/* Seconds from the first machine that enters to the last that leaves; operations a second in that time; mean seconds of a machine
 * in it; mean and longest latency in seconds. NaN where nothing was. */
double expect_vms_duration(const struct result *r, int index);
double expect_vms_rate(const struct result *r, int index);
double expect_vms_time(const struct result *r, int index);
double expect_vms_mean(const struct result *r, int index);
double expect_vms_longest(const struct result *r, int index);

#endif
