/* What the format means: ranges and pairing, defaults, LAGs, mounts and their connections, cases. */
#include "emu/model/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "emu/model/topology_file.h"

/* A site whose parts tests replace: nodes, links, datastores and more are given as text. */
static struct topo *load(const char *case_name, const char *text)
{
    struct diag d;
    diag_init(&d, "test.yaml");
    struct topo_file *f = topo_file_parse("test.yaml", text, strlen(text), &d);
    struct topo *t = f ? topo_load(f, case_name, &d) : NULL;
    if (!t) {
        diag_print_text(&d, stderr, true);
        fail();
    }
    topo_file_close(f); /* what was made from it stays */
    diag_free(&d);
    return t;
}

static const struct topo_port *port(const struct topo *t, const char *full)
{
    int i = topo_find_port(t, full);
    if (i < 0)
        fail_msg("no port %s", full);
    return &t->ports[i];
}

static const struct topo_team *team(const struct topo *t, const char *box, const char *name)
{
    for (size_t i = 0; i < t->n_teams; i++)
        if (strcmp(t->teams[i].name, name) == 0 && strcmp(t->boxes[t->teams[i].box].name, box) == 0)
            return &t->teams[i];
    fail_msg("no team %s on %s", name, box);
    return NULL;
}

static const struct topo_iface *iface(const struct topo *t, const char *box, const char *name)
{
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (strcmp(t->ifaces[i].name, name) == 0 && strcmp(t->boxes[t->ifaces[i].box].name, box) == 0)
            return &t->ifaces[i];
    fail_msg("no interface %s on %s", name, box);
    return NULL;
}

static const struct topo_vip *vip(const struct topo *t, const char *text)
{
    struct topo_addr addr;
    assert_true(topo_addr_parse(&addr, text));
    int i = topo_find_vip(t, &addr);
    assert_true(i >= 0);
    return &t->vips[i];
}

static const struct topo_mount *mount(const struct topo *t, const char *datastore, const char *host)
{
    for (size_t i = 0; i < t->n_mounts; i++)
        if (strcmp(t->datastores[t->mounts[i].datastore].name, datastore) == 0 &&
            strcmp(t->boxes[t->mounts[i].host].name, host) == 0)
            return &t->mounts[i];
    fail_msg("%s is not mounted on %s", datastore, host);
    return NULL;
}

static void check_addr(const struct topo_addr *addr, const char *expected)
{
    char text[64];
    assert_string_equal(topo_addr_print(text, sizeof(text), addr, strchr(expected, '/') != NULL), expected);
}

static void check_ports(const struct topo *t, const int *ports, size_t n, const char *expected)
{
    char text[400] = "";
    for (size_t i = 0; i < n; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "", t->ports[ports[i]].full);
    assert_string_equal(text, expected);
}

#define NAS_TEXT                                                                                                     \
    "  nas: {kind: nas, controllers: {c1: {nics: e0}}, vips: {\"10.0.0.[101-104]/24\": {}}, exports: {\"/v[1-4]\": " \
    "{}}}\n"

static void ranges_pair_by_position(void **state)
{
    (void)state;
    struct topo *t =
        load(NULL, "version: 1\n"
                   "nodes:\n"
                   "  h[1,3]:\n"
                   "    kind: esxi\n"
                   "    vswitches: {v0: {uplinks: \"vmnic[08-10]\"}}\n"
                   "    vmknics:\n"
                   "      vmk[1-3]: {vswitch: v0, address: \"10.0.[7-9].1/24\"}\n" /* with the nearest: vmk */
                   "      vmk9: {vswitch: v0, address: \"10.0.0.[1-2]/24\"}\n"     /* with the node */
                   "  s: {kind: switch}\n" NAS_TEXT "links:\n"
                   "  - {ends: [\"h[1,3]:vmnic[08-10]\", \"s:p[a-b]/[1-3]\"], speed: 1G}\n"
                   "  - {ends: [\"nas:c1.e0\", \"s:up\"], speed: 10G}\n"
                   "datastores:\n"
                   "  \"ds[01,02]\": {export: \"nas:/v[3,1]\", mounted: \"10.0.0.[104,101]\", vms: 7}\n"
                   "  v2: {export: \"nas:/{name}\", mounted: 10.0.0.102}\n");
    assert_int_equal(t->n_nodes, 4);
    assert_string_equal(t->nodes[1].name, "h3");
    check_addr(&iface(t, "h1", "vmk2")->addr, "10.0.8.1/24");
    check_addr(&iface(t, "h3", "vmk2")->addr, "10.0.8.1/24");
    check_addr(&iface(t, "h1", "vmk9")->addr, "10.0.0.1/24");
    check_addr(&iface(t, "h3", "vmk9")->addr, "10.0.0.2/24");
    /* Leftmost slowest, on both sides; padding kept. */
    const struct topo_port *p = port(t, "h3:vmnic08");
    assert_string_equal(t->ports[t->links[p->link].port[!p->end]].full, "s:pb/1");
    assert_non_null(port(t, "h1:vmnic10"));
    assert_string_equal(topo_linkdir_name(t, topo_port_out(t, topo_find_port(t, "s:pa/3"))), "s:pa/3>h1:vmnic10");
    assert_string_equal(mount(t, "ds01", "h1")->path, "/v3");
    assert_string_equal(mount(t, "ds02", "h1")->server, "10.0.0.101");
    assert_int_equal(t->datastores[1].vms, 7);
    assert_string_equal(mount(t, "v2", "h3")->path, "/v2");
    topo_free(t);
}

static void lists_are_sets(void **state)
{
    (void)state;
    struct topo *t =
        load(NULL, "version: 1\n"
                   "nodes:\n"
                   "  h[1-2]: {kind: esxi, vswitches: {v0: {uplinks: [\"vmnic[2-3]\", vmnic0]}}}\n"
                   "  s: {kind: switch, vlans: [\"[10-12]\", 40], ports: {p1: {vlan: trunk}, p2: {vlan: {trunk: "
                   "\"1[1,2]\", native: 40}}, p3: {vlan: 40}}}\n");
    check_ports(t, team(t, "h2", "v0")->ports, 3, "h2:vmnic2 h2:vmnic3 h2:vmnic0");
    assert_int_equal(t->nodes[2].n_vlans, 4);
    assert_int_equal(port(t, "s:p1")->vlan.n_allowed, 4);
    const struct topo_vlan *v = &port(t, "s:p2")->vlan;
    assert_int_equal(v->mode, TOPO_VLAN_TRUNK);
    assert_int_equal(v->n_allowed, 2);
    assert_int_equal(v->allowed[1], 12);
    assert_int_equal(v->native, 40);
    assert_int_equal(port(t, "s:p3")->vlan.access, 40);
    topo_free(t);
}

static void ipv6_is_no_range(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  h: {kind: linux, interfaces: {eth0: {address: \"fd00::[11-11]/64\"}}}\n"
              "  s: {kind: switch}\n"
              "  nas: {kind: nas, controllers: {c: {nics: e0}}, vips: {\"fd00::[a-b]/64\": {}}, exports: {/v: {}}}\n"
              "links: [{ends: [\"h:eth0\", \"s:1\"], speed: 1G}, {ends: [\"nas:c.e0\", \"s:2\"], speed: 1G}]\n"
              "datastores:\n"
              "  a: {export: \"nas:/v\", mounted: \"[fd00::b]:/v/\"}\n"
              "  b: {export: \"nas:/v\", mounted: \"[fd00:0::a]\"}\n");
    assert_int_equal(t->n_vips, 2);
    assert_string_equal(t->vips[mount(t, "a", "h")->vip].text, "fd00::b");
    assert_string_equal(mount(t, "a", "h")->path, "/v/");
    assert_string_equal(mount(t, "a", "h")->server, "[fd00::b]:/v/");
    assert_string_equal(t->vips[mount(t, "b", "h")->vip].text, "fd00::a");
    assert_int_equal(iface(t, "h", "eth0")->addr.version, 6);
    topo_free(t);
}

static void defaults(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  e: {kind: esxi, version: \"6.7\", limits: {NFS.SendBufferSize: 512}, vswitches: {v: {uplinks: "
              "[a, b]}}, vmknics: {vmk0: {vswitch: v, address: 10.0.0.1/24}}}\n"
              "  l: {kind: linux, tcp: {send-buffer: 1MiB, timestamps: false}, bonds: {bond0: {members: [a, b], "
              "mode: balance-xor}}, interfaces: {bond0: {address: 10.0.0.2/24}}}\n"
              "  s: {kind: switch, lags: {p: {to: \"l:bond0\", mode: on}}}\n" NAS_TEXT "links:\n"
              "  - {ends: [\"e:[a,b]\", \"s:[1-2]\"], speed: 1G}\n"
              "  - {ends: [\"l:[a,b]\", \"s:[3-4]\"], speed: 2.5G, delay: 1ms, buffer: 1MB, loss: 1%, state: down}\n"
              "  - {ends: [\"nas:c1.e0\", \"s:5\"], speed: 10G}\n"
              "datastores: {d: {export: \"nas:/v1\", mounted: 10.0.0.101}}\n");
    assert_string_equal(t->name, "test");
    assert_true(t->network_only);
    const struct topo_team *v = team(t, "e", "v");
    assert_string_equal(v->teaming.policy.policy->name, "esxi-port-id");
    assert_int_equal(v->teaming.policy_origin, TOPO_ASSUMED);
    assert_true(v->teaming.failback && v->teaming.notify && v->teaming.detect == TOPO_DETECT_LINK);
    assert_int_equal(v->mode, TOPO_LAG_NONE);
    assert_int_equal(v->peer_team, -1);
    const struct topo_team *bond = team(t, "l", "bond0"), *lag = team(t, "s", "p");
    assert_string_equal(bond->teaming.policy.policy->name, "linux-layer2");
    assert_int_equal(bond->mode, TOPO_LAG_STATIC);
    assert_int_equal(lag->mode, TOPO_LAG_STATIC);
    assert_ptr_equal(&t->teams[bond->peer_team], lag);
    assert_ptr_equal(&t->teams[lag->peer_team], bond);
    assert_int_equal(lag->teaming.policy_origin, TOPO_ASSUMED);
    const struct topo_link *l = &t->links[port(t, "e:a")->link], *m = &t->links[port(t, "l:b")->link];
    assert_true(l->rate == 1000000000 && l->delay == 5 * PS_PER_US && l->buffer == 524288 && l->loss == 0 && !l->down);
    assert_true(m->rate == 2500000000 && m->delay == PS_PER_MS && m->buffer == 1000000 && m->loss == 0.01 && m->down);
    const struct topo_stack *e = &t->stacks[topo_find_box(t, "e")], *x = &t->stacks[topo_find_box(t, "l")];
    assert_string_equal(e->congestion, "reno");
    assert_true(e->send_buffer == 524288 && e->receive_buffer == 262144 && e->rsize == 65536 && e->stable &&
                e->timestamps);
    assert_true(x->send_buffer == 1048576 && x->rsize == 1048576 && !x->stable && !x->timestamps);
    assert_int_equal(iface(t, "e", "vmk0")->mtu, 1500);
    assert_int_equal(iface(t, "e", "vmk0")->port_id_origin, TOPO_ASSUMED);
    /* No workloads: writes, then reads, of every mount. */
    assert_int_equal(t->n_workloads, 2);
    assert_true(t->workloads[0].synthetic && t->workloads[0].op == TOPO_WRITE && t->workloads[0].n_mounts == 2);
    assert_true(t->workloads[1].op == TOPO_READ && t->workloads[1].start == t->workloads[0].duration);
    assert_true(topo_stable(t, &t->workloads[0], topo_find_box(t, "e")));
    assert_false(topo_stable(t, &t->workloads[0], topo_find_box(t, "l")));
    topo_free(t);
}

static void made_up_macs(void **state)
{
    (void)state;
    const char *text =
        "version: 1\n"
        "nodes:\n"
        "  h[1-200]: {kind: esxi, nics: {n1: {mac: \"00:50:56:00:00:0A\"}}, vswitches: {v: {uplinks: [n0, n1]}}, "
        "vmknics: {\"vmk[0-4]\": {vswitch: v, address: 10.0.0.1/24}}}\n";
    struct topo *t = load(NULL, text), *again = load(NULL, text);
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        assert_int_equal(f->mac_origin, TOPO_ASSUMED);
        assert_int_equal(f->mac[0], 2);
        assert_memory_equal(f->mac, again->ifaces[i].mac, 6);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(f->mac, t->ifaces[k].mac, 6);
    }
    static const uint8_t given[] = {0, 0x50, 0x56, 0, 0, 0x0A};
    assert_memory_equal(port(t, "h7:n1")->mac, given, 6);
    assert_int_equal(port(t, "h7:n1")->mac_origin, TOPO_GIVEN);
    assert_int_equal(port(t, "h7:n0")->mac_origin, TOPO_ASSUMED);
    topo_free(t);
    topo_free(again);
}

static void lag_members(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  a: {kind: esxi, vswitches: {v: {uplinks: [n3, n2, n1]}}}\n"
              "  b: {kind: esxi, vswitches: {v: {uplinks: [n1, n2]}}}\n"
              "  s: {kind: switch, members: 2, hash: xor-src-dst-ip, lags: {p1: {to: \"a:v\", mode: static}, p2: {to: "
              "\"b:v\", mode: static, hash: xor-dst-ip, members: [gi2/0/7, gi1/0/7]}, up: {to: \"x:up\", mode: lacp, "
              "lacp-rate: fast}}}\n"
              "  x: {kind: switch, lags: {up: {to: \"s:up\", mode: lacp, members: [\"[9,8]\"]}}}\n"
              "links:\n"
              "  - {ends: [\"a:n[1-3]\", \"s:gi[1/0/10,2/0/1,1/0/2]\"], speed: 1G}\n"
              "  - {ends: [\"s:gi[1-2]/0/7\", \"b:n[1-2]\"], speed: 1G}\n"
              "  - {ends: [\"s:gi[1-2]/0/20\", \"x:[8-9]\"], speed: 10G}\n");
    const struct topo_team *p1 = team(t, "s", "p1"), *p2 = team(t, "s", "p2"), *up = team(t, "s", "up");
    check_ports(t, p1->ports, p1->n_ports, "s:gi1/0/2 s:gi1/0/10 s:gi2/0/1"); /* this side's order, by number */
    check_ports(t, team(t, "a", "v")->ports, 3, "a:n3 a:n2 a:n1");            /* the list's order */
    check_ports(t, p2->ports, p2->n_ports, "s:gi2/0/7 s:gi1/0/7");
    check_ports(t, up->ports, up->n_ports, "s:gi1/0/20 s:gi2/0/20");
    check_ports(t, team(t, "x", "up")->ports, 2, "x:9 x:8");
    assert_ptr_equal(&t->teams[up->peer_team], team(t, "x", "up"));
    assert_true(up->lacp_fast && !team(t, "x", "up")->lacp_fast);
    assert_string_equal(p1->teaming.policy.policy->name, "xor-src-dst-ip");
    assert_string_equal(p2->teaming.policy.policy->name, "xor-dst-ip");
    assert_int_equal(port(t, "s:gi2/0/1")->chassis, 2);
    topo_free(t);
}

static void teaming(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  h:\n"
              "    kind: esxi\n"
              "    vswitches: {v: {uplinks: \"n[1-4]\", teaming: explicit, standby: n2, unused: n4, failback: false, "
              "detection: beacon}}\n"
              "    dvswitches: {d: {uplinks: \"n[5-6]\", lag: {name: lag1, mode: lacp, hash: src-dst-ip, lacp-rate: "
              "fast}}}\n"
              "    portgroups:\n"
              "      a: {vswitch: v, vlan: 5}\n"
              "      b: {vswitch: v, vlan: 6, teaming: {policy: ip-hash, reading: last-octet}, active: \"n[3-4]\", "
              "standby: [], unused: \"n[1-2]\"}\n"
              "    vmknics:\n"
              "      vmk1: {portgroup: a, address: 10.0.0.1/24}\n"
              "      vmk2: {portgroup: b, address: 10.0.1.1/24, management: true}\n"
              "      vmk10: {vswitch: d, vlan: 7, address: 10.0.2.1/24}\n"
              "  s: {kind: switch, lags: {p: {to: \"h:lag1\", mode: lacp}}}\n"
              "links: [{ends: [\"h:n[5-6]\", \"s:[1-2]\"], speed: 1G}]\n");
    const struct topo_team *v = team(t, "h", "v"), *d = team(t, "h", "d");
    check_ports(t, v->teaming.active, v->teaming.n_active, "h:n1 h:n3");
    check_ports(t, v->teaming.standby, v->teaming.n_standby, "h:n2");
    check_ports(t, v->teaming.unused, v->teaming.n_unused, "h:n4");
    assert_true(!v->teaming.failback && v->teaming.detect == TOPO_DETECT_BEACON);
    assert_ptr_equal(iface(t, "h", "vmk1")->teaming, &v->teaming);
    const struct topo_teaming *own = iface(t, "h", "vmk2")->teaming;
    char text[80];
    hash_selector_text(&own->policy, false, text, sizeof(text));
    assert_string_equal(text, "esxi-ip-hash reading=last-octet");
    check_ports(t, own->active, own->n_active, "h:n3 h:n4");
    assert_int_equal(own->n_standby, 0);
    assert_false(own->failback);
    assert_int_equal(iface(t, "h", "vmk2")->vlan, 6);
    assert_true(iface(t, "h", "vmk2")->management);
    assert_int_equal(iface(t, "h", "vmk10")->vlan, 7);
    assert_int_equal(iface(t, "h", "vmk10")->weight, 2); /* after vmk2, not before */
    assert_int_equal(d->kind, TOPO_TEAM_DVSWITCH);
    assert_true(d->mode == TOPO_LAG_LACP && d->lacp_fast);
    assert_string_equal(d->teaming.policy.policy->name, "esxi-lacp-src-dst-ip");
    assert_ptr_equal(&t->teams[team(t, "s", "p")->peer_team], d);
    topo_free(t);
}

static void linux_interfaces(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  h:\n"
              "    kind: linux\n"
              "    kernel: \"4.10\"\n"
              "    bonds:\n"
              "      bond0: {members: [a, b], mode: 802.3ad, hash: layer3+4, mtu: 9000, mac: \"02:00:00:00:00:01\"}\n"
              "      bond1: {members: [c, d], mode: active-backup, primary: d}\n"
              "      bond2: {members: [e, f], mode: balance-xor, hash: layer2+3, gen: g2}\n"
              "    bridges: {br0: {ports: bond0, mtu: 4000}}\n"
              "    interfaces:\n"
              "      br0.50: {vlan: 50, address: 10.0.0.1/24}\n"
              "      bond0: {address: 10.0.1.1/24}\n"
              "      bond1: {address: 10.0.2.1/24, mtu: 2000}\n"
              "      storage: {parent: g, vlan: 9, address: 10.0.3.1/24, mac: \"02:00:00:00:00:02\"}\n"
              "      g: {mtu: 3000}\n");
    char text[80];
    hash_selector_text(&team(t, "h", "bond0")->teaming.policy, false, text, sizeof(text));
    assert_string_equal(text, hash_linux_gen_for_kernel("4.10", NULL) ? "linux-layer3+4 gen=g3" : "linux-layer3+4");
    assert_int_equal(team(t, "h", "bond0")->teaming.policy_origin, TOPO_GIVEN);
    hash_selector_text(&team(t, "h", "bond2")->teaming.policy, false, text, sizeof(text));
    assert_string_equal(text, "linux-layer2+3 gen=g2");
    hash_selector_text(&team(t, "h", "bond1")->teaming.policy, false, text, sizeof(text));
    assert_string_equal(text, "linux-active-backup primary=1");
    const struct topo_iface *f = iface(t, "h", "br0.50");
    assert_string_equal(t->teams[f->team].name, "bond0");
    assert_true(f->vlan == 50 && f->mtu == 4000 && f->mac[5] == 1 && f->mac_origin == TOPO_GIVEN);
    assert_int_equal(iface(t, "h", "bond0")->mtu, 9000);
    assert_int_equal(iface(t, "h", "bond1")->mtu, 2000);
    f = iface(t, "h", "storage");
    assert_int_equal(t->teams[f->team].kind, TOPO_TEAM_SINGLE);
    assert_string_equal(t->teams[f->team].name, "g");
    assert_true(f->vlan == 9 && f->mtu == 3000 && f->mac[5] == 2);
    topo_free(t);
}

static void vips(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL,
        "version: 1\n"
        "nodes:\n"
        "  nas:\n"
        "    kind: nas\n"
        "    indirect: free\n"
        "    storage: {limit: {read: 600MB/s, iops: 20k}}\n"
        "    controllers:\n"
        "      c[1-2]: {nics: \"e[0-1]\", takeover: \"c[2,1]\", mtu: 9000, team: {receive: vip, transmit: xor-dst-ip, "
        "learning: off}}\n"
        "    svms:\n"
        "      a: {vips: {10.0.0.9/24: {}, 10.0.0.10/24: {}, 10.0.0.1/24: {home: c2, state: down}}, exports: {/v: "
        "{owner: c1}}}\n"
        "    zones: {b: {vips: {10.1.0.1/24: {vlan: 7, mtu: 1500}}, exports: {/v: {}}}}\n");
    /* By address: .1 is at home on c2; .9 and .10 and the other zone's go round. */
    assert_string_equal(t->boxes[vip(t, "10.0.0.1")->home].name, "nas:c2");
    assert_false(vip(t, "10.0.0.1")->up);
    assert_string_equal(t->boxes[vip(t, "10.0.0.9")->home].name, "nas:c1");
    assert_string_equal(t->boxes[vip(t, "10.0.0.10")->home].name, "nas:c2");
    assert_string_equal(t->boxes[vip(t, "10.1.0.1")->home].name, "nas:c1");
    assert_int_equal(vip(t, "10.0.0.10")->ordinal, 1);
    assert_int_equal(vip(t, "10.1.0.1")->ordinal, 1);
    /* An interface per controller and subnet, also where no VIP is at home. */
    assert_int_equal(t->n_ifaces, 4);
    const struct topo_iface *f = &t->ifaces[vip(t, "10.1.0.1")->iface];
    assert_true(f->vlan == 7 && f->mtu == 1500 && f->box == topo_find_box(t, "nas:c1"));
    assert_int_equal(t->ifaces[vip(t, "10.0.0.10")->iface].mtu, 9000);
    assert_int_equal(t->boxes[topo_find_box(t, "nas:c1")].takeover, topo_find_box(t, "nas:c2"));
    assert_int_equal(team(t, "nas:c1", "team")->learning, 0);
    assert_int_equal(t->nodes[0].indirect, TOPO_INDIRECT_FREE);
    assert_false(t->network_only);
    assert_true(t->boxes[0].limit_read == 6e8 && t->boxes[0].limit_write == 0 && t->boxes[0].limit_iops == 20000);
    assert_int_equal(t->n_exports, 2);
    assert_true(t->exports[0].owner == 0 && t->exports[1].owner == -1 && t->exports[1].svm == 1);
    topo_free(t);
}

#define HOSTS_TEXT                                                                                                  \
    "version: 1\n"                                                                                                  \
    "nodes:\n"                                                                                                      \
    "  e: {kind: esxi, version: \"6.7\", limits: {SunRPC.MaxConnPerIP: 3}, vswitches: {v: {uplinks: n}}, vmknics: " \
    "{vmk1: {vswitch: v, address: 10.0.0.1/24}, vmk2: {vswitch: v, address: 10.0.0.3/24}}}\n"                       \
    "  l: {kind: linux, interfaces: {n: {address: 10.0.0.2/24}}}\n"                                                 \
    "  s: {kind: switch}\n" NAS_TEXT "links:\n"                                                                     \
    "  - {ends: [\"[e,l]:n\", \"s:[1-2]\"], speed: 1G}\n"                                                           \
    "  - {ends: [\"nas:c1.e0\", \"s:3\"], speed: 1G}\n"

static void connections(void **state)
{
    (void)state;
    struct topo *t =
        load(NULL, HOSTS_TEXT "datastores:\n"
                              "  a: {export: \"nas:/v1\", mounted: 10.0.0.101, nconnect: 2}\n"
                              "  b: {export: \"nas:/v2\", mounted: 10.0.0.101, nconnect: {default: 4, l: 2}}\n"
                              "  c: {export: \"nas:/v3\", mounted: 10.0.0.101}\n"
                              "  d: {export: \"nas:/v4\", mounted: 10.0.0.102}\n"
                              "  f: {export: \"nas:/v4\", mounted: 10.0.0.101, nfs: 4.1}\n"
                              "  g: {export: \"nas:/v4\", mounted: 10.0.0.101}\n");
    /* ESXi: three connections to one address; a has two, b gets one of its four, c and g share in turn. */
    assert_int_equal(mount(t, "a", "e")->nconnect, 2);
    assert_int_equal(mount(t, "b", "e")->nconnect, 1);
    assert_int_equal(mount(t, "b", "e")->asked, 4);
    assert_int_equal(mount(t, "c", "e")->nconnect, 0);
    assert_ptr_equal(&t->mounts[mount(t, "c", "e")->shares_with], mount(t, "a", "e"));
    assert_ptr_equal(&t->mounts[mount(t, "g", "e")->shares_with], mount(t, "b", "e"));
    assert_int_equal(mount(t, "d", "e")->nconnect, 1);
    assert_int_equal(mount(t, "f", "e")->nconnect, 1);
    /* Linux: the first of an address and version. */
    assert_int_equal(mount(t, "a", "l")->nconnect, 2);
    assert_int_equal(mount(t, "b", "l")->nconnect, 0);
    assert_ptr_equal(&t->mounts[mount(t, "g", "l")->shares_with], mount(t, "a", "l"));
    assert_int_equal(mount(t, "f", "l")->nconnect, 1);
    /* Two vmknics in the subnet: the first created carries it. */
    assert_string_equal(t->ifaces[mount(t, "a", "e")->iface].name, "vmk1");
    assert_int_equal(mount(t, "a", "e")->iface_origin, TOPO_ASSUMED);
    assert_int_equal(mount(t, "a", "l")->iface_origin, TOPO_DERIVED);
    topo_free(t);
}

static void server_strings(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  e: {kind: esxi, vswitches: {v: {uplinks: n}}, vmknics: {vmk1: {vswitch: v, address: 10.0.0.1/24}}}\n"
              "  l: {kind: linux, interfaces: {n: {address: 10.0.0.2/24}}}\n"
              "  s: {kind: switch}\n"
              "  nas: {kind: nas, controllers: {c: {nics: e0}}, vips: {10.0.0.111/24: {name: [nfs1.corp, first]}, "
              "10.0.0.112/24: {name: second}}, exports: {/x: {}}}\n"
              "links: [{ends: [\"[e,l]:n\", \"s:[1-2]\"], speed: 1G}, {ends: [\"nas:c.e0\", \"s:3\"], speed: 1G}]\n"
              "datastores:\n"
              "  a: {export: \"nas:/x\", mounted: {default: NFS1.corp, l: \"10.0.0.112:/x/\"}}\n"
              "  b: {export: \"nas:/x\", server: own.corp, pin: 10.0.0.112, hosts: e}\n"
              "  c: {export: \"nas:/x\", vip: second, hosts: l}\n"
              "  d: {export: \"nas:/x\"}\n"
              "  f: {export: \"nas:/x\", nfs: 4.1, servers: [10.0.0.112, first], hosts: e, weight: {read: 2}}\n"
              "  g: {export: \"nas:/x\", mounted: own.corp, server: own.corp, pin: 10.0.0.111, hosts: e, weight: "
              "{write: 6MB/s}, apart: x, holds: [dns], exclusive: true, identity: per-host}\n");
    const struct topo_mount *a = mount(t, "a", "e"), *l = mount(t, "a", "l");
    assert_string_equal(a->server, "NFS1.corp"); /* as mounted; found without regard to case */
    assert_string_equal(t->vips[a->vip].text, "10.0.0.111");
    assert_string_equal(t->vips[a->vip].name, "nfs1.corp");
    assert_string_equal(l->path, "/x/");
    assert_string_equal(t->vips[l->vip].text, "10.0.0.112");
    assert_string_equal(mount(t, "b", "e")->server, "own.corp");
    assert_string_equal(t->vips[mount(t, "b", "e")->vip].text, "10.0.0.112");
    assert_string_equal(mount(t, "c", "l")->server, "10.0.0.112");
    assert_int_equal(t->datastores[topo_find_datastore(t, "d")].n_mounts, 0); /* a new site: not mounted yet */
    const struct topo_mount *f = mount(t, "f", "e");
    assert_int_equal(f->n_vips, 2);
    assert_string_equal(t->vips[f->vips[1]].text, "10.0.0.111");
    assert_int_equal(f->vip, f->vips[0]);
    const struct topo_datastore *d = &t->datastores[topo_find_datastore(t, "f")],
                                *g = &t->datastores[topo_find_datastore(t, "g")];
    assert_true(d->weight_given && !d->weight_is_rate && d->weight_read == 2 && d->weight_write == 1);
    assert_true(g->weight_is_rate && g->weight_read == 0 && g->weight_write == 6e6);
    assert_true(g->exclusive && g->per_host && g->n_holds == 1 && strcmp(g->apart, "x") == 0);
    assert_string_equal(t->vips[mount(t, "g", "e")->vip].text, "10.0.0.111");
    topo_free(t);
}

static void routed(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL,
        "version: 1\n"
        "nodes:\n"
        "  h: {kind: linux, interfaces: {a: {address: 10.9.0.2/16}, b: {address: 10.8.0.2/16, gateway: 10.8.0.1}}}\n"
        "  r: {kind: router, interfaces: {x.8: {vlan: 8, address: 10.8.0.1/16}, x.0: {vlan: 7, address: "
        "10.0.0.1/24}}}\n" NAS_TEXT "datastores: {d: {export: \"nas:/v1\", mounted: 10.0.0.101}}\n");
    const struct topo_mount *m = mount(t, "d", "h");
    assert_string_equal(t->ifaces[m->iface].name, "b");
    assert_string_equal(t->ifaces[m->gateway_iface].name, "x.8");
    check_addr(&t->ifaces[m->iface].gateway, "10.8.0.1");
    topo_free(t);
}

#define CASES_TEXT                                                                                                    \
    "version: 1\n"                                                                                                    \
    "nodes:\n"                                                                                                        \
    "  h[1-3]: {kind: linux, interfaces: {n: {address: \"10.0.0.[11-13]/24\"}}, tcp: {congestion: reno, timestamps: " \
    "false}}\n"                                                                                                       \
    "  s: {kind: switch}\n" NAS_TEXT "links:\n"                                                                       \
    "  - {ends: [\"h[1-3]:n\", \"s:[1-3]\"], speed: 1G}\n"                                                            \
    "  - {ends: [\"nas:c1.e0\", \"s:4\"], speed: 1G}\n"                                                               \
    "datastores: {\"d[1-3]\": {export: \"nas:/v[1-3]\", mounted: \"10.0.0.[101-103]\", hosts: \"h[1-2]\"}}\n"         \
    "allow: {mtu: \"of the file\"}\n"                                                                                 \
    "workloads: {w: {op: write, bytes: 1MB}, r: {op: mixed, read-share: 67%, datastores: [d2, d3], host: h2, "        \
    "pattern: "                                                                                                       \
    "random, block: 8KiB, outstanding: 4, rate: 5MB/s, iops: 1k, start: 1s, for: 2s, stable: true}}\n"                \
    "cases:\n"                                                                                                        \
    "  plain: {}\n"                                                                                                   \
    "  other:\n"                                                                                                      \
    "    allow: {vip-unused: \"of the case\"}\n"                                                                      \
    "    set:\n"                                                                                                      \
    "      title: changed\n"                                                                                          \
    "      nodes: {\"h[1,3]\": {tcp: {congestion: cubic}}, h2: {tcp: {timestamps: null}}}\n"                          \
    "      datastores: {\"d[1-2]\": {hosts: \"h[2-3]\", mounted: \"10.0.0.[104,101]\"}, d3: null, new: {export: "     \
    "\"nas:/v4\", mounted: 10.0.0.104}}\n"                                                                            \
    "      workloads: {r: null, w: {datastores: new}}\n"                                                              \
    "      events: [{at: 1s, link: \"h[1-2]:n\", state: down}]\n"

static void cases(void **state)
{
    (void)state;
    struct topo *t = load("plain", CASES_TEXT);
    assert_string_equal(t->case_name, "plain");
    assert_int_equal(t->n_mounts, 6);
    assert_int_equal(t->n_allows, 1);
    assert_int_equal(t->n_events, 0);
    topo_free(t);

    t = load("other", CASES_TEXT);
    assert_string_equal(t->title, "changed");
    const struct topo_stack *h[] = {&t->stacks[0], &t->stacks[1], &t->stacks[2]};
    assert_string_equal(h[0]->congestion, "cubic"); /* maps merge */
    assert_false(h[0]->timestamps);
    assert_string_equal(h[1]->congestion, "reno");
    assert_true(h[1]->timestamps); /* null deletes: the default is back */
    assert_string_equal(h[2]->congestion, "cubic");
    assert_int_equal(t->n_datastores, 3);
    assert_int_equal(topo_find_datastore(t, "d3"), -1);
    assert_string_equal(mount(t, "d1", "h3")->server,
                        "10.0.0.104"); /* lists replace, ranges of the set pair among themselves */
    assert_string_equal(mount(t, "d2", "h2")->path, "/v2");
    assert_int_equal(t->n_workloads, 1);
    assert_int_equal(t->workloads[0].n_mounts, 3);
    assert_int_equal(t->n_events, 2);
    assert_int_equal(t->n_allows, 2);
    assert_string_equal(t->allows[1].reason, "of the case");
    topo_free(t);

    struct diag d;
    diag_init(&d, "test.yaml");
    struct topo_file *f = topo_file_parse("test.yaml", CASES_TEXT, strlen(CASES_TEXT), &d);
    assert_int_equal(topo_file_cases(f), 2);
    assert_string_equal(topo_file_case(f, 1), "other");
    assert_null(topo_load(f, "oter", &d));
    assert_int_equal(diag_count(&d, DIAG_ERROR), 1);
    topo_file_close(f);
    diag_free(&d);
}

static void workloads(void **state)
{
    (void)state;
    struct topo *t = load(NULL, CASES_TEXT);
    const struct topo_workload *w = &t->workloads[0], *r = &t->workloads[1];
    assert_true(w->op == TOPO_WRITE && w->bytes == 1000000 && w->duration == 0 && w->n_mounts == 6 && !w->synthetic);
    assert_true(w->sequential && w->block == 65536 && w->outstanding == 16 && !w->stable_given);
    assert_true(r->op == TOPO_MIXED && r->read_share == 0.67 && !r->sequential && r->block == 8192 &&
                r->outstanding == 4);
    assert_true(r->rate == 5e6 && r->iops == 1000 && r->start == PS_PER_S && r->duration == 2 * PS_PER_S);
    assert_true(r->stable_given && r->stable && topo_stable(t, r, t->mounts[r->mounts[0]].host));
    assert_int_equal(r->n_mounts, 2);
    assert_string_equal(t->datastores[t->mounts[r->mounts[1]].datastore].name, "d3");
    assert_string_equal(t->boxes[t->mounts[r->mounts[1]].host].name, "h2");
    topo_free(t);
}

static void events(void **state)
{
    (void)state;
    struct topo *t =
        load(NULL, CASES_TEXT "events:\n"
                              "  - {at: 9s, node: \"nas:c1\", state: down}\n"
                              "  - {at: 2s, link: \"s:2\", state: one-way, loss: 5%}\n"
                              "  - {at: 2s, link: \"h2:n\", speed: 100M, delay: 1ms}\n"
                              "  - {at: 3s, vip: 10.0.0.102, to: c1, gratuitous-arp: false}\n"
                              "  - {at: 4s, vip: \"10.0.0.[103-104]\", state: down}\n"
                              "background: [{link: \"s:4\", load: 30%}, {link: \"nas:c1.e0>s:4\", load: 10%}]\n");
    static const enum topo_event_what what[] = {TOPO_EV_LINK_STATE, TOPO_EV_LINK_LOSS, TOPO_EV_LINK_RATE,
                                                TOPO_EV_LINK_DELAY, TOPO_EV_VIP_MOVE,  TOPO_EV_VIP_STATE,
                                                TOPO_EV_VIP_STATE,  TOPO_EV_BOX_STATE};
    assert_int_equal(t->n_events, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(t->events[i].what, what[i]);
    const struct topo_event *e = t->events;
    assert_int_equal(e[0].state, TOPO_LINK_ONE_WAY);
    assert_string_equal(t->ports[t->links[e[0].link].port[e[0].from_end]].full, "s:2");
    assert_true(e[1].loss == 0.05 && e[2].rate == 100000000 && e[3].delay == PS_PER_MS);
    assert_true(e[4].at == 3 * PS_PER_S && !e[4].garp && e[4].box == topo_find_box(t, "nas:c1"));
    assert_string_equal(t->vips[e[6].vip].text, "10.0.0.104");
    assert_false(e[6].up);
    assert_string_equal(topo_linkdir_name(t, t->background[0].linkdir), "s:4>nas:c1.e0");
    assert_string_equal(topo_linkdir_name(t, t->background[1].linkdir), "nas:c1.e0>s:4");
    topo_free(t);
}

static void observed_and_mlag(void **state)
{
    (void)state;
    struct topo *t = load(
        NULL,
        "version: 1\n"
        "nodes:\n"
        "  h: {kind: esxi, vswitches: {v: {uplinks: [n1, n2], teaming: ip-hash}}}\n"
        "  s2: {kind: switch, lags: {p: {to: \"h:v\", mode: static}, pl: {to: \"s1:pl\", mode: static}}, mlag: "
        "{peers: \"s[1-2]\", peer-link: pl}}\n"
        "  s1: {kind: switch, lags: {p: {to: \"h:v\", mode: static}, pl: {to: \"s2:pl\", mode: static}}, observed: "
        "[{lag: pl, src: 10.0.0.1, dst: 10.0.0.2, dport: 2049, port: y2, date: 2024-05-14}]}\n"
        "links: [{ends: [\"h:n[1-2]\", \"s[1-2]:x\"], speed: 1G}, {ends: [\"s1:y[1-2]\", \"s2:y[1-2]\"], speed: "
        "1G}]\n");
    const struct topo_node *s2 = &t->nodes[1], *s1 = &t->nodes[2];
    assert_true(s1->mlag_peer == 1 && s2->mlag_peer == 2); /* one of them said it */
    assert_string_equal(t->teams[s1->mlag_peer_link].name, "pl");
    assert_int_equal(t->teams[s1->mlag_peer_link].box, s1->first_box);
    assert_int_equal(team(t, "s1", "pl")->n_ports, 2);
    assert_int_equal(team(t, "s1", "p")->n_ports, 1);
    assert_string_equal(t->boxes[t->teams[team(t, "h", "v")->peer_team].box].name, "s1");
    assert_int_equal(s1->n_observed, 1);
    const struct topo_observed *o = s1->observed;
    check_addr(&o->dst, "10.0.0.2");
    assert_true(o->dport == 2049 && o->sport == 0 && o->port == topo_find_port(t, "s1:y2"));
    assert_string_equal(o->date, "2024-05-14");
    topo_free(t);
}

/* 1,000 hosts with 64 datastores: 64,000 mounts, a fraction of a second. The limit is wide because machines are busy. */
static void large_site(void **state)
{
    (void)state;
    clock_t start = clock();
    struct topo *t = load(
        NULL, "version: 1\n"
              "nodes:\n"
              "  esx[1-1000]: {kind: esxi, vswitches: {v: {uplinks: \"n[2-5]\", teaming: ip-hash}}, vmknics: {vmk1: "
              "{vswitch: "
              "v, address: \"10.0.[0-3].[1-250]/16\"}}}\n"
              "  sw: {kind: switch, lags: {\"po[1-1000]\": {to: \"esx[1-1000]:v\", mode: static}}}\n"
              "  nas: {kind: nas, controllers: {\"c[1-2]\": {nics: \"e[0-7]\", lag: {mode: lacp}}}, vips: "
              "{\"10.0.200.[1-16]/16\": {}}, exports: {\"/ds[1-64]\": {}}}\n"
              "links: [{ends: [\"esx[1-1000]:n[2-5]\", \"sw:p[1-4000]\"], speed: 10G}, {ends: [\"nas:c[1-2].e[0-7]\", "
              "\"sw:n[1-16]\"], speed: 100G}]\n"
              "datastores: {\"ds[1-64]\": {export: \"nas:/{name}\", mounted: \"10.0.200.[1-16,1-16,1-16,1-16]\"}}\n");
    assert_int_equal(t->n_mounts, 64000);
    assert_int_equal(t->n_links, 4016);
    check_addr(&iface(t, "esx1000", "vmk1")->addr, "10.0.3.250/16");
    assert_string_equal(mount(t, "ds64", "esx1000")->server, "10.0.200.16");
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 5);
    topo_free(t);
}

static void addresses(void **state)
{
    (void)state;
    struct topo_addr a, b;
    static const char *const bad[] = {"",           "10.0.0",  "10.0.0.256", "10.0.0.1/33", "10.0.0.1/", "10.0.0.1/x",
                                      "[10.0.0.1]", "fd00::g", "[fd00::1",   "fd00::1/129", " 10.0.0.1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(topo_addr_parse(&a, bad[i]));
    assert_true(topo_addr_parse(&a, "10.1.2.3/20") && a.prefix == 20);
    check_addr(&a, "10.1.2.3/20");
    assert_true(topo_addr_parse(&b, "10.1.15.255"));
    assert_true(topo_addr_same_subnet(&a, &b, 20));
    assert_false(topo_addr_same_subnet(&a, &b, 21));
    assert_false(topo_addr_equal(&a, &b));
    assert_true(topo_addr_parse(&b, "[fd00::1]") && b.version == 6);
    assert_false(topo_addr_same_subnet(&a, &b, 0));
    check_addr(&b, "fd00::1");
    assert_true(topo_addr_parse(&a, "fd00:0:0::1/64"));
    assert_true(topo_addr_equal(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_pair_by_position),
        cmocka_unit_test(lists_are_sets),
        cmocka_unit_test(ipv6_is_no_range),
        cmocka_unit_test(defaults),
        cmocka_unit_test(made_up_macs),
        cmocka_unit_test(lag_members),
        cmocka_unit_test(teaming),
        cmocka_unit_test(linux_interfaces),
        cmocka_unit_test(vips),
        cmocka_unit_test(connections),
        cmocka_unit_test(server_strings),
        cmocka_unit_test(routed),
        cmocka_unit_test(cases),
        cmocka_unit_test(workloads),
        cmocka_unit_test(events),
        cmocka_unit_test(observed_and_mlag),
        cmocka_unit_test(large_site),
        cmocka_unit_test(addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
