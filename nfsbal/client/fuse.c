/* Theory of operation
 *
 * The kernel's requests are read from /dev/fuse in the client's one loop, each becomes a struct op (fuse_op.c), sends one NFS call
 * after the other and is answered from the last one's callback. Nothing blocks and there is no thread. The files fuse_*.c hold
 * the requests by kind.
 *
 * A notification to the kernel from within the loop may only be one that takes no lock which a request that waits for us may
 * hold: attributes of an inode (file_open()), never pages and never names.
 */
#define _GNU_SOURCE /* MNT_DETACH, environ */
#include "nfsbal/client/fuse.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nfsbal/client/control.h"
#include "nfsbal/client/fuse_private.h"

enum {
    MESSAGES = 16,        /* of the kernel that are read before the network has its turn */
    BACKGROUND = 128,     /* reads ahead and direct I/O that the kernel sends at a time */
    READ_AHEAD = 8 << 20, /* by default */
    WRITES = 64,          /* WRITEs out at a time, for each megabyte of wsize */
    IN_FLIGHT = 8 << 20,  /* bytes of WRITEs out at a time, for each connection */
};

void fs_reportf(const struct fs *fs, const char *format, ...)
{
    char line[512];
    va_list args;

    if (!fs->config.report)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fs->config.report(fs->config.context, line);
}

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
    struct fs *fs = userdata;
    const unsigned want = FUSE_CAP_ASYNC_READ | FUSE_CAP_ASYNC_DIO | FUSE_CAP_AUTO_INVAL_DATA |
                          FUSE_CAP_PARALLEL_DIROPS | FUSE_CAP_POSIX_LOCKS | FUSE_CAP_FLOCK_LOCKS |
                          (fs->options->plus ? FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO : 0);

    conn->want &=
        ~(unsigned)(FUSE_CAP_ATOMIC_O_TRUNC | FUSE_CAP_WRITEBACK_CACHE | FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE |
                    FUSE_CAP_SPLICE_MOVE | FUSE_CAP_READDIRPLUS | FUSE_CAP_READDIRPLUS_AUTO | FUSE_CAP_HANDLE_KILLPRIV);
    conn->want |= want & conn->capable;
    conn->max_read = fs->read_max;
    conn->max_write = NFS3_IO_MAX;
    conn->max_background = BACKGROUND;
    conn->congestion_threshold = BACKGROUND;
    conn->max_readahead = UINT32_MAX;
    conn->time_gran = 1;
}

// clang-format off
static const struct fuse_lowlevel_ops table = {
    .init = fs_init,
    .lookup = fs_lookup, .forget = fs_forget, .forget_multi = fs_forget_multi,
    .mknod = fs_mknod, .mkdir = fs_mkdir, .symlink = fs_symlink, .link = fs_link, .create = fs_create,
    .unlink = fs_unlink, .rmdir = fs_rmdir, .rename = fs_rename,
    .getattr = fs_getattr, .setattr = fs_setattr, .access = fs_access, .readlink = fs_readlink, .statfs = fs_statfs,
    .open = fs_open, .read = fs_read, .write = fs_write, .flush = fs_flush, .release = fs_release, .fsync = fs_fsync,
    .opendir = fs_opendir, .readdir = fs_readdir, .readdirplus = fs_readdirplus, .releasedir = fs_releasedir,
    .fsyncdir = fs_fsyncdir, .setlk = fs_setlk, .getlk = fs_getlk, .flock = fs_flock,
};
// clang-format on

/* Starts the timer for what write-behind has due. */
static void due(void *context)
{
    struct fs *fs = context;

    fs->armed = INT64_MAX;
    wb_pump(&fs->wb, loop_clock());
    fs_arm(fs);
}

void fs_arm(struct fs *fs)
{
    if (fs->wb.due >= fs->armed)
        return;
    fs->armed = fs->wb.due;
    loop_timer_start(fs->loop, &fs->timer, fs->armed - loop_clock(), due, fs);
}

void fs_ended(void *context)
{
    struct fs *fs = context;

    if (fs->ended || (!fs->forced && (fs->n_ops > 0 || !TAILQ_EMPTY(&fs->wb.files))))
        return;
    fs->ended = true;
    fs->config.ended(fs->config.context);
}

/* No request will come any more: what is unwritten goes out, then it ends. */
static void end(struct fs *fs)
{
    if (fs->ending)
        return;
    fs->ending = true;
    loop_io_stop(&fs->io);
    fs->wb.config.delay = 0;
    wb_pump(&fs->wb, loop_clock());
    loop_task_queue(fs->loop, &fs->end, fs_ended, fs);
}

static void readable(void *context, unsigned events)
{
    struct fs *fs = context;

    (void)events;
    for (int i = 0; i < MESSAGES && fs->io.events; i++) {
        int n = fuse_session_receive_buf(fs->session, &fs->message);

        if (n == -EINTR)
            continue;
        if (n <= 0)
            break;
        fuse_session_process_buf(fs->session, &fs->message);
        if (fs->n_starving >= FS_STARVING_MAX)
            break;
    }
    fs_arm(fs);
    if (fuse_session_exited(fs->session))
        end(fs);
}

void fs_listen(struct fs *fs)
{
    if (!fs->ending)
        loop_io_start(fs->loop, &fs->io, fs->fd, LOOP_READ, readable, fs);
}

/* Mounting. */

static bool add_option(struct fuse_args *args, const char *name, const char *value)
{
    char text[MOUNT_TEXT_MAX + 64];

    snprintf(text, sizeof text, "%s%s", name, value);
    return fuse_opt_add_arg(args, "-o") == 0 && fuse_opt_add_arg(args, text) == 0;
}

/* fuse_opt's own separators in a value are escaped with a backslash. */
static const char *escaped(const char *text, char *to, size_t size)
{
    size_t n = 0;

    for (; *text && n + 2 < size; text++) {
        if (*text == ',' || *text == '\\')
            to[n++] = '\\';
        to[n++] = *text;
    }
    to[n] = '\0';
    return to;
}

static bool make_arguments(const struct fs *fs, struct fuse_args *args)
{
    const struct mount_options *o = fs->options;
    char number[24], source[MOUNT_TEXT_MAX];
    bool other = o->allow_other < 0 ? geteuid() == 0 : o->allow_other > 0, ok;

    snprintf(number, sizeof number, "%u", fs->read_max);
    ok = fuse_opt_add_arg(args, "nfsbal") == 0 && add_option(args, "subtype=nfsbal", "") &&
         add_option(args, "fsname=", escaped(fs->config.source, source, sizeof source)) &&
         add_option(args, "max_read=", number);
    if (fs->config.debug)
        ok = ok && fuse_opt_add_arg(args, "-d") == 0;
    if (other)
        ok = ok && add_option(args, "allow_other", "");
    if (o->permissions)
        ok = ok && add_option(args, "default_permissions", "");
    if (o->read_only)
        ok = ok && add_option(args, "ro", "");
    /* libfuse's default for everybody, root too, is nosuid,nodev. */
    if (geteuid() == 0)
        ok = ok && add_option(args, o->no_suid ? "nosuid" : "suid", "") &&
             add_option(args, o->no_dev ? "nodev" : "dev", "");
    if (o->no_exec)
        ok = ok && add_option(args, "noexec", "");
    if (o->no_atime)
        ok = ok && add_option(args, "noatime", "");
    return ok;
}

/* The kernel reads 128 KiB ahead in such file systems unless it is told otherwise here, which takes root. */
static void set_read_ahead(struct fs *fs)
{
    int64_t bytes = fs->options->read_ahead >= 0 ? fs->options->read_ahead : READ_AHEAD;
    char path[80];
    FILE *f;

    snprintf(path, sizeof path, "/sys/class/bdi/%u:%u/read_ahead_kb", major(fs->device), minor(fs->device));
    f = fopen(path, "we");
    if (f) {
        fprintf(f, "%lld\n", (long long)(bytes / 1024));
        if (fclose(f) == 0)
            return;
    }
    if (fs->options->read_ahead >= 0)
        fs_reportf(fs, "readahead=%lld: %s: %s; the kernel's 128 KiB stay", (long long)bytes, path, strerror(errno));
}

#ifdef __SANITIZE_ADDRESS__
/* libfuse 3.14 frees the name of the mount point in fuse_session_unmount() only, which would unmount whatever is at that name
 * by then: we have taken our own mount away already (detach()). */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:fuse_session_mount\n"; }
const char *__lsan_default_options(void);
const char *__lsan_default_options(void) { return "print_suppressions=0"; }
#endif

static bool open_session(struct fs *fs, char *problem, size_t size)
{
    struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
    bool ok = make_arguments(fs, &args);
    int flags;

    fs->session = ok ? fuse_session_new(&args, &table, sizeof table, fs) : NULL;
    fuse_opt_free_args(&args);
    if (!fs->session) {
        snprintf(problem, size, "%s: no FUSE session", fs->config.target);
        return false;
    }
    errno = 0;
    if (fuse_session_mount(fs->session, fs->config.target) != 0) {
        snprintf(problem, size, "%s: can't be mounted%s%s", fs->config.target, errno ? ": " : "",
                 errno ? strerror(errno) : "");
        return false;
    }
    fs->mounted = true;
    fs->fd = fuse_session_fd(fs->session);
    flags = fcntl(fs->fd, F_GETFL);
    if (flags < 0 || fcntl(fs->fd, F_SETFL, flags | O_NONBLOCK) != 0) {
        snprintf(problem, size, "/dev/fuse: %s", strerror(errno));
        return false;
    }
    return true;
}

static bool make_root(struct fs *fs)
{
    const struct paths_root *root = paths_root(fs->paths);
    struct node *n = handles_get(&fs->handles, &root->fh);

    if (!n)
        return false;
    assert(n->id == NODE_ROOT);
    node_hold(n);
    node_take(fs, n, &root->attr, loop_clock());
    return true;
}

static uint32_t least(uint32_t a, int64_t b) { return b > 0 && b < a ? (uint32_t)b : a; }

/* Enough to keep every connection busy, and no more: a COMMIT waits behind them in its connection, what is out is held twice
 * (libnfs copies it), and while a COMMIT is under way there must be memory for as much again, or the links run dry. */
static uint64_t in_flight(const struct fs *fs)
{
    const struct mount_options *o = fs->options;
    uint64_t n = o->spread == MOUNT_SPREAD_MOUNT ? 1 : paths_count(fs->paths), most = pool_limit(fs->config.pool) / 5;

    n *= IN_FLIGHT * (uint64_t)(o->nconnect > 0 ? o->nconnect : 1);
    return n < most ? n : most;
}

struct fs *fs_mount(const struct fs_config *config, char *problem, size_t size)
{
    static const struct wb_ops ops = {fs_send_extent, fs_dropped, fs_idle};
    const struct mount_options *o = config->options;
    const struct paths_root *root = paths_root(config->paths);
    struct fs *fs = calloc(1, sizeof *fs);
    struct wb_config wb = {.delay = NS_PER_S / 2};
    char type[64];

    if (!fs || !handles_init(&fs->handles)) {
        free(fs);
        snprintf(problem, size, "no memory");
        return NULL;
    }
    fs->config = *config;
    fs->target = strdup(config->target);
    fs->options = o;
    fs->loop = config->loop;
    fs->paths = config->paths;
    fs->stable = config->stable;
    fs->armed = INT64_MAX;
    fs->regular = (struct attr_limits){o->ac_reg_min, o->ac_reg_max};
    fs->directory = (struct attr_limits){o->ac_dir_min, o->ac_dir_max};
    fs->handles.fs = fs;
    fs->read_max = least(least(NFS3_IO_MAX, root->read_max), o->rsize) & ~4095U;
    fs->write_max = least(least(NFS3_IO_MAX, root->write_max), o->wsize);
    TAILQ_INIT(&fs->ops);
    TAILQ_INIT(&fs->files);
    TAILQ_INIT(&fs->directories);
    TAILQ_INIT(&fs->idle);
    TAILQ_INIT(&fs->starving);
    TAILQ_INIT(&fs->unsent);
    wb.wsize = fs->write_max;
    wb.writes = WRITES * (NFS3_IO_MAX / fs->write_max);
    wb.in_flight = in_flight(fs);
    wb_init(&fs->wb, &wb, config->pool, &ops, fs);
    if (fs->read_max < 4096) {
        snprintf(problem, size, "%s: the server reads no more than %u bytes at a time", config->source, root->read_max);
    } else if (!fs->target || !make_root(fs)) {
        snprintf(problem, size, "no memory");
    } else if (open_session(fs, problem, size)) {
        if (!control_find(config->target, &fs->device, type, sizeof type))
            fs->device = 0;
        set_read_ahead(fs);
        fs_listen(fs);
        return fs;
    }
    fs_free(fs);
    return NULL;
}

/* Takes it out of the tree of directories. Programs that have files open keep it until they close them. */
static void detach(struct fs *fs)
{
    char program[] = "fusermount3", unmount[] = "-u", quiet[] = "-q", lazy[] = "-z", last[] = "--";
    char *arguments[] = {program, unmount, quiet, lazy, last, fs->target, NULL};
    pid_t pid;
    int status;

    if (!fs->mounted)
        return;
    fs->mounted = false;
    if (umount2(fs->config.target, MNT_DETACH) == 0 || geteuid() == 0)
        return;
    if (posix_spawnp(&pid, program, NULL, NULL, arguments, environ) == 0)
        waitpid(pid, &status, 0);
}

static void drop_node(void *context, struct node *n)
{
    struct fs *fs = context;
    uint64_t kept = n->stable ? stable_file_kept(n->stable) : 0;

    if (kept > 0)
        fs_reportf(fs, "%s: the server may lose %llu bytes, which it was not seen to commit",
                   n->name ? n->name : "a file", (unsigned long long)kept);
    if (n->stable) {
        stable_close(n->stable);
        n->stable = NULL;
        n->holds--;
    }
    n->holds++; /* it stays while the table is walked */
    wb_abandon(&fs->wb, &n->wb, -EIO, loop_clock());
    n->holds--;
}

/* Answers what waits, with EIO; nothing is left that could answer it later. */
static void force(struct fs *fs)
{
    struct op *op;

    fs->forced = true;
    TAILQ_FOREACH (op, &fs->ops, link)
        if (op->submitted) {
            paths_forget(&op->nfs);
            op->submitted = false;
        }
    handles_each(&fs->handles, drop_node, fs);
    TAILQ_FOREACH (op, &fs->ops, link)
        if (op->req) {
            fuse_req_interrupt_func(op->req, NULL, NULL);
            fuse_reply_err(op->req, EIO);
            op->req = NULL;
        }
}

void fs_unmount(struct fs *fs, bool forced)
{
    detach(fs);
    if (!forced || fs->forced)
        return;
    loop_io_stop(&fs->io);
    force(fs);
    end(fs);
}

static void close_node(void *context, struct node *n)
{
    (void)context;
    stable_close(n->stable);
    n->stable = NULL;
    locks_free(&n->locks);
    locks_free(&n->flocks);
}

static void free_ops(struct op_list *list)
{
    for (struct op *op; (op = TAILQ_FIRST(list)) != NULL;) {
        TAILQ_REMOVE(list, op, link);
        free(op->target);
        free(op->data);
        free(op);
    }
}

void fs_free(struct fs *fs)
{
    if (!fs)
        return;
    loop_io_stop(&fs->io);
    detach(fs);
    if (!fs->ended && fs->session)
        force(fs);
    loop_timer_stop(&fs->timer);
    loop_task_cancel(&fs->failed);
    loop_task_cancel(&fs->end);
    loop_task_cancel(&fs->go_on);
    pool_wait_cancel(&fs->room);
    if (fs->session)
        fuse_session_destroy(fs->session);
    free_ops(&fs->ops);
    free_ops(&fs->idle);
    files_free(fs);
    directories_free(fs);
    handles_each(&fs->handles, close_node, fs);
    handles_free(&fs->handles);
    free(fs->message.mem);
    free(fs->target);
    free(fs);
}

void fs_get_stats(const struct fs *fs, struct fs_stats *out)
{
    *out = (struct fs_stats){.requests = fs->requests,
                             .read_bytes = fs->read_bytes,
                             .written_bytes = fs->written_bytes,
                             .waiting = fs->n_ops,
                             .nodes = fs->handles.count,
                             .open_files = fs->open_files,
                             .dirty_bytes = fs->wb.held_bytes,
                             .unstable_bytes = stable_kept(fs->stable),
                             .dirty_limit = pool_limit(fs->config.pool),
                             .dropped_bytes = fs->dropped_bytes};
}

uint64_t fs_device(const struct fs *fs) { return fs->device; }
