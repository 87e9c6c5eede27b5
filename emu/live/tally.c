#include "emu/live/tally.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/result.h"
#include "emu/model/schedule.h"
#include "emu/model/topology.h"

struct job_reading {
    ps_t at;
    uint64_t bytes[2]; /* read, written */
};

struct tally {
    struct result *result;
    double scale;
    struct job_reading *jobs;
    ps_t links_at;
    struct tally_link *links;
    struct link_count *counts; /* per phase, then per link direction */
    size_t slices;             /* of over_time that can be used */
};

struct tally *tally_new(struct result *r, double scale)
{
    struct tally *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct tally){.result = r,
                        .scale = scale,
                        .jobs = calloc(r->n_jobs + 1, sizeof *t->jobs),
                        .links = calloc(r->n_links + 1, sizeof *t->links),
                        .counts = calloc(r->n_phases * r->n_links + 1, sizeof *t->counts),
                        .slices = r->n_slices};
    if (!t->jobs || !t->links || !t->counts) {
        tally_free(t);
        return NULL;
    }
    return t;
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    free(t->jobs);
    free(t->links);
    free(t->counts);
    free(t);
}

/* Two readings of a counter, and a part of the time between them. */
struct stretch {
    ps_t from, to; /* the readings */
    ps_t low, high;
};

static bool stretch_within(struct stretch *s, ps_t start, ps_t end)
{
    s->low = s->from > start ? s->from : start;
    s->high = s->to < end ? s->to : end;
    return s->low < s->high;
}

static uint64_t value_at(const struct stretch *s, ps_t when, uint64_t first, uint64_t second)
{
    if (when == s->to) /* also when both readings are of one moment */
        return second;
    return first + (uint64_t)((double)(second - first) * ((double)(when - s->from) / (double)(s->to - s->from)));
}

/* How much a counter grew within the stretch, at full rate. Adds up over stretches that touch: both ends are rounded alike. */
static uint64_t grown(const struct tally *t, const struct stretch *s, uint64_t first, uint64_t second)
{
    return (uint64_t)((double)value_at(s, s->high, first, second) / t->scale) -
           (uint64_t)((double)value_at(s, s->low, first, second) / t->scale);
}

/* Operations: bytes in blocks, the last one may be short. */
static uint64_t blocks(const struct tally *t, const struct stretch *s, uint64_t first, uint64_t second, uint64_t block)
{
    uint64_t high = (value_at(s, s->high, first, second) + block - 1) / block;
    uint64_t low = (value_at(s, s->low, first, second) + block - 1) / block;
    return (uint64_t)((double)high / t->scale) - (uint64_t)((double)low / t->scale);
}

void tally_job(struct tally *t, size_t job, int box, ps_t at, uint64_t read, uint64_t written)
{
    struct result *r = t->result;
    struct job_reading *before = &t->jobs[job];
    const struct result_job *j = &r->jobs[job];
    const struct result_phase *p = &r->phases[j->phase];
    const struct topo_mount *m = &r->topo->mounts[j->mount];
    uint64_t block = r->topo->workloads[j->workload].block, bytes[2] = {read, written};
    struct stretch s = {.from = before->at, .to = at};
    if (stretch_within(&s, p->start, p->end)) {
        for (int write = 0; write < 2; write++) {
            if (bytes[write] > before->bytes[write])
                result_bytes(r, job, m->vip, box, write, blocks(t, &s, before->bytes[write], bytes[write], block),
                             grown(t, &s, before->bytes[write], bytes[write]));
        }
    }
    *before = (struct job_reading){.at = at, .bytes = {read, written}};
}

static void count_phases(struct tally *t, size_t d, struct stretch *s, const struct tally_link *now)
{
    const struct tally_link *before = &t->links[d];
    for (unsigned p = 0; p < t->result->n_phases; p++) {
        struct link_count *c = &t->counts[p * t->result->n_links + d];
        if (!stretch_within(s, t->result->phases[p].start, t->result->phases[p].end))
            continue;
        c->frames += grown(t, s, before->frames, now->frames);
        c->bytes += grown(t, s, before->bytes, now->bytes);
    }
}

/* The share of each slice's time that the link's bytes took. */
static void count_slices(struct tally *t, size_t d, struct stretch *s, const struct tally_link *now)
{
    struct result *r = t->result;
    double per_slice = (double)r->links[d].rate / 8 * (double)r->slice / (double)PS_PER_S;
    for (size_t k = (size_t)(s->from / r->slice); k < t->slices && (ps_t)k * r->slice < s->to; k++) {
        if (stretch_within(s, (ps_t)k * r->slice, (ps_t)(k + 1) * r->slice) && per_slice > 0)
            r->links[d].over_time[k] += (float)((double)grown(t, s, t->links[d].bytes, now->bytes) / per_slice);
    }
}

/* A run of unknown length has used all slices: half of them, twice as long, hold the same. */
static void join_slices(struct tally *t)
{
    struct result *r = t->result;
    schedule_join_slices(r, t->slices);
    for (size_t d = 0; d < r->n_links; d++)
        memset(r->links[d].over_time + t->slices / 2, 0, (t->slices - t->slices / 2) * sizeof *r->links[d].over_time);
}

void tally_links(struct tally *t, ps_t at, const struct tally_link *links)
{
    struct result *r = t->result;
    struct stretch s = {.from = t->links_at, .to = at};
    bool by_bytes = r->phases[r->n_phases - 1].end == PS_NEVER; /* else what comes after the end has no slice */
    while (by_bytes && t->slices > 1 && at > (ps_t)t->slices * r->slice)
        join_slices(t);
    for (size_t d = 0; d < r->n_links; d++) {
        count_phases(t, d, &s, &links[d]);
        count_slices(t, d, &s, &links[d]);
        t->links[d] = links[d];
        r->links[d].dropped_frames = links[d].dropped;
        r->links[d].lost_frames = links[d].lost;
        r->links[d].queue_peak = links[d].queue_peak;
    }
    t->links_at = at;
}

void tally_bulk(struct tally *t, unsigned phase, size_t linkdir, uint64_t bytes)
{
    t->counts[phase * t->result->n_links + linkdir].bulk_bytes += (uint64_t)((double)bytes / t->scale);
}

void tally_latency(struct tally *t, size_t job, bool write, ps_t latency, uint32_t n)
{
    result_latencies(t->result, job, write, (ps_t)((double)latency * t->scale), n);
}

void tally_finish(struct tally *t, ps_t end)
{
    struct result *r = t->result;
    size_t used = r->slice > 0 ? (size_t)(end / r->slice) : 0;
    schedule_close(r, end, used < t->slices ? used : t->slices);
    schedule_count_links(r, t->counts);
    result_finish(r);
}
