/* Ranges in names: vmnic[2-5], ds[01,03,05], e0[c-f], gi[1-2]/0/[1-8].
 *
 * A bracket holds numbers, runs of numbers (zero padding of the first is kept), single letters, runs of letters, or words,
 * separated by commas. Several brackets in one text expand leftmost slowest. A bracket that holds a `:` is an IPv6 address
 * as mount(8) writes it, not a range.
 */
#ifndef EMU_MODEL_RANGE_H
#define EMU_MODEL_RANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/topology_arena.h"

enum { RANGE_NAMES_MAX = 65536 };

struct range {
    struct range_part *parts;
    size_t n_parts, capacity;
    size_t count; /* names it stands for; 1 when there is no bracket */
    bool ranged;  /* there is a bracket, if only of one name */
};

/* Parses a text. False: `problem` (arena memory) says what is wrong with it. */
bool range_parse(struct topo_arena *a, const char *text, struct range *out, const char **problem);

/* The name at position i < count. */
const char *range_at(struct topo_arena *a, const struct range *r, size_t i);

#endif
