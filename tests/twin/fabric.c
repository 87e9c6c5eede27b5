/* Trains against the same frames one by one, through whole fabrics; and random traffic under random faults: nothing gets lost
 * or made, and the same seed gives the same run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/model/random.h"
#include "tests/support/fabric_rig.h"
#include "tests/support/random_site.h"
#include "tests/support/seed.h"

/* Six hosts with two uplinks each at 1 Gbit/s, a trunk of 10 Gbit/s between two switches, a NAS with two NICs of 10. */
static const char site[] =
    "version: 1\n"
    "name: twin\n"
    "nodes:\n"
    "  esx[1-6]: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-1]\", teaming: ip-hash}},\n"
    "             vmknics: {vmk1: {vswitch: vSwitch1, address: \"10.0.0.[11-16]/24\"}}}\n"
    "  sw1: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {\"po[1-6]\": {to: \"esx[1-6]:vSwitch1\", mode: "
    "static}}}\n"
    "  sw2: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {po1: {to: \"nas:c.a\", mode: lacp}}}\n"
    "  nas: {kind: nas, controllers: {c: {nics: \"e[0-1]\", lag: {name: a, mode: lacp, hash: xor-src-dst-ip}}},\n"
    "        vips: {\"10.0.0.[100-103]/24\": {home: c}}, exports: {/v: {}}}\n"
    "links:\n"
    "  - {ends: [\"esx[1-6]:vmnic[0-1]\", \"sw1:[1-12]\"], speed: 1G, delay: 5us}\n"
    "  - {ends: [\"sw1:up\", \"sw2:up\"], speed: 10G, delay: 5us, buffer: 4MiB}\n"
    "  - {ends: [\"nas:c.e[0-1]\", \"sw2:[1-2]\"], speed: 10G, delay: 5us}\n";

enum { HOSTS = 6, VIPS = 4, SENDS = 400, MOST_FRAMES = 44 };
#define FRAME_1G INT64_C(12304000)

struct plan { /* one train to be sent */
    ps_t at;
    int host, vip;
    uint32_t frames;
    bool down;    /* from the NAS to the host */
    ps_t tail;    /* when its last frame arrived */
    uint32_t got; /* frames that did */
};

static struct rig r;
static struct plan plans[SENDS];

static void settle(uint8_t mac[HOSTS][VIPS][6])
{
    static const char *const vips[] = {"10.0.0.100", "10.0.0.101", "10.0.0.102", "10.0.0.103"};

    for (int h = 0; h < HOSTS; h++)
        for (int v = 0; v < VIPS; v++) {
            assert_true(rig_reaches(&r, h, rig_vip(&r, vips[v])));
            memcpy(mac[h][v], r.ends[h].arp_last.sender_mac, 6);
        }
}

static void put(const struct plan *p, uint64_t index, uint32_t frames, ps_t at, const uint8_t to[6])
{
    struct train *t = train_new(r.pool);
    int nas = rig_iface(&r, "nas:c", 0);

    t->frames = frames;
    t->frame_bytes = t->last_bytes = 1514;
    t->flow = rig_flow(&r, p->host, p->vip, !p->down, 700);
    memset(&t->u, 0, sizeof t->u);
    t->u.tcp.seq = index;
    memcpy(t->src, r.topo->ifaces[p->host].mac, 6);
    memcpy(t->dst, p->down ? r.topo->ifaces[p->host].mac : to, 6);
    train_ready(t, at);
    if (p->down)
        fabric_send(r.fabric, nas, p->vip, t, at);
    else
        fabric_send(r.fabric, p->host, -1, t, at);
}

static void arrived(void *context, int iface, struct train *t, ps_t now)
{
    struct plan *p = &plans[t->u.tcp.seq];

    (void)context, (void)iface, (void)now;
    p->got += t->frames;
    p->tail = t->tail > p->tail ? t->tail : p->tail;
    train_release(r.pool, t);
}

/* Sends all plans, in trains or in frames. */
static void play(bool frames, struct plan out[SENDS])
{
    uint8_t mac[HOSTS][VIPS][6];
    ps_t start;

    rig_open(&r, site);
    settle(mac);
    r.deliver = arrived;
    start = rig_now(&r);
    for (int i = 0; i < SENDS; i++)
        plans[i].got = 0, plans[i].tail = 0;
    for (int i = 0; i < SENDS; i++) {
        struct plan *p = &plans[i];

        eventq_run(r.queue, start + p->at);
        for (uint32_t k = frames ? p->frames : 1; k > 0; k--)
            put(p, (uint64_t)i, frames ? 1 : p->frames, start + p->at, mac[p->host][p->vip]);
    }
    rig_run(&r, PS_PER_S);
    for (int i = 0; i < SENDS; i++) {
        out[i] = plans[i];
        out[i].tail -= start;
    }
    rig_close(&r);
}

static void make_plans(uint64_t seed, ps_t gap)
{
    struct random draws = random_stream(test_seed() + seed, "fabric");
    ps_t at = 0;

    for (int i = 0; i < SENDS; i++) {
        at += (ps_t)random_below(&draws, (uint64_t)gap);
        plans[i] = (struct plan){.at = at,
                                 .host = (int)random_below(&draws, HOSTS),
                                 .vip = (int)random_below(&draws, VIPS),
                                 .frames = 1 + (uint32_t)random_below(&draws, MOST_FRAMES),
                                 .down = random_below(&draws, 2)};
    }
}

/* One train at a time: its last frame arrives when it would frame by frame, within a frame time per hop. */
static void alone(void **state)
{
    static struct plan trains[SENDS], frames[SENDS];

    (void)state;
    make_plans(1, PS_PER_MS);
    for (int i = 0; i < SENDS; i++)
        plans[i].at = i * PS_PER_MS;
    play(false, trains);
    play(true, frames);
    for (int i = 0; i < SENDS; i++) {
        ps_t d = trains[i].tail - frames[i].tail;

        assert_int_equal(trains[i].got, trains[i].frames);
        assert_int_equal(frames[i].got, frames[i].frames);
        assert_in_range(d < 0 ? -d : d, 0, 3 * FRAME_1G / 10);
    }
}

/* All at once, links two thirds full: nothing is lost, and on average trains take as long as frames do. */
static void together(void **state)
{
    static struct plan trains[SENDS], frames[SENDS];

    (void)state;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        ps_t slower = 0, whole = 0;

        make_plans(seed, 45 * PS_PER_US * 2);
        play(false, trains);
        play(true, frames);
        for (int i = 0; i < SENDS; i++) {
            ps_t d = trains[i].tail - frames[i].tail;

            assert_int_equal(trains[i].got, trains[i].frames);
            assert_int_equal(frames[i].got, frames[i].frames);
            /* At worst it goes before trains that it would have met half way, or behind them. */
            assert_in_range(d < 0 ? -d : d, 0, 3 * MOST_FRAMES * FRAME_1G);
            slower += d;
            whole += frames[i].tail - frames[i].at;
        }
        assert_in_range(slower < 0 ? -slower : slower, 0, whole / 20);
    }
}

static uint64_t fingerprint(uint64_t h, uint64_t value) { return random_mix(h ^ value) + 1; }

static uint64_t seen;
static void note(void *context, int iface, struct train *t, ps_t now)
{
    struct rig *its = context;

    seen = fingerprint(fingerprint(fingerprint(seen, (uint64_t)now), (uint64_t)iface), t->frames);
    its->ends[iface].data++;
    train_release(its->pool, t);
}

/* A random change to a random cable, VIP or box. */
static void fault(struct random *draws)
{
    int link = (int)random_below(draws, r.topo->n_links), vip = (int)random_below(draws, r.topo->n_vips);
    ps_t now = rig_now(&r);

    switch (random_below(draws, 8)) {
    case 0:
    case 1:
    case 2:
        fabric_link_state(r.fabric, link, (int)random_below(draws, 2), (enum topo_link_state)random_below(draws, 4),
                          now);
        break;
    case 3:
        fabric_link_rate(r.fabric, link, UINT64_C(10000000) << random_below(draws, 10), now);
        break;
    case 4:
        fabric_link_delay(r.fabric, link, (ps_t)random_below(draws, 200) * PS_PER_US, now);
        break;
    case 5:
        fabric_link_loss(r.fabric, link, (double)random_below(draws, 3) / 20, now);
        break;
    case 6:
        fabric_vip_move(r.fabric, vip, r.topo->vips[random_below(draws, r.topo->n_vips)].home, random_below(draws, 2),
                        now);
        break;
    case 7:
        fabric_box_state(r.fabric, (int)random_below(draws, r.topo->n_boxes), random_below(draws, 3), now);
        break;
    }
}

static uint64_t storm(const char *text, uint64_t seed, uint64_t *got)
{
    struct random draws = random_stream(test_seed() + seed, "faults");
    char problem[512];

    rig_open(&r, text);
    r.deliver = note;
    seen = seed;
    for (int i = 0; i < 3000; i++) {
        int iface = (int)random_below(&draws, r.topo->n_ifaces), vip = (int)random_below(&draws, r.topo->n_vips);
        int at = fabric_vip_box(r.fabric, vip);
        bool nas = r.topo->ifaces[iface].addr.version == 0;
        struct train *t;

        if (random_below(&draws, 20) == 0)
            fault(&draws);
        rig_run(&r, (ps_t)random_below(&draws, (uint64_t)(random_below(&draws, 50) ? 20 * PS_PER_US : 3 * PS_PER_S)));
        if (nas && r.topo->ifaces[iface].box != at)
            continue;
        t = train_new(r.pool);
        t->frames = 1 + (uint32_t)random_below(&draws, 45);
        t->frame_bytes = 1514;
        t->last_bytes = 100 + (uint32_t)random_below(&draws, 1400);
        memset(&t->u, 0, sizeof t->u);
        t->u.tcp.mss = 1448;
        t->u.tcp.length = (t->frames - 1) * 1448 + 1;
        if (random_below(&draws, 4) == 0 && !nas) {
            t->kind = TRAIN_ARP;
            t->frames = 1;
            memset(&t->u, 0, sizeof t->u);
            t->u.arp.version = 4;
            memcpy(t->u.arp.sender_mac, r.topo->ifaces[iface].mac, 6);
            memcpy(t->u.arp.sender_ip, r.topo->ifaces[iface].addr.bytes, 4);
            memcpy(t->u.arp.target_ip, r.topo->vips[vip].addr.bytes, 4);
            memset(t->dst, 0xff, 6);
        } else {
            int client = nas ? 0 : iface;
            const struct topo_port *p = &r.topo->ports[random_below(&draws, r.topo->n_ports)];

            while (r.topo->ifaces[client].addr.version == 0)
                client++;
            t->flow = rig_flow(&r, client, vip, !nas, 700);
            memcpy(t->dst, nas ? r.topo->ifaces[client].mac : p->mac, 6);
        }
        memcpy(t->src, r.topo->ifaces[iface].mac, 6);
        train_ready(t, rig_now(&r) + (ps_t)random_below(&draws, 1000));
        fabric_send(r.fabric, iface, nas ? vip : -1, t, rig_now(&r));
        if (i % 16 == 0 && !fabric_conserves(r.fabric, problem, sizeof problem))
            fail_msg("%s", problem);
    }
    rig_run(&r, PS_PER_S);
    for (size_t i = 0; i < r.topo->n_ifaces; i++)
        *got += r.ends[i].data;
    rig_close(&r);
    return seen;
}

static void faults_conserve(void **state)
{
    uint64_t got = 0; /* a storm may cut everything off, forty don't */

    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        char *text = random_site(seed, 0);
        uint64_t first = storm(text, seed, &got);

        assert_int_equal(storm(text, seed, &got), first);
        assert_true(storm(text, seed + 1000, &got) != first);
        free(text);
    }
    assert_true(got > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone),
        cmocka_unit_test(together),
        cmocka_unit_test(faults_conserve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
