/* Routers: from one of their interfaces to another, when that one is in the subnet of the destination.
 *
 * An interface answers ARP for its address and keeps the addresses of its neighbours: asked for when first needed, three times
 * with a second between; what waits meanwhile is kept, 64 trains of it. A neighbour is good for four hours (Cisco's default) and
 * is corrected by any ARP packet of its own, gratuitous ones included.
 */
#include "emu/fabric/fabric_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 64, WAITING_MAX = 64, TRIES = 3 };
#define ASK_AGAIN PS_PER_S
#define GOOD_FOR  (4 * 3600 * PS_PER_S)

struct neighbour {
    struct event ask;
    struct fabric *fabric;
    struct neighbour *next;
    struct train *first, *last; /* wait for its address */
    ps_t known;                 /* since when; only with `good` */
    int iface;
    unsigned waiting, tries;
    bool good;
    uint8_t version, ip[16], mac[6];
};

struct fabric_neighbours {
    struct neighbour *bucket[BUCKETS];
};

static struct fabric_box_counters *counters(struct fabric *f, int iface)
{
    return &f->boxes[f->ifaces[iface].box].counters;
}

bool fabric_router_init(struct fabric *f, int iface)
{
    f->ifaces[iface].neighbours = calloc(1, sizeof *f->ifaces[iface].neighbours);
    return f->ifaces[iface].neighbours != NULL;
}

void fabric_router_free(struct fabric *f, int iface)
{
    struct fabric_neighbours *all = f->ifaces[iface].neighbours;

    for (int b = 0; all && b < BUCKETS; b++)
        while (all->bucket[b]) {
            struct neighbour *n = all->bucket[b];

            all->bucket[b] = n->next;
            eventq_cancel(f->queue, &n->ask);
            while (n->first) {
                struct train *t = n->first;

                n->first = t->next;
                train_release(f->pool, t);
            }
            free(n);
        }
    free(all);
}

static struct neighbour **find(struct fabric *f, int iface, const struct topo_addr *ip)
{
    size_t bytes = train_ip_bytes(ip->version);
    unsigned bucket = (ip->bytes[bytes - 2] ^ ip->bytes[bytes - 1]) % BUCKETS;
    struct neighbour **n = &f->ifaces[iface].neighbours->bucket[bucket];

    while (*n && ((*n)->version != ip->version || memcmp((*n)->ip, ip->bytes, bytes) != 0))
        n = &(*n)->next;
    return n;
}

static void ask(struct event *e, ps_t now)
{
    struct neighbour *n = FABRIC_OF(e, struct neighbour, ask);
    struct fabric *f = n->fabric;

    if (n->tries++ < TRIES) {
        fabric_host_send(f, n->iface,
                         fabric_arp_new(f, n->version, false, f->ifaces[n->iface].mac,
                                        f->topo->ifaces[n->iface].addr.bytes, NULL, n->ip, now),
                         now);
        eventq_set(f->queue, e, now + ASK_AGAIN);
        return;
    }
    n->tries = 0;
    n->waiting = 0;
    while (n->first) {
        struct train *t = n->first;

        n->first = t->next;
        fabric_drop(f, t, &counters(f, n->iface)->no_route_dropped);
    }
}

static struct neighbour *get(struct fabric *f, int iface, const struct topo_addr *ip)
{
    struct neighbour **place = find(f, iface, ip), *n = *place;

    if (n)
        return n;
    n = calloc(1, sizeof *n);
    if (!n) {
        fputs("out of memory for neighbours\n", stderr);
        abort();
    }
    n->ask.run = ask;
    n->fabric = f;
    n->iface = iface;
    n->version = ip->version;
    memcpy(n->ip, ip->bytes, train_ip_bytes(ip->version));
    *place = n;
    return n;
}

static void send(struct fabric *f, const struct neighbour *n, struct train *t, ps_t now)
{
    memcpy(t->src, f->ifaces[n->iface].mac, 6);
    memcpy(t->dst, n->mac, 6);
    if (t->head < now)
        train_ready(t, now); /* it has waited */
    fabric_host_send(f, n->iface, t, now);
}

static void learned(struct fabric *f, int iface, const struct train_arp *a, ps_t now)
{
    struct topo_addr sender = {.version = a->version};
    struct neighbour *n;

    memcpy(sender.bytes, a->sender_ip, sizeof sender.bytes);
    n = *find(f, iface, &sender);
    if (!n)
        return;
    memcpy(n->mac, a->sender_mac, 6);
    n->good = true;
    n->known = now;
    n->tries = n->waiting = 0;
    eventq_cancel(f->queue, &n->ask);
    while (n->first) {
        struct train *t = n->first;

        n->first = t->next;
        send(f, n, t, now);
    }
}

static void arp_in(struct fabric *f, int iface, struct train *t, ps_t now)
{
    const struct train_arp *a = &t->u.arp;
    const struct topo_addr *own = &f->topo->ifaces[iface].addr;

    learned(f, iface, a, now);
    if (!a->reply && own->version == a->version &&
        memcmp(a->target_ip, own->bytes, train_ip_bytes(own->version)) == 0) {
        counters(f, iface)->arp_answered++;
        fabric_host_send(
            f, iface,
            fabric_arp_new(f, own->version, true, f->ifaces[iface].mac, own->bytes, a->sender_mac, a->sender_ip, now),
            now);
    }
    train_release(f->pool, t);
}

/* The interface in the subnet of the address, or -1. */
static int towards(const struct fabric *f, int box, const struct topo_addr *to)
{
    for (size_t i = 0; i < f->topo->n_ifaces; i++) {
        const struct topo_iface *iface = &f->topo->ifaces[i];

        if (iface->box == box && iface->addr.version == to->version &&
            topo_addr_same_subnet(&iface->addr, to, iface->addr.prefix))
            return (int)i;
    }
    return -1;
}

void fabric_router_in(struct fabric *f, int iface, struct train *t, ps_t now)
{
    struct topo_addr to = {.version = t->flow ? t->flow->key.ip_version : 0};
    struct neighbour *n;
    int out;

    fabric_retag(t, 0);
    if (t->kind == TRAIN_ARP) {
        arp_in(f, iface, t, now);
        return;
    }
    if (t->flow)
        memcpy(to.bytes, t->flow->key.dst, sizeof to.bytes);
    out = to.version ? towards(f, f->ifaces[iface].box, &to) : -1;
    if (out < 0 || !f->ifaces[out].neighbours || out == iface) {
        fabric_drop(f, t, &counters(f, iface)->no_route_dropped);
        return;
    }
    if (f->topo->ifaces[out].mtu && train_first_bytes(t) > f->topo->ifaces[out].mtu + 14) {
        fabric_drop(f, t, &counters(f, iface)->giants_dropped);
        return;
    }
    n = get(f, out, &to);
    if (n->good && now - n->known <= GOOD_FOR) {
        send(f, n, t, now);
        return;
    }
    if (n->waiting == WAITING_MAX) {
        fabric_drop(f, t, &counters(f, iface)->no_route_dropped);
        return;
    }
    t->next = NULL;
    if (n->first)
        n->last->next = t;
    else
        n->first = t;
    n->last = t;
    n->waiting++;
    if (!event_pending(&n->ask))
        ask(&n->ask, now);
}
