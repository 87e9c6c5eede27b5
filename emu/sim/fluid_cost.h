/* What one operation of a job costs: bytes on each link direction, and time on an idle path. Internal to emu/sim.
 *
 * Both are worked out frame by frame from the same sizes that the trains have: calls and replies of model/nfs.h cut into
 * segments of the connection's MSS, each with its headers, preamble and gap. */
#ifndef EMU_SIM_FLUID_COST_H
#define EMU_SIM_FLUID_COST_H

#include "emu/model/path.h"
#include "emu/model/topology.h"

/* Per byte of the job's payload. */
struct fluid_use {
    int linkdir;
    double wire, frames; /* bytes on the wire, frames */
    double bulk;         /* TCP payload in the direction of the data */
};

struct fluid_cost {
    struct fluid_use *uses; /* each link direction once; free() */
    size_t n_uses;
    double read_share;  /* of the payload */
    double storage[3];  /* per byte of payload: operations, bytes read, bytes written */
    double latency;     /* seconds, of one operation when nothing else is there */
    double window_rate; /* bytes/s that the TCP windows allow; INFINITY: do not limit */
    bool broken;        /* no way to the server or back */
};

/* flows: the n connections that the job's calls take in turn; read_share: of its payload. 0 or -ENOMEM. */
int fluid_cost(const struct topo *t, const struct path_state *state, const struct topo_workload *w, double read_share,
               const struct flow *flows, size_t n, struct fluid_cost *out);

/* What b costs added to a, for a job whose payload moves in both, one after the other. 0 or -ENOMEM. */
int fluid_cost_add(struct fluid_cost *a, const struct fluid_cost *b);

/* Bytes of a full call of an operation. */
double fluid_call_bytes(const struct topo *t, const struct topo_workload *w, const struct flow *f, bool write);

#endif
