#include "emu/live/store_clock.h"

#include <stdlib.h>

#include "emu/live/clock.h"
#include "emu/model/storage.h"
#include "emu/model/storage_load.h"
#include "emu/model/topology.h"

#define CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
/* A stream that stands still for so long doesn't compete for the heads any more. */
#define IDLE_AFTER (500 * PS_PER_MS)

struct store_clock {
    const struct store_config *config;
    struct eventq *queue;
    struct storage *storage; /* NULL: the short form */
    bool begun;
    int64_t zero; /* real, ns */
    uint64_t iops, rate[2];
    ps_t iops_free, free[2]; /* of the short form */
    struct store_streams *streams;
    ps_t looked; /* for idle streams */
    struct store_counters count;
    double late_sum; /* seconds, real */
};

static uint64_t whole(double x) { return x > 0 && x < 1 ? 1 : (uint64_t)(x + 0.5); }

/* The storage's time. */
static ps_t now_of(const struct store_clock *k)
{
    return (ps_t)((long double)(clock_ns() - k->zero) * 1000 * (long double)k->config->rate);
}

struct store_clock *store_clock_new(const struct store_config *c)
{
    const struct topo *t = c->topo;
    const struct topo_node *node = &t->nodes[c->node];
    const struct topo_box *box = &t->boxes[node->first_box];
    struct store_clock *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    *k = (struct store_clock){.config = c,
                              .queue = eventq_new(),
                              .iops = whole(box->limit_iops),
                              .rate = {whole(box->limit_read), whole(box->limit_write)}};
    if (k->queue && node->storage)
        k->storage = storage_new(node->storage, (unsigned)node->n_boxes, storage_placed(t, c->node), k->queue,
                                 storage_seed(t, c->node, c->seed));
    if (k->queue && (k->storage || !node->storage))
        return k;
    store_clock_free(k);
    return NULL;
}

void store_clock_begin(struct store_clock *k)
{
    k->begun = true;
    k->zero = clock_ns();
}

void store_clock_free(struct store_clock *k)
{
    if (!k)
        return;
    storage_free(k->storage);
    eventq_free(k->queue);
    free(k);
}

/* ---- streams ---- */

static void end_stream(struct store_clock *k, struct store_streams *f, bool write)
{
    if (!f->way[write].idle)
        storage_stream_end(k->storage, f->way[write].stream - 1);
    f->way[write].idle = true;
}

static void end_idle(struct store_clock *k, ps_t now)
{
    if (now - k->looked < IDLE_AFTER / 4)
        return;
    k->looked = now;
    for (struct store_streams *f = k->streams; f; f = f->next)
        for (int w = 0; w < 2; w++)
            if (f->way[w].stream && !f->way[w].pattern.out && now - f->way[w].last > IDLE_AFTER)
                end_stream(k, f, w);
}

static int stream_of(struct store_clock *k, const struct store_call *c, ps_t now)
{
    struct store_streams *f = c->file;
    const struct store_file *known = f->known;
    bool sequential = store_pattern_begin(&f->way[c->write].pattern, c->offset, c->bytes);
    f->way[c->write].last = now;
    if (known ? !known->sequential : !sequential)
        return STORAGE_RANDOM;
    if (!f->way[c->write].stream) {
        if (!f->way[!c->write].stream) {
            f->next = k->streams;
            k->streams = f;
        }
        f->way[c->write].stream = storage_stream(k->storage, known ? known->window : f->way[c->write].pattern.most,
                                                 known ? known->length : 0, c->write) +
                                  1;
    }
    f->way[c->write].idle = false;
    return f->way[c->write].stream - 1;
}

void store_clock_forget(struct store_clock *k, struct store_streams *f)
{
    struct store_streams **at = &k->streams;
    while (*at && *at != f)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = f->next;
    for (int w = 0; w < 2; w++)
        if (f->way[w].stream)
            end_stream(k, f, w);
}

/* ---- calls ---- */

static void answer(struct store_clock *k, struct store_call *c, ps_t due)
{
    struct store_streams *f = c->file;
    double late = (double)(now_of(k) - due) / (double)PS_PER_S / k->config->rate;
    store_pattern_end(&f->way[c->write].pattern, c->bytes);
    f->way[c->write].ended += c->bytes;
    if (f->way[c->write].stream && f->known && f->known->length && f->way[c->write].ended >= f->known->length)
        end_stream(k, f, c->write);
    k->late_sum += late;
    if (late > k->count.late_max)
        k->count.late_max = late;
    c->done(c);
}

static void stored(struct storage_op *o, ps_t now)
{
    struct store_call *c = CONTAINER(o, struct store_call, op);
    answer(c->clock, c, now);
}

static void limited(struct event *e, ps_t now)
{
    struct store_call *c = CONTAINER(e, struct store_call, limited);
    answer(c->clock, c, now);
}

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

/* The short form: two limits in a row, each a single server, first come first served (emu/sim/server.c). */
static void submit_limited(struct store_clock *k, struct store_call *c, ps_t now)
{
    ps_t at = now;
    if (k->iops)
        at = k->iops_free = later(k->iops_free, now) + PS_PER_S / (ps_t)k->iops;
    if (k->rate[c->write]) {
        at = later(at, k->free[c->write]) + (ps_t)((unsigned __int128)c->bytes * PS_PER_S / k->rate[c->write]);
        k->free[c->write] = at;
    }
    c->limited = (struct event){.run = limited};
    eventq_set(k->queue, &c->limited, at);
}

void store_clock_submit(struct store_clock *k, struct store_call *c)
{
    ps_t now = later(now_of(k), eventq_now(k->queue));
    if (!k->begun) {
        c->done(c);
        return;
    }
    c->clock = k;
    if (c->write) {
        k->count.writes++;
        k->count.write_bytes += c->bytes;
    } else {
        k->count.reads++;
        k->count.read_bytes += c->bytes;
    }
    if (!k->storage) {
        c->file->way[c->write].last = now;
        c->file->way[c->write].pattern.out += c->bytes;
        submit_limited(k, c, now);
        return;
    }
    end_idle(k, now);
    c->op = (struct storage_op){.done = stored,
                                .bytes = c->bytes,
                                .controller = c->controller,
                                .stream = stream_of(k, c, now),
                                .write = c->write};
    eventq_run(k->queue, now); /* what comes now comes after what is due by now */
    storage_submit(k->storage, &c->op, now);
}

int64_t store_clock_run(struct store_clock *k)
{
    ps_t next;
    long double wait;
    if (!k->begun)
        return -1;
    eventq_run(k->queue, later(now_of(k), eventq_now(k->queue)));
    next = eventq_next(k->queue);
    if (next == PS_NEVER)
        return -1;
    wait = (long double)next / 1000 / (long double)k->config->rate - (long double)(clock_ns() - k->zero);
    return wait > 0 ? (int64_t)wait + 1 : 0;
}

void store_clock_count(const struct store_clock *k, struct store_counters *out)
{
    uint64_t n = k->count.reads + k->count.writes;
    *out = k->count;
    out->late_mean = n ? k->late_sum / (double)n : 0;
}

void store_clock_count_group(const struct store_clock *k, size_t group, struct storage_group_counters *out)
{
    *out = (struct storage_group_counters){0};
    if (k->storage)
        storage_count_group(k->storage, group, out);
}
