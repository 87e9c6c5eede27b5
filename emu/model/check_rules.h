/* What the groups of rules share; private to check*.c.
 *
 * A rule walks over the topology and calls check_add(). The engine merges findings of a rule that differ only in
 * their subject (four hosts out of one entry of the file: "esx[1-4]: ..."), so a rule needs no bookkeeping of its own.
 * Text and facts live in an arena until the end of the run.
 */
#ifndef EMU_MODEL_CHECK_RULES_H
#define EMU_MODEL_CHECK_RULES_H

#include "emu/model/check.h"
#include "emu/model/path.h"
#include "emu/model/topology.h"
#include "emu/model/topology_arena.h"

/* A client interface and a VIP that talk to each other: flows of one pair take the same way unless a rule reads
 * ports. */
struct check_pair {
    int iface, vip;   /* the host's interface */
    int mount;        /* the first mount of it */
    unsigned mounts;  /* all of them, those that share another's connections too */
    struct flow flow; /* the first connection of the first mount */
};

struct check {
    const struct topo *t;
    struct diag *d;
    const struct check_rule *rule; /* the one that runs */

    /* Facts, made before the rules run. */
    struct check_pair *pairs; /* in order of their first flow */
    size_t n_pairs;
    bool *iface_used;     /* carries a mount, or a VIP that is mounted */
    unsigned *vip_mounts; /* per VIP */
    int *host_mounts;     /* mounts sorted by host: host_first[box] .. host_first[box + 1] */
    size_t *host_first;

    /* Of one group each, made when first asked for. */
    struct check_need *needs;     /* check_mtu.c: what crosses each switch */
    struct check_choice *choices; /* check_label.c: who chose, and how sure */

    struct check_merge { /* findings of the running rule, to be merged; private to check.c */
        struct check_pending *all;
        size_t n, capacity;
        size_t *index; /* open addressing over all, place + 1; 0: empty */
        size_t slots;
    } merge;
    struct topo_arena *arena; /* text and facts */
};

/* The groups. Each ends with an entry whose id is NULL. */
extern const struct check_rule check_wiring_rules[];
extern const struct check_rule check_address_rules[];
extern const struct check_rule check_teaming_rules[];
extern const struct check_rule check_lag_rules[];
extern const struct check_rule check_vlan_rules[];
extern const struct check_rule check_mtu_rules[];
extern const struct check_rule check_mount_rules[];
extern const struct check_rule check_vip_rules[];
extern const struct check_rule check_limit_rules[];
extern const struct check_rule check_nconnect_rules[];
extern const struct check_rule check_binding_rules[];
extern const struct check_rule check_spread_rules[];
extern const struct check_rule check_label_rules[];

void check_facts(struct check *c);

/* Adds a finding of the running rule about `object` (a datastore) on `subject` (a host); either may be NULL. They,
 * `hint` (may be NULL) and the text are copied. */
void check_add_for(struct check *c, struct diag_mark mark, const char *object, const char *subject, const char *hint,
                   const char *format, ...) __attribute__((format(printf, 6, 7)));
#define check_add(c, mark, subject, hint, ...) check_add_for(c, mark, NULL, subject, hint, __VA_ARGS__)

/* Text and zeroed memory for the length of the run; never NULL. */
const char *check_text(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void *check_alloc(struct check *c, size_t n, size_t size);

/* Names in order, joined by ", "; runs that count up become ranges as in the file: "esx[1-4], esx6". Past `most`
 * items the rest is counted: "... and 12 more". */
const char *check_join(struct check *c, const char *const *names, size_t n, size_t most);

/* A list of names that grows; zero it before use. */
struct check_names {
    const char **name;
    size_t n, capacity;
};
void check_names_add(struct check *c, struct check_names *list, const char *name);
/* The same unless the last one added was that very name. */
void check_names_add_new(struct check *c, struct check_names *list, const char *name);
const char *check_names_text(struct check *c, const struct check_names *list);

/* As the file calls them: "esx1:vSwitch1", "fas:n1.a0a", "stack1:po11"; "esx1:vmk1". */
const char *check_team_name(struct check *c, int team);
const char *check_iface_name(struct check *c, int iface);

static inline const struct topo_node *check_node(const struct topo *t, int box)
{
    return &t->nodes[t->boxes[box].node];
}
static inline bool check_is_switch(const struct topo *t, int box) { return check_node(t, box)->kind == TOPO_SWITCH; }
static inline bool check_is_host(const struct topo *t, int box)
{
    return check_node(t, box)->kind == TOPO_ESXI || check_node(t, box)->kind == TOPO_LINUX;
}
/* The port at the other end of the cable, or -1. */
static inline int check_peer_port(const struct topo *t, int port)
{
    const struct topo_port *p = &t->ports[port];
    return p->link < 0 ? -1 : t->links[p->link].port[!p->end];
}
/* True when both are one switch to the outside: the same box, or two of an MLAG pair. */
bool check_same_switch(const struct topo *t, int box_a, int box_b);

/* True when the rule in force goes by this name. */
bool check_policy_is(const struct topo_teaming *teaming, const char *name);

/* What a team takes its cables for, whatever the other end thinks. */
enum check_bundle {
    CHECK_LOOSE,  /* independent links: port-id, active-backup, balance-alb, a NIC by itself */
    CHECK_STATIC, /* one static channel: IP hash, balance-xor, LAG `static` */
    CHECK_LACP
};
enum check_bundle check_bundle_of(const struct topo *t, int team, const struct topo_teaming *teaming);
/* The bundle that the switch (or whatever is there) makes of the port's other end; CHECK_LOOSE without cable. */
enum check_bundle check_peer_bundle(const struct topo *t, int port);

/* Calls `visit` for each teaming in force somewhere: the team's own, and those of port groups that differ. `iface`
 * is -1 for the team's own, else an interface under the port group. */
typedef void check_teaming_visit(struct check *c, int team, const struct topo_teaming *teaming, int iface);
void check_teamings(struct check *c, check_teaming_visit *visit);

/* An ESXi release as a number that compares: 7.0 U3 is 70003, unknown 0. "6.7", "7.0u3", "8.0 U3b" and "8.0.2" are
 * read. */
unsigned check_esxi_release(const char *version);
#define CHECK_ESXI(major, minor, update) ((major)*10000u + (minor)*1000u + (update))

/* The host's setting by its real name, or `preset` with *given false. */
int64_t check_limit(const struct topo_node *node, const char *name, int64_t preset, bool *given);

#endif
