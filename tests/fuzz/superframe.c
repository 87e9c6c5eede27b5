/* needs: full. Any bytes as a frame from a TAP device: what is accepted can be cut anywhere, stays inside, and its pieces add up;
 * neighbour discovery that is understood says the same when it is written again.
 * Input: the virtio header, two bytes that choose a piece, the frame. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/discovery.h"
#include "emu/live/superframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void discovery(const uint8_t *packet, size_t size)
{
    static const uint8_t mac[6] = {2};
    uint8_t again[DISCOVERY_PACKET], third[DISCOVERY_PACKET];
    struct train_arp a, b;

    if (!discovery_read(packet, size, mac, &a))
        return;
    discovery_put(&a, !a.reply, again);
    demand(discovery_read(again, sizeof again, a.sender_mac, &b));
    discovery_put(&b, !b.reply, third);
    demand(memcmp(again, third, sizeof again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct virtio_net_hdr vnet;
    struct superframe s;
    struct superframe_cut cut;
    size_t length, payload = 0;
    uint32_t first, n;
    uint8_t *frame;

    if (size < sizeof vnet + 2)
        return 0;
    memcpy(&vnet, data, sizeof vnet);
    length = size - sizeof vnet - 2;
    frame = malloc(length + 1); /* of its own, so that a byte too far is seen */
    if (!frame)
        return 0;
    memcpy(frame, data + sizeof vnet + 2, length);
    if (superframe_parse(&s, &vnet, frame, length)) {
        demand(s.frames >= 1 && s.length == length && s.header <= length);
        demand(superframe_last_bytes(&s) >= 60 && superframe_frame_bytes(&s) >= 60);
        for (uint32_t i = 0; i < s.frames; i++) {
            superframe_cut(&s, frame, i, 1, &cut);
            demand(cut.payload + cut.payload_bytes <= length && cut.header_bytes == s.header);
            payload += cut.payload_bytes;
            superframe_checksum(&cut, frame);
        }
        demand(s.header + payload == length);
        first = data[sizeof vnet] % s.frames;
        n = 1 + data[sizeof vnet + 1] % (s.frames - first);
        superframe_cut(&s, frame, first, n, &cut);
        demand(cut.payload + cut.payload_bytes <= length);
        superframe_checksum(&cut, frame);
    }
    if (length > 14)
        discovery(frame + 14, length - 14);
    free(frame);
    return 0;
}
