#include "emu/sim/storage_count.h"

#include "emu/model/result.h"
#include "emu/sim/storage.h"

void storage_count_into(struct result *r, int node, const struct storage *s)
{
    for (size_t i = 0; s && i < r->n_disks; i++) {
        struct result_disks *d = &r->disks[i];
        struct storage_group_counters c;
        if (d->node != node)
            continue;
        storage_count_group(s, d->group, &c);
        d->reads = c.reads;
        d->writes = c.writes;
        d->read_bytes = c.read_bytes;
        d->write_bytes = c.write_bytes;
        d->busy = c.busy;
        d->counted = true;
    }
}
