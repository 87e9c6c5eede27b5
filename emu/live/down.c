#define _GNU_SOURCE /* pidfd */
#include "emu/live/down.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/live/control.h"
#include "emu/live/lab.h"
#include "emu/report/json.h"

/* What a lab has to say how it went, to end by itself, to be ended. */
enum { ASK_MS = 2000, END_MS = 15000, KILL_MS = 5000 };

static double number(const struct json_in *j, const char *key)
{
    double value;

    return json_in_number(json_in_member(j, key), &value) ? value : 0;
}

void down_ask(const struct lab *lab, struct down_report *r)
{
    char problem[512], *path = lab_path(lab, "control");
    struct control_client *c = NULL;
    struct json_in *j = NULL;

    *r = (struct down_report){.kept_up = true};
    if (path && control_connect(&c, path) == 0 && control_begin(c, "lateness"))
        j = control_ask(c, ASK_MS, problem, sizeof problem);
    if (j) {
        r->known = true;
        r->kept_up = json_in_true(json_in_member(j, "kept_up"));
        r->frames = number(j, "frames");
        r->p50 = number(j, "late_p50");
        r->p99 = number(j, "late_p99");
        r->p999 = number(j, "late_p999");
        r->most = number(j, "late_max");
        r->behind = number(j, "behind");
        r->running = number(j, "running");
        r->shortage = number(j, "short");
        r->unfetched = number(j, "unfetched");
    }
    json_in_free(j);
    control_disconnect(c);
    free(path);
}

/* Sends the signal and waits for the end. */
static bool end(int pidfd, int signal, int most_ms)
{
    struct pollfd p = {.fd = pidfd, .events = POLLIN};

    (void)syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0);
    return poll(&p, 1, most_ms) > 0;
}

int down(struct lab *lab, char *problem, size_t size)
{
    int pidfd = (int)syscall(SYS_pidfd_open, lab->pid, 0), rc;

    /* The number may belong to another process by now; a descriptor whose process started when ours did can't. */
    if (pidfd >= 0 && lab_process_start(lab->pid) == lab->start) {
        bool ended = end(pidfd, SIGTERM, END_MS) || end(pidfd, SIGKILL, KILL_MS);

        close(pidfd);
        if (!ended) {
            snprintf(problem, size, "process %d of the lab does not end", (int)lab->pid);
            return -EBUSY;
        }
    } else if (pidfd >= 0) {
        close(pidfd);
    }
    /* It was killed: what is left is ours to remove, unless `emu clean` is at it. */
    rc = lab_lock(lab);
    if (rc == -ENOENT)
        return 0;
    if (rc == -EWOULDBLOCK)
        snprintf(problem, size, "its process can't be ended: it is another user's, or about to start or end");
    else if (rc < 0)
        snprintf(problem, size, "%s/lock: %s", lab->folder, strerror(-rc));
    return rc < 0 ? rc : lab_remove(lab, problem, size);
}
