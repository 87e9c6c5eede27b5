/* Jobs: each asks its workload for the next operation and hands it to rpc.c. */
#include "emu/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/schedule.h"

/* Starts whatever may be started now. */
static void pump(struct sim_job *j, ps_t now)
{
    struct sim *s = j->sim;
    struct workload_operation o;
    ps_t until;
    for (;;) {
        switch (workload_next(&j->work, now, &o, &until)) {
        case WORKLOAD_OPERATION:
            rpc_operation(s, o.write && j->target ? j->target : j, &o, now);
            continue;
        case WORKLOAD_WAIT:
            eventq_set(s->queue, &j->event, until);
            return;
        case WORKLOAD_BUSY:
            return;
        case WORKLOAD_OVER:
            if (j->work.out == 0)
                server_job_over(s, j);
            if (j->work.out == 0 && j->work.stop == PS_NEVER) {
                s->result->jobs[j - s->jobs].finished = now;
                if (j->target)
                    s->result->jobs[j->target - s->jobs].finished = now;
                s->jobs_left--;
            }
            return;
        }
    }
}

static void due(struct event *e, ps_t now) { pump(SIM_CONTAINER(e, struct sim_job, event), now); }

/* Jobs are started in an order that does not depend on the file's: what happens at one moment happens in that order. */
struct place {
    const struct topo_addr *client, *server;
    const char *datastore, *workload;
    struct sim_job *job;
};

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int c = memcmp(x->client->bytes, y->client->bytes, sizeof(x->client->bytes));
    if (!c)
        c = memcmp(x->server->bytes, y->server->bytes, sizeof(x->server->bytes));
    if (!c)
        c = strcmp(x->datastore, y->datastore);
    return c ? c : strcmp(x->workload, y->workload);
}

static bool prepare(struct sim *s, size_t i, struct place *p)
{
    const struct topo *t = s->topo;
    const struct result_job *r = &s->result->jobs[i];
    const struct topo_workload *w = &t->workloads[r->workload];
    const struct topo_mount *m = &t->mounts[r->mount];
    struct sim_job *j = &s->jobs[i];
    char client[64];
    j->sim = s;
    j->mount = (uint32_t)r->mount;
    j->event.run = due;
    j->stream[0] = j->stream[1] = -1;
    if (!schedule_runs(s->result, r))
        return false;
    if (r->partner >= 0) {
        struct sim_job *other = &s->jobs[r->partner];
        if (r->writes) { /* the other half drives it */
            j->source = other;
            j->work.workload = w;
            return false;
        }
        j->target = other;
        if (!schedule_runs(s->result, &s->result->jobs[r->partner]))
            return false;
    }
    *p = (struct place){&t->ifaces[m->iface].addr, &t->vips[m->vip].addr, t->datastores[m->datastore].name, w->name, j};
    topo_addr_print(client, sizeof(client), p->client, false);
    workload_init(&j->work, w, workload_seed(s->options->seed, client, p->datastore, p->workload), WORKLOAD_SPAN);
    s->jobs_left += j->work.stop == PS_NEVER;
    return true;
}

bool job_init(struct sim *s)
{
    size_t n = 0;
    s->n_jobs = s->result->n_jobs;
    s->jobs = calloc(s->n_jobs + 1, sizeof(*s->jobs));
    struct place *places = malloc((s->n_jobs + 1) * sizeof(*places));
    if (!s->jobs || !places) {
        free(places);
        return false;
    }
    for (size_t i = 0; i < s->n_jobs; i++)
        n += prepare(s, i, &places[n]);
    qsort(places, n, sizeof(*places), by_place);
    for (size_t i = 0; i < n; i++)
        eventq_set(s->queue, &places[i].job->event, places[i].job->work.start);
    free(places);
    return true;
}

void job_free(struct sim *s) { free(s->jobs); }

void job_done(struct sim *s, struct rpc *r, bool write, uint64_t bytes, ps_t now)
{
    struct sim_job *j = &s->jobs[r->job];
    const struct sim_conn *c = r->conn;
    const struct result_phase *p = &s->result->phases[s->result->jobs[r->job].phase];
    if (now >= p->start && now < p->end)
        result_operation(s->result, r->job, c->vip, c->box, write, bytes, now - r->issued);
    s->operations++;
    s->ended = now;
    if (j->target && !write)
        workload_have_read(&j->work);
    else
        workload_done(&(j->source ? j->source : j)->work);
    pump(j->source ? j->source : j, now);
}
