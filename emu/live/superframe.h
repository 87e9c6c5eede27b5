/* Super-frames: what a TAP device with segmentation offload hands over, a header and up to 64 KiB of a TCP segment's payload,
 * with the promise that hardware will cut it into frames.
 *
 * A frame here is what follows the virtio header; numbers in that header are in the machine's order.
 */
#ifndef EMU_LIVE_SUPERFRAME_H
#define EMU_LIVE_SUPERFRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/virtio_net.h>

enum {
    SUPERFRAME_MAX = 65536 + 64, /* with Ethernet header */
    SUPERFRAME_HEADER_MAX = 256, /* Ethernet, IP with options or extension headers, TCP */
    SUPERFRAME_VNET = 10,        /* bytes of the virtio header on the device */
};
_Static_assert(sizeof(struct virtio_net_hdr) == SUPERFRAME_VNET, "the header without the number of buffers");

struct superframe {
    uint32_t length; /* bytes of the frame, with its Ethernet header */
    uint32_t frames; /* real frames that it stands for */
    uint16_t mss;    /* payload of each but the last; 0: one frame, as it stands */
    uint16_t
        header; /* bytes that each real frame repeats; without mss the Ethernet header, or up to an open checksum */
    uint16_t l3, l4; /* where the IP and the TCP header start; 0 without mss */
    uint8_t gso;     /* VIRTIO_NET_HDR_GSO_TCPV4 or 6, with ECN where it was; NONE without mss */
    struct virtio_net_hdr vnet;
};

/* Reads the headers. False: no frame that a network card would send (cut off, a segment size or header that doesn't fit). */
bool superframe_parse(struct superframe *s, const struct virtio_net_hdr *vnet, const uint8_t *frame, size_t length);

/* Bytes of a real frame, without FCS: of each but the last, of the last. At least 60. */
uint32_t superframe_frame_bytes(const struct superframe *s);
uint32_t superframe_last_bytes(const struct superframe *s);

/* The real frames first .. first+n-1 as a super-frame of their own, without copying the payload. */
struct superframe_cut {
    struct virtio_net_hdr vnet;
    uint8_t header[SUPERFRAME_HEADER_MAX];
    size_t header_bytes;
    size_t payload, payload_bytes; /* in the frame that it was cut from */
};
/* TCP checksums are left to whoever takes it, as the virtio header says. 1 <= n, first + n <= s->frames. */
void superframe_cut(const struct superframe *s, const uint8_t *frame, uint32_t first, uint32_t n,
                    struct superframe_cut *out);

/* Completes the checksum that the cut leaves open, over header and payload: for frames that go to people, not to a TAP. */
void superframe_checksum(struct superframe_cut *cut, const uint8_t *frame);

#endif
