/* Operations: CPU, cache, acknowledgement.
 *
 * The CPU of a controller and its link to the partner are first come, first served, so the time when an operation is through
 * both is known when it enters: one event per operation, two where disks have part in it. */
#include "emu/sim/storage.h"

#include <stdlib.h>

#include "emu/model/storage_forms.h"
#include "emu/sim/storage_internal.h"

#define CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct storage *storage_new(const struct storage_model *m, unsigned controllers, double placed, struct eventq *q,
                            uint64_t seed)
{
    struct storage *s = calloc(1, sizeof(*s));
    if (!s)
        return NULL;
    s->model = m;
    s->queue = q;
    s->controllers = controllers;
    s->per_system = controllers / m->systems;
    s->cores = calloc((size_t)controllers * m->controller.cores + 1, sizeof(*s->cores));
    s->mirror = calloc(controllers + 1, sizeof(*s->mirror));
    s->down = calloc(controllers + 1, sizeof(*s->down));
    if (!s->cores || !s->mirror || !s->down || !disks_init(s, placed, seed)) {
        storage_free(s);
        return NULL;
    }
    return s;
}

void storage_connect(struct storage *s, const struct storage_network *n) { s->network = n; }

void storage_free(struct storage *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_streams; i++)
        free(s->streams[i].in);
    disks_free(s);
    free(s->streams);
    free(s->cores);
    free(s->mirror);
    free(s->down);
    free(s);
}

static ps_t later(ps_t a, ps_t b) { return a > b ? a : b; }

void storage_complete(struct storage_op *o, ps_t now)
{
    o->state = OP_IDLE;
    o->done(o, now);
}

/* When the controller's CPU is done with an operation that comes now. */
static ps_t cpu(struct storage *s, const struct storage_op *o, ps_t now)
{
    const struct storage_model *m = s->model;
    unsigned n = m->controller.cores;
    now = later(now, s->systems[storage_system(s, (unsigned)o->controller)].resumes);
    if (!n)
        return now;
    ps_t *core = &s->cores[(size_t)o->controller * n], *free = core;
    for (unsigned i = 1; i < n; i++)
        if (core[i] < *free)
            free = &core[i];
    double mean = (double)m->controller.per_operation;
    if (m->controller.rate > 0)
        mean += o->bytes / m->controller.rate * 1e12;
    *free = later(now, *free) + (ps_t)(mean * distribution_draw(&m->controller.service, &s->random) + 0.5);
    return *free;
}

static ps_t copied(struct storage *s, const struct storage_op *o, ps_t now)
{
    const struct storage_model *m = s->model;
    if (m->cache.mirror_rate > 0) {
        ps_t *free = &s->mirror[o->controller];
        *free = later(now, *free) + (ps_t)(o->bytes / m->cache.mirror_rate * 1e12 + 0.5);
        now = *free;
    }
    return now + m->cache.mirror;
}

/* Whether a write has no second cache to be copied to. */
static bool is_alone(const struct storage *s, const struct storage_op *o)
{
    const struct storage_model *m = s->model;
    bool mirrors = m->cache.mirror > 0 || m->cache.mirror_rate > 0;
    return mirrors && s->per_system > 1 && s->systems[storage_system(s, (unsigned)o->controller)].up < 2;
}

void storage_controller(struct storage *s, unsigned controller, bool up, ps_t now)
{
    struct slots *system = &s->systems[storage_system(s, controller)];
    if (s->down[controller] == !up)
        return;
    s->down[controller] = !up;
    system->up += up ? 1 : -1U;
    if (!up)
        system->resumes = later(system->resumes, now + s->model->cache.failover);
}

/* ---- what waits for the disks ---- */

static void through_disks(struct storage *s, struct storage_op *o, ps_t now)
{
    unsigned group = storage_pick_group(s);
    const struct group *g = &s->groups[group];
    struct storage_unit *u = unit_new(s, group, (unsigned)o->controller);
    u->op = o;
    o->unit = u;
    o->state = OP_DISK;
    u->bytes = o->bytes;
    u->disk = storage_pick_disk(s, g);
    u->reads = 1;
    if (o->write) {
        u->reads = g->model->raid == STORAGE_RAID_10 ? 0 : (uint16_t)(g->model->penalty / 2);
        u->writes = (uint16_t)(g->model->penalty - u->reads);
    }
    unit_start(s, u, now);
}

/* The journal is written as it comes: data and its copies or parities, nothing is read. */
static void into_journal(struct storage *s, struct storage_op *o, ps_t now)
{
    unsigned group = storage_pick_group(s);
    const struct group *g = &s->groups[group];
    struct storage_unit *u = unit_new(s, group, (unsigned)o->controller);
    u->op = o;
    o->unit = u;
    o->state = OP_JOURNAL;
    u->bytes = o->bytes;
    u->disk = storage_pick_disk(s, g);
    u->writes = (uint16_t)(g->model->raid == STORAGE_RAID_10 ? 2 : 1 + storage_parities(g->model->raid));
    unit_start(s, u, now);
}

/* ---- writes in the cache ---- */

static bool has_room(const struct storage *s, uint32_t bytes)
{
    uint64_t most = s->model->cache.dirty;
    return most == 0 || s->dirty + bytes <= most || s->dirty == 0;
}

static void acknowledge(struct storage *s, struct storage_op *o, ps_t now)
{
    s->dirty += o->bytes;
    write_dirty(s, o, now);
    storage_complete(o, now);
}

static bool destaging(const struct storage *s)
{
    for (size_t i = 0; i < s->model->n_groups; i++)
        if (s->groups[i].destaging)
            return true;
    return false;
}

static void into_cache(struct storage *s, struct storage_op *o, ps_t now)
{
    if (!s->first && has_room(s, o->bytes)) {
        acknowledge(s, o, now);
        return;
    }
    o->state = OP_ROOM;
    o->next = NULL;
    if (s->last)
        s->last->next = o;
    else
        s->first = o;
    s->last = o;
    if (!destaging(s)) /* all that is dirty waits for more to come */
        write_flush(s, now);
}

void storage_unit_done(struct storage *s, struct storage_op *o, ps_t now)
{
    if (o->state == OP_JOURNAL)
        into_cache(s, o, now);
    else
        storage_complete(o, now);
}

void storage_cleaned(struct storage *s, uint64_t bytes, ps_t now)
{
    s->dirty -= bytes < s->dirty ? bytes : s->dirty;
    while (s->first && has_room(s, s->first->bytes)) {
        struct storage_op *o = s->first;
        if (!(s->first = o->next))
            s->last = NULL;
        acknowledge(s, o, now);
    }
    if (s->first && !destaging(s))
        write_flush(s, now);
}

/* ---- operations ---- */

/* CPU and cache are done with it. */
static void go_on(struct storage_op *o, ps_t now)
{
    struct storage *s = o->storage;
    if (o->state == OP_HIT)
        storage_complete(o, now); /* a hit */
    else if (!o->write && o->stream != STORAGE_RANDOM)
        stream_read(s, o, now);
    else if (o->write && s->model->cache.write_back && (!is_alone(s, o) || s->model->cache.alone == STORAGE_CACHE))
        into_cache(s, o, now);
    else if (o->write && s->model->cache.write_back && s->model->cache.alone == STORAGE_JOURNAL)
        into_journal(s, o, now);
    else
        through_disks(s, o, now);
}

static void through(struct event *e, ps_t now) { go_on(CONTAINER(e, struct storage_op, event), now); }

void storage_submit(struct storage *s, struct storage_op *o, ps_t now)
{
    const struct storage_model *m = s->model;
    ps_t at = cpu(s, o, now);
    o->storage = s;
    o->unit = NULL;
    o->state = OP_TIMED;
    if (o->write) {
        s->count.writes++;
        s->count.write_bytes += o->bytes;
        if (m->cache.write_back)
            at = (is_alone(s, o) ? at : copied(s, o, at)) + m->cache.write;
    } else {
        s->count.reads++;
        s->count.read_bytes += o->bytes;
        bool hit = o->stream == STORAGE_RANDOM && m->cache.read_hit > 0 &&
                   (double)(random_next(&s->random) >> 11) / 9007199254740992.0 < m->cache.read_hit;
        s->count.read_hits += hit;
        if (hit || o->stream != STORAGE_RANDOM)
            at += m->cache.hit;
        if (hit)
            o->state = OP_HIT;
    }
    o->event = (struct event){.run = through};
    if (at == now)
        go_on(o, now);
    else
        eventq_set(s->queue, &o->event, at);
}

void storage_forget(struct storage_op *o)
{
    struct storage *s = o->storage;
    struct storage_op *before = NULL;
    switch ((enum op_state)o->state) {
    case OP_IDLE:
        break;
    case OP_TIMED:
    case OP_HIT:
        eventq_cancel(s->queue, &o->event);
        break;
    case OP_STREAM:
        stream_forget(s, o);
        break;
    case OP_DISK:
    case OP_JOURNAL:
        o->unit->op = NULL;
        break;
    case OP_ROOM:
        for (struct storage_op *at = s->first; at != o; at = at->next)
            before = at;
        if (before)
            before->next = o->next;
        else
            s->first = o->next;
        if (s->last == o)
            s->last = before;
        break;
    }
    o->state = OP_IDLE;
}

void storage_count(const struct storage *s, struct storage_counters *out)
{
    *out = s->count;
    out->dirty = s->dirty;
}

void storage_count_group(const struct storage *s, size_t group, struct storage_group_counters *out)
{
    *out = s->groups[group].count;
}
