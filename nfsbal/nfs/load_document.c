/* The jobs of `nfsbal load --jobs`: nfsbal-jobs/1. */
#include "nfsbal/nfs/load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/model/topology_arena.h"
#include "emu/model/workload.h"
#include "emu/report/json.h"
#include "nfsbal/client/local_link.h"
#include "nfsbal/client/port_plan.h"
#include "nfsbal/nfs/location.h"

struct reader {
    struct topo_arena *arena;
    const struct load_common *common;
    uint64_t seed;
    char *problem;
    size_t size;
    const char *job; /* for messages; NULL: the document */
    bool good;
};

static void complain(struct reader *r, const char *member, const char *what)
{
    if (r->good && r->job)
        snprintf(r->problem, r->size, "job `%s`: `%s`: %s", r->job, member, what);
    else if (r->good)
        snprintf(r->problem, r->size, "`%s`: %s", member, what);
    r->good = false;
}

static const char *text_of(struct reader *r, const struct json_in *object, const char *member, const char *otherwise)
{
    const struct json_in *v = json_in_member(object, member);
    const char *text = json_in_text(v);

    if (v && !text)
        complain(r, member, "a string is expected");
    return text ? arena_copy(r->arena, text, strlen(text)) : otherwise;
}

static uint64_t count_of(struct reader *r, const struct json_in *object, const char *member, uint64_t least,
                         uint64_t most, uint64_t otherwise)
{
    const struct json_in *v = json_in_member(object, member);
    uint64_t n = otherwise;
    char what[100];

    if (!v)
        return otherwise;
    if (json_in_count(v, &n) && n >= least && n <= most)
        return n;
    snprintf(what, sizeof what, "a whole number from %llu to %llu is expected", (unsigned long long)least,
             (unsigned long long)most);
    complain(r, member, what);
    return otherwise;
}

static double number_of(struct reader *r, const struct json_in *object, const char *member, double otherwise)
{
    const struct json_in *v = json_in_member(object, member);
    double n;

    if (!v)
        return otherwise;
    if (json_in_number(v, &n) && n >= 0 && n < 1e15)
        return n;
    complain(r, member, "a number that is not negative is expected");
    return otherwise;
}

static ps_t time_of(struct reader *r, const struct json_in *object, const char *member, double otherwise)
{
    double s = number_of(r, object, member, otherwise);

    if (s < 9e6) /* ps_t ends there */
        return (ps_t)(s * (double)PS_PER_S + 0.5);
    complain(r, member, "fewer seconds are expected");
    return 0;
}

static bool flag_of(struct reader *r, const struct json_in *object, const char *member)
{
    const struct json_in *v = json_in_member(object, member);
    double n;

    if (v && (json_in_text(v) || json_in_number(v, &n) || json_in_size(v)))
        complain(r, member, "true or false is expected");
    return json_in_true(v);
}

static int choice_of(struct reader *r, const struct json_in *object, const char *member, const char *const *names,
                     int otherwise)
{
    const char *text = text_of(r, object, member, NULL);
    char what[200];

    if (!text)
        return otherwise;
    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    snprintf(what, sizeof what, "`%.60s` is none of", text);
    for (int i = 0; names[i]; i++)
        snprintf(what + strlen(what), sizeof what - strlen(what), " %s", names[i]);
    complain(r, member, what);
    return otherwise;
}

static void refuse_unknown(struct reader *r, const struct json_in *object, const char *const *known)
{
    const char *key = json_in_unknown(object, known);

    if (key)
        complain(r, key, "no such member");
}

static void read_workload(struct reader *r, const struct json_in *w, struct topo_workload *out)
{
    static const char *const known[] = {"op",   "read_share", "pattern", "block", "outstanding", "rate",
                                        "iops", "bytes",      "start",   "for",   "stable",      NULL};
    static const char *const ops[] = {"read", "write", "mixed", "clone", NULL};
    static const enum topo_op op_of[] = {TOPO_READ, TOPO_WRITE, TOPO_MIXED, TOPO_CLONE};
    static const char *const patterns[] = {"sequential", "random", NULL};

    refuse_unknown(r, w, known);
    if (!json_in_member(w, "op"))
        complain(r, "workload", "`op` is missing");
    out->op = op_of[choice_of(r, w, "op", ops, 0)];
    out->read_share = number_of(r, w, "read_share", 0.5);
    if (out->read_share > 1)
        complain(r, "read_share", "a share from 0 to 1 is expected");
    out->sequential = choice_of(r, w, "pattern", patterns, 0) == 0;
    out->block = count_of(r, w, "block", 1, NFS3_IO_MAX, NFS3_IO_MAX);
    out->outstanding = (unsigned)count_of(r, w, "outstanding", 1, 65536, 16);
    out->rate = number_of(r, w, "rate", 0);
    out->iops = number_of(r, w, "iops", 0);
    out->bytes = count_of(r, w, "bytes", 0, INT64_MAX, 0);
    out->start = time_of(r, w, "start", 0);
    out->duration = time_of(r, w, "for", out->bytes ? 0 : 10);
    if (!out->duration && !out->bytes)
        complain(r, "workload", "`for` or `bytes` must say when it ends");
    out->stable_given = true;
    out->stable = flag_of(r, w, "stable");
}

static void read_phase(struct reader *r, const struct json_in *p, struct topo_vm_phase *out)
{
    static const char *const known[] = {"name", "for",        "operations", "outstanding", "burst", "think",
                                        "even", "read_share", "read_block", "write_block", NULL};

    refuse_unknown(r, p, known);
    *out = (struct topo_vm_phase){.name = text_of(r, p, "name", ""),
                                  .share = 1,
                                  .length = time_of(r, p, "for", 0),
                                  .operations = count_of(r, p, "operations", 0, INT64_MAX, 0),
                                  .think = time_of(r, p, "think", 0),
                                  .even = flag_of(r, p, "even"),
                                  .read_share = number_of(r, p, "read_share", 1)};
    out->outstanding = (uint32_t)count_of(r, p, "outstanding", 0, 65536, out->operations ? 1 : 0);
    out->burst = (uint32_t)count_of(r, p, "burst", 1, UINT32_MAX, UINT32_MAX);
    out->read_block = (uint32_t)count_of(r, p, "read_block", 1, NFS3_IO_MAX, 4096);
    out->write_block = (uint32_t)count_of(r, p, "write_block", 1, NFS3_IO_MAX, 4096);
    if (!out->length && !out->operations)
        complain(r, "machine", "`for` or `operations` must say when a phase ends");
    if (out->operations && !out->outstanding)
        complain(r, "outstanding", "operations are to be done, none may be out");
}

/* A list of phases instead of a workload. What stands in for the latter bounds its memory. */
static void read_machine(struct reader *r, const struct json_in *phases, struct job_config *out)
{
    struct topo_vm_group *g = arena_alloc(r->arena, sizeof *g);
    size_t n = json_in_size(phases);
    struct topo_vm_phase *list = arena_alloc(r->arena, (n + 1) * sizeof *list);
    struct topo_workload *w = &out->workload;

    if (n == 0)
        complain(r, "machine", "a list of phases is expected");
    *w = (struct topo_workload){.op = TOPO_MIXED, .block = 1, .outstanding = 1, .duration = 1, .stable_given = true};
    for (size_t i = 0; i < n; i++) {
        read_phase(r, json_in_element(phases, i), &list[i]);
        if (list[i].outstanding > w->outstanding)
            w->outstanding = list[i].outstanding;
        if (list[i].read_block > w->block)
            w->block = list[i].read_block;
        if (list[i].write_block > w->block)
            w->block = list[i].write_block;
    }
    *g = (struct topo_vm_group){.name = out->name, .n_vms = 1, .phases = list, .n_phases = n};
    out->machine = g;
}

static void read_ports(struct reader *r, const struct json_in *job, struct job_config *out)
{
    const struct json_in *v = json_in_member(job, "sport");
    size_t n = json_in_size(v);
    uint16_t *ports = arena_alloc(r->arena, (n + 1) * sizeof *ports);
    uint64_t port;

    if (!v || !ports)
        return;
    if (json_in_text(v) && strcmp(json_in_text(v), "plan") == 0) {
        char problem[200];

        if (r->good && !load_plan_ports(r->arena, out, problem, sizeof problem))
            complain(r, "sport", problem);
        return;
    }
    for (size_t i = 0; i < (n ? n : 1); i++) {
        if (!json_in_count(n ? json_in_element(v, i) : v, &port) || port < 1 || port > 65535)
            complain(r, "sport", "a port from 1 to 65535, a list of these, or \"plan\" is expected");
        else
            ports[i] = (uint16_t)port;
    }
    out->paths.source_ports = ports;
    out->paths.n_source_ports = n ? n : 1;
}

/* All 64 bits of a seed do not fit a JSON number: it may be a string. */
static uint64_t read_seed(struct reader *r, const struct json_in *object, uint64_t otherwise)
{
    const char *text = json_in_text(json_in_member(object, "seed"));
    char *end;
    uint64_t seed;

    if (!text)
        return count_of(r, object, "seed", 0, INT64_MAX, otherwise);
    seed = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end)
        complain(r, "seed", "a whole number is expected");
    return seed;
}

static void read_servers(struct reader *r, const struct json_in *job, struct job_config *out)
{
    const struct json_in *list = json_in_member(job, "servers");
    const char *names = text_of(r, job, "server", NULL);
    struct location l = {.n_servers = 0};
    char problem[200];

    if (!names == !list) {
        complain(r, "server", "either `server` or `servers` is expected");
        return;
    }
    for (size_t i = 0; i < json_in_size(list); i++) {
        const char *one = json_in_text(json_in_element(list, i));

        if (!one) {
            complain(r, "servers", "a list of strings is expected");
            return;
        }
        names = names ? arena_printf(r->arena, "%s,%s", names, one) : arena_printf(r->arena, "%s", one);
    }
    if (!names)
        complain(r, "servers", "a list of strings is expected");
    else if (!location_servers(r->arena, names, &l, problem, sizeof problem))
        complain(r, "server", problem);
    out->paths.servers = l.servers;
    out->paths.n_servers = l.n_servers;
}

static void read_job(struct reader *r, const struct json_in *job, struct job_config *out)
{
    static const char *const known[] = {
        "name",   "server", "servers", "port", "mountport", "export", "file", "size", "source", "sport",   "nconnect",
        "spread", "fill",   "verify",  "seed", "workload",  "uid",    "gid",  "to",   "target", "machine", NULL};
    static const char *const spreads[] = {"mount", "file", "stripe", NULL};
    static const enum paths_spread spread_of[] = {PATHS_SPREAD_MOUNT, PATHS_SPREAD_FILE, PATHS_SPREAD_STRIPE};
    struct paths_config *p = &out->paths;
    const char *source, *wrong;

    r->job = "?";
    out->name = text_of(r, job, "name", NULL);
    if (!out->name) {
        complain(r, "name", "is missing");
        return;
    }
    r->job = out->name;
    refuse_unknown(r, job, known);
    read_servers(r, job, out);
    p->export = text_of(r, job, "export", NULL);
    if (!p->export)
        complain(r, "export", "is missing");
    out->file = text_of(r, job, "file", "nfsbal-load.dat");
    out->size = count_of(r, job, "size", 1, INT64_MAX, UINT64_C(256) << 20);
    p->port = (uint16_t)count_of(r, job, "port", 1, 65535, 2049);
    p->mount_port = (uint16_t)count_of(r, job, "mountport", 1, 65535, 0);
    p->nconnect = (unsigned)count_of(r, job, "nconnect", 1, 64, 1);
    p->spread = spread_of[choice_of(r, job, "spread", spreads, 2)];
    source = text_of(r, job, "source", NULL);
    if (source && !conn_parse_address(source, 0, &p->source))
        complain(r, "source", "an address is expected");
    read_ports(r, job, out);
    out->fill = flag_of(r, job, "fill");
    out->verify = flag_of(r, job, "verify");
    out->seed = read_seed(r, job, workload_seed(r->seed, source ? source : "", p->export ? p->export : "", out->name));
    p->credential.uid = (uint32_t)count_of(r, job, "uid", 0, UINT32_MAX, getuid());
    p->credential.gid = (uint32_t)count_of(r, job, "gid", 0, UINT32_MAX, getgid());
    p->reserved = true;
    load_set_common(r->common, out);
    if (!json_in_member(job, "machine"))
        read_workload(r, json_in_member(job, "workload"), &out->workload);
    else if (json_in_member(job, "workload"))
        complain(r, "machine", "it goes through its phases and has no `workload`");
    else
        read_machine(r, json_in_member(job, "machine"), out);
    out->target = flag_of(r, job, "target");
    wrong = load_check(out);
    if (wrong)
        complain(r, "workload", wrong);
}

/* A clone names the job that holds the file to which it writes; each such job is named by one. */
static void pair_clones(struct reader *r, const struct json_in *list, struct load_document *d)
{
    for (size_t i = 0; i < d->n && r->good; i++) {
        const char *to = text_of(r, json_in_element(list, i), "to", NULL);
        bool clone = d->jobs[i].workload.op == TOPO_CLONE;

        r->job = d->jobs[i].name;
        for (size_t k = 0; to && k < d->n && !d->jobs[i].to; k++)
            if (d->jobs[k].target && strcmp(d->jobs[k].name, to) == 0)
                d->jobs[i].to = k + 1;
        if (clone != (to != NULL))
            complain(r, "to",
                     clone ? "a clone writes to the file of another job, whose name this is" : "this is no clone");
        else if (to && !d->jobs[i].to)
            complain(r, "to", "no job of this name is a `target`");
        for (size_t k = 0; k < i; k++)
            if (d->jobs[i].to && d->jobs[k].to == d->jobs[i].to)
                complain(r, "to", "two clones can't have one target");
    }
    for (size_t i = 0; i < d->n && r->good; i++) {
        bool named = false;

        r->job = d->jobs[i].name;
        for (size_t k = 0; k < d->n; k++)
            named |= d->jobs[k].to == i + 1;
        if (d->jobs[i].target && !named)
            complain(r, "target", "no clone writes to it");
    }
}

bool load_document_read(struct topo_arena *a, const char *path, const struct load_common *common,
                        struct load_document *out, char *problem, size_t size)
{
    static const char *const known[] = {"schema", "seed", "hold", "jobs", NULL};
    struct reader r = {.arena = a, .common = common, .problem = problem, .size = size, .good = true};
    struct json_in *root = json_in_load(path, problem, size);
    const char *schema = json_in_text(json_in_member(root, "schema"));
    const struct json_in *list = json_in_member(root, "jobs");

    if (!root)
        return false;
    if (!schema || strcmp(schema, "nfsbal-jobs/1") != 0) {
        snprintf(problem, size, "%s: `schema` is not \"nfsbal-jobs/1\"", path);
        r.good = false;
    }
    refuse_unknown(&r, root, known);
    r.seed = read_seed(&r, root, 1);
    out->hold = flag_of(&r, root, "hold");
    out->n = json_in_size(list);
    if (out->n == 0)
        complain(&r, "jobs", "a list of jobs is expected");
    out->jobs = arena_alloc(a, (out->n + 1) * sizeof *out->jobs);
    for (size_t i = 0; r.good && i < out->n; i++)
        read_job(&r, json_in_element(list, i), &out->jobs[i]);
    if (r.good)
        pair_clones(&r, list, out);
    json_in_free(root);
    return r.good;
}

void load_set_common(const struct load_common *common, struct job_config *job)
{
    job->paths.congestion = common->congestion;
    job->paths.bound_ms = common->bound_ms;
    job->paths.failback_ms = common->failback_ms;
    job->paths.quarantine_ms = common->quarantine_ms;
    job->paths.timeo_ms = common->timeo_ms;
    job->paths.soft = common->soft;
}

bool load_plan_ports(struct topo_arena *a, struct job_config *job, char *problem, size_t size)
{
    struct paths_config *p = &job->paths;
    unsigned each = p->nconnect ? p->nconnect : 1;
    size_t n = p->n_servers * each;
    union conn_address *servers = arena_alloc(a, p->n_servers * sizeof *servers), source = p->source;
    uint16_t *ports = arena_alloc(a, n * sizeof *ports);
    struct port_plan_set set = {.servers = servers, .n = p->n_servers, .each = each, .ports = ports};

    if (!servers || !ports || !p->servers) {
        snprintf(problem, size, "out of memory");
        return false;
    }
    for (size_t i = 0; i < p->n_servers; i++)
        servers[i] = p->servers[i].address;
    if (!source.any.sa_family && !local_link_source(&servers[0], &source)) {
        snprintf(problem, size, "no route to %s", p->servers[0].name);
        return false;
    }
    if (!port_plan(&source, &set, 1, p->port ? p->port : 2049, problem, size))
        return false;
    p->source_ports = ports;
    p->n_source_ports = n;
    return true;
}

const char *load_check(const struct job_config *job)
{
    const struct topo_workload *w = &job->workload;

    if (job->machine && job->verify)
        return "what a machine writes can't be verified: it marks nothing";
    if (w->op == TOPO_CLONE && job->verify)
        return "what a clone copies can't be verified: it marks nothing";
    if (job->size < w->block)
        return "the file is smaller than one block";
    if (job->verify && w->block % 4096 && w->block > 4096)
        return "verifying needs blocks of at most 4096 bytes or of a multiple of that";
    return NULL;
}
