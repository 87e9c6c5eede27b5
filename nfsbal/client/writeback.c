/* Theory of operation
 *
 * A file's bytes that the server has not answered for are extents. Those to be sent stand in one tree and don't overlap: a write
 * cuts what it covers out of it, or is copied into the extent that it continues. Those whose WRITE is out (flying) stand beside
 * the tree, since their bytes must not change while they may be sent; a newer extent may overlap one and is held until the
 * answer is there, so two WRITEs to one byte are never out at the same time. That a WRITE whose connection died is sent again,
 * and does not overwrite newer bytes then, is path.h's promise.
 *
 * An extent is sent when it is full (it ends at a multiple of wsize), when somebody waits for it, when it is `delay` old, and
 * when half of the memory is used up. Just before, its neighbours are gathered into it.
 *
 * Only an error of the server drops bytes; it is kept per file and reported once.
 *
 * Who waits has a count of the extents that he waits for. Each change of an extent is made between forget() and count(), which
 * take it out of these counts and put it back as it is then; so cuts need no special case.
 */
#include "nfsbal/client/writeback.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 4096, MIDDLE = 65536 }; /* buffers of the pool */

void wb_init(struct wb *wb, const struct wb_config *config, struct pool *pool, const struct wb_ops *ops, void *context)
{
    *wb = (struct wb){.config = *config, .ops = *ops, .context = context, .pool = pool, .due = INT64_MAX};
    TAILQ_INIT(&wb->files);
}

static void list_file(struct wb *wb, struct wb_file *f)
{
    if (f->listed)
        return;
    f->listed = true;
    f->current = (struct extent_tree){NULL, 0};
    TAILQ_INIT(&f->dirty);
    TAILQ_INIT(&f->ready);
    TAILQ_INIT(&f->flying);
    TAILQ_INIT(&f->waits);
    TAILQ_INSERT_TAIL(&wb->files, f, link);
}

static bool is_idle(const struct wb_file *f)
{
    return !f->current.root && TAILQ_EMPTY(&f->flying) && TAILQ_EMPTY(&f->waits);
}

/* Waiters and their counts. */

static bool concerns(const struct wb_wait *w, const struct extent *e)
{
    return e->sequence <= w->sequence && extent_overlaps(e, w->offset, w->end);
}

static void add(struct wb_file *f, const struct extent *e, int delta)
{
    struct wb_wait *w;

    TAILQ_FOREACH (w, &f->waits, link)
        if (concerns(w, e))
            w->left += (uint32_t)delta;
}

static void forget(const struct extent *e) { add(e->file, e, -1); }

static void count(const struct extent *e) { add(e->file, e, 1); }

/* Extents: the list and the tree of their state. */

static struct extent_list *list_of(const struct extent *e)
{
    if (e->flying)
        return &e->file->flying;
    return e->ready ? &e->file->ready : &e->file->dirty;
}

/* Puts an extent that is nowhere into its list, and into the tree unless it is flying. */
static void enter(struct wb *wb, struct extent *e)
{
    TAILQ_INSERT_TAIL(list_of(e), e, link);
    if (!e->flying)
        extent_tree_insert(&e->file->current, e);
    wb->held_bytes += e->size;
    count(e);
}

static void leave(struct wb *wb, struct extent *e)
{
    forget(e);
    wb->held_bytes -= e->size;
    TAILQ_REMOVE(list_of(e), e, link);
    if (!e->flying)
        extent_tree_remove(&e->file->current, e);
}

/* One that is nowhere. */
static void discard(struct extent *e)
{
    buffer_release(e->buffer);
    free(e);
}

static void make_ready(struct extent *e)
{
    if (e->ready)
        return;
    TAILQ_REMOVE(&e->file->dirty, e, link);
    e->ready = true;
    TAILQ_INSERT_TAIL(&e->file->ready, e, link);
}

/* Other bounds for one that stays where it is. */
static void resize(struct wb *wb, struct extent *e, uint64_t offset, uint64_t end)
{
    forget(e);
    wb->held_bytes += end - offset - e->size;
    e->start += (uint32_t)(offset - e->offset);
    e->offset = offset;
    e->size = (uint32_t)(end - offset);
    count(e);
}

/* Cuts [offset, end) out of the tree. False without memory: then it is cut up to some point. */
static bool punch(struct wb *wb, struct wb_file *f, uint64_t offset, uint64_t end)
{
    for (struct extent *e; (e = extent_tree_first(&f->current, offset)) != NULL && e->offset < end;) {
        uint64_t e_end = extent_end(e);

        if (e->offset >= offset && e_end <= end) {
            leave(wb, e);
            discard(e);
        } else if (e->offset < offset && e_end > end) {
            struct extent *tail = malloc(sizeof *tail);

            if (!tail)
                return false;
            *tail = *e;
            tail->start += (uint32_t)(end - e->offset);
            tail->offset = end;
            tail->size = (uint32_t)(e_end - end);
            buffer_hold(tail->buffer);
            resize(wb, e, e->offset, offset);
            enter(wb, tail);
        } else if (e->offset < offset) {
            resize(wb, e, e->offset, offset);
        } else {
            resize(wb, e, end, e_end); /* NOLINT(readability-suspicious-call-argument): what is left begins at `end` */
        }
    }
    return true;
}

/* The first whose wait is over, or NULL. */
static struct wb_wait *first_over(const struct wb_file *f)
{
    struct wb_wait *w;

    TAILQ_FOREACH (w, &f->waits, link)
        if (w->left == 0)
            return w;
    return NULL;
}

/* Calls those whose wait is over, and forgets the file when nothing is left. True if it did one of the two: then anything may
 * have happened to the list of files. */
static bool settle(struct wb *wb, struct wb_file *f)
{
    struct wb_wait *w;
    bool any = false;

    if (f->settling)
        return false; /* a callback called in again; the outer call goes on */
    f->settling = true;
    for (;;) {
        w = first_over(f);
        if (!w)
            break;
        TAILQ_REMOVE(&f->waits, w, link);
        any = true;
        w->done(w);
    }
    f->settling = false;
    if (!is_idle(f))
        return any;
    TAILQ_REMOVE(&wb->files, f, link);
    f->listed = false;
    wb->ops.idle(wb->context, f);
    return true;
}

void wb_set_error(struct wb_file *f, int error)
{
    if (!f->error)
        f->error = error;
}

int wb_take_error(struct wb_file *f)
{
    int error = f->error;

    f->error = 0;
    return error;
}

static void fail(struct wb *wb, struct extent *e, int error)
{
    wb_set_error(e->file, error);
    wb->ops.dropped(wb->context, e->file, e->offset, e->size, error);
    discard(e);
}

/* Writing into memory. */

static bool same_block(const struct wb *wb, uint64_t a, uint64_t b)
{
    return a / wb->config.wsize == b / wb->config.wsize;
}

/* Room for `more` bytes behind e's in its buffer. */
static bool make_room(struct wb *wb, struct extent *e, uint32_t more)
{
    struct buffer *b;
    uint32_t size = e->size + more;

    if (e->buffer->refs == 1 && e->start + size <= e->buffer->size)
        return true;
    /* Not one power of two after the other: each costs a copy. */
    b = pool_get(wb->pool, size > MIDDLE || wb->config.wsize < MIDDLE ? wb->config.wsize
                           : size > SMALLEST                          ? MIDDLE
                                                                      : SMALLEST);
    if (!b)
        return false;
    memcpy(b->data, extent_bytes(e), e->size);
    buffer_release(e->buffer);
    e->buffer = b;
    e->start = 0;
    return true;
}

/* Bytes behind those of the extent that ends at `offset`, if that can take them. */
static struct extent *append(struct wb *wb, struct wb_file *f, uint64_t offset, const void *bytes, uint32_t size)
{
    struct extent *e = extent_tree_ending(&f->current, offset);

    if (!e || !same_block(wb, e->offset, offset) || !make_room(wb, e, size))
        return NULL;
    memcpy(extent_bytes(e) + e->size, bytes, size);
    resize(wb, e, e->offset, offset + size);
    return e;
}

static struct extent *create(struct wb *wb, struct wb_file *f, uint64_t offset, const void *bytes, uint32_t size)
{
    struct extent *e = malloc(sizeof *e);
    struct buffer *b = e ? pool_get(wb->pool, size) : NULL;

    if (!b) {
        free(e);
        return NULL;
    }
    *e = (struct extent){.offset = offset, .size = size, .buffer = b, .file = f};
    e->sequence = f->sequence;
    e->since = wb->now;
    memcpy(b->data, bytes, size);
    enter(wb, e);
    return e;
}

static bool overwrite(struct wb_file *f, uint64_t offset, const void *bytes, uint32_t size, unsigned flags)
{
    struct extent *e = extent_tree_first(&f->current, offset);

    if (!e || e->offset > offset || extent_end(e) < offset + size)
        return false;
    memcpy(extent_bytes(e) + (offset - e->offset), bytes, size);
    e->sync |= (flags & WB_SYNC) != 0;
    if (flags & WB_NOW)
        make_ready(e);
    return true;
}

static uint64_t power_of_two(uint32_t size)
{
    uint64_t n = SMALLEST;

    while (n < size)
        n *= 2;
    return n;
}

/* Room for the copy, and for joining it with what it continues. The first and the last piece of a write that crosses multiples
 * of wsize may need twice their size. */
static bool has_room(const struct wb *wb, uint32_t size)
{
    return pool_used(wb->pool) == 0 || 2 * power_of_two(size) + power_of_two(wb->config.wsize) <= pool_room(wb->pool);
}

int wb_write(struct wb *wb, struct wb_file *f, uint64_t offset, const void *bytes, uint32_t size, unsigned flags,
             int64_t now)
{
    const unsigned char *from = bytes;
    int rc = 0;

    wb->now = now;
    if (size == 0)
        return 0;
    wb->starved = !has_room(wb, size);
    if (wb->starved) {
        wb_pump(wb, now);
        return -EAGAIN;
    }
    list_file(wb, f);
    f->sequence++;
    if (!overwrite(f, offset, bytes, size, flags)) {
        if (!punch(wb, f, offset, offset + size))
            rc = -ENOMEM;
        while (rc == 0 && size > 0) {
            uint32_t room = wb->config.wsize - (uint32_t)(offset % wb->config.wsize), n = size < room ? size : room;
            struct extent *e = append(wb, f, offset, from, n);

            if (!e)
                e = create(wb, f, offset, from, n);
            if (!e) {
                rc = -ENOMEM;
                break;
            }
            e->sync |= (flags & WB_SYNC) != 0;
            if ((flags & WB_NOW) || n == room)
                make_ready(e);
            offset += n;
            from += n;
            size -= n;
        }
    }
    settle(wb, f);
    wb_pump(wb, now);
    return rc;
}

bool wb_clean(const struct wb_file *f, uint64_t offset, uint64_t end)
{
    const struct extent *e;

    if (!f->listed)
        return true;
    TAILQ_FOREACH (e, &f->flying, link)
        if (extent_overlaps(e, offset, end))
            return false;
    e = extent_tree_first(&f->current, offset);
    return !e || e->offset >= end;
}

uint64_t wb_end(const struct wb_file *f)
{
    const struct extent *e;
    uint64_t end = 0;

    if (!f->listed)
        return 0;
    for (e = f->current.root; e; e = e->right)
        end = extent_end(e);
    TAILQ_FOREACH (e, &f->flying, link)
        if (extent_end(e) > end)
            end = extent_end(e);
    return end;
}

/* Waiting. */

static bool only_one(const struct wb_file *f)
{
    const struct extent *root = f->current.root;

    return root && !root->left && !root->right && TAILQ_EMPTY(&f->flying);
}

static void count_all(struct wb_wait *w, const struct extent_list *list)
{
    const struct extent *e;

    TAILQ_FOREACH (e, list, link)
        if (concerns(w, e))
            w->left++;
}

bool wb_wait(struct wb *wb, struct wb_file *f, struct wb_wait *w, uint64_t offset, uint64_t end, bool sync, int64_t now)
{
    struct extent *e, *next;

    wb->now = now;
    if (!f->listed)
        return true;
    w->offset = offset;
    w->end = end;
    w->sequence = f->sequence;
    w->left = 0;
    for (e = TAILQ_FIRST(&f->dirty); e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (extent_overlaps(e, offset, end))
            make_ready(e);
    }
    if (sync && only_one(f))
        f->current.root->sync = true;
    count_all(w, &f->ready);
    count_all(w, &f->flying);
    if (w->left == 0)
        return true;
    TAILQ_INSERT_TAIL(&f->waits, w, link);
    wb_pump(wb, now);
    return false;
}

void wb_abandon(struct wb *wb, struct wb_file *f, int error, int64_t now)
{
    struct extent *e;

    wb->now = now;
    if (!f->listed)
        return;
    while ((e = f->current.root) != NULL) {
        leave(wb, e); /* NOLINT(clang-analyzer-unix.Malloc): those before are off the list */
        fail(wb, e, error);
    }
    while ((e = TAILQ_FIRST(&f->flying)) != NULL) {
        leave(wb, e); /* NOLINT(clang-analyzer-unix.Malloc): those before are off the list */
        wb->flying--;
        wb->flying_bytes -= e->size;
        fail(wb, e, error);
    }
    settle(wb, f);
    wb_pump(wb, now);
}

void wb_written(struct wb *wb, struct extent *e, int error, int64_t now)
{
    struct wb_file *f = e->file;

    wb->now = now;
    assert(e->flying);
    leave(wb, e);
    wb->flying--;
    wb->flying_bytes -= e->size;
    if (error) {
        fail(wb, e, error);
    } else {
        wb->written_bytes += e->size;
        discard(e);
    }
    settle(wb, f);
    wb_pump(wb, now);
}

/* Sending. */

static bool is_held(const struct extent *e)
{
    const struct extent *other;

    TAILQ_FOREACH (other, &e->file->flying, link)
        if (extent_overlaps(other, e->offset, extent_end(e)))
            return true;
    return false;
}

/* Takes in what follows e without a gap, up to one whole WRITE. */
static void gather(struct wb *wb, struct extent *e)
{
    for (struct extent *n;; discard(n)) {
        n = extent_tree_first(&e->file->current, extent_end(e));
        if (!n || n->offset != extent_end(e) || !same_block(wb, e->offset, n->offset) || is_held(n) ||
            !make_room(wb, e, n->size))
            return;
        leave(wb, n);
        memcpy(extent_bytes(e) + e->size, extent_bytes(n), n->size);
        resize(wb, e, e->offset, extent_end(n));
        e->sync |= n->sync;
        if (n->sequence < e->sequence) {
            forget(e);
            e->sequence = n->sequence;
            count(e);
        }
    }
}

/* The first that may be sent, or NULL. */
static struct extent *first_free(const struct wb_file *f)
{
    struct extent *e;

    TAILQ_FOREACH (e, &f->ready, link)
        if (!is_held(e))
            return e;
    return NULL;
}

static bool send_one(struct wb *wb, struct wb_file *f)
{
    struct extent *e;

    if (wb->flying >= wb->config.writes || wb->flying_bytes >= wb->config.in_flight)
        return false;
    e = first_free(f);
    if (!e)
        return false;
    gather(wb, e);
    leave(wb, e);
    e->flying = true;
    enter(wb, e);
    wb->flying++;
    wb->flying_bytes += e->size;
    wb->ops.write(wb->context, e);
    return true;
}

static void pump_once(struct wb *wb)
{
    bool pressed = wb->starved || wb->held_bytes > pool_fair(wb->pool) / 2, sent;
    struct wb_file *f;
    struct extent *e;

    wb->due = INT64_MAX;
    TAILQ_FOREACH (f, &wb->files, link) {
        while ((e = TAILQ_FIRST(&f->dirty)) != NULL && (pressed || e->since + wb->config.delay <= wb->now))
            make_ready(e);
        if (e && e->since + wb->config.delay < wb->due)
            wb->due = e->since + wb->config.delay;
    }
    do {
        sent = false;
        TAILQ_FOREACH (f, &wb->files, link)
            sent |= send_one(wb, f);
    } while (sent);
}

void wb_pump(struct wb *wb, int64_t now)
{
    wb->now = now;
    wb->again = true;
    if (wb->busy)
        return;
    wb->busy = true;
    while (wb->again) {
        wb->again = false;
        pump_once(wb);
    }
    wb->busy = false;
}
