/* How to collect the counters of a site: commands by device that only read, in a form that counters.h reads. */
#ifndef NFSBAL_SITE_COLLECT_H
#define NFSBAL_SITE_COLLECT_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/topology.h"

/* Writes what to run on a box (lines divided by \n), with its ports that have cables. False: it has none; *advice is true when
 * this is no command but what to do by hand. */
bool collect_box(const struct topo *t, int box, char *out, size_t size, bool *advice);

#endif
