/* nfsbal load: the client without a file system, as a load generator. */
#include "nfsbal/nfs/load.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#include "emu/model/topology_arena.h"
#include "emu/model/units.h"
#include "emu/report/table.h"
#include "nfsbal/nfs/commands.h"
#include "nfsbal/nfs/location.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/client/pool.h"

struct load_options {
    const char *jobs, *export, *source, *sport;
    int op, pattern, spread;
    double read_share, rate, iops;
    uint64_t block, bytes, size;
    ps_t duration, bound, failback, quarantine, timeo;
    int64_t outstanding, nconnect, port, mount_port, uid, gid, seed;
    const char *congestion;
    bool stable, fill, verify, soft, json;
};

static const char *const ops[] = {"read", "write", "mixed", NULL};
static const char *const patterns[] = {"sequential", "random", NULL};
static const char *const spreads[] = {"mount", "file", "stripe", NULL};

static const char *a_share(const char *text, void *out) { return unit_parse_percent(text, out); }
static const char *a_rate(const char *text, void *out) { return unit_parse_byte_rate(text, out); }
static const char *a_count(const char *text, void *out) { return unit_parse_count(text, out); }
static const char *a_size(const char *text, void *out) { return unit_parse_size(text, out); }
static const char *a_time(const char *text, void *out) { return unit_parse_time(text, out); }

#define O struct load_options
static const struct option_spec rows[] = {
    OPTION_ENUM(O, op, "op", 0, "OP", ops, "read (default), write or mixed"),
    OPTION_VALUE(O, read_share, "read-share", 0, "PERCENT", a_share,
                 "reads among the operations of mixed; default 50%"),
    OPTION_ENUM(O, pattern, "pattern", 0, "PATTERN", patterns, "sequential (default) or random"),
    OPTION_VALUE(O, block, "block", 0, "SIZE", a_size, "bytes of an operation, at most 1MiB; default 1MiB"),
    OPTION_INTEGER(O, outstanding, "outstanding", 0, "N", 1, 65536, "operations under way at a time; default 16"),
    OPTION_VALUE(O, rate, "rate", 0, "RATE", a_rate, "at most so many bytes a second, such as 100MB/s"),
    OPTION_VALUE(O, iops, "iops", 0, "N", a_count, "at most so many operations a second"),
    OPTION_VALUE(O, duration, "for", 0, "TIME", a_time, "how long; default 10s, without --bytes"),
    OPTION_VALUE(O, bytes, "bytes", 0, "SIZE", a_size, "how much"),
    OPTION_VALUE(O, size, "size", 0, "SIZE", a_size, "of the file; default 256MiB"),
    OPTION_FLAG(O, stable, "stable", 0, "writes are answered when they are on stable storage"),
    OPTION_FLAG(O, fill, "fill", 0, "write the whole file before the clock starts"),
    OPTION_FLAG(O, verify, "verify", 0, "mark what is written, and check every block"),
    OPTION_STRING(O, source, "source", 0, "ADDRESS", "where connections come from"),
    OPTION_STRING(O, sport, "sport", 0, "PORT[,PORT]...|plan",
                  "their source ports, in the order of servers; plan: such that they use every member of the bond"),
    OPTION_INTEGER(O, nconnect, "nconnect", 0, "N", 1, 64, "connections to each server; default 1"),
    OPTION_ENUM(O, spread, "spread", 0, "HOW", spreads, "over several servers: stripe (default), file or mount"),
    OPTION_INTEGER(O, port, "port", 0, "PORT", 1, 65535, "of NFS; default 2049"),
    OPTION_INTEGER(O, mount_port, "mountport", 0, "PORT", 1, 65535, "of the mount service; default: asked for"),
    OPTION_STRING(O, export, "export", 0, "PATH", "the exported directory; default: found out"),
    OPTION_STRING(O, congestion, "congestion", 0, "NAME", "TCP's congestion control"),
    OPTION_VALUE(O, bound, "bound", 0, "TIME", a_time, "a path without progress for so long is left; default 3s"),
    OPTION_VALUE(O, failback, "failback", 0, "TIME", a_time, "a path that is back is used after this; default 30s"),
    OPTION_VALUE(O, quarantine, "quarantine", 0, "TIME", a_time,
                 "how long a lost write holds back later ones to its bytes; default 30s"),
    OPTION_FLAG(O, soft, "soft", 0, "give up on an operation after three times --timeo"),
    OPTION_VALUE(O, timeo, "timeo", 0, "TIME", a_time, "default 60s"),
    OPTION_INTEGER(O, uid, "uid", 0, "N", 0, UINT32_MAX, "user for the server; default: yours"),
    OPTION_INTEGER(O, gid, "gid", 0, "N", 0, UINT32_MAX, "group for the server; default: yours"),
    OPTION_INTEGER(O, seed, "seed", 0, "N", 0, INT64_MAX, "of the random pattern; default 1"),
    OPTION_FLAG(O, json, "json", 'j', "print JSON lines instead of a progress bar and a table"),
    OPTION_STRING(O, jobs, "jobs", 0, "FILE", "run these jobs (JSON, see the manual); \"-\": standard input"),
};

static const struct option_table table = {
    .operands = "[nfs://SERVER[,SERVER]...[:PORT]/EXPORT[/FILE]]",
    .min_operands = 0,
    .max_operands = 1,
    .about = "Reads and writes a file over NFS 3, without mounting: over all servers at once, block by block.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct run {
    struct loop *loop;
    struct jobs *jobs;
    bool json, hold;
    struct progress progress;
    struct loop_signal interrupt, terminate;
    struct loop_io go;
    bool stopped;
};

static void on_second(void *context, double t)
{
    struct run *run = context;
    const struct job_config *c = jobs_job(run->jobs, 0);
    struct jobs_result r;
    char what[80];
    double share;

    if (run->json) {
        load_print_second(run->jobs, t);
        return;
    }
    jobs_result(run->jobs, 0, &r);
    share = c->workload.duration ? t / ((double)c->workload.duration / (double)PS_PER_S) : 0;
    if (c->workload.bytes && (double)(r.read + r.written) / (double)c->workload.bytes > share)
        share = (double)(r.read + r.written) / (double)c->workload.bytes;
    snprintf(what, sizeof what, "%.1f MB/s", (double)(r.read + r.written) / 1e6 / t);
    progress_show(&run->progress, share > 1 ? 1 : share, what);
}

static void on_over(void *context) { loop_stop(((struct run *)context)->loop); }

static void on_report(void *context, const char *job, const char *line)
{
    struct run *run = context;

    progress_end(&run->progress);
    fprintf(stderr, "nfsbal load: %s: %s\n", job, line);
}

/* The line that says go, or the end of who should say it. */
static void on_input(void *context, unsigned events)
{
    struct run *run = context;
    char buf[256];
    ssize_t n = read(0, buf, sizeof buf);

    (void)events;
    if (n > 0 && !memchr(buf, '\n', (size_t)n))
        return;
    loop_io_stop(&run->go);
    if (n > 0)
        jobs_go(run->jobs);
    else
        jobs_stop(run->jobs);
}

static void on_ready(void *context)
{
    struct run *run = context;

    if (!run->hold) {
        jobs_go(run->jobs);
        return;
    }
    puts("{\"ready\":true}");
    fflush(stdout);
    loop_io_start(run->loop, &run->go, 0, LOOP_READ, on_input, run);
}

static void on_signal(void *context)
{
    struct run *run = context;

    run->stopped = true;
    loop_io_stop(&run->go);
    jobs_stop(run->jobs);
}

static void print_table(const struct jobs *jobs)
{
    static const struct table_column columns[] = {{"JOB", 0},
                                                  {"READ MB/s", TABLE_RIGHT},
                                                  {"WRITE MB/s", TABLE_RIGHT},
                                                  {"OPERATIONS/s", TABLE_RIGHT},
                                                  {"p50 ms", TABLE_RIGHT},
                                                  {"p99 ms", TABLE_RIGHT},
                                                  {"MAX ms", TABLE_RIGHT},
                                                  {"ERRORS", TABLE_RIGHT}};
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);

    for (size_t i = 0; i < jobs_count(jobs); i++) {
        struct table_row *row = table_row(t, NULL);
        struct stats_latency all;
        struct jobs_result r;
        double s;

        jobs_result(jobs, i, &r);
        all = *r.latency[0];
        stats_latency_merge(&all, r.latency[1]);
        s = r.seconds > 0 ? r.seconds : 1;
        table_cell(t, row, 0, jobs_job(jobs, i)->name);
        table_cellf(t, row, 1, "%.1f", (double)r.read / 1e6 / s);
        table_cellf(t, row, 2, "%.1f", (double)r.written / 1e6 / s);
        table_cellf(t, row, 3, "%.0f", (double)r.operations / s);
        table_cellf(t, row, 4, "%.2f", (double)stats_latency_at(&all, 50) / 1e6);
        table_cellf(t, row, 5, "%.2f", (double)stats_latency_at(&all, 99) / 1e6);
        table_cellf(t, row, 6, "%.2f", (double)stats_latency_at(&all, 100) / 1e6);
        table_cellf(t, row, 7, "%llu", (unsigned long long)r.errors);
    }
    table_print(t, stdout, TABLE_TEXT, 0);
    table_free(t);
}

/* CLI_FAILED when a job did not do what it was asked. */
static int verdict(const char *command, const struct run *run)
{
    int rc = CLI_OK;

    for (size_t i = 0; i < jobs_count(run->jobs); i++) {
        struct jobs_result r;

        jobs_result(run->jobs, i, &r);
        if (!r.errors && !r.problem)
            continue;
        rc = CLI_FAILED;
        if (r.problem)
            cli_error(CLI_FAILED, command, "%s: %s", jobs_job(run->jobs, i)->name, r.problem);
    }
    return run->stopped ? CLI_INTERRUPTED : rc;
}

static int run_jobs(const char *command, const struct load_document *d, bool json)
{
    struct run run = {.json = json, .hold = d->hold};
    const struct jobs_events events = {
        .second = on_second, .over = on_over, .ready = on_ready, .report = on_report, .context = &run};
    int rc;

    pool_tune_malloc();
    run.loop = loop_new();
    run.jobs = run.loop ? jobs_new(run.loop, d->jobs, d->n, &events) : NULL;
    if (!run.jobs) {
        loop_free(run.loop);
        return cli_error(CLI_FAILED, command, "out of memory");
    }
    loop_signal_start(run.loop, &run.interrupt, SIGINT, on_signal, &run);
    loop_signal_start(run.loop, &run.terminate, SIGTERM, on_signal, &run);
    progress_begin(&run.progress, !json);
    loop_run(run.loop);
    progress_end(&run.progress);
    loop_io_stop(&run.go);
    loop_signal_stop(&run.interrupt);
    loop_signal_stop(&run.terminate);
    if (json)
        load_print_end(run.jobs);
    else
        print_table(run.jobs);
    rc = verdict(command, &run);
    jobs_free(run.jobs);
    loop_free(run.loop);
    return rc;
}

/* --- one job by options -------------------------------------------------------------------------------------------- */

static bool take_ports(struct topo_arena *a, const char *text, struct job_config *job)
{
    size_t n = 1, i = 0;
    uint16_t *ports;
    char *copy = arena_copy(a, text, strlen(text)), *save = NULL;

    for (const char *c = text; *c; c++)
        n += *c == ',';
    ports = arena_alloc(a, n * sizeof *ports);
    for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
        int64_t port;

        if (!option_parse_integer(one, 1, 65535, &port))
            return false;
        ports[i++] = (uint16_t)port;
    }
    job->paths.source_ports = ports;
    job->paths.n_source_ports = i;
    return i == n;
}

static bool take_url(struct topo_arena *a, const char *url, const struct load_options *o, struct job_config *job,
                     char *problem, size_t size)
{
    struct location l;

    if (!location_read(a, url, o->export, (uint16_t)o->mount_port, &job->paths.source, &job->paths.credential, &l,
                       problem, size))
        return false;
    job->paths.servers = l.servers;
    job->paths.n_servers = l.n_servers;
    job->paths.export = l.export;
    job->paths.port = l.port ? l.port : (uint16_t)o->port;
    job->paths.mount_port = (uint16_t)o->mount_port;
    if (o->sport && strcmp(o->sport, "plan") == 0 && !load_plan_ports(a, job, problem, size))
        return false;
    job->file = *l.rest ? l.rest : "nfsbal-load.dat";
    job->name = url;
    return true;
}

static void take_workload(const struct load_options *o, struct topo_workload *w)
{
    static const enum topo_op op_of[] = {TOPO_READ, TOPO_WRITE, TOPO_MIXED};

    *w = (struct topo_workload){
        .op = op_of[o->op],
        .read_share = o->read_share,
        .sequential = o->pattern == 0,
        .block = o->block,
        .outstanding = (unsigned)o->outstanding,
        .rate = o->rate,
        .iops = o->iops,
        .duration = o->duration ? o->duration
                    : o->bytes  ? 0
                                : 10 * PS_PER_S,
        .bytes = o->bytes,
        .stable_given = true,
        .stable = o->stable,
    };
}

static void take_common(const struct load_options *o, struct load_common *c)
{
    *c = (struct load_common){
        .congestion = o->congestion,
        .bound_ms = (o->bound + PS_PER_MS - 1) / PS_PER_MS,
        .failback_ms = (o->failback + PS_PER_MS - 1) / PS_PER_MS,
        .quarantine_ms = (o->quarantine + PS_PER_MS - 1) / PS_PER_MS,
        .timeo_ms = (o->timeo + PS_PER_MS - 1) / PS_PER_MS,
        .soft = o->soft,
    };
}

static int one_job(const char *command, struct topo_arena *a, struct load_options *o, const char *url)
{
    static const enum paths_spread spread_of[] = {PATHS_SPREAD_MOUNT, PATHS_SPREAD_FILE, PATHS_SPREAD_STRIPE};
    struct job_config job = {.size = o->size, .seed = (uint64_t)o->seed, .fill = o->fill, .verify = o->verify};
    struct load_document d = {.jobs = &job, .n = 1};
    struct load_common common;
    char problem[400];
    const char *wrong;

    take_common(o, &common);
    load_set_common(&common, &job);
    take_workload(o, &job.workload);
    job.paths.nconnect = (unsigned)o->nconnect;
    job.paths.spread = spread_of[o->spread];
    job.paths.reserved = true;
    job.paths.credential.uid = o->uid < 0 ? getuid() : (uint32_t)o->uid;
    job.paths.credential.gid = o->gid < 0 ? getgid() : (uint32_t)o->gid;
    if (o->block < 1 || o->block > NFS3_IO_MAX)
        return cli_error(CLI_USAGE, command, "--block: at most 1MiB is expected");
    if (o->source && !conn_parse_address(o->source, 0, &job.paths.source))
        return cli_error(CLI_USAGE, command, "--source: `%s` is no address", o->source);
    if (o->sport && strcmp(o->sport, "plan") != 0 && !take_ports(a, o->sport, &job))
        return cli_error(CLI_USAGE, command, "--sport: `%s` is no list of ports", o->sport);
    wrong = load_check(&job);
    if (wrong)
        return cli_error(CLI_USAGE, command, "%s", wrong);
    if (!take_url(a, url, o, &job, problem, sizeof problem))
        return cli_error(CLI_USAGE, command, "%s", problem);
    return run_jobs(command, &d, o->json);
}

/* With --jobs only what holds for all jobs may be said. */
static bool only_common(const struct load_options *o, const struct load_options *d)
{
    bool numbers = o->read_share == d->read_share && o->rate == d->rate && o->iops == d->iops && o->block == d->block &&
                   o->bytes == d->bytes && o->size == d->size && o->duration == d->duration &&
                   o->outstanding == d->outstanding && o->nconnect == d->nconnect && o->port == d->port &&
                   o->mount_port == d->mount_port && o->uid == d->uid && o->gid == d->gid && o->seed == d->seed;

    return numbers && o->op == d->op && o->pattern == d->pattern && o->spread == d->spread && !o->export &&
           !o->source && !o->sport && !o->stable && !o->fill && !o->verify;
}

static void set_defaults(struct load_options *o)
{
    *o = (struct load_options){.jobs = ""};
    o->spread = 2;
    o->read_share = 0.5;
    o->block = NFS3_IO_MAX;
    o->size = UINT64_C(256) << 20;
    o->outstanding = 16;
    o->nconnect = 1;
    o->port = 2049;
    o->uid = o->gid = -1;
    o->seed = 1;
}

int command_load(int argc, char **argv)
{
    struct load_options o, untouched;
    struct option_list operands = {0};
    struct topo_arena *a = NULL;
    int rc;

    set_defaults(&o);
    untouched = o;
    rc = option_parse(&table, argc, argv, &o, &operands);

    if (rc == OPTION_GO_ON) {
        struct load_document d;
        struct load_common common;
        char problem[400];

        a = arena_new();
        take_common(&o, &common);
        if (!a)
            rc = cli_error(CLI_FAILED, argv[0], "out of memory");
        else if (!*o.jobs == !operands.n)
            rc = cli_error(CLI_USAGE, argv[0], "either nfs://SERVER/EXPORT or --jobs FILE is expected");
        else if (operands.n)
            rc = one_job(argv[0], a, &o, operands.items[0]);
        else if (!only_common(&o, &untouched))
            rc = cli_error(CLI_USAGE, argv[0], "--jobs: what a job is stands in the document, not in options");
        else if (!load_document_read(a, o.jobs, &common, &d, problem, sizeof problem))
            rc = cli_error(CLI_USAGE, argv[0], "%s", problem);
        else
            rc = run_jobs(argv[0], &d, true);
    }
    arena_free(a);
    option_free(&table, &o, &operands);
    return rc;
}
