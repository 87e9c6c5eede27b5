/* Byte counters of the ports of a site, read in the forms in which devices print them, and what went by between two readings.
 *
 * A reading is a file, or a folder with one file per node (NODE.txt, NODE.json). Forms, told apart by their lines:
 *
 *   time<TAB>node:port<TAB>rx_bytes<TAB>tx_bytes    time in seconds of the epoch; a header line is passed over
 *   ip -s -j link                                   a whole file of a folder
 *   esxcli network nic stats get -n NIC
 *   ethtool -S NIC                                  below a line "NIC:"
 *   show interfaces                                 Cisco IOS and NX-OS, Arista EOS, Junos; also its lines cut out
 *   a number of at least nine digits                the time of what follows: date +%s
 *
 * In a single file a line "## NODE" says whose lines follow. Ports that the topology doesn't have are passed over, except in
 * the first form.
 */
#ifndef NFSBAL_SITE_COUNTERS_H
#define NFSBAL_SITE_COUNTERS_H

#include <stdbool.h>

#include "emu/model/topology.h"

struct counter { /* of a port, its own view */
    bool has_rx, has_tx;
    uint64_t rx, tx;
    double time; /* seconds; NaN: not known */
};

struct counters {
    struct counter *ports; /* by port of the topology */
    size_t found;          /* ports with a counter */
};

/* Reads "-" (standard input), a file or a folder. What is wrong is printed on stderr. 0, -EINVAL for bad input, -ENOMEM;
 * counters_free() in any case. */
int counters_read(const struct topo *t, const char *path, struct counters *out);
void counters_free(struct counters *c);

enum counter_state {
    COUNTER_NONE,   /* not in both readings */
    COUNTER_STEADY, /* it went up */
    COUNTER_WRAPPED,
    COUNTER_RESET,      /* it began again: what it has since then, a lower bound */
    COUNTER_IMPOSSIBLE, /* more than the link can carry in that time */
};

/* Bytes between two values of a counter on a link of `rate`, `seconds` apart (NaN: not known). A value below the former is a
 * wrap where a counter of 32 or 64 bits can have come there at that rate, otherwise a reset. */
enum counter_state counter_delta(uint64_t before, uint64_t after, bps_t rate, double seconds, double *bytes);

/* Bytes that the link direction carried: what its sender counted, or its receiver where that is better known. */
enum counter_state counters_linkdir(const struct topo *t, const struct counters *before, const struct counters *after,
                                    int linkdir, double *bytes);

/* Seconds between the readings of a port; NaN: not known. */
double counters_seconds(const struct counters *before, const struct counters *after, int port);

#endif
