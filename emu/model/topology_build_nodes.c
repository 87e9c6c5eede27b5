/* Nodes and boxes, and what a node says about itself: settings, TCP and NFS, storage limits. */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/storage_read.h"
#include "emu/model/topology_file.h"

enum { CONTROLLERS_MAX = 64 };

static enum topo_kind kind_of(const struct doc_node *doc)
{
    const char *kind = build_word(doc, "kind");
    unsigned i = 0;
    while (schema_kinds[i + 1] && strcmp(kind, schema_kinds[i]) != 0)
        i++;
    return (enum topo_kind)i;
}

static int by_name(const void *left, const void *right)
{
    const struct topo_limit *p = left, *q = right;
    return strcmp(p->name, q->name);
}

static void take_limits(struct build *b, struct topo_node *node, const struct doc_node *limits)
{
    if (!limits || !limits->count)
        return;
    struct topo_limit *all = arena_alloc(b->arena, limits->count * sizeof(*all));
    for (size_t i = 0; i < limits->count; i++)
        all[i] = (struct topo_limit){build_string(b, limits->pairs[i].key),
                                     build_integer(limits, limits->pairs[i].key, 0), limits->pairs[i].mark};
    qsort(all, limits->count, sizeof(*all), by_name);
    node->limits = all;
    node->n_limits = limits->count;
}

/* What is documented in docs/topology.md as the default of each kind. ESXi: the defaults of NFS.SendBufferSize and
 * NFS.ReceiveBufferSize; Linux: tcp_wmem, tcp_rmem and the NFS client's largest transfer. */
static struct topo_stack stack_of(struct build *b, const struct topo_node *node, const struct doc_node *doc)
{
    const uint64_t kib = 1024, mib = 1024 * kib;
    struct topo_stack s = {.congestion = "cubic",
                           .timestamps = true,
                           .send_buffer = 4 * mib,
                           .receive_buffer = 6 * mib,
                           .rsize = mib,
                           .wsize = mib,
                           .stable = false};
    if (node->kind == TOPO_ESXI) {
        s.congestion = "reno";
        s.send_buffer = 264 * kib;
        s.receive_buffer = 256 * kib;
        s.rsize = s.wsize = 64 * kib;
        s.stable = true;
        for (size_t i = 0; i < node->n_limits; i++) {
            if (strcmp(node->limits[i].name, "NFS.SendBufferSize") == 0)
                s.send_buffer = (uint64_t)node->limits[i].value * kib;
            else if (strcmp(node->limits[i].name, "NFS.ReceiveBufferSize") == 0)
                s.receive_buffer = (uint64_t)node->limits[i].value * kib;
        }
    }
    const struct doc_node *tcp = doc_get(doc, "tcp"), *nfs = doc_get(doc, "nfs");
    if (build_word(tcp, "congestion"))
        s.congestion = build_text(b, tcp, "congestion");
    s.timestamps = build_bool(tcp, "timestamps", s.timestamps);
    s.send_buffer = build_size(tcp, "send-buffer", s.send_buffer);
    s.receive_buffer = build_size(tcp, "receive-buffer", s.receive_buffer);
    s.rsize = build_size(nfs, "rsize", s.rsize);
    s.wsize = build_size(nfs, "wsize", s.wsize);
    s.stable = build_bool(nfs, "stable", s.stable);
    return s;
}

static void add_box(struct build *b, int node, const char *part, struct diag_mark mark)
{
    struct topo *t = b->t;
    t->boxes = arena_grow(b->arena, t->boxes, t->n_boxes, &b->boxes_capacity, sizeof(*t->boxes));
    const char *name = t->nodes[node].name;
    t->boxes[t->n_boxes] = (struct topo_box){
        .name = part ? build_string(b, arena_printf(b->scratch, "%s:%s", name, part)) : name,
        .part = build_string(b, part),
        .node = node,
        .mark = mark,
        .takeover = -1,
    };
    name_table_add(&b->boxes, t->boxes[t->n_boxes].name, (int)t->n_boxes);
    t->n_boxes++;
    t->nodes[node].n_boxes++;
}

static void add_boxes(struct build *b, int n, const struct doc_node *doc, struct diag_mark mark)
{
    struct topo_node *node = &b->t->nodes[n];
    node->first_box = (int)b->t->n_boxes;
    if (node->kind != TOPO_NAS) {
        add_box(b, n, NULL, mark);
        return;
    }
    const struct doc_node *controllers = doc_get(doc, "controllers"),
                          *limit = doc_get(doc_get(doc, "storage"), "limit");
    if (!controllers || !controllers->count) {
        schema_error(b->report, mark, "one is enough: controllers: {head: {nics: eth0}}", "`%s` has no controllers",
                     node->name);
        return;
    }
    if (controllers->count > CONTROLLERS_MAX) {
        schema_error(b->report, mark, NULL, "`%s` has %zu controllers; a NAS has at most %d", node->name,
                     controllers->count, CONTROLLERS_MAX);
        return;
    }
    for (size_t i = 0; i < controllers->count; i++) {
        const struct doc_pair *pair = &controllers->pairs[i];
        if (strchr(pair->key, '.'))
            schema_error(b->report, pair->mark, NULL, "`%s`: the name of a controller has no dot in it", pair->key);
        add_box(b, n, pair->key, pair->mark);
    }
    struct topo_box *first = &b->t->boxes[node->first_box];
    first->limit_read = build_real(limit, "read", 0);
    first->limit_write = build_real(limit, "write", 0);
    first->limit_iops = build_real(limit, "iops", 0);
    node->storage = storage_read(b, node, doc_get_pair(doc, "storage"));
    for (size_t i = 0; i < controllers->count; i++) {
        const char *partner = build_word(controllers->pairs[i].value, "takeover");
        if (!partner)
            continue;
        int box = name_table_find(&b->boxes, arena_printf(b->scratch, "%s:%s", node->name, partner));
        struct topo_box *self = &b->t->boxes[node->first_box + (int)i];
        if (box < 0 || &b->t->boxes[box] == self)
            schema_error(b->report, build_mark(controllers->pairs[i].value, "takeover"), NULL,
                         "`%s` is no other controller of `%s`", partner, node->name);
        self->takeover = box;
    }
}

static void add_node(struct build *b, const struct doc_pair *pair)
{
    struct topo *t = b->t;
    const struct doc_node *doc = pair->value;
    struct topo_node *node = &t->nodes[t->n_nodes];
    *node = (struct topo_node){
        .name = build_string(b, pair->key),
        .kind = kind_of(doc),
        .mark = pair->mark,
        .model = build_text(b, doc, "model"),
        .mtu = (uint32_t)build_integer(doc, "mtu", 0),
        .members = (int)build_integer(doc, "members", 1),
        .local_bias = build_bool(doc, "local-bias", false),
        .mlag_peer = -1,
        .mlag_peer_link = -1,
        .mac_ageing = build_time(doc, "mac-ageing", 300 * PS_PER_S),
    };
    node->version = build_text(b, doc, node->kind == TOPO_ESXI ? "version" : "kernel");
    take_limits(b, node, doc_get(doc, "limits"));
    const char *indirect = build_word(doc, "indirect");
    node->indirect = !indirect || strcmp(indirect, "hop") == 0 ? TOPO_INDIRECT_HOP
                     : strcmp(indirect, "free") == 0           ? TOPO_INDIRECT_FREE
                                                               : TOPO_INDIRECT_IMPOSSIBLE;
    b->docs[t->n_nodes] = doc;
    name_table_add(&b->nodes, node->name, (int)t->n_nodes);
    t->n_nodes++;
    add_boxes(b, (int)t->n_nodes - 1, doc, pair->mark);
}

void build_nodes(struct build *b)
{
    struct topo *t = b->t;
    const struct doc_node *nodes = doc_get(b->root, "nodes");
    t->nodes = arena_alloc(b->arena, (nodes->count + 1) * sizeof(*t->nodes));
    b->docs = arena_alloc(b->scratch, (nodes->count + 1) * sizeof(*b->docs));
    for (size_t i = 0; i < nodes->count; i++)
        add_node(b, &nodes->pairs[i]);

    t->network_only = true;
    b->part_docs = arena_alloc(b->scratch, (t->n_boxes + 1) * sizeof(*b->part_docs));
    t->stacks = arena_alloc(b->arena, (t->n_boxes + 1) * sizeof(*t->stacks));
    for (size_t i = 0; i < t->n_boxes; i++) {
        const struct topo_node *node = &t->nodes[t->boxes[i].node];
        const struct doc_node *doc = b->docs[t->boxes[i].node];
        t->stacks[i] = stack_of(b, node, doc);
        if (t->boxes[i].part)
            b->part_docs[i] = doc_get(doc_get(doc, "controllers"), t->boxes[i].part);
        if (doc_get(doc, "storage"))
            t->network_only = false;
    }
}
