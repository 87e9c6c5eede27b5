/* Private to anonymize*.c: the constants that addresses are XORed with. */
#ifndef NFSBAL_SITE_ANONYMIZE_PRIVATE_H
#define NFSBAL_SITE_ANONYMIZE_PRIVATE_H

#include <stdbool.h>

#include "emu/model/topology.h"
#include "emu/model/topology_arena.h"

struct veil_subnet {
    struct topo_addr net; /* an address in it, with the prefix */
    size_t group;         /* another subnet of its group, or itself */
    uint8_t constant[16];
};

struct veil {
    struct topo_arena *arena;
    struct veil_subnet *subnets;
    size_t n_subnets, subnets_capacity;
    struct topo_addr *addresses; /* all that will be changed, where the place of their bits matters */
    size_t n_addresses, addresses_capacity;
    uint8_t mac[6];
};

/* An address of the file, with its prefix (or the one of the subnet that holds it, or none). */
void veil_note(struct veil *v, const struct topo_addr *a);
/* These two exchange traffic: their subnets get one constant. */
void veil_join(struct veil *v, const struct topo_addr *a, const struct topo_addr *b);
/* Draws the constants. False: none were found that keep all addresses usable and all subnets apart. */
bool veil_draw(struct veil *v, uint64_t seed);
/* The address under its new value. */
void veil_apply(const struct veil *v, struct topo_addr *a);

#endif
