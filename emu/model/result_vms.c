#include "emu/model/result_vms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"

bool result_vms_new(struct result *r)
{
    const struct topo *t = r->topo;
    r->vm_groups = calloc(t->n_vm_groups + 1, sizeof *r->vm_groups);
    if (!r->vm_groups)
        return false;
    r->n_vm_groups = t->n_vm_groups;
    for (size_t i = 0; i < t->n_vm_groups; i++) {
        const struct topo_vm_group *from = &t->vm_groups[i];
        struct result_vm_group *g = &r->vm_groups[i];
        g->name = from->name;
        g->machines = from->n_vms;
        g->phases = calloc(from->n_phases + 1, sizeof *g->phases);
        if (!g->phases)
            return false;
        g->n_phases = from->n_phases;
        for (size_t p = 0; p < g->n_phases; p++)
            g->phases[p] = (struct result_vm_phase){.name = from->phases[p].name, .first = -1};
    }
    return true;
}

void result_vms_free(struct result *r)
{
    for (size_t i = 0; r->vm_groups && i < r->n_vm_groups; i++) {
        struct result_vm_group *g = &r->vm_groups[i];
        for (size_t p = 0; g->phases && p < g->n_phases; p++)
            for (unsigned o = 0; o < 2 * RESULT_OCTAVES; o++)
                free(g->phases[p].latency[o / RESULT_OCTAVES].octave[o % RESULT_OCTAVES]);
        free(g->phases);
        free(g->bins);
    }
    free(r->vm_groups);
}

static void add_to_bin(struct result_vm_group *g, size_t bin)
{
    if (bin >= g->bins_size) {
        size_t size = 2 * bin + 64;
        uint32_t *bins = realloc(g->bins, size * sizeof *bins);
        if (!bins) {
            fputs("out of memory\n", stderr);
            abort();
        }
        memset(bins + g->bins_size, 0, (size - g->bins_size) * sizeof *bins);
        g->bins = bins;
        g->bins_size = size;
    }
    g->bins[bin]++;
    g->n_bins = bin + 1 > g->n_bins ? bin + 1 : g->n_bins;
}

void result_vm_operation(struct result *r, size_t group, unsigned phase, bool write, uint64_t bytes, ps_t latency,
                         ps_t now)
{
    struct result_vm_group *g = &r->vm_groups[group];
    struct result_vm_phase *p = &g->phases[phase];
    p->operations[write]++;
    p->bytes[write] += bytes;
    p->latency_sum += (double)latency / (double)PS_PER_S;
    result_latency_add(&p->latency[write], latency);
    add_to_bin(g, (size_t)(now / RESULT_BIN));
}

void result_vm_phase_left(struct result *r, size_t group, unsigned phase, ps_t entered, ps_t now)
{
    struct result_vm_phase *p = &r->vm_groups[group].phases[phase];
    p->machines++;
    p->time += (double)(now - entered) / (double)PS_PER_S;
    if (p->first < 0 || entered < p->first)
        p->first = entered;
    if (now > p->last)
        p->last = now;
    if (now - entered > p->longest)
        p->longest = now - entered;
}

void result_vm_through(struct result *r, size_t group, ps_t started, ps_t now)
{
    r->vm_groups[group].through++;
    r->vm_groups[group].job_time += (double)(now - started) / (double)PS_PER_S;
}

double result_vm_peak(const struct result *r, int group)
{
    uint64_t most = 0;
    size_t whole = (size_t)(r->duration / RESULT_BIN);
    for (size_t b = 0; b < whole || b == 0; b++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < r->n_vm_groups; i++)
            if ((group < 0 || (size_t)group == i) && b < r->vm_groups[i].n_bins)
                sum += r->vm_groups[i].bins[b];
        most = sum > most ? sum : most;
    }
    ps_t length = whole || !r->duration ? RESULT_BIN : r->duration;
    return (double)most / ((double)length / (double)PS_PER_S);
}
