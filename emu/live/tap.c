#include "emu/live/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/if.h>
#include <linux/if_tun.h>

#include "emu/live/superframe.h"

int tap_open(const char *name, bool offload, char *problem, size_t size)
{
    struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    unsigned offloads = offload ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN : 0;
    int header = SUPERFRAME_VNET, fd = open(TAP_NODE, O_RDWR | O_NONBLOCK | O_CLOEXEC), rc;

    if (fd < 0) {
        rc = -errno;
        snprintf(problem, size, "%s: %s%s", TAP_NODE, strerror(errno),
                 errno == EACCES || errno == EPERM ? ": a lab's interfaces need it (mode 0666 lets everybody open it)"
                                                   : "");
        return rc;
    }
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    if (ioctl(fd, TUNSETIFF, &request) < 0 || ioctl(fd, TUNSETVNETHDRSZ, &header) < 0 ||
        ioctl(fd, TUNSETOFFLOAD, offloads) < 0) {
        rc = -errno;
        snprintf(problem, size, "%s: %s: %s", TAP_NODE, name, strerror(errno));
        close(fd);
        return rc;
    }
    return fd;
}
