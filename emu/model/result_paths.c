/* What the path function says about a result's flows. Apart from result.c, which does without it. */
#include "emu/model/result.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path.h"
#include "emu/model/topology.h"

static const char *const problems[] = {
    [PATH_OK] = NULL,
    [PATH_NO_LINK] = "no link is up",
    [PATH_BLACKHOLE] = "into a black hole",
    [PATH_NO_ROUTE] = "no route",
    [PATH_LOOP] = "in a loop",
    [PATH_VIP_DOWN] = "the VIP is down",
};
static_assert(sizeof problems / sizeof problems[0] == PATH_VIP_DOWN + 1, "one text per way to end");

struct trace {
    struct result *r;
    size_t paths_size, hops_size;
    double *share; /* of the flow at hand, per link direction */
    int *touched;  /* those where it is not 0 */
    size_t n_touched;
};

/* Per mount whether a job that works reads (bit 0) or writes (bit 1) there. */
static unsigned char *mount_operations(const struct result *r)
{
    const struct topo *t = r->topo;
    unsigned char *ops = calloc(t->n_mounts + 1, 1);
    for (size_t i = 0; ops && i < r->n_jobs; i++) {
        const struct topo_mount *m = &t->mounts[r->jobs[i].mount];
        int owner = m->shares_with >= 0 ? m->shares_with : r->jobs[i].mount; /* of the connections */
        if (result_works(r, m->host))
            ops[owner] |= (unsigned char)(r->jobs[i].reads | r->jobs[i].writes << 1);
    }
    return ops;
}

static int add_hop(struct trace *tr, int linkdir)
{
    struct result *r = tr->r;
    if (r->n_hops == tr->hops_size) {
        size_t size = tr->hops_size ? 2 * tr->hops_size : 256;
        int *hops = realloc(r->hops, size * sizeof *hops);
        if (!hops)
            return -ENOMEM;
        r->hops = hops;
        tr->hops_size = size;
    }
    r->hops[r->n_hops++] = linkdir;
    return 0;
}

/* Ways that part and meet again give their shares one by one. */
static void add_share(void *context, int linkdir, double share)
{
    struct trace *tr = context;
    if (share <= 0)
        return;
    if (tr->share[linkdir] == 0)
        tr->touched[tr->n_touched++] = linkdir;
    tr->share[linkdir] += share;
}

static void count_shares(struct trace *tr, const struct flow *flow, bool write)
{
    tr->n_touched = 0;
    path_shares(tr->r->topo, NULL, flow, write ? FLOW_WRITE : FLOW_READ, add_share, tr);
    for (size_t i = 0; i < tr->n_touched; i++) {
        struct result_link *l = &tr->r->links[tr->touched[i]];
        if (write)
            l->flows_write++;
        else
            l->flows_read++;
        l->carries_part |= tr->share[tr->touched[i]] < 1 - 1e-9;
        tr->share[tr->touched[i]] = 0;
    }
}

static int trace(struct trace *tr, const struct flow *flow, bool write)
{
    struct result *r = tr->r;
    enum flow_direction direction = write ? FLOW_WRITE : FLOW_READ;
    enum hash_status status = HASH_EXACT;
    enum topo_origin inputs = TOPO_GIVEN;
    struct path path;

    if (r->n_paths == tr->paths_size) {
        size_t size = tr->paths_size ? 2 * tr->paths_size : 64;
        struct result_path *paths = realloc(r->paths, size * sizeof *paths);
        if (!paths)
            return -ENOMEM;
        r->paths = paths;
        tr->paths_size = size;
    }
    path_walk(r->topo, NULL, flow, direction, false, &path);
    struct result_path *p = &r->paths[r->n_paths++];
    *p = (struct result_path){.mount = flow->mount,
                              .connection = (unsigned)flow->connection,
                              .write = write,
                              .first_hop = r->n_hops,
                              .n_hops = (unsigned)path.n_hops,
                              .problem = problems[path.end]};
    for (size_t h = 0; h < path.n_hops; h++) {
        if (add_hop(tr, path.hops[h].conditional ? -1 : path.hops[h].linkdir))
            return -ENOMEM;
        status = path.hops[h].status > status ? path.hops[h].status : status;
        inputs = path.hops[h].inputs > inputs ? path.hops[h].inputs : inputs;
    }
    p->label = path_label(status, inputs);
    count_shares(tr, flow, write);
    return 0;
}

/* How sure the choices of links are, where not all are certain. */
static void note_labels(struct result *r)
{
    const char *labels[16];
    size_t count[16] = {0}, n = 0;
    char text[200] = "";
    for (size_t i = 0; i < r->n_paths; i++) {
        size_t l = 0;
        while (l < n && strcmp(labels[l], r->paths[i].label))
            l++;
        if (l == n && n < sizeof labels / sizeof labels[0])
            labels[n++] = r->paths[i].label;
        if (l < n)
            count[l]++;
    }
    if (!n || (n == 1 && !strcmp(labels[0], hash_status_name(HASH_EXACT))))
        return;
    for (size_t l = 0, used = 0; l < n && used < sizeof text; l++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s", l ? ", " : "", count[l], labels[l]);
    result_note(r, "how sure the paths of %zu flows are: %s; `emu path` says why", r->n_paths, text);
}

int result_trace_paths(struct result *r)
{
    struct trace tr = {.r = r,
                       .share = calloc(r->n_links + 1, sizeof *tr.share),
                       .touched = calloc(r->n_links + 1, sizeof *tr.touched)};
    struct flow *flows = NULL;
    unsigned char *ops = mount_operations(r);
    long n = ops && tr.share && tr.touched ? flow_list(r->topo, &flows) : -ENOMEM;
    int rc = n < 0 ? -ENOMEM : 0;

    for (long i = 0; i < n && !rc; i++) {
        if (ops[flows[i].mount] & 2)
            rc = trace(&tr, &flows[i], true);
        if (!rc && ops[flows[i].mount] & 1)
            rc = trace(&tr, &flows[i], false);
    }
    free(flows);
    free(ops);
    free(tr.share);
    free(tr.touched);
    if (!rc)
        note_labels(r);
    return rc;
}
