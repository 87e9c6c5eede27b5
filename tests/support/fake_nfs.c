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

#include "tests/support/fake_nfs_private.h"

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
    struct head h = {.xid = fake_get32(x)};
    uint32_t n;

    fake_get32(x);
    fake_get32(x);
    h.program = fake_get32(x);
    fake_get32(x);
    h.procedure = fake_get32(x);
    fake_get32(x);
    fake_get_opaque(x, &n);
    fake_get32(x);
    fake_get_opaque(x, &n);
    return h;
}

static void peek(struct fake_call *c, char *name, struct in x)
{
    uint32_t n;

    *name = '\0';
    c->name = name;
    if (c->mount || c->procedure == NFS3_NULL)
        return;
    fake_get_opaque(&x, &n);
    switch (c->procedure) {
    case NFS3_READ:
    case NFS3_WRITE:
        c->offset = fake_get64(&x);
        c->count = fake_get32(&x);
        break;
    case NFS3_LINK:
        fake_get_opaque(&x, &n);
        fake_get_name(&x, name);
        break;
    case NFS3_LOOKUP:
    case NFS3_CREATE:
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
    case NFS3_MKNOD:
    case NFS3_REMOVE:
    case NFS3_RMDIR:
    case NFS3_RENAME:
        fake_get_name(&x, name);
        break;
    default:
        break;
    }
}

static struct out start_reply(uint32_t xid)
{
    struct out o = {.bytes = malloc(RECORD_MAX)};

    assert(o.bytes);
    fake_put32(&o, xid);
    fake_put32(&o, 1);
    fake_put32(&o, 0);
    fake_put64(&o, 0);
    fake_put32(&o, 0);
    return o;
}

static void at_last(void *context)
{
    struct later *l = context, **p = &l->fake->laters;
    struct in x = {l->record, l->record + l->size};
    struct head h = get_head(&x);
    struct out o = start_reply(h.xid);

    fake_execute(l->fake, l->peer ? l->peer->vip : 0, h.program == 100005, h.procedure, &x, &o);
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
        fake_put32(&o, NFS3_EJUKEBOX);
        for (int i = 0; i < 4; i++)
            fake_put32(&o, 0);
    } else {
        fake_execute(f, p->vip, c.mount, h.procedure, &x, &o);
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
    f->write_told = f->write_done = 1 << 20;
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
    fake_fs_init(f);
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
    fake_fs_free(f);
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
    fake_fs_lose_unstable(f);
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

void fake_nfs_writes(struct fake_nfs *f, uint32_t told, uint32_t done)
{
    f->write_told = told;
    f->write_done = done;
}

void fake_nfs_other(struct fake_nfs *f, unsigned vip, bool fsid, bool handle)
{
    f->vips[vip].other_fsid = fsid;
    f->vips[vip].other_handle = handle;
}
