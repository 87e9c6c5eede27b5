/* The order of writes.
 *
 * Two WRITEs on two connections may be done by the server in either order, so those that overlap must not be under way
 * together; a SETATTR of the size counts as a write of all that lies behind it. An entry is the range of a write under way. When a
 * write is lost with its connection, bytes of it may still be in the network or in the server's receive buffer, and
 * NFS 3 has no session that would fence them off. Closing the connection with a reset stops what is still to come from us,
 * not what has arrived. So its range becomes a fence for the time that the old copy may live (`quarantine`): the same
 * write may be issued again at once, a late copy of it only repeats it, but a later write of the range would be overwritten
 * by the copy and waits.
 *
 * Ranges are few (as many as requests are under way), so a file's are a plain list; files hang in a hash table.
 */
#include "nfsbal/client/path_private.h"

#include <errno.h>
#include <stdlib.h>

enum { ORDER_SLOTS = 1024 };

struct order_entry {
    struct order_entry *next, **link; /* of the file */
    struct order_file *file;
    uint64_t start, end; /* end exclusive */
    int64_t fence_until; /* 0: under way */
};

struct order_file {
    struct order_file *next, **link; /* of the slot */
    struct nfs3_fh fh;
    struct order_entry *entries;
    struct request_list held; /* in the order they came */
};

struct order {
    struct loop *loop;
    int64_t quarantine; /* ns */
    void (*start)(struct request *r);
    struct loop_timer timer;
    size_t n_fences;
    struct order_file *slots[ORDER_SLOTS];
};

struct order *order_new(struct loop *l, int64_t quarantine_ms, void (*start)(struct request *r))
{
    struct order *o = calloc(1, sizeof *o);

    if (o) {
        o->loop = l;
        o->quarantine = quarantine_ms * NS_PER_MS;
        o->start = start;
    }
    return o;
}

static void entry_free(struct order_entry *e)
{
    *e->link = e->next;
    if (e->next)
        e->next->link = e->link;
    free(e);
}

static void file_free_if_idle(struct order_file *f)
{
    if (f->entries || f->held.first)
        return;
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    free(f);
}

void order_free(struct order *o)
{
    if (!o)
        return;
    loop_timer_stop(&o->timer);
    for (int i = 0; i < ORDER_SLOTS; i++)
        for (struct order_file *f = o->slots[i], *next; f; f = next) {
            next = f->next;
            while (f->entries)
                /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it takes itself off the list, by its link */
                entry_free(f->entries);
            free(f);
        }
    free(o);
}

bool order_needed(const struct nfs3_call *call)
{
    return call->procedure == NFS3_WRITE || (call->procedure == NFS3_SETATTR && call->attr.set_size);
}

static void range_of(const struct nfs3_call *call, uint64_t *start, uint64_t *end)
{
    *start = call->procedure == NFS3_WRITE ? call->offset : call->attr.size;
    *end = call->procedure == NFS3_WRITE ? call->offset + call->count : UINT64_MAX;
}

static struct order_file *file_of(struct order *o, const struct nfs3_fh *fh)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);
    struct order_file **slot, *f;

    for (unsigned i = 0; i < fh->size; i++)
        h = (h ^ fh->bytes[i]) * UINT64_C(0x100000001B3);
    slot = &o->slots[(h ^ h >> 32) % ORDER_SLOTS];
    for (f = *slot; f; f = f->next)
        if (nfs3_fh_equal(&f->fh, fh))
            return f;
    f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->fh = *fh;
    f->held.last = &f->held.first;
    f->next = *slot;
    f->link = slot;
    if (f->next)
        f->next->link = &f->next;
    *slot = f;
    return f;
}

/* Whether a range is free of what is under way or fenced, and of those held before `r` (NULL: all held). */
static bool is_free(const struct order_file *f, const struct request *r, uint64_t start, uint64_t end)
{
    for (const struct order_entry *e = f->entries; e; e = e->next)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed are off the list, by their links */
        if (e->start < end && start < e->end)
            return false;
    for (const struct request *q = f->held.first; q && q != r; q = q->next) {
        uint64_t s, t;

        range_of(&q->call, &s, &t);
        if (s < end && start < t)
            return false;
    }
    return true;
}

static struct order_entry *entry_new(struct order_file *f, uint64_t start, uint64_t end)
{
    struct order_entry *e = calloc(1, sizeof *e);

    if (!e)
        return NULL;
    e->file = f;
    e->start = start;
    e->end = end;
    e->next = f->entries;
    e->link = &f->entries;
    if (e->next)
        e->next->link = &e->next;
    f->entries = e;
    return e;
}

static void hold(struct order_file *f, struct request *r)
{
    r->where = REQUEST_HELD;
    r->next = NULL;
    r->link = f->held.last;
    *f->held.last = r;
    f->held.last = &r->next;
}

static void unhold(struct order_file *f, struct request *r)
{
    r->where = REQUEST_FREE;
    *r->link = r->next;
    if (r->next)
        r->next->link = r->link;
    else
        f->held.last = r->link;
    r->link = NULL;
}

int order_enter(struct order *o, struct request *r)
{
    struct order_file *f = file_of(o, &r->call.fh);
    uint64_t start, end;

    if (!f)
        return -ENOMEM;
    range_of(&r->call, &start, &end);
    if (!is_free(f, NULL, start, end)) {
        hold(f, r);
        return 0;
    }
    r->order = entry_new(f, start, end);
    if (r->order)
        return 1;
    file_free_if_idle(f);
    return -ENOMEM;
}

/* Starts those held that nothing holds any more. Without memory for an entry one stays until the next chance. */
static void release(struct order *o, struct order_file *f)
{
    struct request *r = f->held.first, *next;

    for (; r; r = next) {
        uint64_t start, end;

        next = r->next;
        range_of(&r->call, &start, &end);
        if (!is_free(f, r, start, end) || !(r->order = entry_new(f, start, end)))
            continue;
        unhold(f, r);
        o->start(r);
    }
    file_free_if_idle(f);
}

void order_cancel(struct order *o, struct request *r)
{
    struct order_file *f = file_of(o, &r->call.fh);

    if (!f || !r->link)
        return;
    unhold(f, r);
    release(o, f);
}

void order_leave(struct order *o, struct order_entry *e)
{
    struct order_file *f;

    if (!e)
        return;
    f = e->file;
    entry_free(e);
    release(o, f);
}

static void expire(void *context)
{
    struct order *o = context;
    int64_t now = loop_clock(), next = INT64_MAX;

    for (int i = 0; i < ORDER_SLOTS; i++)
        for (struct order_file *f = o->slots[i], *next_file; f; f = next_file) {
            bool gone = false;

            next_file = f->next;
            for (struct order_entry *e = f->entries, *after; e; e = after) {
                after = e->next;
                if (!e->fence_until)
                    continue;
                if (e->fence_until <= now) {
                    entry_free(e);
                    o->n_fences--;
                    gone = true;
                } else if (e->fence_until < next) {
                    next = e->fence_until;
                }
            }
            if (gone)
                release(o, f);
        }
    if (o->n_fences)
        loop_timer_start(o->loop, &o->timer, next - now, expire, o);
}

void order_fence(struct order *o, const struct order_entry *entry)
{
    struct order_entry *e = entry_new(entry->file, entry->start, entry->end);

    if (!e) /* better to forget one than to hold back for ever */
        return;
    e->fence_until = loop_clock() + o->quarantine;
    o->n_fences++;
    if (!o->timer.active)
        loop_timer_start(o->loop, &o->timer, o->quarantine, expire, o);
}
