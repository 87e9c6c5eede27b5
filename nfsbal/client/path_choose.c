/* Which connection a request takes. */
#include "nfsbal/client/path_private.h"

bool path_conn_usable(const struct path_conn *pc)
{
    return pc->conn && pc->verified && conn_get_state(pc->conn) == CONN_UP;
}

unsigned path_n_usable(const struct path *path)
{
    unsigned n = 0;

    for (unsigned i = 0; i < path->n_conns; i++)
        n += path_conn_usable(&path->conns[i]);
    return n;
}

static struct path_conn *conn_of(struct path *path, bool meta)
{
    struct path_conn *best = NULL;

    for (unsigned i = 0; i < path->n_conns; i++) {
        struct path_conn *pc = &path->conns[(path->next_conn + i) % path->n_conns];

        if (!path_conn_usable(pc))
            continue;
        if (!best || (pc->meta == meta && best->meta != meta) ||
            (pc->meta == best->meta && conn_outstanding_bytes(pc->conn) < conn_outstanding_bytes(best->conn)))
            best = pc;
    }
    path->next_conn = path->n_conns ? (path->next_conn + 1) % path->n_conns : 0;
    return best;
}

static uint64_t path_bytes(const struct path *path)
{
    uint64_t bytes = 0;

    for (unsigned i = 0; i < path->n_conns; i++)
        if (path->conns[i].conn)
            bytes += conn_outstanding_bytes(path->conns[i].conn);
    return bytes;
}

static bool path_ready(const struct path *path) { return path->state == PATH_UP && path_n_usable(path) > 0; }

static struct path *choose_round_robin(struct paths *p)
{
    for (size_t i = 0; i < p->n_paths; i++) {
        struct path *path = p->paths[p->next_path++ % p->n_paths];

        if (path_ready(path))
            return path;
    }
    return NULL;
}

static struct path *choose_least(struct paths *p)
{
    struct path *best = NULL;
    uint64_t best_bytes = 0;

    p->next_path++;
    for (size_t i = 0; i < p->n_paths; i++) {
        struct path *path = p->paths[(p->next_path + i) % p->n_paths];
        uint64_t bytes = path_ready(path) ? path_bytes(path) : 0;

        if (path_ready(path) && (!best || bytes < best_bytes)) {
            best = path;
            best_bytes = bytes;
        }
    }
    return best;
}

/* Smooth weighted round robin: each gains its weight, who has most pays the sum. */
static struct path *choose_weighted(struct paths *p)
{
    struct path *best = NULL;
    int64_t sum = 0;

    for (size_t i = 0; i < p->n_paths; i++) {
        struct path *path = p->paths[i];

        if (!path_ready(path))
            continue;
        path->credit += path->weight;
        sum += path->weight;
        if (!best || path->credit > best->credit)
            best = path;
    }
    if (best)
        best->credit -= sum;
    return best;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Rendezvous hashing: when a path goes only its own files move. */
static struct path *choose_by_handle(struct paths *p, const struct nfs3_fh *fh)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325), best_score = 0;
    struct path *best = NULL;

    for (unsigned i = 0; i < fh->size; i++)
        h = (h ^ fh->bytes[i]) * UINT64_C(0x100000001B3);
    for (size_t i = 0; i < p->n_paths; i++) {
        uint64_t score = mix(h ^ mix(i + 1));

        if (path_ready(p->paths[i]) && (!best || score > best_score)) {
            best = p->paths[i];
            best_score = score;
        }
    }
    return best;
}

static struct path *choose_first(struct paths *p)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (path_ready(p->paths[i]))
            return p->paths[i];
    return NULL;
}

struct path_conn *paths_choose(struct paths *p, const struct request *r)
{
    enum nfs3_procedure what = r->call.procedure;
    bool data = what == NFS3_READ || what == NFS3_WRITE || what == NFS3_COMMIT;
    struct path *path = NULL;

    if (r->want >= 0 && (size_t)r->want < p->n_paths && path_n_usable(p->paths[r->want]) &&
        (r->must || path_ready(p->paths[r->want])))
        path = p->paths[r->want];
    if (!path && r->must)
        return NULL;
    if (!path)
        switch (p->config.spread) {
        case PATHS_SPREAD_MOUNT:
            path = choose_first(p);
            break;
        case PATHS_SPREAD_FILE:
            path = choose_by_handle(p, &r->call.fh);
            break;
        case PATHS_SPREAD_STRIPE:
            if (!data)
                path = choose_first(p);
            else if (p->config.choice == PATHS_ROUND_ROBIN)
                path = choose_round_robin(p);
            else
                path = p->config.choice == PATHS_LEAST_BYTES ? choose_least(p) : choose_weighted(p);
            break;
        }
    return path ? conn_of(path, !data && p->config.spread == PATHS_SPREAD_STRIPE) : NULL;
}
