/* States, chains and their steps: private to nfsbal/plan/frontier*.c. */
#ifndef NFSBAL_PLAN_FRONTIER_PRIVATE_H
#define NFSBAL_PLAN_FRONTIER_PRIVATE_H

#include "emu/model/topology_arena.h"
#include "nfsbal/plan/frontier.h"

enum {
    CANDIDATES_MAX = 96, /* looked at for each step of a chain */
    ALL_STATES = 1024,   /* all settings of all levers are looked at, up to here */
};

struct state {
    struct topo *own; /* NULL: the file's */
    const struct topo *t;
    struct plan_change *changes;
    size_t n_changes;
    struct plan *plans[2]; /* all that may change; what is mild alone, or NULL where that is the same */
};

struct making {
    struct plan_frontier *f;
    const struct topo_file *file;
    struct plan_options options;
    const struct plan_lever_options *levers;
    struct topo_arena *arena;
    struct state *states; /* STATES_MAX */
    size_t n_states, most_states, most_candidates;
    const struct topo_addr *from;
    size_t n_from;
    double *factors; /* [2 * host + direction]: bytes on the wire for one of data, at least */
    bool failed;
};

/* A step of a chain: changes, and perhaps a unit that must go to another VIP with them. */
struct candidate {
    struct plan_change *changes;
    size_t n;
    int unit, vip; /* or -1 */
    double gain;   /* potential after it over before */
};

struct list {
    struct candidate all[CANDIDATES_MAX];
    size_t n, most;
};

bool plan_lever_allowed(const struct making *m, enum plan_lever lever);
bool plan_vips_allowed(const struct making *m);

/* Whether both change the same thing. */
bool plan_same_target(const struct plan_change *a, const struct plan_change *b);

struct plan_change plan_home_change(struct making *m, const struct topo *t, size_t vip, int box);

struct plan_change plan_owner_change(struct making *m, const struct topo *t, int export_, int box);
struct plan_change plan_address_change(struct making *m, const struct topo *t, int iface, const struct topo_addr *to);
struct plan_change plan_binding_change(struct making *m, const struct topo *t, int datastore, int host, int iface,
                                       int from);
/* The i-th policy that a node could have instead, and the change to it. NULL: no more, or it is no switch with a hash. */
const struct hash_policy *plan_hash_policy(const struct topo *t, size_t node, unsigned i);
struct plan_change plan_hash_change(struct making *m, const struct topo *t, size_t node, unsigned i);

/* The state with these changes, where the site can be made, its VIPs planned, and as much is known of it as of today's. */
void plan_add_state(struct making *m, struct plan_change *changes, size_t n);

/* Every setting of every lever as a state, where these are few. False: they are not. */
bool plan_all_states(struct making *m);
/* What no layout with any of the changes can have less on the fullest of the movable links. */
double plan_levers_bound(struct making *m, const bool *movable);

/* Add to the list what the lever could do after these VIPs. `free_volumes`: volumes may move with a VIP. */
void plan_home_candidates(struct making *m, const struct state *s, const int *vips, bool free_volumes,
                          struct list *list);
void plan_owner_candidates(struct making *m, const struct state *s, const int *vips, struct list *list);
void plan_hash_candidates(struct making *m, const struct state *s, struct list *list);

#endif
