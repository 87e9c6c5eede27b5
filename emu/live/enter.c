#define _GNU_SOURCE /* setns(), unshare() */
#include "emu/live/enter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "emu/live/lab.h"
#include "emu/live/netns.h"

static int enter_of_process(pid_t pid, const char *which, int type)
{
    char path[64];
    int fd, rc;

    snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)pid, which);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    rc = setns(fd, type) < 0 ? -errno : 0;
    close(fd);
    return rc;
}

/* /sys shows the devices of the namespace in which it was mounted. Where it can't be mounted anew it stays as it is. */
static int see_devices(void)
{
    int rc = unshare(CLONE_NEWNS) < 0 ? -errno : netns_mounts_apart();

    if (rc < 0)
        return rc;
    (void)mount("sysfs", "/sys", "sysfs", 0, NULL);
    return 0;
}

int enter_node(const struct lab *lab, const struct lab_node *node, char *problem, size_t size)
{
    char *folder = getcwd(NULL, 0); /* a mount namespace has a working directory of its own */
    int rc = 0;

    if (lab->rootless) {
        rc = enter_of_process(lab->pid, "user", CLONE_NEWUSER);
        if (rc == 0)
            rc = enter_of_process(lab->pid, "mnt", CLONE_NEWNS);
    }
    if (rc == 0)
        rc = netns_enter(node->netns);
    if (rc == 0)
        rc = see_devices();
    if (rc == 0 && folder && chdir(folder) < 0)
        rc = chdir("/") < 0 ? -errno : 0;
    free(folder);
    if (rc < 0) {
        snprintf(problem, size, "%s: %s: %s%s", node->name, node->netns, strerror(-rc),
                 rc == -EPERM && !lab->rootless ? ": a lab of root's is for root" : "");
        return rc;
    }
    setenv("EMU_LAB", lab->name, 1);
    setenv("EMU_NODE", node->name, 1);
    return 0;
}
