/* One process per host. It gets its jobs as a file that only exists in memory (/dev/fd/3), says {"ready":true} once all are
 * mounted, and begins when a line comes on its standard input. Its standard error is ours: what it complains about is for the
 * user. Its standard output comes through a pipe, line by line; lines hold all jobs of the host, in the order given. */
#define _GNU_SOURCE
#include "emu/live/load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/nas.h"
#include "emu/live/prefer.h"
#include "emu/model/result.h"
#include "emu/model/schedule.h"
#include "emu/model/topology.h"
#include "emu/model/workload.h"
#include "emu/report/json.h"

enum { READY_MS = 60000, LINE_MAX_BYTES = 1 << 26, CONNECTIONS_MAX = 64 /* of a job */ };
#define FILE_LARGEST   (UINT64_C(64) << 20)
#define FILE_SMALL     (UINT64_C(4) << 20)
#define FILES_TOGETHER (UINT64_C(512) << 20)

struct host {
    struct load *load;
    int box;
    pid_t pid; /* 0: has ended and been waited for */
    int in, out;
    char *buf;
    size_t have, room;
    size_t *jobs; /* of the result, in the order of its document */
    size_t n_jobs;
    bool ready, summed; /* its last line has come */
};

struct load {
    struct load_config config;
    struct host *hosts;
    size_t n_hosts;
    char program[PATH_MAX];
};

/* ---- files ---- */

void load_file(const struct result *r, size_t job, char *name, size_t size)
{
    const struct topo *t = r->topo;
    const struct topo_mount *m = &t->mounts[r->jobs[job].mount];
    const struct topo_workload *w = &t->workloads[r->jobs[job].workload];
    /* Default workloads write, then read what they wrote. */
    int n = snprintf(name, size, "emu-%s-%s-%s.dat", t->boxes[m->host].name, t->datastores[m->datastore].name,
                     w->synthetic ? "" : w->name);
    /* Each half of a clone has a file of its own, also where both are on one datastore, or several read one. */
    if (r->jobs[job].partner >= 0 && n > 4 && (size_t)n < size)
        snprintf(name + n - 4, size - (size_t)n + 4, "-%zu.dat", job);
    for (char *c = name; *c; c++)
        if (*c == '/' || *c == ':')
            *c = '_';
}

/* Nothing on the way depends on how large a file is; memory does, and the time to touch it for the first time. */
uint64_t load_file_size(const struct result *r, bool small)
{
    uint64_t n = 0, block = 1, size;
    for (size_t i = 0; i < r->n_jobs; i++) {
        uint64_t b = r->topo->workloads[r->jobs[i].workload].block;
        n += load_plays(r, i);
        block = b > block ? b : block;
    }
    size = n ? FILES_TOGETHER / n : FILE_LARGEST;
    size = size > FILE_LARGEST ? FILE_LARGEST : size;
    if (small && size > FILE_SMALL)
        size = FILE_SMALL;
    return size > 4 * block ? size : 4 * block;
}

bool load_plays(const struct result *r, size_t job)
{
    const struct result_job *j = &r->jobs[job];
    int group = r->topo->workloads[j->workload].vm_group;
    size_t first = job;
    if (!schedule_runs(r, j) || group < 0)
        return schedule_runs(r, j);
    while (first > 0 && r->jobs[first - 1].workload == j->workload)
        first--;
    for (uint32_t v = 0; v < r->topo->vm_groups[group].n_vms; v++)
        if ((size_t)r->topo->vm_groups[group].mounts[v] == job - first)
            return true;
    return false;
}

uint64_t load_bytes(const struct topo_workload *w, double scale) { return (uint64_t)ceil((double)w->bytes * scale); }

/* ---- the jobs as JSON ---- */

static double seconds(ps_t t) { return (double)t / (double)PS_PER_S; }

/* The half of a clone that writes only has a file: the other one drives it. */
static void write_workload(struct json_out *j, const struct load *l, const struct result_job *job, int host)
{
    static const char *const ops[] = {"read", "write", "mixed", "clone"};
    const struct topo_workload *w = &l->config.result->topo->workloads[job->workload];
    double scale = l->config.scale;
    json_out_object(j, "workload", JSON_ON_ONE_LINE);
    json_out_string(j, "op", ops[job->reads ? w->op : TOPO_WRITE]);
    if (w->op == TOPO_MIXED)
        json_out_real(j, "read_share", w->read_share);
    json_out_string(j, "pattern", w->sequential ? "sequential" : "random");
    json_out_count(j, "block", w->block);
    json_out_count(j, "outstanding", w->outstanding);
    json_out_real(j, "rate", w->rate * scale);
    json_out_real(j, "iops", w->iops * scale);
    json_out_count(j, "bytes", load_bytes(w, scale));
    json_out_real(j, "start", seconds(w->start));
    json_out_real(j, "for", seconds(w->duration));
    json_out_bool(j, "stable", topo_stable(l->config.result->topo, w, host));
    json_out_end(j);
}

/* Times that the file gives stay, as those of all jobs do; what is between operations belongs to their rate. */
static void write_machine(struct json_out *j, const struct topo_vm_group *g, double scale)
{
    json_out_array(j, "machine", JSON_ON_ONE_LINE);
    for (size_t i = 0; i < g->n_phases; i++) {
        const struct topo_vm_phase *p = &g->phases[i];
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "name", p->name);
        json_out_real(j, "for", seconds(p->length));
        json_out_count(j, "operations", (uint64_t)ceil((double)p->operations * scale));
        json_out_count(j, "outstanding", p->outstanding);
        json_out_count(j, "burst", p->burst ? p->burst : UINT32_MAX);
        json_out_real(j, "think", seconds(p->think) / scale);
        json_out_bool(j, "even", p->even);
        json_out_real(j, "read_share", p->read_share);
        json_out_count(j, "read_block", p->read_block ? p->read_block : 4096);
        json_out_count(j, "write_block", p->write_block ? p->write_block : 4096);
        json_out_end(j);
    }
    json_out_end(j);
}

/* As nfsbal load speaks of it. */
static const char *job_name(const struct result *r, size_t job, char *text, size_t size)
{
    const struct topo *t = r->topo;
    const struct topo_mount *m = &t->mounts[r->jobs[job].mount];
    int n = snprintf(text, size, "%s@%s:%s", t->workloads[r->jobs[job].workload].name, t->boxes[m->host].name,
                     t->datastores[m->datastore].name);
    if (r->jobs[job].partner >= 0 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "#%zu", job); /* a clone's halves may be on one datastore */
    return text;
}

static void write_job(struct json_out *j, const struct load *l, size_t job)
{
    const struct result *r = l->config.result;
    const struct topo *t = r->topo;
    const struct topo_mount *m = &t->mounts[r->jobs[job].mount];
    const struct topo_workload *w = &t->workloads[r->jobs[job].workload];
    const struct topo_datastore *d = &t->datastores[m->datastore];
    char text[256], source[64];
    unsigned connections = t->mounts[schedule_owner(t, r->jobs[job].mount)].nconnect;
    topo_addr_print(source, sizeof source, &t->ifaces[m->iface].addr, false);
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "name", job_name(r, job, text, sizeof text));
    if (r->jobs[job].partner >= 0 && r->jobs[job].reads)
        json_out_string(j, "to", job_name(r, (size_t)r->jobs[job].partner, text, sizeof text));
    if (r->jobs[job].partner >= 0 && r->jobs[job].writes)
        json_out_bool(j, "target", true);
    json_out_string(j, "server", t->vips[m->vip].text);
    json_out_count(j, "port", 2049);
    json_out_count(j, "mountport", 20048);
    json_out_string(j, "export", l->config.sink ? NAS_SINK : t->exports[d->export_].path);
    load_file(r, job, text, sizeof text);
    json_out_string(j, "file", text);
    json_out_count(j, "size", load_file_size(r, l->config.storage));
    json_out_bool(j, "fill", l->config.storage); /* a warm way, and a storage that hasn't begun knows nothing of it */
    json_out_string(j, "source", source);
    json_out_count(j, "nconnect", connections ? connections : 1);
    snprintf(text, sizeof text, "%llu", (unsigned long long)workload_seed(l->config.seed, source, d->name, w->name));
    json_out_string(j, "seed", text); /* all 64 bits, which a JSON number can't hold */
    if (w->vm_group >= 0)
        write_machine(j, &t->vm_groups[w->vm_group], l->config.scale);
    else
        write_workload(j, l, &r->jobs[job], m->host);
    json_out_end(j);
}

/* A descriptor of the document, to be read from its begin; or -errno. */
static int write_jobs(const struct load *l, const struct host *h)
{
    int fd = memfd_create("emu-jobs", 0);
    FILE *f = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
    struct json_out j;
    if (!f) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return -error;
    }
    json_out_init(&j, f);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-jobs/1");
    json_out_bool(&j, "hold", true);
    json_out_array(&j, "jobs", JSON_ON_LINES);
    for (size_t i = 0; i < h->n_jobs; i++)
        write_job(&j, l, h->jobs[i]);
    json_out_end(&j);
    json_out_end(&j);
    if (fclose(f) || lseek(fd, 0, SEEK_SET)) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
}

/* ---- processes ---- */

/* nfsbal beside the program that we are, else by PATH. */
static void find_nfsbal(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - sizeof "nfsbal");
    char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
    if (slash) {
        memcpy(slash + 1, "nfsbal", sizeof "nfsbal"); /* there is room: see readlink() */
        if (!access(path, X_OK))
            return;
    }
    snprintf(path, size, "nfsbal");
}

static void __attribute__((noreturn)) become_load(const struct load *l, int netns, int jobs, int in, int out)
{
    enum { SAFE = 10 };
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prefer_this_session(); /* and Ctrl-C doesn't reach it: we end it in order */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (setns(netns, CLONE_NEWNET)) {
        fprintf(stderr, "emu live: entering a host's namespace: %s\n", strerror(errno));
        _exit(126);
    }
    jobs = fcntl(jobs, F_DUPFD, SAFE);
    in = fcntl(in, F_DUPFD, SAFE);
    out = fcntl(out, F_DUPFD, SAFE);
    if (dup2(in, 0) != 0 || dup2(out, 1) != 1 || dup2(jobs, 3) != 3)
        _exit(126);
    close_range(4, ~0U, 0);
    /* Nobody reads what is written: after a VIP has moved, later writes to the same bytes need not wait. */
    execlp(l->program, "nfsbal", "load", "--congestion", "cubic", "--failback", "1ms", "--quarantine", "1ms", "--jobs",
           "/dev/fd/3", (char *)NULL);
    fprintf(stderr, "emu live: %s: %s\n", l->program, strerror(errno));
    _exit(127);
}

static int start_host(struct load *l, struct host *h, char *problem, size_t size)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, error = 0;
    const char *path = l->config.netns(l->config.context, h->box);
    int jobs = write_jobs(l, h), netns = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (jobs < 0 || netns < 0 || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
        error = jobs < 0 ? -jobs : errno;
    } else {
        h->pid = fork();
        if (h->pid == 0)
            become_load(l, netns, jobs, in[0], out[1]);
        error = h->pid < 0 ? errno : 0;
        h->pid = h->pid < 0 ? 0 : h->pid;
    }
    if (error)
        snprintf(problem, size, "%s: starting nfsbal load: %s", l->config.result->topo->boxes[h->box].name,
                 strerror(error));
    h->in = in[1];
    h->out = out[0];
    int theirs[] = {in[0], out[1], jobs, netns};
    for (size_t i = 0; i < sizeof theirs / sizeof theirs[0]; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    return -error;
}

static struct host *host_of(struct load *l, int box)
{
    for (size_t i = 0; i < l->n_hosts; i++)
        if (l->hosts[i].box == box)
            return &l->hosts[i];
    l->hosts[l->n_hosts] = (struct host){.load = l, .box = box, .in = -1, .out = -1};
    return &l->hosts[l->n_hosts++];
}

static bool deal_jobs(struct load *l)
{
    const struct result *r = l->config.result;
    l->hosts = calloc(r->topo->n_boxes + 1, sizeof *l->hosts);
    if (!l->hosts)
        return false;
    for (size_t i = 0; i < r->n_jobs; i++) {
        if (!load_plays(r, i))
            continue;
        struct host *h = host_of(l, r->topo->mounts[r->jobs[i].mount].host);
        if (!h->jobs && !(h->jobs = calloc(r->n_jobs, sizeof *h->jobs)))
            return false;
        h->jobs[h->n_jobs++] = i;
    }
    return true;
}

/* ---- what they say ---- */

static ps_t time_of(const struct json_in *value)
{
    double s;
    return json_in_number(value, &s) && s > 0 ? (ps_t)(s * (double)PS_PER_S) : 0;
}

static uint64_t count_of(const struct json_in *value)
{
    uint64_t n;
    return json_in_count(value, &n) ? n : 0;
}

static void pass_histogram(const struct load_events *e, size_t job, bool write, const struct json_in *pairs)
{
    for (size_t i = 0; i < json_in_size(pairs); i++) {
        const struct json_in *pair = json_in_element(pairs, i);
        uint64_t n = count_of(json_in_element(pair, 1));
        e->latency(e->context, job, write, time_of(json_in_element(pair, 0)),
                   n < UINT32_MAX ? (uint32_t)n : UINT32_MAX);
    }
}

/* At most `most` of them; how many. */
static size_t take_ports(const struct json_in *list, uint16_t *ports, size_t most)
{
    size_t n = json_in_size(list);
    n = n < most ? n : most;
    for (size_t i = 0; i < n; i++)
        ports[i] = (uint16_t)count_of(json_in_element(list, i));
    return n;
}

static ps_t time_or_none(const struct json_in *value, ps_t start)
{
    double s;
    return json_in_number(value, &s) && s >= 0 ? start + (ps_t)(s * (double)PS_PER_S) : -1;
}

static double real_of(const struct json_in *value)
{
    double x;
    return json_in_number(value, &x) ? x : 0;
}

static void pass_phases(const struct load_events *e, size_t job, ps_t start, const struct json_in *phases)
{
    for (size_t i = 0; i < json_in_size(phases); i++) {
        const struct json_in *j = json_in_element(phases, i);
        const struct load_phase p = {
            .phase = (unsigned)i,
            .entered = time_or_none(json_in_member(j, "entered"), start),
            .left = time_or_none(json_in_member(j, "left"), start),
            .operations = {count_of(json_in_member(j, "reads")), count_of(json_in_member(j, "writes"))},
            .bytes = {count_of(json_in_member(j, "read")), count_of(json_in_member(j, "written"))},
            .latency_sum = real_of(json_in_member(j, "latency_sum"))};
        e->phase(e->context, job, &p);
    }
}

static void pass_end(const struct load *l, const struct load_events *e, size_t job, const struct json_in *j)
{
    const struct json_in *latency = json_in_member(j, "histogram");
    const struct json_in *timeouts = json_in_member(j, "timeouts");
    uint64_t n;
    uint16_t ports[CONNECTIONS_MAX];
    const struct load_end end = {.seconds = time_of(json_in_member(j, "seconds")),
                                 .errors = count_of(json_in_member(j, "errors")),
                                 .tcp = {.retransmitted = count_of(json_in_member(j, "retransmitted")),
                                         .timeouts = json_in_count(timeouts, &n) ? (int64_t)n : -1},
                                 .ports = ports,
                                 .n_ports = take_ports(json_in_member(j, "sports"), ports, CONNECTIONS_MAX),
                                 .problem = json_in_text(json_in_member(j, "problem"))};
    const struct result *r = l->config.result;
    e->progress(e->context, job, r->topo->workloads[r->jobs[job].workload].start + end.seconds,
                count_of(json_in_member(j, "read")), count_of(json_in_member(j, "written")));
    pass_histogram(e, job, false, json_in_member(latency, "read"));
    pass_histogram(e, job, true, json_in_member(latency, "write"));
    pass_phases(e, job, r->topo->workloads[r->jobs[job].workload].start, json_in_member(j, "phases"));
    e->ended(e->context, job, &end);
}

/* Every second one line, and one at the end. */
static int take_line(struct host *h, const char *line, size_t length, const struct load_events *e, char *problem,
                     size_t size)
{
    const char *host = h->load->config.result->topo->boxes[h->box].name;
    char why[160];
    struct json_in *root = json_in_parse(line, length, why, sizeof why);
    if (!root) {
        snprintf(problem, size, "%s: nfsbal load: %s", host, why);
        return -EPROTO;
    }
    h->ready |= json_in_true(json_in_member(root, "ready"));
    const struct json_in *jobs = json_in_member(root, "jobs");
    ps_t at = time_of(json_in_member(root, "t"));
    h->summed |= json_in_true(json_in_member(root, "end"));
    int rc = 0;
    if (jobs && json_in_size(jobs) != h->n_jobs) {
        snprintf(problem, size, "%s: nfsbal load reports %zu jobs, it has %zu", host, json_in_size(jobs), h->n_jobs);
        rc = -EPROTO;
    }
    for (size_t i = 0; e && !rc && i < json_in_size(jobs); i++) {
        const struct json_in *j = json_in_element(jobs, i);
        if (h->summed)
            pass_end(h->load, e, h->jobs[i], j);
        else
            e->progress(e->context, h->jobs[i], at, count_of(json_in_member(j, "read")),
                        count_of(json_in_member(j, "written")));
    }
    json_in_free(root);
    return rc;
}

static int has_ended(struct host *h, char *problem, size_t size)
{
    const char *host = h->load->config.result->topo->boxes[h->box].name;
    int status = 0;
    close(h->out);
    h->out = -1;
    while (waitpid(h->pid, &status, 0) < 0 && errno == EINTR)
        continue;
    h->pid = 0;
    if (h->summed)
        return 0; /* failed jobs have said so themselves */
    if (WIFSIGNALED(status))
        snprintf(problem, size, "%s: nfsbal load was ended by signal %d", host, WTERMSIG(status));
    else
        snprintf(problem, size, "%s: nfsbal load ended with status %d", host, WEXITSTATUS(status));
    return -ECHILD;
}

static int read_host(struct host *h, const struct load_events *e, char *problem, size_t size)
{
    if (h->room - h->have < 65536) {
        char *more = h->room < LINE_MAX_BYTES ? realloc(h->buf, h->room + 262144) : NULL;
        if (!more) {
            snprintf(problem, size, "nfsbal load: a line of more than %zu bytes", h->room);
            return -ENOMEM;
        }
        h->buf = more;
        h->room += 262144;
    }
    ssize_t n = read(h->out, h->buf + h->have, h->room - h->have);
    if (n < 0)
        return errno == EINTR ? 0 : -errno;
    if (n == 0)
        return has_ended(h, problem, size);
    h->have += (size_t)n;
    char *line = h->buf, *end;
    int rc = 0;
    while (!rc && (end = memchr(line, '\n', h->have - (size_t)(line - h->buf)))) {
        rc = take_line(h, line, (size_t)(end - line), e, problem, size);
        line = end + 1;
    }
    h->have -= (size_t)(line - h->buf);
    memmove(h->buf, line, h->have);
    return rc;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int load_wait(struct load *l, int milliseconds, const struct load_events *e, char *problem, size_t size)
{
    struct pollfd *fds = calloc(l->n_hosts + 1, sizeof *fds);
    bool working = false;
    int rc = 0;
    if (!fds) {
        snprintf(problem, size, "%s", strerror(ENOMEM));
        return -ENOMEM;
    }
    for (size_t i = 0; i < l->n_hosts; i++) {
        fds[i] = (struct pollfd){.fd = l->hosts[i].out, .events = POLLIN};
        working |= l->hosts[i].out >= 0;
    }
    if (working && poll(fds, (nfds_t)l->n_hosts, milliseconds) > 0)
        for (size_t i = 0; i < l->n_hosts && !rc; i++)
            if (fds[i].fd >= 0 && fds[i].revents)
                rc = read_host(&l->hosts[i], e, problem, size);
    free(fds);
    working = false;
    for (size_t i = 0; i < l->n_hosts; i++)
        working |= l->hosts[i].out >= 0;
    return rc ? rc : working;
}

/* ---- life ---- */

static bool all_ready(const struct load *l)
{
    for (size_t i = 0; i < l->n_hosts; i++)
        if (!l->hosts[i].ready)
            return false;
    return true;
}

int load_new(struct load **out, const struct load_config *c, const volatile sig_atomic_t *interrupted, char *problem,
             size_t size)
{
    struct load *l = calloc(1, sizeof *l);
    int rc = 0;
    if (l)
        l->config = *c;
    if (!l || !deal_jobs(l)) {
        snprintf(problem, size, "%s", strerror(ENOMEM));
        rc = -ENOMEM;
    }
    if (!rc)
        find_nfsbal(l->program, sizeof l->program);
    for (size_t i = 0; !rc && i < l->n_hosts; i++)
        rc = start_host(l, &l->hosts[i], problem, size);
    int64_t until = now_ms() + READY_MS;
    while (!rc && !all_ready(l)) {
        rc = load_wait(l, 100, NULL, problem, size);
        if (rc == 0)
            snprintf(problem, size, "nfsbal load ended before it began");
        else if (rc > 0 && interrupted && *interrupted)
            snprintf(problem, size, "%s", strerror(EINTR));
        else if (rc > 0 && now_ms() > until)
            snprintf(problem, size, "nfsbal load isn't ready after %d s", READY_MS / 1000);
        else if (rc > 0) {
            rc = 0;
            continue;
        }
        rc = rc < 0 ? rc : rc == 0 ? -ECHILD : interrupted && *interrupted ? -EINTR : -ETIMEDOUT;
    }
    if (rc) {
        load_free(l);
        return rc;
    }
    *out = l;
    return 0;
}

void load_begin(struct load *l)
{
    for (size_t i = 0; i < l->n_hosts; i++)
        if (write(l->hosts[i].in, "\n", 1) < 0)
            continue; /* it has ended, which its other pipe tells */
}

void load_stop(struct load *l)
{
    for (size_t i = 0; i < l->n_hosts; i++)
        if (l->hosts[i].pid > 0)
            kill(l->hosts[i].pid, SIGTERM);
}

void load_free(struct load *l)
{
    if (!l)
        return;
    for (size_t i = 0; i < l->n_hosts; i++) {
        struct host *h = &l->hosts[i];
        if (h->in >= 0)
            close(h->in);
        if (h->out >= 0)
            close(h->out);
        if (h->pid > 0) {
            kill(h->pid, SIGKILL);
            while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR)
                continue;
        }
        free(h->buf);
        free(h->jobs);
    }
    free(l->hosts);
    free(l);
}
