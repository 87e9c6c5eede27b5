/* Ports and cables. Hosts, routers and NAS declare their NICs (uplinks, members, nics, interfaces); a switch has the ports
 * that cables and `ports:` name. Ports are collected first and then laid out box by box in natural order of their names,
 * so that their numbers don't depend on the order of the file. */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

/* What stands in docs/topology.md as the defaults of a cable. */
#define DELAY_DEFAULT  (5 * PS_PER_US)
#define BUFFER_DEFAULT UINT64_C(524288)

/* Adds a port once; returns its place among the raw ports. */
static int add_port(struct build *b, int box, const char *name, struct diag_mark mark, const char *mac)
{
    const char *full = arena_printf(b->scratch, "%s:%s", b->t->nodes[b->t->boxes[box].node].name, name);
    int there = name_table_add(&b->ports, full, (int)b->n_raw_ports);
    if (there >= 0) {
        if (mac)
            b->raw_ports[there].mac = mac;
        return there;
    }
    b->raw_ports = arena_grow(b->scratch, b->raw_ports, b->n_raw_ports, &b->raw_capacity, sizeof(*b->raw_ports));
    b->raw_ports[b->n_raw_ports] =
        (struct build_port){.name = name, .full = full, .box = box, .mark = mark, .mac = mac, .link = -1};
    return (int)b->n_raw_ports++;
}

/* Names of a list, or of a map of names with settings; `part` is the controller's name, or NULL. */
static void declare(struct build *b, int box, const char *part, const struct doc_node *nics)
{
    for (size_t i = 0; nics && i < nics->count; i++) {
        bool list = nics->type == DOC_LIST;
        const char *name = list ? nics->items[i]->text : nics->pairs[i].key;
        if (part)
            name = arena_printf(b->scratch, "%s.%s", part, name);
        add_port(b, box, name, list ? nics->items[i]->mark : nics->pairs[i].mark,
                 list ? NULL : build_word(nics->pairs[i].value, "mac"));
    }
}

static void declare_of_all(struct build *b, int box, const struct doc_node *named, const char *key)
{
    for (size_t i = 0; named && i < named->count; i++)
        declare(b, box, NULL, doc_get(named->pairs[i].value, key));
}

static bool lower(struct build *b, const struct doc_node *node, const char *name, struct diag_mark mark, unsigned depth,
                  struct build_lower *out)
{
    const struct doc_node *interface = doc_get(doc_get(node, "interfaces"), name);
    const struct doc_node *bond = doc_get(doc_get(node, "bonds"), name);
    const struct doc_node *bridge = doc_get(doc_get(node, "bridges"), name);
    const char *parent = build_word(interface, "parent"), *dot = strrchr(name, '.');
    if (depth > 8) {
        schema_error(b->report, mark, NULL, "`%s`: its parents go round in a circle", name);
        return false;
    }
    *out = (struct build_lower){.name = name, .mtu = 1500};
    if (parent && strcmp(parent, name) != 0) {
        if (!lower(b, node, parent, build_mark(interface, "parent"), depth + 1, out))
            return false;
    } else if (bond) {
        out->bond = true;
        out->mtu = (uint32_t)build_integer(bond, "mtu", 1500);
    } else if (bridge) {
        const struct doc_node *ports = doc_get(bridge, "ports");
        if (ports->count != 1) {
            schema_error(b->report, build_mark(bridge, "ports"),
                         "bond the NICs and put the bond into the bridge; guests are not listed",
                         "`%s` has %zu ports: a bridge is modelled over one bond or NIC", name, ports->count);
            return false;
        }
        if (!lower(b, node, ports->items[0]->text, ports->items[0]->mark, depth + 1, out))
            return false;
        out->mtu = (uint32_t)build_integer(bridge, "mtu", out->mtu);
    } else if (dot && dot > name) {
        if (interface && !doc_get(interface, "vlan")) {
            schema_error(b->report, mark, "say `vlan: N`", "`%s` looks like a VLAN interface and has no `vlan:`", name);
            return false;
        }
        if (!lower(b, node, arena_copy(b->scratch, name, (size_t)(dot - name)), mark, depth + 1, out))
            return false;
    }
    uint16_t vlan = (uint16_t)build_integer(interface, "vlan", 0);
    if (vlan && out->vlan) {
        schema_error(b->report, build_mark(interface, "vlan"), NULL, "`%s`: a VLAN within a VLAN is not modelled",
                     name);
        return false;
    }
    out->vlan = vlan ? vlan : out->vlan;
    out->mtu = (uint32_t)build_integer(interface, "mtu", out->mtu);
    if (build_word(interface, "mac"))
        out->mac = build_word(interface, "mac");
    return true;
}

bool build_lower(struct build *b, const struct doc_node *node, const char *name, struct diag_mark mark,
                 struct build_lower *out)
{
    return lower(b, node, name, mark, 0, out);
}

/* NICs that interfaces and bridges rest on without a bond. */
static void declare_lower(struct build *b, int box, const struct doc_node *doc)
{
    static const char *const maps[] = {"interfaces", "bridges"};
    for (size_t m = 0; m < 2; m++) {
        const struct doc_node *named = doc_get(doc, maps[m]);
        for (size_t i = 0; named && i < named->count; i++) {
            struct build_lower device;
            if (build_lower(b, doc, named->pairs[i].key, named->pairs[i].mark, &device) && !device.bond)
                add_port(b, box, device.name, named->pairs[i].mark, NULL);
        }
    }
}

static void declare_ports(struct build *b, int box)
{
    const struct topo_box *self = &b->t->boxes[box];
    const struct doc_node *doc = b->docs[self->node];
    switch (b->t->nodes[self->node].kind) {
    case TOPO_ESXI:
        declare_of_all(b, box, doc_get(doc, "vswitches"), "uplinks");
        declare_of_all(b, box, doc_get(doc, "dvswitches"), "uplinks");
        declare(b, box, NULL, doc_get(doc, "nics"));
        return;
    case TOPO_LINUX:
    case TOPO_ROUTER:
        declare_of_all(b, box, doc_get(doc, "bonds"), "members");
        declare_lower(b, box, doc);
        declare(b, box, NULL, doc_get(doc, "nics"));
        return;
    case TOPO_SWITCH:
        declare(b, box, NULL, doc_get(doc, "ports"));
        return;
    case TOPO_NAS:
        declare(b, box, self->part, doc_get(b->part_docs[box], "nics"));
        return;
    }
}

/* The raw port that a link's end names, or -1 after an error. */
static int find_end(struct build *b, const struct doc_node *end)
{
    const char *colon = strchr(end->text, ':');
    if (!colon || colon == end->text || !colon[1] || strpbrk(colon + 1, ":> \t")) {
        schema_error(b->report, end->mark, NULL, "`%s`: an end of a link is \"node:port\", such as \"esx1:vmnic2\"",
                     end->text);
        return -1;
    }
    const char *name = arena_copy(b->scratch, end->text, (size_t)(colon - end->text));
    int node = name_table_find(&b->nodes, name);
    if (node < 0) {
        build_dangling(b, end->mark, "node", name, &b->nodes);
        return -1;
    }
    int port = name_table_find(&b->ports, end->text);
    if (port >= 0)
        return port;
    if (b->t->nodes[node].kind == TOPO_SWITCH)
        return add_port(b, b->t->nodes[node].first_box, colon + 1, end->mark, NULL);
    if (b->t->nodes[node].kind == TOPO_NAS && !strchr(colon + 1, '.'))
        schema_error(b->report, end->mark, NULL, "`%s`: a port of a NAS is \"node:controller.nic\"", end->text);
    else
        build_dangling(b, end->mark, "port", end->text, &b->ports);
    return -1;
}

static void add_link(struct build *b, const struct doc_node *item)
{
    struct topo *t = b->t;
    const struct doc_node *ends = doc_get(item, "ends");
    int port[2];
    for (int e = 0; e < 2; e++) {
        port[e] = find_end(b, ends->items[e]);
        if (port[e] < 0)
            return;
    }
    struct build_port *a = &b->raw_ports[port[0]], *z = &b->raw_ports[port[1]];
    if (a->box == z->box) {
        schema_error(b->report, ends->items[1]->mark, NULL, "both ends of this link are ports of `%s`",
                     t->boxes[a->box].name);
        return;
    }
    struct build_port *both[2] = {a, z};
    for (int e = 0; e < 2; e++) {
        if (both[e]->link >= 0) {
            schema_error(b->report, ends->items[e]->mark, NULL, "`%s` has two cables; the first is in line %d",
                         both[e]->full, t->links[both[e]->link].mark.line);
            return;
        }
    }
    for (int e = 0; e < 2; e++) {
        both[e]->link = (int)t->n_links;
        both[e]->end = e;
    }
    const char *state = build_word(item, "state");
    t->links[t->n_links++] = (struct topo_link){
        .port = {port[0], port[1]}, /* raw until the layout */
        .mark = ends->items[0]->mark,
        .rate = build_rate(item, "speed", 0),
        .delay = build_time(item, "delay", DELAY_DEFAULT),
        .buffer = build_size(item, "buffer", BUFFER_DEFAULT),
        .loss = build_real(item, "loss", 0),
        .down = state && strcmp(state, "down") == 0,
    };
}

/* Stack member of a port of a stack: the first number of gi2/0/1. 1 elsewhere. */
static int chassis_of(struct build *b, const struct build_port *port)
{
    const struct topo_node *node = &b->t->nodes[b->t->boxes[port->box].node];
    if (node->members < 2)
        return 1;
    const char *slash = strchr(port->name, '/'), *digits = slash;
    while (digits && digits > port->name && digits[-1] >= '0' && digits[-1] <= '9')
        digits--;
    long chassis = slash && digits < slash && slash - digits < 4 ? strtol(digits, NULL, 10) : 0;
    if (chassis >= 1 && chassis <= node->members)
        return (int)chassis;
    schema_error(b->report, port->mark, "the first number of a port is the stack member: gi2/0/1",
                 "`%s` is on no member of a stack of %d", port->full, node->members);
    return 1;
}

static int by_box_and_name(const void *left, const void *right)
{
    const struct build_port *p = *(struct build_port *const *)left, *q = *(struct build_port *const *)right;
    return p->box != q->box ? (p->box < q->box ? -1 : 1) : build_natural_order(p->name, q->name);
}

static void lay_out(struct build *b)
{
    struct topo *t = b->t;
    struct build_port **order = arena_alloc(b->scratch, (b->n_raw_ports + 1) * sizeof(*order));
    for (size_t i = 0; i < b->n_raw_ports; i++)
        order[i] = &b->raw_ports[i];
    qsort(order, b->n_raw_ports, sizeof(*order), by_box_and_name);

    t->ports = arena_alloc(b->arena, (b->n_raw_ports + 1) * sizeof(*t->ports));
    t->n_ports = b->n_raw_ports;
    name_table_init(&b->ports, b->scratch);
    for (size_t i = 0; i < t->n_ports; i++) {
        struct build_port *raw = order[i];
        struct topo_port *port = &t->ports[i];
        struct topo_box *box = &t->boxes[raw->box];
        raw->place = (int)i;
        *port = (struct topo_port){.name = build_string(b, raw->name),
                                   .full = build_string(b, raw->full),
                                   .box = raw->box,
                                   .mark = raw->mark,
                                   .link = raw->link,
                                   .end = raw->end,
                                   .team = -1,
                                   .chassis = chassis_of(b, raw)};
        port->mac_origin = build_mac(b, raw->mac, port->full, port->mac);
        name_table_add(&b->ports, port->full, (int)i);
        if (!box->n_ports++)
            box->first_port = (int)i;
    }
    for (size_t l = 0; l < t->n_links; l++)
        for (int e = 0; e < 2; e++)
            t->links[l].port[e] = b->raw_ports[t->links[l].port[e]].place;
}

void build_ports_and_links(struct build *b)
{
    struct topo *t = b->t;
    for (size_t i = 0; i < t->n_boxes; i++)
        declare_ports(b, (int)i);
    const struct doc_node *links = doc_get(b->root, "links");
    size_t n = links ? links->count : 0;
    t->links = arena_alloc(b->arena, (n + 1) * sizeof(*t->links));
    for (size_t i = 0; i < n; i++)
        add_link(b, links->items[i]);
    lay_out(b);
}
