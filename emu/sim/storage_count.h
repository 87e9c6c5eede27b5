/* What the disks of a storage did, for the result. Internal to emu/sim. */
#ifndef EMU_SIM_STORAGE_COUNT_H
#define EMU_SIM_STORAGE_COUNT_H

struct result;
struct storage;

/* Counters of all groups of a node's storage so far; s may be NULL. */
void storage_count_into(struct result *r, int node, const struct storage *s);

#endif
