#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include "tests/support/fake_nfs.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfsbal/client/loop.h"

enum { INODES_MAX = 64, ENTRIES_MAX = 128, RECORD_MAX = 2 << 20, FSID = 77, ROOT = 1 };

struct inode {
    unsigned id; /* 0: free */
    enum nfs3_type type;
    uint32_t mode, nlink;
    uint8_t *data, *stable;
    uint64_t size, stable_size;
    char target[256];
    uint64_t create_verifier;
};

struct entry {
    unsigned dir, id; /* id 0: free */
    char name[256];
};

struct peer {
    struct peer *next;
    struct fake_nfs *fake;
    unsigned vip;
    int fd; /* -1: reset */
    struct loop_io io;
    uint8_t *in;
    size_t have;
    uint8_t *out;
    size_t out_size;
};

/* Something that happens later. */
struct later {
    struct later *next;
    struct fake_nfs *fake;
    struct peer *peer; /* to answer; NULL: nobody */
    struct loop_timer timer;
    uint8_t *record;
    size_t size;
};

struct vip {
    struct fake_nfs *fake;
    unsigned number;
    int fd;
    struct loop_io io;
    bool other_fsid, other_handle;
};

struct fake_nfs {
    struct loop *loop;
    struct fake_hooks hooks;
    unsigned n_vips, calls;
    uint16_t port;
    struct vip vips[FAKE_VIPS_MAX];
    struct peer *peers;
    struct later *laters;
    struct inode inodes[INODES_MAX];
    struct entry entries[ENTRIES_MAX];
    unsigned next_id, executed[32];
    uint64_t verifier;
};

/* --- XDR ----------------------------------------------------------------------------------------------------------- */

struct in {
    const uint8_t *p, *end;
};

static uint32_t get32(struct in *x)
{
    uint32_t v;

    assert(x->end - x->p >= 4);
    memcpy(&v, x->p, 4);
    x->p += 4;
    return ntohl(v);
}

static uint64_t get64(struct in *x)
{
    uint64_t high = get32(x);

    return high << 32 | get32(x);
}

static const uint8_t *get_opaque(struct in *x, uint32_t *size)
{
    const uint8_t *p;

    *size = get32(x);
    p = x->p;
    assert((size_t)(x->end - p) >= ((*size + 3) & ~3u));
    x->p += (*size + 3) & ~3u;
    return p;
}

static void get_name(struct in *x, char *name)
{
    uint32_t n;
    const uint8_t *p = get_opaque(x, &n);

    assert(n < 256);
    memcpy(name, p, n);
    name[n] = '\0';
}

struct out {
    uint8_t *bytes;
    size_t n;
};

static void put32(struct out *o, uint32_t v)
{
    v = htonl(v);
    memcpy(o->bytes + o->n, &v, 4);
    o->n += 4;
}

static void put64(struct out *o, uint64_t v)
{
    put32(o, (uint32_t)(v >> 32));
    put32(o, (uint32_t)v);
}

static void put_opaque(struct out *o, const void *p, size_t n)
{
    put32(o, (uint32_t)n);
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
    put32(o, i->type);
    put32(o, i->mode);
    put32(o, i->nlink);
    put32(o, 0);
    put32(o, 0);
    put64(o, i->size);
    put64(o, i->size);
    put64(o, 0);
    put64(o, f->vips[vip].other_fsid ? FSID + 1 : FSID);
    put64(o, i->id);
    for (int t = 0; t < 3; t++)
        put64(o, (uint64_t)i->id << 32);
}

static void put_post(struct out *o, const struct fake_nfs *f, unsigned vip, const struct inode *i)
{
    put32(o, i != NULL);
    if (i)
        put_attr(o, f, vip, i);
}

static void put_wcc(struct out *o, const struct fake_nfs *f, unsigned vip, const struct inode *i)
{
    put32(o, 0);
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
    const uint8_t *p = get_opaque(x, &n);

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
        if (get32(x))
            get32(x);
    s.size_set = get32(x);
    if (s.size_set)
        s.size = get64(x);
    for (int i = 0; i < 2; i++)
        if (get32(x) == 2)
            get64(x);
    return s;
}

static void answer_made(struct out *o, struct fake_nfs *f, unsigned vip, unsigned dir, uint32_t status,
                        const struct inode *made)
{
    put32(o, status);
    if (status == 0) {
        put32(o, 1);
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

    get_name(x, name);
    if (procedure == NFS3_CREATE)
        mode = get32(x);
    if (procedure == NFS3_MKNOD)
        type = get32(x);
    if (procedure == NFS3_CREATE && mode == NFS3_EXCLUSIVE)
        verifier = get64(x);
    else
        get_sattr(x);
    if (procedure == NFS3_SYMLINK)
        get_name(x, target);
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

    get_name(x, name);
    e = entry_of(f, dir, name);
    put32(o, e ? 0 : NFS3_ENOENT);
    if (e)
        drop(f, e);
    put_wcc(o, f, vip, inode_of(f, dir));
}

static void do_rename(struct fake_nfs *f, unsigned vip, struct in *x, struct out *o)
{
    unsigned from = get_handle(x), to;
    char name[256], name2[256];
    struct entry *e, *over;

    get_name(x, name);
    to = get_handle(x);
    get_name(x, name2);
    e = entry_of(f, from, name);
    over = entry_of(f, to, name2);
    put32(o, e ? 0 : NFS3_ENOENT);
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

    get_name(x, name);
    there = entry_of(f, dir, name) != NULL;
    put32(o, there ? NFS3_EEXIST : 0);
    if (!there) {
        i->nlink++;
        entry_new(f, dir, name, id);
    }
    put_post(o, f, vip, i);
    put_wcc(o, f, vip, inode_of(f, dir));
}

static void do_write(struct fake_nfs *f, unsigned vip, struct inode *i, struct in *x, struct out *o)
{
    uint64_t offset = get64(x);
    uint32_t count = get32(x), stable = get32(x), n;
    const uint8_t *data = get_opaque(x, &n);

    assert(n == count);
    if (offset + count > i->size)
        resize(i, offset + count);
    memcpy(i->data + offset, data, count);
    if (stable)
        make_stable(i);
    put32(o, 0);
    put_wcc(o, f, vip, i);
    put32(o, count);
    put32(o, stable);
    put64(o, f->verifier);
}

static void do_read(struct fake_nfs *f, unsigned vip, const struct inode *i, struct in *x, struct out *o)
{
    uint64_t offset = get64(x), left = offset < i->size ? i->size - offset : 0;
    uint32_t count = get32(x);

    count = count < left ? count : (uint32_t)left;
    put32(o, 0);
    put_post(o, f, vip, i);
    put32(o, count);
    put32(o, offset + count >= i->size);
    put_opaque(o, count ? i->data + offset : (const uint8_t *)"", count);
}

static void do_readdir(struct fake_nfs *f, unsigned vip, bool plus, unsigned dir, struct in *x, struct out *o)
{
    uint64_t cookie = get64(x);
    bool more = false;
    int n = 0;

    put32(o, 0);
    put_post(o, f, vip, inode_of(f, dir));
    put64(o, 1);
    for (uint64_t k = cookie; k < ENTRIES_MAX; k++) {
        const struct entry *e = &f->entries[k];

        if (!e->id || e->dir != dir)
            continue;
        if (++n > 10) {
            more = true;
            break;
        }
        put32(o, 1);
        put64(o, e->id);
        put_opaque(o, e->name, strlen(e->name));
        put64(o, k + 1);
        if (plus) {
            put_post(o, f, vip, inode_of(f, e->id));
            put32(o, 1);
            put_handle(o, f, vip, e->id);
        }
    }
    put32(o, 0);
    put32(o, !more);
}

static void do_fsinfo(struct fake_nfs *f, unsigned vip, const struct inode *i, struct out *o)
{
    put32(o, 0);
    put_post(o, f, vip, i);
    for (int k = 0; k < 7; k++)
        put32(o, k == 2 || k == 5 ? 1 : 1 << 20);
    put64(o, INT64_MAX);
    put64(o, 1);
    put32(o, 0x1b);
}

static void do_lookup(struct fake_nfs *f, unsigned vip, unsigned dir, struct in *x, struct out *o)
{
    char name[256];
    struct entry *e;

    get_name(x, name);
    e = entry_of(f, dir, name);
    put32(o, e ? 0 : NFS3_ENOENT);
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
        put32(o, NFS3_ESTALE);
        put32(o, 0);
        put32(o, 0);
        return;
    }
    switch (procedure) {
    case NFS3_GETATTR:
        put32(o, 0);
        put_attr(o, f, vip, i);
        break;
    case NFS3_SETATTR: {
        struct settings s = get_sattr(x);

        if (s.size_set)
            resize(i, s.size);
        put32(o, 0);
        put_wcc(o, f, vip, i);
        break;
    }
    case NFS3_ACCESS:
        put32(o, 0);
        put_post(o, f, vip, i);
        put32(o, get32(x));
        break;
    case NFS3_READLINK:
        put32(o, 0);
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
        put32(o, 0);
        put_post(o, f, vip, i);
        for (int k = 0; k < 6; k++)
            put64(o, 1000);
        put32(o, 0);
        break;
    case NFS3_PATHCONF:
        put32(o, 0);
        put_post(o, f, vip, i);
        for (int k = 0; k < 6; k++)
            put32(o, k < 2 ? 255 : 1);
        break;
    default: /* COMMIT */
        make_stable(i);
        put32(o, 0);
        put_wcc(o, f, vip, i);
        put64(o, f->verifier);
        break;
    }
}

static void do_mount(struct fake_nfs *f, unsigned vip, uint32_t procedure, struct out *o)
{
    switch (procedure) {
    case 1: /* MNT */
        put32(o, 0);
        put_handle(o, f, vip, ROOT);
        put32(o, 1);
        put32(o, 1);
        break;
    case 5: /* EXPORT */
        put32(o, 1);
        put_opaque(o, "/export", 7);
        put32(o, 0);
        put32(o, 0);
        break;
    default:
        break;
    }
}

static void execute(struct fake_nfs *f, unsigned vip, bool mount, uint32_t procedure, struct in *x, struct out *o)
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

/* --- connections --------------------------------------------------------------------------------------------------- */

static void reset(struct peer *p)
{
    static const struct linger at_once = {.l_onoff = 1};

    if (p->fd < 0)
        return;
    loop_io_stop(&p->io);
    setsockopt(p->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(p->fd);
    p->fd = -1;
}

static void flush(struct peer *p)
{
    while (p->fd >= 0 && p->out_size) {
        ssize_t n = send(p->fd, p->out, p->out_size, MSG_NOSIGNAL);

        if (n <= 0)
            break;
        p->out_size -= (size_t)n;
        memmove(p->out, p->out + n, p->out_size);
    }
    if (p->fd >= 0)
        loop_io_events(&p->io, LOOP_READ | (p->out_size ? LOOP_WRITE : 0u));
}

static void say(struct peer *p, const uint8_t *bytes, size_t n)
{
    uint32_t mark = htonl(0x80000000u | (uint32_t)n);

    p->out = realloc(p->out, p->out_size + n + 4);
    assert(p->out);
    memcpy(p->out + p->out_size, &mark, 4);
    memcpy(p->out + p->out_size + 4, bytes, n);
    p->out_size += n + 4;
    flush(p);
}

struct head {
    uint32_t xid, program, procedure;
};

static struct head get_head(struct in *x)
{
    struct head h = {.xid = get32(x)};
    uint32_t n;

    get32(x);
    get32(x);
    h.program = get32(x);
    get32(x);
    h.procedure = get32(x);
    get32(x);
    get_opaque(x, &n);
    get32(x);
    get_opaque(x, &n);
    return h;
}

static void peek(struct fake_call *c, char *name, struct in x)
{
    uint32_t n;

    *name = '\0';
    c->name = name;
    if (c->mount || c->procedure == NFS3_NULL)
        return;
    get_opaque(&x, &n);
    switch (c->procedure) {
    case NFS3_READ:
    case NFS3_WRITE:
        c->offset = get64(&x);
        c->count = get32(&x);
        break;
    case NFS3_LINK:
        get_opaque(&x, &n);
        get_name(&x, name);
        break;
    case NFS3_LOOKUP:
    case NFS3_CREATE:
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
    case NFS3_MKNOD:
    case NFS3_REMOVE:
    case NFS3_RMDIR:
    case NFS3_RENAME:
        get_name(&x, name);
        break;
    default:
        break;
    }
}

static struct out start_reply(uint32_t xid)
{
    struct out o = {.bytes = malloc(RECORD_MAX)};

    assert(o.bytes);
    put32(&o, xid);
    put32(&o, 1);
    put32(&o, 0);
    put64(&o, 0);
    put32(&o, 0);
    return o;
}

static void at_last(void *context)
{
    struct later *l = context, **p = &l->fake->laters;
    struct in x = {l->record, l->record + l->size};
    struct head h = get_head(&x);
    struct out o = start_reply(h.xid);

    execute(l->fake, l->peer ? l->peer->vip : 0, h.program == 100005, h.procedure, &x, &o);
    if (l->peer)
        say(l->peer, o.bytes, o.n);
    free(o.bytes);
    while (*p != l)
        p = &(*p)->next;
    *p = l->next;
    free(l->record);
    free(l);
}

static void do_later(struct fake_nfs *f, struct peer *answer, const uint8_t *record, size_t size, int64_t ms)
{
    struct later *l = calloc(1, sizeof *l);

    assert(l);
    l->fake = f;
    l->peer = answer;
    l->record = malloc(size);
    assert(l->record);
    memcpy(l->record, record, size);
    l->size = size;
    l->next = f->laters;
    f->laters = l;
    loop_timer_start(f->loop, &l->timer, ms * NS_PER_MS, at_last, l);
}

static void handle(struct peer *p, const uint8_t *record, size_t size)
{
    struct fake_nfs *f = p->fake;
    struct in x = {record, record + size};
    struct head h = get_head(&x);
    struct fake_call c = {.vip = p->vip, .mount = h.program == 100005, .procedure = h.procedure, .number = f->calls++};
    char name[256];
    enum fake_action action;
    struct out o;

    peek(&c, name, x);
    action = f->hooks.call ? f->hooks.call(f->hooks.context, &c) : FAKE_ANSWER;
    switch (action) {
    case FAKE_RESET:
        reset(p);
        return;
    case FAKE_SWALLOW:
        return;
    case FAKE_DO_LATE:
        do_later(f, NULL, record, size, c.after_ms);
        reset(p);
        return;
    case FAKE_DELAY:
        do_later(f, p, record, size, c.after_ms);
        return;
    default:
        break;
    }
    o = start_reply(h.xid);
    if (action == FAKE_JUKEBOX) {
        put32(&o, NFS3_EJUKEBOX);
        for (int i = 0; i < 4; i++)
            put32(&o, 0);
    } else {
        execute(f, p->vip, c.mount, h.procedure, &x, &o);
    }
    c.reply = o.bytes;
    c.reply_size = o.n;
    if (action == FAKE_MUTATE)
        f->hooks.mutate(f->hooks.context, &c);
    if (action == FAKE_LOSE_REPLY)
        reset(p);
    else
        say(p, c.reply, c.reply_size);
    free(o.bytes);
}

static void readable(void *context, unsigned events)
{
    struct peer *p = context;
    ssize_t n;

    if (events & LOOP_WRITE)
        flush(p);
    n = p->fd >= 0 ? recv(p->fd, p->in + p->have, RECORD_MAX - p->have, 0) : 0;
    if (n < 0 && errno == EAGAIN)
        return;
    if (n <= 0) {
        reset(p);
        return;
    }
    p->have += (size_t)n;
    while (p->fd >= 0 && p->have >= 4) {
        uint32_t mark;
        size_t size;

        memcpy(&mark, p->in, 4);
        size = ntohl(mark) & 0x7fffffff;
        assert(size + 4 <= RECORD_MAX);
        if (p->have < size + 4)
            break;
        handle(p, p->in + 4, size);
        p->have -= size + 4;
        memmove(p->in, p->in + size + 4, p->have);
    }
}

static void acceptable(void *context, unsigned events)
{
    struct vip *v = context;
    struct fake_nfs *f = v->fake;
    struct peer *p;
    int fd = accept4(v->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

    (void)events;
    if (fd < 0)
        return;
    p = calloc(1, sizeof *p);
    assert(p);
    p->in = malloc(RECORD_MAX);
    assert(p->in);
    p->fd = fd;
    p->vip = v->number;
    p->fake = f;
    p->next = f->peers;
    f->peers = p;
    loop_io_start(f->loop, &p->io, fd, LOOP_READ, readable, p);
}

static bool listen_on(struct fake_nfs *f, unsigned vip)
{
    struct vip *v = &f->vips[vip];
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons(f->port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK + vip)};
    socklen_t size = sizeof a;
    int one = 1;

    v->fake = f;
    v->number = vip;
    v->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(v->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (v->fd < 0 || bind(v->fd, (struct sockaddr *)&a, sizeof a) || listen(v->fd, 64) ||
        getsockname(v->fd, (struct sockaddr *)&a, &size)) {
        if (v->fd >= 0)
            close(v->fd);
        v->fd = -1;
        return false;
    }
    f->port = ntohs(a.sin_port);
    loop_io_start(f->loop, &v->io, v->fd, LOOP_READ, acceptable, v);
    return true;
}

static void stop_listening(struct vip *v)
{
    if (v->fd < 0)
        return;
    loop_io_stop(&v->io);
    close(v->fd);
    v->fd = -1;
}

/* All addresses need the same port: another is tried when one of them is taken. */
struct fake_nfs *fake_nfs_new(struct loop *l, unsigned n_vips, const struct fake_hooks *hooks)
{
    struct fake_nfs *f = calloc(1, sizeof *f);
    bool good = false;

    assert(f && n_vips <= FAKE_VIPS_MAX);
    f->loop = l;
    f->n_vips = n_vips;
    f->verifier = 1;
    f->next_id = ROOT;
    if (hooks)
        f->hooks = *hooks;
    for (int attempt = 0; !good && attempt < 50; attempt++) {
        f->port = 0;
        good = true;
        for (unsigned i = 0; i < n_vips; i++)
            f->vips[i].fd = -1;
        for (unsigned i = 0; good && i < n_vips; i++)
            good = listen_on(f, i);
        for (unsigned i = 0; !good && i < n_vips; i++)
            stop_listening(&f->vips[i]);
    }
    assert(good);
    inode_new(f, NFS3_DIR)->mode = 0755;
    return f;
}

static void drop_peers(struct fake_nfs *f, int vip)
{
    for (struct peer *p = f->peers; p; p = p->next)
        if (vip < 0 || p->vip == (unsigned)vip)
            reset(p);
}

void fake_nfs_free(struct fake_nfs *f)
{
    if (!f)
        return;
    for (unsigned i = 0; i < f->n_vips; i++)
        stop_listening(&f->vips[i]);
    drop_peers(f, -1);
    for (struct peer *p = f->peers, *next; p; p = next) {
        next = p->next;
        free(p->in);
        free(p->out);
        free(p);
    }
    for (struct later *l = f->laters, *next; l; l = next) {
        next = l->next;
        loop_timer_stop(&l->timer);
        free(l->record);
        free(l);
    }
    for (int i = 0; i < INODES_MAX; i++) {
        free(f->inodes[i].data);
        free(f->inodes[i].stable);
    }
    free(f);
}

uint16_t fake_nfs_port(const struct fake_nfs *f) { return f->port; }

void fake_nfs_config(const struct fake_nfs *f, struct paths_config *config, struct paths_server *servers)
{
    static const char *const names[] = {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4",
                                        "127.0.0.5", "127.0.0.6", "127.0.0.7", "127.0.0.8"};

    memset(config, 0, sizeof *config);
    memset(servers, 0, f->n_vips * sizeof *servers);
    for (unsigned i = 0; i < f->n_vips; i++) {
        servers[i].name = names[i];
        conn_parse_address(names[i], f->port, &servers[i].address);
    }
    config->servers = servers;
    config->n_servers = f->n_vips;
    config->export = "/export";
    config->port = config->mount_port = f->port;
    config->bound_ms = 300;
    config->failback_ms = 100;
    config->quarantine_ms = 400;
    config->timeo_ms = 2000;
}

void fake_nfs_restart(struct fake_nfs *f)
{
    drop_peers(f, -1);
    f->verifier++;
    for (int i = 0; i < INODES_MAX; i++) {
        struct inode *n = &f->inodes[i];

        if (!n->id || n->type != NFS3_REG)
            continue;
        resize(n, n->stable_size);
        if (n->stable_size)
            memcpy(n->data, n->stable, n->stable_size);
    }
}

void fake_nfs_vip(struct fake_nfs *f, unsigned vip, bool there)
{
    if (!there) {
        stop_listening(&f->vips[vip]);
        drop_peers(f, (int)vip);
    } else if (f->vips[vip].fd < 0) {
        bool good = listen_on(f, vip);

        assert(good);
        (void)good;
    }
}

void fake_nfs_other(struct fake_nfs *f, unsigned vip, bool fsid, bool handle)
{
    f->vips[vip].other_fsid = fsid;
    f->vips[vip].other_handle = handle;
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
