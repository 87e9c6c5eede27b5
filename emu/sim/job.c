/* Jobs: each asks its workload for the next operation and hands it to rpc.c. */
#include "emu/sim/sim.h"

#include <stdlib.h>

#include "emu/sim/schedule.h"

/* Starts whatever may be started now. */
static void pump(struct sim_job *j, ps_t now)
{
    struct sim *s = j->sim;
    struct workload_operation o;
    ps_t until;
    for (;;) {
        switch (workload_next(&j->work, now, &o, &until)) {
        case WORKLOAD_OPERATION:
            rpc_operation(s, j, &o, now);
            continue;
        case WORKLOAD_WAIT:
            eventq_set(s->queue, &j->event, until);
            return;
        case WORKLOAD_BUSY:
            return;
        case WORKLOAD_OVER:
            if (j->work.out == 0 && j->work.stop == PS_NEVER) {
                s->result->jobs[j - s->jobs].finished = now;
                s->jobs_left--;
            }
            return;
        }
    }
}

static void due(struct event *e, ps_t now) { pump(SIM_CONTAINER(e, struct sim_job, event), now); }

bool job_init(struct sim *s)
{
    const struct topo *t = s->topo;
    struct result *r = s->result;
    s->n_jobs = r->n_jobs;
    s->jobs = calloc(s->n_jobs + 1, sizeof(*s->jobs));
    if (!s->jobs)
        return false;
    for (size_t i = 0; i < s->n_jobs; i++) {
        struct sim_job *j = &s->jobs[i];
        const struct topo_workload *w = &t->workloads[r->jobs[i].workload];
        const struct topo_mount *m = &t->mounts[r->jobs[i].mount];
        j->sim = s;
        j->mount = (uint32_t)r->jobs[i].mount;
        j->event.run = due;
        if (!schedule_runs(r, &r->jobs[i]))
            continue;
        char client[64];
        topo_addr_print(client, sizeof(client), &t->ifaces[m->iface].addr, false);
        workload_init(&j->work, w, workload_seed(s->options->seed, client, t->datastores[m->datastore].name, w->name),
                      WORKLOAD_SPAN);
        if (j->work.stop == PS_NEVER)
            s->jobs_left++;
        eventq_set(s->queue, &j->event, w->start);
    }
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
    workload_done(&j->work);
    pump(j, now);
}
