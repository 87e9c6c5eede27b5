/* TAP devices: Ethernet as a file descriptor, with the virtio header before each frame. */
#ifndef EMU_LIVE_TAP_H
#define EMU_LIVE_TAP_H

#include <stdbool.h>
#include <stddef.h>

#define TAP_NODE "/dev/net/tun"

/* Makes the device `name` in the calling thread's network namespace. `offload`: the kernel hands over and takes TCP
 * super-frames and open checksums; otherwise frame by frame. Returns the descriptor (non-blocking, closed on exec), or a
 * negative errno with a sentence. The device goes with its descriptor. */
int tap_open(const char *name, bool offload, char *problem, size_t size);

#endif
