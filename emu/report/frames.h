/* The real frames that a train stands for, as bytes for a capture.
 *
 * Headers are complete and right: Ethernet with the addresses and the tag that
 * the train has on this wire, ARP or neighbour discovery, RARP, IPv4 (checksum)
 * or IPv6, TCP with the options that the frame's size has room for. TCP payload is all zeros, since
 * the model moves no bytes; TCP checksums are those of such a segment. A frame
 * is cut to FRAME_SNAP bytes, its length is the real one without FCS.
 */
#ifndef EMU_REPORT_FRAMES_H
#define EMU_REPORT_FRAMES_H

#include <stdint.h>

#include "emu/fabric/train.h"

#define FRAME_SNAP 128

/* What is kept of a train until its last frame is written: nothing in it points
 * to anything that may be gone by then. */
struct frames {
    struct train train;
    uint8_t ip_version, src[16], dst[16]; /* 0: no IP */
    uint16_t sport, dport;
};

struct frame_image {
    uint32_t length, captured;
    uint8_t bytes[FRAME_SNAP];
};

void frames_of(struct frames *f, const struct train *t);
/* Frame i of the train (0 .. frames-1); ip_id goes into IPv4 headers. */
void frames_image(const struct frames *f, uint32_t i, uint16_t ip_id, struct frame_image *out);

#endif
