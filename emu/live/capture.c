/* The fabric tells of a train when its first frame arrives, so that the others lie in the future, and trains of both
 * directions interleave. Each capture keeps copies of the trains that aren't written to the end (their bytes are shared, not
 * copied: the pool's hooks) and writes what has arrived by the head of the latest one: nothing earlier can come. On a quiet
 * link a timer does the same, up to the present.
 */
#include "emu/live/capture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ev.h>

#include "emu/live/changes.h"
#include "emu/live/commands.h"
#include "emu/live/control.h"
#include "emu/report/frames.h"
#include "emu/report/json.h"

enum {
    FRAME_MAX = 70000, /* no frame is longer, with any tag */
    MAC_BYTES = 12,
    FILE_HEADER = 24,
    RECORD_HEADER = 16,
    LINKTYPE_ETHERNET = 1,
};
#define MAGIC_NANOSECONDS UINT32_C(0xA1B23C4D)
#define FLUSH_EVERY       0.05 /* s */

struct pending {
    struct train *train; /* a copy of ours */
    uint32_t next;       /* frame to be written next */
};

struct stream { /* one capture */
    struct stream *next, **link;
    struct captures *captures;
    struct control_connection *connection;
    uint64_t number;
    int cable, linkdir; /* linkdir -1: both directions */
    uint32_t snap;
    bool begun; /* the file's header is out: it comes after the answer */
    struct pending *pending;
    size_t n_pending, size;
    uint16_t ip_id;
    uint64_t frames, bytes, lost;
};

struct captures {
    const struct commands_lab *lab;
    struct stream *streams;
    uint64_t numbers;
    ev_timer flush;
    bool flushing;
    int64_t epoch; /* ns of the wall clock at the lab's time 0 */
    uint8_t record[RECORD_HEADER + FRAME_MAX];
};

static void free_stream(struct stream *s)
{
    struct captures *c = s->captures;

    for (size_t i = 0; i < s->n_pending; i++)
        train_release(c->lab->pool, s->pending[i].train);
    *s->link = s->next;
    if (s->next)
        s->next->link = s->link;
    if (!c->streams && c->flushing) {
        ev_timer_stop(c->lab->loop, &c->flush);
        c->flushing = false;
    }
    free(s->pending);
    free(s);
}

static void on_closed(void *owner) { free_stream(owner); }

/* ---- frames ---- */

/* The frame behind the record's header: its length, and how much of it is there. */
static uint32_t image(struct captures *c, const struct train *t, uint32_t i, uint16_t ip_id, uint32_t *captured)
{
    uint8_t *out = c->record + RECORD_HEADER;
    struct frames frames;
    struct frame_image made;
    size_t n;

    if (t->kind != TRAIN_DATA) {
        frames_of(&frames, t);
        frames_image(&frames, i, ip_id, &made);
        memcpy(out, made.bytes, made.captured);
        *captured = made.captured;
        return made.length;
    }
    if (!t->tagged) {
        n = c->lab->frame(t, i, out, FRAME_MAX);
    } else {
        n = c->lab->frame(t, i, out + TRAIN_TAG_BYTES, FRAME_MAX - TRAIN_TAG_BYTES) + TRAIN_TAG_BYTES;
        memmove(out, out + TRAIN_TAG_BYTES, MAC_BYTES);
        out[MAC_BYTES] = 0x81;
        out[MAC_BYTES + 1] = 0x00;
        out[MAC_BYTES + 2] = (uint8_t)(t->vlan >> 8);
        out[MAC_BYTES + 3] = (uint8_t)t->vlan;
    }
    *captured = n < FRAME_MAX ? (uint32_t)n : FRAME_MAX;
    return (uint32_t)n;
}

static void write_frame(struct stream *s, const struct train *t, uint32_t i, ps_t time)
{
    struct captures *c = s->captures;
    int64_t at = c->epoch + time / PS_PER_NS;
    uint32_t captured, length = image(c, t, i, s->ip_id++, &captured), header[4];

    captured = captured < s->snap ? captured : s->snap;
    header[0] = (uint32_t)(at / 1000000000);
    header[1] = (uint32_t)(at % 1000000000);
    header[2] = captured;
    header[3] = length;
    memcpy(c->record, header, sizeof header);
    if (!control_stream_write(s->connection, c->record, RECORD_HEADER + captured)) {
        s->lost++;
        return;
    }
    s->frames++;
    s->bytes += length;
}

static void write_file_header(struct stream *s)
{
    struct {
        uint32_t magic;
        uint16_t major, minor;
        uint32_t zone, accuracy, snap, link_type;
    } header = {MAGIC_NANOSECONDS, 2, 4, 0, 0, s->snap, LINKTYPE_ETHERNET};

    _Static_assert(sizeof header == FILE_HEADER, "as on the disk");
    control_stream_write(s->connection, &header, sizeof header);
}

/* When a frame's last bit is in. The fabric spreads the frames of a train evenly; here a short last one takes less. */
static ps_t frame_time(const struct train *t, uint32_t i)
{
    uint64_t full = t->frame_bytes + TRAIN_FRAME_OVERHEAD, all;

    if (i == 0 || i + 1 == t->frames)
        return train_frame_time(t, i);
    all = train_wire_bytes(t) - full;
    return t->body + (ps_t)((double)(t->tail - t->body) * (double)(i * full) / (double)all);
}

/* Writes all frames that have arrived by `until`, in order. */
static void write_until(struct stream *s, ps_t until)
{
    if (!s->begun)
        write_file_header(s);
    s->begun = true;
    for (;;) {
        struct pending *first = NULL;
        ps_t time = until;

        for (size_t i = 0; i < s->n_pending; i++) {
            ps_t at = frame_time(s->pending[i].train, s->pending[i].next);

            if (at < time || (at == time && !first)) {
                first = &s->pending[i];
                time = at;
            }
        }
        if (!first)
            return;
        write_frame(s, first->train, first->next, time);
        if (++first->next == first->train->frames) {
            train_release(s->captures->lab->pool, first->train);
            s->n_pending--;
            memmove(first, first + 1, (s->n_pending - (size_t)(first - s->pending)) * sizeof *first);
        }
    }
}

static void add_train(struct stream *s, const struct train *t)
{
    if (s->n_pending == s->size) {
        size_t size = s->size ? 2 * s->size : 8;
        struct pending *pending = realloc(s->pending, size * sizeof *pending);

        if (!pending) {
            s->lost += t->frames;
            return;
        }
        s->pending = pending;
        s->size = size;
    }
    s->pending[s->n_pending++] = (struct pending){train_copy(s->captures->lab->pool, t), 0};
    write_until(s, t->head);
}

void captures_train(struct captures *c, int linkdir, const struct train *t)
{
    for (struct stream *s = c->streams; s; s = s->next)
        if (s->cable == linkdir / 2 && (s->linkdir < 0 || s->linkdir == linkdir))
            add_train(s, t);
}

static void on_flush(struct ev_loop *loop, ev_timer *w, int events)
{
    struct captures *c = w->data;
    ps_t now = c->lab->now(c->lab->context);

    (void)loop;
    (void)events;
    for (struct stream *s = c->streams; s; s = s->next)
        write_until(s, now);
}

/* ---- streams ---- */

struct captures *captures_new(const struct commands_lab *lab)
{
    struct captures *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->lab = lab;
    ev_timer_init(&c->flush, on_flush, FLUSH_EVERY, FLUSH_EVERY);
    c->flush.data = c;
    return c;
}

void captures_free(struct captures *c)
{
    if (!c)
        return;
    for (struct stream *s = c->streams, *next; s; s = next) {
        struct control_connection *connection = s->connection;

        next = s->next;
        write_until(s, PS_NEVER - 1);
        free_stream(s);
        control_stream_end(connection);
    }
    free(c);
}

bool captures_begin(struct captures *c, struct control_call *call)
{
    const struct json_in *snap = json_in_member(call->request, "snap");
    const char *text = json_in_text(json_in_member(call->request, "link"));
    uint64_t bytes = CAPTURE_SNAP_MAX;
    struct change_link link;
    struct stream *s;
    struct timespec wall;

    if (!text) {
        snprintf(call->problem, sizeof call->problem, "`capture` needs a \"link\"");
        return false;
    }
    if (snap && (!json_in_count(snap, &bytes) || bytes < CAPTURE_SNAP_MIN || bytes > CAPTURE_SNAP_MAX)) {
        snprintf(call->problem, sizeof call->problem, "\"snap\" is a number from %d to %d", CAPTURE_SNAP_MIN,
                 CAPTURE_SNAP_MAX);
        return false;
    }
    if (!change_find_link(c->lab->topo, text, &link, call->problem, sizeof call->problem))
        return false;
    if (!c->flushing) {
        clock_gettime(CLOCK_REALTIME, &wall);
        c->epoch = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec - c->lab->now(c->lab->context) / PS_PER_NS;
    }
    s = calloc(1, sizeof *s);
    if (!s) {
        snprintf(call->problem, sizeof call->problem, "out of memory");
        return false;
    }
    s->captures = c;
    s->connection = call->connection;
    s->number = ++c->numbers;
    s->cable = link.link;
    s->linkdir = link.directed ? 2 * link.link + link.from_end : -1;
    s->snap = (uint32_t)bytes;
    s->next = c->streams;
    s->link = &c->streams;
    if (s->next)
        s->next->link = &s->next;
    c->streams = s;
    if (!c->flushing)
        ev_timer_again(c->lab->loop, &c->flush);
    c->flushing = true;
    json_out_count(call->reply, "capture", s->number);
    control_stream_begin(call->connection, on_closed, s);
    return true;
}

bool captures_told(struct captures *c, struct control_call *call)
{
    uint64_t number;

    if (!json_in_count(json_in_member(call->request, "capture"), &number)) {
        snprintf(call->problem, sizeof call->problem, "`captured` needs the number of a \"capture\"");
        return false;
    }
    for (struct stream *s = c->streams; s; s = s->next) {
        if (s->number != number)
            continue;
        json_out_count(call->reply, "frames", s->frames);
        json_out_count(call->reply, "bytes", s->bytes);
        json_out_count(call->reply, "lost", s->lost);
        return true;
    }
    snprintf(call->problem, sizeof call->problem, "there is no capture %llu", (unsigned long long)number);
    return false;
}
