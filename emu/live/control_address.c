#define _GNU_SOURCE /* O_PATH */
#include "emu/live/control_address.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int control_address(struct control_address *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder;
    int n;

    *a = (struct control_address){.address.sun_family = AF_UNIX, .folder = -1};
    if (strlen(path) < sizeof a->address.sun_path) {
        memcpy(a->address.sun_path, path, strlen(path) + 1);
        return 0;
    }
    if (!slash)
        return -ENAMETOOLONG;
    folder = strndup(path, (size_t)(slash - path) + 1);
    if (!folder)
        return -ENOMEM;
    a->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (a->folder < 0)
        return -errno;
    n = snprintf(a->address.sun_path, sizeof a->address.sun_path, "/proc/self/fd/%d%s", a->folder, slash);
    if (n < 0 || (size_t)n >= sizeof a->address.sun_path) {
        control_address_close(a);
        return -ENAMETOOLONG;
    }
    return 0;
}

void control_address_close(struct control_address *a)
{
    if (a->folder >= 0)
        close(a->folder);
    a->folder = -1;
}
