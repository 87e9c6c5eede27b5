/* Directories: one reply of the server holds some hundred entries and serves many small requests of the kernel.
 *
 * The offset of an entry is the server's cookie of it, so telldir() and seekdir() work, and a directory that changes while it
 * is read behaves as the server says.
 */
#include "nfsbal/client/fuse_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 32 * 1024 }; /* bytes of names in a READDIRPLUS reply */

struct entry {
    uint64_t fileid, cookie;
    bool has_attr;
    uint32_t name; /* where in `names` */
    struct nfs3_fh fh;
    struct nfs3_attr attr;
};

struct directory {
    TAILQ_ENTRY(directory) link; /* of all that are open */
    struct nfs3_credential credential;
    uint64_t verifier;
    bool plus; /* ask with READDIRPLUS */
    /* What the last reply held. */
    uint64_t begin; /* cookie that it came for */
    bool filled, eof;
    int64_t sent;
    struct entry *entries;
    size_t n, capacity;
    char *names;
    size_t names_size, names_capacity;
};

static void close_directory(struct fs *fs, struct directory *d)
{
    TAILQ_REMOVE(&fs->directories, d, link);
    free(d->entries);
    free(d->names);
    free(d);
}

void directories_free(struct fs *fs)
{
    for (struct directory *d; (d = TAILQ_FIRST(&fs->directories)) != NULL;)
        close_directory(fs, d); /* NOLINT(clang-analyzer-unix.Malloc): it takes itself off the list */
}

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    struct fs *fs = fs_of(req);
    struct op *op = op_new(req, ino);
    struct directory *d = op ? calloc(1, sizeof *d) : NULL;

    if (!op)
        return;
    if (!d) {
        op_fail(op, ENOMEM);
        return;
    }
    TAILQ_INSERT_TAIL(&fs->directories, d, link);
    d->credential = op->credential;
    d->plus = fs->options->plus;
    fi->fh = (uintptr_t)d;
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    if (fuse_reply_open(req, fi) == -ENOENT)
        close_directory(fs, d);
}

void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
    (void)ino;
    close_directory(fs_of(req), (struct directory *)(uintptr_t)fi->fh);
    fuse_reply_err(req, 0);
}

void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi)
{
    (void)ino;
    (void)data_only;
    (void)fi;
    fuse_reply_err(req, 0); /* NFS 3 answers when a name is on stable storage */
}

/* Keeping a reply. */

static bool reserve(void **memory, size_t *capacity, size_t need, size_t size)
{
    size_t n = *capacity ? *capacity : 256;
    void *more;

    if (need <= *capacity)
        return true;
    while (n < need)
        n *= 2;
    more = realloc(*memory, n * size);
    if (!more)
        return false;
    *memory = more;
    *capacity = n;
    return true;
}

static bool keep(struct directory *d, const struct nfs3_result *result)
{
    void *entries = d->entries, *names = d->names;
    bool ok = true;

    d->n = d->names_size = 0;
    for (size_t i = 0; ok && i < result->n_entries; i++) {
        const struct nfs3_entry *from = &result->entries[i];
        size_t length = strlen(from->name) + 1;
        struct entry *to;

        ok = reserve(&entries, &d->capacity, d->n + 1, sizeof *d->entries);
        d->entries = entries;
        ok = ok && reserve(&names, &d->names_capacity, d->names_size + length, 1);
        d->names = names;
        if (!ok)
            break;
        to = &d->entries[d->n++];
        *to = (struct entry){.fileid = from->fileid, .cookie = from->cookie, .name = (uint32_t)d->names_size};
        to->has_attr = from->attr && from->fh;
        if (to->has_attr) {
            to->fh = *from->fh;
            to->attr = *from->attr;
        }
        memcpy(d->names + d->names_size, from->name, length);
        d->names_size += length;
    }
    d->filled = ok;
    return ok;
}

/* Answering. */

/* As much of an entry as the kernel asked for; returns its size, more than `room` when it doesn't fit. */
static size_t put(struct op *op, char *to, size_t room, const struct entry *e)
{
    struct fs *fs = op->fs;
    const char *name = op->directory->names + e->name;
    bool special = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    struct fuse_entry_param param = {.ino = 0};
    struct node *n = NULL;
    size_t size;

    if (!op->plus) {
        struct stat st = {.st_ino = e->fileid};

        if (e->has_attr)
            attr_to_stat(&e->attr, &st);
        st.st_ino = e->fileid;
        return fuse_add_direntry(op->req, to, room, name, &st, (off_t)e->cookie);
    }
    /* The size first: what does not fit must not be counted as looked up. */
    size = fuse_add_direntry_plus(op->req, NULL, 0, name, &param, (off_t)e->cookie);
    if (size > room)
        return size;
    if (e->has_attr && !special)
        n = node_entry(fs, op->node, name, &e->fh, &e->attr, op->directory->sent, &param);
    if (!n) {
        param = (struct fuse_entry_param){.ino = 0};
        if (e->has_attr)
            attr_to_stat(&e->attr, &param.attr);
        param.attr.st_ino = e->fileid;
    }
    return fuse_add_direntry_plus(op->req, to, room, name, &param, (off_t)e->cookie);
}

static void answer_directory(struct op *op, size_t first)
{
    const struct directory *d = op->directory;
    char *buf = malloc(op->size);
    size_t used = 0, size;
    fuse_req_t req = op->req;

    if (!buf) {
        op_fail(op, ENOMEM);
        return;
    }
    for (size_t i = first; i < d->n; i++) {
        size = put(op, buf + used, op->size - used, &d->entries[i]);
        if (size > op->size - used)
            break;
        used += size;
    }
    fuse_req_interrupt_func(req, NULL, NULL);
    op->req = NULL;
    op_free(op);
    fuse_reply_buf(req, buf, used);
    free(buf);
}

/* Where the entry after `cookie` stands in what we have: d->n when it would be the next reply's first, SIZE_MAX: not here. */
static size_t position(const struct directory *d, uint64_t cookie)
{
    if (!d->filled)
        return SIZE_MAX;
    if (cookie == d->begin)
        return 0;
    for (size_t i = 0; i < d->n; i++)
        if (d->entries[i].cookie == cookie)
            return i + 1;
    return SIZE_MAX;
}

static void ask(struct op *op);

static void have_entries(struct request *r, const struct nfs3_result *result)
{
    struct op *op = op_answer(r);
    struct directory *d = op->directory;

    if (result->dir || result->attr)
        node_take(op->fs, op->node, result->dir ? result->dir : result->attr, op->sent);
    if (d->plus && (result->status == NFS3_ENOTSUPP || result->status == NFS3_ETOOSMALL)) {
        d->plus = false; /* there are servers without it */
        ask(op);
        return;
    }
    if (result->status == NFS3_EBAD_COOKIE && d->verifier) {
        d->verifier = 0; /* it has changed; the server may still know where we were */
        ask(op);
        return;
    }
    if (result->status != NFS3_SUCCESS) {
        op_fail_status(op, result->status);
        return;
    }
    d->begin = op->offset;
    d->verifier = result->verifier;
    d->eof = result->eof;
    d->sent = op->sent;
    if (!keep(d, result))
        op_fail(op, ENOMEM);
    else
        answer_directory(op, 0);
}

static void ask(struct op *op)
{
    const struct directory *d = op->directory;

    op->nfs.call = (struct nfs3_call){.fh = op->node->fh,
                                      .offset = op->offset,
                                      .verifier = op->offset ? d->verifier : 0,
                                      .count = d->plus ? NAMES_MAX : NFS3_DIRECTORY_MAX,
                                      .max_count = NFS3_DIRECTORY_MAX};
    op_send(op, d->plus ? NFS3_READDIRPLUS : NFS3_READDIR, have_entries);
}

static void read_directory(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi,
                           bool plus)
{
    struct op *op = op_new(req, ino);
    const struct directory *d;
    size_t at;

    if (!op)
        return;
    op->directory = (struct directory *)(uintptr_t)fi->fh;
    d = op->directory;
    op->credential = d->credential;
    op->size = (uint32_t)size;
    op->offset = (uint64_t)offset;
    op->plus = plus;
    /* Offset 0 is rewinddir(): it must see what is new. */
    at = offset ? position(d, op->offset) : SIZE_MAX;
    if (at != SIZE_MAX && (at < d->n || d->eof))
        answer_directory(op, at);
    else
        ask(op);
}

void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    read_directory(req, ino, size, offset, fi, false);
}

void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi)
{
    read_directory(req, ino, size, offset, fi, true);
}
