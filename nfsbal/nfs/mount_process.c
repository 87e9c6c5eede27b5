/* A process that mounts is a child and tells how it went through a pipe: nothing for success, else a sentence. The parent of
 * several stays only in the foreground; it hands SIGTERM and SIGINT on, and what a child's exit says it says too. No process is
 * ever started again: programs keep errors on the files that they had open, so somebody must look first.
 */
#include "nfsbal/nfs/mount_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <unistd.h>

#include "emu/cli/cli.h"

static void to_standard_error(const char *line) { fprintf(stderr, "nfsbal mount: %s\n", line); }

static void to_system_log(const char *line) { syslog(LOG_NOTICE, "%s", line); }

/* A service manager that wants to know is told that everything is mounted: sd_notify(3), by its documented protocol. */
static void tell_service_manager(void)
{
    static const char ready[] = "READY=1";
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = name ? strlen(name) : 0;
    int fd;

    if (n < 2 || n >= sizeof to.sun_path || (*name != '/' && *name != '@'))
        return;
    memcpy(to.sun_path, name, n);
    if (*name == '@') /* an abstract name */
        to.sun_path[0] = '\0';
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    if (sendto(fd, ready, sizeof ready - 1, 0, (struct sockaddr *)&to,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n)) < 0)
        fprintf(stderr, "nfsbal mount: NOTIFY_SOCKET=%s: %s\n", name, strerror(errno));
    close(fd);
}

static void close_standard_files(void)
{
    int null = open("/dev/null", O_RDWR);

    for (int fd = 0; null >= 0 && fd < 3; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

/* SIGTERM, SIGINT and SIGCHLD as a file while there are several children; -1 fd: none of it. */
struct signals {
    int fd;
    sigset_t before;
};

static bool signals_take(struct signals *s)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    s->fd = signalfd(-1, &set, SFD_CLOEXEC);
    return s->fd >= 0 && sigprocmask(SIG_BLOCK, &set, &s->before) == 0;
}

static void signals_give_back(struct signals *s)
{
    if (s->fd < 0)
        return;
    close(s->fd);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    s->fd = -1;
}

/* The number of the next one; waits. */
static int signals_next(const struct signals *s)
{
    struct signalfd_siginfo info = {0};

    return read(s->fd, &info, sizeof info) == sizeof info ? (int)info.ssi_signo : 0;
}

/* The child: mounts, tells, serves. */
static void serve(const struct mount_process *p, const struct mount_wish *wishes, size_t n, struct signals *signals,
                  int tell)
{
    char problem[600];
    struct mounts *m;

    signals_give_back(signals);
    (void)fcntl(tell, F_SETFD, FD_CLOEXEC);
    if (!p->foreground) {
        setsid();
        openlog("nfsbal", LOG_PID, LOG_DAEMON);
    }
    m = mounts_start(wishes, n, p->foreground ? to_standard_error : to_system_log, p->debug, problem, sizeof problem);
    if (!m) {
        (void)!write(tell, problem, strlen(problem));
        _exit(CLI_FAILED);
    }
    if (!p->foreground) {
        (void)!chdir("/");
        close_standard_files();
    }
    close(tell);
    _exit(mounts_serve(m) ? CLI_OK : CLI_FAILED);
}

/* What the child says: the length of a sentence in `problem`, 0 when it has mounted. Who stops us stops it. */
static ssize_t hear(pid_t child, int from, const struct signals *signals, char *problem, size_t size)
{
    struct pollfd files[] = {{.fd = from, .events = POLLIN}, {.fd = signals->fd, .events = POLLIN}};
    ssize_t got;

    while (poll(files, 2, -1) < 0 || !files[0].revents)
        if (files[1].revents) {
            int number = signals_next(signals);

            if (number == SIGTERM || number == SIGINT)
                kill(child, number);
        }
    do
        got = read(from, problem, size - 1);
    while (got < 0 && errno == EINTR);
    return got;
}

/* Starts one that serves `n` mounts; returns its id when they are mounted, or -1 after it was said why not. */
static pid_t start(const struct mount_process *p, const struct mount_wish *wishes, size_t n, struct signals *signals)
{
    char problem[600] = "";
    int ends[2], status = 0;
    pid_t pid;

    if (pipe(ends) != 0) {
        cli_error(CLI_FAILED, p->command, "pipe: %s", strerror(errno));
        return -1;
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        serve(p, wishes, n, signals, ends[1]);
    }
    close(ends[1]);
    if (pid < 0) {
        cli_error(CLI_FAILED, p->command, "fork: %s", strerror(errno));
    } else if (hear(pid, ends[0], signals, problem, sizeof problem) > 0) {
        waitpid(pid, &status, 0);
        cli_error(CLI_FAILED, p->command, "%s", problem);
        pid = -1;
    } else if (waitpid(pid, &status, WNOHANG) == pid && status != 0) { /* no word and no process: it was killed */
        cli_error(CLI_FAILED, p->command, "the mounting process ended unexpectedly");
        pid = -1;
    }
    close(ends[0]);
    return pid;
}

/* Waits for the children, of whom some may have ended already. */
static bool wait_for_all(pid_t *pids, size_t n, const struct signals *signals)
{
    bool ok = true;

    for (size_t left = n;;) {
        int status, number;

        for (size_t i = 0; i < n; i++)
            if (pids[i] > 0 && waitpid(pids[i], &status, WNOHANG) == pids[i]) {
                pids[i] = 0;
                left--;
                ok &= status == 0;
            }
        if (left == 0)
            return ok;
        number = signals_next(signals);
        for (size_t i = 0; (number == SIGTERM || number == SIGINT) && i < n; i++)
            if (pids[i] > 0)
                kill(pids[i], number);
    }
}

static int run_one_each(const struct mount_process *p, const struct mount_wish *wishes, size_t n)
{
    pid_t *pids = calloc(n, sizeof *pids);
    struct signals signals = {.fd = -1};
    size_t started = 0;
    bool ok = pids && signals_take(&signals);

    if (!ok)
        cli_error(CLI_FAILED, p->command, "%s", strerror(errno));
    for (; ok && started < n; started += ok) {
        pids[started] = start(p, &wishes[started], 1, &signals);
        ok = pids[started] > 0;
    }
    for (size_t i = 0; !ok && i < started; i++)
        kill(pids[i], SIGTERM);
    if (ok && p->foreground)
        tell_service_manager();
    if (!ok || p->foreground)
        ok &= wait_for_all(pids, started, &signals);
    signals_give_back(&signals);
    free(pids);
    return ok ? CLI_OK : CLI_FAILED;
}

int mount_process_run(const struct mount_process *p, const struct mount_wish *wishes, size_t n)
{
    struct signals none = {.fd = -1};
    char problem[600];
    struct mounts *m;

    if (p->one_each && n > 1)
        return run_one_each(p, wishes, n);
    if (!p->foreground)
        return start(p, wishes, n, &none) > 0 ? CLI_OK : CLI_FAILED;
    m = mounts_start(wishes, n, to_standard_error, p->debug, problem, sizeof problem);
    if (!m)
        return cli_error(CLI_FAILED, p->command, "%s", problem);
    tell_service_manager();
    return mounts_serve(m) ? CLI_OK : CLI_FAILED;
}
