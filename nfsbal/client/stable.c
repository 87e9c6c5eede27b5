/* An extent is a range of a file with the data that was written there: under way (one request), or answered as unstable
 * and kept. Kept extents of a file never overlap: a newer write, once answered, cuts what it covers out of older ones. They
 * stand in an array sorted by offset; appending, the usual case, moves nothing.
 *
 * What is longer than the server takes, or was answered short, goes out piece by piece. Each piece that was answered
 * becomes an extent of its own, with the path and verifier of its answer, and the rest goes on; a newer write over any of
 * it waits until all of it is answered.
 *
 * A COMMIT covers the extents that one path took with one verifier, and goes to that path and no other: two controllers may
 * have the same verifier (nfs-ganesha's is the second in which it started). Another verifier comes back, or the path has
 * lost a connection since the first of them was written (an address may have moved), and they are written again, on
 * whatever path.
 */
#include "nfsbal/client/stable.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/client/loop.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/pool.h"

struct extent {
    struct stable_file *file;
    struct extent *next, **link; /* under way */
    struct request request;
    struct buffer *buffer;
    size_t start; /* in the buffer */
    uint64_t offset, sequence, verifier;
    uint64_t cut; /* the file was cut there while this was under way; UINT64_MAX: it wasn't */
    uint32_t length;
    int path;
    uint64_t epoch; /* of the path, when it took it */
    enum nfs3_stable how;
    bool waiting;          /* for an older one, before it is sent */
    struct commit *commit; /* that covers it */
    stable_done *call;     /* NULL: written again, nobody waits for this one */
    void *arg;
};

struct commit {
    struct commit *next, **link;
    struct stable_file *file;
    struct request request;
    uint64_t verifier, epoch;
    int path;
};

struct sync {
    struct sync *next;
    uint64_t sequence; /* up to this one */
    stable_done *call;
    void *arg;
};

struct stable_file {
    struct stable *stable;
    struct stable_file *next, **link; /* of all that are open */
    struct nfs3_fh fh;
    struct nfs3_credential credential;
    bool have_credential;
    struct extent *writing;
    struct extent **kept; /* sorted by offset */
    size_t n_kept, kept_size;
    uint64_t kept_bytes, sequence;
    struct commit *commits;
    struct sync *first_sync, **last_sync;
    struct loop_task advance;
    struct nfs3_attr attr;
    bool have_attr, pressed; /* commit although nobody syncs */
    int error;
};

struct stable {
    struct loop *loop;
    struct paths *paths;
    struct stable_file *files;
    uint64_t kept, most;
    bool is_short; /* of memory */
};

struct stable *stable_new(struct loop *l, struct paths *p, uint64_t dirty_max)
{
    struct stable *s = calloc(1, sizeof *s);

    if (s) {
        s->loop = l;
        s->paths = p;
        s->most = dirty_max;
    }
    return s;
}

void stable_free(struct stable *s) { free(s); }
uint64_t stable_kept(const struct stable *s) { return s->kept; }
uint64_t stable_file_kept(const struct stable_file *f) { return f->kept_bytes; }

struct stable_file *stable_open(struct stable *s, const struct nfs3_fh *fh, const struct nfs3_credential *credential)
{
    struct stable_file *f = calloc(1, sizeof *f);

    if (!f)
        return NULL;
    f->stable = s;
    f->fh = *fh;
    f->have_credential = credential != NULL;
    if (credential)
        f->credential = *credential;
    f->last_sync = &f->first_sync;
    f->next = s->files;
    f->link = &s->files;
    if (f->next)
        f->next->link = &f->next;
    s->files = f;
    return f;
}

static void unlink_writing(struct extent *e)
{
    *e->link = e->next;
    if (e->next)
        e->next->link = e->link;
}

static void link_writing(struct stable_file *f, struct extent *e)
{
    e->next = f->writing;
    e->link = &f->writing;
    if (e->next)
        e->next->link = &e->next;
    f->writing = e;
}

static void extent_free(struct extent *e)
{
    buffer_release(e->buffer);
    free(e);
}

void stable_close(struct stable_file *f)
{
    struct extent *e;
    struct commit *c;
    struct sync *y;

    if (!f)
        return;
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    loop_task_cancel(&f->advance);
    while ((e = f->writing)) {
        paths_forget(&e->request);
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): the one before has taken itself off the list, by its link */
        unlink_writing(e);
        extent_free(e);
    }
    while ((c = f->commits)) {
        paths_forget(&c->request);
        f->commits = c->next;
        free(c);
    }
    while ((y = f->first_sync)) {
        f->first_sync = y->next;
        free(y);
    }
    for (size_t i = 0; i < f->n_kept; i++)
        extent_free(f->kept[i]);
    f->stable->kept -= f->kept_bytes;
    free(f->kept);
    free(f);
}

/* --- kept extents -------------------------------------------------------------------------------------------------- */

/* The first kept extent that ends after `offset`. */
static size_t find_kept(const struct stable_file *f, uint64_t offset)
{
    size_t low = 0, high = f->n_kept;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (f->kept[mid]->offset + f->kept[mid]->length <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool room_for_kept(struct stable_file *f, size_t more)
{
    size_t size = f->kept_size ? f->kept_size : 64;
    struct extent **grown;

    while (size < f->n_kept + more)
        size *= 2;
    if (size == f->kept_size)
        return true;
    grown = realloc(f->kept, size * sizeof(struct extent *));
    if (!grown)
        return false;
    f->kept = grown;
    f->kept_size = size;
    return true;
}

static void count_kept(struct stable_file *f, uint64_t add, uint64_t sub)
{
    f->kept_bytes += add - sub;
    f->stable->kept += add - sub;
}

static void insert_kept(struct stable_file *f, size_t i, struct extent *e)
{
    memmove(f->kept + i + 1, f->kept + i, (f->n_kept - i) * sizeof(struct extent *));
    f->kept[i] = e;
    f->n_kept++;
    count_kept(f, e->length, 0);
}

static void remove_kept(struct stable_file *f, size_t i)
{
    count_kept(f, 0, f->kept[i]->length);
    f->n_kept--;
    memmove(f->kept + i, f->kept + i + 1, (f->n_kept - i) * sizeof(struct extent *));
}

/* Cuts [start, end) out of what is kept; needs room for one more and, when it may split, memory. False: no memory. */
static bool cut_kept(struct stable_file *f, uint64_t start, uint64_t end)
{
    size_t i = find_kept(f, start);

    while (i < f->n_kept && f->kept[i]->offset < end) {
        struct extent *e = f->kept[i];
        uint64_t stop = e->offset + e->length;

        if (e->offset < start && stop > end) { /* a hole in the middle: two remain */
            struct extent *tail = calloc(1, sizeof *tail);

            if (!tail)
                return false;
            *tail = *e;
            tail->buffer = buffer_hold(e->buffer);
            tail->offset = end;
            tail->start += end - e->offset;
            tail->length = (uint32_t)(stop - end);
            count_kept(f, 0, stop - start);
            e->length = (uint32_t)(start - e->offset);
            insert_kept(f, i + 1, tail);
            return true;
        }
        if (e->offset < start) {
            count_kept(f, 0, stop - start);
            e->length = (uint32_t)(start - e->offset);
            i++;
        } else if (stop > end) {
            uint32_t gone = (uint32_t)(end - e->offset);

            count_kept(f, 0, gone);
            e->offset += gone;
            e->start += gone;
            e->length -= gone;
            return true;
        } else {
            remove_kept(f, i);
            extent_free(e);
        }
    }
    return true;
}

static bool keep(struct stable_file *f, struct extent *e)
{
    if (!room_for_kept(f, 2) || !cut_kept(f, e->offset, e->offset + e->length))
        return false;
    insert_kept(f, find_kept(f, e->offset), e);
    return true;
}

/* --- writing ------------------------------------------------------------------------------------------------------- */

static void advance(void *context);
static void written(struct request *r, const struct nfs3_result *result);

static void advance_soon(struct stable_file *f) { loop_task_queue(f->stable->loop, &f->advance, advance, f); }

static void submit(struct extent *e)
{
    struct stable_file *f = e->file;
    uint32_t most = paths_root(f->stable->paths)->write_max;

    e->request.call = (struct nfs3_call){
        .procedure = NFS3_WRITE,
        .credential = f->have_credential ? &f->credential : NULL,
        .fh = f->fh,
        .offset = e->offset,
        .count = e->length < most ? e->length : most,
        .data = e->buffer->data + e->start,
        .stable = e->how,
    };
    e->request.done = written;
    e->request.want = REQUEST_ANY_PATH;
    e->request.must = false;
    paths_submit(f->stable->paths, &e->request);
}

/* Shortens an extent to what is left of it after the file was cut; true when nothing is. */
static bool cut_off(struct extent *e)
{
    if (e->cut <= e->offset)
        return true;
    if (e->offset + e->length > e->cut)
        e->length = (uint32_t)(e->cut - e->offset);
    return false;
}

/* What was answered: kept until a COMMIT, or on stable storage, where older data must not come again. Takes e.
 * 0, or an error, which is also kept for the next sync. */
static int settle(struct stable_file *f, struct extent *e)
{
    bool kept = false;
    int error = 0;

    if (cut_off(e)) {
        /* nothing of it is left in the file */
    } else if (e->how == NFS3_UNSTABLE) {
        kept = keep(f, e);
        error = kept ? 0 : ENOMEM;
    } else if (room_for_kept(f, 1)) {
        cut_kept(f, e->offset, e->offset + e->length);
    }
    if (!kept)
        extent_free(e);
    if (f->stable->is_short || f->stable->kept > f->stable->most / 2)
        f->pressed = true;
    if (error && !f->error)
        f->error = error;
    advance_soon(f);
    return error;
}

static void finish_write(struct extent *e, int error)
{
    struct stable_file *f = e->file;
    stable_done *call = e->call;
    void *arg = e->arg;

    unlink_writing(e);
    e->call = NULL;
    if (!error) {
        error = settle(f, e);
    } else {
        if (!f->error)
            f->error = error;
        extent_free(e);
        advance_soon(f);
    }
    if (call)
        call(arg, error, f->have_attr ? &f->attr : NULL);
}

/* The first `count` bytes of what is under way have been answered. */
static void finish_part(struct extent *e, uint32_t count)
{
    struct extent *part = malloc(sizeof *part);

    if (part) {
        *part = *e;
        part->buffer = buffer_hold(e->buffer);
        part->length = count;
        part->call = NULL;
        settle(e->file, part);
    } else if (!e->file->error) {
        e->file->error = ENOMEM;
    }
    e->offset += count;
    e->start += count;
    e->length -= count;
}

static void written(struct request *r, const struct nfs3_result *result)
{
    struct extent *e = (struct extent *)(void *)((char *)r - offsetof(struct extent, request));
    struct stable_file *f = e->file;

    if (result->attr) {
        f->attr = *result->attr;
        f->have_attr = true;
    }
    if (result->status != NFS3_SUCCESS) {
        finish_write(e, nfs3_status_errno(result->status));
        return;
    }
    e->verifier = result->verifier;
    e->path = r->path;
    e->epoch = r->epoch;
    if (result->committed < e->how)
        e->how = NFS3_UNSTABLE; /* less than asked for; a COMMIT makes up for it */
    if (cut_off(e) || result->count >= e->length) {
        finish_write(e, 0);
        return;
    }
    finish_part(e, result->count);
    submit(e);
}

/* Older data for some of its bytes is still to be sent or answered. */
static bool must_wait(const struct stable_file *f, const struct extent *e)
{
    for (const struct extent *w = f->writing; w; w = w->next)
        if (w->sequence < e->sequence && w->offset < e->offset + e->length && e->offset < w->offset + w->length)
            return true;
    return false;
}

/* Sends those that have waited long enough. True: one of them has ended, and with it perhaps the file. */
static bool send_waiting(struct stable_file *f)
{
    for (struct extent *e = f->writing; e; e = e->next) {
        if (!e->waiting || must_wait(f, e))
            continue;
        e->waiting = false;
        if (cut_off(e)) {
            finish_write(e, 0);
            return true;
        }
        submit(e);
    }
    return false;
}

static struct extent *extent_new(struct stable_file *f, struct buffer *b, size_t start, uint64_t offset,
                                 uint32_t length)
{
    struct extent *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->file = f;
    e->buffer = buffer_hold(b);
    e->start = start;
    e->offset = offset;
    e->length = length;
    e->sequence = ++f->sequence;
    e->cut = UINT64_MAX;
    link_writing(f, e);
    return e;
}

int stable_write(struct stable_file *f, struct buffer *buffer, size_t start, uint64_t offset, uint32_t length,
                 enum nfs3_stable how, stable_done *done, void *arg)
{
    struct extent *e = extent_new(f, buffer, start, offset, length);

    if (!e)
        return -ENOMEM;
    e->how = how;
    e->call = done;
    e->arg = arg;
    e->waiting = must_wait(f, e);
    if (!e->waiting)
        submit(e);
    return 0;
}

/* --- COMMIT -------------------------------------------------------------------------------------------------------- */

/* A newer write of the same bytes is under way. Writing or committing the older one now would be wrong or useless: it
 * waits until the newer one is answered and has cut its part out. */
static bool overtaken(const struct stable_file *f, const struct extent *e)
{
    for (const struct extent *w = f->writing; w; w = w->next)
        if (w->sequence > e->sequence && w->offset < e->offset + e->length && e->offset < w->offset + w->length)
            return true;
    return false;
}

/* The extents of a commit that failed are written again. */
static void write_again(struct stable_file *f, const struct commit *c)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_kept; i++) {
        struct extent *e = f->kept[i];
        bool ours = e->commit == c;

        if (ours)
            e->commit = NULL;
        if (!ours || overtaken(f, e)) {
            f->kept[n++] = e;
            continue;
        }
        count_kept(f, 0, e->length);
        e->how = NFS3_UNSTABLE;
        link_writing(f, e);
        submit(e);
    }
    f->n_kept = n;
}

static void forget_committed(struct stable_file *f, const struct commit *c)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n_kept; i++) {
        struct extent *e = f->kept[i];

        if (e->commit != c) {
            f->kept[n++] = e;
            continue;
        }
        count_kept(f, 0, e->length);
        extent_free(e);
    }
    f->n_kept = n;
}

static void committed(struct request *r, const struct nfs3_result *result)
{
    struct commit *c = (struct commit *)(void *)((char *)r - offsetof(struct commit, request));
    struct stable_file *f = c->file;

    if (result->attr) {
        f->attr = *result->attr;
        f->have_attr = true;
    }
    if (result->status == NFS3_CONN_LOST ||
        (result->status == NFS3_SUCCESS && (result->verifier != c->verifier || r->epoch != c->epoch))) {
        write_again(f, c);
    } else {
        if (result->status != NFS3_SUCCESS && !f->error)
            f->error = nfs3_status_errno(result->status);
        forget_committed(f, c);
    }
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    free(c);
    advance_soon(f);
}

static bool same_server(const struct commit *c, const struct extent *e)
{
    return c->verifier == e->verifier && c->path == e->path && c->epoch == e->epoch;
}

static bool being_committed(const struct stable_file *f, const struct extent *e)
{
    for (const struct commit *c = f->commits; c; c = c->next)
        if (same_server(c, e))
            return true;
    return false;
}

/* A COMMIT to the server of kept[i], over all that it has. */
static void commit(struct stable_file *f, size_t first)
{
    struct commit *c = calloc(1, sizeof *c);

    if (!c)
        return; /* the next write or answer tries again */
    c->file = f;
    c->verifier = f->kept[first]->verifier;
    c->path = f->kept[first]->path;
    c->epoch = f->kept[first]->epoch;
    for (size_t i = first; i < f->n_kept; i++) {
        struct extent *e = f->kept[i];

        if (same_server(c, e) && !e->commit && !overtaken(f, e))
            e->commit = c;
    }
    c->request.call = (struct nfs3_call){
        .procedure = NFS3_COMMIT, .credential = f->have_credential ? &f->credential : NULL, .fh = f->fh};
    c->request.done = committed;
    c->request.want = c->path;
    c->request.must = true;
    c->next = f->commits;
    c->link = &f->commits;
    if (c->next)
        c->next->link = &c->next;
    f->commits = c;
    paths_submit(f->stable->paths, &c->request);
}

static void commit_up_to(struct stable_file *f, uint64_t sequence)
{
    for (size_t i = 0; i < f->n_kept; i++) {
        const struct extent *e = f->kept[i];

        if (e->sequence <= sequence && !e->commit && !being_committed(f, e) && !overtaken(f, e))
            commit(f, i);
    }
}

static bool any_up_to(const struct stable_file *f, uint64_t sequence)
{
    for (const struct extent *e = f->writing; e; e = e->next)
        if (e->sequence <= sequence)
            return true;
    for (size_t i = 0; i < f->n_kept; i++)
        if (f->kept[i]->sequence <= sequence)
            return true;
    return false;
}

static bool writing_up_to(const struct stable_file *f, uint64_t sequence)
{
    for (const struct extent *e = f->writing; e; e = e->next)
        if (e->sequence <= sequence)
            return true;
    return false;
}

/* Does what can be done now for those who wait for stable data. */
static void advance(void *context)
{
    struct stable_file *f = context;
    struct sync *y;

    if (send_waiting(f))
        return;
    if (f->pressed && !f->commits) {
        f->pressed = false;
        commit_up_to(f, UINT64_MAX);
    }
    while ((y = f->first_sync)) {
        stable_done *call = y->call;
        void *arg = y->arg;
        int error = f->error;

        if (any_up_to(f, y->sequence)) {
            if (!writing_up_to(f, y->sequence))
                commit_up_to(f, y->sequence);
            return;
        }
        f->first_sync = y->next;
        if (!f->first_sync)
            f->last_sync = &f->first_sync;
        free(y);
        f->error = 0;
        advance_soon(f);
        call(arg, error, f->have_attr ? &f->attr : NULL); /* may close the file */
        return;
    }
}

int stable_sync(struct stable_file *f, stable_done *done, void *arg)
{
    struct sync *y = calloc(1, sizeof *y);

    if (!y)
        return -ENOMEM;
    y->sequence = f->sequence;
    y->call = done;
    y->arg = arg;
    *f->last_sync = y;
    f->last_sync = &y->next;
    advance_soon(f);
    return 0;
}

void stable_press(struct stable *s, bool is_short)
{
    s->is_short = is_short;
    for (struct stable_file *f = is_short ? s->files : NULL; f; f = f->next)
        if (f->n_kept > 0) {
            f->pressed = true;
            advance_soon(f);
        }
}

void stable_truncate(struct stable_file *f, uint64_t size)
{
    if (room_for_kept(f, 1))
        cut_kept(f, size, UINT64_MAX);
    for (struct extent *e = f->writing; e; e = e->next) /* those that are written again are nobody's to drain */
        if (size < e->cut)
            e->cut = size;
}
