#define _GNU_SOURCE /* unshare() */
#include "emu/live/up.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/live/nas.h"
#include "emu/live/store.h"
#include "emu/live/up_internal.h"
#include "emu/model/topology.h"
#include "emu/model/topology_images.h"

/* ---- scale ---- */

static bps_t faster(bps_t rate, double scale)
{
    double r = floor((double)rate * scale + 0.5);

    return r < 1 ? 1 : (bps_t)r;
}

static ps_t shorter(ps_t delay, double scale) { return (ps_t)((double)delay / scale + 0.5); }

void up_scale(struct topo *t, double scale)
{
    if (scale < 1)
        topo_caches(t, scale);
    for (size_t i = 0; i < t->n_links && scale != 1; i++) {
        t->links[i].rate = faster(t->links[i].rate, scale);
        t->links[i].delay = shorter(t->links[i].delay, scale);
    }
    for (size_t i = 0; i < t->n_events && scale != 1; i++) {
        struct topo_event *e = &t->events[i];

        if (e->what == TOPO_EV_LINK_RATE)
            e->rate = faster(e->rate, scale);
        if (e->what == TOPO_EV_LINK_DELAY)
            e->delay = shorter(e->delay, scale);
    }
}

/* ---- a user namespace ---- */

static int write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC), rc;

    if (fd < 0)
        return -errno;
    rc = write(fd, text, strlen(text)) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

int up_rootless(char *problem, size_t size)
{
    unsigned uid = (unsigned)geteuid(), gid = (unsigned)getegid();
    char map[64];
    int rc;

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) < 0) {
        rc = -errno;
        snprintf(problem, size, "--rootless needs user namespaces, and here they are not to be had%s: %s",
                 rc == -EPERM ? " (a chroot never has them)" : "", strerror(-rc));
        return rc;
    }
    rc = write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof map, "0 %u 1", uid);
    if (rc == 0 || rc == -ENOENT)
        rc = write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof map, "0 %u 1", gid);
    if (rc == 0)
        rc = write_file("/proc/self/gid_map", map);
    if (rc == 0)
        rc = netns_mounts_apart();
    if (rc < 0)
        snprintf(problem, size, "--rootless: a user namespace of one's own: %s", strerror(-rc));
    return rc;
}

/* ---- the lab's process ---- */

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static int describe(struct lab *lab, const struct up_options *o, const struct topo *t)
{
    char scale[32];
    char *path = o->file && strcmp(o->file, "-") != 0 ? realpath(o->file, NULL) : NULL;

    snprintf(scale, sizeof scale, "%.10g", o->scale);
    lab->rootless = o->rootless;
    lab->topology = path ? path : copy(o->file ? o->file : "-");
    lab->case_name = copy(o->case_name);
    lab->scale = copy(scale);
    lab->detail = copy(o->frames ? "frame" : "train");
    if (!lab->topology || !lab->scale || !lab->detail)
        return -ENOMEM;
    return lab_nodes(lab, t);
}

/* Output goes to the log, nothing comes in, and no terminal ends it. */
static int become_daemon(const struct lab *lab, char *problem, size_t size)
{
    char *path = lab_path(lab, "log");
    int log = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1, none, rc = 0;

    if (log < 0) {
        rc = path ? -errno : -ENOMEM;
        snprintf(problem, size, "%s: %s", path ? path : "log", strerror(-rc));
        free(path);
        return rc;
    }
    free(path);
    setsid();
    if (chdir("/") < 0)
        rc = -errno;
    umask(022);
    none = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (none >= 0)
        dup2(none, 0);
    dup2(log, 1);
    dup2(log, 2);
    if (none > 2)
        close(none);
    if (log > 2)
        close(log);
    setvbuf(stderr, NULL, _IOLBF, 0);
    setenv("EMU_LAB", lab->name, 1);
    return rc;
}

static int child(struct up_lab *u)
{
    char problem[1024];
    int rc = 0;

    if (u->options->rootless) {
        char *ns;

        rc = up_rootless(problem, sizeof problem);
        ns = rc == 0 ? lab_path(u->lab, "ns") : NULL;
        if (rc == 0 && (!ns || mkdir(ns, 0755) < 0)) {
            rc = ns ? -errno : -ENOMEM;
            snprintf(problem, sizeof problem, "%s: %s", ns ? ns : "ns", strerror(-rc));
        }
        free(ns);
    }
    if (rc == 0)
        rc = become_daemon(u->lab, problem, sizeof problem);
    if (rc == 0)
        return up_run(u);
    (void)!write(u->ready, problem, strlen(problem));
    lab_remove(u->lab, problem, sizeof problem);
    return 1;
}

/* What the child says, to its end; false when it isn't "ready". */
static bool hear(int fd, char *text, size_t size)
{
    size_t n = 0;
    ssize_t got;

    while (n + 1 < size && ((got = read(fd, text + n, size - 1 - n)) > 0 || (got < 0 && errno == EINTR)))
        n += got > 0 ? (size_t)got : 0;
    text[n] = '\0';
    return strcmp(text, "ready\n") == 0;
}

static int start(struct up_lab *u, char *problem, size_t size)
{
    int pipes[2], status, rc;
    pid_t pid;

    if (pipe2(pipes, O_CLOEXEC) < 0)
        return -errno;
    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        rc = -errno;
        close(pipes[0]);
        close(pipes[1]);
        return rc;
    }
    if (pid == 0) {
        close(pipes[0]);
        u->ready = pipes[1];
        signal(SIGPIPE, SIG_IGN);
        _exit(child(u));
    }
    close(pipes[1]);
    if (hear(pipes[0], problem, size)) {
        close(pipes[0]);
        return 0;
    }
    close(pipes[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (problem[0] == '\0' && WIFSIGNALED(status))
        snprintf(problem, size, "the lab's process was ended by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    else if (problem[0] == '\0')
        snprintf(problem, size, "the lab's process ended without a word");
    return -EIO;
}

static bool has_nas(const struct topo *t)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        if (t->nodes[i].kind == TOPO_NAS)
            return true;
    return false;
}

static int check(const struct up_options *o, const struct topo *t, char *problem, size_t size)
{
    const char *why = o->no_nas ? NULL : nas_refuses(t, problem, size);

    if (!why && o->storage)
        why = store_refuses(t, problem, size);
    if (why) {
        if (why != problem)
            snprintf(problem, size, "%s", why);
        return -EINVAL;
    }
    if (o->rootless && !o->no_nas && has_nas(t)) {
        snprintf(
            problem, size,
            "--rootless: rpcbind, which nfs-ganesha needs, doesn't run without root (it calls setgroups()); --no-nas "
            "does without servers");
        return -EINVAL;
    }
    if (!o->rootless && geteuid() != 0) {
        snprintf(problem, size,
                 "namespaces and interfaces need root; --rootless does without where user namespaces are "
                 "allowed");
        return -EPERM;
    }
    if (o->rootless && access("/dev/net/tun", R_OK | W_OK) < 0) {
        snprintf(problem, size, "/dev/net/tun: %s: --rootless needs it open to everybody (mode 0666, as Debian has it)",
                 strerror(errno));
        return -EPERM;
    }
    return 0;
}

int up(const struct up_options *o, struct topo *t, char *name, char *problem, size_t size)
{
    struct up_lab u = {.options = o, .topo = t};
    int rc = check(o, t, problem, size);

    if (rc < 0)
        return rc;
    if (o->name)
        snprintf(name, LAB_NAME_MAX + 1, "%s", o->name);
    else
        lab_name_from(t->name ? t->name : "lab", name, LAB_NAME_MAX + 1);
    rc = lab_new(&u.lab, name, problem, size);
    if (rc < 0)
        return rc;
    snprintf(problem, size, "out of memory");
    rc = describe(u.lab, o, t);
    if (rc == 0)
        rc = lab_check(u.lab, problem, size);
    if (rc == 0) {
        up_scale(t, o->scale);
        rc = start(&u, problem, size);
    }
    if (rc < 0) { /* the child has cleaned up, unless it was killed */
        char unused[512];

        lab_remove(u.lab, unused, sizeof unused);
    }
    lab_free(u.lab);
    return rc;
}
