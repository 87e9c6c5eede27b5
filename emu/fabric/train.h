/* A train: the unit that moves through the fabric. Up to 64 KiB of one flow's segments, what a NIC with segmentation
 * offload emits; live it is a GSO super-frame, in virtual time one event. One frame is a train of one.
 *
 * A train stands for `frames` real frames in a row. It carries three times, all for the place where it is now:
 *
 *   head   the last bit of its first frame is in
 *   tail   the last bit of its last frame is in
 *   body   the other frames come in evenly after this moment: frame j (1 .. frames-1) at
 *          body + j * (tail - body) / (frames - 1)
 *
 * body is head as long as nothing came between: a contended wire lets the first frame through in its turn, but the rest
 * later (wire.h). A box forwards frame by frame, so it acts when the head is in, at `head`.
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
#define TRAIN_TAG_BYTES      4 /* an 802.1Q tag */

enum train_kind {
    TRAIN_DATA,
    TRAIN_ARP,    /* and neighbour discovery, which is ARP for IPv6 */
    TRAIN_NOTIFY, /* RARP, learning frames */
    TRAIN_BEACON,
    TRAIN_KIND_COUNT
};

/* What is equal for all trains of a flow, parsed once: interned by the sender, outlives its trains. */
struct train_flow {
    struct hash_key
        key; /* as sent by the end point, untagged: MACs and tag may change on the way (struct train has the current ones) */
    uint32_t id; /* dense, for caches and per-flow counters */
    void *owner; /* of the end point */
};

/* One TCP segment range (virtual time). A cut keeps a prefix of whole segments. */
struct train_tcp {
    uint64_t seq, ack;    /* 64-bit stream offsets, no wrap in the model; printed modulo 2^32 in captures */
    uint32_t length, mss; /* payload bytes in the train; per frame (the last may have less), or a SYN's MSS option */
    uint32_t window;      /* receive window offered, bytes */
    uint8_t flags;        /* TRAIN_SYN ... */
    uint8_t n_sack;
    struct {
        uint64_t from, to;
    } sack[3];
    ps_t tsval, tsecr; /* tsval -1: without the timestamp option */
};
enum { TRAIN_SYN = 1, TRAIN_ACK = 2, TRAIN_FIN = 4, TRAIN_RST = 8, TRAIN_PSH = 16 };

struct train_arp {
    bool reply;
    uint8_t version; /* 4 or 6: of the addresses, which are zero beyond theirs */
    uint8_t sender_mac[6], target_mac[6];
    uint8_t sender_ip[16], target_ip[16];
};

struct train_raw { /* live: the super-frame, owned by the live side's hooks */
    void *buffer;
    uint32_t first; /* which of its frames is the first of this train */
};

struct train {
    struct train *next; /* for whoever queues it */
    ps_t head, body, tail;
    ps_t start;                    /* on a wire: when its first bit is sent */
    const struct train_flow *flow; /* NULL for ARP, notify, beacon */
    uint32_t frames;
    uint32_t
        frame_bytes; /* each frame but the last: header (14, 18 with a tag) and payload, without TRAIN_FRAME_OVERHEAD */
    uint32_t last_bytes; /* the last frame */
    uint8_t kind;        /* enum train_kind */
    bool lost;           /* on a wire: sent, and lost on the way */
    bool tagged;         /* carries the tag on this wire */
    uint8_t boxes;       /* passed so far, so that a loop ends */
    uint8_t src[6], dst[6];
    uint16_t vlan;   /* VLAN id it travels in now; 0 = untagged */
    uint16_t source; /* beacons: the uplink that sent it, as a place in its team */
    uint32_t serial; /* of a flooded frame: its copies share it, so that a team takes it in once; 0 = not flooded */
    ps_t sent;       /* when the end point sent it, for latency */
    union {
        struct train_tcp tcp;
        struct train_arp arp;
        struct train_raw raw;
    } u;
};

/* Bytes that it takes on a wire. */
static inline uint64_t train_wire_bytes(const struct train *t)
{
    return (uint64_t)(t->frames - 1) * (t->frame_bytes + TRAIN_FRAME_OVERHEAD) + t->last_bytes + TRAIN_FRAME_OVERHEAD;
}

static inline uint32_t train_first_bytes(const struct train *t)
{
    return t->frames > 1 ? t->frame_bytes : t->last_bytes;
}

/* When frame `i` (0 .. frames-1) is in. */
ps_t train_frame_time(const struct train *t, uint32_t i);

/* All frames ready at once. */
static inline void train_ready(struct train *t, ps_t at) { t->head = t->body = t->tail = at; }

/* A MAC address as a number, for comparing. */
static inline uint64_t train_mac(const uint8_t mac[6])
{
    uint64_t m = 0;
    for (int i = 0; i < 6; i++)
        m = m << 8 | mac[i];
    return m;
}
static inline bool train_group_mac(const uint8_t mac[6]) { return mac[0] & 1; }

static inline size_t train_ip_bytes(uint8_t version) { return version == 6 ? 16 : 4; }

struct train_pool;
struct train_pool *train_pool_new(void);
void train_pool_free(struct train_pool *p); /* with all its trains, wherever they are; accepts NULL */
/* For trains that carry more than this file knows (live: super-frames). Each may be NULL; set before the first train. */
struct train_hooks {
    void (*release)(void *context, struct train *t); /* about to be used again */
    void (*copy)(void *context, const struct train *t, struct train *copy);
    void (*split)(void *context, struct train *t, struct train *rest); /* frame counts and times are split already */
    void *context;
};
void train_pool_hooks(struct train_pool *p, const struct train_hooks *hooks);
bool train_pool_hooked(const struct train_pool *p);
/* Trains taken and not released. */
size_t train_pool_used(const struct train_pool *p);

/* Never NULL: without memory the program ends. All zero but the union. */
struct train *train_new(struct train_pool *p);
struct train *train_copy(struct train_pool *p, const struct train *t); /* for floods */
void train_release(struct train_pool *p, struct train *t);
/* Keeps the first `frames` frames (1 <= frames < t->frames) and returns the rest as a train of its own: counts, times,
 * and the sequence range of a TRAIN_DATA train (without a split hook, u.tcp.mss > 0). */
struct train *train_split(struct train_pool *p, struct train *t, uint32_t frames);

#endif
