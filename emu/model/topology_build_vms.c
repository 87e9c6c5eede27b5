/* Groups of virtual machines: who they are, where they store, when they start and what they do. */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_DEFAULT = 4096, VMS_MAX = 1000000 };

static struct topo_vm_phase phase_of(struct build *b, const struct doc_node *doc)
{
    uint32_t block = (uint32_t)build_size(doc, "block", BLOCK_DEFAULT);
    bool iops = doc_get(doc, "iops"), think = doc_get(doc, "think"), operations = doc_get(doc, "operations");
    bool outstanding = doc_get(doc, "outstanding"), burst = doc_get(doc, "burst");
    bool closed = !iops && (think || operations || outstanding || burst);
    uint32_t at_once = (uint32_t)build_integer(doc, "outstanding", closed);
    struct diag_mark mark = build_mark(doc, "name");
    if (iops && (think || burst))
        schema_error(b->report, build_mark(doc, think ? "think" : "burst"), NULL,
                     "`iops` is a rate; `think` and `burst` are of phases without one");
    if (doc_get(doc, "even") && !iops && !think)
        schema_error(b->report, build_mark(doc, "even"), NULL,
                     "`even` is about times between operations: give `iops` or `think`");
    if (burst && !think && !iops)
        schema_error(b->report, build_mark(doc, "burst"), "think",
                     "a `burst` is what lies between two pauses: there are none");
    if (!iops && !closed && !doc_get(doc, "for"))
        schema_error(b->report, mark, "iops, operations, or for", "the phase `%s` does nothing and never ends",
                     build_word(doc, "name"));
    return (struct topo_vm_phase){
        .name = build_text(b, doc, "name"),
        .share = build_real(doc, "share", 1),
        .iops = build_real(doc, "iops", 0),
        .operations = (uint64_t)build_real(doc, "operations", 0),
        .length = build_time(doc, "for", 0),
        .think = build_time(doc, "think", 0),
        .burst = (uint32_t)build_integer(doc, "burst", think ? at_once : UINT32_MAX),
        .outstanding = at_once,
        .read_share = build_real(doc, "read-share", 0.5),
        .read_block = (uint32_t)build_size(doc, "read-block", block),
        .write_block = (uint32_t)build_size(doc, "write-block", block),
        .even = build_bool(doc, "even", false),
    };
}

static void add_phases(struct build *b, struct topo_vm_group *g, const struct doc_node *doc)
{
    const struct doc_node *list = doc_get(doc, "phases"), *start = doc_get(doc, "start");
    struct topo_vm_phase *all = arena_alloc(b->arena, (list->count + 1) * sizeof(*all));
    const char *until = build_word(start, "until");
    for (size_t i = 0; i < list->count; i++) {
        const struct doc_node *item = list->items[i];
        all[i] = phase_of(b, item);
        bool endless = !all[i].length && !all[i].operations;
        for (size_t k = 0; k < i; k++)
            if (strcmp(all[k].name, all[i].name) == 0)
                schema_error(b->report, build_mark(item, "name"), NULL, "there are two phases `%s`", all[i].name);
        if (endless && i + 1 < list->count)
            schema_error(b->report, build_mark(item, "name"), "for or operations",
                         "the phase `%s` never ends, and another follows", all[i].name);
        if (endless && !g->length)
            schema_error(b->report, build_mark(item, "name"), "give it `for` or `operations`, or the group `for`",
                         "the phase `%s` never ends", all[i].name);
    }
    g->phases = all;
    g->n_phases = list->count;
    g->until = g->n_phases ? (unsigned)g->n_phases - 1 : 0;
    for (size_t i = 0; until && i < g->n_phases; i++)
        if (strcmp(all[i].name, until) == 0) {
            g->until = (unsigned)i;
            until = NULL;
        }
    if (doc_get(start, "until") && !g->at_most)
        schema_error(b->report, build_mark(start, "until"), "at-most",
                     "`until` says when a machine makes room, and there is no limit");
    if (until)
        schema_error(b->report, build_mark(start, "until"), NULL, "there is no phase `%s`", until);
}

/* The mounts of a host among the workload's, as places, in order of datastores. */
struct host_mounts {
    int host;
    int *places;
    size_t n;
};

static size_t mounts_by_host(struct build *b, const struct topo_workload *w, struct host_mounts **out)
{
    const struct topo *t = b->t;
    struct host_mounts *all = arena_alloc(b->scratch, (w->n_mounts + 1) * sizeof(*all));
    size_t *of_box = arena_alloc(b->scratch, (t->n_boxes + 1) * sizeof(*of_box)), n = 0;
    int *hosts = arena_alloc(b->scratch, (w->n_mounts + 1) * sizeof(*hosts));
    for (size_t i = 0; i < w->n_mounts; i++)
        hosts[i] = t->mounts[w->mounts[i]].host;
    qsort(hosts, w->n_mounts, sizeof(*hosts), build_by_number);
    for (size_t i = 0; i < w->n_mounts; i++) {
        if (n && all[n - 1].host == hosts[i]) {
            all[n - 1].n++;
            continue;
        }
        of_box[hosts[i]] = n;
        all[n++] = (struct host_mounts){.host = hosts[i], .n = 1};
    }
    for (size_t h = 0; h < n; h++) {
        all[h].places = arena_alloc(b->scratch, all[h].n * sizeof(int));
        all[h].n = 0;
    }
    for (size_t i = 0; i < w->n_mounts; i++) {
        struct host_mounts *h = &all[of_box[t->mounts[w->mounts[i]].host]];
        h->places[h->n++] = (int)i;
    }
    *out = all;
    return n;
}

/* Machine i runs on host i mod hosts; the machines of a host take its datastores in turn. */
static void deal(struct build *b, struct topo_vm_group *g, const struct topo_workload *w, const struct doc_node *doc)
{
    struct host_mounts *hosts;
    size_t n_hosts = mounts_by_host(b, w, &hosts);
    if (doc_get(doc, "count") && doc_get(doc, "total"))
        schema_error(b->report, build_mark(doc, "total"), NULL, "`count` is per host, `total` of all: one of them");
    size_t n = doc_get(doc, "total") ? (size_t)build_integer(doc, "total", 0)
                                     : n_hosts * (size_t)build_integer(doc, "count", 1);
    if (!n_hosts)
        return; /* said already */
    if (n > VMS_MAX) {
        schema_error(b->report, w->mark, NULL, "the group `%s` is more than %d machines", g->name, VMS_MAX);
        return;
    }
    int *mounts = arena_alloc(b->arena, (n + 1) * sizeof(*mounts));
    for (size_t i = 0; i < n; i++) {
        const struct host_mounts *h = &hosts[i % n_hosts];
        mounts[i] = h->n ? h->places[i / n_hosts % h->n] : 0; /* each has some */
    }
    g->mounts = mounts;
    g->n_vms = (uint32_t)n;
}

/* What other parts read of the workload that stands for the group: the sums over its phases. */
static void describe(struct topo_workload *w, const struct topo_vm_group *g)
{
    bool reads = false, writes = false;
    uint32_t block = 0;
    for (size_t i = 0; i < g->n_phases; i++) {
        const struct topo_vm_phase *p = &g->phases[i];
        reads |= p->read_share > 0;
        writes |= p->read_share < 1;
        block = p->read_share > 0 && p->read_block > block ? p->read_block : block;
        block = p->read_share < 1 && p->write_block > block ? p->write_block : block;
    }
    w->op = reads && writes ? TOPO_MIXED : reads ? TOPO_READ : TOPO_WRITE;
    w->read_share = g->n_phases ? g->phases[0].read_share : 0;
    w->block = block;
    w->outstanding = 1;
    w->start = g->start;
    w->duration = g->length;
}

void build_vm_groups(struct build *b, const struct doc_node *groups)
{
    struct topo *t = b->t;
    size_t n = groups ? groups->count : 0;
    t->vm_groups = arena_alloc(b->arena, (n + 1) * sizeof(*t->vm_groups));
    for (size_t i = 0; i < n; i++) {
        const struct doc_pair *pair = &groups->pairs[i];
        const struct doc_node *doc = pair->value, *start = doc_get(doc, "start");
        struct topo_vm_group *g = &t->vm_groups[t->n_vm_groups];
        struct topo_workload *w = &t->workloads[t->n_workloads];
        *w = (struct topo_workload){
            .name = build_string(b, pair->key), .vm_group = (int)t->n_vm_groups, .mark = pair->mark};
        *g = (struct topo_vm_group){
            .name = w->name,
            .workload = (int)t->n_workloads,
            .start = build_time(start, "at", 0),
            .length = build_time(doc, "for", 0),
            .rate = build_real(start, "rate", 0),
            .at_most = (uint32_t)build_integer(start, "at-most", 0),
        };
        for (size_t k = 0; k < t->n_workloads; k++)
            if (strcmp(t->workloads[k].name, w->name) == 0)
                schema_error(b->report, pair->mark, NULL, "`%s` is a workload already", w->name);
        t->n_vm_groups++;
        t->n_workloads++;
        build_workload_mounts(b, w, doc);
        add_phases(b, g, doc);
        if (w->n_mounts)
            deal(b, g, w, doc);
        describe(w, g);
    }
}
