#include "emu/live/neighbours.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 64 };

static size_t bytes_of(uint8_t version) { return version == 6 ? 16 : 4; }

static struct neighbour *slot_of(struct neighbour *slots, size_t size, uint8_t version, const uint8_t *ip)
{
    uint32_t key = version, word;
    size_t i;

    for (i = 0; i < bytes_of(version); i += 4) {
        memcpy(&word, ip + i, 4);
        key = (key ^ word) * UINT32_C(0x9E3779B1);
    }
    for (i = key >> 8 & (size - 1); slots[i].version; i = (i + 1) & (size - 1))
        if (slots[i].version == version && memcmp(slots[i].ip, ip, bytes_of(version)) == 0)
            break;
    return &slots[i];
}

static bool grow(struct neighbours *n)
{
    size_t size = n->size ? 2 * n->size : FIRST_SIZE;
    struct neighbour *slots = calloc(size, sizeof *slots);

    if (!slots)
        return false;
    for (size_t i = 0; i < n->size; i++)
        if (n->slots[i].version)
            *slot_of(slots, size, n->slots[i].version, n->slots[i].ip) = n->slots[i];
    free(n->slots);
    n->slots = slots;
    n->size = size;
    return true;
}

void neighbours_note(struct neighbours *n, uint8_t version, const uint8_t *ip, const uint8_t mac[6])
{
    struct neighbour *s = n->size ? slot_of(n->slots, n->size, version, ip) : NULL;

    if (!s || !s->version) {
        if (n->n >= NEIGHBOURS_MAX || (2 * n->n >= n->size && !grow(n)))
            return;
        s = slot_of(n->slots, n->size, version, ip);
        s->version = version;
        memcpy(s->ip, ip, bytes_of(version));
        n->n++;
    }
    memcpy(s->mac, mac, 6);
}

const uint8_t *neighbours_find(const struct neighbours *n, uint8_t version, const uint8_t *ip)
{
    const struct neighbour *s = n->size ? slot_of(n->slots, n->size, version, ip) : NULL;

    return s && s->version ? s->mac : NULL;
}

void neighbours_free(struct neighbours *n)
{
    free(n->slots);
    *n = (struct neighbours){0};
}
