/* What a NAS controller knows of its clients: the Ethernet address from which each client's frames came last. */
#ifndef EMU_LIVE_NEIGHBOURS_H
#define EMU_LIVE_NEIGHBOURS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct neighbour {
    uint8_t ip[16], mac[6];
    uint8_t version; /* 0: no entry */
};

struct neighbours { /* zeroed: empty */
    struct neighbour *slots;
    size_t n, size; /* size is 0 or a power of two */
};

/* Beyond so many, or without memory, new ones are not noted: the controller then asks by ARP. */
enum { NEIGHBOURS_MAX = 65536 };

/* `ip` has the 4 or 16 bytes of its version. */
void neighbours_note(struct neighbours *n, uint8_t version, const uint8_t *ip, const uint8_t mac[6]);
const uint8_t *neighbours_find(const struct neighbours *n, uint8_t version,
                               const uint8_t *ip); /* the address, or NULL */
void neighbours_free(struct neighbours *n);

#endif
