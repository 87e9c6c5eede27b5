/* What flows get when they are busy together: their paths, counted per link direction, and max-min rates over them.
 *
 * One prediction is for one direction of bulk data (all writes or all reads). It holds, per flow, the link directions that it
 * uses with their shares, and per link direction the flows on it. predict_rates() answers for any set of busy flows.
 *
 * Rates are bytes/s of NFS payload. A payload byte takes more than a byte of a wire (path_goodput(), by the MTU of the flow's
 * ends and by whether the wire carries a tag); acknowledgements of the other direction are not counted. `background:` takes
 * its share off a link, `storage: {limit: ...}` is one more resource. One connection never gets more than its slowest link,
 * also where it is spread over several by a draw: with draws the rates are those of an even spread, the best case on average.
 */
#ifndef EMU_MODEL_PREDICT_H
#define EMU_MODEL_PREDICT_H

#include "emu/model/path.h"

struct predict;

struct predict_use {
    int linkdir;
    double share;
};

/* A flow on a link direction, with its share. */
struct predict_load {
    int flow;
    double share;
};

/* Paths of all flows; t and flows must outlive it. `weights`: the part of a connection's fair share that each flow stands for
 * (NULL: 1 each). NULL on lack of memory. */
struct predict *predict_new(const struct topo *t, const struct path_state *state, const struct flow *flows,
                            const double *weights, size_t n, enum flow_direction direction);
void predict_free(struct predict *p); /* accepts NULL */

/* Link directions of a flow, each once. */
const struct predict_use *predict_uses(const struct predict *p, size_t flow, size_t *n);
/* Flows with a share on a link direction, in the order of flows. */
const struct predict_load *predict_loads(const struct predict *p, int linkdir, size_t *n);
/* Flows whose path ends somewhere else than at the receiver; they take part in nothing. */
bool predict_broken(const struct predict *p, size_t flow);

/* Rates when exactly the listed flows are busy: rates[i] is of flow busy[i] (0 where the path is broken). busy NULL: all
 * flows, rates[i] is of flow i. Costs what differs from the call before. 0 or -ENOMEM. */
int predict_rates(struct predict *p, const size_t *busy, size_t n_busy, double *rates);

/* Wire bytes/s of the last predict_rates() on a link direction, and the part of its rate that this is (background counts). */
double predict_wire(const struct predict *p, int linkdir, double *utilisation);

/* Bytes of the wire `linkdir` for one byte of payload of this flow; a READ or WRITE is as large as the host's rsize or wsize. */
double predict_wire_factor(const struct topo *t, const struct flow *flow, enum flow_direction direction, int linkdir);

/* Bytes/s that a link direction has besides its `background:`. */
double predict_capacity(const struct topo *t, int linkdir);

/* The VLAN tag that frames of this flow carry on a wire; 0: none. */
uint16_t predict_tag(const struct topo *t, const struct flow *flow, int linkdir);

#endif
