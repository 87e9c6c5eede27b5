/* Interfaces of hosts and routers: vmknics, and Linux interfaces over NICs, bonds and bridges. */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

enum { IFACES_MAX = 1024 };

static struct topo_iface *add_iface(struct build *b, int box, const char *name, struct diag_mark mark)
{
    struct topo *t = b->t;
    t->ifaces = arena_grow(b->arena, t->ifaces, t->n_ifaces, &b->ifaces_capacity, sizeof(*t->ifaces));
    struct topo_iface *iface = &t->ifaces[t->n_ifaces++];
    *iface = (struct topo_iface){.name = build_string(b, name), .box = box, .mark = mark};
    return iface;
}

static void take_addresses(struct topo_iface *iface, const struct doc_node *doc)
{
    topo_addr_parse(&iface->addr, build_word(doc, "address"));
    if (build_word(doc, "gateway"))
        topo_addr_parse(&iface->gateway, build_word(doc, "gateway"));
    iface->management = build_bool(doc, "management", false);
}

static int by_name(const void *left, const void *right)
{
    const struct doc_pair *const *p = left, *const *q = right;
    return build_natural_order((*p)->key, (*q)->key);
}

/* The entries of a map in natural order of their names, which is the order of creation of vmk0, vmk1, ... */
static const struct doc_pair **in_order(struct build *b, const struct doc_node *map)
{
    const struct doc_pair **order = arena_alloc(b->scratch, (map->count + 1) * sizeof(*order));
    for (size_t i = 0; i < map->count; i++)
        order[i] = &map->pairs[i];
    qsort(order, map->count, sizeof(*order), by_name);
    return order;
}

static int find_vswitch(struct build *b, int box, const struct doc_node *map)
{
    const char *full = arena_printf(b->scratch, "%s:%s", b->t->boxes[box].name, build_word(map, "vswitch"));
    int team = name_table_find(&b->teams, full);
    if (team < 0)
        build_dangling(b, build_mark(map, "vswitch"), "vSwitch", full, &b->teams);
    return team;
}

static void add_vmknic(struct build *b, int box, const struct doc_pair *pair, unsigned ordinal)
{
    const struct topo *t = b->t;
    const struct doc_node *doc = pair->value, *portgroups = doc_get(b->docs[t->boxes[box].node], "portgroups");
    const char *group = build_word(doc, "portgroup");
    const struct doc_node *portgroup = group ? doc_get(portgroups, group) : NULL;
    if (!group == !doc_get(doc, "vswitch")) {
        schema_error(b->report, pair->mark, NULL, "`%s` sits on a `portgroup:` or on a `vswitch:`, one of them",
                     pair->key);
        return;
    }
    if (group && !portgroup) {
        const char *near = NULL;
        for (size_t i = 0; portgroups && i < portgroups->count && !near; i++)
            near = diag_nearest(group, &portgroups->pairs[i].key, 1);
        schema_error(b->report, build_mark(doc, "portgroup"),
                     near ? arena_printf(b->scratch, "did you mean `%s`?", near) : NULL,
                     "there is no port group `%s` on `%s`", group, t->boxes[box].name);
        return;
    }
    if (group && doc_get(doc, "vlan"))
        schema_error(b->report, build_mark(doc, "vlan"), NULL, "`%s`: its port group says the VLAN", pair->key);
    int team = find_vswitch(b, box, portgroup ? portgroup : doc);
    if (team < 0)
        return;
    struct topo_iface *iface = add_iface(b, box, pair->key, pair->mark);
    take_addresses(iface, doc);
    iface->team = team;
    iface->teaming = portgroup ? build_portgroup_teaming(b, team, portgroup) : &t->teams[team].teaming;
    iface->portgroup = build_string(b, group);
    iface->vlan = (uint16_t)build_integer(portgroup ? portgroup : doc, "vlan", 0);
    iface->mtu = (uint32_t)build_integer(doc, "mtu", 1500);
    iface->mac_origin = build_mac(b, build_word(doc, "mac"),
                                  arena_printf(b->scratch, "%s:%s", t->boxes[box].name, pair->key), iface->mac);
    iface->port_id = (uint32_t)build_integer(doc, "port-id", ordinal);
    iface->port_id_origin = doc_get(doc, "port-id") ? TOPO_GIVEN : TOPO_ASSUMED;
    iface->weight = ordinal;
}

static void add_vmknics(struct build *b, int box)
{
    const struct doc_node *doc = b->docs[b->t->boxes[box].node], *vmknics = doc_get(doc, "vmknics");
    const struct doc_node *portgroups = doc_get(doc, "portgroups");
    for (size_t i = 0; portgroups && i < portgroups->count; i++)
        find_vswitch(b, box, portgroups->pairs[i].value); /* also of those that carry no vmknic */
    const struct doc_pair **order = vmknics ? in_order(b, vmknics) : NULL;
    for (size_t i = 0; vmknics && i < vmknics->count; i++)
        add_vmknic(b, box, order[i], (unsigned)i);
}

static void add_interface(struct build *b, int box, const struct doc_pair *pair, unsigned ordinal)
{
    const struct topo *t = b->t;
    struct build_lower lower;
    if (!doc_get(pair->value, "address") || !build_lower(b, b->docs[t->boxes[box].node], pair->key, pair->mark, &lower))
        return; /* without an address it only says the MTU of its device */
    const char *full = arena_printf(b->scratch, "%s:%s", t->boxes[box].name, lower.name);
    int team = name_table_find(&b->teams, full);
    int port = lower.bond ? -1 : name_table_find(&b->ports, full);
    if (port >= 0)
        team = t->ports[port].team;
    if (team < 0 || (port >= 0 && t->teams[team].kind != TOPO_TEAM_SINGLE)) {
        if (team < 0)
            build_dangling(b, pair->mark, "bond or NIC", full, &b->teams);
        else
            schema_error(b->report, pair->mark, NULL, "`%s` is a member of `%s`: the address belongs on the bond",
                         lower.name, t->teams[team].name);
        return;
    }
    struct topo_iface *iface = add_iface(b, box, pair->key, pair->mark);
    take_addresses(iface, pair->value);
    iface->team = team;
    iface->teaming = &t->teams[team].teaming;
    iface->vlan = lower.vlan;
    iface->mtu = lower.mtu;
    iface->weight = ordinal;
    iface->port_id_origin = TOPO_ASSUMED;
    if (lower.mac) {
        iface->mac_origin = build_mac(b, lower.mac, full, iface->mac);
    } else {
        memcpy(iface->mac, t->teams[team].mac, sizeof(iface->mac));
        iface->mac_origin = t->teams[team].mac_origin;
    }
}

static void add_interfaces(struct build *b, int box)
{
    const struct doc_node *interfaces = doc_get(b->docs[b->t->boxes[box].node], "interfaces");
    const struct doc_pair **order = interfaces ? in_order(b, interfaces) : NULL;
    for (size_t i = 0; interfaces && i < interfaces->count; i++)
        add_interface(b, box, order[i], (unsigned)i);
}

void build_interfaces(struct build *b)
{
    for (int box = 0; box < (int)b->t->n_boxes; box++) {
        const struct doc_node *doc = b->docs[b->t->boxes[box].node], *vmknics = doc_get(doc, "vmknics"),
                              *interfaces = doc_get(doc, "interfaces");
        size_t n = (vmknics ? vmknics->count : 0) + (interfaces ? interfaces->count : 0);
        if (n > IFACES_MAX) {
            schema_error(b->report, b->t->boxes[box].mark, NULL, "`%s` has %zu interfaces; a node has at most %d",
                         b->t->boxes[box].name, n, IFACES_MAX);
            continue;
        }
        enum topo_kind kind = b->t->nodes[b->t->boxes[box].node].kind;
        if (kind == TOPO_ESXI)
            add_vmknics(b, box);
        else if (kind == TOPO_LINUX || kind == TOPO_ROUTER)
            add_interfaces(b, box);
    }
}
