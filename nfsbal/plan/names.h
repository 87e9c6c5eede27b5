/* DNS names for datastores: private to nfsbal. */
#ifndef NFSBAL_PLAN_NAMES_H
#define NFSBAL_PLAN_NAMES_H

#include "emu/model/topology.h"

enum { PLAN_LABEL_MAX = 63 };

/* The domain of the first VIP that has a name with one, or NULL. */
const char *plan_names_domain(const struct topo *t);

/* A label for a datastore, by what DNS allows: lower case, everything else a hyphen; a number behind it where another datastore has
 * it already. */
void plan_names_label(const struct topo *t, int datastore, char label[PLAN_LABEL_MAX + 1]);

#endif
