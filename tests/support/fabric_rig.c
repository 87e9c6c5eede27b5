#include "tests/support/fabric_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "emu/fabric/discovery.h"
#include "emu/model/path.h"
#include "emu/model/topology_file.h"

/* Hosts answer who asks for their address. */
static void answer(struct rig *r, int iface, const struct train_arp *ask, ps_t now)
{
    const struct topo_iface *i = &r->topo->ifaces[iface];
    struct train *t;

    if (ask->reply || i->addr.version != ask->version ||
        memcmp(ask->target_ip, i->addr.bytes, train_ip_bytes(ask->version)) != 0)
        return;
    t = train_new(r->pool);
    t->kind = TRAIN_ARP;
    t->frames = 1;
    t->frame_bytes = t->last_bytes = 60;
    memset(&t->u, 0, sizeof t->u);
    t->u.arp.reply = true;
    t->u.arp.version = ask->version;
    memcpy(t->src, i->mac, 6);
    memcpy(t->dst, ask->sender_mac, 6);
    memcpy(t->u.arp.sender_mac, i->mac, 6);
    memcpy(t->u.arp.sender_ip, i->addr.bytes, 16);
    memcpy(t->u.arp.target_mac, ask->sender_mac, 6);
    memcpy(t->u.arp.target_ip, ask->sender_ip, 16);
    train_ready(t, now);
    fabric_send(r->fabric, iface, -1, t, now);
}

static void deliver(void *context, int iface, struct train *t, ps_t now)
{
    struct rig *r = context;
    struct rig_end *e = &r->ends[iface];

    assert_int_equal(now, t->head);
    assert_false(t->tagged);
    if (r->deliver) {
        r->deliver(context, iface, t, now);
        return;
    }
    if (t->kind == TRAIN_ARP) {
        e->arp++;
        e->arp_last = t->u.arp;
        answer(r, iface, &t->u.arp, now);
    } else {
        assert_int_equal(t->kind, TRAIN_DATA);
        e->data += t->frames;
        memcpy(r->heard[t->flow->id], t->src, 6);
    }
    e->last = *t;
    train_release(r->pool, t);
}

static void tap(void *context, int linkdir, const struct train *t, ps_t start)
{
    struct rig *r = context;

    assert_true(start < t->head);
    r->sent[t->kind != TRAIN_DATA][linkdir] += t->frames;
    if (r->watch)
        r->watch(r, linkdir, t, start);
}

void rig_open(struct rig *r, const char *yaml)
{
    struct fabric_config config = {
        .seed = 1, .sharp_queues = true, .every_copy = true, .deliver = deliver, .tap = tap, .context = r};
    struct diag d;
    struct topo_file *f;

    memset(r, 0, sizeof *r);
    diag_init(&d, "rig");
    f = topo_file_parse("rig", yaml, strlen(yaml), &d);
    r->topo = f ? topo_load(f, NULL, &d) : NULL;
    if (!r->topo) {
        diag_print_text(&d, stderr, true);
        fail_msg("the topology of this test has errors");
    }
    topo_file_close(f);
    diag_free(&d);
    r->queue = eventq_new();
    r->pool = train_pool_new();
    r->ends = calloc(r->topo->n_ifaces + 1, sizeof *r->ends);
    for (int i = 0; i < 2; i++)
        r->sent[i] = calloc(2 * r->topo->n_links + 1, sizeof *r->sent[i]);
    r->fabric = fabric_new(r->topo, r->queue, r->pool, &config);
    assert_non_null(r->fabric);
}

void rig_close(struct rig *r)
{
    char problem[512];

    if (!fabric_conserves(r->fabric, problem, sizeof problem))
        fail_msg("%s", problem);
    fabric_free(r->fabric);
    assert_int_equal(train_pool_used(r->pool), 0);
    assert_int_equal(eventq_count(r->queue), 0);
    train_pool_free(r->pool);
    eventq_free(r->queue);
    topo_free(r->topo);
    free(r->ends);
    free(r->sent[0]);
    free(r->sent[1]);
}

ps_t rig_now(const struct rig *r) { return eventq_now(r->queue); }
void rig_run(struct rig *r, ps_t time) { eventq_run(r->queue, rig_now(r) + time); }

int rig_box(const struct rig *r, const char *name)
{
    int box = topo_find_box(r->topo, name);

    assert_true(box >= 0);
    return box;
}

int rig_iface(const struct rig *r, const char *host, unsigned nth)
{
    int box = rig_box(r, host);

    for (size_t i = 0; i < r->topo->n_ifaces; i++)
        if (r->topo->ifaces[i].box == box && nth-- == 0)
            return (int)i;
    fail_msg("%s has no such interface", host);
    return -1;
}

int rig_vip(const struct rig *r, const char *address)
{
    struct topo_addr a;
    int vip;

    assert_true(topo_addr_parse(&a, address));
    vip = topo_find_vip(r->topo, &a);
    assert_true(vip >= 0);
    return vip;
}

int rig_linkdir(const struct rig *r, const char *name)
{
    for (int d = 0; d < 2 * (int)r->topo->n_links; d++)
        if (strcmp(topo_linkdir_name(r->topo, d), name) == 0)
            return d;
    fail_msg("there is no link direction %s", name);
    return -1;
}

int rig_link(const struct rig *r, const char *port)
{
    int p = topo_find_port(r->topo, port);

    assert_true(p >= 0 && r->topo->ports[p].link >= 0);
    return r->topo->ports[p].link;
}

const struct train_flow *rig_flow(struct rig *r, int iface, int vip, bool to_vip, uint16_t sport)
{
    const struct topo_iface *i = &r->topo->ifaces[iface];
    const struct topo_addr *client = &i->addr, *server = &r->topo->vips[vip].addr;
    struct hash_flow f = {.ip_version = server->version, .proto = 6};
    struct hash_key key;

    memcpy(f.src, to_vip ? client->bytes : server->bytes, sizeof f.src);
    memcpy(f.dst, to_vip ? server->bytes : client->bytes, sizeof f.dst);
    f.sport = to_vip ? sport : 2049;
    f.dport = to_vip ? 2049 : sport;
    f.port_id = to_vip ? i->port_id : 0;
    hash_key_flow(&key, &f);
    for (int k = 0; k < r->n_flows; k++)
        if (memcmp(r->flows[k].key.src, key.src, sizeof key.src) == 0 && r->flows[k].key.sport == key.sport &&
            memcmp(r->flows[k].key.dst, key.dst, sizeof key.dst) == 0 && r->flows[k].key.dport == key.dport)
            return &r->flows[k];
    assert_true(r->n_flows < RIG_FLOWS);
    r->flows[r->n_flows] = (struct train_flow){.key = key, .id = (uint32_t)r->n_flows};
    return &r->flows[r->n_flows++];
}

static struct train *frame(struct rig *r, uint32_t frames, uint32_t bytes)
{
    struct train *t = train_new(r->pool);

    t->frames = frames;
    t->frame_bytes = t->last_bytes = bytes;
    memset(&t->u, 0, sizeof t->u);
    train_ready(t, rig_now(r));
    return t;
}

bool rig_ask(struct rig *r, int iface, int vip)
{
    struct train *t = frame(r, 1, 60);
    uint64_t before = r->ends[iface].arp;
    const struct topo_iface *i = &r->topo->ifaces[iface];

    t->kind = TRAIN_ARP;
    memset(t->dst, 0xff, 6);
    memcpy(t->src, i->mac, 6);
    t->u.arp.version = i->addr.version;
    memcpy(t->u.arp.sender_mac, i->mac, 6);
    memcpy(t->u.arp.sender_ip, i->addr.bytes, 16);
    memcpy(t->u.arp.target_ip, r->topo->vips[vip].addr.bytes, 16);
    if (i->addr.version == 6)
        discovery_group(&t->u.arp, t->dst);
    fabric_send(r->fabric, iface, -1, t, rig_now(r));
    rig_run(r, PS_PER_MS);
    return r->ends[iface].arp > before && r->ends[iface].arp_last.reply;
}

void rig_send(struct rig *r, int iface, int vip, const uint8_t to[6], uint32_t frames)
{
    struct train *t = frame(r, frames, r->topo->ifaces[iface].mtu + 14);

    t->flow = rig_flow(r, iface, vip, true, 700);
    memcpy(t->src, r->topo->ifaces[iface].mac, 6);
    memcpy(t->dst, to, 6);
    fabric_send(r->fabric, iface, -1, t, rig_now(r));
    rig_run(r, PS_PER_MS);
}

static int vip_iface(const struct rig *r, int vip)
{
    int box = fabric_vip_box(r->fabric, vip);

    return box < 0 ? -1 : path_vip_iface(r->topo, vip, box);
}

bool rig_reaches(struct rig *r, int iface, int vip)
{
    int at = vip_iface(r, vip);
    uint64_t before = at < 0 ? 0 : r->ends[at].data;

    if (!rig_ask(r, iface, vip) || at < 0)
        return false;
    rig_send(r, iface, vip, r->ends[iface].arp_last.sender_mac, 1);
    return r->ends[at].data == before + 1;
}

void rig_answer(struct rig *r, int iface, int vip, uint32_t frames)
{
    int at = vip_iface(r, vip);
    struct train *t = frame(r, frames, r->topo->ifaces[iface].mtu + 14);

    t->flow = rig_flow(r, iface, vip, false, 700);
    memcpy(t->dst, r->heard[rig_flow(r, iface, vip, true, 700)->id], 6);
    fabric_send(r->fabric, at, vip, t, rig_now(r));
    rig_run(r, PS_PER_MS);
}

uint64_t rig_sent(const struct rig *r, const char *linkdir) { return r->sent[0][rig_linkdir(r, linkdir)]; }

struct fabric_box_counters rig_counters(const struct rig *r, const char *box)
{
    struct fabric_box_counters c;

    fabric_box_counters(r->fabric, rig_box(r, box), &c);
    return c;
}
