/* A train: the unit that moves through the fabric. Up to 64 KiB of one flow's segments, what a NIC with segmentation
 * offload emits; live it is a GSO super-frame, in virtual time one event. One frame is a train of one.
 *
 * A train stands for `frames` real frames in a row. It carries two arrival times at the place where it is now: `head`,
 * when the last bit of its first frame is in, and `tail`, when the last bit of its last frame is in. A box forwards frame
 * by frame, so it starts when the head is in; see wire.c for the arithmetic.
 *
 * Trains come from a pool (train_pool) and belong to whoever holds them: handing one to a function passes ownership.
 */
#ifndef EMU_FABRIC_TRAIN_H
#define EMU_FABRIC_TRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"
#include "hashes/key.h"

/* Bytes that a frame takes on the wire beyond its header and payload: preamble 8, FCS 4, gap 12. */
#define TRAIN_FRAME_OVERHEAD 24

enum train_kind { TRAIN_DATA, TRAIN_ARP, TRAIN_NOTIFY /* RARP, learning frames */, TRAIN_BEACON, TRAIN_LACP };

/* What is equal for all trains of a flow, parsed once: interned by the sender, outlives its trains. */
struct train_flow {
    /* As sent by the end point: its MACs may be rewritten on the way (struct train has the current ones). */
    struct hash_key key;
    uint32_t id; /* dense, for caches and per-flow counters */
    void *owner; /* of the end point */
};

/* One TCP segment range (virtual time). A cut keeps a prefix of whole segments. */
struct train_tcp {
    uint64_t seq, ack;    /* 64-bit stream offsets, no wrap in the model; printed modulo 2^32 in captures */
    uint32_t length, mss; /* payload bytes in the train; bytes per frame (the last may have less) */
    uint32_t window;      /* receive window offered, bytes */
    uint8_t flags;        /* TRAIN_SYN ... */
    uint8_t n_sack;
    struct {
        uint64_t from, to;
    } sack[3];
    ps_t tsval, tsecr;
};
enum { TRAIN_SYN = 1, TRAIN_ACK = 2, TRAIN_FIN = 4, TRAIN_RST = 8, TRAIN_PSH = 16 };

struct train_arp {
    bool reply;
    uint8_t sender_mac[6], target_mac[6];
    uint8_t sender_ip[4], target_ip[4];
};

struct train {
    struct train *next; /* for whoever queues it */
    ps_t head, tail;
    ps_t sent; /* when the end point sent it, for latency */
    uint32_t frames;
    /* Each frame but the last: header (14, 18 with a tag) and payload, without TRAIN_FRAME_OVERHEAD. */
    uint32_t frame_bytes;
    uint32_t last_bytes; /* the last frame */
    enum train_kind kind;
    uint8_t src[6], dst[6];
    uint16_t vlan;                 /* VLAN id it travels in now; 0 = untagged */
    bool tagged;                   /* carries the tag on this wire */
    const struct train_flow *flow; /* NULL for ARP, notify, beacon */
    union {
        struct train_tcp tcp;
        struct train_arp arp;
        struct {
            void *buffer;
            uint32_t length;
        } raw; /* live: the super-frame, owned by the train's pool */
    } u;
};

static inline uint64_t train_wire_bytes(const struct train *t)
{
    return (uint64_t)(t->frames - 1) * (t->frame_bytes + TRAIN_FRAME_OVERHEAD) + t->last_bytes + TRAIN_FRAME_OVERHEAD;
}

struct train_pool;
struct train_pool *train_pool_new(void);
void train_pool_free(struct train_pool *p);
/* Never NULL (aborts when memory is gone, at set-up sizes); not zeroed beyond the header. */
struct train *train_new(struct train_pool *p);
struct train *train_copy(struct train_pool *p, const struct train *t); /* for floods */
void train_release(struct train_pool *p, struct train *t);
/* Keeps the first `frames` frames (1 <= frames < t->frames) and returns the rest as a train of its own; both stay consistent. */
struct train *train_split(struct train_pool *p, struct train *t, uint32_t frames);

#endif
