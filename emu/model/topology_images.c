#include "emu/model/topology_images.h"

#include <math.h>

#include "emu/model/result.h"
#include "emu/model/storage.h"
#include "emu/model/topology.h"
#include "emu/model/topology_arena.h"

/* Visits of the heads for which a write cache has room: streams gather theirs side by side, and some must be under way. */
enum { VISITS = 16 };

static uint64_t part_of(uint64_t n, double part) { return n ? (uint64_t)ceil((double)n * part) : 0; }

static ps_t time_of(ps_t t, double part) { return (ps_t)((double)t * part + 0.5); }

void topo_caches(struct topo *t, double part)
{
    for (size_t i = 0; i < t->n_nodes; i++) {
        const struct storage_model *from = t->nodes[i].storage;
        if (!from || !from->cache.dirty)
            continue;
        struct storage_model *m = arena_alloc(t->arena, sizeof *m);
        uint64_t least = 0;
        *m = *from;
        for (size_t g = 0; g < m->n_groups; g++)
            if (m->groups[g].destage * VISITS > least)
                least = m->groups[g].destage * VISITS;
        m->cache.dirty = part_of(from->cache.dirty, part);
        if (m->cache.dirty < least)
            m->cache.dirty = least < from->cache.dirty ? least : from->cache.dirty;
        t->nodes[i].storage = m;
    }
}

void topo_images(struct topo *t, double part)
{
    t->images = part;
    for (size_t i = 0; i < t->n_workloads; i++)
        t->workloads[i].bytes = part_of(t->workloads[i].bytes, part);
    for (size_t i = 0; i < t->n_vm_groups; i++) {
        struct topo_vm_group *g = &t->vm_groups[i];
        struct topo_vm_phase *phases = arena_alloc(t->arena, (g->n_phases + 1) * sizeof *phases);
        for (size_t k = 0; k < g->n_phases; k++) {
            phases[k] = g->phases[k];
            phases[k].operations = part_of(phases[k].operations, part);
            phases[k].length = time_of(phases[k].length, part);
        }
        g->phases = phases;
        g->length = time_of(g->length, part);
    }
    topo_caches(t, part);
}

/* ---- results ---- */

static void grow(uint64_t *n, double factor) { *n = (uint64_t)((double)*n * factor + 0.5); }

static void stretch(ps_t *t, double factor)
{
    if (*t > 0 && *t != PS_NEVER)
        *t = time_of(*t, factor);
}

static void grow_io(struct result_io *io, double factor)
{
    grow(&io->operations, factor);
    grow(&io->bytes, factor);
}

static void grow_entities(struct result_entity *e, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++) {
        grow_io(&e[i].read, factor);
        grow_io(&e[i].write, factor);
    }
}

static void grow_vms(struct result_vm_group *g, double factor)
{
    g->job_time *= factor;
    for (size_t k = 0; k < g->n_phases; k++) {
        struct result_vm_phase *p = &g->phases[k];
        stretch(&p->first, factor);
        stretch(&p->last, factor);
        stretch(&p->longest, factor);
        p->time *= factor;
        p->latency_sum *= factor;
        for (int w = 0; w < 2; w++) {
            grow(&p->operations[w], factor);
            grow(&p->bytes[w], factor);
        }
    }
}

void result_images(struct result *r)
{
    double factor = r->topo->images > 0 ? 1 / r->topo->images : 1;
    if (factor == 1)
        return;
    ps_t *times[] = {&r->window_start, &r->window_end, &r->duration, &r->slice};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        stretch(times[i], factor);
    for (unsigned p = 0; p < r->n_phases; p++) {
        stretch(&r->phases[p].start, factor);
        stretch(&r->phases[p].end, factor);
    }
    grow_io(&r->read, factor);
    grow_io(&r->write, factor);
    grow_entities(r->datastores, r->n_datastores, factor);
    grow_entities(r->hosts, r->n_hosts, factor);
    grow_entities(r->vips, r->n_vips, factor);
    grow_entities(r->controllers, r->n_controllers, factor);
    for (size_t i = 0; i < r->n_jobs; i++) {
        grow_io(&r->jobs[i].read, factor);
        grow_io(&r->jobs[i].write, factor);
        stretch(&r->jobs[i].finished, factor);
    }
    for (size_t d = 0; d < r->n_links; d++) {
        grow(&r->links[d].frames, factor);
        grow(&r->links[d].bytes, factor);
        grow(&r->links[d].bulk_bytes, factor);
    }
    for (size_t i = 0; i < r->n_disks; i++) {
        grow(&r->disks[i].reads, factor);
        grow(&r->disks[i].writes, factor);
        grow(&r->disks[i].read_bytes, factor);
        grow(&r->disks[i].write_bytes, factor);
        stretch(&r->disks[i].busy, factor);
    }
    for (size_t i = 0; i < r->n_vm_groups; i++)
        grow_vms(&r->vm_groups[i], factor);
    result_note(r, "amounts at %.6g of the file's: times and bytes are those of all of it", r->topo->images);
}
