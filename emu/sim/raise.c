/* The load is a factor on what the file says. It is doubled, or halved, until the criterion lies between two loads, then these
 * are brought together. One topology serves all runs: a result gives it back before the next load is set. */
#include "emu/sim/raise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/model/topology_arena.h"
#include "emu/model/topology_file.h"
#include "emu/sim/run.h"

#define PRECISE 1.01 /* the two loads, as a ratio, when it is enough */
enum { DOUBLINGS = 12, RUNS = 2 * DOUBLINGS };

/* The file's own loads. */
struct base {
    struct {
        double rate, iops;
        unsigned outstanding;
    } * workloads;
    double *phases;                /* iops, of all groups in turn */
    struct topo_vm_phase **raised; /* per group: its phases, which can be changed */
    bool any;                      /* there is something to raise */
};

static bool base_take(struct base *b, struct topo *t)
{
    size_t n = 0, at = 0;
    for (size_t g = 0; g < t->n_vm_groups; g++)
        n += t->vm_groups[g].n_phases;
    b->workloads = calloc(t->n_workloads + 1, sizeof(*b->workloads));
    b->phases = calloc(n + 1, sizeof(*b->phases));
    b->raised = calloc(t->n_vm_groups + 1, sizeof(*b->raised));
    if (!b->workloads || !b->phases || !b->raised)
        return false;
    for (size_t w = 0; w < t->n_workloads; w++) {
        b->workloads[w].rate = t->workloads[w].rate;
        b->workloads[w].iops = t->workloads[w].iops;
        b->workloads[w].outstanding = t->workloads[w].outstanding;
        b->any |= t->workloads[w].vm_group < 0;
    }
    for (size_t g = 0; g < t->n_vm_groups; g++) {
        b->raised[g] = arena_alloc(t->arena, (t->vm_groups[g].n_phases + 1) * sizeof(**b->raised));
        for (size_t p = 0; p < t->vm_groups[g].n_phases; p++) {
            b->raised[g][p] = t->vm_groups[g].phases[p];
            b->phases[at] = t->vm_groups[g].phases[p].iops;
            b->any |= b->phases[at++] > 0;
        }
        t->vm_groups[g].phases = b->raised[g];
    }
    return true;
}

static void base_free(struct base *b)
{
    free(b->workloads);
    free(b->phases);
    free(b->raised);
}

static void set_load(const struct base *b, struct topo *t, double load)
{
    size_t at = 0;
    for (size_t w = 0; w < t->n_workloads; w++) {
        struct topo_workload *to = &t->workloads[w];
        to->rate = b->workloads[w].rate * load;
        to->iops = b->workloads[w].iops * load;
        double outstanding = b->workloads[w].outstanding * load;
        if (!(to->rate > 0) && !(to->iops > 0))
            to->outstanding = outstanding < 1 ? 1 : outstanding > 65536 ? 65536 : (unsigned)(outstanding + 0.5);
    }
    for (size_t g = 0; g < t->n_vm_groups; g++)
        for (size_t p = 0; p < t->vm_groups[g].n_phases; p++)
            b->raised[g][p].iops = b->phases[at++] * load;
}

/* Whether the run meets the criterion. One in which nothing ended does not. */
static bool meets(const struct result *r, double until)
{
    static const struct result_latency none;
    double read = result_latency_mean(r->read.latency, &none), write = result_latency_mean(&none, r->write.latency);
    return (!isnan(read) || !isnan(write)) && !(read > until) && !(write > until);
}

/* Takes the topology out of a result that is not wanted. */
static struct topo *give_back(struct result *r)
{
    struct topo *t = r->topo;
    r->topo = NULL;
    result_free(r);
    return t;
}

struct result *raise_run(struct topo *t, const struct sim_options *o, sim_engine *engine, char *problem, size_t size)
{
    struct base base = {0};
    struct result *r = NULL;
    double until = (double)t->raise_until / (double)PS_PER_S, load = 1, low = 0, high = 0;
    if (!base_take(&base, t) || !base.any) {
        snprintf(problem, size, "%s",
                 base.phases ? "`raise`: no workload has a load that can be raised" : "out of memory");
        topo_free(t);
        goto out;
    }
    for (int run = 0; run < RUNS; run++) {
        set_load(&base, t, load);
        r = engine(t, o, problem, size);
        if (!r || !r->complete)
            goto out;
        if (meets(r, until))
            low = load;
        else
            high = load;
        bool found = low > 0 && high > 0 && high / low <= PRECISE;
        if (found && load == low)
            break;
        if ((high == 0 && low >= 1 << DOUBLINGS) || (low == 0 && high <= 1.0 / (1 << DOUBLINGS)))
            break; /* no load is too much, or none little enough */
        load = found ? low : high == 0 ? 2 * low : low == 0 ? high / 2 : sqrt(low * high);
        t = give_back(r);
        r = NULL;
    }
    if (!r) {
        snprintf(problem, size, "`raise`: the response does not follow the load");
        topo_free(t);
        goto out;
    }
    r->load = load;
    if (high == 0)
        result_note(r, "raise: %.0f times the load of the file still answers within the limit; not tried further",
                    load);
    else if (low == 0)
        result_note(r, "raise: a %.0fth of the load of the file does not answer within the limit", 1 / load);
    else
        result_note(r, "raise: %.3f times the load of the file, the most that answers within the limit", load);
out:
    base_free(&base);
    return r;
}
