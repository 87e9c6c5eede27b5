/* A lab's counters in the text format that Prometheus reads (exposition format 0.0.4). */
#ifndef EMU_LIVE_METRICS_H
#define EMU_LIVE_METRICS_H

#include <stdio.h>

struct watch;

#define METRICS_CONTENT_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* Errors of writing stay in `out`. Counters are those since the lab came up, so two scrapes make a rate. */
void metrics_write(const struct watch *w, FILE *out);

#endif
