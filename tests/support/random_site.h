/* Random topology files that are valid and have a way from every host to every VIP: for twins and for holding engines against
 * each other. Hosts of both kinds with every sort of team, one to three switches in a line, LAGs or single cables between,
 * NAS controllers with a LAG, a switch-independent team or one NIC. No rule without an index. One short workload
 * reads and writes everywhere.
 */
#ifndef TESTS_SUPPORT_RANDOM_SITE_H
#define TESTS_SUPPORT_RANDOM_SITE_H

#include <stdint.h>

enum {
    RANDOM_SITE_RENAMED = 1,  /* hosts, switches and the NAS have other names: RANDOM_SITE_HOST for "h" ... */
    RANDOM_SITE_PERMUTED = 2, /* nodes, cables and datastores in the opposite order */
    RANDOM_SITE_REVERSED = 4, /* the ends of each cable the other way round */
};
#define RANDOM_SITE_HOST   "zebra"
#define RANDOM_SITE_SWITCH "yak"
#define RANDOM_SITE_NAS    "aardvark"

/* YAML in memory of its own: free(). The same seed gives the same site, whatever its looks. */
char *random_site(uint64_t seed, unsigned looks);

#endif
