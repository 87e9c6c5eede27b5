/* Back ends that are drawn: a NAS whose controllers have addresses in a SAN, and arrays there. */
#include <string.h>

#include "emu/model/storage.h"
#include "emu/model/topology_build.h"

#define REFUSE(b, map, key, ...) schema_error((b)->report, build_mark(map, key), NULL, __VA_ARGS__)

/* The ordinal of the zone, with an address of each controller in it; -1 after an error. */
static int find_zone(struct build *b, const struct topo_node *node, const struct doc_node *doc)
{
    const struct topo *t = b->t;
    const char *name = build_word(doc, "zone");
    int svm = -1;
    for (size_t v = 0; v < t->n_vips; v++)
        if (&t->nodes[t->vips[v].node] == node && t->vips[v].svm_name && strcmp(t->vips[v].svm_name, name) == 0)
            svm = t->vips[v].svm;
    if (svm < 0) {
        REFUSE(b, doc, "zone", "`%s` has no zone `%s` with addresses", node->name, name);
        return -1;
    }
    for (int box = node->first_box; box < node->first_box + node->n_boxes; box++) {
        bool has = false;
        for (size_t v = 0; v < t->n_vips && !has; v++)
            has = t->vips[v].home == box && t->vips[v].svm == svm;
        if (!has) {
            REFUSE(b, doc, "zone", "controller `%s` has no address in zone `%s`", t->boxes[box].part, name);
            return -1;
        }
    }
    return svm;
}

/* Whether a controller's address of the zone and one of the array are neighbours. */
static bool reaches(const struct topo *t, int node, int svm, int member)
{
    for (size_t v = 0; v < t->n_vips; v++)
        for (size_t w = 0; t->vips[v].node == node && t->vips[v].svm == svm && w < t->n_vips; w++)
            if (t->vips[w].node == member &&
                topo_addr_same_subnet(&t->vips[v].addr, &t->vips[w].addr, t->vips[v].addr.prefix))
                return true;
    return false;
}

static void read_members(struct build *b, int node, const struct doc_node *doc, struct topo_san *san)
{
    struct topo *t = b->t;
    const struct doc_node *list = doc_get(doc, "members");
    int *members = arena_alloc(b->arena, (list->count + 1) * sizeof(*members));
    for (size_t i = 0; i < list->count; i++) {
        const struct doc_node *item = list->items[i];
        int member = name_table_find(&b->nodes, item->text);
        if (member < 0) {
            build_dangling(b, item->mark, "node", item->text, &b->nodes);
            return;
        }
        if (member == node || t->nodes[member].kind != TOPO_NAS) {
            schema_error(b->report, item->mark, NULL, "`%s` is no array: members are other nodes of kind nas",
                         item->text);
            return;
        }
        if (!reaches(t, node, san->svm, member)) {
            schema_error(b->report, item->mark, NULL, "`%s` has no address in the subnet of zone `%s`", item->text,
                         build_word(doc, "zone"));
            return;
        }
        members[san->n_members++] = member;
    }
    san->members = members;
    const struct storage_model *m = t->nodes[node].storage;
    for (size_t g = 0; m && g < m->n_groups; g++)
        if (san->n_members && m->groups[g].disks % san->n_members)
            REFUSE(b, doc, "members", "the %u disks of group `%s` are no equal parts for %zu arrays",
                   m->groups[g].disks, m->groups[g].name, san->n_members);
}

/* The hosts' interfaces of a cache in hosts. */
static void read_host_cache(struct build *b, struct topo_node *node, const struct doc_node *doc)
{
    struct topo *t = b->t;
    const struct doc_node *hosts = doc_get(doc, "hosts");
    const char *interface = build_word(doc, "interface");
    if (!hosts || !interface) /* reported before */
        return;
    int *ifaces = arena_alloc(b->arena, (hosts->count + 1) * sizeof(*ifaces));
    struct topo_host_cache *c = arena_alloc(b->arena, sizeof(*c));
    for (size_t i = 0; i < hosts->count; i++) {
        const struct doc_node *item = hosts->items[i];
        int box = name_table_find(&b->boxes, item->text), found = -1;
        if (box < 0) {
            build_dangling(b, item->mark, "host", item->text, &b->boxes);
            return;
        }
        for (size_t k = 0; k < t->n_ifaces && found < 0; k++)
            if (t->ifaces[k].box == box && t->ifaces[k].addr.version && strcmp(t->ifaces[k].name, interface) == 0)
                found = (int)k;
        if (found < 0) {
            schema_error(b->report, build_mark(doc, "interface"), NULL, "`%s` has no interface `%s` with an address",
                         item->text, interface);
            return;
        }
        ifaces[c->n++] = found;
    }
    if (c->n < 2)
        REFUSE(b, doc, "hosts", "one host has nobody who could hold a copy");
    c->ifaces = ifaces;
    node->host_cache = c;
}

void build_storage_links(struct build *b)
{
    struct topo *t = b->t;
    for (size_t n = 0; n < t->n_nodes; n++) {
        const struct doc_node *cards = doc_get(doc_get(b->docs[n], "storage"), "host-cache");
        if (t->nodes[n].storage && cards)
            read_host_cache(b, &t->nodes[n], cards);
    }
    for (size_t n = 0; n < t->n_nodes; n++) {
        const struct doc_node *doc = doc_get(doc_get(b->docs[n], "storage"), "back-end");
        if (t->nodes[n].kind != TOPO_NAS || !t->nodes[n].storage || (!doc_get(doc, "zone") && !doc_get(doc, "members")))
            continue;
        static const char *const own[] = {"links", "speed", "protocol", "mtu", "delay"};
        for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
            if (doc_get(doc, own[i]))
                REFUSE(b, doc, own[i], "`%s` is of a back end that is not drawn: either that or `zone` and `members`",
                       own[i]);
        const char *missing = !doc_get(doc, "zone") ? "zone" : !doc_get(doc, "members") ? "members" : NULL;
        if (missing) {
            schema_error(b->report, doc->mark, NULL, "`%s` is missing: `zone` and `members` belong together", missing);
            continue;
        }
        struct topo_san *san = arena_alloc(b->arena, sizeof(*san));
        san->svm = find_zone(b, &t->nodes[n], doc);
        if (san->svm < 0)
            continue;
        read_members(b, (int)n, doc, san);
        t->nodes[n].san = san;
    }
}
