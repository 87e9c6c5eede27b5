/* VIPs, exports, and the interfaces of NAS controllers: one for each controller, team and subnet of VIPs, also where no
 * VIP is at home, since it may be taken over.
 *
 * VIPs that go round-robin, and their order on a controller (which decides the NIC of a switch-independent team), follow
 * the addresses and the names of the controllers, not the order of the file.
 */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

static const char *bare_address(struct build *b, const struct topo_addr *addr)
{
    char text[64];
    topo_addr_print(text, sizeof(text), addr, false);
    return arena_copy(b->scratch, text, strlen(text));
}

static void add_names(struct build *b, const struct doc_node *names, int vip)
{
    for (size_t i = 0; names && i < names->count; i++) {
        char *lower = arena_copy(b->scratch, names->items[i]->text, strlen(names->items[i]->text));
        for (char *p = lower; *p; p++)
            if (*p >= 'A' && *p <= 'Z')
                *p = (char)(*p | 0x20);
        int first = name_table_add(&b->vip_names, lower, vip);
        if (first >= 0)
            schema_error(b->report, names->items[i]->mark, NULL, "`%s` is the name of two VIPs, %s and %s",
                         names->items[i]->text, b->t->vips[first].text, b->t->vips[vip].text);
    }
}

static void add_vip(struct build *b, int node, int svm, const char *svm_name, const struct doc_pair *pair)
{
    struct topo *t = b->t;
    const struct doc_node *doc = pair->value, *names = doc_get(doc, "name");
    const char *home = build_word(doc, "home"), *state = build_word(doc, "state");
    t->vips = arena_grow(b->arena, t->vips, t->n_vips, &b->vips_capacity, sizeof(*t->vips));
    struct topo_vip *vip = &t->vips[t->n_vips];
    *vip = (struct topo_vip){.node = node,
                             .svm = svm,
                             .svm_name = svm_name ? build_string(b, svm_name) : NULL,
                             .home = -1,
                             .iface = -1,
                             .up = !state || strcmp(state, "up") == 0,
                             .mac_origin = TOPO_ASSUMED,
                             .mark = pair->mark};
    topo_addr_parse(&vip->addr, pair->key);
    vip->text = build_string(b, bare_address(b, &vip->addr));
    int first = name_table_add(&b->vips, vip->text, (int)t->n_vips);
    if (first >= 0) {
        schema_error(b->report, pair->mark, NULL, "VIP %s is here twice; the first is in line %d", vip->text,
                     t->vips[first].mark.line);
        return;
    }
    if (names && names->count)
        vip->name = build_string(b, names->items[0]->text);
    if (build_word(doc, "mac"))
        vip->mac_origin = build_mac(b, build_word(doc, "mac"), NULL, vip->mac);
    const struct topo_node *self = &t->nodes[node];
    if (self->n_boxes == 1 && (!home || strcmp(home, "round-robin") == 0)) {
        vip->home = self->first_box;
    } else if (home && strcmp(home, "round-robin") != 0) {
        const char *full = arena_printf(b->scratch, "%s:%s", self->name, home);
        vip->home = name_table_find(&b->boxes, full);
        if (vip->home < 0)
            build_dangling(b, build_mark(doc, "home"), "controller", full, &b->boxes);
    }
    b->vip_docs = arena_grow(b->scratch, b->vip_docs, t->n_vips, &b->vip_docs_capacity, sizeof(*b->vip_docs));
    b->vip_docs[t->n_vips] = pair;
    add_names(b, names, (int)t->n_vips++);
}

static void add_export(struct build *b, int node, int svm, const char *svm_name, const struct doc_pair *pair)
{
    struct topo *t = b->t;
    const char *owner = build_word(pair->value, "owner"), *name = t->nodes[node].name;
    const char *full = svm_name ? arena_printf(b->scratch, "%s:%s:%s", name, svm_name, pair->key)
                                : arena_printf(b->scratch, "%s:%s", name, pair->key);
    t->exports = arena_grow(b->arena, t->exports, t->n_exports, &b->exports_capacity, sizeof(*t->exports));
    struct topo_export *e = &t->exports[t->n_exports];
    *e = (struct topo_export){
        .path = build_string(b, pair->key), .node = node, .svm = svm, .owner = -1, .mark = pair->mark};
    name_table_add(&b->exports, full, (int)t->n_exports);
    if (svm_name) {
        /* Also without the svm, unless two svms export one path. */
        const char *plain = arena_printf(b->scratch, "%s:%s", name, pair->key);
        if (name_table_add(&b->exports, plain, (int)t->n_exports) >= 0)
            name_table_add(&b->ambiguous, plain, 0);
    }
    if (owner) {
        const char *box = arena_printf(b->scratch, "%s:%s", name, owner);
        e->owner = name_table_find(&b->boxes, box);
        if (e->owner < 0)
            build_dangling(b, build_mark(pair->value, "owner"), "controller", box, &b->boxes);
    }
    t->n_exports++;
}

static void add_group(struct build *b, int node, int svm, const char *svm_name, const struct doc_node *doc)
{
    const struct doc_node *vips = doc_get(doc, "vips"), *exports = doc_get(doc, "exports");
    for (size_t i = 0; vips && i < vips->count; i++)
        add_vip(b, node, svm, svm_name, &vips->pairs[i]);
    for (size_t i = 0; exports && i < exports->count; i++)
        add_export(b, node, svm, svm_name, &exports->pairs[i]);
}

static int by_address(const void *left, const void *right)
{
    const struct topo_vip *p = *(struct topo_vip *const *)left, *q = *(struct topo_vip *const *)right;
    if (p->node != q->node)
        return p->node < q->node ? -1 : 1;
    if (p->addr.version != q->addr.version)
        return p->addr.version < q->addr.version ? -1 : 1;
    return memcmp(p->addr.bytes, q->addr.bytes, sizeof(p->addr.bytes));
}

static int by_part(const void *left, const void *right)
{
    const struct topo_box *p = *(struct topo_box *const *)left, *q = *(struct topo_box *const *)right;
    return build_natural_order(p->part, q->part);
}

/* The controllers of a NAS in natural order of their names. */
static const struct topo_box **in_order(struct build *b, const struct topo_node *node)
{
    const struct topo_box **order = arena_alloc(b->scratch, ((size_t)node->n_boxes + 1) * sizeof(*order));
    for (int i = 0; i < node->n_boxes; i++)
        order[i] = &b->t->boxes[node->first_box + i];
    qsort(order, (size_t)node->n_boxes, sizeof(*order), by_part);
    return order;
}

/* Homes of VIPs that go round-robin, and the place of each VIP among those of its home. */
static void settle_homes(struct build *b)
{
    struct topo *t = b->t;
    struct topo_vip **order = arena_alloc(b->scratch, (t->n_vips + 1) * sizeof(*order));
    int *at_home = arena_alloc(b->scratch, (t->n_boxes + 1) * sizeof(*at_home));
    for (size_t i = 0; i < t->n_vips; i++)
        order[i] = &t->vips[i];
    qsort(order, t->n_vips, sizeof(*order), by_address);
    const struct topo_box **controllers = NULL;
    int turn = 0;
    for (size_t i = 0; i < t->n_vips; i++) {
        const struct topo_node *node = &t->nodes[order[i]->node];
        if (i == 0 || order[i - 1]->node != order[i]->node) {
            controllers = in_order(b, node);
            turn = 0;
        }
        if (order[i]->home < 0)
            order[i]->home = (int)(controllers[turn++ % node->n_boxes] - t->boxes);
        order[i]->ordinal = at_home[order[i]->home]++;
    }
}

/* The subnet of a VIP as a key: its address with the host part cut off. */
static const char *subnet_of(struct build *b, const struct topo_addr *addr)
{
    struct topo_addr net = *addr;
    for (unsigned bit = addr->prefix; bit < 8 * sizeof(net.bytes); bit++)
        net.bytes[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    char text[64];
    topo_addr_print(text, sizeof(text), &net, true);
    return arena_copy(b->scratch, text, strlen(text));
}

/* The interface of this controller that this VIP lives on, made when it is the first of its subnet. -1 after an error, or
 * where another controller than its home has no such LAG or NIC. */
static int iface_for(struct build *b, struct name_table *made, const struct topo_vip *vip, const struct doc_node *doc,
                     int box)
{
    struct topo *t = b->t;
    const struct doc_node *controller = b->part_docs[box];
    struct diag_mark mark = doc_get(doc, "port") ? build_mark(doc, "port") : vip->mark;
    int team = build_nas_team(b, box, build_word(doc, "port"), vip->home == box ? &mark : NULL);
    if (team < 0)
        return -1;
    uint16_t vlan = (uint16_t)build_integer(doc, "vlan", build_integer(controller, "vlan", 0));
    uint32_t mtu = (uint32_t)build_integer(doc, "mtu", build_integer(controller, "mtu", 1500));
    const char *key = arena_printf(b->scratch, "%d %d %u %s", box, team, vlan, subnet_of(b, &vip->addr));
    int there = name_table_add(made, key, (int)t->n_ifaces);
    if (there >= 0) {
        if (t->ifaces[there].mtu != mtu)
            schema_error(b->report, vip->mark, NULL, "VIPs of one subnet on `%s` have different MTUs",
                         t->boxes[box].name);
        return there;
    }
    t->ifaces = arena_grow(b->arena, t->ifaces, t->n_ifaces, &b->ifaces_capacity, sizeof(*t->ifaces));
    struct topo_iface *iface = &t->ifaces[t->n_ifaces];
    *iface = (struct topo_iface){
        .name =
            build_string(b, vlan ? arena_printf(b->scratch, "%s.%u", t->teams[team].name, vlan) : t->teams[team].name),
        .box = box,
        .team = team,
        .teaming = &t->teams[team].teaming,
        .mark = vip->mark,
        .vlan = vlan,
        .mtu = mtu,
        .mac_origin = t->teams[team].mac_origin,
        .port_id_origin = TOPO_ASSUMED,
    };
    memcpy(iface->mac, t->teams[team].mac, sizeof(iface->mac));
    struct topo_addr gateway;
    const char *router = build_word(controller, "gateway");
    if (router && topo_addr_parse(&gateway, router) && topo_addr_same_subnet(&gateway, &vip->addr, vip->addr.prefix))
        iface->gateway = gateway;
    return (int)t->n_ifaces++;
}

void build_nas(struct build *b)
{
    struct topo *t = b->t;
    static const char *const groups[] = {"svms", "zones"};
    for (size_t n = 0; n < t->n_nodes; n++) {
        if (t->nodes[n].kind != TOPO_NAS)
            continue;
        int svm = 0;
        add_group(b, (int)n, -1, NULL, b->docs[n]);
        for (size_t g = 0; g < 2; g++) {
            const struct doc_node *svms = doc_get(b->docs[n], groups[g]);
            for (size_t i = 0; svms && i < svms->count; i++)
                add_group(b, (int)n, svm++, svms->pairs[i].key, svms->pairs[i].value);
        }
    }
    settle_homes(b);
    struct name_table made;
    name_table_init(&made, b->scratch);
    for (size_t v = 0; v < t->n_vips; v++) {
        struct topo_vip *vip = &t->vips[v];
        const struct topo_node *node = &t->nodes[vip->node];
        for (int box = node->first_box; box < node->first_box + node->n_boxes; box++) {
            int iface = iface_for(b, &made, vip, b->vip_docs[v]->value, box);
            if (box == vip->home)
                vip->iface = iface;
        }
    }
}
