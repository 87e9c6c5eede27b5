/* What `nfsbal load` says to programs: a line a second, and one at the end. */
#include "nfsbal/nfs/load.h"

#include <stdio.h>
#include <string.h>

#include "emu/report/json.h"
#include "nfsbal/client/machine.h"

void load_print_second(const struct jobs *jobs, double t)
{
    struct json_out j;

    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_ONE_LINE);
    json_out_real(&j, "t", t);
    json_out_array(&j, "jobs", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < jobs_count(jobs); i++) {
        struct jobs_result r;

        jobs_result(jobs, i, &r);
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "name", jobs_job(jobs, i)->name);
        json_out_count(&j, "read", r.read);
        json_out_count(&j, "written", r.written);
        json_out_count(&j, "operations", r.operations);
        json_out_count(&j, "errors", r.errors);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
    fflush(stdout);
}

static void print_latency(struct json_out *j, const struct jobs_result *r)
{
    static const struct {
        const char *name;
        double percent;
    } points[] = {{"p50", 50}, {"p95", 95}, {"p99", 99}, {"max", 100}};
    struct stats_latency all = *r->latency[0];

    stats_latency_merge(&all, r->latency[1]);
    json_out_object(j, "latency", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        json_out_real(j, points[i].name, (double)stats_latency_at(&all, points[i].percent) / 1e9);
    json_out_end(j);
}

/* [seconds, operations] for each latency that occurred; a bucket's upper edge. */
static void print_histogram(struct json_out *j, const char *key, const struct stats_latency *l)
{
    json_out_array(j, key, JSON_ON_ONE_LINE);
    for (unsigned i = 0; i < STATS_BUCKETS; i++) {
        if (!l->bucket[i])
            continue;
        json_out_array(j, NULL, JSON_ON_ONE_LINE);
        json_out_real(j, NULL, (double)stats_bucket_edge(i) / 1e9);
        json_out_count(j, NULL, l->bucket[i]);
        json_out_end(j);
    }
    json_out_end(j);
}

static void print_path(struct json_out *j, const struct job_config *c, const struct jobs_result *r)
{
    char text[64];
    size_t n = r->paths ? paths_count(r->paths) : 0;
    struct path_info info;

    json_out_string(j, "server", c->paths.n_servers ? c->paths.servers[0].name : NULL);
    json_out_string(j, "source",
                    c->paths.source.any.sa_family ? conn_print_address(&c->paths.source, text, sizeof text) : NULL);
    json_out_array(j, "sports", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < n; i++)
        for (unsigned k = 0; paths_info(r->paths, i, &info) && k < info.connections; k++)
            if (info.ports[k])
                json_out_count(j, NULL, info.ports[k]);
    json_out_end(j);
}

static void print_phases(struct json_out *j, const struct jobs_result *r, const struct topo_vm_group *g)
{
    if (!r->phases)
        return;
    json_out_array(j, "phases", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < g->n_phases; i++) {
        const struct machine_phase *p = &r->phases[i];

        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "name", g->phases[i].name);
        json_out_real(j, "entered", p->entered);
        json_out_real(j, "left", p->left);
        json_out_count(j, "reads", p->operations[0]);
        json_out_count(j, "writes", p->operations[1]);
        json_out_count(j, "read", p->bytes[0]);
        json_out_count(j, "written", p->bytes[1]);
        json_out_real(j, "latency_sum", p->latency_sum);
        json_out_end(j);
    }
    json_out_end(j);
}

void load_print_end(const struct jobs *jobs)
{
    struct json_out j;

    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_ONE_LINE);
    json_out_string(&j, "schema", "nfsbal-load/1");
    json_out_bool(&j, "end", true);
    json_out_array(&j, "jobs", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < jobs_count(jobs); i++) {
        struct jobs_result r;

        jobs_result(jobs, i, &r);
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "name", jobs_job(jobs, i)->name);
        print_path(&j, jobs_job(jobs, i), &r);
        json_out_count(&j, "read", r.read);
        json_out_count(&j, "written", r.written);
        json_out_count(&j, "operations", r.operations);
        json_out_count(&j, "errors", r.errors);
        json_out_real(&j, "seconds", r.seconds);
        json_out_string(&j, "problem", r.problem);
        print_latency(&j, &r);
        json_out_object(&j, "histogram", JSON_ON_ONE_LINE);
        print_histogram(&j, "read", r.latency[0]);
        print_histogram(&j, "write", r.latency[1]);
        json_out_end(&j);
        print_phases(&j, &r, jobs_job(jobs, i)->machine);
        json_out_count(&j, "reconnects", r.reconnects);
        json_out_count(&j, "reissued", r.reissued);
        json_out_count(&j, "retransmitted", r.tcp.retransmitted);
        if (r.tcp.timeouts < 0)
            json_out_null(&j, "timeouts"); /* not counted by this kernel */
        else
            json_out_integer(&j, "timeouts", r.tcp.timeouts);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
    fflush(stdout);
}
