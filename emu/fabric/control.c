#include "emu/fabric/fabric_internal.h"

#include <string.h>

#include "emu/fabric/discovery.h"

enum { ETHERTYPE_RARP = 0x8035, ARP_REQUEST = 1, ARP_REPLY = 2 };

const uint8_t fabric_broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

struct train *fabric_control_new(struct fabric *f, enum train_kind kind, const uint8_t src[6], const uint8_t dst[6],
                                 ps_t now)
{
    struct train *t = train_new(f->pool);

    t->kind = (uint8_t)kind;
    t->frames = 1;
    t->frame_bytes = t->last_bytes = FABRIC_MIN_FRAME;
    t->sent = now;
    train_ready(t, now);
    memcpy(t->src, src, 6);
    memcpy(t->dst, dst, 6);
    return t;
}

struct train *fabric_arp_new(struct fabric *f, uint8_t version, bool reply, const uint8_t sender_mac[6],
                             const uint8_t *sender_ip, const uint8_t to[6], const uint8_t *target_ip, ps_t now)
{
    struct train *t = fabric_control_new(f, TRAIN_ARP, sender_mac, to ? to : fabric_broadcast, now);
    struct train_arp *a = &t->u.arp;

    memset(a, 0, sizeof *a);
    a->version = version;
    a->reply = reply;
    memcpy(a->sender_mac, sender_mac, 6);
    memcpy(a->sender_ip, sender_ip, train_ip_bytes(version));
    if (to)
        memcpy(a->target_mac, to, 6);
    memcpy(a->target_ip, target_ip, train_ip_bytes(version));
    if (version == 6) {
        t->frame_bytes = t->last_bytes = DISCOVERY_FRAME;
        if (!to)
            discovery_group(a, t->dst);
    }
    return t;
}

static void discovery_key(const struct train *t, struct hash_key *key)
{
    struct hash_flow flow = {.ip_version = 6, .proto = DISCOVERY_PROTO, .icmp_type = discovery_type(&t->u.arp)};

    memcpy(flow.smac, t->src, 6);
    memcpy(flow.dmac, t->dst, 6);
    discovery_ends(&t->u.arp, train_group_mac(t->dst), flow.src, flow.dst);
    hash_key_flow(key, &flow);
}

void fabric_key(const struct train *t, struct hash_key *key)
{
    if (t->flow) {
        *key = t->flow->key;
        memcpy(key->smac, t->src, 6);
        memcpy(key->dmac, t->dst, 6);
        return;
    }
    if (t->kind == TRAIN_ARP && t->u.arp.version == 6) {
        discovery_key(t, key);
        return;
    }
    if (t->kind == TRAIN_ARP) {
        struct hash_arp arp = {.op = t->u.arp.reply ? ARP_REPLY : ARP_REQUEST};

        memcpy(arp.smac, t->src, 6);
        memcpy(arp.dmac, t->dst, 6);
        memcpy(arp.sender_mac, t->u.arp.sender_mac, 6);
        memcpy(arp.sender_ip, t->u.arp.sender_ip, 4);
        memcpy(arp.target_mac, t->u.arp.target_mac, 6);
        memcpy(arp.target_ip, t->u.arp.target_ip, 4);
        hash_key_arp(key, &arp);
        return;
    }
    struct hash_flow flow = {.ethertype = ETHERTYPE_RARP};

    memcpy(flow.smac, t->src, 6);
    memcpy(flow.dmac, t->dst, 6);
    hash_key_flow(key, &flow);
}
