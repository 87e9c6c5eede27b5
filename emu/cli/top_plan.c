/* needs: full */
#include "emu/cli/top_plan.h"

#include <stdlib.h>
#include <string.h>

#include "emu/live/lab.h"
#include "emu/live/watch.h"
#include "emu/model/path.h"
#include "emu/model/topology_file.h"

static void add_share(void *context, int linkdir, double share)
{
    double *planned = context;

    planned[linkdir] += share;
}

/* By link direction, for the caller to free; NULL: nothing is expected. */
static double *expected(const struct topo *t)
{
    double *planned = calloc(2 * t->n_links + 1, sizeof *planned);
    struct flow *flows = NULL;
    long n = planned ? flow_list(t, &flows) : -1;

    for (long i = 0; i < n; i++) {
        path_shares(t, NULL, &flows[i], FLOW_WRITE, add_share, planned);
        path_shares(t, NULL, &flows[i], FLOW_READ, add_share, planned);
    }
    free(flows);
    if (n > 0)
        return planned;
    free(planned);
    return NULL;
}

/* The file may have changed since the lab came up: links are the same when their names are. */
static void take(struct watch *w, const struct topo *t, const double *planned)
{
    for (size_t i = 0; i < w->n_links && i < 2 * t->n_links; i++)
        if (strcmp(w->links[i].name, topo_linkdir_name(t, (int)i)) == 0)
            w->links[i].planned = planned[i];
}

void top_plan(struct watch *w, const char *name)
{
    char problem[512];
    struct lab *lab = lab_open(name, problem, sizeof problem);
    struct topo_file *f = NULL;
    struct topo *t = NULL;
    double *planned = NULL;
    struct diag d;

    diag_init(&d, lab ? lab->topology : name);
    if (lab && lab->topology)
        f = topo_file_open(lab->topology, &d);
    if (f)
        t = topo_load(f, lab->case_name, &d);
    if (t && diag_count(&d, DIAG_ERROR) == 0)
        planned = expected(t);
    if (planned)
        take(w, t, planned);
    free(planned);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    lab_free(lab);
}
