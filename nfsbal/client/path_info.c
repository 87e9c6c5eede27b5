/* What is told about paths. */
#include "nfsbal/client/path.h"

#include <assert.h>

#include "nfsbal/client/path_private.h"

static const char *const state_names[] = {"trying", "up", "dead", "returning", "refused", "down"};
static_assert(sizeof state_names / sizeof state_names[0] == PATH_STATES, "a name for each state");

const char *path_state_name(enum path_state s) { return s < PATH_STATES ? state_names[s] : "?"; }

int64_t path_silent_ms(const struct path *path)
{
    int64_t now = loop_clock(), oldest = now;

    for (const struct request *r = path->set->all; r; r = r->all_next)
        if (r->pending && r->pending->path == path && r->pending->sent < oldest)
            oldest = r->pending->sent;
    return (now - oldest) / NS_PER_MS;
}

const struct paths_root *paths_root(const struct paths *p) { return p->have_root ? &p->root : NULL; }
size_t paths_count(const struct paths *p) { return p->n_paths; }

uint64_t paths_epoch(const struct paths *p, size_t i) { return i < p->n_paths ? p->paths[i]->epoch : 0; }

bool paths_info(const struct paths *p, size_t i, struct path_info *out)
{
    const struct path *path = i < p->n_paths ? p->paths[i] : NULL;

    if (!path || !path->name)
        return false;
    *out = (struct path_info){
        .name = path->name,
        .address = path->address,
        .state = path->state,
        .problem = path->problem,
        .connections = path->n_conns,
        .connected = path_n_usable(path),
        .reconnects = path->reconnects,
        .lost = path->lost,
        .tcp = path->tcp,
        .silent_ms = path_silent_ms(path),
        .ports = path->ports,
        .stats = &path->stats,
    };
    for (unsigned k = 0; k < path->n_conns; k++) {
        const struct conn *c = path->conns[k].conn;

        if (!c)
            continue;
        out->outstanding += conn_outstanding(c);
        out->outstanding_bytes += conn_outstanding_bytes(c);
        tcp_counts_add(&out->tcp, conn_tcp(c));
        if (conn_rtt_us(c) > out->rtt_us)
            out->rtt_us = conn_rtt_us(c);
    }
    return true;
}
