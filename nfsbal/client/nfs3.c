/* Calls out over libnfs's raw interface, replies in.
 *
 * What libnfs 4.0.0 needs to be told or kept from, found by trying:
 * - rpc_set_fd() on a connected socket of ours is all it takes; rpc_service(POLLOUT) once makes it notice.
 * - It never reconnects by itself here. After a reset rpc_service() returns -1 and the callbacks come, with CANCEL, from
 *   rpc_destroy_context(); after FIN they come with ERROR before rpc_service() returns. Both are collected on `lost` and
 *   told only when the context is gone, so that a caller may send again elsewhere at once and nothing is sent twice here.
 * - A decoding error and a refusal by RPC come as ERROR too; their texts tell them apart.
 * - Credentials are encoded with the call, so rpc_set_auth() before a call is that call's.
 * nfs3_guard.c keeps its decoder within the record.
 */
#include "nfsbal/client/nfs3.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "nfsbal/client/nfs3_private.h"

#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

/* Since libnfs 6 a call returns its PDU, or NULL, and is spelled _task. */
#ifdef LIBNFS_API_V2
#define SEND(call, ...) (rpc_##call##_task(__VA_ARGS__) ? 0 : -1)
#else
#define SEND(call, ...) rpc_##call##_async(__VA_ARGS__)
#endif

struct nfs3 {
    struct rpc_context *rpc;
    int fd, error;
    struct nfs3_pending *out, *lost, **lost_end;
    size_t n_out;
    uint64_t out_bytes; /* of data, read or written */
    bool over, freeing;
    struct nfs3_credential credential, set; /* own; that libnfs has now */
    char host[64], problem[200];
    struct nfs3_scratch scratch;
};

/* libnfs's arguments are not const, its encoder only reads them. */
static char *unconst(const void *p) { return (char *)(uintptr_t)p; }

static bool set_credential(struct nfs3 *n, const struct nfs3_credential *c)
{
    struct AUTH *auth;

    if (n->set.n_groups == c->n_groups && n->set.uid == c->uid && n->set.gid == c->gid &&
        memcmp(n->set.groups, c->groups, c->n_groups * sizeof c->groups[0]) == 0)
        return true;
    n->set = *c;
    auth = libnfs_authunix_create(n->host, c->uid, c->gid, c->n_groups, n->set.groups);
    if (!auth)
        return false;
    rpc_set_auth(n->rpc, auth); /* which is the context's from here on, as the last one was */
    return true;
}

struct nfs3 *nfs3_new(int fd, const struct nfs3_credential *credential, uint32_t first_xid)
{
    struct nfs3 *n = calloc(1, sizeof *n);

    if (!n || !nfs3_guard_init())
        goto fail;
    n->rpc = rpc_init_context();
    if (!n->rpc)
        goto fail;
    n->fd = fd;
    n->lost_end = &n->lost;
    if (gethostname(n->host, sizeof n->host - 1))
        strcpy(n->host, "localhost");
    n->credential = *credential;
    n->set.n_groups = UINT32_MAX; /* equals none */
    rpc_set_next_xid(n->rpc, first_xid);
    rpc_set_fd(n->rpc, fd);
    if (set_credential(n, credential) && rpc_service(n->rpc, POLLOUT) == 0)
        return n;
    rpc_destroy_context(n->rpc); /* closes fd */
    free(n);
    return NULL;
fail:
    free(n);
    close(fd);
    return NULL;
}

static void pending_push(struct nfs3_pending **head, struct nfs3_pending *p)
{
    p->next = *head;
    p->link = head;
    if (*head)
        (*head)->link = &p->next;
    *head = p;
}

static void pending_unlink(struct nfs3_pending *p)
{
    *p->link = p->next;
    if (p->next)
        p->next->link = p->link;
}

static void pending_free(struct nfs3_pending *p)
{
    free(p->data_owned);
    free(p);
}

static void say(struct nfs3 *n, const char *text)
{
    if (!*n->problem && text) /* libnfs may have nothing to say */
        snprintf(n->problem, sizeof n->problem, "%s", text);
}

/* The text that comes with RPC_STATUS_ERROR, sorted. */
static enum nfs3_status failure(const char *text)
{
    if (!text)
        return NFS3_CONN_LOST;
    if (strncmp(text, "Server responded", 16) == 0 || strncmp(text, "RPC Packet not accepted", 23) == 0)
        return NFS3_REJECTED;
    return strncmp(text, "Message rejected", 16) == 0 ? NFS3_BAD_REPLY : NFS3_CONN_LOST;
}

static uint32_t data_bytes(const struct nfs3_pending *p)
{
    return p->procedure == NFS3_READ || p->procedure == NFS3_WRITE ? p->count : 0;
}

static void finish(struct nfs3 *n, struct nfs3_pending *p, struct nfs3_result *r)
{
    pending_unlink(p);
    n->n_out--;
    n->out_bytes -= data_bytes(p);
    p->done(p->arg, r);
    pending_free(p);
}

/* Every call of libnfs comes back here. */
static void replied(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    struct nfs3_pending *p = private_data;
    struct nfs3 *n = p->nfs3;
    struct nfs3_result r = {.procedure = p->procedure};

    (void)rpc;
    if (status == RPC_STATUS_SUCCESS && !n->freeing) {
        r.problem = nfs3_take_reply(p, data, &n->scratch, &r);
        if (r.problem) {
            r = (struct nfs3_result){.procedure = p->procedure, .status = NFS3_BAD_REPLY, .problem = r.problem};
            n->over = true; /* who sends that may send anything */
            say(n, r.problem);
        }
        finish(n, p, &r);
        return;
    }
    r.status = status == RPC_STATUS_ERROR && !n->freeing ? failure(data) : NFS3_CONN_LOST;
    if (r.status == NFS3_CONN_LOST) {
        pending_unlink(p);
        p->next = NULL;
        *n->lost_end = p;
        n->lost_end = &p->next;
        return;
    }
    r.problem = r.status == NFS3_BAD_REPLY ? "a reply that can't be decoded" : data;
    if (r.status == NFS3_BAD_REPLY) {
        n->over = true;
        say(n, r.problem);
    }
    finish(n, p, &r);
}

static void give_handle(nfs_fh3 *out, const struct nfs3_fh *fh)
{
    out->data.data_len = fh->size;
    out->data.data_val = unconst(fh->bytes);
}

static void give_where(diropargs3 *out, const struct nfs3_fh *dir, const char *name)
{
    give_handle(&out->dir, dir);
    out->name = unconst(name);
}

static nfstime3 give_time(struct nfs3_time t) { return (nfstime3){.seconds = t.seconds, .nseconds = t.nanoseconds}; }

static void give_attr(sattr3 *out, const struct nfs3_sattr *a)
{
    memset(out, 0, sizeof *out);
    out->mode.set_it = a->set_mode;
    out->mode.set_mode3_u.mode = a->mode;
    out->uid.set_it = a->set_uid;
    out->uid.set_uid3_u.uid = a->uid;
    out->gid.set_it = a->set_gid;
    out->gid.set_gid3_u.gid = a->gid;
    out->size.set_it = a->set_size;
    out->size.set_size3_u.size = a->size;
    out->atime.set_it = (time_how)a->set_atime;
    out->atime.set_atime_u.atime = give_time(a->atime);
    out->mtime.set_it = (time_how)a->set_mtime;
    out->mtime.set_mtime_u.mtime = give_time(a->mtime);
}

static int send_setattr(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    SETATTR3args a = {.guard.check = c->guard, .guard.sattrguard3_u.obj_ctime = give_time(c->ctime)};

    give_handle(&a.object, &c->fh);
    give_attr(&a.new_attributes, &c->attr);
    return SEND(nfs3_setattr, n->rpc, replied, &a, p);
}

static int send_read(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    READ3args a = {.offset = c->offset, .count = c->count};

    give_handle(&a.file, &c->fh);
#ifdef LIBNFS_API_V2
    p->data_owned = malloc(c->count ? c->count : 1);
    return p->data_owned ? SEND(nfs3_read, n->rpc, replied, p->data_owned, c->count, &a, p) : -1;
#else
    return SEND(nfs3_read, n->rpc, replied, &a, p);
#endif
}

static int send_write(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    WRITE3args a = {.offset = c->offset,
                    .count = c->count,
                    .stable = (stable_how)c->stable,
                    .data.data_len = c->count,
                    .data.data_val = unconst(c->data)};

    give_handle(&a.file, &c->fh);
    return SEND(nfs3_write, n->rpc, replied, &a, p);
}

static int send_create(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    CREATE3args a;

    memset(&a, 0, sizeof a);
    give_where(&a.where, &c->fh, c->name);
    a.how.mode = (createmode3)c->mode;
    if (c->mode == NFS3_EXCLUSIVE)
        memcpy(a.how.createhow3_u.verf, &c->verifier, sizeof c->verifier);
    else
        give_attr(&a.how.createhow3_u.obj_attributes, &c->attr);
    return SEND(nfs3_create, n->rpc, replied, &a, p);
}

static int send_mknod(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    MKNOD3args a;

    memset(&a, 0, sizeof a);
    give_where(&a.where, &c->fh, c->name);
    a.what.type = (ftype3)c->type;
    if (c->type == NFS3_CHR || c->type == NFS3_BLK) { /* the two have one layout */
        give_attr(&a.what.mknoddata3_u.chr_device.dev_attributes, &c->attr);
        a.what.mknoddata3_u.chr_device.spec = (specdata3){.specdata1 = c->major, .specdata2 = c->minor};
    } else {
        give_attr(&a.what.mknoddata3_u.pipe_attributes, &c->attr);
    }
    return SEND(nfs3_mknod, n->rpc, replied, &a, p);
}

static int send_readdir(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    READDIR3args a = {.cookie = c->offset, .count = c->count};

    give_handle(&a.dir, &c->fh);
    memcpy(a.cookieverf, &c->verifier, sizeof c->verifier);
    return SEND(nfs3_readdir, n->rpc, replied, &a, p);
}

static int send_readdirplus(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    READDIRPLUS3args a = {.cookie = c->offset, .dircount = c->count, .maxcount = c->max_count};

    give_handle(&a.dir, &c->fh);
    memcpy(a.cookieverf, &c->verifier, sizeof c->verifier);
    return SEND(nfs3_readdirplus, n->rpc, replied, &a, p);
}

/* Those that make or remove a name. */
static int send_named(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    union {
        LOOKUP3args lookup;
        REMOVE3args remove;
        RMDIR3args rmdir;
        MKDIR3args mkdir;
        SYMLINK3args symlink;
    } a;

    memset(&a, 0, sizeof a);
    give_where(&a.lookup.what, &c->fh, c->name); /* the first member of each */
    switch (c->procedure) {
    case NFS3_LOOKUP:
        return SEND(nfs3_lookup, n->rpc, replied, &a.lookup, p);
    case NFS3_REMOVE:
        return SEND(nfs3_remove, n->rpc, replied, &a.remove, p);
    case NFS3_RMDIR:
        return SEND(nfs3_rmdir, n->rpc, replied, &a.rmdir, p);
    case NFS3_MKDIR:
        give_attr(&a.mkdir.attributes, &c->attr);
        return SEND(nfs3_mkdir, n->rpc, replied, &a.mkdir, p);
    default:
        give_attr(&a.symlink.symlink.symlink_attributes, &c->attr);
        a.symlink.symlink.symlink_data = unconst(c->target);
        return SEND(nfs3_symlink, n->rpc, replied, &a.symlink, p);
    }
}

static int send_two_names(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    if (c->procedure == NFS3_RENAME) {
        RENAME3args a;

        give_where(&a.from, &c->fh, c->name);
        give_where(&a.to, &c->fh2, c->name2);
        return SEND(nfs3_rename, n->rpc, replied, &a, p);
    } else {
        LINK3args a;

        give_handle(&a.file, &c->fh);
        give_where(&a.link, &c->fh2, c->name2);
        return SEND(nfs3_link, n->rpc, replied, &a, p);
    }
}

static int send_access(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    ACCESS3args a = {.access = c->access};

    give_handle(&a.object, &c->fh);
    return SEND(nfs3_access, n->rpc, replied, &a, p);
}

static int send_commit(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    COMMIT3args a = {.offset = c->offset, .count = c->count};

    give_handle(&a.file, &c->fh);
    return SEND(nfs3_commit, n->rpc, replied, &a, p);
}

/* Those that take a handle alone. */
static int send_object(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    union {
        GETATTR3args getattr;
        READLINK3args readlink;
        FSSTAT3args fsstat;
        FSINFO3args fsinfo;
        PATHCONF3args pathconf;
    } a;

    give_handle(&a.getattr.object, &c->fh); /* the only member of each */
    switch (c->procedure) {
    case NFS3_GETATTR:
        return SEND(nfs3_getattr, n->rpc, replied, &a.getattr, p);
    case NFS3_READLINK:
        return SEND(nfs3_readlink, n->rpc, replied, &a.readlink, p);
    case NFS3_FSSTAT:
        return SEND(nfs3_fsstat, n->rpc, replied, &a.fsstat, p);
    case NFS3_FSINFO:
        return SEND(nfs3_fsinfo, n->rpc, replied, &a.fsinfo, p);
    default:
        return SEND(nfs3_pathconf, n->rpc, replied, &a.pathconf, p);
    }
}

static int send_call(struct nfs3 *n, const struct nfs3_call *c, struct nfs3_pending *p)
{
    switch (c->procedure) {
    case NFS3_NULL:
        return SEND(nfs3_null, n->rpc, replied, p);
    case NFS3_GETATTR:
    case NFS3_READLINK:
    case NFS3_FSSTAT:
    case NFS3_FSINFO:
    case NFS3_PATHCONF:
        return send_object(n, c, p);
    case NFS3_SETATTR:
        return send_setattr(n, c, p);
    case NFS3_LOOKUP:
    case NFS3_REMOVE:
    case NFS3_RMDIR:
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
        return send_named(n, c, p);
    case NFS3_ACCESS:
        return send_access(n, c, p);
    case NFS3_READ:
        return send_read(n, c, p);
    case NFS3_WRITE:
        return send_write(n, c, p);
    case NFS3_CREATE:
        return send_create(n, c, p);
    case NFS3_MKNOD:
        return send_mknod(n, c, p);
    case NFS3_RENAME:
    case NFS3_LINK:
        return send_two_names(n, c, p);
    case NFS3_READDIR:
        return send_readdir(n, c, p);
    case NFS3_READDIRPLUS:
        return send_readdirplus(n, c, p);
    case NFS3_COMMIT:
        return send_commit(n, c, p);
    case NFS3_MOUNT_MNT:
        return SEND(mount3_mnt, n->rpc, replied, unconst(c->name), p);
    case NFS3_MOUNT_UMNT:
        return SEND(mount3_umnt, n->rpc, replied, unconst(c->name), p);
    case NFS3_MOUNT_EXPORT:
        return SEND(mount3_export, n->rpc, replied, p);
    case NFS3_GETPORT:
        return SEND(pmap2_getport, n->rpc, (int)c->count, (int)c->max_count, IPPROTO_TCP, replied, p);
    case NFS3_CALLS:
        break;
    }
    return -1;
}

static bool good_length(const char *text, size_t most) { return text && *text && strlen(text) <= most; }

/* What the protocol lets us send. */
static bool good_call(const struct nfs3_call *c)
{
    switch (c->procedure) {
    case NFS3_SYMLINK:
        if (!good_length(c->target, NFS3_PATH_MAX * 4 - 1))
            return false;
        return good_length(c->name, NFS3_NAME_MAX);
    case NFS3_LOOKUP:
    case NFS3_REMOVE:
    case NFS3_RMDIR:
    case NFS3_MKDIR:
    case NFS3_CREATE:
    case NFS3_MKNOD:
        return good_length(c->name, NFS3_NAME_MAX);
    case NFS3_RENAME:
        return good_length(c->name, NFS3_NAME_MAX) && good_length(c->name2, NFS3_NAME_MAX);
    case NFS3_LINK:
        return good_length(c->name2, NFS3_NAME_MAX);
    case NFS3_READ:
    case NFS3_WRITE:
        return c->count <= NFS3_IO_MAX;
    case NFS3_READDIR:
        return c->count <= NFS3_DIRECTORY_MAX;
    case NFS3_READDIRPLUS:
        return c->max_count <= NFS3_DIRECTORY_MAX;
    case NFS3_MOUNT_MNT:
    case NFS3_MOUNT_UMNT:
        return good_length(c->name, NFS3_PATH_MAX);
    default:
        return true;
    }
}

int nfs3_send(struct nfs3 *n, const struct nfs3_call *call, nfs3_done *done, void *arg)
{
    struct nfs3_pending *p;

    if (!good_call(call))
        return -EINVAL;
    p = calloc(1, sizeof *p);
    if (!p || !set_credential(n, call->credential ? call->credential : &n->credential)) {
        free(p);
        return -ENOMEM;
    }
    p->nfs3 = n;
    p->done = done;
    p->arg = arg;
    p->procedure = call->procedure;
    p->cookie = call->offset;
    p->count = call->count;
    p->data_out = call->data_out;
    pending_push(&n->out, p);
    if (send_call(n, call, p)) {
        pending_unlink(p);
        pending_free(p);
        return -ENOMEM;
    }
    n->n_out++;
    n->out_bytes += data_bytes(p);
    return 0;
}

int nfs3_events(struct nfs3 *n) { return rpc_which_events(n->rpc); }
int nfs3_errno(const struct nfs3 *n) { return n->error; }
int nfs3_fd(const struct nfs3 *n) { return n->fd; }
size_t nfs3_outstanding(const struct nfs3 *n) { return n->n_out; }
uint64_t nfs3_outstanding_bytes(const struct nfs3 *n) { return n->out_bytes; }
const char *nfs3_problem(const struct nfs3 *n) { return n->problem; }

bool nfs3_service(struct nfs3 *n, int revents)
{
    int rc;

    errno = 0;
    (void)nfs3_guard_unasked();
    rc = rpc_service(n->rpc, revents);
    if (nfs3_guard_unasked() && rc == 0) {
        rc = -1;
        say(n, "a reply to no call of ours");
    }
    if (rc && !n->over) {
        int error = errno, pending = 0;
        socklen_t size = sizeof pending;

        n->over = true;
        if (getsockopt(n->fd, SOL_SOCKET, SO_ERROR, &pending, &size) == 0 && pending)
            error = pending;
        if (error == EAGAIN) /* of some other descriptor or call before */
            error = 0;
        n->error = error;
        say(n, error ? strerror(error) : n->lost ? "the server closed the connection" : rpc_get_error(n->rpc));
        if (!*n->problem)
            say(n, "the server closed the connection");
    }
    return !n->over;
}

void nfs3_free(struct nfs3 *n)
{
    static const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    struct nfs3_pending *p;

    if (!n)
        return;
    n->freeing = true;
    setsockopt(n->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    rpc_destroy_context(n->rpc); /* closes the socket, then every call comes back to replied() */
    while ((p = n->lost)) {
        struct nfs3_result r = {.procedure = p->procedure,
                                .status = NFS3_CONN_LOST,
                                .problem = *n->problem ? n->problem : "connection closed"};

        n->lost = p->next;
        n->n_out--;
        n->out_bytes -= data_bytes(p);
        p->done(p->arg, &r);
        pending_free(p);
    }
    nfs3_scratch_free(&n->scratch);
    free(n);
}
