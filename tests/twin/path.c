/* The path function against a slow twin that knows nothing of ways: switches with MAC tables that learn from frames and flood
 * what they don't know. Every interface makes itself heard once, as its team would; then each flow's frame is handed from box
 * to box. Random sites, with all cables up and with some of them cut.
 */
#include "emu/model/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "hashes/key.h"
#include "hashes/pick.h"
#include "tests/support/path_site.h"
#include "tests/support/random_site.h"

enum { MACS = 64, HOPS = 12, SITES = 1500 };

/* A MAC address and where each switch has it: a LAG (-2 - team), a port, or -1. */
struct entry {
    uint8_t mac[6];
    int *at; /* by box */
};

struct net {
    const struct topo *t;
    const bool *down; /* cables */
    struct entry entries[MACS];
    int n;
};

struct frame {
    struct hash_flow fields; /* smac, dmac and what is inside */
    int hops[HOPS], n;       /* link directions taken */
    int box;                 /* where it ended up */
    int port;
};

static bool port_up(const struct net *n, int port)
{
    return n->t->ports[port].link >= 0 && !n->down[n->t->ports[port].link];
}

static int other_end(const struct topo *t, int port)
{
    const struct topo_port *p = &t->ports[port];

    return t->links[p->link].port[!p->end];
}

/* The member that the rule picks among those that are up, counted off by hand. */
static int pick(const struct net *n, const struct topo_teaming *teaming, const int *ports, size_t n_ports, int team,
                const struct hash_flow *fields, uint16_t vlan)
{
    enum topo_team_kind kind = n->t->teams[team].kind;
    int up[16];
    unsigned count = 0;
    struct hash_flow f = *fields;
    struct hash_key key;

    for (size_t i = 0; i < n_ports; i++)
        if (port_up(n, ports[i]))
            up[count++] = ports[i];
    if (count == 0)
        return -1;
    if (!teaming->policy.policy || teaming->policy.policy->reduction == HASH_REDUCE_ACTIVE)
        return up[0];
    if (vlan && kind != TOPO_TEAM_VSWITCH) {
        f.tag = HASH_TAG_OFFLOADED;
        f.tci = vlan;
    }
    hash_key_flow(&key, &f);
    return up[hash_reduce(&teaming->policy, hash_value(&teaming->policy, &key), count)];
}

/* The port that an interface sends by: an active one, else as many standby ones as are missing. */
static int send_port(const struct net *n, const struct topo_iface *i, const struct hash_flow *fields)
{
    const struct topo_teaming *teaming = i->teaming ? i->teaming : &n->t->teams[i->team].teaming;
    int ports[32];
    size_t count = 0, up = 0;
    bool one = !teaming->policy.policy || teaming->policy.policy->reduction == HASH_REDUCE_ACTIVE;

    for (size_t k = 0; k < teaming->n_active; k++) {
        ports[count++] = teaming->active[k];
        up += port_up(n, teaming->active[k]);
    }
    for (size_t k = 0; k < teaming->n_standby; k++)
        if (port_up(n, teaming->standby[k]) && (one || up < teaming->n_active)) {
            ports[count++] = teaming->standby[k];
            up++;
        }
    return pick(n, teaming, ports, count, i->team, fields, i->vlan);
}

static int lag_of(const struct topo *t, int port)
{
    int team = t->ports[port].team;

    return team >= 0 && t->teams[team].kind == TOPO_TEAM_SWITCH_LAG ? team : -1;
}

static bool is_switch(const struct topo *t, int box) { return t->nodes[t->boxes[box].node].kind == TOPO_SWITCH; }

static struct entry *entry_of(struct net *n, const uint8_t mac[6])
{
    for (int i = 0; i < n->n; i++)
        if (memcmp(n->entries[i].mac, mac, 6) == 0)
            return &n->entries[i];
    assert_true(n->n < MACS);
    memcpy(n->entries[n->n].mac, mac, 6);
    n->entries[n->n].at = malloc(n->t->n_boxes * sizeof(int));
    for (size_t b = 0; b < n->t->n_boxes; b++)
        n->entries[n->n].at[b] = -1;
    return &n->entries[n->n++];
}

/* A broadcast enters a switch: it learns, and sends one copy out of every other port or LAG. */
static void flood(struct net *n, struct entry *e, int in)
{
    const struct topo *t = n->t;
    int box = t->ports[in].box, from = lag_of(t, in);
    bool sent[256] = {false};

    if (!is_switch(t, box))
        return;
    e->at[box] = from >= 0 ? -2 - from : in;
    for (int p = t->boxes[box].first_port; p < t->boxes[box].first_port + t->boxes[box].n_ports; p++) {
        int lag = lag_of(t, p);

        if (!port_up(n, p) || p == in || (lag >= 0 && (lag == from || sent[lag])))
            continue;
        if (lag >= 0)
            sent[lag] = true;
        flood(n, e, other_end(t, p));
    }
}

static void announce(struct net *n, const uint8_t mac[6], int port)
{
    if (port >= 0 && port_up(n, port))
        flood(n, entry_of(n, mac), other_end(n->t, port));
}

/* Hands the frame from box to box until it is at no switch any more, or lost (box -1). */
static void forward(struct net *n, struct frame *f, int port, uint16_t vlan)
{
    const struct topo *t = n->t;

    for (;;) {
        int at, lag;

        f->box = -1;
        if (port < 0 || !port_up(n, port) || f->n == HOPS)
            return;
        f->hops[f->n++] = topo_port_out(t, port);
        port = other_end(t, port);
        f->box = t->ports[port].box;
        f->port = port;
        if (!is_switch(t, f->box))
            return;
        at = entry_of(n, f->fields.dmac)->at[f->box];
        lag = -2 - at;
        if (at == -1)
            port = -1;
        else if (at >= 0)
            port = at;
        else
            port = pick(n, &t->teams[lag].teaming, t->teams[lag].ports, t->teams[lag].n_ports, lag, &f->fields, vlan);
    }
}

static bool nic_team(const struct topo *t, const struct topo_iface *i)
{
    return t->teams[i->team].kind == TOPO_TEAM_NAS_TEAM;
}

/* NIC that answers for a VIP of a switch-independent team: its ordinal, or counted over those that are up. */
static int vip_nic(const struct net *n, const struct topo_vip *v)
{
    const struct topo_team *team = &n->t->teams[n->t->ifaces[v->iface].team];
    int up[16];
    unsigned count = 0;

    for (size_t i = 0; i < team->n_ports; i++)
        if (port_up(n, team->ports[i]))
            up[count++] = team->ports[i];
    if (port_up(n, team->ports[(size_t)v->ordinal % team->n_ports]))
        return team->ports[(size_t)v->ordinal % team->n_ports];
    return count ? up[(unsigned)v->ordinal % count] : -1;
}

static void client_mac(const struct topo *t, const struct topo_iface *i, uint8_t out[6])
{
    memcpy(out, t->teams[i->team].kind == TOPO_TEAM_BOND ? t->teams[i->team].mac : i->mac, 6);
}

/* The frame of a flow in one direction, at its sender. */
static void make_frame(struct net *n, const struct flow *flow, bool write, struct frame *f)
{
    const struct topo *t = n->t;
    const struct topo_iface *client = &t->ifaces[flow->iface], *server = &t->ifaces[t->vips[flow->vip].iface];
    uint8_t client_is[6], server_is[6], server_answers[6];
    int nic = nic_team(t, server) ? vip_nic(n, &t->vips[flow->vip]) : -1;

    *f = (struct frame){.fields = {.ip_version = 4, .proto = 6}};
    client_mac(t, client, client_is);
    memcpy(server_is, t->teams[server->team].mac, 6);
    memcpy(server_answers, nic >= 0 ? t->ports[nic].mac : server_is, 6);
    memcpy(f->fields.src, write ? client->addr.bytes : t->vips[flow->vip].addr.bytes, 4);
    memcpy(f->fields.dst, write ? t->vips[flow->vip].addr.bytes : client->addr.bytes, 4);
    memcpy(f->fields.smac, write ? client_is : server_is, 6);
    memcpy(f->fields.dmac, write ? server_answers : client_is, 6);
    f->fields.sport = write ? flow->sport : flow->dport;
    f->fields.dport = write ? flow->dport : flow->sport;
    f->fields.port_id = write ? client->port_id : 0;
}

static void run(struct net *n, const struct flow *flow, bool write, struct frame *f)
{
    const struct topo *t = n->t;
    const struct topo_iface *client = &t->ifaces[flow->iface], *server = &t->ifaces[t->vips[flow->vip].iface];
    const struct topo_iface *from = write ? client : server, *to = write ? server : client;
    int port;

    make_frame(n, flow, write, f);
    port = send_port(n, from, &f->fields);
    if (!write && nic_team(t, from) && port >= 0)
        memcpy(f->fields.smac, t->ports[port].mac, 6);
    f->fields.port_id = 0;
    if (write && nic_team(t, to) && vip_nic(n, &t->vips[flow->vip]) < 0)
        port = -1;
    forward(n, f, port, from->vlan);
    if (f->box != to->box)
        f->box = -1;
}

/* Every interface sends something that all hear. What a host's own rule makes of that frame is what it makes of any. */
static void learn(struct net *n, const struct flow *flows, long n_flows)
{
    const struct topo *t = n->t;

    for (size_t i = 0; i < t->n_ports; i++)
        if (t->ports[i].team >= 0 && t->teams[t->ports[i].team].kind == TOPO_TEAM_NAS_TEAM)
            announce(n, t->ports[i].mac, (int)i);
    for (long i = 0; i < n_flows; i++)
        for (int write = 0; write < 2; write++) {
            const struct topo_iface *from =
                write ? &t->ifaces[flows[i].iface] : &t->ifaces[t->vips[flows[i].vip].iface];
            struct frame f;

            if (nic_team(t, from))
                continue;
            make_frame(n, &flows[i], write, &f);
            announce(n, f.fields.smac, send_port(n, from, &f.fields));
        }
}

static void compare(const struct topo *t, const struct frame *f, const struct path *p, const char *text)
{
    bool same = (p->end == PATH_OK) == (f->box >= 0) && (p->end != PATH_OK || (size_t)f->n == p->n_hops);

    for (size_t h = 0; same && p->end == PATH_OK && h < p->n_hops; h++)
        same = p->hops[h].linkdir == f->hops[h];
    if (same)
        return;
    print_message("%s\npath (%s):\n", text, p->problem);
    for (size_t h = 0; h < p->n_hops; h++)
        print_message("  %s %s\n", p->hops[h].linkdir >= 0 ? topo_linkdir_name(t, p->hops[h].linkdir) : "-",
                      p->hops[h].why);
    print_message("twin:\n");
    for (int h = 0; h < f->n; h++)
        print_message("  %s\n", topo_linkdir_name(t, f->hops[h]));
    fail_msg("they differ");
}

static void try_site(const char *text, uint64_t seed, unsigned cuts, unsigned *lost, unsigned *arrived)
{
    struct topo *t = site_parse(text, NULL);
    bool *down = calloc(t->n_links + 1, sizeof *down), *dirs = calloc(2 * t->n_links + 1, sizeof *dirs);
    struct path_state state = {.linkdir_down = dirs};
    struct net n = {.t = t, .down = down};
    struct flow *flows;
    long n_flows = flow_list(t, &flows);

    for (unsigned i = 0; i < cuts; i++) {
        size_t link = (size_t)((seed * 7 + i * 13) % t->n_links);

        down[link] = dirs[2 * link] = dirs[2 * link + 1] = true;
    }
    for (long i = 0; i < n_flows; i++)
        flows[i].sport_origin = TOPO_GIVEN;
    learn(&n, flows, n_flows);
    for (long i = 0; i < n_flows; i++)
        for (int write = 0; write < 2; write++) {
            struct frame f;
            struct path p;

            path_walk(t, &state, &flows[i], write ? FLOW_WRITE : FLOW_READ, true, &p);
            run(&n, &flows[i], write, &f);
            compare(t, &f, &p, text);
            *(p.end == PATH_OK ? arrived : lost) += 1;
        }
    for (int i = 0; i < n.n; i++)
        free(n.entries[i].at);
    free(flows);
    free(down);
    free(dirs);
    topo_free(t);
}

static void test_random(void **unused)
{
    unsigned lost = 0, arrived = 0;

    (void)unused;
    for (uint64_t seed = 0; seed < SITES; seed++) {
        char *text = random_site(seed, 0);

        try_site(text, seed, 0, &lost, &arrived);
        assert_int_equal(lost, 0);
        free(text);
    }
    /* Enough of each kind that the comparison means something. */
    for (uint64_t seed = 0; seed < SITES; seed++) {
        char *text = random_site(seed, 0);

        try_site(text, seed, 1 + (unsigned)(seed % 4), &lost, &arrived);
        free(text);
    }
    assert_true(arrived > 10000);
    assert_true(lost > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
