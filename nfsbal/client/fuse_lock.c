/* Locks: fcntl(2) and flock(2), kept here, for this host alone (locks.h).
 *
 * As with other NFS clients a lock is a point where data changes hands: before one is taken, changed or given back, what was written to
 * the file is on stable storage, and after one was taken, the next read or stat asks the server. So programs whose hosts
 * agree by other means who has a file (or that use the mount of one host) see each other's data without closing it.
 */
#include "nfsbal/client/fuse_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>

static struct lock_list *list_of(struct op *op) { return op->whole ? &op->node->flocks : &op->node->locks; }

static void answer_lock(struct op *op)
{
    struct fs *fs = op->fs;

    if (op->lock.type != LOCK_FREE) {
        attr_cache_expire(&op->node->attr);
        if (fs->mounted) /* attributes only, see fuse.c */
            fuse_lowlevel_notify_inval_inode(fs->session, op->node->id, -1, 0);
    }
    op_fail(op, 0);
}

static void granted(struct lock_wait *w, int error)
{
    struct op *op = (struct op *)(void *)((char *)w - offsetof(struct op, lock_wait));

    op->waits_for_lock = false;
    if (error)
        op_fail(op, -error);
    else
        answer_lock(op);
}

bool op_lock_interrupted(struct op *op)
{
    op->interrupted = true;
    if (!op->waits_for_lock)
        return false;
    op->waits_for_lock = false;
    locks_forget(&op->fs->locks, &op->lock_wait);
    op_fail(op, EINTR);
    return true;
}

/* Nothing is unwritten. An error of writing stays for the next write, fsync or close to tell; no lock is given over it. */
static void take_lock(struct op *op)
{
    struct lock_list *l = list_of(op);
    struct locks *all = &op->fs->locks;
    int rc = op->lock.type != LOCK_FREE ? op->node->wb.error : 0;

    if (rc == 0)
        rc = locks_set(l, &op->lock, op->whole);
    if (rc == -EAGAIN && op->sleeps) {
        op->lock_wait.granted = granted;
        rc = op->interrupted ? -EINTR : locks_wait(all, l, &op->lock_wait, &op->lock, !op->whole);
        if (rc == 0) {
            op->waits_for_lock = true;
            return;
        }
    }
    if (rc == 0)
        answer_lock(op);
    else
        op_fail(op, -rc);
}

/* Others may have been waiting for what was given back or made smaller. The node outlives the request. */
static void change_lock(struct op *op)
{
    struct fs *fs = op->fs;
    struct node *n = op->node;
    struct lock_list *l = list_of(op);

    node_hold(n);
    take_lock(op);
    locks_grant(&fs->locks, l);
    node_drop(fs, n);
}

static void is_written(struct op *op)
{
    op->waited = change_lock;
    op_wait_stable(op);
}

static void begin(struct op *op)
{
    op->locking = true;
    op->waited = is_written;
    if (op_wait_written(op, 0, UINT64_MAX, true))
        is_written(op);
}

/* A range as fcntl has it; false: none. */
static bool take_range(struct op *op, const struct flock *lock)
{
    op->lock.type = lock->l_type == F_RDLCK ? LOCK_SHARED : lock->l_type == F_WRLCK ? LOCK_EXCLUSIVE : LOCK_FREE;
    op->lock.first = (uint64_t)lock->l_start;
    op->lock.last = lock->l_len > 0 ? op->lock.first + (uint64_t)lock->l_len - 1 : UINT64_MAX;
    op->lock.pid = (uint32_t)lock->l_pid;
    return lock->l_start >= 0 && lock->l_len >= 0;
}

void fs_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleeps)
{
    struct op *op = op_new(req, ino);

    if (!op)
        return;
    if (!take_range(op, lock)) {
        op_fail(op, EINVAL);
        return;
    }
    op->lock.owner = fi->lock_owner;
    op->lock.file = (const struct file *)(uintptr_t)fi->fh;
    op->sleeps = sleeps != 0;
    begin(op);
}

void fs_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock)
{
    struct op *op = op_new(req, ino);
    const struct lock *held;
    struct flock answer = *lock;

    if (!op)
        return;
    if (!take_range(op, lock)) {
        op_fail(op, EINVAL);
        return;
    }
    op->lock.owner = fi->lock_owner;
    held = locks_conflict(&op->node->locks, &op->lock);
    answer.l_type = F_UNLCK;
    if (held)
        answer = (struct flock){.l_type = held->type == LOCK_EXCLUSIVE ? F_WRLCK : F_RDLCK,
                                .l_whence = SEEK_SET,
                                .l_start = (off_t)held->first,
                                .l_len = held->last > INT64_MAX ? 0 : (off_t)(held->last - held->first + 1),
                                .l_pid = (pid_t)held->pid};
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    fuse_reply_lock(req, &answer);
}

void fs_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int what)
{
    struct op *op = op_new(req, ino);

    if (!op)
        return;
    op->lock = (struct lock){.type = (what & LOCK_EX)   ? LOCK_EXCLUSIVE
                                     : (what & LOCK_SH) ? LOCK_SHARED
                                                        : LOCK_FREE,
                             .last = UINT64_MAX,
                             .owner = fi->lock_owner,
                             .file = (const struct file *)(uintptr_t)fi->fh};
    op->whole = true;
    op->sleeps = !(what & LOCK_NB);
    begin(op);
}

void node_unlock(struct fs *fs, struct node *n, uint64_t owner) { locks_drop(&fs->locks, &n->locks, owner, NULL); }

void node_unlock_file(struct fs *fs, struct node *n, const struct file *f)
{
    locks_drop(&fs->locks, &n->locks, 0, f);
    locks_drop(&fs->locks, &n->flocks, 0, f);
}
