/* Other designs for a site, side by side: the same hosts, controllers and datastores, joined in another way.
 *
 * But for today's, each is the site drawn anew on one switch (a stack or MLAG pair counts as one), with the hosts' uplinks and the
 * controllers' NICs as many and as fast as they are, and the best layout of mounts for it.
 */
#ifndef NFSBAL_PLAN_DESIGNS_H
#define NFSBAL_PLAN_DESIGNS_H

#include "nfsbal/plan/lever.h"

enum plan_design {
    PLAN_DESIGN_TODAY,
    PLAN_DESIGN_VIPS,    /* VIPs and IP hash */
    PLAN_DESIGN_SUBNETS, /* a subnet, a vmknic and a VIP per uplink, port ID */
    PLAN_DESIGN_BINDING, /* a vmknic per uplink in one subnet, datastores bound to them */
    PLAN_DESIGN_LACP,    /* LACP with a layer-4 hash, four connections per datastore */
    PLAN_DESIGN_TEN_GIG, /* two uplinks of 10 GbE, no hash */
    PLAN_DESIGNS
};

struct plan_design_rates { /* bytes/s of NFS data, by enum flow_direction */
    double host[2];        /* the host that gets least, alone */
    double all[2];         /* all hosts together */
    double slowest[2];     /* the slowest datastore on a host, all busy */
    double after; /* likewise after the worst loss of one cable that cuts nothing off, writes or reads; 0: not known */
};

struct plan_design_facts {
    const char *id, *title;
    enum plan_way ways[2];                   /* what it rests on; PLAN_WAYS: nothing more */
    const char *host, *network, *nas, *mind; /* what must change, and what to mind; NULL: nothing */
};

const struct plan_design_facts *plan_design_facts(enum plan_design design);

struct path_site;
/* What a topology gives as it is mounted. False on lack of memory. */
bool plan_design_rates(const struct topo *t, struct plan_design_rates *out);

/* What a design of t's site would give. False with the reason in `problem`. */
bool plan_design(const struct topo *t, enum plan_design design, struct plan_design_rates *out, char *problem,
                 size_t size);

/* The design as a topology file: free(). `variant`: of addresses that are free to choose. NULL with the reason in `problem`. */
char *plan_design_draw(const struct topo *t, enum plan_design design, unsigned variant, char *problem, size_t size);

#endif
