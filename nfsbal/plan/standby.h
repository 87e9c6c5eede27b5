/* Which VIPs can take a mount over from the one that it is planned on. */
#ifndef NFSBAL_PLAN_STANDBY_H
#define NFSBAL_PLAN_STANDBY_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/topology.h"

/* Whether VIP `vip`, which is not the mount's own, serves its export without a detour: of the same NAS and group, up, on the
 * controller that owns the export where one does, with an address of the same kind. */
bool standby_serves(const struct topo *t, const struct topo_mount *m, size_t vip);

#endif
