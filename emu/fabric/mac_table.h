/* Where a switch has seen which address: MAC and VLAN to a logical port, with ageing. */
#ifndef EMU_FABRIC_MAC_TABLE_H
#define EMU_FABRIC_MAC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

/* One address. Entries never move and live as long as the table, so a pointer to one may be kept. */
struct mac_entry {
    uint64_t key;
    ps_t seen;  /* last as a source */
    ps_t moved; /* when it left `former` */
    int lport;  /* -1: forgotten */
    int former; /* lport before, -1 = none */
};

struct mac_slab;
struct mac_table {
    struct mac_entry **slots; /* open addressing, a power of two */
    size_t size, count;
    struct mac_slab *slabs;
    ps_t ageing;
};

static inline uint64_t mac_key(uint64_t mac, uint16_t vlan) { return mac << 16 | vlan; }

bool mac_table_init(struct mac_table *m, ps_t ageing); /* false on lack of memory */
void mac_table_free(struct mac_table *m);              /* accepts a zeroed one */

struct mac_entry *mac_table_find(const struct mac_table *m,
                                 uint64_t key); /* also a forgotten or aged one; NULL: never seen */
struct mac_entry *mac_table_get(struct mac_table *m,
                                uint64_t key);         /* makes it, forgotten; without memory the program ends */
void mac_table_forget(struct mac_table *m, int lport); /* all on that port */

/* True when frames to it go to e->lport. */
static inline bool mac_known(const struct mac_table *m, const struct mac_entry *e, ps_t now)
{
    return e && e->lport >= 0 && now - e->seen <= m->ageing;
}

#endif
