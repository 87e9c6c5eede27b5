/* The real site beside its file: what to ask its devices, their answers and counters, the file itself for others to see.
 *
 *   ask.h        which questions make the uncertain choices certain
 *   tell.h       answers pasted from the devices become `observed:` entries
 *   counters.h   counters of ports at two times, in whatever form the devices print them
 *   verify.h     where counters and the path function disagree, and why that may be
 *   anonymize.h  the same site under other names and addresses
 *
 * This header: reading the file, for all of them.
 */
#ifndef NFSBAL_SITE_SITE_H
#define NFSBAL_SITE_SITE_H

#include "emu/model/topology.h"

/* The topology of a file and case (NULL: the file as it stands); "-" is standard input. What is wrong with it is printed on
 * stderr; NULL when there is an error. */
struct topo *site_load(const char *file, const char *case_name);

/* The node of this name, case aside; "fas:n1" (a controller) gives its node. -1: none. */
int site_node(const struct topo *t, const char *name, size_t length);

/* The names by which `observed:` of its node knows a team and a port: "a0a" is "n1.a0a" on a NAS. */
char *site_team_name(const struct topo *t, int team, char *out, size_t size);

#endif
