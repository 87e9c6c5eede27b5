/* The file system of the scripted server: XDR, names, data, and what each procedure does and answers. */
#include "tests/support/fake_nfs_private.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- XDR ----------------------------------------------------------------------------------------------------------- */

uint32_t fake_get32(struct in *x)
{
    uint32_t v;

    assert(x->end - x->p >= 4);
    memcpy(&v, x->p, 4);
    x->p += 4;
    return ntohl(v);
}

uint64_t fake_get64(struct in *x)
{
    uint64_t high = fake_get32(x);

    return high << 32 | fake_get32(x);
}

const uint8_t *fake_get_opaque(struct in *x, uint32_t *size)
{
    const uint8_t *p;

    *size = fake_get32(x);
    p = x->p;
    assert((size_t)(x->end - p) >= ((*size + 3) & ~3u));
    x->p += (*size + 3) & ~3u;
    return p;
}

void fake_get_name(struct in *x, char *name)
{
    uint32_t n;
    const uint8_t *p = fake_get_opaque(x, &n);

    assert(n < 256);
    memcpy(name, p, n);
    name[n] = '\0';
}

void fake_put32(struct out *o, uint32_t v)
{
    v = htonl(v);
    memcpy(o->bytes + o->n, &v, 4);
    o->n += 4;
}

void fake_put64(struct out *o, uint64_t v)
{
    fake_put32(o, (uint32_t)(v >> 32));
    fake_put32(o, (uint32_t)v);
}

static void put_opaque(struct out *o, const void *p, size_t n)
{
    fake_put32(o, (uint32_t)n);
    memcpy(o->bytes + o->n, p, n);
    memset(o->bytes + o->n + n, 0, 3);
    o->n += (n + 3) & ~(size_t)3;
}

/* --- the file system ----------------------------------------------------------------------------------------------- */

static struct inode *inode_of(struct fake_nfs *f, unsigned id)
{
    for (int i = 0; i < INODES_MAX; i++)
        if (id && f->inodes[i].id == id)
            return &f->inodes[i];
    return NULL;
}

static struct inode *inode_new(struct fake_nfs *f, enum nfs3_type type)
{
    for (int i = 0; i < INODES_MAX; i++)
        if (!f->inodes[i].id) {
            f->inodes[i] = (struct inode){.id = f->next_id++, .type = type, .mode = 0644, .nlink = 1};
            return &f->inodes[i];
        }
    abort();
}

static struct entry *entry_of(struct fake_nfs *f, unsigned dir, const char *name)
{
    for (int i = 0; i < ENTRIES_MAX; i++)
        if (f->entries[i].id && f->entries[i].dir == dir && strcmp(f->entries[i].name, name) == 0)
            return &f->entries[i];
    return NULL;
}

static void entry_new(struct fake_nfs *f, unsigned dir, const char *name, unsigned id)
{
    for (int i = 0; i < ENTRIES_MAX; i++)
        if (!f->entries[i].id) {
            f->entries[i].dir = dir;
            f->entries[i].id = id;
            snprintf(f->entries[i].name, sizeof f->entries[i].name, "%s", name);
            return;
        }
    abort();
}

static void drop(struct fake_nfs *f, struct entry *e)
{
    struct inode *i = inode_of(f, e->id);

    e->id = 0;
    if (--i->nlink == 0) {
        free(i->data);
        free(i->stable);
        memset(i, 0, sizeof *i);
    }
}

static void resize(struct inode *i, uint64_t size)
{
    i->data = realloc(i->data, size ? size : 1);
    assert(i->data);
    if (size > i->size)
        memset(i->data + i->size, 0, size - i->size);
    i->size = size;
}

static void make_stable(struct inode *i)
{
    free(i->stable);
    i->stable = malloc(i->size ? i->size : 1);
    assert(i->stable);
    if (i->size)
        memcpy(i->stable, i->data, i->size);
    i->stable_size = i->size;
}

/* --- answers ------------------------------------------------------------------------------------------------------- */

static void put_attr(struct out *o, const struct fake_nfs *f, unsigned vip, const struct inode *i)
{
    fake_put32(o, i->type);
    fake_put32(o, i->mode);
    fake_put32(o, i->nlink);
    fake_put32(o, 0);
    fake_put32(o, 0);
    fake_put64(o, i->size);
    fake_put64(o, i->size);
    fake_put64(o, 0);
    fake_put64(o, f->vips[vip].other_fsid ? FSID + 1 : FSID);
    fake_put64(o, i->id);
    for (int t = 0; t < 3; t++)
        fake_put64(o, (uint64_t)i->id << 32);
}

static void put_post(struct out *o, const struct fake_nfs *f, unsigned vip, const struct inode *i)
{
    fake_put32(o, i != NULL);
    if (i)
        put_attr(o, f, vip, i);
}

static void put_wcc(struct out *o, const struct fake_nfs *f, unsigned vip, const struct inode *i)
{
    fake_put32(o, 0);
    put_post(o, f, vip, i);
}

static void put_handle(struct out *o, const struct fake_nfs *f, unsigned vip, unsigned id)
{
    uint32_t bytes[4] = {htonl(0x66616b65), htonl(f->vips[vip].other_handle), htonl(id), 0};

    put_opaque(o, bytes, sizeof bytes);
}

static unsigned get_handle(struct in *x)
{
    uint32_t n, id;
    const uint8_t *p = fake_get_opaque(x, &n);

    assert(n == 16);
    memcpy(&id, p + 8, 4);
    return ntohl(id);
}

struct settings {
    bool size_set;
    uint64_t size;
};

static struct settings get_sattr(struct in *x)
{
    struct settings s = {0};

    for (int i = 0; i < 3; i++)
        if (fake_get32(x))
            fake_get32(x);
    s.size_set = fake_get32(x);
    if (s.size_set)
        s.size = fake_get64(x);
    for (int i = 0; i < 2; i++)
        if (fake_get32(x) == 2)
            fake_get64(x);
    return s;
}

static void answer_made(struct out *o, struct fake_nfs *f, unsigned vip, unsigned dir, uint32_t status,
                        const struct inode *made)
{
    fake_put32(o, status);
    if (status == 0) {
        fake_put32(o, 1);
        put_handle(o, f, vip, made->id);
        put_post(o, f, vip, made);
    }
    put_wcc(o, f, vip, inode_of(f, dir));
}

static void do_create(struct fake_nfs *f, unsigned vip, uint32_t procedure, struct in *x, struct out *o)
{
    static const enum nfs3_type types[] = {
        [NFS3_CREATE] = NFS3_REG, [NFS3_MKDIR] = NFS3_DIR, [NFS3_SYMLINK] = NFS3_LNK};
    unsigned dir = get_handle(x);
    char name[256], target[256] = "";
    struct entry *e;
    struct inode *i;
    uint64_t verifier = 0;
    uint32_t mode = NFS3_GUARDED;
    enum nfs3_type type = procedure == NFS3_MKNOD ? NFS3_FIFO : types[procedure];

    fake_get_name(x, name);
    if (procedure == NFS3_CREATE)
        mode = fake_get32(x);
    if (procedure == NFS3_MKNOD)
        type = fake_get32(x);
    if (procedure == NFS3_CREATE && mode == NFS3_EXCLUSIVE)
        verifier = fake_get64(x);
    else
        get_sattr(x);
    if (procedure == NFS3_SYMLINK)
        fake_get_name(x, target);
    e = entry_of(f, dir, name);
    i = e ? inode_of(f, e->id) : NULL;
    if (i && mode != NFS3_UNCHECKED && !(mode == NFS3_EXCLUSIVE && i->create_verifier == verifier)) {
        answer_made(o, f, vip, dir, NFS3_EEXIST, NULL);
        return;
    }
    if (!i) {
        i = inode_new(f, type);
        i->create_verifier = verifier;
        snprintf(i->target, sizeof i->target, "%s", target);
        entry_new(f, dir, name, i->id);
    }
    answer_made(o, f, vip, dir, 0, i);
}

static void do_remove(struct fake_nfs *f, unsigned vip, struct in *x, struct out *o)
{
    unsigned dir = get_handle(x);
    char name[256];
    struct entry *e;

    fake_get_name(x, name);
    e = entry_of(f, dir, name);
    fake_put32(o, e ? 0 : NFS3_ENOENT);
    if (e)
        drop(f, e);
    put_wcc(o, f, vip, inode_of(f, dir));
}

static void do_rename(struct fake_nfs *f, unsigned vip, struct in *x, struct out *o)
{
    unsigned from = get_handle(x), to;
    char name[256], name2[256];
    struct entry *e, *over;

    fake_get_name(x, name);
    to = get_handle(x);
    fake_get_name(x, name2);
    e = entry_of(f, from, name);
    over = entry_of(f, to, name2);
    fake_put32(o, e ? 0 : NFS3_ENOENT);
    if (e && over != e) {
        if (over)
            drop(f, over);
        e->dir = to;
        strcpy(e->name, name2);
    }
    put_wcc(o, f, vip, inode_of(f, from));
    put_wcc(o, f, vip, inode_of(f, to));
}

static void do_link(struct fake_nfs *f, unsigned vip, struct in *x, struct out *o)
{
    unsigned id = get_handle(x), dir = get_handle(x);
    char name[256];
    struct inode *i = inode_of(f, id);
    bool there;

    fake_get_name(x, name);
    there = entry_of(f, dir, name) != NULL;
    fake_put32(o, there ? NFS3_EEXIST : 0);
    if (!there) {
        i->nlink++;
        entry_new(f, dir, name, id);
    }
    put_post(o, f, vip, i);
    put_wcc(o, f, vip, inode_of(f, dir));
}

static void do_write(struct fake_nfs *f, unsigned vip, struct inode *i, struct in *x, struct out *o)
{
    uint64_t offset = fake_get64(x);
    uint32_t count = fake_get32(x), stable = fake_get32(x), n;
    const uint8_t *data = fake_get_opaque(x, &n);

    assert(n == count);
    count = count < f->write_done ? count : f->write_done;
    if (offset + count > i->size)
        resize(i, offset + count);
    memcpy(i->data + offset, data, count);
    if (stable)
        make_stable(i);
    fake_put32(o, 0);
    put_wcc(o, f, vip, i);
    fake_put32(o, count);
    fake_put32(o, stable);
    fake_put64(o, f->verifier);
}

static void do_read(struct fake_nfs *f, unsigned vip, const struct inode *i, struct in *x, struct out *o)
{
    uint64_t offset = fake_get64(x), left = offset < i->size ? i->size - offset : 0;
    uint32_t count = fake_get32(x);

    count = count < left ? count : (uint32_t)left;
    fake_put32(o, 0);
    put_post(o, f, vip, i);
    fake_put32(o, count);
    fake_put32(o, offset + count >= i->size);
    put_opaque(o, count ? i->data + offset : (const uint8_t *)"", count);
}

static void do_readdir(struct fake_nfs *f, unsigned vip, bool plus, unsigned dir, struct in *x, struct out *o)
{
    uint64_t cookie = fake_get64(x);
    bool more = false;
    int n = 0;

    fake_put32(o, 0);
    put_post(o, f, vip, inode_of(f, dir));
    fake_put64(o, 1);
    for (uint64_t k = cookie; k < ENTRIES_MAX; k++) {
        const struct entry *e = &f->entries[k];

        if (!e->id || e->dir != dir)
            continue;
        if (++n > 10) {
            more = true;
            break;
        }
        fake_put32(o, 1);
        fake_put64(o, e->id);
        put_opaque(o, e->name, strlen(e->name));
        fake_put64(o, k + 1);
        if (plus) {
            put_post(o, f, vip, inode_of(f, e->id));
            fake_put32(o, 1);
            put_handle(o, f, vip, e->id);
        }
    }
    fake_put32(o, 0);
    fake_put32(o, !more);
}

static void do_fsinfo(struct fake_nfs *f, unsigned vip, const struct inode *i, struct out *o)
{
    fake_put32(o, 0);
    put_post(o, f, vip, i);
    for (int k = 0; k < 7; k++)
        fake_put32(o, k == 2 || k == 5 ? 1 : k == 3 || k == 4 ? f->write_told : 1 << 20);
    fake_put64(o, INT64_MAX);
    fake_put64(o, 1);
    fake_put32(o, 0x1b);
}

static void do_lookup(struct fake_nfs *f, unsigned vip, unsigned dir, struct in *x, struct out *o)
{
    char name[256];
    struct entry *e;

    fake_get_name(x, name);
    e = entry_of(f, dir, name);
    fake_put32(o, e ? 0 : NFS3_ENOENT);
    if (e) {
        put_handle(o, f, vip, e->id);
        put_post(o, f, vip, inode_of(f, e->id));
    }
    put_post(o, f, vip, inode_of(f, dir));
}

static void do_object(struct fake_nfs *f, unsigned vip, uint32_t procedure, struct in *x, struct out *o)
{
    unsigned id = get_handle(x);
    struct inode *i = inode_of(f, id);

    if (!i) {
        fake_put32(o, NFS3_ESTALE);
        fake_put32(o, 0);
        fake_put32(o, 0);
        return;
    }
    switch (procedure) {
    case NFS3_GETATTR:
        fake_put32(o, 0);
        put_attr(o, f, vip, i);
        break;
    case NFS3_SETATTR: {
        struct settings s = get_sattr(x);

        if (s.size_set)
            resize(i, s.size);
        fake_put32(o, 0);
        put_wcc(o, f, vip, i);
        break;
    }
    case NFS3_ACCESS:
        fake_put32(o, 0);
        put_post(o, f, vip, i);
        fake_put32(o, fake_get32(x));
        break;
    case NFS3_READLINK:
        fake_put32(o, 0);
        put_post(o, f, vip, i);
        put_opaque(o, i->target, strlen(i->target));
        break;
    case NFS3_LOOKUP:
        do_lookup(f, vip, id, x, o);
        break;
    case NFS3_READ:
        do_read(f, vip, i, x, o);
        break;
    case NFS3_WRITE:
        do_write(f, vip, i, x, o);
        break;
    case NFS3_READDIR:
    case NFS3_READDIRPLUS:
        do_readdir(f, vip, procedure == NFS3_READDIRPLUS, id, x, o);
        break;
    case NFS3_FSINFO:
        do_fsinfo(f, vip, i, o);
        break;
    case NFS3_FSSTAT:
        fake_put32(o, 0);
        put_post(o, f, vip, i);
        for (int k = 0; k < 6; k++)
            fake_put64(o, 1000);
        fake_put32(o, 0);
        break;
    case NFS3_PATHCONF:
        fake_put32(o, 0);
        put_post(o, f, vip, i);
        for (int k = 0; k < 6; k++)
            fake_put32(o, k < 2 ? 255 : 1);
        break;
    default: /* COMMIT */
        make_stable(i);
        fake_put32(o, 0);
        put_wcc(o, f, vip, i);
        fake_put64(o, f->verifier);
        break;
    }
}

static void do_mount(struct fake_nfs *f, unsigned vip, uint32_t procedure, struct out *o)
{
    switch (procedure) {
    case 1: /* MNT */
        fake_put32(o, 0);
        put_handle(o, f, vip, ROOT);
        fake_put32(o, 1);
        fake_put32(o, 1);
        break;
    case 5: /* EXPORT */
        fake_put32(o, 1);
        put_opaque(o, "/export", 7);
        fake_put32(o, 0);
        fake_put32(o, 0);
        break;
    default:
        break;
    }
}

void fake_execute(struct fake_nfs *f, unsigned vip, bool mount, uint32_t procedure, struct in *x, struct out *o)
{
    if (mount) {
        do_mount(f, vip, procedure, o);
        return;
    }
    f->executed[procedure % 32]++;
    switch (procedure) {
    case NFS3_NULL:
        break;
    case NFS3_CREATE:
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
    case NFS3_MKNOD:
        do_create(f, vip, procedure, x, o);
        break;
    case NFS3_REMOVE:
    case NFS3_RMDIR:
        do_remove(f, vip, x, o);
        break;
    case NFS3_RENAME:
        do_rename(f, vip, x, o);
        break;
    case NFS3_LINK:
        do_link(f, vip, x, o);
        break;
    default:
        do_object(f, vip, procedure, x, o);
        break;
    }
}

void fake_fs_init(struct fake_nfs *f)
{
    f->next_id = ROOT;
    inode_new(f, NFS3_DIR)->mode = 0755;
}

void fake_fs_free(struct fake_nfs *f)
{
    for (int i = 0; i < INODES_MAX; i++) {
        free(f->inodes[i].data);
        free(f->inodes[i].stable);
    }
}

void fake_fs_lose_unstable(struct fake_nfs *f)
{
    for (int i = 0; i < INODES_MAX; i++) {
        struct inode *n = &f->inodes[i];

        if (!n->id || n->type != NFS3_REG)
            continue;
        resize(n, n->stable_size);
        if (n->stable_size)
            memcpy(n->data, n->stable, n->stable_size);
    }
}

static const struct inode *by_name(const struct fake_nfs *f, const char *name)
{
    for (int i = 0; i < ENTRIES_MAX; i++)
        if (f->entries[i].id && strcmp(f->entries[i].name, name) == 0)
            for (int k = 0; k < INODES_MAX; k++)
                if (f->inodes[k].id == f->entries[i].id)
                    return &f->inodes[k];
    return NULL;
}

const uint8_t *fake_nfs_data(const struct fake_nfs *f, const char *name, uint64_t *size)
{
    const struct inode *i = by_name(f, name);

    *size = i ? i->size : 0;
    return i ? i->data : NULL;
}

bool fake_nfs_exists(const struct fake_nfs *f, const char *name) { return by_name(f, name) != NULL; }
unsigned fake_nfs_executed(const struct fake_nfs *f, uint32_t procedure) { return f->executed[procedure % 32]; }
