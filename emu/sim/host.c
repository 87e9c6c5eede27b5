/* Interfaces of hosts and controllers: the last step before the fabric and the first one after it.
 *
 * Every train leaves with a seeded jitter (jitter.h) below the time of its first frame, and never overtakes an earlier one of the
 * same interface. Without it equal flows that meet in one queue lock their phases, and whoever comes a picosecond after
 * the other loses every frame of a full queue. The stream of draws belongs to the interface's address.
 *
 * A host asks for its next hop by ARP; controllers answer to where the call came from, and the fabric answers ARP for
 * them. An entry ages. Linux's neighbour states are followed where they matter: a connection's progress keeps an entry,
 * an old one is used on for a while, then its owner is asked directly and at last everybody. */
#include "emu/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "emu/fabric/discovery.h"
#include "emu/fabric/fabric.h"
#include "emu/sim/jitter.h"

enum {
    ARP_FRAME = 60,
    /* Five trains of one connection, so that an ESXi window fits; Linux: two packets, or a millisecond at its rate. */
    NIC_LIMIT = 5 * 65536,
    ARP_QUEUE = 101, /* trains that wait for an answer; Linux unres_qlen_bytes in full frames */
};
#define ARP_RETRY PS_PER_S

/* BSD's age of an entry, and five tries; what ESXi does is not published. */
static const struct arp_rules esxi_rules = {.life = 1200 * PS_PER_S, .tries = 5};
/* base_reachable_time 30 s, delay_first_probe_time 5 s, ucast_solicit and mcast_solicit 3, retrans_time 1 s */
static const struct arp_rules linux_rules = {
    .life = 30 * PS_PER_S, .delay = 5 * PS_PER_S, .unicast = 3, .tries = 3, .tcp_counts = true};

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/* ---- ARP, and neighbour discovery ---- */

/* `dst` NULL: to all, or to the group of the address. */
static void arp_send(struct sim *s, int iface, bool reply, const uint8_t *dst, const uint8_t ip[16], ps_t now)
{
    const struct topo_iface *i = &s->topo->ifaces[iface];
    struct train *n = train_new(s->trains);
    n->kind = TRAIN_ARP;
    n->frames = 1;
    n->frame_bytes = n->last_bytes = i->addr.version == 6 ? DISCOVERY_FRAME : ARP_FRAME;
    n->sent = now;
    train_ready(n, now);
    memcpy(n->src, i->mac, 6);
    n->u.arp = (struct train_arp){.reply = reply, .version = i->addr.version};
    memcpy(n->u.arp.sender_mac, i->mac, 6);
    memcpy(n->u.arp.sender_ip, i->addr.bytes, 16);
    if (reply)
        memcpy(n->u.arp.target_mac, dst, 6);
    memcpy(n->u.arp.target_ip, ip, 16);
    if (dst)
        memcpy(n->dst, dst, 6);
    else if (i->addr.version == 6)
        discovery_group(&n->u.arp, n->dst);
    else
        memcpy(n->dst, broadcast, 6);
    fabric_send(s->fabric, iface, -1, n, now);
}

static void arp_ask_everybody(struct arp_entry *a, ps_t now)
{
    a->state = ARP_ASKING;
    a->tries = 1;
    arp_send(a->sim, a->iface, false, NULL, a->ip, now);
    eventq_set(a->sim->queue, &a->timer, now + ARP_RETRY);
}

static void arp_drop(struct arp_entry *a)
{
    for (struct train *n = a->first, *next; n; n = next) {
        next = n->next;
        train_release(a->sim->trains, n);
    }
    a->first = a->last = NULL;
    a->queued = 0;
}

static void arp_timer(struct event *e, ps_t now)
{
    struct arp_entry *a = SIM_CONTAINER(e, struct arp_entry, timer);
    const struct arp_rules *rules = a->sim->ifaces[a->iface].rules;
    switch (a->state) {
    case ARP_KNOWN:
        break;
    case ARP_ASKING:
        if (a->tries++ < rules->tries) {
            arp_send(a->sim, a->iface, false, NULL, a->ip, now);
            eventq_set(a->sim->queue, &a->timer, now + ARP_RETRY);
        } else {
            arp_drop(a); /* the next train asks again */
            a->tries = 0;
        }
        break;
    case ARP_DELAYED:
        if (rules->tcp_counts && a->confirmed + rules->delay >= now) {
            a->state = ARP_KNOWN;
            a->check = a->confirmed + rules->life;
            break;
        }
        a->state = ARP_PROBING;
        a->tries = 0;
        __attribute__((fallthrough));
    case ARP_PROBING:
        if (a->tries++ < rules->unicast) {
            arp_send(a->sim, a->iface, false, a->mac, a->ip, now);
            eventq_set(a->sim->queue, &a->timer, now + ARP_RETRY);
        } else {
            arp_ask_everybody(a, now);
        }
        break;
    }
}

/* A known entry is used and its time is up. */
static void arp_check(struct arp_entry *a, ps_t now)
{
    const struct arp_rules *rules = a->sim->ifaces[a->iface].rules;
    if (rules->tcp_counts && a->confirmed + rules->life > now) {
        a->check = a->confirmed + rules->life;
        return;
    }
    a->check = PS_NEVER;
    if (rules->delay) {
        a->state = ARP_DELAYED;
        eventq_set(a->sim->queue, &a->timer, now + rules->delay);
    } else {
        /* The old address serves until the answer comes or the tries are used up. */
        a->state = ARP_PROBING;
        a->tries = rules->unicast;
        arp_send(a->sim, a->iface, false, NULL, a->ip, now);
        eventq_set(a->sim->queue, &a->timer, now + ARP_RETRY);
    }
}

static void arp_learned(struct arp_entry *a, const uint8_t mac[6], ps_t now)
{
    struct train *n = a->first;
    memcpy(a->mac, mac, 6);
    a->state = ARP_KNOWN;
    a->confirmed = now;
    a->check = now + a->sim->ifaces[a->iface].rules->life;
    eventq_cancel(a->sim->queue, &a->timer);
    a->first = a->last = NULL;
    a->queued = 0;
    while (n) {
        struct train *next = n->next;
        n->next = NULL;
        memcpy(n->dst, mac, 6);
        train_ready(n, now);
        fabric_send(a->sim->fabric, a->iface, -1, n, now);
        n = next;
    }
}

struct arp_entry *host_arp(struct sim *s, int iface, const uint8_t ip[16])
{
    struct sim_iface *i = &s->ifaces[iface];
    for (struct arp_entry *a = i->arp; a; a = a->next)
        if (memcmp(a->ip, ip, 16) == 0)
            return a;
    struct arp_entry *a = calloc(1, sizeof(*a));
    if (!a)
        return NULL;
    a->sim = s;
    a->iface = iface;
    a->state = ARP_ASKING;
    a->timer.run = arp_timer;
    memcpy(a->ip, ip, 16);
    a->next = i->arp;
    i->arp = a;
    return a;
}

static void arp_arrived(struct sim *s, int iface, const struct train *n, ps_t now)
{
    const struct topo_iface *i = &s->topo->ifaces[iface];
    const struct train_arp *in = &n->u.arp;
    for (struct arp_entry *a = s->ifaces[iface].arp; a; a = a->next)
        if (in->version == i->addr.version && memcmp(a->ip, in->sender_ip, 16) == 0)
            arp_learned(a, in->sender_mac, now);
    bool gratuitous = memcmp(in->sender_ip, in->target_ip, 16) == 0;
    if (!in->reply && !gratuitous && i->addr.version == in->version && memcmp(in->target_ip, i->addr.bytes, 16) == 0)
        arp_send(s, iface, true, in->sender_mac, in->sender_ip, now);
}

/* ---- sending ---- */

static ps_t jitter(struct sim_iface *i, const struct train *n, ps_t now)
{
    uint64_t most = (train_first_bytes(n) + TRAIN_FRAME_OVERHEAD) * i->jitter_per_byte;
    ps_t ready = now + (ps_t)random_below(&i->jitter, most < UINT32_MAX ? most : UINT32_MAX);
    if (ready < i->ready)
        ready = i->ready;
    i->ready = ready;
    return ready;
}

static void to_next_hop(struct sim *s, struct arp_entry *a, struct train *n, ps_t now)
{
    if (a->state != ARP_ASKING) {
        if (now >= a->check)
            arp_check(a, now);
        memcpy(n->dst, a->mac, 6);
        fabric_send(s->fabric, a->iface, -1, n, now);
        return;
    }
    if (a->queued >= ARP_QUEUE) {
        train_release(s->trains, n);
        return;
    }
    n->next = NULL;
    if (a->last)
        a->last->next = n;
    else
        a->first = n;
    a->last = n;
    a->queued++;
    if (!event_pending(&a->timer))
        arp_ask_everybody(a, now);
}

void host_send(struct sim *s, struct sim_conn *c, int end, struct train *n, ps_t now)
{
    int iface = end == SIM_CLIENT ? c->iface : c->server_iface;
    if (iface < 0) {
        train_release(s->trains, n);
        return;
    }
    n->flow = &c->flow[end];
    train_ready(n, jitter(&s->ifaces[iface], n, now));
    if (end == SIM_CLIENT) {
        memcpy(n->src, s->topo->ifaces[iface].mac, 6);
        to_next_hop(s, c->arp, n, now);
    } else {
        memcpy(n->dst, c->client_mac, 6);
        fabric_send(s->fabric, iface, c->vip, n, now);
    }
}

/* ---- receiving ---- */

static void refuse(struct sim *s, struct sim_conn *c, int iface, const struct train *n, ps_t now)
{
    struct train *r = tcp_reset_for(&s->tcp, n, now);
    if (!r)
        return;
    r->flow = &c->flow[SIM_SERVER];
    memcpy(r->dst, n->src, 6);
    fabric_send(s->fabric, iface, c->vip, r, now);
}

static void to_server(struct sim *s, struct sim_conn *c, int iface, struct train *n, ps_t now)
{
    const struct train_tcp *in = &n->u.tcp;
    struct tcp *t = &c->end[SIM_SERVER];
    bool syn = (in->flags & (TRAIN_SYN | TRAIN_ACK)) == TRAIN_SYN;
    bool here = c->server_iface == iface && t->state != TCP_CLOSED;
    if (syn && in->seq >> 40 == c->incarnation && (!here || t->in >> 40 != c->incarnation)) {
        rpc_server_gone(s, c);
        rpc_listen(s, c, iface);
        here = true;
    }
    if (!here) {
        refuse(s, c, iface, n, now);
        train_release(s->trains, n);
        return;
    }
    memcpy(c->client_mac, n->src, 6);
    tcp_deliver(t, n, now);
}

void host_deliver(void *context, int iface, struct train *n, ps_t now)
{
    struct sim *s = context;
    if (n->kind == TRAIN_DATA) {
        struct sim_conn *c = n->flow->owner;
        if (n->flow == &c->flow[SIM_TO_SERVER]) {
            to_server(s, c, iface, n, now);
            return;
        }
        c->arp->confirmed = now;
        if (c->end[SIM_CLIENT].state != TCP_CLOSED) {
            tcp_deliver(&c->end[SIM_CLIENT], n, now);
            return;
        }
    } else if (n->kind == TRAIN_ARP) {
        arp_arrived(s, iface, n, now);
    }
    train_release(s->trains, n);
}

/* ---- set-up ---- */

/* The slowest cable, and what may wait in front of it: what is on the cable counts, it is told when a train arrives. */
static void cables(const struct topo *t, int team, struct sim_iface *o)
{
    bps_t rate = 0;
    o->tcp.nic_limit = NIC_LIMIT;
    for (size_t i = 0; i < t->teams[team].n_ports; i++) {
        int l = t->ports[t->teams[team].ports[i]].link;
        if (l < 0)
            continue;
        const struct topo_link *link = &t->links[l];
        uint64_t limit = NIC_LIMIT + 2 * (link->rate / 8 / 1000000) * (uint64_t)(link->delay / PS_PER_US);
        if (limit > o->tcp.nic_limit)
            o->tcp.nic_limit = limit;
        if (!rate || link->rate < rate)
            rate = link->rate;
    }
    o->jitter_per_byte = rate ? 8 * (uint64_t)PS_PER_S / rate / JITTER_PART : 0;
}

bool host_init(struct sim *s)
{
    const struct topo *t = s->topo;
    s->ifaces = calloc(t->n_ifaces + 1, sizeof(*s->ifaces));
    if (!s->ifaces)
        return false;
    for (size_t k = 0; k < t->n_ifaces; k++) {
        const struct topo_iface *i = &t->ifaces[k];
        const struct topo_stack *stack = &t->stacks[i->box];
        struct sim_iface *o = &s->ifaces[k];
        char name[64];
        if (i->addr.version)
            topo_addr_print(name, sizeof(name), &i->addr, false);
        else
            name[0] = '\0';
        for (size_t v = 0; v < t->n_vips && !name[0]; v++) /* a controller: its first VIP's address */
            if (t->vips[v].iface == (int)k)
                topo_addr_print(name, sizeof(name), &t->vips[v].addr, false);
        o->jitter = random_stream(s->options->seed, name);
        o->rules = t->nodes[t->boxes[i->box].node].kind == TOPO_ESXI ? &esxi_rules : &linux_rules;
        o->tcp = (struct tcp_config){.mtu = i->mtu,
                                     .timestamps = stack->timestamps,
                                     .send_buffer = stack->send_buffer,
                                     .receive_buffer = stack->receive_buffer};
        cables(t, i->team, o);
        if (!congestion_find(stack->congestion ? stack->congestion : "cubic", &o->tcp.congestion))
            return false;
    }
    return true;
}

void host_free(struct sim *s)
{
    for (size_t k = 0; s->ifaces && k < s->topo->n_ifaces; k++)
        for (struct arp_entry *a = s->ifaces[k].arp, *next; a; a = next) {
            next = a->next;
            free(a);
        }
    free(s->ifaces);
}
