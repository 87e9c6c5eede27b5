/* A node per file of the folder, known by device and inode number and held open (O_PATH), so that it has a name to nobody and
 * survives renames. Its number is never used again: it is what NFS handles are made of. Servers keep handles across anything, and the
 * kernel asks for a node by its handle whenever it has forgotten it (FUSE_EXPORT_SUPPORT: a lookup of "." in the node), so a node
 * goes only when its file has.
 *
 * Reads and writes come with the size of the NFS call (FOPEN_DIRECT_IO: no page cache, which would answer in the storage's place),
 * several at a time for one file (FOPEN_PARALLEL_DIRECT_WRITES, which libfuse 3.14 has no word for: the reply to OPEN is written as
 * the kernel has it). A write's bytes go to the folder when it comes, its answer when the storage has it. Whatever is no data costs
 * nothing, as in virtual time.
 *
 * Which controller serves a request is told by the network namespace of the thread that asks.
 */
#define _GNU_SOURCE      /* O_PATH, AT_EMPTY_PATH, renameat2() */
#define FUSE_USE_VERSION 314
#include "emu/live/store_fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse3/fuse_lowlevel.h>
#include <limits.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "emu/live/store_clock.h"
#include "emu/model/topology.h"

enum {
    IO_MAX = 1 << 20,  /* of nfs-ganesha's exports */
    REQUESTS = 64,     /* taken before answers have their turn */
    TABLE = 1 << 12,   /* places for nodes */
    THREADS = 1 << 12, /* of servers, whose controllers are remembered */
    PROC_PATH = 40
};
/* Nobody but us changes the folder while it is served, so the kernel may remember what it was told. */
#define KEEP 3600.0
#ifndef FOPEN_PARALLEL_DIRECT_WRITES
#define FOPEN_PARALLEL_DIRECT_WRITES (1 << 6)
#endif

struct node {
    struct node *next; /* of its place in the table */
    fuse_ino_t number;
    uint64_t lookups;
    dev_t device;
    ino_t inode;
    int fd; /* O_PATH */
    int io; /* for data; -1: not opened yet */
    struct store_streams streams;
};

struct call {
    struct store_call call;
    struct call *next; /* while free */
    fuse_req_t request;
    struct node *node;
    struct store_fs *fs;
};

struct thread {
    pid_t id;
    int controller;
};

struct store_fs {
    const struct store_config *config;
    struct store_clock *clock;
    struct fuse_session *session;
    struct fuse_buf message;
    struct node **nodes; /* by number - 1; NULL: gone */
    size_t n_nodes, room;
    struct node *table[TABLE]; /* by inode */
    struct call *free_calls;
    struct thread threads[THREADS];
    ino_t *namespaces; /* per controller */
    char data[IO_MAX]; /* of a reply */
};

static struct store_fs *fs_of(fuse_req_t r) { return fuse_req_userdata(r); }

static void reply_error(fuse_req_t r, int rc) { fuse_reply_err(r, rc < 0 ? errno : 0); }

/* ---- nodes ---- */

static struct node *node_of(const struct store_fs *fs, fuse_ino_t number)
{
    return number >= 1 && number <= fs->n_nodes ? fs->nodes[number - 1] : NULL;
}

/* The node that a request is about; NULL: it was answered with ESTALE. */
static struct node *node_for(fuse_req_t r, fuse_ino_t number)
{
    struct node *n = node_of(fs_of(r), number);
    if (!n)
        fuse_reply_err(r, ESTALE);
    return n;
}

static const struct store_file *known_file(const struct store_fs *fs, const struct node *parent, const char *name)
{
    const struct topo *t = fs->config->topo;
    struct stat s;
    for (size_t i = 0; i < fs->config->n_files; i++) {
        const struct store_file *f = &fs->config->files[i];
        char path[PATH_MAX];
        if (t->exports[f->export_].node != fs->config->node || strcmp(f->name, name) != 0)
            continue;
        snprintf(path, sizeof path, ".%s", t->exports[f->export_].path);
        if (!fstatat(fs->nodes[0]->fd, path, &s, 0) && s.st_dev == parent->device && s.st_ino == parent->inode)
            return f;
    }
    return NULL;
}

static struct node *node_new(struct store_fs *fs, int fd, const struct stat *s)
{
    struct node *n = calloc(1, sizeof *n);
    if (fs->n_nodes == fs->room) {
        size_t room = fs->room ? 2 * fs->room : 256;
        struct node **nodes = n ? realloc(fs->nodes, room * sizeof(struct node *)) : NULL;
        if (!nodes) {
            free(n);
            return NULL;
        }
        fs->nodes = nodes;
        fs->room = room;
    }
    if (!n)
        return NULL;
    struct node **place = &fs->table[s->st_ino % TABLE];
    *n = (struct node){.next = *place, .device = s->st_dev, .inode = s->st_ino, .fd = fd, .io = -1};
    *place = n;
    fs->nodes[fs->n_nodes++] = n;
    n->number = fs->n_nodes;
    return n;
}

/* The node of a descriptor, which is taken, with its attributes; NULL and errno. */
static struct node *node_get(struct store_fs *fs, int fd, const struct node *parent, const char *name, struct stat *s)
{
    int error = ENOMEM;
    if (fd < 0)
        return NULL;
    if (fstatat(fd, "", s, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) {
        error = errno;
        goto out;
    }
    for (struct node *n = fs->table[s->st_ino % TABLE]; n; n = n->next)
        if (n->inode == s->st_ino && n->device == s->st_dev) {
            close(fd);
            return n;
        }
    struct node *n = node_new(fs, fd, s);
    if (n) {
        if (parent && S_ISREG(s->st_mode))
            n->streams.known = known_file(fs, parent, name);
        return n;
    }
out:
    close(fd);
    errno = error;
    return NULL;
}

static void reply_entry(fuse_req_t r, struct node *n, const struct stat *s)
{
    const struct fuse_entry_param e = {
        .ino = n->number, .generation = 1, .attr = *s, .attr_timeout = KEEP, .entry_timeout = KEEP};
    n->lookups++;
    if (fuse_reply_entry(r, &e) == -ENOENT) /* nobody waits for it any more */
        n->lookups--;
}

/* Looked up by name. */
static void reply_child(fuse_req_t r, struct node *parent, const char *name)
{
    struct stat s;
    struct node *n = node_get(fs_of(r), openat(parent->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), parent, name, &s);
    if (n)
        reply_entry(r, n, &s);
    else
        fuse_reply_err(r, errno == EMFILE ? ENFILE : errno);
}

/* The file has no name any more and the kernel doesn't know it: nobody can come back to it. */
static void node_let_go(struct store_fs *fs, struct node *n)
{
    struct stat s;
    if (n->lookups || n->number == FUSE_ROOT_ID ||
        (!fstatat(n->fd, "", &s, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) && s.st_nlink))
        return;
    struct node **at = &fs->table[n->inode % TABLE];
    while (*at != n)
        at = &(*at)->next;
    *at = n->next;
    fs->nodes[n->number - 1] = NULL;
    store_clock_forget(fs->clock, &n->streams);
    close(n->fd);
    if (n->io >= 0)
        close(n->io);
    free(n);
}

static void through_proc(const struct node *n, char path[PROC_PATH])
{
    snprintf(path, PROC_PATH, "/proc/self/fd/%d", n->fd);
}

/* A descriptor for its data, or -1 and errno. */
static int node_io(struct node *n)
{
    char path[PROC_PATH];
    through_proc(n, path);
    if (n->io < 0)
        n->io = open(path, O_RDWR | O_CLOEXEC);
    return n->io;
}

/* ---- names ---- */

static void fs_lookup(fuse_req_t r, fuse_ino_t parent, const char *name)
{
    struct node *n = node_for(r, parent);
    struct stat s;
    if (!n)
        return;
    if (!strcmp(name, ".") || (!strcmp(name, "..") && parent == FUSE_ROOT_ID)) {
        if (fstatat(n->fd, "", &s, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
            fuse_reply_err(r, errno);
        else if (s.st_nlink == 0)
            fuse_reply_err(r, ESTALE);
        else
            reply_entry(r, n, &s);
        return;
    }
    reply_child(r, n, name);
}

static void forget(struct store_fs *fs, fuse_ino_t number, uint64_t lookups)
{
    struct node *n = node_of(fs, number);
    if (!n)
        return;
    n->lookups -= lookups < n->lookups ? lookups : n->lookups;
    node_let_go(fs, n);
}

static void fs_forget(fuse_req_t r, fuse_ino_t number, uint64_t lookups)
{
    forget(fs_of(r), number, lookups);
    fuse_reply_none(r);
}

static void fs_forget_multi(fuse_req_t r, size_t count, struct fuse_forget_data *all)
{
    for (size_t i = 0; i < count; i++)
        forget(fs_of(r), all[i].ino, all[i].nlookup);
    fuse_reply_none(r);
}

/* What was made belongs to who asked; in a folder with a group of its own, to that. */
static void made(fuse_req_t r, struct node *parent, const char *name, int rc)
{
    const struct fuse_ctx *who = fuse_req_ctx(r);
    struct stat s;
    if (rc < 0) {
        fuse_reply_err(r, errno);
        return;
    }
    bool inherits = !fstatat(parent->fd, "", &s, AT_EMPTY_PATH) && (s.st_mode & S_ISGID);
    if (fchownat(parent->fd, name, who->uid, inherits ? (gid_t)-1 : who->gid, AT_SYMLINK_NOFOLLOW))
        fuse_reply_err(r, errno);
    else
        reply_child(r, parent, name);
}

static void fs_mknod(fuse_req_t r, fuse_ino_t parent, const char *name, mode_t mode, dev_t device)
{
    struct node *n = node_for(r, parent);
    if (n)
        made(r, n, name, mknodat(n->fd, name, mode, device));
}

static void fs_mkdir(fuse_req_t r, fuse_ino_t parent, const char *name, mode_t mode)
{
    struct node *n = node_for(r, parent);
    if (n)
        made(r, n, name, mkdirat(n->fd, name, mode));
}

static void fs_symlink(fuse_req_t r, const char *target, fuse_ino_t parent, const char *name)
{
    struct node *n = node_for(r, parent);
    if (n)
        made(r, n, name, symlinkat(target, n->fd, name));
}

static void fs_link(fuse_req_t r, fuse_ino_t number, fuse_ino_t parent, const char *name)
{
    struct node *n = node_for(r, number), *to = n ? node_for(r, parent) : NULL;
    char path[PROC_PATH];
    if (!to)
        return;
    through_proc(n, path);
    if (linkat(AT_FDCWD, path, to->fd, name, AT_SYMLINK_FOLLOW))
        fuse_reply_err(r, errno);
    else
        reply_child(r, to, name);
}

static void fs_unlink(fuse_req_t r, fuse_ino_t parent, const char *name)
{
    struct node *n = node_for(r, parent);
    if (n)
        reply_error(r, unlinkat(n->fd, name, 0));
}

static void fs_rmdir(fuse_req_t r, fuse_ino_t parent, const char *name)
{
    struct node *n = node_for(r, parent);
    if (n)
        reply_error(r, unlinkat(n->fd, name, AT_REMOVEDIR));
}

static void fs_rename(fuse_req_t r, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
                      unsigned flags)
{
    struct node *from = node_for(r, parent), *to = from ? node_for(r, new_parent) : NULL;
    if (to)
        reply_error(r, renameat2(from->fd, name, to->fd, new_name, flags));
}

static void fs_readlink(fuse_req_t r, fuse_ino_t number)
{
    struct node *n = node_for(r, number);
    char target[PATH_MAX];
    if (!n)
        return;
    ssize_t length = readlinkat(n->fd, "", target, sizeof target - 1);
    if (length < 0) {
        fuse_reply_err(r, errno);
        return;
    }
    target[length] = '\0';
    fuse_reply_readlink(r, target);
}

/* ---- attributes ---- */

static void reply_attributes(fuse_req_t r, const struct node *n)
{
    struct stat s;
    if (fstatat(n->fd, "", &s, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        fuse_reply_err(r, errno);
    else
        fuse_reply_attr(r, &s, KEEP);
}

static void fs_getattr(fuse_req_t r, fuse_ino_t number, struct fuse_file_info *fi)
{
    struct node *n = node_for(r, number);
    (void)fi;
    if (n)
        reply_attributes(r, n);
}

static int set_times(const struct node *n, const struct stat *s, int what)
{
    struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_nsec = UTIME_OMIT}};
    if (what & FUSE_SET_ATTR_ATIME)
        t[0] = s->st_atim;
    if (what & FUSE_SET_ATTR_MTIME)
        t[1] = s->st_mtim;
    if (what & FUSE_SET_ATTR_ATIME_NOW)
        t[0].tv_nsec = UTIME_NOW;
    if (what & FUSE_SET_ATTR_MTIME_NOW)
        t[1].tv_nsec = UTIME_NOW;
    return utimensat(n->fd, "", t, AT_EMPTY_PATH);
}

static void fs_setattr(fuse_req_t r, fuse_ino_t number, struct stat *s, int what, struct fuse_file_info *fi)
{
    enum { TIMES = FUSE_SET_ATTR_ATIME | FUSE_SET_ATTR_MTIME | FUSE_SET_ATTR_ATIME_NOW | FUSE_SET_ATTR_MTIME_NOW };
    struct node *n = node_for(r, number);
    char path[PROC_PATH];
    int rc = 0;
    (void)fi;
    if (!n)
        return;
    through_proc(n, path);
    if (what & (FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID))
        rc = fchownat(n->fd, "", what & FUSE_SET_ATTR_UID ? s->st_uid : (uid_t)-1,
                      what & FUSE_SET_ATTR_GID ? s->st_gid : (gid_t)-1, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
    if (!rc && (what & FUSE_SET_ATTR_MODE))
        rc = chmod(path, s->st_mode & 07777);
    if (!rc && (what & FUSE_SET_ATTR_SIZE))
        rc = node_io(n) < 0 ? -1 : ftruncate(n->io, s->st_size);
    if (!rc && (what & TIMES))
        rc = set_times(n, s, what);
    if (rc)
        fuse_reply_err(r, errno);
    else
        reply_attributes(r, n);
}

static void fs_statfs(fuse_req_t r, fuse_ino_t number)
{
    struct statvfs s;
    (void)number;
    if (fstatvfs(fs_of(r)->nodes[0]->fd, &s))
        fuse_reply_err(r, errno);
    else
        fuse_reply_statfs(r, &s);
}

/* ---- folders ---- */

static void fs_opendir(fuse_req_t r, fuse_ino_t number, struct fuse_file_info *fi)
{
    struct node *n = node_for(r, number);
    if (!n)
        return;
    int fd = openat(n->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (!d) {
        fuse_reply_err(r, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    fi->fh = (uint64_t)(uintptr_t)d;
    if (fuse_reply_open(r, fi) == -ENOENT)
        closedir(d);
}

static void fs_readdir(fuse_req_t r, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct store_fs *fs = fs_of(r);
    DIR *d = (DIR *)(uintptr_t)fi->fh;
    size_t used = 0;
    struct dirent *e;
    (void)number;
    size = size < sizeof fs->data ? size : sizeof fs->data;
    seekdir(d, offset);
    while ((e = readdir(d))) {
        const struct stat s = {.st_ino = e->d_ino, .st_mode = (mode_t)e->d_type << 12};
        size_t takes = fuse_add_direntry(r, fs->data + used, size - used, e->d_name, &s, e->d_off);
        if (takes > size - used)
            break;
        used += takes;
    }
    fuse_reply_buf(r, fs->data, used);
}

static void fs_releasedir(fuse_req_t r, fuse_ino_t number, struct fuse_file_info *fi)
{
    (void)number;
    closedir((DIR *)(uintptr_t)fi->fh);
    fuse_reply_err(r, 0);
}

/* ---- data ---- */

static void fs_open(fuse_req_t r, fuse_ino_t number, struct fuse_file_info *fi)
{
    const struct fuse_open_out out = {.open_flags = FOPEN_DIRECT_IO | FOPEN_NOFLUSH | FOPEN_PARALLEL_DIRECT_WRITES};
    struct node *n = node_for(r, number);
    (void)fi;
    if (!n)
        return;
    if (node_io(n) < 0)
        fuse_reply_err(r, errno);
    else
        fuse_reply_buf(r, (const char *)&out, sizeof out);
}

/* Of the thread that asks; what belongs to no server is the first controller's. */
static int controller_of(struct store_fs *fs, pid_t thread)
{
    struct thread *k = &fs->threads[(unsigned)thread % THREADS];
    char path[PROC_PATH];
    struct stat s;
    if (k->id == thread)
        return k->controller;
    *k = (struct thread){.id = thread};
    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)thread);
    for (size_t i = 0; !stat(path, &s) && i < fs->config->n_controllers; i++)
        if (s.st_ino == fs->namespaces[i])
            k->controller = (int)i;
    return k->controller;
}

static void answered(struct store_call *c)
{
    struct call *k = (struct call *)(void *)c; /* its first member */
    struct store_fs *fs = k->fs;
    if (c->write) {
        fuse_reply_write(k->request, c->bytes);
    } else {
        ssize_t n = pread(k->node->io, fs->data, c->bytes, (off_t)c->offset);
        if (n < 0)
            fuse_reply_err(k->request, errno);
        else
            fuse_reply_buf(k->request, fs->data, (size_t)n);
    }
    k->next = fs->free_calls;
    fs->free_calls = k;
}

static void submit(fuse_req_t r, struct node *n, uint64_t offset, size_t bytes, bool write)
{
    struct store_fs *fs = fs_of(r);
    struct call *k = fs->free_calls;
    if (k)
        fs->free_calls = k->next;
    else
        k = malloc(sizeof *k);
    if (!k) {
        fuse_reply_err(r, ENOMEM);
        return;
    }
    *k = (struct call){.call = {.file = &n->streams,
                                .offset = offset,
                                .bytes = (uint32_t)bytes,
                                .controller = controller_of(fs, fuse_req_ctx(r)->pid),
                                .write = write,
                                .done = answered},
                       .request = r,
                       .node = n,
                       .fs = fs};
    store_clock_submit(fs->clock, &k->call);
}

static void fs_read(fuse_req_t r, fuse_ino_t number, size_t size, off_t offset, struct fuse_file_info *fi)
{
    struct node *n = node_for(r, number);
    struct stat s;
    (void)fi;
    if (!n)
        return;
    if (node_io(n) < 0 || fstat(n->io, &s)) {
        fuse_reply_err(r, errno);
        return;
    }
    /* What lies behind the end is asked of no disk. */
    size = size < IO_MAX ? size : IO_MAX;
    if (offset >= s.st_size || size == 0)
        fuse_reply_buf(r, NULL, 0);
    else
        submit(r, n, (uint64_t)offset, s.st_size - offset < (off_t)size ? (size_t)(s.st_size - offset) : size, false);
}

static void fs_write(fuse_req_t r, fuse_ino_t number, const char *data, size_t size, off_t offset,
                     struct fuse_file_info *fi)
{
    struct node *n = node_for(r, number);
    (void)fi;
    if (!n)
        return;
    ssize_t written = node_io(n) < 0 ? -1 : pwrite(n->io, data, size, offset);
    if (written < 0)
        fuse_reply_err(r, errno);
    else if (written == 0)
        fuse_reply_write(r, 0);
    else
        submit(r, n, (uint64_t)offset, (size_t)written, true);
}

static void fs_fallocate(fuse_req_t r, fuse_ino_t number, int mode, off_t offset, off_t length,
                         struct fuse_file_info *fi)
{
    struct node *n = node_for(r, number);
    (void)fi;
    if (n)
        reply_error(r, node_io(n) < 0 ? -1 : fallocate(n->io, mode, offset, length));
}

/* What is answered is in a cache that survives, or on the disks. */
static void fs_fsync(fuse_req_t r, fuse_ino_t number, int data_only, struct fuse_file_info *fi)
{
    (void)number;
    (void)data_only;
    (void)fi;
    fuse_reply_err(r, 0);
}

static void fs_release(fuse_req_t r, fuse_ino_t number, struct fuse_file_info *fi)
{
    (void)number;
    (void)fi;
    fuse_reply_err(r, 0);
}

/* ---- the session ---- */

static void fs_init(void *userdata, struct fuse_conn_info *conn)
{
    const unsigned want = FUSE_CAP_EXPORT_SUPPORT | FUSE_CAP_ASYNC_DIO | FUSE_CAP_PARALLEL_DIROPS;
    (void)userdata;
    conn->want = want & conn->capable;
    conn->max_read = IO_MAX;
    conn->max_write = IO_MAX;
    conn->max_background = UINT16_MAX;
    conn->congestion_threshold = UINT16_MAX;
    conn->time_gran = 1;
}

// clang-format off
static const struct fuse_lowlevel_ops table = {
    .init = fs_init,
    .lookup = fs_lookup, .forget = fs_forget, .forget_multi = fs_forget_multi,
    .mknod = fs_mknod, .mkdir = fs_mkdir, .symlink = fs_symlink, .link = fs_link,
    .unlink = fs_unlink, .rmdir = fs_rmdir, .rename = fs_rename, .readlink = fs_readlink,
    .getattr = fs_getattr, .setattr = fs_setattr, .statfs = fs_statfs,
    .opendir = fs_opendir, .readdir = fs_readdir, .releasedir = fs_releasedir,
    .open = fs_open, .read = fs_read, .write = fs_write, .release = fs_release, .fsync = fs_fsync,
    .fallocate = fs_fallocate,
};
// clang-format on

static int mount_it(struct store_fs *fs, char *problem, size_t size)
{
    char name[] = "emu", option[] = "-o", max_read[32],
         options[] = "allow_other,default_permissions,suid,dev,fsname=emu,subtype=storage";
    char *argv[] = {name, option, options, option, max_read, NULL};
    struct fuse_args args = FUSE_ARGS_INIT(5, argv);
    snprintf(max_read, sizeof max_read, "max_read=%d", IO_MAX);
    fs->session = fuse_session_new(&args, &table, sizeof table, fs);
    fuse_opt_free_args(&args);
    errno = 0;
    if (!fs->session || fuse_session_mount(fs->session, fs->config->folder)) {
        int error = errno ? errno : EIO;
        snprintf(problem, size, "%s: mounting the storage's file system: %s", fs->config->name, strerror(error));
        return -error;
    }
    int flags = fcntl(store_fs_fd(fs), F_GETFL);
    if (flags >= 0 && !fcntl(store_fs_fd(fs), F_SETFL, flags | O_NONBLOCK))
        return 0;
    snprintf(problem, size, "%s: /dev/fuse: %s", fs->config->name, strerror(errno));
    return -errno;
}

/* The folder itself, as long as its name leads there; and the namespaces of the controllers. */
static int look_around(struct store_fs *fs, char *problem, size_t size)
{
    const struct store_config *c = fs->config;
    struct rlimit files;
    struct stat s;
    const char *path = c->folder;
    struct node *root = node_get(fs, open(path, O_PATH | O_DIRECTORY | O_CLOEXEC), NULL, NULL, &s);
    bool fine = root != NULL;
    for (size_t i = 0; i < c->n_controllers && fine; i++) {
        path = c->netns[i];
        fine = !stat(path, &s);
        fs->namespaces[i] = s.st_ino;
    }
    if (!fine || !root) {
        int error = errno;
        snprintf(problem, size, "%s: %s: %s", c->name, path, strerror(error));
        return -error;
    }
    root->lookups = 1; /* the root's is never taken back */
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    umask(0);
    return 0;
}

int store_fs_new(struct store_fs **out, const struct store_config *c, struct store_clock *k, char *problem, size_t size)
{
    struct store_fs *fs = calloc(1, sizeof *fs);
    if (!fs || !(fs->namespaces = calloc(c->n_controllers + 1, sizeof *fs->namespaces))) {
        free(fs);
        snprintf(problem, size, "%s: %s", c->name, strerror(ENOMEM));
        return -ENOMEM;
    }
    fs->config = c;
    fs->clock = k;
    *out = fs; /* its end is that of the process */
    int rc = look_around(fs, problem, size);
    return rc ? rc : mount_it(fs, problem, size);
}

int store_fs_fd(const struct store_fs *fs) { return fuse_session_fd(fs->session); }

bool store_fs_serve(struct store_fs *fs)
{
    for (int i = 0; i < REQUESTS; i++) {
        int n = fuse_session_receive_buf(fs->session, &fs->message);
        if (n == -EINTR)
            continue;
        if (n <= 0)
            break;
        fuse_session_process_buf(fs->session, &fs->message);
    }
    return !fuse_session_exited(fs->session);
}
