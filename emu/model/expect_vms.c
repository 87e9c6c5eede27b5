/* Metrics of virtual machines. A selection's index is a group, or group and phase: -1 - (phase * groups + group). */
#include "emu/model/expect_vms.h"

#include <math.h>
#include <string.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"

bool expect_vms_select(const struct topo *t, const char *selector, int *index)
{
    for (size_t g = 0; g < t->n_vm_groups; g++) {
        const struct topo_vm_group *group = &t->vm_groups[g];
        size_t n = strlen(group->name);
        if (strncmp(group->name, selector, n) != 0)
            continue;
        if (!selector[n]) {
            *index = (int)g;
            return true;
        }
        for (size_t p = 0; selector[n] == ':' && p < group->n_phases; p++)
            if (strcmp(group->phases[p].name, selector + n + 1) == 0) {
                *index = -1 - (int)(p * t->n_vm_groups + g);
                return true;
            }
    }
    return false;
}

/* The phases that an index means: of group *group from *first to below *end. */
static const struct result_vm_group *phases(const struct result *r, int index, size_t *first, size_t *end)
{
    size_t g = index >= 0 ? (size_t)index : (size_t)(-1 - index) % r->n_vm_groups;
    *first = index >= 0 ? 0 : (size_t)(-1 - index) / r->n_vm_groups;
    *end = index >= 0 ? r->vm_groups[g].n_phases : *first + 1;
    return &r->vm_groups[g];
}

struct sums {
    double operations, latency, time, machines;
    ps_t first, last, longest;
};

static struct sums add_up(const struct result *r, int index)
{
    struct sums s = {.first = PS_NEVER};
    size_t first, end;
    const struct result_vm_group *g = phases(r, index, &first, &end);
    for (size_t p = first; p < end; p++) {
        const struct result_vm_phase *from = &g->phases[p];
        s.operations += (double)(from->operations[0] + from->operations[1]);
        s.latency += from->latency_sum;
        s.time += from->time;
        s.machines += (double)from->machines;
        if (from->first >= 0 && from->first < s.first)
            s.first = from->first;
        s.last = from->last > s.last ? from->last : s.last;
        for (int w = 0; w < 2; w++)
            s.longest = from->latency[w].max > s.longest ? from->latency[w].max : s.longest;
    }
    return s;
}

double expect_vms_duration(const struct result *r, int index)
{
    struct sums s = add_up(r, index);
    return s.machines > 0 ? (double)(s.last - s.first) / (double)PS_PER_S : nan("");
}

double expect_vms_rate(const struct result *r, int index)
{
    struct sums s = add_up(r, index);
    ps_t length = s.machines > 0 ? s.last - s.first : r->duration;
    return length > 0 ? s.operations / ((double)length / (double)PS_PER_S) : nan("");
}

double expect_vms_time(const struct result *r, int index)
{
    if (index >= 0) {
        const struct result_vm_group *g = &r->vm_groups[index];
        return g->through ? g->job_time / g->through : nan("");
    }
    struct sums s = add_up(r, index);
    return s.machines > 0 ? s.time / s.machines : nan("");
}

double expect_vms_mean(const struct result *r, int index)
{
    struct sums s = add_up(r, index);
    return s.operations > 0 ? s.latency / s.operations : nan("");
}

double expect_vms_longest(const struct result *r, int index)
{
    struct sums s = add_up(r, index);
    return s.operations > 0 ? (double)s.longest / (double)PS_PER_S : nan("");
}
