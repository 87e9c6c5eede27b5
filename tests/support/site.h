/* A little site made by hand, for tests of what comes after reading: host esx1 (vmnic1, vmnic2, vmk1), switch sw1, NAS
 * nas with one controller c1 (eth0, eth1), two VIPs, datastores ds1 and ds2 mounted over them, 1 Gbit/s everywhere.
 * Cable 0: esx1:vmnic1 - sw1:p1, 1: esx1:vmnic2 - sw1:p2, 2: nas:c1.eth0 - sw1:p3, 3: nas:c1.eth1 - sw1:p4.
 */
#ifndef TESTS_SUPPORT_SITE_H
#define TESTS_SUPPORT_SITE_H

#include "emu/model/topology.h"

/* Freed by topo_free(). `operation`: of its one workload on both datastores. */
struct topo *site_new(const char *case_name, enum topo_op operation);

#endif
