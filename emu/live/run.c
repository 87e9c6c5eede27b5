/* The clock of a run is the lab's: every reading of its counters carries it, and it is 0 where the load begins. Counters are read
 * often, and at the ends of the measuring windows; what the flows carried, which is a long list, at these ends alone: bulk
 * data count from the first such reading of a phase to the last. */
#include "emu/live/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/control.h"
#include "emu/live/down.h"
#include "emu/live/lab.h"
#include "emu/live/lateness.h"
#include "emu/live/load.h"
#include "emu/live/nas.h"
#include "emu/live/store.h"
#include "emu/live/tally.h"
#include "emu/live/tcp_ends.h"
#include "emu/live/up.h"
#include "emu/model/result.h"
#include "emu/model/schedule.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"
#include "emu/report/json.h"

enum { ASK_MS = 20000, STEP_LEAST_MS = 100, OVERTIME_S = 120 };
/* Headers of a full segment on the wire: preamble, gap and FCS, Ethernet, IPv4, TCP with timestamps. */
enum { FRAME_OVERHEAD = 24 + 14 + 20 + 32, IPV6_MORE = 20, NFS_PORT = 2049 };

struct live {
    const struct live_options *options;
    struct result *result;
    struct schedule plan;
    struct lab *lab; /* NULL: not up */
    struct control_client *control;
    struct load *load;
    struct tally *tally;
    struct tcp_ends *servers; /* their ends of the connections */
    bool timeouts_unknown;
    ps_t zero;                       /* of the run, by the lab's clock */
    struct tally_link *first, *last; /* per link direction: counters at zero, and as of late */
    uint64_t *bulk_first;            /* per link direction: bulk bytes at the begin of the phase */
    int bulk_phase;                  /* the one being measured, or -1 */
    bool *moved_all;                 /* per job that ends by bytes: it has moved them */
    ps_t *machine_through;           /* per job that is one: when */
    size_t failed;                   /* jobs */
    char failure[256];
    char *problem;
    size_t size;
};

/* ---- asking the lab ---- */

static struct json_in *ask(struct live *l, const char *what)
{
    struct json_out *request = control_begin(l->control, what);
    if (!strcmp(what, "flows"))
        json_out_real(request, "within", 1e6);
    return control_ask(l->control, ASK_MS, l->problem, l->size);
}

static uint64_t count_of(const struct json_in *object, const char *key)
{
    uint64_t n;
    return json_in_count(json_in_member(object, key), &n) ? n : 0;
}

static double real_of(const struct json_in *object, const char *key)
{
    double x;
    return json_in_number(json_in_member(object, key), &x) ? x : 0;
}

static ps_t lab_time(const struct json_in *reply) { return (ps_t)(real_of(reply, "time") * (double)PS_PER_S); }

/* ---- bulk data ---- */

/* Whether what flows from src to dst is the data of jobs of a phase: they write and it goes to the NAS, or they read. */
static bool is_bulk(const struct result *r, unsigned phase, const char *client, const char *server, bool to_server)
{
    const struct topo *t = r->topo;
    struct topo_addr c, s;
    if (!client || !server || !topo_addr_parse(&c, client) || !topo_addr_parse(&s, server))
        return false;
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct topo_mount *m = &t->mounts[r->jobs[i].mount];
        enum topo_op op = t->workloads[r->jobs[i].workload].op;
        if (r->jobs[i].phase == phase && schedule_runs(r, &r->jobs[i]) && op != (to_server ? TOPO_READ : TOPO_WRITE) &&
            topo_addr_equal(&t->vips[m->vip].addr, &s) && topo_addr_equal(&t->ifaces[m->iface].addr, &c))
            return true;
    }
    return false;
}

/* Adds up the payload of bulk flows per link direction. False when the lab doesn't answer. */
static bool read_bulk(struct live *l, unsigned phase, uint64_t *sums)
{
    struct result *r = l->result;
    struct json_in *reply = ask(l, "flows");
    if (!reply)
        return false;
    memset(sums, 0, r->n_links * sizeof *sums);
    const struct json_in *flows = json_in_member(reply, "flows");
    for (size_t i = 0; i < json_in_size(flows); i++) {
        const struct json_in *f = json_in_element(flows, i);
        const char *src = json_in_text(json_in_member(f, "src")), *dst = json_in_text(json_in_member(f, "dst"));
        uint64_t link = count_of(f, "link"), bytes = count_of(f, "bytes");
        bool to_server = count_of(f, "dport") == NFS_PORT;
        if (link >= r->n_links || (!to_server && count_of(f, "sport") != NFS_PORT) ||
            !is_bulk(r, phase, to_server ? src : dst, to_server ? dst : src, to_server))
            continue;
        uint64_t headers = count_of(f, "frames") * (FRAME_OVERHEAD + (strchr(src, ':') ? IPV6_MORE : 0));
        sums[link] += bytes > headers ? bytes - headers : 0;
    }
    json_in_free(reply);
    return true;
}

/* The phase that was measured ends, `next` begins (-1: none). False when the lab doesn't answer. */
static bool change_phase(struct live *l, int next)
{
    size_t n = l->result->n_links;
    uint64_t *sums = calloc(n + 1, sizeof *sums);
    bool fine = sums && (l->bulk_phase < 0 || read_bulk(l, (unsigned)l->bulk_phase, sums));
    for (size_t d = 0; fine && l->bulk_phase >= 0 && d < n; d++)
        if (sums[d] > l->bulk_first[d])
            tally_bulk(l->tally, (unsigned)l->bulk_phase, d, sums[d] - l->bulk_first[d]);
    if (fine && next >= 0)
        fine = read_bulk(l, (unsigned)next, l->bulk_first);
    l->bulk_phase = next;
    free(sums);
    return fine;
}

/* ---- counters ---- */

static void take_link(const struct live *l, size_t d, const struct json_in *j, struct tally_link *out)
{
    const struct tally_link *first = &l->first[d];
    out->frames = count_of(j, "frames") - first->frames;
    out->bytes = count_of(j, "bytes") - first->bytes;
    out->dropped = count_of(j, "dropped") - first->dropped;
    out->lost = count_of(j, "lost") - first->lost;
    out->queue_peak = count_of(j, "queue_peak");
}

/* Reads all counters into `out`; their time, or -1 when the lab doesn't answer. */
static ps_t read_counters(struct live *l, struct tally_link *out)
{
    struct result *r = l->result;
    struct json_in *reply = ask(l, "counters");
    const struct json_in *links = json_in_member(reply, "links");
    ps_t now = lab_time(reply);
    if (!reply)
        return -1;
    for (size_t d = 0; d < r->n_links && d < json_in_size(links); d++)
        take_link(l, d, json_in_element(links, d), &out[d]);
    r->flooded_unicast = count_of(reply, "flooded");
    r->mac_flaps = count_of(reply, "flaps");
    json_in_free(reply);
    return now;
}

/* The next time at which counters are wanted: a step on, or the begin or end of a phase before that. */
static ps_t next_reading(const struct live *l, ps_t now)
{
    const struct result *r = l->result;
    ps_t step = r->slice > STEP_LEAST_MS * PS_PER_MS ? r->slice : STEP_LEAST_MS * PS_PER_MS, next = now + step;
    for (unsigned p = 0; p < r->n_phases; p++) {
        const ps_t ends[] = {r->phases[p].start, r->phases[p].end};
        for (int i = 0; i < 2; i++)
            if (ends[i] > now && ends[i] < next)
                next = ends[i];
    }
    return next;
}

/* ---- the jobs ---- */

/* Where a VIP is: at home, or where the file's events have moved it. */
static int box_of_vip(const struct topo *t, int vip, ps_t now)
{
    int box = t->vips[vip].home;
    ps_t last = -1;
    for (size_t i = 0; i < t->n_events; i++) {
        const struct topo_event *e = &t->events[i];
        if (e->what == TOPO_EV_VIP_MOVE && e->vip == vip && e->at <= now && e->at >= last && e->box >= 0) {
            box = e->box;
            last = e->at;
        }
    }
    return box;
}

static void job_progress(void *context, size_t job, ps_t at, uint64_t read, uint64_t written)
{
    struct live *l = context;
    int vip = l->result->topo->mounts[l->result->jobs[job].mount].vip;
    const struct topo_workload *w = &l->result->topo->workloads[l->result->jobs[job].workload];
    tally_job(l->tally, job, box_of_vip(l->result->topo, vip, at - 1), at, read, written);
    l->moved_all[job] |= w->bytes && read + written >= load_bytes(w, l->options->scale);
}

/* It ends when all is done rather than at a time. */
static bool by_amount(const struct topo_workload *w) { return w->bytes || (w->vm_group >= 0 && !w->duration); }

/* A run with jobs that end by bytes is over with the last of these, as in virtual time. */
static bool bytes_are_done(const struct live *l)
{
    const struct result *r = l->result;
    for (size_t i = 0; i < r->n_jobs; i++)
        if (load_plays(r, i) && by_amount(&r->topo->workloads[r->jobs[i].workload]) && !l->moved_all[i])
            return false;
    return l->plan.end == PS_NEVER;
}

/* The end of such a run: when the last job was done, if none had to be stopped; else when all had ended. */
static ps_t end_of_bytes(const struct result *r, ps_t now)
{
    ps_t last = 0;
    for (size_t i = 0; i < r->n_jobs; i++) {
        if (!load_plays(r, i))
            continue;
        if (r->jobs[i].finished < 0)
            return now;
        last = r->jobs[i].finished > last ? r->jobs[i].finished : last;
    }
    return last < now ? last : now;
}

static void job_latency(void *context, size_t job, bool write, ps_t latency, uint32_t n)
{
    struct live *l = context;
    tally_latency(l->tally, job, write, latency, n);
}

/* ---- what TCP had to send again ---- */

static void count_tcp(struct live *l, struct result_job *j, struct tcp_counts c)
{
    j->retransmissions += c.retransmitted;
    j->timeouts += c.timeouts > 0 ? (uint64_t)c.timeouts : 0;
    l->timeouts_unknown |= c.timeouts < 0;
}

/* The server's end of a connection that is between the job's addresses. */
static void take_server_end(struct live *l, struct result_job *j, struct tcp_end *e)
{
    const struct topo *t = l->result->topo;
    const struct topo_mount *m = &t->mounts[j->mount];
    if (e->taken || !schedule_runs(l->result, j) || !topo_addr_equal(&e->client, &t->ifaces[m->iface].addr) ||
        !topo_addr_equal(&e->server, &t->vips[m->vip].addr))
        return;
    e->taken = true;
    count_tcp(l, j, e->counts);
}

/* Connections that were lost are in no job's list at its end: they are those of the first job between the same addresses. */
static void take_lost_connections(struct live *l)
{
    for (size_t i = 0; i < tcp_ends_count(l->servers); i++)
        for (size_t k = 0; k < l->result->n_jobs; k++)
            take_server_end(l, &l->result->jobs[k], tcp_ends_at(l->servers, i));
}

/* ---- jobs that end ---- */

static void machine_phase(void *context, size_t job, const struct load_phase *p)
{
    struct live *l = context;
    struct result *r = l->result;
    int group = r->topo->workloads[r->jobs[job].workload].vm_group;
    if (group < 0 || p->phase >= r->vm_groups[group].n_phases)
        return;
    struct result_vm_phase *to = &r->vm_groups[group].phases[p->phase];
    double scale = l->options->scale;
    for (int w = 0; w < 2; w++) {
        to->operations[w] += (uint64_t)((double)p->operations[w] / scale);
        to->bytes[w] += (uint64_t)((double)p->bytes[w] / scale);
    }
    to->latency_sum += p->latency_sum; /* of 1/scale as many operations, each so much shorter */
    if (p->left < 0)
        return;
    result_vm_phase_left(r, (size_t)group, p->phase, p->entered, p->left);
    if (p->phase + 1 == r->vm_groups[group].n_phases) {
        result_vm_through(r, (size_t)group, 0, p->left);
        l->machine_through[job] = p->left;
    }
}

static void job_ended(void *context, size_t job, const struct load_end *end)
{
    struct live *l = context;
    struct result_job *j = &l->result->jobs[job];
    const struct topo_workload *w = &l->result->topo->workloads[j->workload];
    count_tcp(l, j, end->tcp);
    for (size_t i = 0; i < tcp_ends_count(l->servers); i++)
        for (size_t k = 0; k < end->n_ports; k++)
            if (tcp_ends_at(l->servers, i)->client_port == end->ports[k])
                take_server_end(l, j, tcp_ends_at(l->servers, i));
    l->moved_all[job] = true;
    if (!end->errors && by_amount(w) && (w->vm_group < 0 || l->machine_through[job]))
        j->finished = w->start + (w->vm_group < 0 ? end->seconds : l->machine_through[job]);
    if ((end->errors || end->problem) && !l->failed++)
        snprintf(l->failure, sizeof l->failure, "%s: %s", w->name, end->problem ? end->problem : "operations failed");
}

/* The files on which jobs work are there and have been touched, so that nobody pays for fresh memory while it is measured. */
static int make_file(const char *folder, const char *name, uint64_t size)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    int error = fd < 0 ? errno : 0;
    struct stat s;
    uint64_t at = !error && !fstat(fd, &s) ? (uint64_t)s.st_size : 0; /* what is there has been written, by somebody */
    while (!error && at < size) {
        static const char zeros[1 << 16];
        ssize_t n = pwrite(fd, zeros, size - at < sizeof zeros ? (size_t)(size - at) : sizeof zeros, (off_t)at);
        error = n < 0 ? errno : 0;
        at += n > 0 ? (uint64_t)n : 0;
    }
    if (fd >= 0 && close(fd) && !error)
        error = errno;
    return -error;
}

static int make_files(struct live *l)
{
    const struct result *r = l->result;
    const struct topo *t = r->topo;
    char *own = lab_path(l->lab, "export"), name[256];
    const char *exports = l->options->exports ? l->options->exports : own;
    int rc = own ? 0 : -ENOMEM;
    for (size_t i = 0; i < r->n_jobs && !rc && !l->options->sink; i++) {
        if (!load_plays(r, i))
            continue;
        char *folder = nas_folder(t, t->datastores[t->mounts[r->jobs[i].mount].datastore].export_, exports);
        load_file(r, i, name, sizeof name);
        rc = folder ? make_file(folder, name, load_file_size(r, l->options->storage)) : -ENOMEM;
        if (rc)
            snprintf(l->problem, l->size, "%s/%s: %s", folder ? folder : exports, name, strerror(-rc));
        free(folder);
    }
    if (!own)
        snprintf(l->problem, l->size, "%s", strerror(ENOMEM));
    free(own);
    return rc;
}

/* ---- what a reader must know ---- */

static void note_differences(struct live *l)
{
    struct result *r = l->result;
    const struct topo *t = r->topo;
    bool newer = false, shared = false;
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct topo_mount *m = &t->mounts[r->jobs[i].mount];
        newer |= t->datastores[m->datastore].nfs != TOPO_NFS3;
        shared |= schedule_owner(t, r->jobs[i].mount) != r->jobs[i].mount;
    }
    result_note(r, "hosts and controllers are Linux with CUBIC and nfs-ganesha, whatever the file says");
    if (newer)
        result_note(r, "datastores of NFS 4.1 are loaded by NFS 3, over their first server");
    if (shared)
        result_note(r, "datastores that share connections have connections of their own here");
    if (l->timeouts_unknown)
        result_note(r, "this kernel doesn't count TCP's timeouts (Linux 6.7 and later do)");
    if (!t->network_only && !l->options->storage)
        result_note(r, "`storage:` is not played: the servers' files are in memory");
    if (!t->network_only && l->options->storage)
        result_note(r, "the servers' files are in memory; the model of `storage:` says when they answer");
}

static void note_scale(struct live *l)
{
    const struct result *r = l->result;
    char write[32], read[32];
    if (l->options->scale == 1)
        return;
    result_note(
        l->result,
        "ran at %g of the rates: measured were write %s and read %s MB/s; rates are divided by %g here, latencies "
        "multiplied",
        l->options->scale, unit_print_mbps(write, sizeof write, r->write.rate * l->options->scale),
        unit_print_mbps(read, sizeof read, r->read.rate * l->options->scale), l->options->scale);
}

/* How well the lab has kept up so far: seconds behind, of seconds; frames that nobody fetched from a device in time. */
struct keeping {
    double behind, running, shortage;
    uint64_t unfetched;
};

static struct json_in *read_lateness(struct live *l, struct keeping *k)
{
    struct json_in *reply = ask(l, "lateness");
    k->running = real_of(reply, "running");
    k->behind = real_of(reply, "behind") * k->running;
    k->unfetched = count_of(reply, "unfetched");
    k->shortage = real_of(reply, "short") * k->running;
    return reply;
}

const char *live_shortfall(const struct live_report *r, char *out, size_t size)
{
    int n =
        snprintf(out, size, "the machine did not keep up: frames left late in %.1f %% of the time", 100 * r->behind);
    if (r->unfetched && n > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, ", and %llu trains of frames were lost",
                      (unsigned long long)r->unfetched);
    if (r->shortage > LATENESS_SHORT && n > 0 && (size_t)n < size)
        snprintf(out + n, size - (size_t)n, "; no processor time was left in %.0f %% of it, while no link was full",
                 100 * r->shortage);
    return out;
}

/* Of the time since `before`: what a machine does while servers start is nobody's rate. */
static bool read_report(struct live *l, const struct keeping *before, struct live_report *report)
{
    struct keeping now;
    char sentence[LIVE_SENTENCE];
    struct json_in *reply = read_lateness(l, &now);
    if (!reply)
        return false;
    report->behind =
        now.running > before->running ? (now.behind - before->behind) / (now.running - before->running) : 0;
    report->shortage =
        now.running > before->running ? (now.shortage - before->shortage) / (now.running - before->running) : 0;
    report->unfetched = now.unfetched - before->unfetched;
    report->kept_up = report->behind <= LATENESS_LIMIT && !report->unfetched && report->shortage <= LATENESS_SHORT;
    report->late_p50 = real_of(reply, "late_p50");
    report->late_p99 = real_of(reply, "late_p99");
    l->result->events = count_of(reply, "frames");
    if (!report->kept_up)
        result_note(l->result, "%s; try --scale", live_shortfall(report, sentence, sizeof sentence));
    json_in_free(reply);
    return true;
}

/* ---- the run ---- */

static const char *netns_of(void *context, int host)
{
    const struct live *l = context;
    const struct lab_node *n = lab_node(l->lab, l->result->topo->boxes[host].name);
    return n ? n->netns : NULL;
}

/* How the jobs will use their files: to be freed, with the names. NULL on lack of memory. */
static struct store_file *list_files(const struct live *l)
{
    const struct result *r = l->result;
    const struct topo *t = r->topo;
    enum { NAME = 256 };
    struct store_file *files = calloc(r->n_jobs + 1, sizeof *files + NAME);
    char *name = (char *)(files + r->n_jobs + 1);
    for (size_t i = 0; files && i < r->n_jobs; i++, name += NAME) {
        const struct topo_workload *w = &t->workloads[r->jobs[i].workload];
        load_file(r, i, name, NAME);
        files[i] = (struct store_file){.export_ = t->datastores[t->mounts[r->jobs[i].mount].datastore].export_,
                                       .name = name,
                                       .sequential = w->sequential && w->vm_group < 0,
                                       .window = w->window,
                                       .length = load_bytes(w, l->options->scale)};
    }
    return files;
}

static int start_lab(struct live *l)
{
    const struct live_options *o = l->options;
    struct topo *t = l->result->topo;
    char name[LAB_NAME_MAX + 1], own[LAB_NAME_MAX + 1];
    struct store_file *files = list_files(l);
    if (!files)
        return -ENOMEM;
    snprintf(own, sizeof own, "live-%d", (int)getpid());
    const struct up_options up_options = {.name = own,
                                          .file = o->file,
                                          .case_name = t->case_name,
                                          .scale = o->scale,
                                          .seed = o->seed,
                                          .frames = o->frames,
                                          .no_events = true, /* their time counts from the begin of the load */
                                          .storage = o->storage,
                                          .storage_waits = true,
                                          .files = files,
                                          .n_files = l->result->n_jobs,
                                          .exports = o->exports};
    int rc = up(&up_options, t, name, l->problem, l->size);
    free(files);
    if (rc < 0)
        return rc;
    l->lab = lab_open(name, l->problem, l->size);
    char *path = l->lab ? lab_path(l->lab, "control") : NULL;
    if (!path)
        return -ENOMEM;
    rc = control_connect(&l->control, path);
    if (rc < 0)
        snprintf(l->problem, l->size, "%s: %s", path, strerror(-rc));
    free(path);
    return rc;
}

static int watch_servers(struct live *l)
{
    int rc = 0;
    for (size_t i = 0; i < l->lab->n_nodes && !rc; i++)
        if (l->lab->nodes[i].server)
            rc = tcp_ends_add(l->servers, l->lab->nodes[i].netns, NFS_PORT);
    if (rc)
        snprintf(l->problem, l->size, "asking for the servers' connections: %s", strerror(-rc));
    return rc;
}

static int start_load(struct live *l)
{
    const struct live_options *o = l->options;
    const struct load_config c = {.result = l->result,
                                  .scale = o->scale,
                                  .seed = o->seed,
                                  .storage = o->storage,
                                  .sink = o->sink,
                                  .netns = netns_of,
                                  .context = l};
    int rc = make_files(l);
    if (!rc)
        rc = load_new(&l->load, &c, o->interrupted, l->problem, l->size);
    return rc;
}

/* Counters count from here, the file's events as well. */
static int begin(struct live *l)
{
    struct json_in *reply = ask(l, "begin");
    if (!reply)
        return -EIO;
    json_in_free(reply);
    load_begin(l->load);
    l->zero = read_counters(l, l->last);
    if (l->zero < 0)
        return -EIO;
    memcpy(l->first, l->last, l->result->n_links * sizeof *l->first);
    memset(l->last, 0, l->result->n_links * sizeof *l->last);
    return 0;
}

static void show_progress(struct live *l, ps_t now)
{
    const struct live_options *o = l->options;
    if (o->progress)
        o->progress(o->context, now, l->plan.end == PS_NEVER ? 0 : fmin(1, (double)now / (double)l->plan.end));
}

static int64_t monotonic(void) /* ps; the lab's clock goes alike */
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * PS_PER_S + t.tv_nsec * INT64_C(1000);
}

/* All counters, and what the flows carried where a phase begins or ends. The time of the run, or -1. */
static ps_t take_reading(struct live *l)
{
    ps_t at = read_counters(l, l->last);
    if (at < 0)
        return -1;
    tally_links(l->tally, at - l->zero, l->last);
    int phase = schedule_phase(l->result, at - l->zero, l->bulk_phase);
    if (phase != l->bulk_phase && !change_phase(l, phase))
        return -1;
    return tcp_ends_read(l->servers) < 0 ? -1 : at - l->zero;
}

/* Until all jobs have ended: the time of the run then, or a negative errno. */
static ps_t drive(struct live *l)
{
    const struct load_events events = {
        .progress = job_progress, .latency = job_latency, .phase = machine_phase, .ended = job_ended, .context = l};
    const volatile sig_atomic_t *interrupted = l->options->interrupted;
    ps_t limit = l->plan.end == PS_NEVER ? PS_NEVER : l->plan.end + OVERTIME_S * PS_PER_S;
    int64_t begun = monotonic();
    ps_t now = 0, wanted = 0;
    bool stopped = false;
    for (int working = 1; working;) {
        if (now >= wanted) {
            if ((now = take_reading(l)) < 0)
                return -EIO;
            wanted = next_reading(l, now);
            show_progress(l, now);
        }
        working = load_wait(l->load, (int)((wanted - now) / PS_PER_MS) + 1, &events, l->problem, l->size);
        if (working < 0)
            return working;
        now = monotonic() - begun;
        if (!stopped && ((interrupted && *interrupted) || now > limit || bytes_are_done(l))) {
            load_stop(l->load);
            stopped = true;
        }
    }
    return take_reading(l) < 0 || !change_phase(l, -1) ? -EIO : now;
}

static int play(struct live *l, struct live_report *report)
{
    struct result *r = l->result;
    const volatile sig_atomic_t *interrupted = l->options->interrupted;
    struct keeping before = {0};
    int rc = start_lab(l);
    if (!rc)
        rc = watch_servers(l);
    if (!rc)
        rc = start_load(l);
    if (!rc) {
        json_in_free(read_lateness(l, &before)); /* NULL is seen at the next question */
        rc = begin(l);
    }
    if (rc)
        return rc;
    ps_t end = drive(l);
    if (end < 0)
        return (int)end;
    if (!read_report(l, &before, report))
        return -EIO;
    r->complete = !(interrupted && *interrupted);
    end = l->plan.end == PS_NEVER ? end_of_bytes(r, end) : end < l->plan.end ? end : l->plan.end;
    take_lost_connections(l);
    tally_finish(l->tally, end);
    note_differences(l);
    note_scale(l);
    if (l->failed)
        result_note(r, "%zu of %zu jobs failed, the first: %s", l->failed, r->n_jobs, l->failure);
    rc = result_trace_paths(r);
    if (rc)
        snprintf(l->problem, l->size, "%s", strerror(-rc));
    return rc;
}

static int take_down(struct live *l)
{
    char problem[256];
    load_free(l->load);
    control_disconnect(l->control);
    int rc = l->lab ? down(l->lab, problem, sizeof problem) : 0;
    if (rc && !*l->problem)
        snprintf(l->problem, l->size, "%s", problem);
    lab_free(l->lab);
    tally_free(l->tally);
    tcp_ends_free(l->servers);
    free(l->first);
    free(l->last);
    free(l->bulk_first);
    free(l->moved_all);
    free(l->machine_through);
    return rc;
}

static int prepare(struct live *l)
{
    struct result *r = l->result;
    if (!schedule_make(r, &l->plan)) {
        snprintf(l->problem, l->size, "no workload can run: no mount of a host that works leads to an address");
        return -EINVAL;
    }
    l->tally = tally_new(r, l->options->scale);
    l->servers = tcp_ends_new();
    l->first = calloc(r->n_links + 1, sizeof *l->first);
    l->last = calloc(r->n_links + 1, sizeof *l->last);
    l->bulk_first = calloc(r->n_links + 1, sizeof *l->bulk_first);
    l->moved_all = calloc(r->n_jobs + 1, sizeof *l->moved_all);
    l->machine_through = calloc(r->n_jobs + 1, sizeof *l->machine_through);
    if (l->machine_through && l->tally && l->servers && l->first && l->last && l->bulk_first && l->moved_all)
        return 0;
    snprintf(l->problem, l->size, "%s", strerror(ENOMEM));
    return -ENOMEM;
}

struct result *live_run(struct topo *t, const struct live_options *o, struct live_report *report, char *problem,
                        size_t size)
{
    struct live l = {.options = o, .bulk_phase = -1, .problem = problem, .size = size};
    *problem = '\0';
    l.result = result_new(t, "live", o->seed, 1, SCHEDULE_SLICES);
    if (!l.result) {
        snprintf(problem, size, "%s", strerror(ENOMEM));
        return NULL;
    }
    l.result->scale = o->scale;
    l.result->only_host = o->host;
    int rc = prepare(&l);
    if (!rc)
        rc = play(&l, report);
    int left = take_down(&l);
    if (rc || left) {
        result_free(l.result);
        return NULL;
    }
    return l.result;
}
