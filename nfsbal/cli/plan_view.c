#include "nfsbal/cli/plan_view.h"

#include <string.h>

const struct plan_scene *plan_made(const struct plan_view *v) { return v->proposed ? &v->goal : &v->today; }

double plan_host_rate(const struct plan_scene *s, int host, enum flow_direction d)
{
    double rate = 0;
    return path_site_host_rate(s->site, host, d, &rate) == 0 ? rate : 0;
}

double plan_all_rate(const struct plan_scene *s, enum flow_direction d)
{
    double sum = 0;
    for (size_t f = 0; f < s->site->n_flows; f++)
        sum += s->site->all[d][f];
    return sum;
}

double plan_slowest_rate(const struct plan_scene *s, enum flow_direction d)
{
    double slowest = 0;
    bool any = false;
    for (size_t m = 0; m < s->t->n_mounts; m++) {
        double rate = 0;
        size_t first = s->site->first_flow[m], end = s->site->first_flow[m + 1];
        for (size_t f = first; f < end; f++)
            rate += s->site->all[d][f];
        if (first < end && (!any || rate < slowest))
            slowest = rate;
        any |= first < end;
    }
    return slowest;
}

int plan_fullest(const struct plan_row *row)
{
    const struct plan_problem *p = row->layout->p;
    int fullest = -1;
    for (size_t r = 0; r < p->n_resources; r++)
        if (p->resources[r].movable &&
            (fullest < 0 || plan_compare_real(row->layout->loads[r], row->layout->loads[fullest]) > 0))
            fullest = (int)r;
    return fullest;
}

const char *plan_support(const struct plan_view *v, const char **why)
{
    /* One export mounted as several datastores. */
    for (size_t a = 0; a < v->t->n_datastores; a++)
        for (size_t b = 0; b < a; b++)
            if (v->t->datastores[a].export_ == v->t->datastores[b].export_) {
                *why = "one export under several names: free space counts twice, snapshots and backups see it twice";
                return "tolerated";
            }
    *why = "several addresses per NAS node, one per datastore for all hosts";
    return "supported";
}
