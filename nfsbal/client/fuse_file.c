#define _GNU_SOURCE /* O_DIRECT */
/* Open files: their data.
 *
 * A write is copied into memory and answered at once (writeback.h), or answered when the server has: with cache=none, O_DIRECT
 * and O_APPEND, where the place in the file is the server's to say. Close and fsync bring everything to stable storage
 * (stable.h). A read waits for what is unwritten in its range and then asks the server; what may be remembered between reads,
 * the kernel's page cache remembers, and each open compares the file's times and size and has it forget when they changed.
 */
#include "nfsbal/client/fuse_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/* Opening. */

bool file_open(struct op *op, struct node *n, const struct nfs3_credential *credential, struct fuse_file_info *fi)
{
    struct fs *fs = op->fs;
    struct file *f = calloc(1, sizeof *f);
    const struct nfs3_attr *a = &n->attr.attr;
    bool same;

    if (!f)
        return false;
    f->node = n;
    f->credential = *credential;
    f->flags = fi->flags;
    f->through = fs->options->cache == MOUNT_CACHE_NONE || (fi->flags & (O_DIRECT | O_APPEND)) != 0;
    TAILQ_INSERT_TAIL(&fs->files, f, link);
    n->opens++;
    node_hold(n);
    fs->open_files++;
    same = n->shown && n->shown_size == a->size && nfs3_time_compare(&n->shown_mtime, &a->mtime) == 0 &&
           nfs3_time_compare(&n->shown_ctime, &a->ctime) == 0;
    fi->keep_cache = same;
    fi->direct_io = f->through;
    fi->fh = (uintptr_t)f;
    n->shown = true;
    n->shown_size = a->size;
    n->shown_mtime = a->mtime;
    n->shown_ctime = a->ctime;
    /* The kernel may believe a size for some seconds yet; this makes it ask. Attributes only: pages could be locked by a read
     * that waits for us. */
    if (!same && fs->mounted)
        fuse_lowlevel_notify_inval_inode(fs->session, n->id, -1, 0);
    return true;
}

void file_close(struct fs *fs, struct file *f)
{
    struct node *n = f->node;

    fs->open_files--;
    node_unlock_file(fs, n, f);
    TAILQ_REMOVE(&fs->files, f, link);
    free(f);
    if (--n->opens == 0) {
        if (n->removed)
            node_remove_later(fs, n);
        node_rest(fs, n);
    }
    node_drop(fs, n);
}

void files_free(struct fs *fs)
{
    for (struct file *f; (f = TAILQ_FIRST(&fs->files)) != NULL;) {
        TAILQ_REMOVE(&fs->files, f, link);
        free(f);
    }
}

static void answer_open(struct op *op)
{
    struct fuse_file_info fi = op->open;
    struct fs *fs = op->fs;
    fuse_req_t req = op->req;

    if (!file_open(op, op->node, &op->credential, &fi)) {
        op_fail(op, ENOMEM);
        return;
    }
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    if (fuse_reply_open(req, &fi) == -ENOENT) /* interrupted: there will be no release */
        file_close(fs, (struct file *)(uintptr_t)fi.fh);
    op_free(op);
}

/* ACCESS says whether the user may, before unwritten data turns out to be unwelcome, and brings fresh attributes as well. */
static void may_open(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    bool executes = (op->open.flags & O_ACCMODE) == O_RDONLY && (result->access & NFS3_ACCESS_EXECUTE);

    if (result->attr)
        node_take(op->fs, op->node, result->attr, op->sent);
    if (result->status != NFS3_SUCCESS)
        op_fail_status(op, result->status);
    else if (result->attr &&
             result->attr->nlink == 0) /* removed elsewhere, kept open: the kernel looks the name up again */
        op_fail(op, ESTALE);
    else if ((op->nfs.call.access & ~NFS3_ACCESS_EXECUTE & ~result->access) && !executes)
        op_fail(op, EACCES);
    else
        answer_open(op);
}

static void ask_to_open(struct op *op)
{
    static const uint32_t access[] = {[O_RDONLY] = NFS3_ACCESS_READ | NFS3_ACCESS_EXECUTE,
                                      [O_WRONLY] = NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND,
                                      [O_RDWR] = NFS3_ACCESS_READ | NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND,
                                      [O_ACCMODE] = NFS3_ACCESS_READ};

    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .access = access[op->open.flags & O_ACCMODE]};
    op_send(op, NFS3_ACCESS, may_open);
}

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);

    if (!op)
        return;
    op->open = *fi;
    op->waited = ask_to_open;
    /* What another program of this host has written shows in the attributes only when the server has it. */
    if (op_wait_written(op, 0, UINT64_MAX, false))
        ask_to_open(op);
}

void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    file_close(fs_of(req), (struct file *)(uintptr_t)fi->fh);
    fuse_reply_err(req, 0);
}

/* Reading. */

enum { DENIALS_MAX = 4 };

static void answer_read(struct op *op, const void *bytes, size_t n)
{
    fuse_req_t req = op->req;
    struct fs *fs = op->fs;

    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    fs->read_bytes += n;
    fuse_reply_buf(req, bytes, n);
    op_free(op);
}

static void have_read(struct request *r, const struct nfs3_result *result);

static void ask_to_read(struct op *op)
{
    uint32_t left = op->size - op->done;

    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .offset = op->offset + op->done, .count = left};
    if (op->nfs.call.count > op->fs->read_max)
        op->nfs.call.count = op->fs->read_max;
    op_send(op, NFS3_READ, have_read);
}

/* The end of the file, or nothing, from before where its size says that it ends: it has grown meanwhile, or the answer is wrong.
 * Zeros for what is there would stay in the kernel's pages. */
static bool denies_itself(const struct op *op, const struct nfs3_result *result)
{
    uint32_t got = op->done + result->count;

    return result->attr && got < op->size && op->offset + got < result->attr->size;
}

static void have_read(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    bool last;

    if (result->attr)
        node_take(op->fs, op->node, result->attr, op->sent);
    if (result->status != NFS3_SUCCESS) {
        if (op->done > 0)
            answer_read(op, op->data, op->done);
        else
            op_fail_status(op, result->status);
        return;
    }
    last = result->eof || result->count == 0 || op->done + result->count >= op->size;
    if (last && denies_itself(op, result)) {
        if (++op->denials < DENIALS_MAX)
            ask_to_read(op);
        else
            op_fail(op, EIO);
        return;
    }
    if (last && op->done == 0) { /* nearly always */
        answer_read(op, result->data, result->count);
        return;
    }
    if (!op->data && !(op->data = malloc(op->size))) {
        op_fail(op, ENOMEM);
        return;
    }
    memcpy(op->data + op->done, result->data, result->count);
    op->done += result->count;
    if (last)
        answer_read(op, op->data, op->done);
    else
        ask_to_read(op);
}

void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);
    const struct file *f = (const struct file *)(uintptr_t)fi->fh;

    if (!op)
        return;
    op->credential = f->credential;
    op->offset = (uint64_t)offset;
    op->size = (uint32_t)size;
    op->waited = ask_to_read;
    if (wb_clean(&op->node->wb, op->offset, op->offset + op->size) ||
        op_wait_written(op, op->offset, op->offset + op->size, false))
        ask_to_read(op);
}

/* Writing. */

static void answer_write(struct op *op)
{
    struct fs *fs = op->fs;
    fuse_req_t req = op->req;
    size_t n = op->size;

    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    fs->written_bytes += n;
    op_free(op);
    fuse_reply_write(req, n);
}

static void written_through(struct op *op)
{
    int error = wb_take_error(&op->node->wb);

    if (error)
        op_fail(op, -error);
    else
        answer_write(op);
}

/* Puts the bytes into memory. False: no room, nothing was done. */
static bool store(struct op *op)
{
    struct fs *fs = op->fs;
    struct node *n = op->node;
    bool sync = fs->options->sync || (op->file->flags & (O_SYNC | O_DSYNC)), was_idle = !n->wb.listed;
    unsigned flags = op->through || sync ? WB_NOW : 0;
    int rc;

    if (sync)
        flags |= WB_SYNC;
    if (!node_writable(fs, n, &op->file->credential)) {
        op_fail(op, ENOMEM);
        return true;
    }
    if (was_idle)
        node_hold(n); /* until fs_idle() */
    rc = wb_write(&fs->wb, &n->wb, op->offset, op->bytes, op->size, flags, loop_clock());
    if (was_idle && !n->wb.listed)
        node_drop(fs, n);
    if (rc == -EAGAIN)
        return false;
    attr_cache_expire(&n->attr);
    if (rc != 0) {
        op_fail(op, -rc);
        return true;
    }
    op->waited = written_through;
    if (!op->through && !sync)
        answer_write(op);
    else if (op_wait_written(op, op->offset, op->offset + op->size, false))
        written_through(op);
    return true;
}

static void go_on(void *context);

/* Not at once: the memory may come from amidst another file system's work, or from our own. */
static void room_soon(void *context)
{
    struct fs *fs = context;

    loop_task_queue(fs->loop, &fs->go_on, go_on, fs);
}

/* Writes that found no memory wait in the order of their arrival, with the message that they came in. */
void op_starves(struct op *op, bool yes)
{
    struct fs *fs = op->fs;

    op->starves = yes;
    if (yes) {
        TAILQ_INSERT_TAIL(&fs->starving, op, starving);
        fs->n_starving++;
    } else {
        TAILQ_REMOVE(&fs->starving, op, starving);
        fs->n_starving--;
    }
}

static void starve(struct op *op)
{
    struct fs *fs = op->fs;

    if (!op->data) {
        op->data = fs->message.mem;
        fs->message.mem = NULL;
    }
    op_starves(op, true);
    if (fs->n_starving >= FS_STARVING_MAX)
        loop_io_stop(&fs->io);
    stable_press(fs->stable, true);
    pool_wait(fs->config.pool, &fs->room, room_soon, fs);
}

static void go_on(void *context)
{
    struct fs *fs = context;
    struct op *op;

    if (fs->forced) /* all are answered */
        return;
    while ((op = TAILQ_FIRST(&fs->starving)) != NULL) {
        op_starves(op, false);
        if (!store(op)) {
            op->starves = true;
            TAILQ_INSERT_HEAD(&fs->starving, op, starving);
            fs->n_starving++;
            pool_wait(fs->config.pool, &fs->room, room_soon, fs);
            break;
        }
    }
    stable_press(fs->stable, fs->n_starving > 0);
    if (fs->n_starving < FS_STARVING_MAX)
        fs_listen(fs);
    fs_arm(fs);
}

static void write_now(struct op *op)
{
    if (!TAILQ_EMPTY(&op->fs->starving) || !store(op))
        starve(op);
}

/* The end of the file is where the server says, once all of ours is there. */
static void have_size(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
        return;
    }
    node_take(op->fs, op->node, result->attr, op->sent);
    op->offset = result->attr->size;
    write_now(op);
}

static void ask_for_size(struct op *op)
{
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh};
    op_send(op, NFS3_GETATTR, have_size);
}

void fs_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);
    struct fs *fs = fs_of(req);
    int error;

    if (!op)
        return;
    op->file = (struct file *)(uintptr_t)fi->fh;
    op->credential = op->file->credential;
    op->through = op->file->through && !fi->writepage;
    op->offset = (uint64_t)offset;
    op->size = (uint32_t)size;
    op->bytes = (const uint8_t *)bytes;
    error = wb_take_error(&op->node->wb);
    if (error) {
        op_fail(op, -error);
        return;
    }
    if (!(op->file->flags & O_APPEND) || fi->writepage) {
        write_now(op);
        return;
    }
    op->data = fs->message.mem; /* `bytes` are in it, and it must live */
    fs->message.mem = NULL;
    op->waited = ask_for_size;
    if (op_wait_written(op, 0, UINT64_MAX, false))
        ask_for_size(op);
}

/* What write-behind asks for. */

static void extent_stable(void *arg, int error, const struct nfs3_attr *attr)
{
    struct extent *e = arg;
    struct node *n = node_of(e->file);
    struct fs *fs = n->fs;

    if (attr)
        node_take(fs, n, attr, e->sent);
    wb_written(&fs->wb, e, -error, loop_clock());
    fs_arm(fs);
}

void fs_failed(void *context)
{
    struct fs *fs = context;
    struct extent *e;

    while ((e = TAILQ_FIRST(&fs->unsent)) != NULL) {
        TAILQ_REMOVE(&fs->unsent, e, unsent);
        wb_written(&fs->wb, e, -ENOMEM, loop_clock());
    }
}

void fs_send_extent(void *context, struct extent *e)
{
    struct fs *fs = context;

    e->sent = loop_clock();
    if (stable_write(node_of(e->file)->stable, e->buffer, e->start, e->offset, e->size,
                     e->sync ? NFS3_FILE_SYNC : NFS3_UNSTABLE, extent_stable, e) == 0)
        return;
    TAILQ_INSERT_TAIL(&fs->unsent, e, unsent);
    loop_task_queue(fs->loop, &fs->failed, fs_failed, fs);
}

void fs_dropped(void *context, struct wb_file *f, uint64_t offset, uint32_t size, int error)
{
    struct fs *fs = context;
    const struct node *n = node_of(f);

    if (n->gone && error == -ESTALE) /* nobody can ever miss it */
        return;
    fs->dropped_bytes += size;
    fs_reportf(fs, "%s%s: %u bytes at %llu were not written: %s", n->name ? "" : "file ",
               n->name ? n->name : "without a name", size, (unsigned long long)offset, strerror(-error));
}

void fs_idle(void *context, struct wb_file *f)
{
    struct fs *fs = context;
    struct node *n = node_of(f);

    node_rest(fs, n);
    node_drop(fs, n);
}

/* Bringing it to the server. */

static void is_stable(struct op *op)
{
    int error = wb_take_error(&op->node->wb);

    if (op->closes)
        node_unlock(op->fs, op->node, op->lock.owner);
    op_fail(op, -error);
}

static void is_written(struct op *op)
{
    op->waited = is_stable;
    op_wait_stable(op);
}

static void flush(struct op *op)
{
    op->waited = is_written;
    if (op_wait_written(op, 0, UINT64_MAX, true))
        is_written(op);
}

void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);

    if (!op)
        return;
    op->closes = true;
    op->lock.owner = fi->lock_owner;
    if (op->fs->options->cache == MOUNT_CACHE_WRITE_BEHIND)
        is_stable(op);
    else
        flush(op);
}

void fs_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);

    (void)fi;
    (void)data_only;
    if (op)
        flush(op);
}
