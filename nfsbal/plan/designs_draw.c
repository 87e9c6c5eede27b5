/* Theory of operation
 *
 * A site is drawn anew as a topology file: its hosts, NAS controllers and datastores with as many cables as today, on one switch, or on
 * a pair (MLAG) where the hosts' cables end at several today. Each box's ports go to the switches in turn. Where hosts reach VIPs
 * through routers, these are drawn with their interfaces, and hosts and VIPs keep their addresses and VLANs; else all is in the subnet of
 * the first host. The design with a subnet per uplink needs no router and has none.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology_arena.h"
#include "nfsbal/plan/designs.h"
#include "nfsbal/plan/problem.h"

enum { TEN_GIG_PORTS = 2, PEER_LINKS = 2, FIRST_VLAN = 2001 };
#define TEN_GIG   10000000000u
#define PEER_RATE 100000000000u /* of each cable between a pair: it limits nothing */

enum kind { HOST, CONTROLLER, ROUTER };

/* What has cables to the switches. */
struct device {
    enum kind kind;
    int box;
    size_t place; /* HOST: among hosts; ROUTER: of the team */
    size_t n, first_port;
    bps_t rate; /* of the slowest of its cables today */
    bool lag;
};

struct drawing {
    const struct topo *t;
    enum plan_design design;
    FILE *out;
    const struct topo_addr *subnet;   /* of the first host's interface */
    int *hosts;                       /* boxes that mount something */
    const struct topo_iface **ifaces; /* by host */
    size_t n_hosts, subnets;
    struct device *devices;
    size_t n_devices, switches;
    bool routed;         /* some host reaches VIPs through a router */
    bool *routers;       /* by box: drawn */
    unsigned variant;    /* of addresses that are free to choose */
    size_t next_address; /* for VIPs that are in another subnet today */
};

static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static bool is_controller(const struct topo *t, int box) { return t->nodes[t->boxes[box].node].kind == TOPO_NAS; }

static bool is_esxi(const struct drawing *w, size_t host)
{
    return w->t->nodes[w->t->boxes[w->hosts[host]].node].kind == TOPO_ESXI;
}

/* The switch that a cable of a port ends at, or -1. */
static int far_port(const struct topo *t, int port)
{
    int out = topo_port_out(t, port), far = out < 0 ? -1 : topo_linkdir_to(t, out);
    return far >= 0 && t->nodes[t->boxes[t->ports[far].box].node].kind == TOPO_SWITCH ? far : -1;
}

/* The VLAN that an interface is in: its tag, or what its switch makes of untagged frames. */
static unsigned vlan_of_iface(const struct topo *t, const struct topo_iface *f)
{
    const struct topo_team *team = &t->teams[f->team];
    for (size_t i = 0; i < team->n_ports && !f->vlan; i++) {
        int far = far_port(t, team->ports[i]);
        if (far < 0)
            continue;
        const struct topo_vlan *v = t->ports[far].team >= 0 ? &t->teams[t->ports[far].team].vlan : &t->ports[far].vlan;
        return v->mode == TOPO_VLAN_ACCESS ? v->access : v->mode == TOPO_VLAN_TRUNK ? v->native : 0;
    }
    return f->vlan;
}

static unsigned host_vlan(const struct drawing *w, size_t h)
{
    return vlan_of_iface(w->t, w->ifaces[w->routed ? h : 0]);
}

/* Any frame has a tag. */
static bool is_tagged(const struct drawing *w) { return host_vlan(w, 0) || w->design == PLAN_DESIGN_SUBNETS; }

/* The NICs of a router's team are called by its number. */
static void print_end(const struct drawing *w, const struct device *d, size_t i)
{
    const struct topo_box *box = &w->t->boxes[d->box];
    if (d->kind == HOST)
        fprintf(w->out, "%s:u%zu", box->name, i);
    else if (d->kind == ROUTER)
        fprintf(w->out, "%s:r%zu-%zu", box->name, d->place, i);
    else
        fprintf(w->out, "%s%se%zu", box->name, box->part ? "." : ":", i);
}

/* The switch of a device's i-th cable; devices with one are dealt as well. */
static size_t switch_of(const struct drawing *w, const struct device *d, size_t i)
{
    return (i + (d->n == 1 ? (size_t)(d - w->devices) : 0)) % w->switches;
}

static void print_switch(const struct drawing *w, size_t number)
{
    fputs("design-switch", w->out);
    if (w->switches > 1)
        fprintf(w->out, "%zu", number + 1);
}

/* ---- nodes ---- */

static void print_gateway(const struct drawing *w, const struct topo_iface *f)
{
    char text[64];
    if (w->routed && f->gateway.version == 4)
        fprintf(w->out, ", gateway: %s", topo_addr_print(text, sizeof text, &f->gateway, false));
}

static void draw_esxi(struct drawing *w, size_t h, size_t n)
{
    const struct topo_iface *f = w->ifaces[h];
    char address[64];
    bool own = w->design == PLAN_DESIGN_SUBNETS || w->design == PLAN_DESIGN_BINDING;
    size_t vmknics = w->design == PLAN_DESIGN_SUBNETS ? w->subnets : own ? n : 1;
    topo_addr_print(address, sizeof address, &f->addr, true);
    fprintf(w->out, "    kind: esxi\n    %svswitches: {v: {uplinks: 'u[0-%zu]', mtu: %u, ",
            w->design == PLAN_DESIGN_LACP ? "d" : "", n - 1, (unsigned)f->mtu);
    if (w->design == PLAN_DESIGN_LACP)
        fputs("lag: {name: l, mode: lacp, hash: esxi-lacp-src-dst-port}}}\n", w->out);
    else if (w->design == PLAN_DESIGN_VIPS)
        fprintf(w->out, "teaming: %s}}\n", n > 1 ? "ip-hash" : "port-id");
    else if (w->design == PLAN_DESIGN_TEN_GIG)
        fputs("teaming: explicit, active: u0, standby: u1}}\n", w->out);
    else
        fputs("teaming: port-id}}\n", w->out);
    fputs("    portgroups:\n", w->out);
    for (size_t i = 0; i < vmknics; i++) {
        unsigned vlan = w->design == PLAN_DESIGN_SUBNETS ? FIRST_VLAN + (unsigned)i : host_vlan(w, h);
        fprintf(w->out, "      g%zu: {vswitch: v", i);
        if (vlan)
            fprintf(w->out, ", vlan: %u", vlan);
        if (own && n > 1) {
            fprintf(w->out, ", teaming: explicit, active: u%zu, standby: [", i % n);
            for (size_t k = 1; k < n; k++)
                fprintf(w->out, "%su%zu", k > 1 ? ", " : "", (i + k) % n);
            fputc(']', w->out);
        }
        fputs("}\n", w->out);
    }
    fputs("    vmknics:\n", w->out);
    for (size_t i = 0; i < vmknics; i++) {
        fprintf(w->out, "      vmk%zu: {portgroup: g%zu, mtu: %u, address: ", i + 1, i, (unsigned)f->mtu);
        if (w->design == PLAN_DESIGN_SUBNETS)
            fprintf(w->out, "10.%zu.%zu.%zu/16", 200 + i, h / 250, h % 250 + 1);
        else if (i == 0)
            fputs(address, w->out);
        else /* what it is does not matter: nothing hashes over it but the NAS's LAG */
            fprintf(w->out, "%u.%u.%zu.%zu/%u", f->addr.bytes[0], f->addr.bytes[1],
                    f->addr.prefix >= 24 ? (size_t)f->addr.bytes[2] : 250,
                    2 + (h * 8 + i * (3 + w->variant) + w->variant * 7) % 250, (unsigned)f->addr.prefix);
        if (w->design != PLAN_DESIGN_SUBNETS)
            print_gateway(w, f);
        fputs("}\n", w->out);
    }
}

static void draw_linux(struct drawing *w, size_t h, size_t n)
{
    const struct topo_iface *f = w->ifaces[h];
    const char *mode = w->design == PLAN_DESIGN_TEN_GIG ? "active-backup" : "802.3ad";
    unsigned vlan = host_vlan(w, h);
    char address[64];
    topo_addr_print(address, sizeof address, &f->addr, true);
    fprintf(w->out, "    kind: linux\n    kernel: '6.8'\n");
    if (w->design == PLAN_DESIGN_SUBNETS) {
        fputs("    interfaces:\n", w->out);
        for (size_t i = 0; i < w->subnets; i++)
            fprintf(w->out, "      u%zu.%zu: {parent: u%zu, vlan: %zu, mtu: %u, address: 10.%zu.%zu.%zu/16}\n", i % n,
                    FIRST_VLAN + i, i % n, FIRST_VLAN + i, (unsigned)f->mtu, 200 + i, h / 250, h % 250 + 1);
        return;
    }
    fprintf(w->out, "    bonds: {b: {members: 'u[0-%zu]', mtu: %u, mode: %s", n - 1, (unsigned)f->mtu, mode);
    if (w->design != PLAN_DESIGN_TEN_GIG)
        fprintf(w->out, ", hash: %s", w->design == PLAN_DESIGN_VIPS ? "layer2+3" : "layer3+4");
    fputs("}}\n    interfaces: {", w->out);
    if (vlan)
        fprintf(w->out, "b.%u: {vlan: %u, address: %s", vlan, vlan, address);
    else
        fprintf(w->out, "b: {address: %s", address);
    print_gateway(w, f);
    fputs("}}\n", w->out);
}

/* A router: a bond (or one NIC) for each team of today, its interfaces on them. */
static void draw_router(struct drawing *w, int box)
{
    const struct topo *t = w->t;
    char text[64];
    fputs("    kind: router\n    bonds:\n", w->out);
    for (size_t i = 0; i < w->n_devices; i++)
        if (w->devices[i].kind == ROUTER && w->devices[i].box == box)
            fprintf(w->out, "      b%zu: {members: 'r%zu-[0-%zu]', mode: %s, mtu: 9000}\n", w->devices[i].place,
                    w->devices[i].place, w->devices[i].n - 1,
                    w->devices[i].lag ? "802.3ad, hash: layer2+3" : "active-backup");
    fputs("    interfaces:\n", w->out);
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        unsigned vlan = vlan_of_iface(t, f);
        if (f->box != box || !f->addr.version)
            continue;
        fprintf(w->out, "      b%d", f->team);
        if (vlan)
            fprintf(w->out, ".%u: {vlan: %u, ", vlan, vlan);
        else
            fputs(": {", w->out);
        fprintf(w->out, "mtu: %u, address: %s}\n", (unsigned)f->mtu,
                topo_addr_print(text, sizeof text, &f->addr, true));
    }
}

/* The hash that a box of today has, or a stand-in over addresses. */
static void print_hash(const struct drawing *w, const struct hash_selector *today)
{
    char text[256] = "xor-src-dst-ip";
    if (w->design == PLAN_DESIGN_LACP) {
        fputs("{unknown: [src-ip, dst-ip, src-port, dst-port]}", w->out);
        return;
    }
    if (today && today->policy && today->policy->reads && today->policy->status != HASH_STATUS_UNKNOWN)
        snprintf(text, sizeof text, "%s", today->policy->name);
    fputs(text, w->out);
}

static const struct topo_team *lag_of(const struct topo *t, int box)
{
    for (size_t i = 0; i < t->n_teams; i++)
        if (t->teams[i].box == box && t->teams[i].kind == TOPO_TEAM_NAS_LAG)
            return &t->teams[i];
    return NULL;
}

/* The hash with which today's switch chooses towards the NAS. */
static const struct hash_selector *switch_hash(const struct topo *t)
{
    for (size_t i = 0; i < t->n_teams; i++)
        if (t->teams[i].kind == TOPO_TEAM_SWITCH_LAG && t->teams[i].peer_team >= 0 &&
            is_controller(t, t->teams[t->teams[i].peer_team].box))
            return &t->teams[i].teaming.policy;
    return NULL;
}

/* What a LAG of the switches leads to, and how it is kept. */
static void print_lag(const struct drawing *w, const struct device *d)
{
    const char *name = w->t->boxes[d->box].name;
    fprintf(w->out, "      po%zu: {to: \"%s", (size_t)(d - w->devices), name);
    if (d->kind == HOST)
        fputs(is_esxi(w, d->place) ? ":v" : ":b", w->out);
    else if (d->kind == ROUTER)
        fprintf(w->out, ":b%zu", d->place);
    else
        fputs(w->t->boxes[d->box].part ? ".a" : ":a", w->out);
    fprintf(w->out, "\", mode: %s%s}\n",
            d->kind == HOST && is_esxi(w, d->place) && w->design == PLAN_DESIGN_VIPS ? "static" : "lacp",
            is_tagged(w) ? ", vlan: trunk" : "");
}

static void print_vlans(const struct drawing *w)
{
    const struct topo *t = w->t;
    const char *comma = "";
    if (w->design == PLAN_DESIGN_SUBNETS) {
        fprintf(w->out, "    vlans: '[%d-%zu]'\n", FIRST_VLAN, FIRST_VLAN - 1 + w->subnets);
        return;
    }
    fputs("    vlans: [", w->out);
    for (unsigned vlan = 1; vlan < 4095; vlan++) {
        bool used = false;
        for (size_t h = 0; h < w->n_hosts; h++)
            used |= host_vlan(w, h) == vlan;
        for (size_t i = 0; i < t->n_ifaces && w->routed; i++)
            used |= (w->routers[t->ifaces[i].box] || is_controller(t, t->ifaces[i].box)) &&
                    vlan_of_iface(t, &t->ifaces[i]) == vlan;
        if (used)
            fprintf(w->out, "%s%u", comma, vlan);
        comma = used ? ", " : comma;
    }
    fputs("]\n", w->out);
}

static void draw_switch(struct drawing *w, size_t number)
{
    bool any = w->switches > 1;
    fputs("  ", w->out);
    print_switch(w, number);
    fputs(":\n    kind: switch\n    mtu: 9216\n    hash: ", w->out);
    print_hash(w, switch_hash(w->t));
    fputc('\n', w->out);
    if (is_tagged(w))
        print_vlans(w);
    if (any)
        fputs("    mlag: {peers: [design-switch1, design-switch2], peer-link: po-peer}\n", w->out);
    for (size_t i = 0; i < w->n_devices; i++)
        any |= w->devices[i].lag;
    if (any)
        fputs("    lags:\n", w->out);
    for (size_t i = 0; i < w->n_devices; i++)
        if (w->devices[i].lag)
            print_lag(w, &w->devices[i]);
    if (w->switches > 1)
        fprintf(w->out, "      po-peer: {to: \"design-switch%zu:po-peer\", mode: lacp%s}\n", 2 - number,
                is_tagged(w) ? ", vlan: trunk" : "");
    any = false;
    for (size_t i = 0; i < w->n_devices && is_tagged(w); i++)
        for (size_t k = 0; k < w->devices[i].n && !w->devices[i].lag; k++) {
            if (switch_of(w, &w->devices[i], k) != number)
                continue;
            fprintf(w->out, "%s      p%zu: {vlan: trunk}\n", any ? "" : "    ports:\n", w->devices[i].first_port + k);
            any = true;
        }
}

/* An address for a VIP in the hosts' subnet; its own where there are routers. */
static void print_vip(struct drawing *w, const struct topo_vip *v)
{
    char text[64];
    struct topo_addr a = *w->subnet;
    if (w->routed || topo_addr_same_subnet(&v->addr, w->subnet, w->subnet->prefix)) {
        a = v->addr;
        a.prefix = w->routed ? v->addr.prefix : w->subnet->prefix;
    } else {
        bool taken = true;
        while (taken) {
            a.bytes[3] = (uint8_t)(200 + w->next_address++ % 50);
            taken = false;
            for (size_t i = 0; i < w->t->n_vips; i++)
                taken |= topo_addr_equal(&a, &w->t->vips[i].addr);
            for (size_t i = 0; i < w->t->n_ifaces; i++)
                taken |= topo_addr_equal(&a, &w->t->ifaces[i].addr);
            taken &= w->next_address < 50;
        }
    }
    fprintf(w->out, "      %s: {home: ", topo_addr_print(text, sizeof text, &a, true));
    print_text(w->out, w->t->boxes[v->home].part ? w->t->boxes[v->home].part : "c");
    if (w->routed && v->iface >= 0 && vlan_of_iface(w->t, &w->t->ifaces[v->iface]))
        fprintf(w->out, ", vlan: %u", vlan_of_iface(w->t, &w->t->ifaces[v->iface]));
    fputs("}\n", w->out);
}

/* `storage:` in its short form, as far as it limits. */
static void draw_storage(struct drawing *w, const struct topo_box *first)
{
    if (!(first->limit_read > 0 || first->limit_write > 0 || first->limit_iops > 0))
        return;
    fputs("    storage: {limit: {", w->out);
    if (first->limit_read > 0)
        fprintf(w->out, "read: %.0fB/s, ", first->limit_read);
    if (first->limit_write > 0)
        fprintf(w->out, "write: %.0fB/s, ", first->limit_write);
    if (first->limit_iops > 0)
        fprintf(w->out, "iops: %.0f", first->limit_iops);
    fputs("}}\n", w->out);
}

static const struct device *device_of(const struct drawing *w, int box)
{
    for (size_t i = 0; i < w->n_devices; i++)
        if (w->devices[i].box == box)
            return &w->devices[i];
    return NULL;
}

static void draw_controller(struct drawing *w, int box)
{
    const struct topo *t = w->t;
    const struct device *d = device_of(w, box);
    size_t n = d ? d->n : 0;
    fputs("      ", w->out);
    print_text(w->out, t->boxes[box].part ? t->boxes[box].part : "c");
    fprintf(w->out, ": {nics: 'e[0-%zu]', mtu: %u", n ? n - 1 : 0, (unsigned)w->ifaces[0]->mtu);
    if (!w->routed && host_vlan(w, 0) && w->design != PLAN_DESIGN_SUBNETS)
        fprintf(w->out, ", vlan: %u", host_vlan(w, 0));
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].box == box && t->ifaces[i].gateway.version == 4 && w->design != PLAN_DESIGN_SUBNETS) {
            print_gateway(w, &t->ifaces[i]);
            break;
        }
    if (d && d->lag) {
        const struct topo_team *lag = lag_of(t, box);
        fputs(", lag: {name: a, mode: lacp, hash: ", w->out);
        print_hash(w, lag ? &lag->teaming.policy : NULL);
        fputs("}", w->out);
    } else if (w->design == PLAN_DESIGN_TEN_GIG) {
        fputs(", team: {receive: vip, transmit: xor-dst-ip}", w->out);
    }
    fputs("}\n", w->out);
}

static void draw_nas(struct drawing *w, size_t node)
{
    const struct topo *t = w->t;
    const struct topo_node *nas = &t->nodes[node];
    fputs("  ", w->out);
    print_text(w->out, nas->name);
    fputs(":\n    kind: nas\n    controllers:\n", w->out);
    for (int b = nas->first_box; b < nas->first_box + nas->n_boxes; b++)
        draw_controller(w, b);
    fputs("    vips:\n", w->out);
    if (w->design == PLAN_DESIGN_SUBNETS) {
        for (int b = nas->first_box; b < nas->first_box + nas->n_boxes; b++) {
            const struct device *d = device_of(w, b);
            for (size_t i = 0; i < w->subnets; i++) {
                fprintf(w->out, "      10.%zu.255.%d/16: {home: ", 200 + i, 1 + b - nas->first_box);
                print_text(w->out, t->boxes[b].part ? t->boxes[b].part : "c");
                fprintf(w->out, ", vlan: %zu, port: e%zu}\n", FIRST_VLAN + i, i % (d && d->n ? d->n : 1));
            }
        }
    } else {
        for (size_t v = 0; v < t->n_vips; v++)
            if (t->vips[v].node == (int)node && t->vips[v].up)
                print_vip(w, &t->vips[v]);
    }
    fputs("    exports:\n", w->out);
    for (size_t e = 0; e < t->n_exports; e++) {
        if (t->exports[e].node != (int)node)
            continue;
        fprintf(w->out, "      \"/e%zu\": {", e);
        if (t->exports[e].owner >= 0 && t->boxes[t->exports[e].owner].part) {
            fputs("owner: ", w->out);
            print_text(w->out, t->boxes[t->exports[e].owner].part);
        }
        fputs("}\n", w->out);
    }
    draw_storage(w, &t->boxes[nas->first_box]);
}

static void draw_links(struct drawing *w)
{
    fputs("links:\n", w->out);
    for (size_t i = 0; i < w->n_devices; i++)
        for (size_t k = 0; k < w->devices[i].n; k++) {
            fputs("  - {ends: [\"", w->out);
            print_end(w, &w->devices[i], k);
            fputs("\", \"", w->out);
            print_switch(w, switch_of(w, &w->devices[i], k));
            fprintf(w->out, ":p%zu\"], speed: %llu bit/s}\n", w->devices[i].first_port + k,
                    (unsigned long long)w->devices[i].rate);
        }
    if (w->switches > 1)
        fprintf(w->out, "  - {ends: [\"design-switch1:x[1-%d]\", \"design-switch2:x[1-%d]\"], speed: %llu bit/s}\n",
                PEER_LINKS, PEER_LINKS, (unsigned long long)PEER_RATE);
}

static void print_rate(FILE *out, const char *key, double value, bool rate)
{
    if (!(value > 0))
        return;
    fprintf(out, rate ? "%s: %.0fB/s, " : "%s: %.6f, ", key, value);
}

/* A weight of none is left out: the reader takes it for none where the other one is a rate. */
static void print_weight(const struct drawing *w, const struct topo_datastore *ds)
{
    fputs(", weight: {", w->out);
    print_rate(w->out, "read", ds->weight_read, ds->weight_is_rate);
    print_rate(w->out, "write", ds->weight_write, ds->weight_is_rate);
    fputc('}', w->out);
}

static void draw_datastores(struct drawing *w)
{
    const struct topo *t = w->t;
    fputs("datastores:\n", w->out);
    for (size_t d = 0; d < t->n_datastores; d++) {
        const struct topo_datastore *ds = &t->datastores[d];
        fprintf(w->out, "  d%zu: {export: ", d);
        char export_[512];
        snprintf(export_, sizeof export_, "%s:/e%d", t->nodes[t->exports[ds->export_].node].name, ds->export_);
        print_text(w->out, export_);
        if (ds->weight_given)
            print_weight(w, ds);
        if (w->design == PLAN_DESIGN_LACP)
            fputs(", nconnect: 4", w->out);
        fputs(", hosts: [", w->out);
        for (size_t h = 0; h < ds->n_hosts; h++) {
            fputs(h ? ", " : "", w->out);
            print_text(w->out, t->boxes[ds->hosts[h]].name);
        }
        fputs("]}\n", w->out);
    }
}

/* ---- what there is to draw ---- */

/* Cables of ports, into n and rate. */
static void count_cables(const struct topo *t, const int *ports, size_t n_ports, struct device *d)
{
    for (size_t i = 0; i < n_ports; i++) {
        int link = t->ports[ports[i]].link;
        if (link >= 0)
            d->rate = d->n++ && d->rate < t->links[link].rate ? d->rate : t->links[link].rate;
    }
}

/* Ten gigabits and no LAG are what that design is about; a subnet per uplink and bindings need none at the host. */
static void decide_lag(const struct drawing *w, struct device *d)
{
    bool none = w->design == PLAN_DESIGN_TEN_GIG || w->design == PLAN_DESIGN_SUBNETS;
    if (w->design == PLAN_DESIGN_TEN_GIG && d->kind != ROUTER) {
        d->rate = d->rate > TEN_GIG ? d->rate : TEN_GIG;
        d->n = TEN_GIG_PORTS;
    }
    d->lag = d->n > 1 && (d->kind == ROUTER || !none);
    if (d->kind == HOST && is_esxi(w, d->place))
        d->lag &= w->design == PLAN_DESIGN_VIPS || w->design == PLAN_DESIGN_LACP;
}

static void add_device(struct drawing *w, struct device d)
{
    const struct device *last = w->n_devices ? &w->devices[w->n_devices - 1] : NULL;
    decide_lag(w, &d);
    d.first_port = last ? last->first_port + last->n : 0;
    w->devices[w->n_devices++] = d;
}

static void find_devices(struct drawing *w)
{
    const struct topo *t = w->t;
    for (size_t h = 0; h < w->n_hosts; h++) {
        const struct topo_team *team = &t->teams[w->ifaces[h]->team];
        struct device d = {.kind = HOST, .box = w->hosts[h], .place = h};
        count_cables(t, team->ports, team->n_ports, &d);
        add_device(w, d);
    }
    for (int b = 0; b < (int)t->n_boxes; b++) {
        struct device d = {.kind = CONTROLLER, .box = b};
        for (int p = t->boxes[b].first_port; p < t->boxes[b].first_port + t->boxes[b].n_ports; p++)
            count_cables(t, &p, 1, &d);
        if (is_controller(t, b))
            add_device(w, d);
    }
    for (size_t i = 0; i < t->n_teams && w->design != PLAN_DESIGN_SUBNETS; i++) {
        struct device d = {.kind = ROUTER, .box = t->teams[i].box, .place = i};
        count_cables(t, t->teams[i].ports, t->teams[i].n_ports, &d);
        if (w->routers[d.box] && d.n > 0)
            add_device(w, d);
    }
}

/* Two where the hosts' cables end at several switches. */
static size_t count_switches(const struct drawing *w)
{
    int first = -1;
    for (size_t h = 0; h < w->n_hosts; h++) {
        const struct topo_team *team = &w->t->teams[w->ifaces[h]->team];
        for (size_t i = 0; i < team->n_ports; i++) {
            int far = far_port(w->t, team->ports[i]), box = far < 0 ? -1 : w->t->ports[far].box;
            if (box >= 0 && first >= 0 && box != first)
                return 2;
            first = box >= 0 ? box : first;
        }
    }
    return 1;
}

/* The interface by which a host reaches its VIPs, the direct one before one to a router. */
static const struct topo_iface *find_iface(struct drawing *w, const struct plan_problem *p, size_t h)
{
    const struct topo *t = w->t;
    const struct topo_iface *direct = NULL, *routed = NULL;
    for (size_t v = 0; v < t->n_vips; v++) {
        const struct plan_pair *pair = &p->pairs[h * t->n_vips + v];
        if (!pair->works)
            continue;
        if (pair->mount->gateway_iface < 0 && !direct)
            direct = &t->ifaces[pair->mount->iface];
        if (pair->mount->gateway_iface >= 0 && !routed)
            routed = &t->ifaces[pair->mount->iface];
    }
    if (!direct && routed)
        w->routed = true;
    return direct ? direct : routed;
}

/* Hosts that mount something, with the interface they use. False with the reason. */
static bool find_hosts(struct drawing *w, const struct plan_problem *p, char *problem, size_t size)
{
    const struct topo *t = w->t;
    for (size_t h = 0; h < p->n_hosts; h++) {
        bool mounts = false;
        for (size_t d = 0; d < t->n_datastores && !mounts; d++)
            for (size_t i = 0; i < t->datastores[d].n_hosts; i++)
                mounts |= t->datastores[d].hosts[i] == p->hosts[h].box;
        const struct topo_iface *f = mounts ? find_iface(w, p, h) : NULL;
        if (!mounts)
            continue;
        if (!f || f->addr.version != 4 || f->addr.prefix < 8) {
            snprintf(problem, size, "%s reaches no VIP over IPv4", t->boxes[p->hosts[h].box].name);
            return false;
        }
        w->hosts[w->n_hosts] = p->hosts[h].box;
        w->ifaces[w->n_hosts++] = f;
    }
    if (w->n_hosts == 0) {
        snprintf(problem, size, "no host mounts anything");
        return false;
    }
    w->subnet = &w->ifaces[0]->addr;
    for (size_t b = 0; b < t->n_boxes && w->routed; b++)
        w->routers[b] = t->nodes[t->boxes[b].node].kind == TOPO_ROUTER;
    for (size_t h = 1; h < w->n_hosts; h++) {
        if (!w->routed && !topo_addr_same_subnet(w->subnet, &w->ifaces[h]->addr, w->subnet->prefix)) {
            snprintf(problem, size, "hosts have their storage interfaces in different subnets");
            return false;
        }
        if (!host_vlan(w, h) != !host_vlan(w, 0)) {
            snprintf(problem, size, "some hosts are in a VLAN and some in none");
            return false;
        }
    }
    return true;
}

static bool find_all(struct drawing *w, const struct plan_problem *p, char *problem, size_t size)
{
    if (!find_hosts(w, p, problem, size))
        return false;
    w->switches = count_switches(w);
    find_devices(w);
    for (size_t h = 0; h < w->n_hosts; h++) {
        size_t n = w->devices[h].n;
        w->subnets = n > w->subnets ? n : w->subnets;
        if (n == 0) {
            snprintf(problem, size, "%s has no cable at its storage interface", w->t->boxes[w->hosts[h]].name);
            return false;
        }
    }
    return true;
}

static void draw_all(struct drawing *w, const char *id)
{
    const struct topo *t = w->t;
    fprintf(w->out, "version: 1\nname: design-%s\nnodes:\n", id);
    for (size_t h = 0; h < w->n_hosts; h++) {
        fputs("  ", w->out);
        print_text(w->out, t->boxes[w->hosts[h]].name);
        fputs(":\n", w->out);
        if (is_esxi(w, h))
            draw_esxi(w, h, w->devices[h].n);
        else
            draw_linux(w, h, w->devices[h].n);
    }
    for (int b = 0; b < (int)t->n_boxes && w->design != PLAN_DESIGN_SUBNETS; b++)
        if (w->routers[b]) {
            fputs("  ", w->out);
            print_text(w->out, t->boxes[b].name);
            fputs(":\n", w->out);
            draw_router(w, b);
        }
    for (size_t i = 0; i < w->switches; i++)
        draw_switch(w, i);
    for (size_t n = 0; n < t->n_nodes; n++)
        if (t->nodes[n].kind == TOPO_NAS)
            draw_nas(w, n);
    draw_links(w);
    draw_datastores(w);
}

char *plan_design_draw(const struct topo *t, enum plan_design design, unsigned variant, char *problem, size_t size)
{
    const struct plan_options options = {.allow_indirect = true};
    struct plan_problem *p = plan_problem_new(t, &options, problem, size);
    struct drawing w = {.t = t,
                        .design = design,
                        .variant = variant,
                        .hosts = calloc(t->n_boxes + 1, sizeof *w.hosts),
                        .ifaces = calloc(t->n_boxes + 1, sizeof *w.ifaces),
                        .routers = calloc(t->n_boxes + 1, sizeof *w.routers),
                        .devices = calloc(t->n_boxes + t->n_teams + 1, sizeof *w.devices)};
    char *text = NULL;
    size_t length;
    bool room = w.hosts && w.ifaces && w.routers && w.devices;
    if (p && room && find_all(&w, p, problem, size) && (w.out = open_memstream(&text, &length))) {
        draw_all(&w, plan_design_facts(design)->id);
        fclose(w.out);
    }
    plan_problem_free(p);
    free(w.hosts);
    free(w.ifaces);
    free(w.routers);
    free(w.devices);
    return text;
}
