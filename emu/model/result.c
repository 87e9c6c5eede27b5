#include "emu/model/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/result_vms.h"
#include "emu/model/storage.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

#define SUB_BITS     9 /* 512 buckets per octave */
#define SUB_BUCKETS  (1 << SUB_BITS)
#define FIRST_OCTAVE 20 /* 2^20 ps = 1.05 us; all that is shorter is in its first bucket */

/* The bucket of a latency, numbered over all octaves. */
static unsigned bucket_of(ps_t latency)
{
    const unsigned last = RESULT_OCTAVES * SUB_BUCKETS - 1;
    if (latency < INT64_C(1) << FIRST_OCTAVE)
        return 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll((unsigned long long)latency);
    unsigned sub = (unsigned)(latency >> (octave - SUB_BITS)) & (SUB_BUCKETS - 1);
    unsigned bucket = (octave - FIRST_OCTAVE) * SUB_BUCKETS + sub;
    return bucket < last ? bucket : last;
}

/* Where a bucket begins; the next one's beginning is its end. */
static double bucket_start(unsigned bucket)
{
    unsigned octave = FIRST_OCTAVE + bucket / SUB_BUCKETS;
    return ldexp(SUB_BUCKETS + bucket % SUB_BUCKETS, (int)octave - SUB_BITS);
}

static void bucket_add(struct result_latency *l, unsigned bucket, uint32_t n)
{
    uint32_t **octave = &l->octave[bucket / SUB_BUCKETS];
    if (!*octave) {
        *octave = calloc(SUB_BUCKETS, sizeof **octave);
        if (!*octave) {
            fputs("out of memory\n", stderr);
            abort();
        }
    }
    (*octave)[bucket % SUB_BUCKETS] += n;
}

static void latency_add(struct result_latency *l, ps_t latency, uint32_t n)
{
    if (!l->count || latency < l->min)
        l->min = latency;
    if (latency > l->max)
        l->max = latency;
    l->count += n;
    l->sum += (double)latency / (double)PS_PER_S * n;
    bucket_add(l, bucket_of(latency), n);
}

void result_latency_add(struct result_latency *l, ps_t latency) { latency_add(l, latency, 1); }

static void latency_merge(struct result_latency *into, const struct result_latency *from)
{
    if (!from->count)
        return;
    if (!into->count || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    into->sum += from->sum;
    for (unsigned o = 0; o < RESULT_OCTAVES; o++)
        for (unsigned s = 0; from->octave[o] && s < SUB_BUCKETS; s++)
            if (from->octave[o][s])
                bucket_add(into, o * SUB_BUCKETS + s, from->octave[o][s]);
}

static double samples_in(const struct result_latency *l, unsigned bucket)
{
    const uint32_t *octave = l->octave[bucket / SUB_BUCKETS];
    return octave ? octave[bucket % SUB_BUCKETS] : 0;
}

ps_t result_latency_percentile_of(const struct result_latency *a, const struct result_latency *b, double p)
{
    if (!a->count || !b->count) {
        a = a->count ? a : b;
        b = a;
    }
    const struct result_latency none = {0};
    const struct result_latency *second = a == b ? &none : b;
    ps_t min = a->min < b->min ? a->min : b->min, max = a->max > b->max ? a->max : b->max;
    double total = (double)a->count + (double)second->count, rank = ceil(p * total);
    if (rank <= 1 || rank >= total) /* both are known exactly */
        return rank >= total && total > 1 ? max : min;
    double before = 0; /* samples in the buckets passed */
    for (unsigned i = 0; i < RESULT_OCTAVES * SUB_BUCKETS; i++) {
        double here = samples_in(a, i) + samples_in(second, i);
        if (here == 0 || before + here < rank) {
            before += here;
            continue;
        }
        double start = bucket_start(i), end = bucket_start(i + 1);
        double value = start + (end - start) * (rank - before - 0.5) / here;
        value = value < (double)min ? (double)min : value;
        return value > (double)max ? max : (ps_t)value;
    }
    return max;
}

ps_t result_latency_percentile(const struct result_latency *l, double p)
{
    return result_latency_percentile_of(l, l, p);
}

static void latency_free(struct result_latency *l)
{
    for (unsigned o = 0; l && o < RESULT_OCTAVES; o++)
        free(l->octave[o]);
    free(l);
}

static void io_free(struct result_io *io) { latency_free(io->latency); }

static bool io_keep_latency(struct result_io *io)
{
    io->latency = calloc(1, sizeof *io->latency);
    return io->latency != NULL;
}

static struct result_entity *entities_new(size_t n, bool keep_latency)
{
    struct result_entity *e = calloc(n + 1, sizeof *e);
    for (size_t i = 0; e && keep_latency && i < n; i++) {
        if (!io_keep_latency(&e[i].read) || !io_keep_latency(&e[i].write)) {
            for (size_t j = 0; j <= i; j++) {
                io_free(&e[j].read);
                io_free(&e[j].write);
            }
            free(e);
            return NULL;
        }
    }
    return e;
}

static void entities_free(struct result_entity *e, size_t n)
{
    for (size_t i = 0; e && i < n; i++) {
        io_free(&e[i].read);
        io_free(&e[i].write);
    }
    free(e);
}

static bool is_host(const struct topo *t, size_t box)
{
    enum topo_kind kind = t->nodes[t->boxes[box].node].kind;
    return kind == TOPO_ESXI || kind == TOPO_LINUX;
}

static bool is_nas(const struct topo *t, size_t box) { return t->nodes[t->boxes[box].node].kind == TOPO_NAS; }

/* Hosts and controllers out of the boxes, and where each box is among them. */
static bool name_boxes(struct result *r)
{
    const struct topo *t = r->topo;
    size_t hosts = 0, controllers = 0;
    for (size_t b = 0; b < t->n_boxes; b++) {
        hosts += is_host(t, b);
        controllers += is_nas(t, b);
    }
    r->hosts = entities_new(hosts, true);
    r->controllers = entities_new(controllers, false);
    r->entity_of_box = calloc(t->n_boxes + 1, sizeof *r->entity_of_box);
    if (!r->hosts || !r->controllers || !r->entity_of_box)
        return false;
    for (size_t b = 0; b < t->n_boxes; b++) {
        r->entity_of_box[b] = -1;
        if (is_host(t, b)) {
            r->entity_of_box[b] = (int)r->n_hosts;
            r->hosts[r->n_hosts++].name = t->boxes[b].name;
        } else if (is_nas(t, b)) {
            r->entity_of_box[b] = (int)r->n_controllers;
            r->controllers[r->n_controllers++].name = t->boxes[b].name;
        }
    }
    return true;
}

static bool name_datastores_and_vips(struct result *r)
{
    const struct topo *t = r->topo;
    r->datastores = entities_new(t->n_datastores, true);
    r->vips = entities_new(t->n_vips, false);
    if (!r->datastores || !r->vips)
        return false;
    r->n_datastores = t->n_datastores;
    r->n_vips = t->n_vips;
    for (size_t d = 0; d < t->n_datastores; d++)
        r->datastores[d].name = t->datastores[d].name;
    for (size_t v = 0; v < t->n_vips; v++)
        r->vips[v].name = t->vips[v].text;
    return true;
}

static bool list_jobs(struct result *r)
{
    const struct topo *t = r->topo;
    size_t n = 0;
    for (size_t w = 0; w < t->n_workloads; w++)
        n += t->workloads[w].n_mounts;
    r->jobs = calloc(n + 1, sizeof *r->jobs);
    if (!r->jobs)
        return false;
    for (size_t w = 0; w < t->n_workloads; w++) {
        bool clone = t->workloads[w].op == TOPO_CLONE;
        for (size_t m = 0; m < t->workloads[w].n_mounts; m++) {
            struct result_job *j = &r->jobs[r->n_jobs];
            *j = (struct result_job){.workload = (int)w, .mount = t->workloads[w].mounts[m], .finished = -1};
            j->reads = clone ? m % 2 == 0 : t->workloads[w].op != TOPO_WRITE;
            j->writes = clone ? m % 2 == 1 : t->workloads[w].op != TOPO_READ;
            j->partner = !clone ? -1 : (int)r->n_jobs + (m % 2 ? -1 : 1);
            r->n_jobs++;
        }
    }
    return true;
}

static bool name_links(struct result *r)
{
    const struct topo *t = r->topo;
    size_t n = 2 * t->n_links;
    r->links = calloc(n + 1, sizeof *r->links);
    if (!r->links)
        return false;
    r->n_links = n;
    for (size_t d = 0; d < n; d++) {
        r->links[d].name = topo_linkdir_name(t, (int)d);
        r->links[d].linkdir = (int)d;
        r->links[d].rate = t->links[d / 2].rate;
        if (r->n_slices && !(r->links[d].over_time = calloc(r->n_slices, sizeof *r->links[d].over_time)))
            return false;
    }
    return true;
}

static bool name_disks(struct result *r)
{
    const struct topo *t = r->topo;
    size_t n = 0;
    for (size_t i = 0; i < t->n_nodes; i++)
        n += t->nodes[i].storage ? t->nodes[i].storage->n_groups : 0;
    r->disks = calloc(n + 1, sizeof *r->disks);
    for (size_t i = 0; r->disks && i < t->n_nodes; i++) {
        const struct storage_model *m = t->nodes[i].storage;
        for (size_t g = 0; m && g < m->n_groups; g++) {
            struct result_disks *d = &r->disks[r->n_disks++];
            size_t size = strlen(t->nodes[i].name) + strlen(m->groups[g].name) + 2;
            *d = (struct result_disks){
                .node = (int)i, .group = (unsigned)g, .name = malloc(size), .disks = m->groups[g].disks};
            if (!d->name)
                return false;
            snprintf(d->name, size, "%s:%s", t->nodes[i].name, m->groups[g].name);
        }
    }
    return r->disks != NULL;
}

struct result *result_new(struct topo *t, const char *engine, uint64_t seed, ps_t slice, size_t n_slices)
{
    struct result *r = calloc(1, sizeof *r);
    if (!r) {
        topo_free(t);
        return NULL;
    }
    r->topo = t;
    r->file = t->file;
    r->name = t->name;
    r->title = t->title;
    r->case_name = t->case_name;
    r->network_only = t->network_only;
    r->engine = engine;
    r->seed = seed;
    r->slice = slice;
    r->n_slices = slice > 0 ? n_slices : 0;
    r->load = 1;
    if (!io_keep_latency(&r->read) || !io_keep_latency(&r->write) || !name_boxes(r) || !name_datastores_and_vips(r) ||
        !list_jobs(r) || !name_links(r) || !name_disks(r) || !result_vms_new(r)) {
        result_free(r);
        return NULL;
    }
    for (size_t w = 0; w < t->n_workloads; w++)
        if (t->workloads[w].synthetic)
            result_note(r, "no `workloads:` in the file: every datastore is kept busy, with writes, then with reads");
    return r;
}

void result_free(struct result *r)
{
    if (!r)
        return;
    io_free(&r->read);
    io_free(&r->write);
    entities_free(r->datastores, r->n_datastores);
    entities_free(r->hosts, r->n_hosts);
    entities_free(r->vips, r->n_vips);
    entities_free(r->controllers, r->n_controllers);
    free(r->jobs);
    for (size_t d = 0; d < r->n_links; d++)
        free(r->links[d].over_time);
    free(r->links);
    free(r->paths);
    free(r->hops);
    for (size_t d = 0; d < r->n_disks; d++)
        free(r->disks[d].name);
    free(r->disks);
    result_vms_free(r);
    free(r->notes);
    free(r->entity_of_box);
    topo_free(r->topo);
    free(r);
}

double result_latency_mean(const struct result_latency *a, const struct result_latency *b)
{
    uint64_t n = a->count + b->count;
    return n ? (a->sum + b->sum) / (double)n : nan("");
}

static void io_add(struct result_io *io, uint64_t operations, uint64_t bytes, unsigned phase)
{
    io->operations += operations;
    io->bytes += bytes;
    io->phases |= UINT64_C(1) << phase;
}

static void entity_add(struct result_entity *e, bool write, uint64_t operations, uint64_t bytes, unsigned phase)
{
    io_add(write ? &e->write : &e->read, operations, bytes, phase);
}

void result_bytes(struct result *r, size_t job, int vip, int box, bool write, uint64_t operations, uint64_t bytes)
{
    struct result_job *j = &r->jobs[job];
    const struct topo_mount *m = &r->topo->mounts[j->mount];
    io_add(write ? &j->write : &j->read, operations, bytes, j->phase);
    entity_add(&r->datastores[m->datastore], write, operations, bytes, j->phase);
    entity_add(&r->hosts[r->entity_of_box[m->host]], write, operations, bytes, j->phase);
    entity_add(&r->vips[vip], write, operations, bytes, j->phase);
    entity_add(&r->controllers[r->entity_of_box[box]], write, operations, bytes, j->phase);
}

void result_operation(struct result *r, size_t job, int vip, int box, bool write, uint64_t bytes, ps_t latency)
{
    const struct topo_mount *m = &r->topo->mounts[r->jobs[job].mount];
    struct result_entity *d = &r->datastores[m->datastore], *h = &r->hosts[r->entity_of_box[m->host]];
    result_bytes(r, job, vip, box, write, 1, bytes);
    result_latency_add(write ? d->write.latency : d->read.latency, latency);
    result_latency_add(write ? h->write.latency : h->read.latency, latency);
}

void result_latencies(struct result *r, size_t job, bool write, ps_t latency, uint32_t n)
{
    const struct topo_mount *m = &r->topo->mounts[r->jobs[job].mount];
    struct result_entity *d = &r->datastores[m->datastore], *h = &r->hosts[r->entity_of_box[m->host]];
    if (!n)
        return;
    latency_add(write ? d->write.latency : d->read.latency, latency, n);
    latency_add(write ? h->write.latency : h->read.latency, latency, n);
}

bool result_works(const struct result *r, int host)
{
    return !r->only_host || !strcmp(r->only_host, r->topo->boxes[host].name);
}

void result_note(struct result *r, const char *format, ...)
{
    char line[256];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t have = r->notes ? strlen(r->notes) : 0, add = strlen(line);
    for (const char *at = r->notes; at && (at = strstr(at, line)); at += add)
        if ((at == r->notes || at[-1] == '\n') && at[add] == '\n')
            return;
    char *notes = realloc(r->notes, have + add + 2);
    if (!notes)
        return; /* a run that has no room for a line of text has worse to report */
    memcpy(notes + have, line, add);
    notes[have + add] = '\n';
    notes[have + add + 1] = '\0';
    r->notes = notes;
}

static double phase_seconds(const struct result *r, unsigned phase)
{
    ps_t length = r->n_phases ? r->phases[phase].end - r->phases[phase].start : r->window_end - r->window_start;
    return (double)length / (double)PS_PER_S;
}

static void io_finish(const struct result *r, struct result_io *io)
{
    double seconds = 0;
    for (unsigned i = 0; i < (r->n_phases ? r->n_phases : 1); i++)
        if (io->phases >> i & 1)
            seconds += phase_seconds(r, i);
    io->rate = seconds > 0 ? (double)io->bytes / seconds : 0;
    io->operation_rate = seconds > 0 ? (double)io->operations / seconds : 0;
}

static void entities_finish(const struct result *r, struct result_entity *e, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        io_finish(r, &e[i].read);
        io_finish(r, &e[i].write);
    }
}

/* A job had work in its phase even if nothing came of it. */
static void job_phases(struct result *r, const struct result_job *j)
{
    const struct topo_mount *m = &r->topo->mounts[j->mount];
    if (!result_works(r, m->host))
        return;
    struct result_io *reads[] = {&r->datastores[m->datastore].read, &r->hosts[r->entity_of_box[m->host]].read,
                                 &r->read};
    struct result_io *writes[] = {&r->datastores[m->datastore].write, &r->hosts[r->entity_of_box[m->host]].write,
                                  &r->write};
    for (int i = 0; i < 3; i++) {
        reads[i]->phases |= (uint64_t)j->reads << j->phase;
        writes[i]->phases |= (uint64_t)j->writes << j->phase;
    }
}

void result_finish(struct result *r)
{
    const struct topo *t = r->topo;

    for (size_t i = 0; i < r->n_jobs; i++) {
        struct result_job *j = &r->jobs[i];
        const struct topo_mount *m = &t->mounts[j->mount];
        struct result_entity *d = &r->datastores[m->datastore], *h = &r->hosts[r->entity_of_box[m->host]];
        io_finish(r, &j->read);
        io_finish(r, &j->write);
        job_phases(r, j);
        d->retransmissions += j->retransmissions;
        d->timeouts += j->timeouts;
        h->retransmissions += j->retransmissions;
        h->timeouts += j->timeouts;
        r->retransmissions += j->retransmissions;
        r->timeouts += j->timeouts;
        r->read.operations += j->read.operations;
        r->read.bytes += j->read.bytes;
        r->write.operations += j->write.operations;
        r->write.bytes += j->write.bytes;
    }
    io_finish(r, &r->read);
    io_finish(r, &r->write);
    entities_finish(r, r->datastores, r->n_datastores);
    entities_finish(r, r->hosts, r->n_hosts);
    entities_finish(r, r->vips, r->n_vips);
    entities_finish(r, r->controllers, r->n_controllers);
    for (size_t i = 0; i < r->n_datastores; i++) {
        latency_merge(r->read.latency, r->datastores[i].read.latency);
        latency_merge(r->write.latency, r->datastores[i].write.latency);
    }
    for (size_t i = 0; i < r->n_links; i++) {
        struct result_link *l = &r->links[i];
        double seconds = phase_seconds(r, l->phase);
        l->utilisation = seconds > 0 && l->rate ? 8.0 * (double)l->bytes / ((double)l->rate * seconds) : 0;
        l->idle = !l->bulk_bytes;
    }
}

int result_find_entity(const struct result_entity *entities, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(entities[i].name, name))
            return (int)i;
    return -1;
}
