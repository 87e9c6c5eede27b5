/* Requests under way, and the nodes that they hold. */
#include "nfsbal/client/fuse_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { IDLE_OPS = 256 }; /* kept for the next requests */

static struct op *allocate(struct fs *fs)
{
    struct op *op = TAILQ_FIRST(&fs->idle);

    if (op) {
        TAILQ_REMOVE(&fs->idle, op, link);
        fs->n_idle--;
    } else {
        op = malloc(sizeof *op);
    }
    if (!op)
        return NULL;
    memset(op, 0, sizeof *op);
    op->fs = fs;
    TAILQ_INSERT_TAIL(&fs->ops, op, link);
    fs->n_ops++;
    return op;
}

/* The groups of a process are asked of /proc, which costs as much as the rest of a request; most come from few processes. They
 * are believed for a second. */
static void get_groups(struct fs *fs, fuse_req_t req, const struct fuse_ctx *ctx, struct nfs3_credential *c)
{
    struct fs_groups *g = &fs->groups[(unsigned)ctx->pid % FS_GROUPS];
    int64_t now = loop_clock();

    if (g->pid != ctx->pid || g->uid != ctx->uid || g->gid != ctx->gid || now - g->at > NS_PER_S) {
        gid_t list[NFS3_GROUPS_MAX];
        int n = ctx->pid ? fuse_req_getgroups(req, NFS3_GROUPS_MAX, list) : 0;

        *g = (struct fs_groups){.pid = ctx->pid, .uid = ctx->uid, .gid = ctx->gid, .at = now};
        for (int i = 0; i < n && i < NFS3_GROUPS_MAX; i++)
            g->list[g->n++] = list[i];
    }
    c->n_groups = g->n;
    memcpy(c->groups, g->list, g->n * sizeof g->list[0]);
}

static void get_credential(struct fs *fs, fuse_req_t req, struct nfs3_credential *c)
{
    const struct fuse_ctx *ctx = fuse_req_ctx(req);

    c->uid = ctx->uid;
    c->gid = ctx->gid;
    if (fs->options->uid < 0 && fs->options->gid < 0) {
        get_groups(fs, req, ctx, c);
        return;
    }
    if (fs->options->uid >= 0)
        c->uid = (uint32_t)fs->options->uid;
    if (fs->options->gid >= 0)
        c->gid = (uint32_t)fs->options->gid;
}

/* A signal that kills the process (nothing else) ends its request; the server may or may not have done it. */
static bool is_killed(pid_t pid)
{
    char path[64], line[128];
    FILE *f;
    bool killed = false;

    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    f = fopen(path, "re");
    if (!f)
        return errno == ENOENT;
    while (fgets(line, sizeof line, f)) {
        unsigned long long pending;

        /* NOLINTNEXTLINE(cert-err34-c): the kernel's own numbers */
        if ((sscanf(line, "SigPnd: %llx", &pending) == 1 || sscanf(line, "ShdPnd: %llx", &pending) == 1) &&
            (pending & (1ULL << 8)))
            killed = true;
    }
    fclose(f);
    return killed;
}

static void after_interrupt(void *context)
{
    struct op *op = context;
    fuse_req_t req = op->req;

    if (!req)
        return;
    if (op->locking && op_lock_interrupted(op))
        return;
    if (!is_killed(fuse_req_ctx(req)->pid))
        return;
    if (op->submitted) {
        paths_forget(&op->nfs);
        op->submitted = false;
        op_fail(op, EINTR);
    } else if (op->starves) {
        op_starves(op, false);
        op_fail(op, EINTR);
    } else { /* waits for what is unwritten */
        op->orphan = true;
        op->req = NULL;
        fuse_req_interrupt_func(req, NULL, NULL);
        fuse_reply_err(req, EINTR);
    }
}

/* Libfuse holds the request's lock, which answering it takes. */
static void interrupted(fuse_req_t req, void *data)
{
    struct op *op = data;

    (void)req;
    loop_task_queue(op->fs->loop, &op->interrupt, after_interrupt, op);
}

struct op *op_new(fuse_req_t req, fuse_ino_t ino)
{
    struct fs *fs = fs_of(req);
    struct node *n = handles_find(&fs->handles, ino);
    struct op *op = n ? allocate(fs) : NULL;

    fs->requests++;
    if (!op) {
        fuse_reply_err(req, n ? ENOMEM : ESTALE);
        return NULL;
    }
    op->req = req;
    op->node = n;
    node_hold(n);
    get_credential(fs, req, &op->credential);
    fuse_req_interrupt_func(req, interrupted, op);
    return op;
}

struct op *op_errand(struct fs *fs, struct node *node, const struct nfs3_credential *credential)
{
    struct op *op = allocate(fs);

    if (!op)
        return NULL;
    op->credential = *credential;
    op->node = node;
    node_hold(node);
    return op;
}

bool op_second(struct op *op, fuse_ino_t ino)
{
    op->node2 = handles_find(&op->fs->handles, ino);
    if (!op->node2) {
        op_fail(op, ESTALE);
        return false;
    }
    node_hold(op->node2);
    return true;
}

bool op_name(struct op *op, char *to, const char *name)
{
    size_t n = strlen(name);

    if (n > NFS3_NAME_MAX) {
        op_fail(op, ENAMETOOLONG);
        return false;
    }
    memcpy(to, name, n + 1);
    return true;
}

void op_send(struct op *op, enum nfs3_procedure procedure, request_done *done)
{
    struct nfs3_call call = op->nfs.call;
    uint64_t fileid = op->nfs.fileid;

    call.procedure = procedure;
    call.credential = &op->credential;
    op->nfs = (struct request){.call = call, .done = done, .arg = op, .want = REQUEST_ANY_PATH, .fileid = fileid};
    op->submitted = true;
    op->sent = loop_clock();
    paths_submit(op->fs->paths, &op->nfs);
}

struct op *op_answer(struct request *r)
{
    struct op *op = r->arg;

    op->submitted = false;
    return op;
}

void op_free(struct op *op)
{
    struct fs *fs = op->fs;

    if (op->req)
        fuse_req_interrupt_func(op->req, NULL, NULL);
    loop_task_cancel(&op->interrupt);
    TAILQ_REMOVE(&fs->ops, op, link);
    fs->n_ops--;
    free(op->target);
    free(op->data);
    if (op->node)
        node_drop(fs, op->node);
    if (op->node2)
        node_drop(fs, op->node2);
    if (fs->n_idle < IDLE_OPS) {
        TAILQ_INSERT_HEAD(&fs->idle, op, link);
        fs->n_idle++;
    } else {
        free(op);
    }
    if (fs->ending && fs->n_ops == 0)
        loop_task_queue(fs->loop, &fs->end, fs_ended, fs);
}

/* The request's memory is libfuse's until it is answered, so the interrupt's handler goes first. */
void op_fail(struct op *op, int error)
{
    fuse_req_t req = op->req;

    if (req)
        fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    if (req)
        fuse_reply_err(req, error);
}

void op_fail_status(struct op *op, enum nfs3_status status) { op_fail(op, nfs3_status_errno(status)); }

static void written(struct wb_wait *w)
{
    struct op *op = (struct op *)(void *)((char *)w - offsetof(struct op, wait));

    if (op->orphan)
        op_free(op);
    else
        op->waited(op);
}

bool op_wait_written(struct op *op, uint64_t offset, uint64_t end, bool sync)
{
    struct fs *fs = op->fs;

    op->wait.done = written;
    return wb_wait(&fs->wb, &op->node->wb, &op->wait, offset, end, sync, loop_clock());
}

static void stable_now(void *arg, int error, const struct nfs3_attr *attr)
{
    struct op *op = arg;

    if (error)
        wb_set_error(&op->node->wb, -error);
    if (attr)
        node_take(op->fs, op->node, attr, op->sent);
    if (op->orphan)
        op_free(op);
    else
        op->waited(op);
}

void op_wait_stable(struct op *op)
{
    struct node *n = op->node;
    int rc = 0;

    if (n->stable) {
        op->sent = loop_clock();
        rc = stable_sync(n->stable, stable_now, op);
        if (rc == 0)
            return;
    }
    if (rc)
        wb_set_error(&n->wb, rc);
    op->waited(op);
}

/* Nodes. */

void node_hold(struct node *n) { n->holds++; }

void node_drop(struct fs *fs, struct node *n)
{
    n->holds--;
    handles_release(&fs->handles, n);
}

bool node_writable(struct fs *fs, struct node *n, const struct nfs3_credential *credential)
{
    if (n->stable)
        return true;
    n->stable = stable_open(fs->stable, &n->fh, credential);
    if (n->stable)
        node_hold(n);
    return n->stable != NULL;
}

static void rested(struct op *op)
{
    struct node *n = op->node;

    n->closing = false;
    if (n->stable && n->opens == 0 && !n->wb.listed) {
        stable_close(n->stable);
        n->stable = NULL;
        node_drop(op->fs, n);
    }
    op_free(op);
}

void node_rest(struct fs *fs, struct node *n)
{
    struct nfs3_credential nobody = {.uid = 0};
    struct op *op;

    if (!n->stable || n->closing || n->opens > 0 || n->wb.listed)
        return;
    if (stable_file_kept(n->stable) > 0 && (op = op_errand(fs, n, &nobody)) != NULL) {
        n->closing = true;
        op->waited = rested;
        op_wait_stable(op);
        return;
    }
    stable_close(n->stable);
    n->stable = NULL;
    node_drop(fs, n);
}

/* The kernel drops a file whose type has changed and looks it up again; the root it drops for good, so that is not believed. */
void node_take(struct fs *fs, struct node *n, const struct nfs3_attr *attr, int64_t sent)
{
    if (n->id == NODE_ROOT && attr->type != NFS3_DIR)
        return;
    attr_cache_take(&n->attr, attr, attr->type == NFS3_DIR ? &fs->directory : &fs->regular, sent, loop_clock());
}

static mode_t type_bits(enum nfs3_type type)
{
    static const mode_t bits[] = {0, S_IFREG, S_IFDIR, S_IFBLK, S_IFCHR, S_IFLNK, S_IFSOCK, S_IFIFO};

    return (unsigned)type < sizeof bits / sizeof bits[0] ? bits[type] : 0;
}

void attr_to_stat(const struct nfs3_attr *a, struct stat *st)
{
    enum { BLOCK = 128 * 1024 }; /* what programs take for the best size of a write */

    *st = (struct stat){.st_ino = a->fileid,
                        .st_mode = type_bits(a->type) | (a->mode & 07777),
                        .st_nlink = a->nlink,
                        .st_uid = a->uid,
                        .st_gid = a->gid,
                        .st_rdev = makedev(a->major, a->minor),
                        .st_size = (off_t)a->size,
                        .st_blksize = BLOCK,
                        .st_blocks = (blkcnt_t)(a->used / 512 + (a->used % 512 != 0)),
                        .st_atim = {a->atime.seconds, a->atime.nanoseconds},
                        .st_mtim = {a->mtime.seconds, a->mtime.nanoseconds},
                        .st_ctim = {a->ctime.seconds, a->ctime.nanoseconds}};
}

void node_stat(const struct node *n, struct stat *st, double *timeout)
{
    uint64_t end = wb_end(&n->wb);

    attr_to_stat(&n->attr.attr, st);
    *timeout = (double)attr_cache_left(&n->attr, loop_clock()) / 1e9;
    if (!n->wb.listed)
        return;
    *timeout = 0; /* the server doesn't know yet */
    if (end > n->attr.attr.size)
        st->st_size = (off_t)end;
}

struct node *node_entry(struct fs *fs, struct node *dir, const char *name, const struct nfs3_fh *fh,
                        const struct nfs3_attr *attr, int64_t sent, struct fuse_entry_param *e)
{
    struct node *n = handles_get(&fs->handles, fh);

    if (!n)
        return NULL;
    node_take(fs, n, attr, sent);
    handles_set_name(&fs->handles, n, dir->id, name);
    n->lookups++;
    *e = (struct fuse_entry_param){.ino = n->id, .generation = 1};
    node_stat(n, &e->attr, &e->attr_timeout);
    e->entry_timeout = (double)fs->regular.min / 1e9;
    return n;
}
