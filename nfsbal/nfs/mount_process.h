/* The processes that serve mounts: this one, one in the background, or one for each mount. */
#ifndef NFSBAL_NFS_MOUNT_PROCESS_H
#define NFSBAL_NFS_MOUNT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "nfsbal/client/mount.h"

struct mount_process {
    const char *command; /* for messages */
    bool foreground;     /* stay, messages on standard error; else return when all is mounted */
    bool debug;          /* foreground, and every request of the kernel on standard error */
    bool one_each;       /* a process for each mount: one that dies takes no other with it */
};

/* Mounts all or none, says why not on standard error, and serves (foreground: until the last is unmounted). An exit code. */
int mount_process_run(const struct mount_process *p, const struct mount_wish *wishes, size_t n);

#endif
