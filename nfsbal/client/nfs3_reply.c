/* Replies: libnfs's decoded structures into ours, each field held against what a correct server may send.
 *
 * Decoding has only proven that the bytes are XDR. A server (or who speaks for it) may still claim more data than was asked
 * for, hand out empty handles, names with slashes, or a directory that never ends because its cookies don't move.
 */
#include "nfsbal/client/nfs3_private.h"

#include <stdlib.h>
#include <string.h>

#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

/* The nodes of libnfs's lists may stand anywhere, unaligned as well: they are copied before they are looked at. False at
 * the end. */
static bool next_node(void *copy, const void *node, size_t size)
{
    if (node)
        memcpy(copy, node, size);
    return node != NULL;
}

static struct nfs3_time take_time(const nfstime3 *t) { return (struct nfs3_time){t->seconds, t->nseconds}; }

static const struct nfs3_attr *take_fattr(const fattr3 *a, struct nfs3_attr *out)
{
    *out = (struct nfs3_attr){
        .type = (enum nfs3_type)a->type,
        .mode = a->mode & 07777,
        .nlink = a->nlink,
        .uid = a->uid,
        .gid = a->gid,
        .size = a->size,
        .used = a->used,
        .fsid = a->fsid,
        .fileid = a->fileid,
        .major = a->rdev.specdata1,
        .minor = a->rdev.specdata2,
        .atime = take_time(&a->atime),
        .mtime = take_time(&a->mtime),
        .ctime = take_time(&a->ctime),
    };
    /* A size that off_t can't hold makes the kernel give the file up for good. */
    return out->type >= NFS3_REG && out->type <= NFS3_FIFO && out->size <= INT64_MAX ? out : NULL;
}

static const struct nfs3_attr *take_attr(const post_op_attr *a, struct nfs3_attr *out)
{
    return a->attributes_follow ? take_fattr(&a->post_op_attr_u.attributes, out) : NULL;
}

static const struct nfs3_before *take_before(const pre_op_attr *a, struct nfs3_before *out)
{
    if (!a->attributes_follow)
        return NULL;
    out->size = a->pre_op_attr_u.attributes.size;
    out->mtime = take_time(&a->pre_op_attr_u.attributes.mtime);
    out->ctime = take_time(&a->pre_op_attr_u.attributes.ctime);
    return out;
}

static void take_wcc(const wcc_data *w, struct nfs3_scratch *s, struct nfs3_result *r)
{
    r->before = take_before(&w->before, &s->before);
    r->attr = take_attr(&w->after, &s->attr);
}

static void take_dir_wcc(const wcc_data *w, struct nfs3_scratch *s, struct nfs3_result *r)
{
    r->dir_before = take_before(&w->before, &s->dir_before);
    r->dir = take_attr(&w->after, &s->dir);
}

static void take_dir2_wcc(const wcc_data *w, struct nfs3_scratch *s, struct nfs3_result *r)
{
    r->dir2_before = take_before(&w->before, &s->dir2_before);
    r->dir2 = take_attr(&w->after, &s->dir2);
}

static bool take_handle(const char *bytes, uint32_t size, struct nfs3_fh *out)
{
    if (size < 1 || size > NFS3_HANDLE_MAX || !bytes)
        return false;
    out->size = (uint8_t)size;
    memset(out->bytes, 0, sizeof out->bytes);
    memcpy(out->bytes, bytes, size);
    return true;
}

static const char bad_handle[] = "a handle of no or more than 64 bytes";

static const char *take_fh(const nfs_fh3 *h, struct nfs3_scratch *s, struct nfs3_result *r)
{
    if (!take_handle(h->data.data_val, h->data.data_len, &s->fh))
        return bad_handle;
    r->fh = &s->fh;
    return NULL;
}

/* CREATE, MKDIR, SYMLINK and MKNOD answer alike. */
static const char *take_made(const post_op_fh3 *h, const post_op_attr *a, const wcc_data *w, struct nfs3_scratch *s,
                             struct nfs3_result *r)
{
    take_dir_wcc(w, s, r);
    r->attr = take_attr(a, &s->attr);
    return h->handle_follows ? take_fh(&h->post_op_fh3_u.handle, s, r) : NULL;
}

static const char *take_read(const struct nfs3_pending *p, const READ3res *x, struct nfs3_scratch *s,
                             struct nfs3_result *r)
{
    const READ3resok *ok = &x->READ3res_u.resok;

    if (x->status) {
        r->attr = take_attr(&x->READ3res_u.resfail.file_attributes, &s->attr);
        return NULL;
    }
    r->attr = take_attr(&ok->file_attributes, &s->attr);
    if (ok->data.data_len > p->count)
        return "more data than was asked for";
    if (ok->count != ok->data.data_len)
        return "a count that is not the length of the data";
    if (ok->count == 0 && !ok->eof && p->count)
        return "no data before the end of the file";
    r->count = ok->count;
    r->eof = ok->eof != 0;
    r->data = p->data_owned ? p->data_owned : ok->data.data_val;
    if (p->data_out && r->count)
        memcpy(p->data_out, r->data, r->count);
    return NULL;
}

static uint64_t take_verifier(const char *bytes)
{
    uint64_t v;

    memcpy(&v, bytes, sizeof v); /* opaque: only ever compared and sent back */
    return v;
}

static const char *take_write(const struct nfs3_pending *p, const WRITE3res *x, struct nfs3_scratch *s,
                              struct nfs3_result *r)
{
    const WRITE3resok *ok = &x->WRITE3res_u.resok;

    if (x->status) {
        take_wcc(&x->WRITE3res_u.resfail.file_wcc, s, r);
        return NULL;
    }
    take_wcc(&ok->file_wcc, s, r);
    if (ok->count > p->count)
        return "more written than was sent";
    if (ok->count == 0 && p->count)
        return "nothing written and no error";
    if ((unsigned)ok->committed > FILE_SYNC)
        return "an unknown kind of stable";
    r->count = ok->count;
    r->committed = (enum nfs3_stable)ok->committed;
    r->verifier = take_verifier(ok->verf);
    return NULL;
}

static bool good_name(const char *name)
{
    size_t length = name ? strlen(name) : 0;

    return length >= 1 && length <= NFS3_NAME_MAX && !memchr(name, '/', length);
}

static bool room_for_entries(struct nfs3_scratch *s, size_t n)
{
    size_t size = s->entries_size;
    void *a, *b, *c;

    if (n <= size)
        return true;
    while (size < n)
        size = size ? size * 2 : 256;
    a = realloc(s->entries, size * sizeof *s->entries);
    if (a)
        s->entries = a;
    b = realloc(s->attrs, size * sizeof *s->attrs);
    if (b)
        s->attrs = b;
    c = realloc(s->fhs, size * sizeof *s->fhs);
    if (c)
        s->fhs = c;
    if (!a || !b || !c)
        return false;
    s->entries_size = size;
    return true;
}

static const char no_memory[] = "a reply larger than memory";
static const char bad_name[] = "an entry whose name is empty, too long or has a slash";
static const char stuck[] = "an entry whose cookie does not move on";

/* Cookies are opaque and need not grow, but an entry that leads back to where its reply began, or to the entry before it, is
 * a directory without end. */
static const char *take_readdir(const struct nfs3_pending *p, const READDIR3res *x, struct nfs3_scratch *s,
                                struct nfs3_result *r)
{
    const READDIR3resok *ok = &x->READDIR3res_u.resok;
    uint64_t last = p->cookie;
    entry3 e;

    if (x->status) {
        r->dir = take_attr(&x->READDIR3res_u.resfail.dir_attributes, &s->dir);
        return NULL;
    }
    r->dir = take_attr(&ok->dir_attributes, &s->dir);
    r->verifier = take_verifier(ok->cookieverf);
    r->eof = ok->reply.eof != 0;
    for (const void *node = ok->reply.entries; next_node(&e, node, sizeof e); node = e.nextentry) {
        if (!good_name(e.name))
            return bad_name;
        if (e.cookie == last || e.cookie == p->cookie)
            return stuck;
        last = e.cookie;
        if (!room_for_entries(s, r->n_entries + 1))
            return no_memory;
        s->entries[r->n_entries++] = (struct nfs3_entry){.fileid = e.fileid, .cookie = e.cookie, .name = e.name};
    }
    r->entries = s->entries;
    return NULL;
}

static const char *take_readdirplus(const struct nfs3_pending *p, const READDIRPLUS3res *x, struct nfs3_scratch *s,
                                    struct nfs3_result *r)
{
    const READDIRPLUS3resok *ok = &x->READDIRPLUS3res_u.resok;
    uint64_t last = p->cookie;
    entryplus3 e;

    if (x->status) {
        r->dir = take_attr(&x->READDIRPLUS3res_u.resfail.dir_attributes, &s->dir);
        return NULL;
    }
    r->dir = take_attr(&ok->dir_attributes, &s->dir);
    r->verifier = take_verifier(ok->cookieverf);
    r->eof = ok->reply.eof != 0;
    for (const void *node = ok->reply.entries; next_node(&e, node, sizeof e); node = e.nextentry)
        r->n_entries++;
    if (!room_for_entries(s, r->n_entries))
        return no_memory;
    r->n_entries = 0;
    for (const void *node = ok->reply.entries; next_node(&e, node, sizeof e); node = e.nextentry) {
        size_t i = r->n_entries++;

        if (!good_name(e.name))
            return bad_name;
        if (e.cookie == last || e.cookie == p->cookie)
            return stuck;
        last = e.cookie;
        s->entries[i] = (struct nfs3_entry){.fileid = e.fileid, .cookie = e.cookie, .name = e.name};
        s->entries[i].attr = take_attr(&e.name_attributes, &s->attrs[i]);
        if (e.name_handle.handle_follows) {
            const nfs_fh3 *h = &e.name_handle.post_op_fh3_u.handle;

            if (!take_handle(h->data.data_val, h->data.data_len, &s->fhs[i]))
                return bad_handle;
            s->entries[i].fh = &s->fhs[i];
        }
    }
    r->entries = s->entries;
    return NULL;
}

static const char *take_fsinfo(const FSINFO3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    const FSINFO3resok *ok = &x->FSINFO3res_u.resok;

    if (x->status) {
        r->attr = take_attr(&x->FSINFO3res_u.resfail.obj_attributes, &s->attr);
        return NULL;
    }
    r->attr = take_attr(&ok->obj_attributes, &s->attr);
    s->fsinfo = (struct nfs3_fsinfo){
        .rtmax = ok->rtmax,
        .rtpref = ok->rtpref,
        .rtmult = ok->rtmult,
        .wtmax = ok->wtmax,
        .wtpref = ok->wtpref,
        .wtmult = ok->wtmult,
        .dtpref = ok->dtpref,
        .maxfilesize = ok->maxfilesize,
        .time_delta = take_time(&ok->time_delta),
        .properties = ok->properties,
    };
    r->fsinfo = &s->fsinfo;
    return ok->rtmax == 0 || ok->wtmax == 0 ? "no byte may be read or written at a time" : NULL;
}

static const char *take_fsstat(const FSSTAT3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    const FSSTAT3resok *ok = &x->FSSTAT3res_u.resok;

    if (x->status) {
        r->attr = take_attr(&x->FSSTAT3res_u.resfail.obj_attributes, &s->attr);
        return NULL;
    }
    r->attr = take_attr(&ok->obj_attributes, &s->attr);
    s->fsstat =
        (struct nfs3_fsstat){ok->tbytes, ok->fbytes, ok->abytes, ok->tfiles, ok->ffiles, ok->afiles, ok->invarsec};
    r->fsstat = &s->fsstat;
    return NULL;
}

static const char *take_pathconf(const PATHCONF3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    const PATHCONF3resok *ok = &x->PATHCONF3res_u.resok;

    if (x->status) {
        r->attr = take_attr(&x->PATHCONF3res_u.resfail.obj_attributes, &s->attr);
        return NULL;
    }
    r->attr = take_attr(&ok->obj_attributes, &s->attr);
    s->pathconf = (struct nfs3_pathconf){ok->linkmax,
                                         ok->name_max,
                                         ok->no_trunc != 0,
                                         ok->chown_restricted != 0,
                                         ok->case_insensitive != 0,
                                         ok->case_preserving != 0};
    r->pathconf = &s->pathconf;
    return NULL;
}

static const char *take_lookup(const LOOKUP3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    if (x->status) {
        r->dir = take_attr(&x->LOOKUP3res_u.resfail.dir_attributes, &s->dir);
        return NULL;
    }
    r->attr = take_attr(&x->LOOKUP3res_u.resok.obj_attributes, &s->attr);
    r->dir = take_attr(&x->LOOKUP3res_u.resok.dir_attributes, &s->dir);
    return take_fh(&x->LOOKUP3res_u.resok.object, s, r);
}

static const char *take_readlink(const READLINK3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    const char *target = x->READLINK3res_u.resok.data;

    if (x->status) {
        r->attr = take_attr(&x->READLINK3res_u.resfail.symlink_attributes, &s->attr);
        return NULL;
    }
    r->attr = take_attr(&x->READLINK3res_u.resok.symlink_attributes, &s->attr);
    if (!target || strlen(target) > NFS3_PATH_MAX * 4)
        return "a link without or with too long a target";
    r->target = target;
    return NULL;
}

static const char *take_mnt(const mountres3 *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    const mountres3_ok *ok = &x->mountres3_u.mountinfo;

    r->status = (enum nfs3_status)x->fhs_status;
    if (x->fhs_status)
        return NULL;
    r->auth_sys = ok->auth_flavors.auth_flavors_len == 0;
    for (uint32_t i = 0; i < ok->auth_flavors.auth_flavors_len; i++)
        if (ok->auth_flavors.auth_flavors_val[i] == AUTH_UNIX)
            r->auth_sys = true;
    if (!take_handle(ok->fhandle.fhandle3_val, ok->fhandle.fhandle3_len, &s->fh))
        return bad_handle;
    r->fh = &s->fh;
    return NULL;
}

static const char *take_exports(const exports *list, struct nfs3_scratch *s, struct nfs3_result *r)
{
    size_t n = 0;
    const char **grown;
    exportnode e;

    for (const void *node = *list; next_node(&e, node, sizeof e); node = e.ex_next)
        n++;
    if (n > s->exports_size) {
        grown = realloc(s->exports, n * sizeof *grown);
        if (!grown)
            return no_memory;
        s->exports = grown;
        s->exports_size = n;
    }
    for (const void *node = *list; next_node(&e, node, sizeof e); node = e.ex_next)
        if (e.ex_dir)
            s->exports[r->n_exports++] = e.ex_dir;
    r->exports = s->exports;
    return NULL;
}

/* Those that answer with a file's weak cache consistency data, good or bad. */
static const char *take_rename(const RENAME3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    take_dir_wcc(x->status ? &x->RENAME3res_u.resfail.fromdir_wcc : &x->RENAME3res_u.resok.fromdir_wcc, s, r);
    take_dir2_wcc(x->status ? &x->RENAME3res_u.resfail.todir_wcc : &x->RENAME3res_u.resok.todir_wcc, s, r);
    return NULL;
}

static const char *take_link(const LINK3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    r->attr =
        take_attr(x->status ? &x->LINK3res_u.resfail.file_attributes : &x->LINK3res_u.resok.file_attributes, &s->attr);
    take_dir2_wcc(x->status ? &x->LINK3res_u.resfail.linkdir_wcc : &x->LINK3res_u.resok.linkdir_wcc, s, r);
    return NULL;
}

static const char *take_commit(const COMMIT3res *x, struct nfs3_scratch *s, struct nfs3_result *r)
{
    take_wcc(x->status ? &x->COMMIT3res_u.resfail.file_wcc : &x->COMMIT3res_u.resok.file_wcc, s, r);
    if (!x->status)
        r->verifier = take_verifier(x->COMMIT3res_u.resok.verf);
    return NULL;
}

#define MADE(X, x, s, r)                                                         \
    ((x)->status                                                                 \
         ? (take_dir_wcc(&(x)->X##_u.resfail.dir_wcc, s, r), (const char *)NULL) \
         : take_made(&(x)->X##_u.resok.obj, &(x)->X##_u.resok.obj_attributes, &(x)->X##_u.resok.dir_wcc, s, r))

/* The body; the status has been taken. */
static const char *take(const struct nfs3_pending *p, const void *reply, struct nfs3_scratch *s, struct nfs3_result *r)
{
    switch (p->procedure) {
    case NFS3_GETATTR: {
        const GETATTR3res *x = reply;

        r->attr = x->status ? NULL : take_fattr(&x->GETATTR3res_u.resok.obj_attributes, &s->attr);
        return x->status || r->attr ? NULL : "attributes that no file has";
    }
    case NFS3_SETATTR: {
        const SETATTR3res *x = reply;

        take_wcc(x->status ? &x->SETATTR3res_u.resfail.obj_wcc : &x->SETATTR3res_u.resok.obj_wcc, s, r);
        return NULL;
    }
    case NFS3_ACCESS: {
        const ACCESS3res *x = reply;

        r->attr = take_attr(x->status ? &x->ACCESS3res_u.resfail.obj_attributes : &x->ACCESS3res_u.resok.obj_attributes,
                            &s->attr);
        r->access = x->status ? 0 : x->ACCESS3res_u.resok.access;
        return NULL;
    }
    case NFS3_REMOVE: {
        const REMOVE3res *x = reply;

        take_dir_wcc(x->status ? &x->REMOVE3res_u.resfail.dir_wcc : &x->REMOVE3res_u.resok.dir_wcc, s, r);
        return NULL;
    }
    case NFS3_RMDIR: {
        const RMDIR3res *x = reply;

        take_dir_wcc(x->status ? &x->RMDIR3res_u.resfail.dir_wcc : &x->RMDIR3res_u.resok.dir_wcc, s, r);
        return NULL;
    }
    case NFS3_LOOKUP:
        return take_lookup(reply, s, r);
    case NFS3_READLINK:
        return take_readlink(reply, s, r);
    case NFS3_READ:
        return take_read(p, reply, s, r);
    case NFS3_WRITE:
        return take_write(p, reply, s, r);
    case NFS3_CREATE:
        return MADE(CREATE3res, (const CREATE3res *)reply, s, r);
    case NFS3_MKDIR:
        return MADE(MKDIR3res, (const MKDIR3res *)reply, s, r);
    case NFS3_SYMLINK:
        return MADE(SYMLINK3res, (const SYMLINK3res *)reply, s, r);
    case NFS3_MKNOD:
        return MADE(MKNOD3res, (const MKNOD3res *)reply, s, r);
    case NFS3_RENAME:
        return take_rename(reply, s, r);
    case NFS3_LINK:
        return take_link(reply, s, r);
    case NFS3_READDIR:
        return take_readdir(p, reply, s, r);
    case NFS3_READDIRPLUS:
        return take_readdirplus(p, reply, s, r);
    case NFS3_FSSTAT:
        return take_fsstat(reply, s, r);
    case NFS3_FSINFO:
        return take_fsinfo(reply, s, r);
    case NFS3_PATHCONF:
        return take_pathconf(reply, s, r);
    case NFS3_COMMIT:
        return take_commit(reply, s, r);
    case NFS3_MOUNT_MNT:
        return take_mnt(reply, s, r);
    case NFS3_MOUNT_EXPORT:
        return take_exports(reply, s, r);
    case NFS3_GETPORT:
        r->count = *(const uint32_t *)reply;
        return r->count > 65535 ? "a port above 65535" : NULL;
    case NFS3_NULL:
    case NFS3_MOUNT_UMNT:
    case NFS3_CALLS:
        break;
    }
    return NULL;
}

const char *nfs3_take_reply(const struct nfs3_pending *p, void *reply, struct nfs3_scratch *s, struct nfs3_result *r)
{
    bool empty = p->procedure == NFS3_NULL || p->procedure == NFS3_MOUNT_UMNT;

    if (empty)
        return NULL;
    if (!reply)
        return "no body";
    if (p->procedure < NFS3_PROCEDURES) /* every result of NFS begins with its status */
        r->status = (enum nfs3_status) * (const nfsstat3 *)reply;
    if ((int)r->status < 0)
        return "a status that is none";
    return take(p, reply, s, r);
}

void nfs3_scratch_free(struct nfs3_scratch *s)
{
    free(s->entries);
    free(s->attrs);
    free(s->fhs);
    free(s->exports);
}
