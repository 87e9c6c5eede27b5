#include "nfsbal/client/locks.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum { STEPS_MAX = 1000 }; /* of a search for a circle; a program that deadlocks in a larger one waits */

struct lock_entry {
    struct lock lock;
    TAILQ_ENTRY(lock_entry) link;
};

static void begin(struct lock_list *l)
{
    if (l->begun)
        return;
    TAILQ_INIT(&l->entries);
    TAILQ_INIT(&l->waits);
    l->begun = true;
}

static bool conflict(const struct lock *held, const struct lock *want)
{
    /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): those that were freed are off the list, by their links */
    return held->owner != want->owner && held->first <= want->last && want->first <= held->last &&
           (held->type == LOCK_EXCLUSIVE || want->type == LOCK_EXCLUSIVE);
}

const struct lock *locks_conflict(const struct lock_list *l, const struct lock *want)
{
    const struct lock_entry *e;

    if (!l->begun || want->type == LOCK_FREE)
        return NULL;
    TAILQ_FOREACH (e, &l->entries, link)
        if (conflict(&e->lock, want))
            return &e->lock;
    return NULL;
}

static void drop(struct lock_list *l, struct lock_entry *e)
{
    TAILQ_REMOVE(&l->entries, e, link);
    free(e);
}

/* Cuts the owner's locks out of [want->first, want->last]. `spare` becomes the upper part of one that is split. */
static void cut(struct lock_list *l, const struct lock *want, struct lock_entry **spare)
{
    struct lock_entry *e = TAILQ_FIRST(&l->entries), *next;

    for (; e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (e->lock.owner != want->owner || e->lock.first > want->last || e->lock.last < want->first)
            continue;
        if (e->lock.first >= want->first && e->lock.last <= want->last) {
            drop(l, e);
        } else if (e->lock.first < want->first && e->lock.last > want->last) {
            (*spare)->lock = e->lock;
            (*spare)->lock.first = want->last + 1;
            e->lock.last = want->first - 1;
            TAILQ_INSERT_AFTER(&l->entries, e, *spare, link);
            *spare = NULL;
            return;
        } else if (e->lock.first < want->first) {
            e->lock.last = want->first - 1;
        } else {
            e->lock.first = want->last + 1;
        }
    }
}

/* Joins what is the same in all but its range and touches, so that a file that is locked byte by byte has few entries. */
static void join(struct lock_list *l, struct lock_entry *e)
{
    struct lock_entry *other, *next;

    for (other = TAILQ_FIRST(&l->entries); other; other = next) {
        const struct lock *o = &other->lock;

        next = TAILQ_NEXT(other, link);
        if (other == e || o->owner != e->lock.owner || o->type != e->lock.type || o->file != e->lock.file)
            continue;
        if (o->last != UINT64_MAX && o->last + 1 == e->lock.first)
            e->lock.first = o->first;
        else if (e->lock.last != UINT64_MAX && e->lock.last + 1 == o->first)
            e->lock.last = o->last;
        else
            continue;
        drop(l, other);
    }
}

int locks_set(struct lock_list *l, const struct lock *want, bool whole)
{
    struct lock_entry *spare = malloc(sizeof *spare), *new = malloc(sizeof *new);
    const struct lock freed = {LOCK_FREE, want->first, want->last, want->owner, 0, NULL};
    int rc = 0;

    begin(l);
    if (!spare || !new) {
        rc = -ENOMEM;
    } else {
        if (whole)
            cut(l, &freed, &spare);
        if (locks_conflict(l, want)) {
            rc = -EAGAIN;
        } else {
            cut(l, &freed, &spare);
            if (want->type != LOCK_FREE) {
                new->lock = *want;
                TAILQ_INSERT_TAIL(&l->entries, new, link);
                join(l, new);
                new = NULL;
            }
        }
    }
    free(spare);
    free(new);
    return rc;
}

/* Whether `owner` waits, for a lock that one of those has whom it would wait for. */
static bool waits_for(const struct locks *all, uint64_t blocker, uint64_t owner, unsigned *steps)
{
    const struct lock_wait *w;
    const struct lock_entry *e;

    if (blocker == owner)
        return true;
    if ((*steps)++ > STEPS_MAX)
        return false;
    TAILQ_FOREACH (w, &all->waits, all)
        if (w->want.owner == blocker)
            TAILQ_FOREACH (e, &w->list->entries, link)
                if (conflict(&e->lock, &w->want) && waits_for(all, e->lock.owner, owner, steps))
                    return true;
    return false;
}

int locks_wait(struct locks *all, struct lock_list *l, struct lock_wait *w, const struct lock *want, bool deadlocks)
{
    const struct lock_entry *e;
    unsigned steps = 0;

    if (!all->begun) {
        TAILQ_INIT(&all->waits);
        all->begun = true;
    }
    begin(l);
    if (deadlocks)
        TAILQ_FOREACH (e, &l->entries, link)
            if (conflict(&e->lock, want) && waits_for(all, e->lock.owner, want->owner, &steps))
                return -EDEADLK;
    w->want = *want;
    w->list = l;
    TAILQ_INSERT_TAIL(&l->waits, w, link);
    TAILQ_INSERT_TAIL(&all->waits, w, all);
    return 0;
}

void locks_forget(struct locks *all, struct lock_wait *w)
{
    TAILQ_REMOVE(&w->list->waits, w, link);
    TAILQ_REMOVE(&all->waits, w, all);
    w->list = NULL;
}

/* `granted` may do anything to the list, so the search begins anew after it. */
void locks_grant(struct locks *all, struct lock_list *l)
{
    struct lock_wait *w;

    if (!l->begun)
        return;
again:
    TAILQ_FOREACH (w, &l->waits, link) {
        int rc = locks_set(l, &w->want, false);

        if (rc == -EAGAIN)
            continue;
        locks_forget(all, w);
        w->granted(w, rc);
        goto again;
    }
}

void locks_drop(struct locks *all, struct lock_list *l, uint64_t owner, const void *file)
{
    struct lock_entry *e, *next;
    bool any = false;

    if (!l->begun)
        return;
    for (e = TAILQ_FIRST(&l->entries); e; e = next) {
        next = TAILQ_NEXT(e, link);
        if (file ? e->lock.file != file : e->lock.owner != owner)
            continue;
        drop(l, e);
        any = true;
    }
    if (any)
        locks_grant(all, l);
}

void locks_free(struct lock_list *l)
{
    struct lock_entry *e;

    while (l->begun && (e = TAILQ_FIRST(&l->entries)) != NULL)
        drop(l, e); /* NOLINT(clang-analyzer-unix.Malloc): those before are off the list */
    l->begun = false;
}
