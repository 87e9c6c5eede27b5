#include "emu/model/storage_load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/random.h"
#include "emu/model/storage_forms.h"
#include "emu/model/topology.h"

/* Whether an earlier pair of the clone reads the same export. */
static bool source_known(const struct topo *t, const struct topo_workload *w, size_t i)
{
    int export_ = t->datastores[t->mounts[w->mounts[i]].datastore].export_;
    for (size_t k = 0; k < i; k += 2)
        if (t->datastores[t->mounts[w->mounts[k]].datastore].export_ == export_)
            return true;
    return false;
}

double storage_placed(const struct topo *t, int node)
{
    double bytes = 0;
    for (size_t k = 0; k < t->n_workloads; k++) {
        const struct topo_workload *w = &t->workloads[k];
        for (size_t i = 0; w->bytes && i < w->n_mounts; i++) {
            int vip = t->mounts[w->mounts[i]].vip;
            bool again = w->op == TOPO_CLONE && i % 2 == 0 && source_known(t, w, i);
            if (vip >= 0 && t->vips[vip].node == node && !again)
                bytes += (double)w->bytes;
        }
    }
    return t->images > 0 ? bytes / t->images : bytes;
}

uint64_t storage_seed(const struct topo *t, int node, uint64_t seed)
{
    const struct topo_vip *first = NULL;
    for (size_t i = 0; i < t->n_vips; i++)
        if (t->vips[i].node == node && (!first || memcmp(t->vips[i].addr.bytes, first->addr.bytes, 16) < 0))
            first = &t->vips[i];
    return random_seed(seed, first ? first->text : "storage");
}

static double seconds(ps_t t) { return (double)t / (double)PS_PER_S; }

size_t storage_resources(const struct storage_model *m, unsigned controllers)
{
    return 2 * controllers + 2 + m->n_groups;
}

static double stroke_of(const struct storage_model *m, const struct storage_group *g, double placed)
{
    double usable = 0;
    for (size_t i = 0; i < m->n_groups; i++)
        usable += storage_usable(&m->groups[i]);
    if (!g->placed_said && placed <= 0)
        return 1;
    return storage_stroke(g, placed * storage_usable(g) / usable + (double)g->placed);
}

void storage_capacities(const struct storage_model *m, unsigned controllers, const struct storage_load *l, double *out)
{
    for (unsigned i = 0; i < 2 * controllers; i++)
        *out++ = i < controllers ? m->controller.cores : 1;
    for (int k = 0; k < 2; k++)
        *out++ = m->back_end.links * (double)m->back_end.speed / 8;
    for (size_t i = 0; i < m->n_groups; i++) {
        const struct storage_group *g = &m->groups[i];
        double servers = g->disks * (double)g->disk.parallel;
        /* Random requests leave disks idle where they are few; streams are fetched ahead and dealt in turn. */
        double n = l->random_reads * (1 - m->cache.read_hit) + (l->random_writes ? 2 * servers : 0);
        if (m->concurrency)
            n = fmin(n, (double)m->concurrency * m->systems);
        bool busy = l->reading + l->writing || n < 1;
        *out++ = busy ? servers : servers * n / (n + servers - 1);
    }
}

/* Requests that wait at one disk: what is fetched ahead, two destages for each disk, random requests. */
static double waiting(const struct storage_model *m, const struct storage_group *g, const struct storage_load *l)
{
    double chunk = fmin(l->window > 0 ? l->window : (double)g->visit, (double)g->visit);
    return l->reading * (double)g->read_ahead / chunk / g->disks + (l->writing ? 2 * storage_stripe_factor(g) : 0) +
           l->random_reads * (1 - m->cache.read_hit) / g->disks + (l->random_writes ? 2 * g->penalty : 0);
}

static double position(const struct storage_model *m, const struct storage_group *g, const struct storage_load *l,
                       bool write)
{
    double stroke = stroke_of(m, g, l->placed);
    if (g->disk.medium == STORAGE_SSD)
        return seconds(write ? g->disk.write : g->disk.read);
    double depth = g->order == STORAGE_ELEVATOR ? waiting(m, g, l) : 0;
    return storage_seek_sorted(&g->disk, stroke, depth, write) + seconds(g->disk.turn) / 2;
}

static unsigned largest_share(const struct storage_model *m)
{
    unsigned best = 0;
    for (unsigned i = 1; i < m->n_groups; i++)
        if (m->groups[i].share > m->groups[best].share)
            best = i;
    return best;
}

/* Disk seconds per byte of one group. */
static double disk_use(const struct storage_model *m, const struct storage_group *g, const struct storage_load *l,
                       const struct storage_demand *d)
{
    const struct storage_disk *disk = &g->disk;
    if (d->sequential) {
        double chunk = d->write ? (double)g->destage : fmin(d->window, (double)g->visit);
        double factor = d->write ? storage_stripe_factor(g) : 1, transfer = disk->rate > 0 ? chunk / disk->rate : 0;
        bool alone =
            l->reading + l->writing <= 1 && !l->random_writes && l->random_reads <= 0 && disk->medium == STORAGE_HDD;
        return factor * (transfer + (alone ? 0 : position(m, g, l, d->write))) / chunk;
    }
    double per_byte = disk->rate > 0 ? 1 / disk->rate : 0;
    if (!d->write)
        return (1 - m->cache.read_hit) * (position(m, g, l, false) / d->block + per_byte);
    double merge = m->cache.write_back ? g->merge : 1, block = d->block * merge;
    double reads = storage_parities(g->raid) ? floor(g->penalty / 2.0) : 0;
    return (reads * position(m, g, l, false) + (g->penalty - reads) * position(m, g, l, true)) / block +
           g->penalty * per_byte;
}

void storage_uses(const struct storage_model *m, unsigned controllers, const struct storage_load *l,
                  const struct storage_demand *d, double *out)
{
    memset(out, 0, storage_resources(m, controllers) * sizeof(*out));
    if (m->controller.cores)
        out[0] =
            seconds(m->controller.per_operation) / d->block + (m->controller.rate > 0 ? 1 / m->controller.rate : 0);
    if (d->write && m->cache.write_back && m->cache.mirror_rate > 0)
        out[controllers] = 1 / m->cache.mirror_rate;
    if (m->back_end.links) {
        double block = d->sequential && d->write ? (double)m->groups[0].destage : d->block;
        double wire = storage_wire_bytes(m->back_end.protocol, m->back_end.mtu, block) / block;
        out[2 * controllers + (d->write ? 0 : 1)] = d->write || d->sequential ? wire : wire * (1 - m->cache.read_hit);
    }
    for (size_t i = 0; i < m->n_groups; i++) {
        double share = d->sequential ? i == largest_share(m) : m->groups[i].share;
        out[2 * controllers + 2 + i] = share > 0 ? share * disk_use(m, &m->groups[i], l, d) : 0;
    }
}

double storage_stream_rate(const struct storage_model *m, unsigned controllers, bool write, double block)
{
    enum { STREAMS = 16, OUTSTANDING = 16 };
    const struct storage_load load = {.reading = write ? 0 : STREAMS, .writing = write ? STREAMS : 0};
    const struct storage_demand demand = {write, true, block, OUTSTANDING * block};
    double use[STORAGE_RESOURCES_MAX], capacity[STORAGE_RESOURCES_MAX], rate = (double)INFINITY;
    storage_capacities(m, controllers, &load, capacity);
    storage_uses(m, controllers, &load, &demand, use);
    for (size_t i = 0; i < storage_resources(m, controllers); i++) {
        bool each = i < 2 * (size_t)controllers; /* all controllers have one of these */
        if (use[i] > 0)
            rate = fmin(rate, (each ? controllers : 1) * capacity[i] / use[i]);
    }
    return rate;
}

double storage_idle_latency(const struct storage_model *m, const struct storage_load *l, const struct storage_demand *d)
{
    double s = 0, disks = 0;
    if (m->controller.cores)
        s += seconds(m->controller.per_operation) + (m->controller.rate > 0 ? d->block / m->controller.rate : 0);
    if (d->write && m->cache.write_back)
        return s + seconds(m->cache.write) + seconds(m->cache.mirror) +
               (m->cache.mirror_rate > 0 ? d->block / m->cache.mirror_rate : 0);
    if (!d->write && d->sequential)
        return s + seconds(m->cache.hit); /* fetched ahead */
    for (size_t i = 0; i < m->n_groups; i++) {
        const struct storage_group *g = &m->groups[i];
        unsigned turns = d->write && storage_parities(g->raid) ? 2 : 1;
        disks += g->share * turns * storage_request(&g->disk, stroke_of(m, g, l->placed), d->block, d->write);
    }
    if (m->back_end.links)
        disks += 2 * seconds(m->back_end.delay) +
                 storage_wire_bytes(m->back_end.protocol, m->back_end.mtu, d->block) * 8 / (double)m->back_end.speed;
    return d->write ? s + disks : s + storage_hit_latency(m->cache.read_hit, seconds(m->cache.hit), disks);
}
