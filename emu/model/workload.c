/* The rate of a job is kept by a due time that advances by one interval per operation. Intervals are whole picoseconds
 * and the remainders are carried, so that 30 s at 100 MB/s are 3 GB and not a rounding less. A job that fell behind (as
 * many operations out as may be) may catch up, but no more than its outstanding operations' worth: a storage that was
 * away for a minute must not be met by a minute's burst. */
#include "emu/model/workload.h"

#include <string.h>

#include "emu/model/distribution.h"
#include "emu/model/random.h"
#include "emu/model/topology.h"

uint64_t workload_seed(uint64_t seed, const char *client, const char *datastore, const char *workload)
{
    return random_seed(random_seed(random_seed(seed, client), datastore), workload);
}

static uint64_t whole(double x) { return x < 1 ? (x > 0 ? 1 : 0) : (uint64_t)(x + 0.5); }

/* Picoseconds until the next operation after one of `bytes`; the slower of the two limits. */
static ps_t interval(struct workload_job *j, uint64_t bytes)
{
    unsigned __int128 by_rate = j->rate ? (unsigned __int128)bytes * PS_PER_S : 0;
    unsigned __int128 by_iops = j->iops ? PS_PER_S : 0;
    /* bytes / rate >= 1 / iops, without the divisions */
    uint64_t divisor = j->rate;
    unsigned __int128 dividend = by_rate;
    if (j->iops && (!j->rate || by_rate * j->iops < by_iops * j->rate)) {
        divisor = j->iops;
        dividend = by_iops;
    }
    dividend += j->pace_part;
    j->pace_part = (uint64_t)(dividend % divisor);
    return (ps_t)(dividend / divisor);
}

/* A gap around this mean; that before operation n is a function of seed and n, like the operation itself. */
static ps_t drawn(const struct workload_job *j, ps_t mean)
{
    const struct distribution gap = {.kind = DISTRIBUTION_EXPONENTIAL, .mean = (double)mean};
    struct random r = {random_at(~j->seed, j->number)};
    return (ps_t)distribution_draw(&gap, &r);
}

void workload_init(struct workload_job *j, const struct topo_workload *w, uint64_t seed, uint64_t span)
{
    memset(j, 0, sizeof(*j));
    j->workload = w;
    j->seed = seed;
    j->span = span - span % w->block;
    if (j->span == 0)
        j->span = w->block;
    switch (w->op) {
    case TOPO_READ:
        j->read_below = UINT64_C(1) << 32;
        break;
    case TOPO_CLONE:
        j->read_below = UINT64_C(1) << 32;
        break;
    case TOPO_WRITE:
        j->read_below = 0;
        break;
    case TOPO_MIXED:
        j->read_below = (uint64_t)(w->read_share * 4294967296.0);
        break;
    }
    j->start = j->due = w->start;
    j->stop = w->duration ? w->start + w->duration : PS_NEVER;
    j->rate = whole(w->rate);
    j->iops = whole(w->iops);
    if (w->by_chance && (j->rate || j->iops))
        j->due += drawn(j, interval(j, w->block));
}

static void pace(struct workload_job *j, uint64_t bytes, ps_t now)
{
    if (!j->rate && !j->iops)
        return;
    ps_t step = interval(j, bytes);
    ps_t debt = now - j->due, most = step * (ps_t)j->workload->outstanding;
    if (j->workload->by_chance)
        step = drawn(j, step);
    if (debt > most)
        j->due = now - most;
    j->due += step;
}

/* The next block of a clone that has been read. */
static void write_back(struct workload_job *j, struct workload_operation *operation)
{
    const struct topo_workload *w = j->workload;
    uint64_t left = w->bytes - j->written_bytes;
    *operation = (struct workload_operation){.write = true, .number = j->written};
    operation->offset = j->written % (j->span / w->block) * w->block;
    operation->bytes = left < w->block ? left : w->block;
    j->written++;
    j->written_bytes += operation->bytes;
}

enum workload_next workload_next(struct workload_job *j, ps_t now, struct workload_operation *operation, ps_t *until)
{
    const struct topo_workload *w = j->workload;
    if (w->op == TOPO_CLONE && j->have_read > j->written) {
        write_back(j, operation);
        return WORKLOAD_OPERATION;
    }
    if (now >= j->stop || (w->bytes && j->issued >= w->bytes))
        return w->op == TOPO_CLONE && j->out ? WORKLOAD_BUSY : WORKLOAD_OVER;
    if (now < j->start) {
        *until = j->start;
        return WORKLOAD_WAIT;
    }
    if (j->out >= w->outstanding)
        return WORKLOAD_BUSY;
    if (j->due > now) {
        if (j->due >= j->stop)
            return WORKLOAD_OVER;
        *until = j->due;
        return WORKLOAD_WAIT;
    }
    uint64_t blocks = j->span / w->block;
    uint64_t place = w->sequential ? j->number % blocks : random_at(j->seed, 2 * j->number + 1) % blocks;
    operation->number = j->number;
    operation->write = random_at(j->seed, 2 * j->number) >> 32 >= j->read_below;
    operation->offset = place * w->block;
    operation->bytes = w->block;
    if (w->bytes && w->bytes - j->issued < w->block)
        operation->bytes = w->bytes - j->issued;
    j->number++;
    j->issued += operation->bytes;
    j->out++;
    pace(j, operation->bytes, now);
    return WORKLOAD_OPERATION;
}

void workload_done(struct workload_job *j) { j->out--; }

void workload_have_read(struct workload_job *j) { j->have_read++; }
