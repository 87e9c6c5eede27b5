#include "nfsbal/plan/designs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path_site.h"
#include "emu/model/topology_file.h"
#include "nfsbal/plan/problem.h"

enum { VARIANTS = 8 };
#define FAILURE_WORK 3e6 /* flows times cables that are failed one by one */

static const struct plan_design_facts facts[] = {
    [PLAN_DESIGN_TODAY] = {"today", "today", {PLAN_WAYS, PLAN_WAYS}, NULL, NULL, NULL, NULL},
    [PLAN_DESIGN_VIPS] = {"vips-ip-hash",
                          "VIPs + IP hash",
                          {PLAN_WAY_IP_HASH, PLAN_WAY_VIPS},
                          "vSwitch: route based on IP hash, all uplinks active, none on standby",
                          "a static EtherChannel per host on one switch, stack or MLAG pair; hash over addresses",
                          "several addresses per controller; one datastore, one address",
                          "the host's switch ports change together with its teaming: the wrong order cuts it off"},
    [PLAN_DESIGN_SUBNETS] = {"subnets-port-id",
                             "subnets + port ID",
                             {PLAN_WAY_SUBNETS, PLAN_WAYS},
                             "a vmknic, VLAN and port group per uplink: that one active, the others on standby",
                             "no LAG to hosts; a VLAN per uplink; independent switches will do",
                             "an address per subnet, each on a port of its own",
                             "all hosts need the same subnets; the loss of a NAS port is the NAS's own failover, not "
                             "counted here"},
    [PLAN_DESIGN_BINDING] = {"vmk-binding",
                             "vmknic binding",
                             {PLAN_WAY_VMK_BINDING_3, PLAN_WAYS},
                             "a vmknic per uplink in one subnet, each datastore bound to one",
                             "no LAG to hosts; independent switches will do",
                             "several addresses where its LAG hashes over addresses",
                             "every datastore must be bound: what is not goes where routing says (KB 2010877); NFS 4.1 "
                             "can since 8.0 U3"},
    [PLAN_DESIGN_LACP] =
        {"lacp-nconnect",
         "LACP L4 + nconnect 4",
         {PLAN_WAY_NCONNECT, PLAN_WAY_LACP},
         "distributed switch with an LACP LAG that hashes over ports; nconnect 4, the same on all hosts",
         "LACP per host on one switch, stack or MLAG pair; hash over ports towards hosts and NAS",
         "LACP with a hash over ports",
         "ports are drawn at every connect: rates are the average at best, a link may stay idle; 256 "
         "connections per host"},
    [PLAN_DESIGN_TEN_GIG] = {"two-fast-links",
                             "2 x 10 GbE, no hash",
                             {PLAN_WAY_NO_HASH, PLAN_WAYS},
                             "two 10 GbE uplinks, one active, one on standby",
                             "10 GbE ports, no LAG; independent switches will do",
                             "two 10 GbE ports per controller, addresses dealt over them",
                             "new hardware on hosts, switch and NAS"},
};
static_assert(sizeof facts / sizeof facts[0] == PLAN_DESIGNS, "facts for each design");

const struct plan_design_facts *plan_design_facts(enum plan_design design) { return &facts[design]; }

/* ---- what a topology gives ---- */

static double slowest(const struct path_site *s, const double *rates)
{
    double least = 0;
    bool any = false;
    for (size_t m = 0; m < s->t->n_mounts; m++) {
        double rate = 0;
        for (size_t f = s->first_flow[m]; f < s->first_flow[m + 1]; f++)
            rate += rates[f];
        if (s->first_flow[m] < s->first_flow[m + 1] && (!any || rate < least)) {
            least = rate;
            any = true;
        }
    }
    return least;
}

/* The slowest datastore after the worst loss of one cable that leaves everything a way. */
static double after_loss(const struct path_site *s)
{
    const struct topo *t = s->t;
    bool *down = calloc(2 * t->n_links + 1, sizeof *down);
    double *rates = calloc(s->n_flows + 1, sizeof *rates), least = 0;
    bool any = false;
    for (size_t l = 0; down && rates && l < t->n_links; l++) {
        struct path_state state = {.linkdir_down = down};
        for (size_t i = 0; i < t->n_links; i++)
            down[2 * i] = down[2 * i + 1] = t->links[i].down || i == l;
        for (int d = 0; d < 2; d++) {
            struct predict *p = predict_new(t, &state, s->flows, s->weights, s->n_flows, (enum flow_direction)d);
            bool broken = !p || predict_rates(p, NULL, 0, rates) != 0;
            for (size_t f = 0; f < s->n_flows && !broken; f++)
                broken = predict_broken(p, f);
            double rate = broken ? 0 : slowest(s, rates);
            if (!broken && (!any || rate < least)) {
                least = rate;
                any = true;
            }
            predict_free(p);
        }
    }
    free(down);
    free(rates);
    return least;
}

bool plan_design_rates(const struct topo *t, struct plan_design_rates *out)
{
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    struct path_site *s = n < 0 ? NULL : path_site_new(t, flows, (size_t)n);
    free(flows);
    *out = (struct plan_design_rates){0};
    if (!s)
        return false;
    for (int d = 0; d < 2; d++) {
        bool any = false;
        for (size_t b = 0; b < t->n_boxes; b++) {
            double rate = 0;
            size_t flows_of;
            path_site_flows_of(s, (int)b, &flows_of);
            if (flows_of == 0 || path_site_host_rate(s, (int)b, (enum flow_direction)d, &rate) != 0)
                continue;
            out->host[d] = any ? fmin(out->host[d], rate) : rate;
            any = true;
        }
        for (size_t f = 0; f < s->n_flows; f++)
            out->all[d] += s->all[d][f];
        out->slowest[d] = slowest(s, s->all[d]);
    }
    if ((double)s->n_flows * (double)t->n_links <= FAILURE_WORK)
        out->after = after_loss(s);
    path_site_free(s);
    return true;
}

/* ---- the site drawn anew ---- */

struct drawing {
    const struct topo *t;
    enum plan_design design;
    FILE *out;
    const struct topo_addr *subnet;   /* of the first host's interface */
    int *hosts;                       /* boxes that mount something */
    const struct topo_iface **ifaces; /* by host */
    size_t n_hosts, subnets;
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

static bool is_esxi(const struct drawing *w, size_t host)
{
    return w->t->nodes[w->t->boxes[w->hosts[host]].node].kind == TOPO_ESXI;
}

/* Uplinks of the host's NFS interface with a cable, and the rate of the slowest. */
static size_t uplinks(const struct drawing *w, size_t host, bps_t *rate)
{
    const struct topo *t = w->t;
    const struct topo_team *team = &t->teams[w->ifaces[host]->team];
    size_t n = 0;
    *rate = 0;
    for (size_t i = 0; i < team->n_ports; i++) {
        int link = t->ports[team->ports[i]].link;
        if (link < 0)
            continue;
        *rate = n++ && *rate < t->links[link].rate ? *rate : t->links[link].rate;
    }
    if (w->design == PLAN_DESIGN_TEN_GIG) {
        *rate = *rate > 10000000000 ? *rate : 10000000000;
        return 2;
    }
    return n;
}

static size_t nas_ports(const struct drawing *w, int box, bps_t *rate)
{
    const struct topo *t = w->t;
    size_t n = 0;
    *rate = 0;
    for (int p = t->boxes[box].first_port; p < t->boxes[box].first_port + t->boxes[box].n_ports; p++) {
        int link = t->ports[p].link;
        if (link < 0)
            continue;
        *rate = n++ && *rate < t->links[link].rate ? *rate : t->links[link].rate;
    }
    if (w->design == PLAN_DESIGN_TEN_GIG) {
        *rate = *rate > 10000000000 ? *rate : 10000000000;
        return 2;
    }
    return n;
}

static bool is_controller(const struct topo *t, int box) { return t->nodes[t->boxes[box].node].kind == TOPO_NAS; }

static uint16_t vlan_of(const struct drawing *w) { return w->ifaces[0]->vlan; }

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
        unsigned vlan = w->design == PLAN_DESIGN_SUBNETS ? 2001 + (unsigned)i : vlan_of(w);
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
            fprintf(w->out, "10.%zu.%zu.%zu/16}\n", 200 + i, h / 250, h % 250 + 1);
        else if (i == 0)
            fprintf(w->out, "%s}\n", address);
        else /* what it is does not matter: nothing hashes over it but the NAS's LAG */
            fprintf(w->out, "%u.%u.%zu.%zu/%u}\n", f->addr.bytes[0], f->addr.bytes[1],
                    f->addr.prefix >= 24 ? (size_t)f->addr.bytes[2] : 250,
                    2 + (h * 8 + i * (3 + w->variant) + w->variant * 7) % 250, (unsigned)f->addr.prefix);
    }
}

static void draw_linux(struct drawing *w, size_t h, size_t n)
{
    const struct topo_iface *f = w->ifaces[h];
    const char *mode = w->design == PLAN_DESIGN_TEN_GIG ? "active-backup" : "802.3ad";
    uint16_t vlan = vlan_of(w);
    char address[64];
    topo_addr_print(address, sizeof address, &f->addr, true);
    fprintf(w->out, "    kind: linux\n    kernel: '6.8'\n");
    if (w->design == PLAN_DESIGN_SUBNETS) {
        fputs("    interfaces:\n", w->out);
        for (size_t i = 0; i < w->subnets; i++)
            fprintf(w->out, "      u%zu.%zu: {parent: u%zu, vlan: %zu, mtu: %u, address: 10.%zu.%zu.%zu/16}\n", i % n,
                    2001 + i, i % n, 2001 + i, (unsigned)f->mtu, 200 + i, h / 250, h % 250 + 1);
        return;
    }
    fprintf(w->out, "    bonds: {b: {members: 'u[0-%zu]', mtu: %u, mode: %s", n - 1, (unsigned)f->mtu, mode);
    if (w->design != PLAN_DESIGN_TEN_GIG)
        fprintf(w->out, ", hash: %s", w->design == PLAN_DESIGN_VIPS ? "layer2+3" : "layer3+4");
    fputs("}}\n    interfaces: {", w->out);
    if (vlan)
        fprintf(w->out, "b.%u: {vlan: %u, address: %s}}\n", (unsigned)vlan, (unsigned)vlan, address);
    else
        fprintf(w->out, "b: {address: %s}}\n", address);
}

/* Whether the switch has a LAG to this host. */
static bool has_lag(const struct drawing *w, size_t host)
{
    bps_t rate;
    size_t n = uplinks(w, host, &rate);
    if (n < 2 || w->design == PLAN_DESIGN_TEN_GIG || w->design == PLAN_DESIGN_SUBNETS)
        return false;
    return !is_esxi(w, host) || w->design == PLAN_DESIGN_VIPS || w->design == PLAN_DESIGN_LACP;
}

static bool nas_has_lag(const struct drawing *w, int box)
{
    bps_t rate;
    return w->design != PLAN_DESIGN_SUBNETS && w->design != PLAN_DESIGN_TEN_GIG && nas_ports(w, box, &rate) > 1;
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

static void draw_switch(struct drawing *w)
{
    const struct topo *t = w->t;
    bool tagged = vlan_of(w) || w->design == PLAN_DESIGN_SUBNETS, any = false;
    size_t port = 0;
    bps_t rate;
    fputs("  design-switch:\n    kind: switch\n    mtu: 9216\n    hash: ", w->out);
    print_hash(w, switch_hash(t));
    fputc('\n', w->out);
    if (w->design == PLAN_DESIGN_SUBNETS)
        fprintf(w->out, "    vlans: '[2001-%zu]'\n", 2000 + w->subnets);
    else if (tagged)
        fprintf(w->out, "    vlans: [%u]\n", (unsigned)vlan_of(w));
    for (int pass = 0; pass < 2; pass++) { /* LAGs, then single trunk ports */
        port = 0;
        any = false;
        for (size_t i = 0; i < w->n_hosts + t->n_boxes; i++) {
            bool host = i < w->n_hosts;
            int box = host ? w->hosts[i] : (int)(i - w->n_hosts);
            if (!host && !is_controller(t, box))
                continue;
            size_t n = host ? uplinks(w, i, &rate) : nas_ports(w, box, &rate);
            bool lag = host ? has_lag(w, i) : nas_has_lag(w, box);
            if ((pass == 0) == lag && (lag || tagged) && !any)
                fputs(pass ? "    ports:\n" : "    lags:\n", w->out);
            any |= (pass == 0) == lag && (lag || tagged);
            if (pass == 0 && lag) {
                fprintf(w->out, "      po%zu: {to: \"%s%s%s\", mode: %s%s}\n", i, t->boxes[box].name, host ? ":" : ".",
                        !host           ? "a"
                        : is_esxi(w, i) ? "v"
                                        : "b",
                        host && is_esxi(w, i) && w->design == PLAN_DESIGN_VIPS ? "static" : "lacp",
                        tagged ? ", vlan: trunk" : "");
            } else if (pass == 1 && !lag && tagged) {
                fprintf(w->out, "      'p[%zu-%zu]': {vlan: trunk}\n", port, port + n - 1);
            }
            port += n;
        }
    }
}

/* An address for a VIP in the hosts' subnet. */
static void print_vip(struct drawing *w, const struct topo_vip *v)
{
    char text[64];
    struct topo_addr a = *w->subnet;
    if (topo_addr_same_subnet(&v->addr, w->subnet, w->subnet->prefix)) {
        a = v->addr;
        a.prefix = w->subnet->prefix;
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

static void draw_nas(struct drawing *w, size_t node)
{
    const struct topo *t = w->t;
    const struct topo_node *nas = &t->nodes[node];
    unsigned mtu = w->ifaces[0]->mtu;
    fputs("  ", w->out);
    print_text(w->out, nas->name);
    fputs(":\n    kind: nas\n    controllers:\n", w->out);
    for (int b = nas->first_box; b < nas->first_box + nas->n_boxes; b++) {
        bps_t rate;
        size_t n = nas_ports(w, b, &rate);
        fputs("      ", w->out);
        print_text(w->out, t->boxes[b].part ? t->boxes[b].part : "c");
        fprintf(w->out, ": {nics: 'e[0-%zu]', mtu: %u", n ? n - 1 : 0, mtu);
        if (vlan_of(w) && w->design != PLAN_DESIGN_SUBNETS)
            fprintf(w->out, ", vlan: %u", (unsigned)vlan_of(w));
        if (nas_has_lag(w, b)) {
            const struct topo_team *lag = lag_of(t, b);
            fputs(", lag: {name: a, mode: lacp, hash: ", w->out);
            print_hash(w, lag ? &lag->teaming.policy : NULL);
            fputs("}", w->out);
        } else if (w->design == PLAN_DESIGN_TEN_GIG) {
            fputs(", team: {receive: vip, transmit: xor-dst-ip}", w->out);
        }
        fputs("}\n", w->out);
    }
    fputs("    vips:\n", w->out);
    if (w->design == PLAN_DESIGN_SUBNETS) {
        for (int b = nas->first_box; b < nas->first_box + nas->n_boxes; b++) {
            bps_t rate;
            size_t n = nas_ports(w, b, &rate);
            for (size_t i = 0; i < w->subnets; i++) {
                fprintf(w->out, "      10.%zu.255.%d/16: {home: ", 200 + i, 1 + b - nas->first_box);
                print_text(w->out, t->boxes[b].part ? t->boxes[b].part : "c");
                fprintf(w->out, ", vlan: %zu, port: e%zu}\n", 2001 + i, i % (n ? n : 1));
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
    const struct topo *t = w->t;
    size_t port = 0;
    fputs("links:\n", w->out);
    for (size_t i = 0; i < w->n_hosts + t->n_boxes; i++) {
        bool host = i < w->n_hosts;
        int box = host ? w->hosts[i] : (int)(i - w->n_hosts);
        bps_t rate;
        if (!host && !is_controller(t, box))
            continue;
        size_t n = host ? uplinks(w, i, &rate) : nas_ports(w, box, &rate);
        if (n == 0)
            continue;
        fprintf(w->out, "  - {ends: [\"%s%s%s[0-%zu]\", \"design-switch:p[%zu-%zu]\"], speed: %llu bit/s}\n",
                t->boxes[box].name, host || !t->boxes[box].part ? ":" : ".", host ? "u" : "e", n - 1, port,
                port + n - 1, (unsigned long long)rate);
        port += n;
    }
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

/* Hosts that mount something, with the interface they use. False with the reason. */
static bool find_hosts(struct drawing *w, const struct plan_problem *p, char *problem, size_t size)
{
    const struct topo *t = w->t;
    for (size_t h = 0; h < p->n_hosts; h++) {
        bool mounts = false;
        for (size_t d = 0; d < t->n_datastores && !mounts; d++)
            for (size_t i = 0; i < t->datastores[d].n_hosts; i++)
                mounts |= t->datastores[d].hosts[i] == p->hosts[h].box;
        const struct topo_iface *f = NULL;
        for (size_t v = 0; v < t->n_vips && mounts && !f; v++) {
            const struct plan_pair *pair = &p->pairs[h * t->n_vips + v];
            if (pair->works && pair->mount->gateway_iface < 0)
                f = &t->ifaces[pair->mount->iface];
        }
        if (!mounts)
            continue;
        if (!f || f->addr.version != 4 || f->addr.prefix < 8) {
            snprintf(problem, size, "%s reaches no VIP over IPv4 without a router", t->boxes[p->hosts[h].box].name);
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
    for (size_t h = 1; h < w->n_hosts; h++)
        if (!topo_addr_same_subnet(w->subnet, &w->ifaces[h]->addr, w->subnet->prefix)) {
            snprintf(problem, size, "hosts have their storage interfaces in different subnets");
            return false;
        }
    for (size_t h = 0; h < w->n_hosts; h++) {
        bps_t rate;
        size_t n = uplinks(w, h, &rate);
        w->subnets = n > w->subnets ? n : w->subnets;
        if (n == 0) {
            snprintf(problem, size, "%s has no cable at its storage interface", t->boxes[w->hosts[h]].name);
            return false;
        }
    }
    return true;
}

static char *draw(const struct topo *t, enum plan_design design, unsigned variant, char *problem, size_t size)
{
    const struct plan_options options = {.allow_indirect = true};
    struct plan_problem *p = plan_problem_new(t, &options, problem, size);
    struct drawing w = {.t = t,
                        .design = design,
                        .variant = variant,
                        .hosts = calloc(t->n_boxes + 1, sizeof *w.hosts),
                        .ifaces = calloc(t->n_boxes + 1, sizeof *w.ifaces)};
    char *text = NULL;
    size_t length;
    if (p && w.hosts && w.ifaces && find_hosts(&w, p, problem, size) && (w.out = open_memstream(&text, &length))) {
        fprintf(w.out, "version: 1\nname: design-%s\nnodes:\n", facts[design].id);
        for (size_t h = 0; h < w.n_hosts; h++) {
            bps_t rate;
            size_t n = uplinks(&w, h, &rate);
            fputs("  ", w.out);
            print_text(w.out, t->boxes[w.hosts[h]].name);
            fputs(":\n", w.out);
            if (is_esxi(&w, h))
                draw_esxi(&w, h, n);
            else
                draw_linux(&w, h, n);
        }
        draw_switch(&w);
        for (size_t n = 0; n < t->n_nodes; n++)
            if (t->nodes[n].kind == TOPO_NAS)
                draw_nas(&w, n);
        draw_links(&w);
        draw_datastores(&w);
        fclose(w.out);
    }
    plan_problem_free(p);
    free(w.hosts);
    free(w.ifaces);
    return text;
}

char *plan_design_text(const struct topo *t, enum plan_design design, char *problem, size_t size)
{
    return draw(t, design, 0, problem, size);
}

/* Each datastore of a host over the next of its interfaces in that subnet; `by_vip`: each of a VIP. */
static void bind(struct topo *t, bool by_vip)
{
    for (size_t m = 0; m < t->n_mounts; m++) {
        struct topo_mount *mount = &t->mounts[m];
        size_t n = 0, before = 0;
        int ifaces[64];
        for (int i = 0; i < (int)t->n_ifaces && n < 64; i++)
            if (t->ifaces[i].box == mount->host && mount->vip >= 0 &&
                topo_addr_same_subnet(&t->ifaces[i].addr, &t->vips[mount->vip].addr, t->ifaces[i].addr.prefix))
                ifaces[n++] = i;
        for (size_t k = 0; k < m; k++)
            before += t->mounts[k].host == mount->host && (!by_vip || t->mounts[k].vip == mount->vip);
        if (n > 1)
            mount->iface = ifaces[before % n];
        mount->iface_origin = TOPO_GIVEN;
        mount->bound = true;
    }
}

static bool try_design(const struct topo *t, enum plan_design design, unsigned variant, struct plan_design_rates *out,
                       char *problem, size_t size)
{
    const struct plan_options options = {.best = true, .allow_indirect = true};
    char *text = draw(t, design, variant / 2, problem, size);
    struct diag d;
    struct topo *site = NULL, *goal = NULL;
    struct plan *plan = NULL;
    bool ok = false;
    if (!text)
        return false;
    diag_init(&d, facts[design].id);
    struct topo_file *f = topo_file_parse(facts[design].id, text, strlen(text), &d);
    site = f ? topo_load(f, NULL, &d) : NULL;
    if (site && diag_count(&d, DIAG_ERROR) == 0)
        plan = plan_make(site, &options, problem, size);
    else
        snprintf(problem, size, "it can't be drawn for this site%s%s", d.count ? ": " : "",
                 d.count ? d.entries[0].text : "");
    if (plan) {
        struct topo_assignment *all;
        long n = plan_assignments(plan, &plan->rows[plan->best], &all);
        goal = n < 0 ? NULL : topo_load_assigned(f, NULL, all, (size_t)n, &d);
        if (n >= 0)
            free(all);
        if (goal && design == PLAN_DESIGN_BINDING)
            bind(goal, variant % 2);
        ok = goal && plan_design_rates(goal, out);
        if (!ok)
            snprintf(problem, size, "out of memory");
    }
    plan_free(plan);
    topo_free(goal);
    topo_free(site);
    topo_file_close(f);
    diag_free(&d);
    free(text);
    return ok;
}

bool plan_design(const struct topo *t, enum plan_design design, struct plan_design_rates *out, char *problem,
                 size_t size)
{
    if (design != PLAN_DESIGN_BINDING)
        return try_design(t, design, 0, out, problem, size);
    /* The addresses of the further vmknics are free to choose: the best of some. */
    bool any = false;
    for (unsigned v = 0; v < VARIANTS; v++) {
        struct plan_design_rates rates;
        if (!try_design(t, design, v, &rates, problem, size))
            continue;
        double now = fmin(rates.slowest[0], rates.slowest[1]), best = fmin(out->slowest[0], out->slowest[1]);
        if (!any || now > best * (1 + 1e-9) || (now >= best * (1 - 1e-9) && rates.host[0] > out->host[0]))
            *out = rates;
        any = true;
    }
    return any;
}
