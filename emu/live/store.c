/* The storage's process is a copy of its starter, as the keeper of a server is (server.c), with a mount namespace of its own in which
 * the file system is mounted over the folder that it serves. It is asked over a socket, a message and an answer at a time. It has the
 * network namespace of its first controller, so that what looks for processes of a lab finds it.
 *
 * A mount that is cloned (open_tree()) and not attached belongs to no namespace: as a descriptor it goes through the socket to the
 * starter, and on to the server, which attaches it in its own.
 */
#define _GNU_SOURCE
#include "emu/live/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/clock.h"
#include "emu/live/netns.h"
#include "emu/live/prefer.h"
#include "emu/live/store_clock.h"
#include "emu/live/store_fs.h"
#include "emu/model/storage.h"
#include "emu/model/topology.h"

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef OPEN_TREE_CLOEXEC
#define OPEN_TREE_CLOEXEC O_CLOEXEC
#endif
#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

enum { ANSWER_S = 20, GONE_MS = 2000, GROUPS_MAX = 256 };

/* What is asked: 'b' to begin, 'c' for the counters, or a path, which begins with a slash. The answer to the latter is an errno with a descriptor. */
struct counts {
    struct store_counters all;
    struct storage_group_counters groups[GROUPS_MAX];
};

bool store_wanted(const struct topo *t, int node)
{
    const struct topo_node *n = &t->nodes[node];
    const struct topo_box *b = n->n_boxes ? &t->boxes[n->first_box] : NULL;
    return n->kind == TOPO_NAS && b && (n->storage || b->limit_read > 0 || b->limit_write > 0 || b->limit_iops > 0);
}

const char *store_refuses(const struct topo *t, char *problem, size_t size)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        if (t->nodes[i].san) {
            snprintf(problem, size, "%s: a storage whose back end goes over the file's links runs in virtual time only",
                     t->nodes[i].name);
            return problem;
        }
    return NULL;
}

/* ---- the process ---- */

struct keeper {
    const struct store_config *config;
    struct store_clock *clock;
    struct store_fs *fs;
    int socket;
};

static void __attribute__((noreturn)) find_tree(const struct keeper *k, const char *path)
{
    char whole[PATH_MAX], control[CMSG_SPACE(sizeof(int))] = {0};
    int error = 0, tree = -1;
    if ((size_t)snprintf(whole, sizeof whole, "%s%s", k->config->folder, path) < sizeof whole)
        tree = open_tree(AT_FDCWD, whole, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
    else
        errno = ENAMETOOLONG;
    error = tree < 0 ? errno : 0;
    struct iovec io = {&error, sizeof error};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    if (tree >= 0) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof tree);
        memcpy(CMSG_DATA(c), &tree, sizeof tree);
    }
    _exit(sendmsg(k->socket, &m, MSG_NOSIGNAL) < 0);
}

/* Finding the folder asks the file system, which is us: so another process does it. */
static void send_tree(const struct keeper *k, const char *path)
{
    int error;
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(store_fs_fd(k->fs)); /* or it would outlive us */
        find_tree(k, path);
    }
    error = errno;
    if (pid < 0 && send(k->socket, &error, sizeof error, MSG_NOSIGNAL) < 0)
        _exit(1);
}

static void send_counts(const struct keeper *k)
{
    static struct counts c;
    const struct storage_model *model = k->config->topo->nodes[k->config->node].storage;
    store_clock_count(k->clock, &c.all);
    for (size_t g = 0; model && g < model->n_groups && g < GROUPS_MAX; g++)
        store_clock_count_group(k->clock, g, &c.groups[g]);
    if (send(k->socket, &c, sizeof c, MSG_NOSIGNAL) < 0)
        _exit(1);
}

/* False: whoever asked is gone. */
static bool answer(const struct keeper *k)
{
    char what[PATH_MAX];
    ssize_t n = recv(k->socket, what, sizeof what - 1, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    what[n] = '\0';
    if (*what == '/')
        send_tree(k, what);
    else if (*what == 'c')
        send_counts(k);
    else if (*what == 'b') {
        store_clock_begin(k->clock);
        return send(k->socket, "b", 1, MSG_NOSIGNAL) == 1;
    }
    return n > 0;
}

static void serve(struct keeper *k)
{
    struct pollfd fds[] = {{.fd = store_fs_fd(k->fs), .events = POLLIN}, {.fd = k->socket, .events = POLLIN}};
    for (;;) {
        int64_t wait = store_clock_run(k->clock);
        const struct timespec t = {wait / 1000000000, wait % 1000000000};
        if (ppoll(fds, 2, wait < 0 ? NULL : &t, NULL) < 0 && errno != EINTR)
            return;
        if (!store_fs_serve(k->fs) || (fds[1].revents && !answer(k)))
            return;
    }
}

/* As the lab's own process: what waits for the storage shall not wait for a compiler. */
static void first_in_line(void)
{
    const struct sched_param p = {.sched_priority = 1};
    prefer_this_session();
    prctl(PR_SET_TIMERSLACK, 1);
    (void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &p);
}

/* Of its starter's descriptors, devices and locks among them, it keeps its output and two. */
static void keep_descriptors(int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    if (low > 3)
        close_range(3, (unsigned)low - 1, 0);
    if (high > low + 1)
        close_range((unsigned)low + 1, (unsigned)high - 1, 0);
    close_range((unsigned)high + 1, ~0U, 0);
}

static int become_storage(struct keeper *k, int netns, char *problem, size_t size)
{
    const struct store_config *c = k->config;
    int rc = setns(netns, CLONE_NEWNET) ? -errno : netns_mounts_apart();
    if (rc) {
        snprintf(problem, size, "%s: namespaces of its storage's own: %s", c->name, strerror(-rc));
        return rc;
    }
    close(netns);
    k->clock = store_clock_new(c);
    if (!k->clock) {
        snprintf(problem, size, "%s: %s", c->name, strerror(ENOMEM));
        return -ENOMEM;
    }
    rc = store_fs_new(&k->fs, c, k->clock, problem, size);
    /* Names of network namespaces are mounts; a copy in here would keep a namespace whose name is taken away alive. */
    while (!umount2("/run/netns", MNT_DETACH))
        continue;
    return rc;
}

static void __attribute__((noreturn)) run(const struct store_config *c, int netns, int socket)
{
    struct keeper k = {.config = c, .socket = socket};
    char problem[256] = "";
    sigset_t none;
    sigemptyset(&none);
    for (int sig = 1; sig < SIGRTMIN; sig++)
        signal(sig, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* nobody waits for find_tree() */
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "emu-storage");
    keep_descriptors(netns, socket);
    int rc = become_storage(&k, netns, problem, sizeof problem);
    if (send(socket, problem, strlen(problem) + 1, MSG_NOSIGNAL) < 0 || rc)
        _exit(1);
    first_in_line();
    serve(&k);
    _exit(0);
}

/* ---- the starter ---- */

static pid_t clone_process(int *pidfd)
{
    return (pid_t)syscall(SYS_clone, CLONE_NEWNS | CLONE_PIDFD | SIGCHLD, NULL, pidfd, NULL, NULL);
}

int store_start(struct store *s, const struct store_config *c, char *problem, size_t size)
{
    const struct timeval patience = {.tv_sec = ANSWER_S};
    int sockets[2] = {-1, -1}, rc = 0;
    char said[256];
    *s = STORE_NONE;
    s->name = c->name;
    int netns = open(c->netns[0], O_RDONLY | O_CLOEXEC);
    if (netns < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) ||
        setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience)) {
        rc = -errno;
        snprintf(problem, size, "%s: %s: %s", c->name, netns < 0 ? c->netns[0] : "a socket", strerror(-rc));
    } else {
        fflush(NULL);
        s->pid = clone_process(&s->pidfd);
        if (s->pid == 0)
            run(c, netns, sockets[1]);
        if (s->pid < 0) {
            rc = -errno;
            *s = STORE_NONE;
            snprintf(problem, size, "%s: a process for its storage: %s", c->name, strerror(-rc));
        }
    }
    if (netns >= 0)
        close(netns);
    if (sockets[1] >= 0)
        close(sockets[1]);
    if (rc) {
        if (sockets[0] >= 0)
            close(sockets[0]);
        return rc;
    }
    s->socket = sockets[0];
    ssize_t n = recv(s->socket, said, sizeof said - 1, 0);
    if (n > 0 && !*said)
        return 0;
    said[n > 0 ? n : 0] = '\0';
    snprintf(problem, size, "%.250s", n > 0 ? said : "the storage's process has ended");
    store_stop(s);
    return -EIO;
}

void store_begin(struct store *s)
{
    char done;
    if (s->socket >= 0 && send(s->socket, "b", 1, MSG_NOSIGNAL) == 1 && recv(s->socket, &done, 1, 0) < 0)
        return; /* it is gone, which its servers notice */
}

int store_tree(struct store *s, const char *path)
{
    char control[CMSG_SPACE(sizeof(int))];
    int error = 0, tree;
    struct iovec io = {&error, sizeof error};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (send(s->socket, path, strlen(path), MSG_NOSIGNAL) < 0 || recvmsg(s->socket, &m, MSG_CMSG_CLOEXEC) < 0)
        return -errno;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (error || !c)
        return error ? -error : -EIO;
    memcpy(&tree, CMSG_DATA(c), sizeof tree);
    return tree;
}

int store_count(struct store *s, struct store_counters *out, struct storage_group_counters *groups, size_t n)
{
    static struct counts c;
    if (s->socket < 0 || send(s->socket, "c", 1, MSG_NOSIGNAL) < 0 ||
        recv(s->socket, &c, sizeof c, 0) != (ssize_t)sizeof c)
        return -EIO;
    *out = c.all;
    memcpy(groups, c.groups, (n < GROUPS_MAX ? n : GROUPS_MAX) * sizeof *groups);
    return 0;
}

void store_stop(struct store *s)
{
    if (s->pidfd >= 0) {
        syscall(SYS_pidfd_send_signal, s->pidfd, SIGKILL, NULL, 0);
        poll(&(struct pollfd){.fd = s->pidfd, .events = POLLIN}, 1, GONE_MS);
        waitpid(s->pid, NULL, WNOHANG); /* unless an event loop of ours was quicker */
        close(s->pidfd);
    }
    if (s->socket >= 0)
        close(s->socket);
    *s = STORE_NONE;
}
