#include "emu/report/fields.h"

#include <math.h>
#include <string.h>

#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/model/topology.h"
#include "emu/report/report.h"

static double seconds(ps_t time) { return (double)time / (double)PS_PER_S; }

static void put_latency(struct report_sink *s, const struct result_latency *l)
{
    static const struct {
        const char *key;
        double p;
    } points[] = {{"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}};
    if (!l->count) {
        s->text(s, "latency", NULL);
        return;
    }
    s->begin(s, "latency", false, true);
    s->real(s, "min", seconds(l->min));
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++)
        s->real(s, points[i].key, seconds(result_latency_percentile(l, points[i].p)));
    s->real(s, "max", seconds(l->max));
    s->end(s);
}

static void put_io(struct report_sink *s, const char *key, const struct result_io *io)
{
    s->begin(s, key, false, true);
    s->real(s, "rate", io->rate);
    s->count(s, "bytes", io->bytes);
    s->count(s, "operations", io->operations);
    if (io->latency)
        put_latency(s, io->latency);
    s->end(s);
}

/* The parts of the window in which workloads that follow one another are measured; one when all run at once. */
static void put_phases(struct report_sink *s, const struct result *r)
{
    const struct result_phase whole = {r->window_start, r->window_end};
    s->begin(s, "phases", true, false);
    for (unsigned i = 0; i < (r->n_phases ? r->n_phases : 1); i++) {
        const struct result_phase *p = r->n_phases ? &r->phases[i] : &whole;
        s->begin(s, NULL, false, true);
        s->real(s, "start", seconds(p->start));
        s->real(s, "end", seconds(p->end));
        s->end(s);
    }
    s->end(s);
}

/* `tcp`: with what the connections met, which VIPs and controllers don't have. */
static void put_entities(struct report_sink *s, const char *key, const struct result_entity *e, size_t n, bool tcp)
{
    s->begin(s, key, true, false);
    for (size_t i = 0; i < n; i++) {
        s->begin(s, NULL, false, true);
        s->name(s, "name", e[i].name);
        put_io(s, "write", &e[i].write);
        put_io(s, "read", &e[i].read);
        if (tcp) {
            s->count(s, "retransmissions", e[i].retransmissions);
            s->count(s, "timeouts", e[i].timeouts);
        }
        s->end(s);
    }
    s->end(s);
}

static void put_jobs(struct report_sink *s, const struct result *r)
{
    const struct topo *t = r->topo;
    s->begin(s, "jobs", true, false);
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct result_job *j = &r->jobs[i];
        const struct topo_mount *m = &t->mounts[j->mount];
        if (!result_works(r, m->host))
            continue;
        s->begin(s, NULL, false, true);
        s->name(s, "workload", t->workloads[j->workload].name);
        s->name(s, "datastore", t->datastores[m->datastore].name);
        s->name(s, "host", t->boxes[m->host].name);
        put_io(s, "write", &j->write);
        put_io(s, "read", &j->read);
        s->count(s, "retransmissions", j->retransmissions);
        s->count(s, "timeouts", j->timeouts);
        s->real(s, "finished", j->finished >= 0 ? seconds(j->finished) : nan(""));
        s->end(s);
    }
    s->end(s);
}

static void put_link(struct report_sink *s, const struct result *r, const struct result_link *l)
{
    s->begin(s, NULL, false, true);
    s->name(s, "name", l->name);
    s->real(s, "rate", (double)l->rate / 8);
    s->real(s, "utilisation", l->utilisation);
    s->count(s, "phase", l->phase);
    s->truth(s, "idle", l->idle);
    s->count(s, "flows_write", l->flows_write);
    s->count(s, "flows_read", l->flows_read);
    s->truth(s, "carries_part", l->carries_part);
    s->count(s, "frames", l->frames);
    s->count(s, "bytes", l->bytes);
    s->count(s, "bulk_bytes", l->bulk_bytes);
    s->count(s, "dropped_frames", l->dropped_frames);
    s->count(s, "lost_frames", l->lost_frames);
    s->count(s, "queue_peak", l->queue_peak);
    if (l->over_time) {
        s->begin(s, "over_time", true, true);
        for (size_t i = 0; i < r->n_slices; i++)
            s->real(s, NULL, round((double)l->over_time[i] * 1e4) / 1e4);
        s->end(s);
    }
    s->end(s);
}

static void put_paths(struct report_sink *s, const struct result *r)
{
    const struct topo *t = r->topo;
    s->begin(s, "paths", true, false);
    for (size_t i = 0; i < r->n_paths; i++) {
        const struct result_path *p = &r->paths[i];
        const struct topo_mount *m = &t->mounts[p->mount];
        s->begin(s, NULL, false, true);
        s->name(s, "datastore", t->datastores[m->datastore].name);
        s->name(s, "host", t->boxes[m->host].name);
        s->name(s, "direction", p->write ? "write" : "read");
        s->count(s, "connection", p->connection);
        s->text(s, "label", p->label);
        s->text(s, "problem", p->problem);
        s->begin(s, "links", true, true);
        for (size_t h = p->first_hop; h < p->first_hop + p->n_hops; h++)
            s->text(s, NULL, r->hops[h] >= 0 ? topo_linkdir_name(t, r->hops[h]) : NULL);
        s->end(s);
        s->end(s);
    }
    s->end(s);
}

static void put_notes(struct report_sink *s, const char *notes)
{
    s->begin(s, "notes", true, false);
    for (const char *line = notes; line && *line;) {
        char text[256];
        size_t n = strcspn(line, "\n"), kept = n < sizeof text ? n : sizeof text - 1;
        memcpy(text, line, kept);
        text[kept] = 0;
        s->text(s, NULL, text);
        line += n + (line[n] == '\n');
    }
    s->end(s);
}

static void put_disks(struct report_sink *s, const struct result *r)
{
    if (!r->n_disks)
        return;
    s->begin(s, "disks", true, false);
    for (size_t i = 0; i < r->n_disks; i++) {
        const struct result_disks *d = &r->disks[i];
        if (!d->counted)
            continue;
        s->begin(s, NULL, false, true);
        s->name(s, "name", d->name);
        s->count(s, "disks", d->disks);
        s->count(s, "reads", d->reads);
        s->count(s, "writes", d->writes);
        s->count(s, "read_bytes", d->read_bytes);
        s->count(s, "write_bytes", d->write_bytes);
        s->real(s, "utilisation", r->duration ? seconds(d->busy) / d->disks / seconds(r->duration) : nan(""));
        s->end(s);
    }
    s->end(s);
}

static void put_vm_phase(struct report_sink *s, const struct result_vm_phase *p)
{
    uint64_t n = p->operations[0] + p->operations[1];
    s->begin(s, NULL, false, true);
    s->name(s, "name", p->name);
    s->count(s, "machines", p->machines);
    s->real(s, "first", p->first >= 0 ? seconds(p->first) : nan(""));
    s->real(s, "last", p->machines ? seconds(p->last) : nan(""));
    s->real(s, "mean_time", p->machines ? p->time / (double)p->machines : nan(""));
    s->real(s, "longest_time", p->machines ? seconds(p->longest) : nan(""));
    s->count(s, "reads", p->operations[0]);
    s->count(s, "writes", p->operations[1]);
    s->count(s, "read_bytes", p->bytes[0]);
    s->count(s, "write_bytes", p->bytes[1]);
    s->real(s, "mean_latency", n ? p->latency_sum / (double)n : nan(""));
    s->begin(s, "read", false, true);
    put_latency(s, &p->latency[0]);
    s->end(s);
    s->begin(s, "write", false, true);
    put_latency(s, &p->latency[1]);
    s->end(s);
    s->end(s);
}

static void put_vm_groups(struct report_sink *s, const struct result *r)
{
    if (!r->n_vm_groups)
        return;
    s->begin(s, "vm_groups", true, false);
    for (size_t i = 0; i < r->n_vm_groups; i++) {
        const struct result_vm_group *g = &r->vm_groups[i];
        s->begin(s, NULL, false, false);
        s->name(s, "name", g->name);
        s->count(s, "machines", g->machines);
        s->count(s, "through", g->through);
        s->real(s, "mean_job_time", g->through ? g->job_time / g->through : nan(""));
        s->real(s, "peak_operation_rate", result_vm_peak(r, (int)i));
        s->begin(s, "phases", true, false);
        for (size_t p = 0; p < g->n_phases; p++)
            put_vm_phase(s, &g->phases[p]);
        s->end(s);
        s->begin(s, "operations_over_time", true, true);
        for (size_t b = 0; b < g->n_bins; b++)
            s->count(s, NULL, g->bins[b]);
        s->end(s);
        s->end(s);
    }
    s->end(s);
}

static void put_case(struct report_sink *s, const struct result *r)
{
    s->begin(s, NULL, false, false);
    s->name(s, "case", r->case_name);
    s->text(s, "engine", r->engine);
    s->count(s, "seed", r->seed);
    if (r->scale > 0)
        s->real(s, "scale", r->scale);
    s->truth(s, "complete", r->complete);
    s->truth(s, "network_only", r->network_only);
    s->text(s, "only_host", r->only_host);
    s->real(s, "window_start", seconds(r->window_start));
    s->real(s, "window_end", seconds(r->window_end));
    s->real(s, "duration", seconds(r->duration));
    s->real(s, "slice", r->n_slices ? seconds(r->slice) : nan(""));
    put_phases(s, r);
    put_io(s, "write", &r->write);
    put_io(s, "read", &r->read);
    s->count(s, "retransmissions", r->retransmissions);
    s->count(s, "timeouts", r->timeouts);
    s->count(s, "flooded_unicast", r->flooded_unicast);
    s->count(s, "mac_flaps", r->mac_flaps);
    s->count(s, "events", r->events);
    if (r->load != 1)
        s->real(s, "load", r->load);
    put_notes(s, r->notes);
    put_entities(s, "datastores", r->datastores, r->n_datastores, true);
    put_entities(s, "hosts", r->hosts, r->n_hosts, true);
    put_entities(s, "vips", r->vips, r->n_vips, false);
    put_entities(s, "controllers", r->controllers, r->n_controllers, false);
    put_jobs(s, r);
    put_disks(s, r);
    put_vm_groups(s, r);
    s->begin(s, "links", true, false);
    for (size_t i = 0; i < r->n_links; i++)
        put_link(s, r, &r->links[i]);
    s->end(s);
    put_paths(s, r);
    s->end(s);
}

static void put_outcome(struct report_sink *s, const struct expect_outcome *o)
{
    const struct topo_expect *e = o->expect;
    s->begin(s, NULL, false, true);
    s->name(s, "figure", e->figure);
    s->name(s, "value", e->value);
    s->text(s, "basis", e->basis);
    s->real(s, "near", e->near);
    s->real(s, "within", !isnan(e->near) && !e->exact ? e->within : nan(""));
    s->real(s, "min", e->min);
    s->real(s, "max", e->max);
    s->real(s, "here", o->value);
    s->real(s, "error", o->error);
    s->text(s, "verdict", o->verdict == EXPECT_FAIL ? "fail" : expect_verdict_name(o->verdict));
    s->text(s, "problem", *o->problem ? o->problem : NULL);
    s->text(s, "not_claimed", e->not_claimed);
    s->text(s, "note", e->note);
    s->end(s);
}

void report_fields(const struct report *r, struct report_sink *s)
{
    s->begin(s, NULL, false, false);
    s->text(s, "schema", "emu-result/1");
    s->text(s, "file", r->file);
    s->text(s, "name", r->name);
    s->text(s, "title", r->title);
    s->begin(s, "cases", true, false);
    for (size_t i = 0; i < r->n_results; i++)
        put_case(s, r->results[i]);
    s->end(s);
    s->begin(s, "expect", true, false);
    for (size_t i = 0; i < r->n_outcomes; i++)
        put_outcome(s, &r->outcomes[i]);
    s->end(s);
    s->end(s);
}
