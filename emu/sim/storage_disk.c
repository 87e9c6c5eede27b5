/* Work for the disks.
 *
 * A disk that is served first come, first served needs no queue: when a request comes, the time when it will be done is
 * known. One that is served by place keeps its queue sorted and moves on in one direction to the next place, as far as
 * there is one, then starts again from the other side (a one-way elevator). Each request has one event, when it is done.
 *
 * Where a request is on a disk is a draw: arrays spread what belongs together in pages over the part that is in use. Only a
 * stream that is alone in its group goes on where it was. */
#include "emu/sim/storage_internal.h"

#include <math.h>
#include <stdlib.h>

#include "emu/model/storage_forms.h"

#define CONTAINER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

enum { SLAB = 256 };

struct storage_slab {
    struct storage_slab *next;
    struct storage_unit units[SLAB];
    struct disk_request requests[SLAB];
};

static void more(struct storage *s)
{
    struct storage_slab *slab = calloc(1, sizeof(*slab));
    if (!slab)
        abort();
    slab->next = s->slabs;
    s->slabs = slab;
    for (int i = SLAB - 1; i >= 0; i--) {
        slab->units[i].next = s->free_units;
        s->free_units = &slab->units[i];
        slab->requests[i].next = s->free_requests;
        s->free_requests = &slab->requests[i];
    }
}

static double unit_draw(struct storage *s) { return (double)(random_next(&s->random) >> 11) / 9007199254740992.0; }

unsigned storage_pick_group(struct storage *s)
{
    unsigned n = (unsigned)s->model->n_groups;
    if (n == 1)
        return 0;
    double draw = unit_draw(s);
    for (unsigned i = 0; i + 1 < n; i++)
        if ((draw -= s->model->groups[i].share) < 0)
            return i;
    return n - 1;
}

uint32_t storage_pick_disk(struct storage *s, const struct group *g)
{
    return (uint32_t)random_below(&s->random, g->model->disks);
}

/* ---- one request ---- */

static ps_t ps_of(double seconds) { return (ps_t)(seconds * 1e12 + 0.5); }

/* Seconds, when it is served next. */
static double service(struct storage *s, const struct group *g, const struct disk *d, const struct disk_request *r)
{
    const struct storage_disk *m = &g->model->disk;
    const struct storage_unit *u = r->unit;
    double bytes = u->bytes;
    if (m->medium == STORAGE_SSD)
        return storage_request(m, 1, bytes, r->write) * distribution_draw(&m->service, &s->random);
    double transfer = bytes / m->rate;
    if (u->stream != STORAGE_RANDOM && d->stream == u->stream && g->streams == 1)
        return transfer;
    if (!m->physical)
        return storage_request(m, g->stroke, bytes, r->write) * distribution_draw(&m->service, &s->random);
    double turn = (double)m->turn / 1e12 * unit_draw(s);
    return storage_seek_over(m, fabs(r->place - d->place), r->write) + turn + transfer;
}

static void serve(struct storage *s, struct group *g, struct disk *d, struct disk_request *r, ps_t start, ps_t *free)
{
    r->takes = ps_of(service(s, g, d, r));
    d->place = r->place;
    d->stream = r->unit->stream;
    *free = start + r->takes;
    eventq_set(s->queue, &r->event, *free);
}

static void elevator_next(struct storage *s, struct group *g, struct disk *d, ps_t now)
{
    struct disk_request **at = &d->queue;
    if (!d->queue)
        return;
    while (*at && (*at)->place < d->place)
        at = &(*at)->next;
    if (!*at)
        at = &d->queue;
    struct disk_request *r = *at;
    *at = r->next;
    d->busy = true;
    serve(s, g, d, r, now, &d->free);
}

static void to_disk(struct storage *s, struct disk_request *r, ps_t now)
{
    struct group *g = &s->groups[r->unit->group];
    struct disk *d = &g->disks[r->disk];
    ps_t *free = &d->free;
    if (g->model->order == STORAGE_ELEVATOR) {
        struct disk_request **at = &d->queue;
        while (*at && (*at)->place <= r->place)
            at = &(*at)->next;
        r->next = *at;
        *at = r;
        if (!d->busy)
            elevator_next(s, g, d, now);
        return;
    }
    if (g->channels) {
        unsigned n = g->model->disk.parallel;
        free = &g->channels[(size_t)r->disk * n];
        for (unsigned i = 1; i < n; i++)
            if (g->channels[(size_t)r->disk * n + i] < *free)
                free = &g->channels[(size_t)r->disk * n + i];
    }
    serve(s, g, d, r, *free > now ? *free : now, free);
}

/* ---- places among the outstanding ---- */

static event_function done;

static bool takes_slot(const struct storage *s, const struct disk_request *r)
{
    return s->model->concurrency && r->unit->stream == STORAGE_RANDOM;
}

static void request(struct storage *s, struct storage_unit *u, uint32_t disk, bool write, ps_t now)
{
    struct slots *slots = &s->systems[u->system];
    struct group *g = &s->groups[u->group];
    if (!s->free_requests)
        more(s);
    struct disk_request *r = s->free_requests;
    s->free_requests = r->next;
    r->next = NULL;
    r->event.run = done;
    r->unit = u;
    r->disk = disk;
    r->write = write;
    r->place = g->stroke * unit_draw(s);
    if (!takes_slot(s, r)) {
        to_disk(s, r, now);
    } else if (slots->used < s->model->concurrency) {
        slots->used++;
        to_disk(s, r, now);
    } else {
        if (slots->last)
            slots->last->next = r;
        else
            slots->first = r;
        slots->last = r;
    }
}

static void give_back(struct storage *s, struct slots *slots, ps_t now)
{
    struct disk_request *r = slots->first;
    if (!r) {
        slots->used--;
        return;
    }
    if (!(slots->first = r->next))
        slots->last = NULL;
    to_disk(s, r, now);
}

/* ---- units ---- */

struct storage_unit *unit_new(struct storage *s, unsigned group, unsigned controller)
{
    if (!s->free_units)
        more(s);
    struct storage_unit *u = s->free_units;
    s->free_units = u->next;
    *u = (struct storage_unit){.storage = s,
                               .group = (uint8_t)group,
                               .system = (uint8_t)storage_system(s, controller),
                               .controller = (uint8_t)controller,
                               .stream = STORAGE_RANDOM};
    return u;
}

/* The disk operations of its next phase: the reads of a parity write, then the writes. */
static void phase(struct storage *s, struct storage_unit *u, ps_t now)
{
    const struct group *g = &s->groups[u->group];
    bool write = u->reads == 0;
    unsigned n = write ? u->writes : u->reads;
    if (write)
        u->writes = 0;
    else
        u->reads = 0;
    u->pending = (uint16_t)n;
    uint32_t disk = u->disk;
    for (unsigned i = 0; i < n; i++) {
        request(s, u, disk, write, now);
        /* A mirror is the neighbour in the pair; data and parities are on neighbours of the set. */
        disk =
            g->model->raid == STORAGE_RAID_10 && (disk ^ 1) < g->model->disks ? disk ^ 1 : (disk + 1) % g->model->disks;
    }
}

/* Over a back-end link; returns when the last byte is in. */
static ps_t transfer(struct storage *s, int direction, uint64_t bytes, ps_t now)
{
    const struct storage_model *m = s->model;
    ps_t *free = &s->link[direction][s->turn[direction]++ % m->back_end.links];
    double wire = storage_wire_bytes(m->back_end.protocol, m->back_end.mtu, (double)bytes);
    *free = (*free > now ? *free : now) + ps_of(wire * 8 / (double)m->back_end.speed);
    return *free + m->back_end.delay;
}

static void cross(struct storage *s, struct storage_unit *u, bool there, ps_t now)
{
    const struct storage_network *n = s->network;
    unsigned member = u->disk / (s->groups[u->group].model->disks / n->members);
    n->cross(n->context, u->controller, member, u->write, there, u->bytes, &u->session, &u->event, now);
}

static void unit_over(struct storage *s, struct storage_unit *u, ps_t now)
{
    struct group *g = &s->groups[u->group];
    struct storage_op *o = u->op;
    uint64_t clean = u->clean;
    if (o) {
        o->unit = NULL;
        storage_unit_done(s, o, now);
    } else if (u->stream != STORAGE_RANDOM && !u->destage) {
        stream_chunk_in(s, u, now);
    }
    if (u->destage) {
        g->destaging--;
        struct storage_unit *next = g->first;
        if (next) {
            if (!(g->first = next->next))
                g->last = NULL;
            g->destaging++;
            unit_start(s, next, now);
        }
    }
    u->next = s->free_units;
    s->free_units = u;
    if (clean)
        storage_cleaned(s, clean, now);
}

/* A unit has crossed the back end: it goes to the disks, or comes from them. */
static void crossed(struct event *e, ps_t now)
{
    struct storage_unit *u = CONTAINER(e, struct storage_unit, event);
    if (u->reads || u->writes)
        phase(u->storage, u, now);
    else
        unit_over(u->storage, u, now);
}

static void done(struct event *e, ps_t now)
{
    struct disk_request *r = CONTAINER(e, struct disk_request, event);
    struct storage_unit *u = r->unit;
    struct storage *s = u->storage;
    struct group *g = &s->groups[u->group];
    bool slot = takes_slot(s, r), read = !r->write;
    if (read) {
        g->count.reads++;
        g->count.read_bytes += u->bytes;
    } else {
        g->count.writes++;
        g->count.write_bytes += u->bytes;
    }
    g->count.busy += r->takes;
    if (g->model->order == STORAGE_ELEVATOR) {
        g->disks[r->disk].busy = false;
        elevator_next(s, g, &g->disks[r->disk], now);
    }
    r->next = s->free_requests;
    s->free_requests = r;
    if (slot)
        give_back(s, &s->systems[u->system], now);
    if (--u->pending)
        return;
    if (u->writes)
        phase(s, u, now);
    else if (s->network)
        cross(s, u, false, now);
    else if (read && s->model->back_end.links)
        eventq_set(s->queue, &u->event,
                   transfer(s, 1, u->bytes, now) + s->model->back_end.delay); /* the request, too */
    else
        unit_over(s, u, now);
}

void unit_start(struct storage *s, struct storage_unit *u, ps_t now)
{
    u->event.run = crossed;
    u->write = u->writes > 0;
    if (s->network)
        cross(s, u, true, now);
    else if (u->writes && s->model->back_end.links)
        eventq_set(s->queue, &u->event, transfer(s, 0, u->bytes, now));
    else
        phase(s, u, now);
}

void unit_destage(struct storage *s, struct storage_unit *u, ps_t now)
{
    struct group *g = &s->groups[u->group];
    u->destage = true;
    u->next = NULL;
    if (g->destaging < g->destages_most) {
        g->destaging++;
        unit_start(s, u, now);
        return;
    }
    if (g->last)
        g->last->next = u;
    else
        g->first = u;
    g->last = u;
}

/* ---- set-up ---- */

bool disks_init(struct storage *s, double placed, uint64_t seed)
{
    const struct storage_model *m = s->model;
    double usable = 0;
    s->random = random_stream(seed, "storage");
    s->groups = calloc(m->n_groups, sizeof(*s->groups));
    s->systems = calloc(m->systems, sizeof(*s->systems));
    for (int k = 0; k < 2; k++)
        s->link[k] = calloc(m->back_end.links + 1, sizeof(*s->link[k]));
    if (!s->groups || !s->systems || !s->link[0] || !s->link[1])
        return false;
    for (unsigned i = 0; i < m->systems; i++)
        s->systems[i].up = s->per_system;
    for (size_t i = 0; i < m->n_groups; i++)
        usable += storage_usable(&m->groups[i]);
    for (size_t i = 0; i < m->n_groups; i++) {
        struct group *g = &s->groups[i];
        g->model = &m->groups[i];
        bool anywhere = !g->model->placed_said && placed <= 0;
        double here = placed * storage_usable(g->model) / usable + (double)g->model->placed;
        g->stroke = anywhere ? 1 : storage_stroke(g->model, here);
        g->destages_most = 2 * g->model->disks * g->model->disk.parallel; /* one is done, the next is there */
        g->disks = calloc(g->model->disks, sizeof(*g->disks));
        if (g->model->disk.medium == STORAGE_SSD)
            g->channels = calloc((size_t)g->model->disks * g->model->disk.parallel, sizeof(*g->channels));
        if (!g->disks || (g->model->disk.medium == STORAGE_SSD && !g->channels))
            return false;
        for (unsigned d = 0; d < g->model->disks; d++)
            g->disks[d].stream = STORAGE_RANDOM;
    }
    return true;
}

void disks_free(struct storage *s)
{
    for (size_t i = 0; s->groups && i < s->model->n_groups; i++) {
        free(s->groups[i].disks);
        free(s->groups[i].channels);
    }
    for (struct storage_slab *a = s->slabs, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    free(s->groups);
    free(s->systems);
    free(s->link[0]);
    free(s->link[1]);
}
