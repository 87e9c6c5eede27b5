/* What can be changed at a site besides which VIP a datastore is mounted from, what each such change stops, and how far vendors
 * stand behind it.
 */
#ifndef NFSBAL_PLAN_LEVER_H
#define NFSBAL_PLAN_LEVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/model/topology_change.h"
#include "nfsbal/plan/plan.h"

enum plan_lever {
    PLAN_LEVER_VIP,          /* a datastore from another VIP */
    PLAN_LEVER_VMK_ADDRESS,  /* another address for a host's interface */
    PLAN_LEVER_VMK_BINDING,  /* a datastore over another interface of the host */
    PLAN_LEVER_LIF_HOME,     /* a VIP to another controller */
    PLAN_LEVER_VOLUME_OWNER, /* a volume to another controller */
    PLAN_LEVER_SWITCH_HASH,  /* another hash for a switch */
    PLAN_LEVER_NAMES,        /* a DNS name of its own for each datastore that moves */
    PLAN_LEVERS
};
enum {
    PLAN_LEVERS_DEFAULT = 1 << PLAN_LEVER_VIP | 1 << PLAN_LEVER_VMK_ADDRESS | 1 << PLAN_LEVER_VMK_BINDING |
                          1 << PLAN_LEVER_LIF_HOME | 1 << PLAN_LEVER_VOLUME_OWNER | 1 << PLAN_LEVER_SWITCH_HASH
};
const char *plan_lever_name(enum plan_lever lever); /* "vmk-address" */
enum plan_cost plan_lever_cost(enum plan_lever lever);

/* "vip,vmk-address" as bits. False, with the word that is none in *bad (not terminated: *length). */
bool plan_levers_parse(const char *text, unsigned *levers, const char **bad, size_t *length);

/* The lever of this name, or -1. */
int plan_lever_find(const char *name);

/* One change besides VIPs. */
struct plan_change {
    enum plan_lever lever;
    struct topo_change words; /* as topo_file_change_words() makes it; texts are the frontier's */
    const char *from;         /* what was there before, or NULL */
};
/* "esx1 vmk1 10.0.0.10 -> 10.0.0.11", "10.0.0.101 n1 -> n2" ... */
void plan_change_print(const struct plan_change *c, FILE *out);

/* ---- how far vendors stand behind something ---- */

enum plan_support { PLAN_SUPPORTED, PLAN_PREVIEW, PLAN_TOLERATED, PLAN_UNSUPPORTED };
const char *plan_support_name(enum plan_support support);

/* A way of doing things, by the name that --allow takes. */
enum plan_way {
    PLAN_WAY_VIPS,        /* several addresses for a NAS node, one per datastore */
    PLAN_WAY_IP_HASH,     /* IP hash and static EtherChannel */
    PLAN_WAY_SUBNETS,     /* a subnet per uplink, port ID */
    PLAN_WAY_VMK_BINDING, /* NFS 4.1 bound to a vmknic */
    PLAN_WAY_VMK_BINDING_3,
    PLAN_WAY_NCONNECT,
    PLAN_WAY_NCONNECT_PREVIEW,
    PLAN_WAY_LACP, /* LACP on a distributed switch */
    PLAN_WAY_NO_HASH,
    PLAN_WAY_ALIAS,    /* one export as several datastores */
    PLAN_WAY_INDIRECT, /* over a VIP that is not the owner's */
    PLAN_WAY_READDRESS,
    PLAN_WAY_LIF_HOME,
    PLAN_WAY_VOLUME_OWNER,
    PLAN_WAY_SWITCH_HASH,
    PLAN_WAY_NAMES,
    PLAN_WAYS
};
struct plan_way_facts {
    const char *id;
    enum plan_support support;
    const char *since; /* release from which this holds: "vSphere 8.0 U2"; "any" */
    const char *why;
};
const struct plan_way_facts *plan_way(enum plan_way way);
enum plan_way plan_lever_way(enum plan_lever lever);
enum plan_way plan_change_way(const struct topo *t, const struct plan_change *c); /* the same, by NFS version too */
const struct plan_way_facts *plan_way_find(const char *id);                       /* NULL: no such way */

#endif
