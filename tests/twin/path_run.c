/* The path function against the datapath: on random sites every train that carries data goes over links of the path of its
 * flow, and each link of it is seen. In virtual time, train by train. */
#include "emu/model/path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/fabric/train.h"
#include "emu/model/result.h"
#include "emu/model/topology_file.h"
#include "emu/sim/run.h"
#include "tests/support/path_site.h"
#include "tests/support/random_site.h"

enum { SITES = 500, STREAMS = 256 };

/* One direction of one connection, as its trains show it. */
struct stream {
    uint8_t src[4], dst[4];
    uint16_t sport, dport;
    struct path path;
    bool seen[PATH_MAX_HOPS];
};

struct watch {
    const struct topo *t;
    uint64_t seed;
    struct stream *streams;
    size_t n;
    uint64_t trains;
};

/* The flow that has these addresses: any mount of that interface over that VIP. */
static bool find_flow(const struct topo *t, const uint8_t client[4], const uint8_t server[4], struct flow *f)
{
    for (size_t m = 0; m < t->n_mounts; m++) {
        const struct topo_mount *mount = &t->mounts[m];

        if (memcmp(t->ifaces[mount->iface].addr.bytes, client, 4) != 0 ||
            memcmp(t->vips[mount->vip].addr.bytes, server, 4) != 0)
            continue;
        *f = (struct flow){.mount = (int)m, .iface = mount->iface, .vip = mount->vip, .sport_origin = TOPO_GIVEN};
        return true;
    }
    return false;
}

static struct stream *stream_of(struct watch *w, const struct hash_key *k)
{
    struct stream *s;
    struct flow f;
    bool write = k->dport == 2049;

    for (size_t i = 0; i < w->n; i++)
        if (w->streams[i].sport == k->sport && w->streams[i].dport == k->dport &&
            memcmp(w->streams[i].src, k->src, 4) == 0 && memcmp(w->streams[i].dst, k->dst, 4) == 0)
            return &w->streams[i];
    assert_true(w->n < STREAMS);
    s = &w->streams[w->n++];
    *s = (struct stream){.sport = k->sport, .dport = k->dport};
    memcpy(s->src, k->src, 4);
    memcpy(s->dst, k->dst, 4);
    assert_true(find_flow(w->t, write ? k->src : k->dst, write ? k->dst : k->src, &f));
    f.sport = write ? k->sport : k->dport;
    f.dport = 2049;
    assert_int_equal(path_walk(w->t, NULL, &f, write ? FLOW_WRITE : FLOW_READ, true, &s->path), PATH_OK);
    return s;
}

static void on_train(void *context, int linkdir, const struct train *train, ps_t start)
{
    struct watch *w = context;
    struct stream *s;

    if (train->kind != TRAIN_DATA || train->u.tcp.length == 0)
        return;
    s = stream_of(w, &train->flow->key);
    w->trains++;
    for (size_t h = 0; h < s->path.n_hops; h++)
        if (s->path.hops[h].linkdir == linkdir) {
            s->seen[h] = true;
            return;
        }
    for (size_t h = 0; h < s->path.n_hops; h++)
        print_message("  %s %s\n", topo_linkdir_name(w->t, s->path.hops[h].linkdir), s->path.hops[h].why);
    fail_msg("seed %u: a train is on %s at %lld us", (unsigned)w->seed, topo_linkdir_name(w->t, linkdir),
             (long long)(start / PS_PER_US));
}

static uint64_t run_site(uint64_t seed)
{
    char *text = random_site(seed, 0), problem[256];
    struct topo *t = site_parse(text, NULL);
    struct watch w = {.t = t, .seed = seed, .streams = calloc(STREAMS, sizeof *w.streams)};
    struct sim_options o = {.detail = SIM_TRAIN, .seed = seed, .tap = on_train, .context = &w};
    struct result *r = sim_run(t, &o, problem, sizeof problem);

    if (!r)
        fail_msg("seed %u: %s", (unsigned)seed, problem);
    for (size_t i = 0; i < w.n; i++)
        for (size_t h = 0; h < w.streams[i].path.n_hops; h++)
            if (!w.streams[i].seen[h])
                fail_msg("seed %u: no train on %s", (unsigned)seed,
                         topo_linkdir_name(t, w.streams[i].path.hops[h].linkdir));
    result_free(r);
    free(w.streams);
    free(text);
    return w.trains;
}

static void test_run(void **unused)
{
    uint64_t trains = 0;

    (void)unused;
    for (uint64_t seed = 0; seed < SITES; seed++)
        trains += run_site(seed);
    assert_true(trains > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_run)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
