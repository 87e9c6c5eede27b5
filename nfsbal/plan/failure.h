/* What is left of a layout after one thing fails: an uplink or other cable, a switch, a VIP, a controller. Private to nfsbal/plan.
 *
 * Teams choose again among the members that are left, by their own rule; the VIPs of a controller live on at its partner.
 */
#ifndef NFSBAL_PLAN_FAILURE_H
#define NFSBAL_PLAN_FAILURE_H

#include "nfsbal/plan/layout.h"

enum plan_failing { PLAN_FAIL_NONE, PLAN_FAIL_LINK, PLAN_FAIL_SWITCH, PLAN_FAIL_VIP, PLAN_FAIL_CONTROLLER };

struct plan_failure {
    enum plan_failing what;
    int index;       /* link, box or VIP */
    double max_load; /* of the fullest link afterwards, whatever chose it */
    int linkdir;     /* that link, or -1 */
    size_t cut;      /* mounts that have no way any more */
    bool assumed;    /* some choice after the failure is not known */
};

/* The worst failure that cuts nothing off, or, when each does, the one that cuts off least. what NONE: there is nothing to fail. */
void plan_failure_worst(const struct plan_layout *l, struct plan_failure *out);
int plan_failure_compare(const struct plan_failure *a, const struct plan_failure *b); /* < 0: a is better */

/* All of them, in the order links, switches, VIPs, controllers, to `each`. */
void plan_failures(const struct plan_layout *l, void (*each)(void *context, const struct plan_failure *f),
                   void *context);

/* "esx1:vmnic2 - stack1:gi1/0/1", "switch stack1", "VIP 10.0.0.1", "controller nas:n1". */
char *plan_failure_name(const struct topo *t, const struct plan_failure *f, char *buf, size_t size);

#endif
