/* Names: looking up, making, removing, renaming. */
#include "nfsbal/client/fuse_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void take_dir(struct op *op, struct node *dir, const struct nfs3_attr *attr)
{
    if (attr)
        node_take(op->fs, dir, attr, op->sent);
    else
        attr_cache_expire(&dir->attr);
}

/* Looking up. */

static void found(struct request *r, const struct nfs3_result *result);

/* Answers with an entry, and an open file when a file was created. */
static void answer_entry(struct op *op, struct node *dir, const struct nfs3_fh *fh, const struct nfs3_attr *attr)
{
    struct fuse_entry_param e;
    struct fs *fs = op->fs;
    struct node *n = node_entry(fs, dir, op->node == dir || !op->node2 ? op->name : op->name2, fh, attr, op->sent, &e);
    fuse_req_t req = op->req;
    int rc;

    if (!n) {
        op_fail(op, ENOMEM);
        return;
    }
    if (op->creates && !file_open(op, n, &op->credential, &op->open)) {
        n->lookups--;
        handles_release(&fs->handles, n);
        op_fail(op, ENOMEM);
        return;
    }
    fuse_req_interrupt_func(req, NULL, NULL);
    rc = op->creates ? fuse_reply_create(req, &e, &op->open) : fuse_reply_entry(req, &e);
    op->req = NULL;
    if (rc == -ENOENT) { /* interrupted: the kernel knows nothing of it */
        if (op->creates)
            file_close(fs, (struct file *)(uintptr_t)op->open.fh);
        n->lookups--;
        handles_release(&fs->handles, n);
    }
    op_free(op);
}

/* The server did it but gave no handle or attributes with its answer. */
static void look_up(struct op *op, struct node *dir, const char *name)
{
    op->nfs.call = (struct nfs3_call){.fh = dir->fh, .name = name};
    op_send(op, NFS3_LOOKUP, found);
}

static void got_attributes(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->status != NFS3_SUCCESS)
        op_fail_status(op, result->status);
    else
        answer_entry(op, op->node, &op->nfs.call.fh, result->attr);
}

static void found(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->dir)
        node_take(op->fs, op->node, result->dir, op->sent);
    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
    } else if (result->attr) {
        answer_entry(op, op->node, result->fh, result->attr);
    } else {
        op->nfs.call = (struct nfs3_call){.fh = *result->fh};
        op_send(op, NFS3_GETATTR, got_attributes);
    }
}

void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct op *op = op_new(req, parent);

    if (op && op_name(op, op->name, name))
        look_up(op, op->node, op->name);
}

static void forget(struct fs *fs, fuse_ino_t ino, uint64_t lookups)
{
    struct node *n = handles_find(&fs->handles, ino);

    if (!n)
        return;
    n->lookups -= lookups < n->lookups ? lookups : n->lookups;
    handles_release(&fs->handles, n);
}

void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups)
{
    forget(fs_of(req), ino, lookups);
    fuse_reply_none(req);
}

void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
    for (size_t i = 0; i < count; i++)
        forget(fs_of(req), forgets[i].ino, forgets[i].nlookup);
    fuse_reply_none(req);
}

/* Making. */

static void made(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    take_dir(op, op->node, result->dir);
    if (result->status != NFS3_SUCCESS)
        op_fail_status(op, result->status);
    else if (result->fh && result->attr)
        answer_entry(op, op->node, result->fh, result->attr);
    else
        look_up(op, op->node, op->name);
}

static struct op *begin(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
    struct op *op = op_new(req, parent);

    if (!op || !op_name(op, op->name, name))
        return NULL;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .name = op->name};
    op->nfs.call.attr = (struct nfs3_sattr){.set_mode = true, .mode = mode & 07777};
    return op;
}

void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode)
{
    struct op *op = begin(req, parent, name, mode);

    if (op)
        op_send(op, NFS3_MKDIR, made);
}

void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
    struct op *op = begin(req, parent, name, mode);

    if (!op)
        return;
    switch (mode & S_IFMT) {
    case S_IFREG:
        op->nfs.call.mode = NFS3_GUARDED;
        op_send(op, NFS3_CREATE, made);
        return;
    case S_IFBLK:
    case S_IFCHR:
        op->nfs.call.type = S_ISBLK(mode) ? NFS3_BLK : NFS3_CHR;
        op->nfs.call.major = major(device);
        op->nfs.call.minor = minor(device);
        break;
    case S_IFSOCK:
    case S_IFIFO:
        op->nfs.call.type = S_ISSOCK(mode) ? NFS3_SOCK : NFS3_FIFO;
        break;
    default:
        op_fail(op, EINVAL);
        return;
    }
    op_send(op, NFS3_MKNOD, made);
}

void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name)
{
    struct op *op = begin(req, parent, name, 0777);

    if (!op)
        return;
    if (strlen(target) > NFS3_PATH_MAX) {
        op_fail(op, ENAMETOOLONG);
        return;
    }
    op->target = strdup(target);
    if (!op->target) {
        op_fail(op, ENOMEM);
        return;
    }
    op->nfs.call.target = op->target;
    op_send(op, NFS3_SYMLINK, made);
}

static void linked(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    take_dir(op, op->node2, result->dir2 ? result->dir2 : result->dir);
    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
        return;
    }
    if (result->attr)
        node_take(op->fs, op->node, result->attr, op->sent);
    else
        attr_cache_expire(&op->node->attr);
    answer_entry(op, op->node2, &op->node->fh, &op->node->attr.attr);
}

void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name)
{
    struct op *op = op_new(req, ino);

    if (!op || !op_second(op, parent) || !op_name(op, op->name2, name))
        return;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .fh2 = op->node2->fh, .name2 = op->name2};
    op_send(op, NFS3_LINK, linked);
}

/* An exclusive create stores its verifier where the times go, and takes no mode: both are set now. */
static void adorned(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);

    if (result->status != NFS3_SUCCESS)
        op_fail_status(op, result->status);
    else if (result->attr)
        answer_entry(op, op->node, &op->nfs.call.fh, result->attr);
    else
        look_up(op, op->node, op->name);
}

static void created(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    struct nfs3_sattr attr = {
        .set_mode = true, .mode = op->attr.mode, .set_atime = NFS3_TIME_SERVER, .set_mtime = NFS3_TIME_SERVER};

    take_dir(op, op->node, result->dir);
    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
    } else if (op->nfs.call.mode == NFS3_EXCLUSIVE && result->fh) {
        op->nfs.call = (struct nfs3_call){.fh = *result->fh, .attr = attr};
        op_send(op, NFS3_SETATTR, adorned);
    } else if (result->fh && result->attr) {
        answer_entry(op, op->node, result->fh, result->attr);
    } else {
        look_up(op, op->node, op->name);
    }
}

void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi)
{
    struct op *op = begin(req, parent, name, mode);

    if (!op)
        return;
    op->creates = true;
    op->open = *fi;
    op->attr = op->nfs.call.attr;
    if (fi->flags & O_EXCL) {
        op->nfs.call.mode = NFS3_EXCLUSIVE;
        op->nfs.call.verifier = (uint64_t)loop_clock() ^ ((uint64_t)getpid() << 48) ^ (uintptr_t)op;
        op->nfs.call.attr = (struct nfs3_sattr){.set_mode = false};
    } else {
        op->nfs.call.mode = NFS3_UNCHECKED;
        op->nfs.call.attr.set_size = (fi->flags & O_TRUNC) != 0;
    }
    op_send(op, NFS3_CREATE, created);
}

/* Removing. A file that is open here must live on, and NFS 3 knows nothing of open files: it gets a name that nobody looks for
 * and is removed at the last close, as the kernel's client does it. */

static void lost_name(struct fs *fs, struct node *n)
{
    if (n->attr.attr.nlink <= 1 && n->opens == 0)
        n->gone = true;
    attr_cache_expire(&n->attr);
    handles_drop_name(&fs->handles, n);
}

static void removed(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    struct node *n = handles_named(&op->fs->handles, op->node->id, op->name);

    take_dir(op, op->node, result->dir);
    if (result->status == NFS3_SUCCESS && n)
        lost_name(op->fs, n);
    op_fail_status(op, result->status);
}

void node_remove_later(struct fs *fs, struct node *n)
{
    struct node *dir = handles_get(&fs->handles, &n->removed_from);
    struct op *op = dir ? op_errand(fs, dir, &n->removed_by) : NULL;

    n->removed = false;
    if (!op)
        return;
    memcpy(op->name, n->name, strlen(n->name) + 1);
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .name = op->name};
    op_send(op, NFS3_REMOVE, removed);
}

static void put_aside(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    struct node *n = handles_named(&op->fs->handles, op->node->id, op->name), *dir = op->node;

    if (result->status == NFS3_SUCCESS && n) {
        attr_cache_expire(&n->attr);
        handles_set_name(&op->fs->handles, n, dir->id, op->hidden);
        n->removed = n->name != NULL;
        n->removed_from = dir->fh;
        n->removed_by = op->credential;
        if (n->removed && n->opens == 0) /* closed meanwhile */
            node_remove_later(op->fs, n);
    }
    take_dir(op, dir, result->dir);
    op->aside(op, result->status);
}

/* Renames `node`/`name` out of the way if it is a file that is open here: true, and `then` is called with the outcome. `op`
 * waits with `node` as the directory and `name` as the name. */
static bool set_aside(struct op *op, void (*then)(struct op *op, enum nfs3_status status))
{
    struct node *n = handles_named(&op->fs->handles, op->node->id, op->name);

    if (!n || n->opens == 0 || n->removed)
        return false;
    snprintf(op->hidden, sizeof op->hidden, ".nfs%016llx%08llx", (unsigned long long)n->attr.attr.fileid,
             (unsigned long long)++op->fs->made_up);
    op->aside = then;
    op->nfs.fileid = n->attr.attr.fileid;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .name = op->name, .fh2 = op->node->fh, .name2 = op->hidden};
    op_send(op, NFS3_RENAME, put_aside);
    return true;
}

void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct op *op = op_new(req, parent);
    const struct node *n;

    if (!op || !op_name(op, op->name, name))
        return;
    n = handles_named(&op->fs->handles, parent, name);
    if (n && n->removed && n->opens > 0) {
        op_fail(op, EBUSY);
        return;
    }
    if (set_aside(op, op_fail_status))
        return;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .name = op->name};
    op_send(op, NFS3_REMOVE, removed);
}

void fs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name)
{
    struct op *op = op_new(req, parent);

    if (!op || !op_name(op, op->name, name))
        return;
    op->nfs.call = (struct nfs3_call){.fh = op->node->fh, .name = op->name};
    op_send(op, NFS3_RMDIR, removed);
}

/* Renaming. While it waits, node/name is the new place and node2/name2 the old one, for set_aside()'s sake. */

static void renamed(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    struct handles *h = &op->fs->handles;
    struct node *n = handles_named(h, op->node2->id, op->name2);

    take_dir(op, op->node2, result->dir);
    take_dir(op, op->node, result->dir2);
    if (result->status == NFS3_SUCCESS) {
        struct node *old = handles_named(h, op->node->id, op->name);

        if (old && old != n)
            lost_name(op->fs, old);
        if (n) {
            attr_cache_expire(&n->attr);
            handles_set_name(h, n, op->node->id, op->name);
        }
    }
    op_fail_status(op, result->status);
}

static void rename_now(struct op *op, enum nfs3_status status)
{
    const struct node *n = handles_named(&op->fs->handles, op->node2->id, op->name2);

    /* The target has gone by itself: all the better. */
    if (status != NFS3_SUCCESS && status != NFS3_ENOENT) {
        op_fail_status(op, status);
        return;
    }
    op->nfs.fileid = n ? n->attr.attr.fileid : 0;
    op->nfs.call = (struct nfs3_call){.fh = op->node2->fh, .name = op->name2, .fh2 = op->node->fh, .name2 = op->name};
    op_send(op, NFS3_RENAME, renamed);
}

void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
               unsigned flags)
{
    struct op *op = op_new(req, new_parent);
    const struct node *n, *over;

    if (!op || !op_second(op, parent) || !op_name(op, op->name, new_name) || !op_name(op, op->name2, name))
        return;
    if (flags) { /* RENAME_NOREPLACE, RENAME_EXCHANGE: NFS 3 has no such call */
        op_fail(op, EINVAL);
        return;
    }
    n = handles_named(&op->fs->handles, parent, name);
    over = handles_named(&op->fs->handles, new_parent, new_name);
    /* Two names of one file: the server leaves both, and nothing needs to be put aside. */
    if (n == over || !set_aside(op, rename_now))
        rename_now(op, NFS3_SUCCESS);
}
