/* Sequential reads are fetched ahead in chunks, one head visit each, dealt to the disks in turn; writes are gathered into
 * destage units. */
#include "emu/sim/storage_internal.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/storage_forms.h"

static unsigned largest_share(const struct storage_model *m)
{
    unsigned best = 0;
    for (unsigned i = 1; i < m->n_groups; i++)
        if (m->groups[i].share > m->groups[best].share)
            best = i;
    return best;
}

int storage_stream(struct storage *s, uint64_t window, uint64_t length, bool write)
{
    if (s->n_streams == s->streams_room) {
        size_t room = s->streams_room ? 2 * s->streams_room : 16;
        struct stream *streams = realloc(s->streams, room * sizeof(*streams));
        if (!streams)
            abort();
        s->streams = streams;
        s->streams_room = room;
    }
    unsigned group = largest_share(s->model);
    const struct storage_group *g = s->groups[group].model;
    struct stream *t = &s->streams[s->n_streams];
    *t = (struct stream){.group = (uint8_t)group, .write = write, .length = length ? length : UINT64_MAX};
    t->chunk = write ? g->destage : window < g->visit ? window : g->visit;
    if (t->chunk == 0)
        t->chunk = 1;
    t->offset = storage_pick_disk(s, &s->groups[group]);
    if (!write) {
        /* Fetched ahead, and what may be asked for beyond it at a time. */
        t->ring = 64;
        while (t->ring * t->chunk < 2 * g->read_ahead + 4 * t->chunk)
            t->ring *= 2;
        t->in = calloc(t->ring / 64, sizeof(*t->in));
        if (!t->in)
            abort();
    }
    return (int)s->n_streams++;
}

static void activate(struct storage *s, struct stream *t)
{
    if (!t->active) {
        t->active = true;
        s->groups[t->group].streams++;
    }
}

void storage_stream_end(struct storage *s, int stream)
{
    struct stream *t = &s->streams[stream];
    if (t->active) {
        t->active = false;
        s->groups[t->group].streams--;
    }
}

/* ---- reads ---- */

static uint64_t ready_bytes(const struct stream *t)
{
    uint64_t bytes = t->ready * t->chunk;
    return bytes < t->length ? bytes : t->length;
}

static void fetch(struct storage *s, int stream, ps_t now)
{
    struct stream *t = &s->streams[stream];
    const struct storage_group *g = s->groups[t->group].model;
    uint64_t until = t->asked + g->read_ahead, most = t->ready + t->ring;
    if (until > t->length)
        until = t->length;
    while (t->issued * t->chunk < until && t->issued < most) {
        struct storage_unit *u = unit_new(s, t->group, t->controller);
        uint64_t left = t->length - t->issued * t->chunk;
        u->stream = stream;
        u->chunk = t->issued++;
        u->bytes = (uint32_t)(left < t->chunk ? left : t->chunk);
        u->reads = 1;
        u->disk = (uint32_t)((t->offset + u->chunk) % g->disks);
        unit_start(s, u, now);
    }
}

void stream_read(struct storage *s, struct storage_op *o, ps_t now)
{
    struct stream *t = &s->streams[o->stream];
    activate(s, t);
    t->controller = (uint8_t)o->controller;
    t->asked += o->bytes;
    o->until = t->asked < t->length ? t->asked : t->length;
    fetch(s, o->stream, now);
    if (!t->first && ready_bytes(t) >= o->until) {
        storage_complete(o, now);
        return;
    }
    o->state = OP_STREAM;
    o->next = NULL;
    if (t->last)
        t->last->next = o;
    else
        t->first = o;
    t->last = o;
}

void stream_chunk_in(struct storage *s, struct storage_unit *u, ps_t now)
{
    int stream = u->stream;
    struct stream *t = &s->streams[stream];
    uint64_t place = u->chunk & (t->ring - 1);
    t->in[place / 64] |= UINT64_C(1) << place % 64;
    uint64_t before = t->ready;
    for (;;) {
        place = t->ready & (t->ring - 1);
        uint64_t bit = UINT64_C(1) << place % 64;
        if (!(t->in[place / 64] & bit))
            break;
        t->in[place / 64] &= ~bit;
        t->ready++;
    }
    if (t->ready == before)
        return;
    uint64_t have = ready_bytes(t);
    while (t->first && t->first->until <= have) {
        struct storage_op *o = t->first;
        if (!(t->first = o->next))
            t->last = NULL;
        storage_complete(o, now);
        t = &s->streams[stream];
    }
    fetch(s, stream, now);
}

void stream_forget(struct storage *s, struct storage_op *o)
{
    struct stream *t = &s->streams[o->stream];
    struct storage_op *before = NULL;
    for (struct storage_op *at = t->first; at; before = at, at = at->next) {
        if (at != o)
            continue;
        if (before)
            before->next = o->next;
        else
            t->first = o->next;
        if (t->last == o)
            t->last = before;
        return;
    }
}

/* ---- writes ---- */

/* One destage of `bytes` that a small write's RAID operations move. */
static void destage_small(struct storage *s, unsigned group, unsigned controller, uint64_t bytes, ps_t now)
{
    struct group *g = &s->groups[group];
    struct storage_unit *u = unit_new(s, group, controller);
    bool parity = storage_parities(g->model->raid) > 0;
    u->bytes = (uint32_t)bytes;
    u->clean = bytes;
    u->reads = (uint16_t)(parity ? g->model->penalty / 2 : 0);
    u->writes = (uint16_t)(g->model->penalty - u->reads);
    u->disk = storage_pick_disk(s, g);
    unit_destage(s, u, now);
}

/* Visits of the stream's chunk, `clean` bytes of data in them: as many as its bytes take with mirror or parity. */
static void destage_visits(struct storage *s, int stream, uint64_t clean, ps_t now)
{
    struct stream *t = &s->streams[stream];
    struct group *g = &s->groups[t->group];
    t->owed += storage_stripe_factor(g->model);
    unsigned n = (unsigned)(t->owed + 1e-9);
    t->owed -= n;
    struct storage_unit *u = unit_new(s, t->group, t->controller);
    u->bytes = (uint32_t)clean;
    u->clean = clean;
    u->stream = stream;
    u->writes = (uint16_t)n;
    uint64_t pair = g->model->raid == STORAGE_RAID_10 ? 2 : 1;
    u->disk = (uint32_t)((t->offset + t->visits++ * pair) % g->model->disks);
    unit_destage(s, u, now);
}

void write_dirty(struct storage *s, const struct storage_op *o, ps_t now)
{
    unsigned controller = (unsigned)o->controller;
    if (o->stream == STORAGE_RANDOM) {
        unsigned group = storage_pick_group(s);
        struct group *g = &s->groups[group];
        g->owed += 1 / g->model->merge;
        g->owed_bytes += o->bytes;
        if (g->owed < 1 - 1e-9)
            return;
        uint64_t bytes = g->owed_bytes;
        g->owed -= 1;
        g->owed_bytes = 0;
        destage_small(s, group, controller, bytes, now);
        return;
    }
    struct stream *t = &s->streams[o->stream];
    activate(s, t);
    t->controller = (uint8_t)controller;
    t->gathered += o->bytes;
    while (t->gathered >= t->chunk) {
        t->gathered -= t->chunk;
        destage_visits(s, o->stream, t->chunk, now);
        t = &s->streams[o->stream];
    }
}

void write_flush(struct storage *s, ps_t now)
{
    for (size_t i = 0; i < s->n_streams; i++) {
        uint64_t bytes = s->streams[i].gathered;
        if (!s->streams[i].write || !bytes)
            continue;
        s->streams[i].gathered = 0;
        destage_visits(s, (int)i, bytes, now);
    }
    for (unsigned i = 0; i < s->model->n_groups; i++) {
        uint64_t bytes = s->groups[i].owed_bytes;
        if (!bytes)
            continue;
        s->groups[i].owed_bytes = 0;
        s->groups[i].owed = 0;
        destage_small(s, i, 0, bytes, now);
    }
}
