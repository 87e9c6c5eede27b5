/* Frames and trains.
 *
 * Of a TAP's frame the fabric is told what it goes by: how many real frames of how many bytes, addresses, the flow. The bytes
 * stay in the buffer and meet the train again when it leaves by another TAP, with the addresses that it has then.
 *
 * A host's kernel does its own ARP, or neighbour discovery for IPv6, and its frames go as they are. A controller's kernel thinks that it does: what it asks for
 * is answered here as soon as that client has been heard (a NAS sends to where a call came from), and is otherwise asked
 * for in the VIP's name; its frames leave by the interface that serves the VIP in their source address.
 */
#include "emu/live/datapath_internal.h"

#include <string.h>

#include "emu/fabric/discovery.h"

enum { ETHERNET = 14, ARP_BYTES = 28, ARP_FRAME = 60 };
enum { TYPE_ARP = 0x0806, TYPE_IPV6 = 0x86dd, TYPE_VLAN = 0x8100, TYPE_QINQ = 0x88a8 };

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static const uint8_t arp_ipv4[6] = {0, 1, 8, 0, 6, 4}; /* Ethernet, IPv4, lengths of their addresses */

/* ---- from a TAP ---- */

/* The VIP with this address, whatever its state; -1. */
static int vip_of(const struct topo *t, uint8_t version, const uint8_t *address)
{
    for (size_t v = 0; v < t->n_vips; v++)
        if (t->vips[v].addr.version == version && memcmp(t->vips[v].addr.bytes, address, version == 4 ? 4 : 16) == 0)
            return (int)v;
    return -1;
}

/* The interface by which this controller answers for a VIP that lives on it now; false when it doesn't. */
static bool vip_here(const struct datapath *d, const struct live_port *p, int vip, int *iface, uint8_t mac[6])
{
    return vip >= 0 && fabric_vip_box(d->fabric, vip) == d->topo->ifaces[p->iface].box &&
           fabric_vip_place(d->fabric, vip, iface, mac);
}

/* The answer to a controller's own question. */
static void answer(struct live_port *p, const struct train_arp *ask, const uint8_t mac[6])
{
    struct train t = {.kind = TRAIN_ARP};
    size_t bytes = train_ip_bytes(ask->version);
    struct endpoint_scratch scratch;
    struct iovec iov[2];

    memcpy(t.src, mac, 6);
    t.u.arp = (struct train_arp){.reply = true, .version = ask->version};
    memcpy(t.u.arp.sender_mac, mac, 6);
    memcpy(t.u.arp.sender_ip, ask->target_ip, bytes);
    memcpy(t.u.arp.target_mac, ask->sender_mac, 6);
    memcpy(t.u.arp.target_ip, ask->sender_ip, bytes);
    port_write(p, iov, endpoint_out(p->datapath, p, &t, &scratch, iov));
}

static bool arp_read(const uint8_t *a, size_t length, struct train_arp *arp)
{
    uint16_t operation;

    if (length < ARP_BYTES || memcmp(a, arp_ipv4, sizeof arp_ipv4) != 0)
        return false;
    operation = get16(a + 6);
    if (operation != 1 && operation != 2)
        return false;
    *arp = (struct train_arp){.reply = operation == 2, .version = 4};
    memcpy(arp->sender_mac, a + 8, 6);
    memcpy(arp->sender_ip, a + 14, 4);
    memcpy(arp->target_mac, a + 18, 6);
    memcpy(arp->target_ip, a + 24, 4);
    return true;
}

static void arp_in(struct datapath *d, struct live_port *p, const uint8_t *frame, struct train_arp *arp, ps_t now)
{
    const uint8_t *mac;
    struct train *t;
    int iface = p->iface, vip = -1;

    if (p->nas) {
        mac = arp->reply ? NULL
                         : neighbours_find(&d->neighbours[d->topo->ifaces[p->iface].box], arp->version, arp->target_ip);
        if (mac) {
            answer(p, arp, mac);
            return;
        }
        vip = vip_of(d->topo, arp->version, arp->sender_ip);
        if (!vip_here(d, p, vip, &iface, arp->sender_mac)) {
            d->counters.foreign++;
            return;
        }
    }
    t = train_new(d->trains);
    t->kind = TRAIN_ARP;
    t->frames = 1;
    t->frame_bytes = t->last_bytes = arp->version == 6 ? DISCOVERY_FRAME : ARP_FRAME;
    t->sent = now;
    train_ready(t, now);
    memcpy(t->dst, frame, 6);
    memcpy(t->src, frame + 6, 6);
    t->u.arp = *arp;
    fabric_send(d->fabric, iface, vip, t, now);
}

static struct live_flow *flow_in(struct datapath *d, const struct live_port *p, const uint8_t *frame, size_t length,
                                 ps_t now)
{
    const struct topo_iface *i = &d->topo->ifaces[p->iface];
    struct live_flow *flow;
    struct hash_key key;
    bool made;

    if (!hash_key_from_frame(&key, frame, length, HASH_NO_TCI))
        return NULL;
    if (key.fragment == HASH_FRAGMENT_NONE) /* the number of a whole datagram is no part of its flow */
        memset(key.fragment_id, 0, sizeof key.fragment_id);
    key.port_id = i->port_id;
    flow = flows_find(d->flows, &key, now, &made);
    if (flow && made && p->nas && key.ip_version)
        flow->vip = vip_of(d->topo, key.ip_version, key.src);
    return flow;
}

static void data_in(struct datapath *d, struct live_port *p, const struct superframe *s, ps_t now)
{
    struct frame *f = d->spare;
    const uint8_t *bytes = frame_bytes(f), *mac;
    struct live_flow *flow = flow_in(d, p, bytes, s->length, now);
    int iface = p->iface;
    struct train *t;
    uint8_t unused[6];

    if (!flow) {
        d->counters.malformed++;
        return;
    }
    if (p->nas && !vip_here(d, p, flow->vip, &iface, unused)) {
        d->counters.foreign++;
        return;
    }
    f->info = *s;
    d->spare = NULL;
    t = train_new(d->trains);
    t->kind = TRAIN_DATA;
    t->flow = &flow->flow;
    flow->refs++;
    t->frames = s->frames;
    t->frame_bytes = superframe_frame_bytes(s);
    t->last_bytes = superframe_last_bytes(s);
    t->sent = now;
    train_ready(t, now);
    memcpy(t->dst, bytes, 6);
    memcpy(t->src, bytes + 6, 6);
    if (p->nas) { /* of a VIP, so it has addresses */
        mac =
            neighbours_find(&d->neighbours[d->topo->ifaces[iface].box], flow->flow.key.ip_version, flow->flow.key.dst);
        if (mac)
            memcpy(t->dst, mac, 6);
    }
    t->u.raw.buffer = frame_fit(d->frames, f, SUPERFRAME_VNET + s->length);
    t->u.raw.first = 0;
    fabric_send(d->fabric, iface, flow->vip, t, now);
}

void endpoint_in(struct datapath *d, struct live_port *p, size_t length, ps_t now)
{
    const uint8_t *bytes = frame_bytes(d->spare);
    struct virtio_net_hdr vnet;
    struct superframe s;
    struct train_arp arp;
    uint16_t type;

    memcpy(&vnet, d->spare->bytes, sizeof vnet);
    if (!superframe_parse(&s, &vnet, bytes, length)) {
        d->counters.malformed++;
        return;
    }
    type = get16(bytes + 12);
    if (type == TYPE_VLAN || type == TYPE_QINQ)
        d->counters.foreign++;
    else if (type == TYPE_ARP && !arp_read(bytes + ETHERNET, length - ETHERNET, &arp))
        d->counters.malformed++;
    else if (type == TYPE_ARP ||
             (type == TYPE_IPV6 && discovery_read(bytes + ETHERNET, length - ETHERNET, bytes + 6, &arp)))
        arp_in(d, p, bytes, &arp, now);
    else
        data_in(d, p, &s, now);
}

/* ---- to a TAP ---- */

void endpoint_learn(struct datapath *d, const struct live_port *p, const struct train *t)
{
    struct live_flow *flow;

    if (!p->nas)
        return;
    if (t->kind == TRAIN_ARP) {
        neighbours_note(&d->neighbours[d->topo->ifaces[p->iface].box], t->u.arp.version, t->u.arp.sender_ip,
                        t->u.arp.sender_mac);
        return;
    }
    flow = t->flow->owner;
    if (!t->flow->key.ip_version || (flow->from_known && memcmp(flow->from, t->src, 6) == 0))
        return;
    memcpy(flow->from, t->src, 6);
    flow->from_known = true;
    neighbours_note(&d->neighbours[d->topo->ifaces[p->iface].box], t->flow->key.ip_version, t->flow->key.src, t->src);
}

static void put_arp(const struct train_arp *arp, const uint8_t target_mac[6], uint8_t *a)
{
    memcpy(a, arp_ipv4, sizeof arp_ipv4);
    a[6] = 0;
    a[7] = arp->reply ? 2 : 1;
    memcpy(a + 8, arp->sender_mac, 6);
    memcpy(a + 14, arp->sender_ip, 4);
    memcpy(a + 18, target_mac, 6);
    memcpy(a + 24, arp->target_ip, 4);
}

int endpoint_out(const struct datapath *d, const struct live_port *p, const struct train *t,
                 struct endpoint_scratch *scratch, struct iovec iov[2])
{
    const struct topo_iface *i = &d->topo->ifaces[p->iface];
    struct superframe_cut *cut = &scratch->cut;
    struct frame *f;

    _Static_assert(offsetof(struct superframe_cut, header) == SUPERFRAME_VNET, "the two are written as one");
    iov[0].iov_base = cut;
    if (t->kind == TRAIN_ARP) {
        uint16_t type = t->u.arp.version == 6 ? TYPE_IPV6 : TYPE_ARP;

        memset(cut, 0, SUPERFRAME_VNET + DISCOVERY_FRAME);
        memcpy(cut->header, train_group_mac(t->dst) ? t->dst : i->mac, 6);
        memcpy(cut->header + 6, t->src, 6);
        cut->header[12] = (uint8_t)(type >> 8);
        cut->header[13] = (uint8_t)type;
        if (t->u.arp.version == 6)
            discovery_put(&t->u.arp, train_group_mac(t->dst), cut->header + ETHERNET);
        else
            put_arp(&t->u.arp, t->u.arp.reply ? i->mac : t->u.arp.target_mac, cut->header + ETHERNET);
        iov[0].iov_len = SUPERFRAME_VNET + (type == TYPE_ARP ? ARP_FRAME : DISCOVERY_FRAME);
        return 1;
    }
    f = t->u.raw.buffer;
    superframe_cut(&f->info, frame_bytes(f), t->u.raw.first, t->frames, cut);
    memcpy(cut->header, t->dst, 6);
    memcpy(cut->header + 6, t->src, 6);
    iov[0].iov_len = SUPERFRAME_VNET + cut->header_bytes;
    iov[1].iov_base = frame_bytes(f) + cut->payload;
    iov[1].iov_len = cut->payload_bytes;
    return cut->payload_bytes ? 2 : 1;
}

size_t datapath_frame(const struct train *t, uint32_t i, uint8_t *out, size_t size)
{
    struct frame *f = t->u.raw.buffer;
    struct superframe_cut cut;
    size_t n, length;

    superframe_cut(&f->info, frame_bytes(f), t->u.raw.first + i, 1, &cut);
    memcpy(cut.header, t->dst, 6);
    memcpy(cut.header + 6, t->src, 6);
    superframe_checksum(&cut, frame_bytes(f));
    length = cut.header_bytes + cut.payload_bytes;
    n = cut.header_bytes < size ? cut.header_bytes : size;
    memcpy(out, cut.header, n);
    if (size > n) {
        size_t more = cut.payload_bytes < size - n ? cut.payload_bytes : size - n;

        memcpy(out + n, frame_bytes(f) + cut.payload, more);
        n += more;
    }
    if (length < ARP_FRAME) {
        if (size > n)
            memset(out + n, 0, (size < ARP_FRAME ? size : ARP_FRAME) - n);
        length = ARP_FRAME;
    }
    return length;
}
