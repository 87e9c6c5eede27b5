/* Preparation and end are a few calls one after the other, so they block on the loop (await()); the data in between is
 * a set of slots, each of which reads a block and then writes it. */
#include "nfsbal/client/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nfsbal/client/loop.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/pool.h"
#include "nfsbal/client/stable.h"

enum { DIRTY_MAX = 256 << 20 };

struct copy;

struct end {
    const struct copy_end *config;
    struct paths *paths;
    int fd; /* local; -1 */
    struct nfs3_fh dir, fh;
    char name[NFS3_NAME_MAX + 1], temporary[NFS3_NAME_MAX + 40];
    char *local, *local_temporary; /* paths */
    bool made;                     /* the temporary file is there */
};

struct slot {
    struct copy *copy;
    struct request request;
    struct buffer *buffer;
    uint64_t offset;
    uint32_t length, done;
};

struct copy {
    struct loop *loop;
    const struct copy_config *config;
    struct end from, to;
    struct stable *stable;
    struct stable_file *file;
    struct pool *pool;
    struct slot *slots;
    unsigned busy;
    uint64_t next, size, finished, written;
    uint32_t mode;
    struct nfs3_time mtime;
    struct loop_signal interrupt, terminate;
    struct loop_task pump;
    struct loop_timer tick;
    bool stopped, waiting;
    int error;
    char *problem;
    size_t problem_size;
    /* The answer that await() waits for. */
    bool answered;
    enum nfs3_status status;
    struct nfs3_fh got_fh;
    struct nfs3_attr got_attr;
    bool have_attr;
};

static int fail(struct copy *c, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int fail(struct copy *c, int error, const char *format, ...)
{
    va_list args;

    if (!c->error) {
        va_start(args, format);
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
        vsnprintf(c->problem, c->problem_size, format, args);
        va_end(args);
        c->error = -error;
    }
    return c->error;
}

static void on_signal(void *context)
{
    struct copy *c = context;

    c->stopped = true;
    fail(c, EINTR, "interrupted");
    loop_stop(c->loop);
}

/* Runs the loop until something came; false after a signal. */
static bool await(struct copy *c, const bool *done)
{
    while (!*done && !c->stopped)
        loop_run(c->loop);
    return *done;
}

static void on_answer(struct request *r, const struct nfs3_result *result)
{
    struct copy *c = r->arg;

    c->answered = true;
    c->status = result->status;
    c->have_attr = result->attr != NULL;
    if (result->attr)
        c->got_attr = *result->attr;
    if (result->fh)
        c->got_fh = *result->fh;
    loop_stop(c->loop);
}

/* 0, or the negative errno of a call; nothing is said. Also after a signal: the remains are removed then. */
static int ask(struct copy *c, struct end *e, struct nfs3_call call)
{
    struct request r = {.call = call, .done = on_answer, .arg = c, .want = REQUEST_ANY_PATH};
    bool stopped = c->stopped;
    int rc;

    c->answered = false;
    c->stopped = false;
    paths_submit(e->paths, &r);
    rc = await(c, &c->answered) ? -nfs3_status_errno(c->status) : -EINTR;
    paths_forget(&r);
    c->stopped |= stopped;
    return rc;
}

/* --- mounting and finding ------------------------------------------------------------------------------------------ */

struct mounting {
    struct copy *copy;
    bool done;
};

static void on_ready(void *context, const char *problem)
{
    struct mounting *m = context;

    m->done = true;
    if (problem)
        fail(m->copy, EIO, "%s", problem);
    loop_stop(m->copy->loop);
}

static int mount_end(struct copy *c, struct end *e)
{
    struct mounting m = {.copy = c};

    e->paths = paths_new(c->loop, e->config->paths, on_ready, &m);
    if (!e->paths)
        return fail(c, ENOMEM, "out of memory");
    await(c, &m.done);
    if (c->error)
        return c->error;
    e->dir = paths_root(e->paths)->fh;
    return 0;
}

/* Goes down `path` to its last component, which stands in e->name afterwards ("" for the export itself). */
static int walk(struct copy *c, struct end *e, const char *path)
{
    for (;;) {
        size_t n;
        int rc;

        while (*path == '/')
            path++;
        n = strcspn(path, "/");
        if (n >= sizeof e->name)
            return fail(c, ENAMETOOLONG, "%s: a name of %zu bytes", e->config->path, n);
        memcpy(e->name, path, n);
        e->name[n] = '\0';
        path += n;
        if (!path[strspn(path, "/")])
            return 0;
        rc = ask(c, e, (struct nfs3_call){.procedure = NFS3_LOOKUP, .fh = e->dir, .name = e->name});
        if (rc)
            return fail(c, -rc, "%s: %s: %s", e->config->path, e->name, strerror(-rc));
        e->dir = c->got_fh;
    }
}

static int open_local_source(struct copy *c)
{
    struct end *e = &c->from;
    struct stat st;

    e->fd = open(e->config->path, O_RDONLY | O_CLOEXEC);
    if (e->fd < 0 || fstat(e->fd, &st))
        return fail(c, errno, "%s: %s", e->config->path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(c, EINVAL, "%s: not a regular file", e->config->path);
    snprintf(e->name, sizeof e->name, "%s",
             strrchr(e->config->path, '/') ? strrchr(e->config->path, '/') + 1 : e->config->path);
    c->size = (uint64_t)st.st_size;
    c->mode = st.st_mode & 07777;
    c->mtime = (struct nfs3_time){(uint32_t)st.st_mtim.tv_sec, (uint32_t)st.st_mtim.tv_nsec};
    return 0;
}

static int open_source(struct copy *c)
{
    struct end *e = &c->from;
    int rc;

    if (!e->config->paths)
        return open_local_source(c);
    if (mount_end(c, e) || walk(c, e, e->config->path))
        return c->error;
    rc = *e->name ? ask(c, e, (struct nfs3_call){.procedure = NFS3_LOOKUP, .fh = e->dir, .name = e->name}) : -EISDIR;
    e->fh = c->got_fh;
    if (rc == 0 && !c->have_attr)
        rc = ask(c, e, (struct nfs3_call){.procedure = NFS3_GETATTR, .fh = e->fh});
    if (rc)
        return fail(c, -rc, "%s: %s", e->config->path, strerror(-rc));
    if (c->got_attr.type != NFS3_REG)
        return fail(c, EINVAL, "%s: not a regular file", e->config->path);
    c->size = c->got_attr.size;
    c->mode = c->got_attr.mode;
    c->mtime = c->got_attr.mtime;
    return 0;
}

static char *joined(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *joined(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    int n;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = malloc((size_t)n + 1);
    va_start(args, format);
    if (text)
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, just above */
        vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

static int make_local_target(struct copy *c)
{
    struct end *e = &c->to;
    const char *path = e->config->path;
    struct stat st;
    bool there = stat(path, &st) == 0;

    e->local = there && S_ISDIR(st.st_mode) ? joined("%s/%s", path, c->from.name) : joined("%s", path);
    e->local_temporary = e->local ? joined("%s.part-%d", e->local, (int)getpid()) : NULL;
    if (!e->local_temporary)
        return fail(c, ENOMEM, "out of memory");
    there = stat(e->local, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return fail(c, EINVAL, "%s: not a regular file", e->local);
    if (there && c->config->no_replace)
        return fail(c, EEXIST, "%s: exists", e->local);
    e->fd = open(e->local_temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (e->fd < 0)
        return fail(c, errno, "%s: %s", e->local_temporary, strerror(errno));
    e->made = true;
    return 0;
}

static int make_target(struct copy *c)
{
    struct end *e = &c->to;
    struct nfs3_call create = {
        .procedure = NFS3_CREATE, .name = e->temporary, .mode = NFS3_GUARDED, .attr = {.set_mode = true, .mode = 0600}};
    int rc;

    if (!e->config->paths)
        return make_local_target(c);
    if (mount_end(c, e) || walk(c, e, e->config->path))
        return c->error;
    rc = *e->name ? ask(c, e, (struct nfs3_call){.procedure = NFS3_LOOKUP, .fh = e->dir, .name = e->name}) : 0;
    if (rc == 0 && (!*e->name || (c->have_attr && c->got_attr.type == NFS3_DIR))) { /* into a directory */
        if (*e->name)
            e->dir = c->got_fh;
        snprintf(e->name, sizeof e->name, "%s", c->from.name);
        rc = ask(c, e, (struct nfs3_call){.procedure = NFS3_LOOKUP, .fh = e->dir, .name = e->name});
    }
    if (rc == 0 && c->have_attr && c->got_attr.type != NFS3_REG)
        return fail(c, EINVAL, "%s: not a regular file", e->name);
    if (rc == 0 && c->config->no_replace)
        return fail(c, EEXIST, "%s: exists", e->name);
    if (rc && rc != -ENOENT)
        return fail(c, -rc, "%s: %s", e->config->path, strerror(-rc));
    snprintf(e->temporary, sizeof e->temporary, "%.200s.part-%d", e->name, (int)getpid());
    create.fh = e->dir;
    rc = ask(c, e, create);
    if (rc)
        return fail(c, -rc, "%s: %s", e->temporary, strerror(-rc));
    e->made = true;
    e->fh = c->got_fh;
    c->stable = stable_new(c->loop, e->paths, DIRTY_MAX);
    c->file = c->stable ? stable_open(c->stable, &e->fh, NULL) : NULL;
    return c->file ? 0 : fail(c, ENOMEM, "out of memory");
}

/* --- data ---------------------------------------------------------------------------------------------------------- */

static void pump(void *context);

static void slot_over(struct slot *s)
{
    struct copy *c = s->copy;

    c->finished += s->length;
    c->busy--;
    buffer_release(s->buffer);
    s->buffer = NULL;
    loop_task_queue(c->loop, &c->pump, pump, c);
}

static void on_written(void *arg, int error, const struct nfs3_attr *attr)
{
    struct slot *s = arg;

    (void)attr;
    if (error)
        fail(s->copy, error, "%s: write at %llu: %s", s->copy->to.config->path, (unsigned long long)s->offset,
             strerror(error));
    else
        s->copy->written += s->length;
    slot_over(s);
}

static bool is_zero(const uint8_t *p, size_t n) { return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0); }

static void write_local(struct slot *s)
{
    for (uint32_t at = 0; at < s->length;) {
        ssize_t n = pwrite(s->copy->to.fd, s->buffer->data + at, s->length - at, (off_t)(s->offset + at));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            on_written(s, n ? errno : EIO, NULL);
            return;
        }
        at += (uint32_t)n;
    }
    on_written(s, 0, NULL);
}

static void has_block(struct slot *s)
{
    struct copy *c = s->copy;

    if (!c->config->full && is_zero(s->buffer->data, s->length)) {
        slot_over(s);
        return;
    }
    if (!c->file)
        write_local(s);
    else if (stable_write(c->file, s->buffer, 0, s->offset, s->length, NFS3_UNSTABLE, on_written, s))
        on_written(s, ENOMEM, NULL);
}

static void read_more(struct slot *s);

static void on_read(struct request *r, const struct nfs3_result *result)
{
    struct slot *s = r->arg;
    struct copy *c = s->copy;

    if (result->status != NFS3_SUCCESS || (result->eof && s->done + result->count < s->length)) {
        fail(c, result->status ? nfs3_status_errno(result->status) : EIO, "%s: read at %llu: %s", c->from.config->path,
             (unsigned long long)s->offset,
             result->status ? nfs3_status_name(result->status) : "the file became shorter");
        slot_over(s);
        return;
    }
    s->done += result->count;
    if (s->done < s->length)
        read_more(s);
    else
        has_block(s);
}

static void read_more(struct slot *s)
{
    struct copy *c = s->copy;
    uint32_t left = s->length - s->done, most = paths_root(c->from.paths)->read_max;

    s->request.call = (struct nfs3_call){.procedure = NFS3_READ,
                                         .fh = c->from.fh,
                                         .offset = s->offset + s->done,
                                         .count = left < most ? left : most,
                                         .data_out = s->buffer->data + s->done};
    s->request.done = on_read;
    s->request.arg = s;
    s->request.want = REQUEST_ANY_PATH;
    paths_submit(c->from.paths, &s->request);
}

static void read_local(struct slot *s)
{
    struct copy *c = s->copy;

    while (s->done < s->length) {
        ssize_t n = pread(c->from.fd, s->buffer->data + s->done, s->length - s->done, (off_t)(s->offset + s->done));

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fail(c, n ? errno : EIO, "%s: %s", c->from.config->path, n ? strerror(errno) : "the file became shorter");
            slot_over(s);
            return;
        }
        s->done += (uint32_t)n;
    }
    has_block(s);
}

/* Starts a block for each free slot. After an error those under way are waited for. */
static void pump(void *context)
{
    struct copy *c = context;

    for (unsigned i = 0; i < c->config->outstanding; i++) {
        struct slot *s = &c->slots[i];
        uint64_t left = c->size - c->next;

        if (c->error || !left)
            break;
        if (s->buffer)
            continue;
        s->buffer = pool_get(c->pool, c->config->block);
        if (!s->buffer) { /* kept until a COMMIT: its answer comes */
            if (!c->busy)
                fail(c, ENOMEM, "out of memory");
            break;
        }
        s->offset = c->next;
        s->length = left < c->config->block ? (uint32_t)left : c->config->block;
        s->done = 0;
        c->next += s->length;
        c->busy++;
        if (c->from.paths)
            read_more(s);
        else
            read_local(s);
    }
    if (c->busy == 0 && (c->error || c->next == c->size)) {
        c->waiting = false;
        loop_stop(c->loop);
    }
}

static void on_tick(void *context)
{
    struct copy *c = context;

    c->config->progress(c->config->context, c->finished, c->size);
    loop_timer_start(c->loop, &c->tick, 100 * NS_PER_MS, on_tick, c);
}

static int copy_data(struct copy *c)
{
    c->waiting = true;
    loop_task_queue(c->loop, &c->pump, pump, c);
    if (c->config->progress)
        on_tick(c);
    while (c->waiting && !c->stopped)
        loop_run(c->loop);
    loop_timer_stop(&c->tick);
    return c->error;
}

/* --- the end ------------------------------------------------------------------------------------------------------- */

struct syncing {
    struct copy *copy;
    bool done;
    int error;
};

static void on_synced(void *arg, int error, const struct nfs3_attr *attr)
{
    struct syncing *s = arg;

    (void)attr;
    s->done = true;
    s->error = error;
    loop_stop(s->copy->loop);
}

static int finish_local(struct copy *c)
{
    struct end *e = &c->to;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = c->mtime.seconds, .tv_nsec = c->mtime.nanoseconds}};

    if (ftruncate(e->fd, (off_t)c->size) || fchmod(e->fd, c->mode) || (c->config->preserve && futimens(e->fd, times)) ||
        fsync(e->fd) || rename(e->local_temporary, e->local))
        return fail(c, errno, "%s: %s", e->local, strerror(errno));
    e->made = false;
    return 0;
}

static int finish(struct copy *c)
{
    struct end *e = &c->to;
    struct syncing s = {.copy = c};
    struct nfs3_call set = {.procedure = NFS3_SETATTR,
                            .fh = e->fh,
                            .attr = {.set_size = true,
                                     .size = c->size,
                                     .set_mode = true,
                                     .mode = c->mode,
                                     .set_mtime = c->config->preserve ? NFS3_TIME_CLIENT : NFS3_TIME_KEEP,
                                     .mtime = c->mtime}};
    int rc;

    if (!e->paths)
        return finish_local(c);
    if (stable_sync(c->file, on_synced, &s))
        return fail(c, ENOMEM, "out of memory");
    if (!await(c, &s.done))
        return c->error;
    if (s.error)
        return fail(c, s.error, "%s: %s", e->config->path, strerror(s.error));
    rc = ask(c, e, set);
    if (rc == 0)
        rc = ask(c, e,
                 (struct nfs3_call){
                     .procedure = NFS3_RENAME, .fh = e->dir, .name = e->temporary, .fh2 = e->dir, .name2 = e->name});
    if (rc)
        return fail(c, -rc, "%s: %s", e->name, strerror(-rc));
    e->made = false;
    return 0;
}

/* Nothing is left of a copy that failed, as far as the server can be told. */
static void clean_up(struct copy *c)
{
    struct end *e = &c->to;

    loop_task_cancel(&c->pump);
    for (unsigned i = 0; c->slots && i < c->config->outstanding; i++)
        paths_forget(&c->slots[i].request);
    stable_close(c->file);
    stable_free(c->stable);
    if (e->made && e->paths)
        ask(c, e, (struct nfs3_call){.procedure = NFS3_REMOVE, .fh = e->dir, .name = e->temporary});
    else if (e->made)
        unlink(e->local_temporary);
    for (unsigned i = 0; c->slots && i < c->config->outstanding; i++)
        buffer_release(c->slots[i].buffer);
    paths_free(c->from.paths);
    paths_free(e->paths);
    if (c->from.fd >= 0)
        close(c->from.fd);
    if (e->fd >= 0)
        close(e->fd);
    free(e->local);
    free(e->local_temporary);
    free(c->slots);
    pool_free(c->pool);
    loop_signal_stop(&c->interrupt);
    loop_signal_stop(&c->terminate);
}

static uint64_t reissued(const struct paths *p)
{
    struct path_info info;
    uint64_t n = 0;

    for (size_t i = 0; p && i < paths_count(p); i++)
        n += paths_info(p, i, &info) ? info.lost : 0;
    return n;
}

int copy_file(struct loop *l, const struct copy_config *config, struct copy_result *out, char *problem, size_t size)
{
    struct copy c = {.loop = l, .config = config, .problem = problem, .problem_size = size};
    int64_t began = loop_clock();

    c.from = (struct end){.config = &config->from, .fd = -1};
    c.to = (struct end){.config = &config->to, .fd = -1};
    loop_signal_start(l, &c.interrupt, SIGINT, on_signal, &c);
    loop_signal_start(l, &c.terminate, SIGTERM, on_signal, &c);
    c.pool = pool_new(DIRTY_MAX + (uint64_t)config->outstanding * NFS3_IO_MAX * 2);
    c.slots = calloc(config->outstanding, sizeof *c.slots);
    for (unsigned i = 0; c.slots && i < config->outstanding; i++)
        c.slots[i].copy = &c;
    if (!c.pool || !c.slots)
        fail(&c, ENOMEM, "out of memory");
    else if (open_source(&c) == 0 && make_target(&c) == 0 && copy_data(&c) == 0)
        finish(&c);
    *out = (struct copy_result){.size = c.size,
                                .written = c.written,
                                .seconds = (double)(loop_clock() - began) / 1e9,
                                .reissued = reissued(c.from.paths) + reissued(c.to.paths)};
    clean_up(&c);
    return c.error;
}
