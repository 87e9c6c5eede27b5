/* Attributes, permission, symbolic links, the file system's size. */
#include "nfsbal/client/fuse_private.h"

#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void answer_attr(struct op *op)
{
    struct stat st;
    double timeout;
    fuse_req_t req = op->req;

    node_stat(op->node, &st, &timeout);
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    fuse_reply_attr(req, &st, timeout);
}

static void got(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
        return;
    }
    node_take(op->fs, op->node, result->attr, op->sent);
    answer_attr(op);
}

/* The kernel has a cache of its own and asks when that won't do, for reasons that we may not know (another of a file's names was
 * unlinked), so the server is asked. */
static void get(struct op *op)
{
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh};
    op_send(op, NFS3_GETATTR, got);
}

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);

    (void)fi;
    if (!op)
        return;
    op->waited = get;
    if (op_wait_written(op, 0, UINT64_MAX, false))
        get(op);
}

static void set_done(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->status != NFS3_SUCCESS) {
        attr_cache_expire(&op->node->attr);
        op_fail_status(op, result->status);
        return;
    }
    if (result->attr) {
        node_take(op->fs, op->node, result->attr, op->sent);
        answer_attr(op);
        return;
    }
    attr_cache_expire(&op->node->attr);
    get(op);
}

/* WRITEs that come after it would change size and times again, so they have all been answered. */
static void set(struct op *op)
{
    if (op->attr.set_size && op->node->stable)
        stable_truncate(op->node->stable, op->attr.size);
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .attr = op->attr};
    op_send(op, NFS3_SETATTR, set_done);
}

static struct nfs3_time to_nfs(const struct timespec *t)
{
    return (struct nfs3_time){(uint32_t)t->tv_sec, (uint32_t)t->tv_nsec};
}

static struct nfs3_sattr to_set_of(const struct stat *st, int to_set)
{
    struct nfs3_sattr a = {.set_mode = (to_set & FUSE_SET_ATTR_MODE) != 0,
                           .set_uid = (to_set & FUSE_SET_ATTR_UID) != 0,
                           .set_gid = (to_set & FUSE_SET_ATTR_GID) != 0,
                           .set_size = (to_set & FUSE_SET_ATTR_SIZE) != 0,
                           .mode = st->st_mode & 07777,
                           .uid = st->st_uid,
                           .gid = st->st_gid,
                           .size = (uint64_t)st->st_size};

    if (to_set & FUSE_SET_ATTR_ATIME_NOW) {
        a.set_atime = NFS3_TIME_SERVER;
    } else if (to_set & FUSE_SET_ATTR_ATIME) {
        a.set_atime = NFS3_TIME_CLIENT;
        a.atime = to_nfs(&st->st_atim);
    }
    if (to_set & FUSE_SET_ATTR_MTIME_NOW) {
        a.set_mtime = NFS3_TIME_SERVER;
    } else if (to_set & FUSE_SET_ATTR_MTIME) {
        a.set_mtime = NFS3_TIME_CLIENT;
        a.mtime = to_nfs(&st->st_mtim);
    }
    return a;
}

void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int to_set, struct fuse_file_info *fi)
{
    struct op *op = op_new(req, ino);

    if (!op)
        return;
    if (fi && fi->fh) /* ftruncate: as who opened it */
        op->credential = ((const struct file *)(uintptr_t)fi->fh)->credential;
    op->attr = to_set_of(st, to_set);
    op->waited = set;
    if (op_wait_written(op, 0, UINT64_MAX, true))
        set(op);
}

static void allowed(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->attr)
        node_take(op->fs, op->node, result->attr, op->sent);
    if (result->status != NFS3_SUCCESS)
        op_fail_status(op, result->status);
    else
        op_fail(op, (op->nfs.call.access & ~result->access) ? EACCES : 0);
}

void fs_access(fuse_req_t req, fuse_ino_t ino, int mask)
{
    struct op *op = op_new(req, ino);
    bool dir;
    uint32_t access = 0;

    if (!op)
        return;
    dir = op->node->attr.attr.type == NFS3_DIR;
    if (mask & R_OK)
        access |= NFS3_ACCESS_READ;
    if (mask & W_OK)
        access |= NFS3_ACCESS_MODIFY | NFS3_ACCESS_EXTEND;
    if (mask & X_OK)
        access |= dir ? NFS3_ACCESS_LOOKUP : NFS3_ACCESS_EXECUTE;
    if (!access) {
        op_fail(op, 0);
        return;
    }
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .access = access};
    op_send(op, NFS3_ACCESS, allowed);
}

static void read_link(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    fuse_req_t req = op->req;

    if (result->attr)
        node_take(op->fs, op->node, result->attr, op->sent);
    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
        return;
    }
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    fuse_reply_readlink(req, result->target);
}

void fs_readlink(fuse_req_t req, fuse_ino_t ino)
{
    struct op *op = op_new(req, ino);

    if (!op)
        return;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh};
    op_send(op, NFS3_READLINK, read_link);
}

static void got_size(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    const struct nfs3_fsstat *s = result->fsstat;
    enum { BLOCK = 4096 };
    struct statvfs v;
    fuse_req_t req = op->req;

    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
        return;
    }
    v = (struct statvfs){.f_bsize = BLOCK,
                         .f_frsize = BLOCK,
                         .f_blocks = s->tbytes / BLOCK,
                         .f_bfree = s->fbytes / BLOCK,
                         .f_bavail = s->abytes / BLOCK,
                         .f_files = s->tfiles,
                         .f_ffree = s->ffiles,
                         .f_favail = s->afiles,
                         .f_namemax = NFS3_NAME_MAX};
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    fuse_reply_statfs(req, &v);
}

void fs_statfs(fuse_req_t req, fuse_ino_t ino)
{
    struct op *op = op_new(req, ino ? ino : NODE_ROOT);

    if (!op)
        return;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh};
    op_send(op, NFS3_FSSTAT, got_size);
}
