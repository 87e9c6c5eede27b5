/* How a server is kept together.
 *
 * nfs-ganesha registers with rpcbind over /run/rpcbind.sock and refuses NFS 3 without it, and both keep files in /run:
 * network namespaces alone don't keep two servers apart. So the first process of a server (the keeper) has mount and
 * process-ID namespaces of its own:
 *
 *     starter --clone--> keeper (process 1 in there) --+--> rpcbind -f
 *                        private /run, joins netns     +--> ganesha.nfsd -F
 *
 * When the keeper ends, the kernel kills what is left in its process-ID namespace, so one pid is the whole server. It asks
 * for SIGKILL at its starter's end; a lab whose datapath is killed leaves no server behind. It runs between clone() and
 * exec() in a copy of the starter's memory and so allocates nothing.
 *
 * /run is hidden in there by an empty tmpfs, and labs live below /run: what the server needs of the file system outside
 * is cloned as a detached tree before that and attached after it.
 *
 * The keeper writes one line into the status pipe: "ready", or the sentence that says why not. It looks at the kernel's
 * table of listening sockets rather than at the server's log, whose wording is nobody's promise.
 */
#define _GNU_SOURCE
#include "emu/live/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/netns.h"
#include "emu/live/prefer.h"
#include "emu/live/server_config.h"

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 0x00000004
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

enum {
    STEP_MS = 2,        /* between two looks at something that is about to happen */
    RPCBIND_MS = 10000, /* until its socket is there; it takes some 10 ms */
    GANESHA_MS = 60000, /* until it listens; it takes 0.15 s on an idle machine */
    STOP_MS = 1000,     /* for an orderly end: 40 to 350 ms */
    LOG_TAIL = 16384
};

/* Fresh memory is slow on virtual machines: buffers of a megabyte that come and go by mmap() cut reads to a third. */
static const char *const settings[] = {"MALLOC_MMAP_THRESHOLD_=33554432", "MALLOC_TRIM_THRESHOLD_=268435456"};

struct keeper {
    const struct server_config *config;
    int netns, status;
    char ganesha[64], rpcbind[64];
    char lab[128];
    char **environment;
    pid_t ganesha_pid, rpcbind_pid;
};

/* ---- programs ---- */

static bool find_program(const char *name, char *path, size_t size)
{
    static const char *const folders[] = {"/usr/bin",        "/usr/sbin", "/usr/local/bin",
                                          "/usr/local/sbin", "/sbin",     "/bin"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(path, size, "%s/%s", folders[i], name);
        if (!access(path, X_OK))
            return true;
    }
    return false;
}

const char *server_missing(void)
{
    char path[64];
    if (!find_program("ganesha.nfsd", path, sizeof path))
        return "nfs-ganesha is not installed (Debian: nfs-ganesha, nfs-ganesha-vfs, nfs-ganesha-mem)";
    if (!find_program("rpcbind", path, sizeof path))
        return "rpcbind is not installed, and nfs-ganesha serves no NFS 3 without it";
    return NULL;
}

/* ---- the keeper: system calls and snprintf only ---- */

static void pause_ms(int milliseconds)
{
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

static void tell(const struct keeper *k, const char *text)
{
    ssize_t n = write(k->status, text, strlen(text));
    if (n < 0)
        _exit(1); /* whoever started us is gone */
}

static void give_up(const struct keeper *k, const char *format, ...) __attribute__((noreturn, format(printf, 2, 3)));
static void give_up(const struct keeper *k, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tell(k, text);
    tell(k, "\n");
    _exit(1);
}

/* Whether a TCP socket of this network namespace listens on a port, by /proc's table: "  0: ADDRESS:PORT ADDRESS:PORT 0A". */
static bool listens_in(const char *table, int port)
{
    char buf[8192], want[8];
    size_t have = 0;
    bool found = false;
    int fd = open(table, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    snprintf(want, sizeof want, ":%04X", (unsigned)port);
    while (fd >= 0 && !found && (n = read(fd, buf + have, sizeof buf - 1 - have)) > 0) {
        char *line = buf, *end;
        have += (size_t)n;
        buf[have] = '\0';
        for (; !found && (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            char *local = strchr(line, ':'), *colon = local ? strchr(local + 1, ':') : NULL;
            char *state = colon ? strchr(colon + 1, ':') : NULL;
            found = state && !strncmp(colon, want, 5) && state[5] == ' ' && !strncmp(state + 6, "0A", 2);
        }
        have = strlen(line);
        memmove(buf, line, have);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

static bool listens(int port)
{
    return listens_in("/proc/self/net/tcp6", port) || listens_in("/proc/self/net/tcp", port);
}

/* The last line of the log that says what went wrong, without time and place; `any`: the last line at all, for programs that mark
 * none. Empty when there is none. */
static void last_complaint(bool any, char *out, size_t size)
{
    static char tail[LOG_TAIL + 1];
    *out = '\0';
    int fd = open(SERVER_LOG, O_RDONLY | O_CLOEXEC);
    off_t end = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    ssize_t n = fd >= 0 ? pread(fd, tail, LOG_TAIL, end > LOG_TAIL ? end - LOG_TAIL : 0) : 0;
    if (fd >= 0)
        close(fd);
    tail[n > 0 ? n : 0] = '\0';
    for (char *line = tail, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        char *what = strstr(line, " :CRIT :"), *major = strstr(line, " :MAJ :");
        if (any && *line)
            snprintf(out, size, ": %.*s", (int)size - 3, line);
        if (what || major)
            snprintf(out, size, ": %s", what ? what + 8 : major + 7);
    }
}

/* What they print goes there; without it they don't run. */
static void make_log(struct keeper *k)
{
    int log = open(SERVER_LOG, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (log < 0)
        give_up(k, "%s: %s/ganesha.log: %s", k->config->name, k->config->dir, strerror(errno));
    close(log);
}

static pid_t spawn(struct keeper *k, const char *program, char *const argv[])
{
    pid_t pid = fork();
    if (pid)
        return pid;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int in = open("/dev/null", O_RDONLY), out = open(SERVER_LOG, O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (in >= 0 && out >= 0 && dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(out, 2) == 2) {
        close_range(3, ~0U, 0);
        execve(program, argv, k->environment);
    }
    _exit(127);
}

static int clone_tree(struct keeper *k, const char *path)
{
    int fd = open_tree(AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    if (fd < 0)
        give_up(k, "%s: %s: %s", k->config->name, path, strerror(errno));
    return fd;
}

static void attach_tree(struct keeper *k, int tree, const char *where)
{
    if (mkdir(where, 0755) && errno != EEXIST)
        give_up(k, "%s: %s: %s", k->config->name, where, strerror(errno));
    if (move_mount(tree, "", AT_FDCWD, where, MOVE_MOUNT_F_EMPTY_PATH))
        give_up(k, "%s: mounting %s: %s", k->config->name, where, strerror(errno));
    close(tree);
}

static void prepare_mounts(struct keeper *k)
{
    static int trees[SERVER_EXPORTS_MAX];
    const struct server_config *c = k->config;
    char path[64];

    int rc = netns_mounts_apart();
    if (rc)
        give_up(k, "%s: a mount namespace of its own: %s", c->name, strerror(-rc));
    /* Names of network namespaces are mounts; a copy in here would keep a namespace whose name is taken away alive. */
    while (!umount2("/run/netns", MNT_DETACH))
        continue;
    int dir = clone_tree(k, c->dir);
    for (size_t i = 0; i < c->n_exports; i++) {
        const struct server_export *e = &c->exports[i];
        trees[i] = e->tree > 0 ? e->tree : e->directory ? clone_tree(k, e->directory) : -1;
    }
    if (mount("emu-server", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"))
        give_up(k, "%s: a /run of its own: %s", c->name, strerror(errno));
    attach_tree(k, dir, SERVER_RUN_DIR);
    if (mkdir("/run/rpcbind", 0755) || mkdir("/run/ganesha", 0755) || mkdir(SERVER_EXPORT_DIR, 0755))
        give_up(k, "%s: folders in /run: %s", c->name, strerror(errno));
    for (size_t i = 0; i < c->n_exports; i++) {
        snprintf(path, sizeof path, "%s/%zu", SERVER_EXPORT_DIR, i + 1);
        if (trees[i] >= 0)
            attach_tree(k, trees[i], path);
    }
}

static bool ended(pid_t pid, int *status) { return waitpid(pid, status, WNOHANG) == pid; }

static void start_rpcbind(struct keeper *k)
{
    static char name[] = "rpcbind", foreground[] = "-f";
    char *argv[] = {name, foreground, NULL}, complaint[160];
    int status;
    k->rpcbind_pid = spawn(k, k->rpcbind, argv);
    for (int waited = 0; access("/run/rpcbind.sock", F_OK); waited += STEP_MS) {
        if (k->rpcbind_pid < 0 || ended(k->rpcbind_pid, &status) || waited > RPCBIND_MS) {
            last_complaint(true, complaint, sizeof complaint);
            give_up(k, "%s: rpcbind doesn't start%s", k->config->name, complaint);
        }
        pause_ms(STEP_MS);
    }
}

static void start_ganesha(struct keeper *k)
{
    static char name[] = "ganesha.nfsd", foreground[] = "-F", f[] = "-f", conf[] = SERVER_CONF, p[] = "-p",
                pid_file[] = "/run/ganesha.pid", l[] = "-L", log[] = SERVER_LOG;
    char *argv[] = {name, foreground, f, conf, p, pid_file, l, log, NULL}, complaint[160];
    int status;
    for (int i = 0; i < 2; i++) {
        int port = i ? SERVER_MOUNT_PORT : SERVER_PORT;
        if (listens(port))
            give_up(k, "%s: port %d is in use in its namespace", k->config->name, port);
    }
    k->ganesha_pid = spawn(k, k->ganesha, argv);
    for (int waited = 0; !listens(SERVER_PORT) || !listens(SERVER_MOUNT_PORT); waited += STEP_MS) {
        if (k->ganesha_pid < 0 || ended(k->ganesha_pid, &status)) {
            last_complaint(false, complaint, sizeof complaint);
            give_up(k, "%s: nfs-ganesha doesn't start%s", k->config->name, complaint);
        }
        if (waited > GANESHA_MS)
            give_up(k, "%s: nfs-ganesha doesn't listen after %d s", k->config->name, GANESHA_MS / 1000);
        pause_ms(STEP_MS);
    }
}

/* Until told to end, or until the server ends by itself. */
static void __attribute__((noreturn)) keep(struct keeper *k, const sigset_t *signals)
{
    int status = 0, sig;
    char complaint[160];
    for (;;) {
        sig = sigwaitinfo(signals, NULL);
        if (sig == SIGTERM)
            break;
        for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
            if (pid != k->ganesha_pid)
                continue; /* rpcbind: clients know the ports */
            last_complaint(false, complaint, sizeof complaint);
            give_up(k, "%s: nfs-ganesha has ended%s", k->config->name, complaint);
        }
    }
    kill(k->ganesha_pid, SIGTERM);
    for (int waited = 0; waited < STOP_MS && !ended(k->ganesha_pid, &status); waited += STEP_MS)
        pause_ms(STEP_MS);
    _exit(0);
}

static void close_between(int first, int last)
{
    if (first <= last)
        close_range((unsigned)first, last == INT_MAX ? ~0U : (unsigned)last, 0);
}

static int by_number(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Of its starter's descriptors, devices and locks among them, it keeps two, and the trees of its exports. */
static void keep_descriptors(const struct keeper *k)
{
    static int kept[SERVER_EXPORTS_MAX + 3];
    size_t n = 0;
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2; fd++)
        if (null != fd)
            dup2(null, fd);
    kept[n++] = 2;
    kept[n++] = k->netns;
    kept[n++] = k->status;
    for (size_t i = 0; i < k->config->n_exports; i++)
        if (k->config->exports[i].tree > 0)
            kept[n++] = k->config->exports[i].tree;
    qsort(kept, n, sizeof *kept, by_number);
    for (size_t i = 0; i < n; i++)
        close_between(kept[i] + 1, i + 1 < n ? kept[i + 1] - 1 : INT_MAX);
}

static void __attribute__((noreturn)) run_keeper(struct keeper *k)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD);
    /* Blocked: the first process of a process-ID namespace ignores what it has no handler for, unless it is blocked. */
    sigprocmask(SIG_SETMASK, &signals, NULL);
    for (int sig = 1; sig < SIGRTMIN; sig++)
        signal(sig, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "emu-nas");
    prefer_this_session();
    keep_descriptors(k);
    if (setns(k->netns, CLONE_NEWNET))
        give_up(k, "%s: entering its namespace: %s", k->config->name, strerror(errno));
    prepare_mounts(k);
    make_log(k);
    if (chdir("/"))
        give_up(k, "%s: /: %s", k->config->name, strerror(errno));
    start_rpcbind(k);
    start_ganesha(k);
    tell(k, "ready\n");
    keep(k, &signals);
}

/* ---- the starter ---- */

static int problem_set(char *problem, size_t size, int error, const char *name, const char *what)
{
    snprintf(problem, size, "%s: %s: %s", name, what, strerror(error));
    return -error;
}

/* Ours plus the settings, in one array that the keeper only reads. */
static char **make_environment(struct keeper *k)
{
    enum { SETTINGS = sizeof settings / sizeof settings[0] };
    size_t n = 0;
    while (environ[n])
        n++;
    char **e = calloc(n + SETTINGS + 2, sizeof *e);
    if (!e)
        return NULL;
    size_t at = 0;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "EMU_LAB=", 8) && strncmp(environ[i], "MALLOC_", 7))
            e[at++] = environ[i];
    for (size_t i = 0; i < SETTINGS; i++)
        memcpy(&e[at++], &settings[i],
               sizeof settings[i]); /* execve() wants them without const and leaves them alone */
    if (k->config->lab) {
        snprintf(k->lab, sizeof k->lab, "EMU_LAB=%s", k->config->lab);
        e[at++] = k->lab;
    }
    return e;
}

/* As fork(), but the child is the first process of new namespaces and is known by a descriptor. */
static pid_t clone_keeper(int *pidfd)
{
    return (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL, NULL);
}

int server_start(struct server *s, const struct server_config *c, char *problem, size_t size)
{
    struct keeper k = {.config = c, .netns = -1, .status = -1};
    int pipe_fds[2] = {-1, -1}, error;
    const char *missing = server_missing();

    *s = SERVER_NONE;
    s->name = c->name;
    if (missing || !find_program("ganesha.nfsd", k.ganesha, sizeof k.ganesha) ||
        !find_program("rpcbind", k.rpcbind, sizeof k.rpcbind)) {
        snprintf(problem, size, "%s: %s", c->name, missing ? missing : "nfs-ganesha has just been removed");
        return -ENOENT;
    }
    error = server_config_write(c, problem, size);
    if (error)
        return error;
    k.netns = open(c->netns_path, O_RDONLY | O_CLOEXEC);
    if (k.netns < 0)
        return problem_set(problem, size, errno, c->name, c->netns_path);
    k.environment = make_environment(&k);
    if (!k.environment || pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK)) {
        error = problem_set(problem, size, errno, c->name, "starting nfs-ganesha");
        goto out;
    }
    k.status = pipe_fds[1];
    s->pid = clone_keeper(&s->pidfd);
    if (s->pid == 0)
        run_keeper(&k);
    if (s->pid < 0) {
        error = problem_set(problem, size, errno, c->name, "a process in namespaces of its own");
        *s = SERVER_NONE;
        goto out;
    }
    s->status = pipe_fds[0];
    pipe_fds[0] = -1;
out:
    for (int i = 0; i < 2; i++)
        if (pipe_fds[i] >= 0)
            close(pipe_fds[i]);
    close(k.netns);
    free(k.environment);
    return error;
}

/* The first line of what it said, without the newline; NULL while there is none. */
static char *take_line(struct server *s)
{
    char *end = memchr(s->said, '\n', s->n_said);
    static const size_t most = sizeof s->said - 1;
    if (!end && s->n_said == most)
        end = s->said + most - 1;
    if (!end)
        return NULL;
    *end = '\0';
    return s->said;
}

int server_check(struct server *s, char *problem, size_t size)
{
    if (s->status < 0) {
        snprintf(problem, size, "%s: no NFS server runs", s->name ? s->name : "NFS server");
        return -ESRCH;
    }
    for (;;) {
        ssize_t n = read(s->status, s->said + s->n_said, sizeof s->said - 1 - s->n_said);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return s->ready; /* nothing new */
        if (n == 0)
            break;
        s->n_said += (size_t)n;
        const char *line = take_line(s);
        if (!line)
            continue;
        size_t used = strlen(line) + 1;
        if (strcmp(line, "ready")) {
            snprintf(problem, size, "%s", line);
            return -ECONNREFUSED;
        }
        s->ready = true;
        s->n_said -= used;
        memmove(s->said, s->said + used, s->n_said);
    }
    snprintf(problem, size, "%s: the NFS server was killed", s->name);
    return -ECONNREFUSED;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int server_wait(struct server *s, int milliseconds, char *problem, size_t size)
{
    int64_t until = now_ms() + milliseconds;
    for (;;) {
        int rc = server_check(s, problem, size);
        if (rc)
            return rc;
        int64_t left = until - now_ms();
        if (left <= 0) {
            snprintf(problem, size, "%s: the NFS server isn't ready after %d ms", s->name, milliseconds);
            return -ETIMEDOUT;
        }
        poll(&(struct pollfd){.fd = s->status, .events = POLLIN}, 1, (int)left);
    }
}

void server_kill(struct server *s)
{
    if (s->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
}

void server_stop_begin(struct server *s)
{
    if (s->pidfd >= 0)
        syscall(SYS_pidfd_send_signal, s->pidfd, SIGTERM, NULL, 0);
}

static bool gone_within(int pidfd, int milliseconds)
{
    int64_t until = now_ms() + milliseconds;
    for (;;) {
        int64_t left = until - now_ms();
        int n = poll(&(struct pollfd){.fd = pidfd, .events = POLLIN}, 1, left > 0 ? (int)left : 0);
        if (n > 0 || (n == 0 && left <= 0))
            return n > 0;
    }
}

void server_stop(struct server *s)
{
    if (s->pidfd >= 0) {
        server_stop_begin(s);
        if (!gone_within(s->pidfd, STOP_MS + STOP_MS / 2)) {
            syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
            gone_within(s->pidfd, STOP_MS);
        }
        waitpid(s->pid, NULL, WNOHANG); /* unless an event loop of ours was quicker */
        close(s->pidfd);
    }
    if (s->status >= 0)
        close(s->status);
    *s = SERVER_NONE;
}
