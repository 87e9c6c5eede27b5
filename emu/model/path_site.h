/* All mounts of a topology as flows, with their predictions: what `emu path` shows, computed once, for whatever prints it.
 *
 * A flow here is what one mount has in one connection. A mount that has no connection of its own (Linux: its server's transport
 * is there already; ESXi: more mounts to one VIP than SunRPC.MaxConnPerIP) rides on another's: it is one more flow over the
 * same ways, and those that share weigh as much as their connections do together. On ESXi which mounts share is not known, so
 * the weight is the same for all mounts of a host to that VIP.
 */
#ifndef EMU_MODEL_PATH_SITE_H
#define EMU_MODEL_PATH_SITE_H

#include "emu/model/path.h"
#include "emu/model/predict.h"

struct path_site {
    const struct topo *t;
    struct flow *flows; /* in mount order */
    double *weights;    /* in max-min */
    double *counts;     /* in counts of flows: 1; connections that Linux mounts share count once */
    size_t n_flows;
    size_t *first_flow;         /* those of mount m are first_flow[m] .. first_flow[m + 1] - 1 */
    struct predict *predict[2]; /* by enum flow_direction */
    double *all[2];             /* per flow, bytes/s of NFS data with every flow busy in this direction */
    /* Rates with one host busy alone, of the host asked last. */
    int busy_host;
    size_t *host_flows, n_host_flows;
    double *host_rates[2];
};

/* Bytes/s of all flows of a mount together. */
struct path_rates {
    double alone; /* nothing else busy */
    double least; /* ... and all its draws fall on one member */
    double host;  /* all mounts of its host busy */
    double all;   /* everything busy */
};

/* t must outlive it; `flows` are those of flow_list(), source ports filled in where known. NULL on lack of memory. */
struct path_site *path_site_new(const struct topo *t, const struct flow *flows, size_t n_flows);
void path_site_free(struct path_site *s); /* accepts NULL */

/* The mount whose connections this one uses: itself, or the one that it shares with. */
int path_site_owner(const struct topo *t, int mount);

/* 0 or -ENOMEM. */
int path_site_rates(struct path_site *s, int mount, enum flow_direction direction, struct path_rates *out);
/* The flows of a host, in order; NULL on lack of memory. Valid until the next call that is about another host. */
const size_t *path_site_flows_of(struct path_site *s, int host, size_t *n);
/* All mounts of a host together, nothing else busy. */
int path_site_host_rate(struct path_site *s, int host, enum flow_direction direction, double *rate);
/* Makes the last solve of both predictions the one with everything busy, for predict_wire(). */
int path_site_all_busy(struct path_site *s);

/* True when some hop of the mount's flows has no index. */
bool path_site_drawn(const struct path_site *s, int mount, enum flow_direction direction);

/* Flows on a link direction, summed by their shares: of all hosts (-1) or one. */
double path_site_count(const struct path_site *s, int linkdir, int host, enum flow_direction direction);

#endif
