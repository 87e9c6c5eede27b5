#include "emu/fabric/mac_table.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/model/random.h"

enum { SLAB = 64, FIRST_SIZE = 64 };

struct mac_slab {
    struct mac_slab *next;
    size_t used;
    struct mac_entry entries[SLAB];
};

bool mac_table_init(struct mac_table *m, ps_t ageing)
{
    *m = (struct mac_table){.size = FIRST_SIZE, .ageing = ageing};
    m->slots = calloc(m->size, sizeof(struct mac_entry *));
    return m->slots != NULL;
}

void mac_table_free(struct mac_table *m)
{
    while (m->slabs) {
        struct mac_slab *s = m->slabs;

        m->slabs = s->next;
        free(s);
    }
    free(m->slots);
}

/* The slot that holds the key, or the free one where it belongs. */
static struct mac_entry **slot_of(const struct mac_table *m, uint64_t key)
{
    size_t i = random_mix(key) & (m->size - 1);

    while (m->slots[i] && m->slots[i]->key != key)
        i = (i + 1) & (m->size - 1);
    return &m->slots[i];
}

struct mac_entry *mac_table_find(const struct mac_table *m, uint64_t key) { return *slot_of(m, key); }

static _Noreturn void out_of_memory(void)
{
    fputs("out of memory for MAC addresses\n", stderr);
    abort();
}

static void grow(struct mac_table *m)
{
    struct mac_entry **old = m->slots;
    size_t size = m->size;

    m->size *= 2;
    m->slots = calloc(m->size, sizeof(struct mac_entry *));
    if (!m->slots)
        out_of_memory();
    for (size_t i = 0; i < size; i++)
        if (old[i])
            *slot_of(m, old[i]->key) = old[i];
    free(old);
}

struct mac_entry *mac_table_get(struct mac_table *m, uint64_t key)
{
    struct mac_entry **slot = slot_of(m, key);

    if (*slot)
        return *slot;
    if (2 * ++m->count > m->size) {
        grow(m);
        slot = slot_of(m, key);
    }
    if (!m->slabs || m->slabs->used == SLAB) {
        struct mac_slab *s = malloc(sizeof *s);

        if (!s)
            out_of_memory();
        s->next = m->slabs;
        s->used = 0;
        m->slabs = s;
    }
    *slot = &m->slabs->entries[m->slabs->used++];
    **slot = (struct mac_entry){.key = key, .lport = -1, .former = -1};
    return *slot;
}

void mac_table_forget(struct mac_table *m, int lport)
{
    for (size_t i = 0; i < m->size; i++)
        if (m->slots[i] && m->slots[i]->lport == lport)
            m->slots[i]->lport = -1;
}
