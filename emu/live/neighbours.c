#include "emu/live/neighbours.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 64 };

static struct neighbour *slot_of(struct neighbour *slots, size_t size, const uint8_t ip[4])
{
    uint32_t key;
    size_t i;

    memcpy(&key, ip, 4);
    for (i = (key * UINT32_C(0x9E3779B1)) >> 8 & (size - 1); slots[i].used; i = (i + 1) & (size - 1))
        if (memcmp(slots[i].ip, ip, 4) == 0)
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
        if (n->slots[i].used)
            *slot_of(slots, size, n->slots[i].ip) = n->slots[i];
    free(n->slots);
    n->slots = slots;
    n->size = size;
    return true;
}

void neighbours_note(struct neighbours *n, const uint8_t ip[4], const uint8_t mac[6])
{
    struct neighbour *s = n->size ? slot_of(n->slots, n->size, ip) : NULL;

    if (!s || !s->used) {
        if (n->n >= NEIGHBOURS_MAX || (2 * n->n >= n->size && !grow(n)))
            return;
        s = slot_of(n->slots, n->size, ip);
        s->used = 1;
        memcpy(s->ip, ip, 4);
        n->n++;
    }
    memcpy(s->mac, mac, 6);
}

const uint8_t *neighbours_find(const struct neighbours *n, const uint8_t ip[4])
{
    const struct neighbour *s = n->size ? slot_of(n->slots, n->size, ip) : NULL;

    return s && s->used ? s->mac : NULL;
}

void neighbours_free(struct neighbours *n)
{
    free(n->slots);
    *n = (struct neighbours){0};
}
