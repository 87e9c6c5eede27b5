/* Taking a lab away: by its own datapath at its end, or by `emu down` and `emu clean` after it was killed. */
#define _GNU_SOURCE /* pidfd */
#include "emu/live/lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/netns.h"

/* What a process gets to end by itself, and what the kernel gets to end it. */
enum { ASK_MS = 300, KILL_MS = 5000 };

/* ---- processes ---- */

struct victim {
    pid_t pid;
    int pidfd;
};

struct victims {
    struct victim *all;
    size_t n, size;
};

/* Numbers of the lab's namespaces. */
static size_t namespaces(const struct lab *lab, ino_t *inodes)
{
    struct stat s, init;
    size_t n = 0;

    if (stat("/proc/self/ns/net", &init) < 0)
        return 0;
    for (size_t i = 0; i < lab->n_nodes; i++)
        /* A file on which nothing is mounted any more is no namespace. */
        if (stat(lab->nodes[i].netns, &s) == 0 && s.st_dev == init.st_dev && s.st_ino != init.st_ino)
            inodes[n++] = s.st_ino;
    return n;
}

static bool is_in(pid_t pid, const ino_t *inodes, size_t n)
{
    char path[64];
    struct stat s;

    snprintf(path, sizeof path, "/proc/%d/ns/net", (int)pid);
    if (stat(path, &s) < 0)
        return false;
    for (size_t i = 0; i < n; i++)
        if (inodes[i] == s.st_ino)
            return true;
    return false;
}

static bool is_server(const struct lab *lab, pid_t pid)
{
    for (size_t i = 0; i < lab->n_nodes; i++)
        if (lab->nodes[i].server == pid && lab->nodes[i].server_start == lab_process_start(pid))
            return true;
    return false;
}

static void add(struct victims *v, pid_t pid, int pidfd)
{
    if (v->n == v->size) {
        size_t size = v->size ? 2 * v->size : 16;
        struct victim *more = realloc(v->all, size * sizeof *more);

        if (!more) {
            close(pidfd);
            return;
        }
        v->all = more;
        v->size = size;
    }
    v->all[v->n++] = (struct victim){pid, pidfd};
}

static bool belongs(const struct lab *lab, pid_t pid, const ino_t *inodes, size_t n)
{
    return pid > 0 && pid != getpid() && (is_in(pid, inodes, n) || is_server(lab, pid));
}

/* All processes of the lab, each by a descriptor: a number that is used again can't be hit. */
static void find(const struct lab *lab, const ino_t *inodes, size_t n, struct victims *v)
{
    DIR *proc = opendir("/proc");
    struct dirent *e;

    while (proc && (e = readdir(proc))) {
        pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
        int pidfd;

        if (!belongs(lab, pid, inodes, n))
            continue;
        pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0)
            continue;
        if (belongs(lab, pid, inodes, n))
            add(v, pid, pidfd);
        else
            close(pidfd);
    }
    if (proc)
        closedir(proc);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Sends the signal to all and waits until all are gone, at most so long. */
static void send_and_wait(struct victims *v, int signal, int most_ms)
{
    int64_t end = now_ms() + most_ms;

    for (size_t i = 0; i < v->n; i++)
        (void)syscall(SYS_pidfd_send_signal, v->all[i].pidfd, signal, NULL, 0);
    for (size_t i = 0; i < v->n;) {
        struct pollfd p = {.fd = v->all[i].pidfd, .events = POLLIN};
        int64_t left = end - now_ms();

        if (poll(&p, 1, left > 0 ? (int)left : 0) <= 0) {
            i++;
            continue;
        }
        close(v->all[i].pidfd);
        v->all[i] = v->all[--v->n];
    }
}

void lab_end_processes(const struct lab *lab)
{
    ino_t *inodes = calloc(lab->n_nodes + 1, sizeof *inodes);
    size_t n = inodes ? namespaces(lab, inodes) : 0;

    for (int round = 0; inodes && round < 3; round++) { /* what they have started in the meantime */
        struct victims v = {0};

        find(lab, inodes, n, &v);
        if (v.n == 0)
            break;
        if (round == 0)
            send_and_wait(&v, SIGTERM, ASK_MS);
        send_and_wait(&v, SIGKILL, KILL_MS);
        for (size_t i = 0; i < v.n; i++)
            close(v.all[i].pidfd);
        free(v.all);
    }
    free(inodes);
}

/* ---- files ---- */

/* Removes what is below the open folder, and closes it; follows nothing and stays on its file system. */
static int empty_folder(int fd, dev_t device)
{
    DIR *d = fdopendir(fd);
    struct dirent *e;
    int rc = 0;

    if (!d) {
        rc = -errno;
        close(fd);
        return rc;
    }
    while (rc == 0 && (e = readdir(d))) {
        struct stat s;
        int flags = 0;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (fstatat(fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISDIR(s.st_mode)) {
            int sub = openat(fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

            flags = AT_REMOVEDIR;
            if (s.st_dev != device) {
                rc = -EBUSY; /* something is mounted there */
                if (sub >= 0)
                    close(sub);
            } else {
                rc = sub < 0 ? -errno : empty_folder(sub, device);
            }
        }
        if (rc == 0 && unlinkat(fd, e->d_name, flags) < 0 && errno != ENOENT)
            rc = -errno;
    }
    closedir(d);
    return rc;
}

static int remove_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), rc;
    struct stat s;

    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    rc = fstat(fd, &s) < 0 ? -errno : 0;
    if (rc == 0)
        rc = empty_folder(fd, s.st_dev);
    else
        close(fd);
    if (rc == 0 && rmdir(path) < 0 && errno != ENOENT)
        rc = -errno;
    return rc;
}

/* Whether or not there is a mount: one that is found by trying can't be forgotten. */
static void unmount_export(const struct lab *lab)
{
    char *path = lab_path(lab, "export");

    if (path)
        (void)umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW);
    free(path);
}

int lab_remove(struct lab *lab, char *problem, size_t size)
{
    bool here = lab_of_this_boot(lab);
    int rc = 0, step;

    if (here)
        lab_end_processes(lab);
    unmount_export(lab);
    for (size_t i = 0; here && i < lab->n_nodes; i++) {
        step = netns_remove(lab->nodes[i].netns);
        if (step < 0 && rc == 0)
            snprintf(problem, size, "%s: %s", lab->nodes[i].netns, strerror(-step));
        rc = rc < 0 ? rc : step;
    }
    if (rc < 0)
        return rc; /* lab.json still says what is there */
    rc = remove_folder(lab->folder);
    if (rc < 0)
        snprintf(problem, size, "%s: %s", lab->folder, strerror(-rc));
    return rc;
}

int lab_clean(const char *name, char *problem, size_t size)
{
    struct lab *lab = lab_open(name, problem, size), *bare = NULL;
    int rc;

    /* Without lab.json nothing has been made yet but the folder; one that can't be read is not for us to guess about. */
    if (!lab) {
        bare = lab_bare(name, problem, size);
        if (!bare)
            return -EINVAL;
    }
    rc = lab_lock(lab ? lab : bare);
    if (rc == -EWOULDBLOCK || rc == -ENOENT) /* alive; gone in the meantime */
        rc = 0;
    else if (rc < 0)
        snprintf(problem, size, "%s", strerror(-rc));
    else if (lab)
        rc = lab_remove(lab, problem, size) < 0 ? -EBUSY : 1;
    else
        rc = lab_remove(bare, problem, size) < 0 ? -EBUSY : 1;
    lab_free(lab);
    lab_free(bare);
    return rc;
}

/* ---- all of them ---- */

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

long lab_names(char ***names)
{
    char problem[256], *rundir = lab_rundir(problem, sizeof problem), **all = NULL;
    DIR *d = rundir ? opendir(rundir) : NULL;
    long n = 0, failed = rundir && !d && errno != ENOENT ? -errno : 0;
    struct dirent *e;

    free(rundir);
    *names = NULL;
    while (d && (e = readdir(d))) {
        char **more;

        if (!lab_name_valid(e->d_name))
            continue;
        more = realloc(all, ((size_t)n + 1) * sizeof(*more));
        if (!more) {
            failed = -ENOMEM;
            break;
        }
        all = more;
        all[n] = strdup(e->d_name);
        n += all[n] != NULL;
    }
    if (d)
        closedir(d);
    if (failed) {
        lab_names_free(all, (size_t)n);
        return failed;
    }
    if (n)
        qsort(all, (size_t)n, sizeof(*all), by_name);
    *names = all;
    return n;
}

void lab_names_free(char **names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}
