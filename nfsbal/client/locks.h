/* Advisory locks of one file system's files: ranges of bytes (fcntl) or all of a file (flock), as POSIX and flock(2) have them. No
 * I/O and no clock inside.
 *
 * A lock belongs to an owner, a number that the kernel makes up: a process for fcntl's, an open file for flock's and for fcntl's
 * "open file description" locks. It also remembers the open file it was taken through, for the kernel says nothing about
 * the last kind when that is closed.
 */
#ifndef NFSBAL_CLIENT_LOCKS_H
#define NFSBAL_CLIENT_LOCKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum lock_type { LOCK_FREE, LOCK_SHARED, LOCK_EXCLUSIVE };

struct lock {
    enum lock_type type;
    uint64_t first, last; /* bytes; to the end of any file: UINT64_MAX */
    uint64_t owner;
    uint32_t pid;     /* for who asks */
    const void *file; /* it was taken through */
};

/* One file's locks of one kind, all zero at first. Fcntl's and flock's don't see each other. */
struct lock_entry;
struct lock_wait;
struct lock_list {
    TAILQ_HEAD(lock_entries, lock_entry) entries;
    TAILQ_HEAD(lock_waits, lock_wait) waits; /* first come, first served where they conflict */
    bool begun;
};

/* Who waits for a lock; embedded by the caller, who must not free it before `granted`, or locks_forget(). */
struct lock_wait {
    void (*granted)(struct lock_wait *w, int error); /* 0 or -ENOMEM; from within a call of this module */
    struct lock want;                                /* private from here on */
    struct lock_list *list;
    TAILQ_ENTRY(lock_wait) link, all;
};

/* All who wait, to find those who wait for each other. All zero at first. */
struct locks {
    TAILQ_HEAD(lock_all, lock_wait) waits;
    bool begun;
};

/* A lock of another owner that `want` can't stand beside, or NULL. */
const struct lock *locks_conflict(const struct lock_list *l, const struct lock *want);

/* Sets, changes or, with LOCK_FREE, gives back. `whole`: flock's rule, by which a lock that is changed is given up first. 0; -EAGAIN
 * where it conflicts; -ENOMEM, then nothing has changed. */
int locks_set(struct lock_list *l, const struct lock *want, bool whole);

/* Waits for it after locks_set() said -EAGAIN. `deadlocks`: fcntl's rule, -EDEADLK when its owner would wait for itself. 0. */
int locks_wait(struct locks *all, struct lock_list *l, struct lock_wait *w, const struct lock *want, bool deadlocks);
void locks_forget(struct locks *all, struct lock_wait *w); /* it no longer waits */

/* Grants what can be granted now. Call after anything was given back. */
void locks_grant(struct locks *all, struct lock_list *l);

/* Gives back all of an owner's (`file` NULL), or all that were taken through an open file. */
void locks_drop(struct locks *all, struct lock_list *l, uint64_t owner, const void *file);
void locks_free(struct lock_list *l); /* those who wait are forgotten */

#endif
