/* The same site for others to see: other names, other addresses, the same results. */
#ifndef NFSBAL_SITE_ANONYMIZE_H
#define NFSBAL_SITE_ANONYMIZE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/model/topology.h"

struct topo_file;

/* Writes the file as YAML with its ranges expanded and
 *
 *   - every address XORed with one constant for its subnet and all subnets that exchange traffic with it, so that
 *     source XOR destination, and whatever a rule makes of that, stays; the lowest three bits stay as well, so that rules
 *     that read one address alone and pick by 2, 4 or 8 stay too. The first subnet of a group comes to lie in 10.0.0.0/8;
 *   - every MAC address XORed with one constant;
 *   - nodes, controllers, svms, datastores, exported paths, DNS names, workloads and cases renamed;
 *   - title, comments, reasons and `expect:` left out.
 *
 * Names of NICs, teams and port groups, VLANs, models and versions stay. The constants come from the seed: who knows it can
 * undo them. Names before and after go to `map` (may be NULL), a line each, divided by a tab. 0, -EIO, or -EINVAL where the
 * addresses leave no room. `problem` of `size` bytes says which. */
int anonymize(const struct topo_file *f, uint64_t seed, FILE *out, FILE *map, char *problem, size_t size);

/* How often a team's choice is another one in the anonymized topology. */
struct anonymize_change {
    int team;
    size_t choices, changed;
};

/* Compares the paths of all flows of two topologies of the same shape, hop by hop. One entry per team with a change in *out
 * (free()); their number, or -ENOMEM. */
long anonymize_compare(const struct topo *before, const struct topo *after, struct anonymize_change **out);

#endif
