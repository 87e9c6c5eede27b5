/* The frame path: frames per second through three hops, and how many arrive. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/eventq.h"
#include "emu/fabric/fabric.h"
#include "emu/model/topology_file.h"
#include "tests/perf/frames_work.h"

enum { ROUNDS = 20 };

struct sender {
    struct event event;
    struct train_flow flow;
    int iface;
    uint32_t left;
};

static struct eventq *queue;
static struct train_pool *pool;
static struct fabric *fabric;
static unsigned n_senders;
static uint64_t sent, delivered;
static uint8_t vip_mac[6];

static void deliver(void *context, int iface, struct train *t, ps_t now)
{
    (void)context, (void)iface, (void)now;
    if (t->kind == TRAIN_ARP)
        memcpy(vip_mac, t->u.arp.sender_mac, 6);
    else
        delivered++;
    train_release(pool, t);
}

static void send(struct event *e, ps_t now)
{
    struct sender *s = (struct sender *)e;
    struct train *t = train_new(pool);

    t->flow = &s->flow;
    t->frames = 1;
    t->frame_bytes = t->last_bytes = FRAMES_WIRE_BYTES - TRAIN_FRAME_OVERHEAD;
    t->u.tcp.mss = 0;
    memcpy(t->src, s->flow.key.smac, 6);
    memcpy(t->dst, vip_mac, 6);
    train_ready(t, now);
    sent++;
    fabric_send(fabric, s->iface, -1, t, now);
    if (--s->left)
        eventq_set(queue, e, now + (ps_t)FRAMES_STEP_PS * n_senders);
}

static struct topo *load(struct topo_file **file, struct diag *d)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    struct topo *t;

    fprintf(out,
            "version: 1\nname: frames\nnodes:\n"
            "  h[1-%u]: {kind: linux, nics: [eth0], interfaces: {eth0: {address: \"10.0.%s/16\"}}}\n"
            "  sw1: {kind: switch, mtu: 9216}\n  sw2: {kind: switch, mtu: 9216}\n"
            "  nas: {kind: nas, controllers: {c: {nics: [e0]}}, vips: {10.0.100.1/16: {home: c}}, exports: {/v: {}}}\n"
            "links:\n"
            "  - {ends: [\"h[1-%u]:eth0\", \"sw1:p[1-%u]\"], speed: 10G, delay: 1us}\n"
            "  - {ends: [\"sw1:up\", \"sw2:up\"], speed: 10G, delay: 1us, buffer: %u}\n"
            "  - {ends: [\"sw2:nas\", \"nas:c.e0\"], speed: 10G, delay: 1us}\n",
            n_senders, n_senders == 8 ? "0.[1-8]" : "[0-3].[1-250]", n_senders, n_senders,
            FRAMES_QUEUE * FRAMES_WIRE_BYTES);
    fclose(out);
    *file = topo_file_parse("frames", text, size, d);
    free(text);
    t = *file ? topo_load(*file, NULL, d) : NULL;
    if (!t)
        diag_print_text(d, stdout, true);
    return t;
}

static void ask(const struct topo *t, const struct sender *s)
{
    struct train *arp = train_new(pool);

    arp->kind = TRAIN_ARP;
    arp->frames = 1;
    arp->frame_bytes = arp->last_bytes = 60;
    memset(arp->dst, 0xff, 6);
    memcpy(arp->src, s->flow.key.smac, 6);
    memset(&arp->u.arp, 0, sizeof arp->u.arp);
    memcpy(arp->u.arp.sender_mac, arp->src, 6);
    memcpy(arp->u.arp.sender_ip, t->ifaces[s->iface].addr.bytes, 4);
    memcpy(arp->u.arp.target_ip, t->vips[0].addr.bytes, 4);
    train_ready(arp, eventq_now(queue));
    fabric_send(fabric, s->iface, -1, arp, eventq_now(queue));
    eventq_run(queue, eventq_now(queue) + 10 * PS_PER_US);
}

/* All frames of all senders, until the last one has arrived. */
static double run(struct sender *senders, uint32_t frames)
{
    double start = frames_seconds();

    sent = delivered = 0;
    for (unsigned i = 0; i < n_senders; i++) {
        senders[i].left = frames;
        eventq_set(queue, &senders[i].event, eventq_now(queue) + (ps_t)FRAMES_STEP_PS * (i + 1));
    }
    eventq_run(queue, PS_NEVER);
    return frames_seconds() - start;
}

static int measure(unsigned n, uint32_t frames)
{
    struct diag d;
    struct topo_file *file;
    struct topo *t;
    struct sender *senders = calloc(n, sizeof *senders);
    const struct fabric_config config = {.seed = 1, .sharp_queues = true, .deliver = deliver};
    double best = 1e9;

    diag_init(&d, "frames");
    n_senders = n;
    t = load(&file, &d);
    if (!t || !senders)
        return 1;
    for (unsigned i = 0; i < n; i++) {
        struct hash_flow f = {.ip_version = 4, .proto = 17, .sport = (uint16_t)(1024 + i), .dport = 9};

        memcpy(f.src, t->ifaces[i].addr.bytes, 4);
        memcpy(f.dst, t->vips[0].addr.bytes, 4);
        memcpy(f.smac, t->ifaces[i].mac, 6);
        hash_key_flow(&senders[i].flow.key, &f);
        senders[i].flow.id = i;
        senders[i].iface = (int)i;
        senders[i].event.run = send;
    }
    queue = eventq_new();
    pool = train_pool_new();
    fabric = fabric_new(t, queue, pool, &config);
    for (unsigned i = 0; i < n; i++)
        ask(t, &senders[i]);
    for (int i = 0; i < ROUNDS; i++) {
        double took = run(senders, frames);

        best = took < best ? took : best;
    }
    printf("bench: frames-%u %.0f frames/s\n", n, (double)sent / best);
    printf("bench: frame-hops-%u %.0f frame-hops/s\n", n, (double)(sent + 2 * delivered) / best);
    printf("same: delivered-%u %llu\n", n, (unsigned long long)delivered);
    fabric_free(fabric);
    train_pool_free(pool);
    eventq_free(queue);
    free(senders);
    topo_free(t);
    topo_file_close(file);
    diag_free(&d);
    return 0;
}

int main(void) { return measure(8, FRAMES_EACH_8) || measure(1000, FRAMES_EACH_1000); }
