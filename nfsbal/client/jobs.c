/* A job: mount -> find or make the file -> make it long enough -> fill -> (all jobs ready) -> run -> COMMIT -> check. Each
 * step ends in the callback of the one before; a step that fails ends the job, not the others. Filling and checking are
 * workloads as well, so one set of operations serves all three. */
#include "nfsbal/client/jobs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "emu/model/workload.h"
#include "nfsbal/client/stamp.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/client/machine.h"
#include "nfsbal/client/pool.h"
#include "nfsbal/client/stable.h"

enum {
    FILL_OUTSTANDING = 8,
    UNITS_OF_BLOCK = NFS3_IO_MAX / 4096,
    KEPT_MAX = 256 << 20, /* bytes of unstable data, per job */
    KEPT_COPY = 16 << 20, /* ... of a clone, whose data are real: memory that was never used is slow */
};

enum phase { MOUNTING, PREPARING, FILLING, READY, RUNNING, SYNCING, CHECKING, OVER };

struct job;

/* One operation under way. */
struct op {
    struct op *next; /* free ones */
    struct job *job;
    struct request request;
    struct workload_operation what;
    uint64_t done;
    unsigned phase; /* of a machine */
    int64_t started;
    struct buffer *buffer;
    uint32_t *floor; /* a number per unit, when verifying */
    uint32_t number; /* of a write, when verifying: growing over all phases */
};

struct job {
    struct jobs *load;
    struct job_config config;
    enum phase phase;
    struct paths *paths;
    struct stable *stable;
    struct stable_file *file;
    struct nfs3_fh fh;
    struct pool *pool;
    struct buffer *same;    /* what all writes write, when nobody looks */
    struct request request; /* of preparation */
    char component[NFS3_NAME_MAX + 1];
    const char *rest;              /* of the file's path */
    struct topo_workload workload; /* of the phase */
    struct workload_job machine;
    struct machine life; /* of a job that is one, while it runs */
    int64_t phase_start;
    struct loop_timer timer;
    struct loop_task pump;
    struct op *ops, *free_ops;
    struct op *copied, *last_copied; /* of a clone: read and not written yet, first come first served */
    struct job *to, *from;           /* its target; of that, the one that drives it */
    unsigned n_ops;
    struct stamps stamps;
    uint32_t writes; /* stamped */
    uint64_t read, written, operations, errors;
    int64_t first, last;             /* ns */
    struct stats_latency latency[2]; /* reads, writes */
    bool syncing;
    char problem[240];
};

struct jobs {
    struct loop *loop;
    struct jobs_events events;
    struct job *jobs;
    size_t n;
    bool ready, started, stopping, told;
    int64_t clock; /* when the common clock started */
    unsigned seconds;
    struct loop_timer second;
    struct loop_task over, say_ready;
};

static void pump(void *context);
static void phase_over(struct job *j);
static void fail_job(struct job *j);

static void say(struct job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct job *j, const char *format, ...)
{
    va_list args;

    if (*j->problem)
        return;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vsnprintf(j->problem, sizeof j->problem, format, args);
    va_end(args);
}

static void tell_over(void *context)
{
    struct jobs *load = context;

    loop_timer_stop(&load->second);
    if (!load->told)
        load->events.over(load->events.context);
    load->told = true;
}

static void tell_ready(void *context)
{
    struct jobs *load = context;

    load->events.ready(load->events.context);
}

static void a_second(void *context)
{
    struct jobs *load = context;
    int64_t next;

    load->seconds++;
    next = load->clock + (load->seconds + 1) * NS_PER_S - loop_clock();
    load->events.second(load->events.context, (double)load->seconds);
    loop_timer_start(load->loop, &load->second, next, a_second, load);
}

static void start_phase(struct job *j, enum phase phase, const struct topo_workload *w, uint64_t span)
{
    j->phase = phase;
    j->workload = *w;
    workload_init(&j->machine, &j->workload, j->config.seed, span);
    j->phase_start = loop_clock();
    loop_task_queue(j->load->loop, &j->pump, pump, j);
}

/* When no job prepares any more the clock starts; when none is left all is over. */
static void check_all(struct jobs *load)
{
    size_t ready = 0, over = 0;

    for (size_t i = 0; i < load->n; i++) {
        ready += load->jobs[i].phase == READY;
        over += load->jobs[i].phase == OVER;
    }
    if (over == load->n) {
        loop_task_queue(load->loop, &load->over, tell_over, load);
        return;
    }
    if (load->ready || ready + over < load->n)
        return;
    load->ready = true;
    if (load->events.ready)
        loop_task_queue(load->loop, &load->say_ready, tell_ready, load);
    else
        jobs_go(load);
}

void jobs_go(struct jobs *load)
{
    if (load->started)
        return;
    load->started = true;
    load->clock = loop_clock();
    loop_timer_start(load->loop, &load->second, NS_PER_S, a_second, load);
    for (size_t i = 0; i < load->n; i++) {
        struct job *j = &load->jobs[i];

        if (j->to && j->to->phase == OVER && j->phase == READY) {
            say(j, "its target can't be used");
            fail_job(j);
        } else if (j->phase == READY) {
            start_phase(j, RUNNING, &j->config.workload, j->config.size);
            j->phase_start = load->clock;
        }
    }
}

/* A clone has ended: so has its target, once what was written is stable. */
static void end_target(struct job *j)
{
    if (j->phase == RUNNING)
        phase_over(j);
    else if (j->phase != OVER && j->phase != SYNCING) {
        say(j, "there is nothing to be written");
        paths_forget(&j->request);
        fail_job(j);
    }
}

static void end_job(struct job *j)
{
    j->phase = OVER;
    if (j->to)
        end_target(j->to);
    loop_timer_stop(&j->timer);
    loop_task_cancel(&j->pump);
    check_all(j->load);
}

static void fail_job(struct job *j)
{
    j->errors++;
    end_job(j);
}

/* --- operations ---------------------------------------------------------------------------------------------------- */

static bool make_ops(struct job *j)
{
    unsigned n = j->config.workload.outstanding > FILL_OUTSTANDING ? j->config.workload.outstanding : FILL_OUTSTANDING;

    j->ops = calloc(n, sizeof *j->ops);
    if (!j->ops)
        return false;
    j->n_ops = n;
    for (unsigned i = 0; i < n; i++) {
        j->ops[i].job = j;
        j->ops[i].next = j->free_ops;
        j->free_ops = &j->ops[i];
        if (!j->config.verify)
            continue;
        j->ops[i].floor = calloc(UNITS_OF_BLOCK + 1, sizeof(uint32_t));
        if (!j->ops[i].floor)
            return false;
    }
    return true;
}

static void count_op(struct job *j, const struct op *op, bool good)
{
    int64_t now = loop_clock();

    if (j->phase == RUNNING) {
        j->operations++;
        j->last = now;
        if (!good)
            j->errors++;
        else if (op->what.write)
            j->written += op->what.bytes;
        else
            j->read += op->what.bytes;
        stats_latency_add(&j->latency[op->what.write], now - op->started);
    } else if (!good) {
        j->errors++;
    }
}

static bool lives(const struct job *j) { return j->config.machine && j->phase == RUNNING; }
static bool copies(const struct job *j) { return j->to && j->phase == RUNNING; }

/* A block of a clone has been read: it waits to be written. */
static void op_half(struct op *op)
{
    struct job *j = op->job;

    op->next = NULL;
    *(j->copied ? &j->last_copied->next : &j->copied) = op;
    j->last_copied = op;
    workload_have_read(&j->machine);
    loop_task_queue(j->load->loop, &j->pump, pump, j);
}

static void put_op(struct op *op)
{
    buffer_release(op->buffer);
    op->buffer = NULL;
    op->next = op->job->free_ops;
    op->job->free_ops = op;
}

static void op_over(struct op *op, bool good)
{
    struct job *j = op->job;

    count_op(copies(j) && op->what.write ? j->to : j, op, good);
    if (copies(j) && !op->what.write && good) {
        op_half(op);
        return;
    }
    put_op(op);
    if (lives(j))
        machine_done(&j->life, op->phase, &op->what, (double)(loop_clock() - op->started) / 1e9,
                     (loop_clock() - j->phase_start) * PS_PER_NS);
    else
        workload_done(&j->machine);
    loop_task_queue(j->load->loop, &j->pump, pump, j);
}

/* Whose file an operation writes. */
static struct job *op_writer(const struct op *op) { return copies(op->job) ? op->job->to : op->job; }

static void written(void *arg, int error, const struct nfs3_attr *attr)
{
    struct op *op = arg;
    struct job *j = op->job;

    (void)attr;
    if (error)
        say(op_writer(op), "write at %llu: %s", (unsigned long long)op->what.offset, strerror(error));
    else if (j->config.verify)
        stamps_answered(&j->stamps, op->what.offset, op->what.bytes, op->number);
    op_over(op, !error);
}

static void start_write(struct op *op)
{
    struct job *j = op->job;
    enum nfs3_stable how = j->workload.stable_given && j->workload.stable ? NFS3_FILE_SYNC : NFS3_UNSTABLE;

    if (j->config.verify) {
        op->number = ++j->writes;
        stamps_write(&j->stamps, op->what.offset, op->buffer->data, op->what.bytes, op->number);
    }
    if (stable_write(op_writer(op)->file, op->buffer, 0, op->what.offset, (uint32_t)op->what.bytes, how, written, op))
        written(op, ENOMEM, NULL);
}

static void read_more(struct op *op);

static void was_read(struct request *r, const struct nfs3_result *result)
{
    struct op *op = r->arg;
    struct job *j = op->job;
    uint64_t offset = op->what.offset + op->done;

    if (result->status != NFS3_SUCCESS) {
        say(j, "read at %llu: %s", (unsigned long long)offset,
            result->problem ? result->problem : nfs3_status_name(result->status));
        op_over(op, false);
        return;
    }
    if (op->buffer) /* it will be checked, or written */
        memcpy(op->buffer->data + op->done, result->data, result->count);
    op->done += result->count;
    if (op->done < op->what.bytes && !result->eof) {
        read_more(op);
        return;
    }
    if (op->done < op->what.bytes) {
        say(j, "read at %llu: the file ends %llu bytes behind it", (unsigned long long)offset,
            (unsigned long long)result->count);
        op_over(op, false);
        return;
    }
    op_over(op, !j->config.verify || !op->buffer ||
                    stamps_check(&j->stamps, op->what.offset, op->buffer->data, op->what.bytes, op->floor));
}

static void read_more(struct op *op)
{
    struct job *j = op->job;
    uint64_t left = op->what.bytes - op->done;
    uint32_t most = paths_root(j->paths)->read_max;

    op->request.call = (struct nfs3_call){.procedure = NFS3_READ,
                                          .fh = j->fh,
                                          .offset = op->what.offset + op->done,
                                          .count = left < most ? (uint32_t)left : most};
    op->request.done = was_read;
    op->request.arg = op;
    op->request.want = REQUEST_ANY_PATH;
    paths_submit(j->paths, &op->request);
}

static void start_read(struct op *op)
{
    struct job *j = op->job;

    op->done = 0;
    if (j->config.verify)
        stamps_floor(&j->stamps, op->what.offset, op->what.bytes, op->floor);
    read_more(op);
}

static void synced(void *arg, int error, const struct nfs3_attr *attr);

static void phase_over(struct job *j)
{
    static const struct topo_workload check = {
        .op = TOPO_READ, .sequential = true, .block = NFS3_IO_MAX, .outstanding = FILL_OUTSTANDING};

    switch (j->phase) {
    case FILLING:
    case RUNNING:
        if (!j->syncing && stable_sync(j->file, synced, j) == 0)
            j->syncing = true;
        else if (!j->syncing)
            fail_job(j);
        break;
    case SYNCING:
        if (j->config.verify && !j->load->stopping) {
            struct topo_workload w = check;

            w.bytes = j->config.size - j->config.size % j->stamps.unit;
            w.block = j->stamps.unit == 4096 ? NFS3_IO_MAX : j->workload.block;
            start_phase(j, CHECKING, &w, j->config.size);
            break;
        }
        end_job(j);
        break;
    case CHECKING:
        end_job(j);
        break;
    default:
        break;
    }
}

static void synced(void *arg, int error, const struct nfs3_attr *attr)
{
    struct job *j = arg;

    (void)attr;
    j->syncing = false;
    if (error) {
        say(j, "commit: %s", strerror(error));
        j->errors++;
    }
    if (j->phase == FILLING) {
        j->phase = READY;
        check_all(j->load);
        return;
    }
    j->last = loop_clock();
    j->phase = SYNCING;
    phase_over(j);
}

/* Buffers: a write's data, or a read's when it is checked or copied. */
static bool give_buffer(struct op *op)
{
    struct job *j = op->job;

    if (copies(j) && op->what.write)
        return true; /* what was read */
    if (j->config.verify || copies(j))
        op->buffer = pool_get(j->pool, op->what.bytes);
    else if (op->what.write)
        op->buffer = buffer_hold(j->same);
    return op->buffer || (!op->what.write && !j->config.verify && !j->to);
}

/* What was read and will not be written any more. */
static void drop_copied(struct job *j)
{
    for (struct op *op; (op = j->copied);) {
        j->copied = op->next;
        put_op(op);
        workload_done(&j->machine);
    }
}

/* Starts what may start now. */
static void pump(void *context)
{
    struct job *j = context;

    for (;;) {
        ps_t now = (loop_clock() - j->phase_start) * PS_PER_NS, until = 0;
        struct op *op = j->free_ops;
        struct job *writer;
        struct workload_operation what;
        enum workload_next next;
        unsigned phase = 0;

        if ((j->phase != FILLING && j->phase != RUNNING && j->phase != CHECKING) || (j->from && j->phase == RUNNING))
            return;
        if (j->load->stopping)
            drop_copied(j);
        if (j->load->stopping)
            next = WORKLOAD_OVER;
        else if (lives(j))
            next = machine_next(&j->life, now, &what, &phase, &until);
        else
            next = workload_next(&j->machine, now, &what, &until);
        if (next == WORKLOAD_BUSY)
            return;
        if (next == WORKLOAD_WAIT) {
            loop_timer_start(j->load->loop, &j->timer, (until - now) / PS_PER_NS, pump, j);
            return;
        }
        if (next == WORKLOAD_OVER) {
            if ((lives(j) ? j->life.vm.out : j->machine.out) == 0)
                phase_over(j);
            return;
        }
        if (copies(j) && what.write) {
            op = j->copied;
            j->copied = op->next;
            op->what.write = true; /* to where it was read */
        } else {
            j->free_ops = op->next;
            op->what = what;
            op->phase = phase;
        }
        op->started = loop_clock();
        writer = what.write && j->to ? j->to : j;
        if (writer->phase == RUNNING && !writer->first)
            writer->first = op->started;
        if (!give_buffer(op)) {
            say(j, "out of memory");
            op_over(op, false);
        } else if (what.write) {
            start_write(op);
        } else {
            start_read(op);
        }
    }
}

/* --- preparation --------------------------------------------------------------------------------------------------- */

static void look_up_next(struct job *j);

static void prepare(struct job *j, enum nfs3_procedure procedure, request_done *done)
{
    j->request.call.procedure = procedure;
    j->request.call.fh = j->fh;
    j->request.call.name = j->component;
    j->request.done = done;
    j->request.arg = j;
    j->request.want = REQUEST_ANY_PATH;
    paths_submit(j->paths, &j->request);
}

static void prepared_wrong(struct job *j, const struct nfs3_result *result)
{
    say(j, "%s %s: %s", nfs3_procedure_name(result->procedure), j->config.file,
        result->problem ? result->problem : nfs3_status_name(result->status));
    fail_job(j);
}

static void prepared(struct job *j)
{
    static const struct topo_workload fill = {
        .op = TOPO_WRITE, .sequential = true, .block = NFS3_IO_MAX, .outstanding = FILL_OUTSTANDING};
    struct topo_workload w = fill;

    j->file = stable_open(j->stable, &j->fh, NULL);
    if (!j->file) {
        say(j, "out of memory");
        fail_job(j);
        return;
    }
    if (!j->config.fill) {
        j->phase = READY;
        check_all(j->load);
        return;
    }
    w.bytes = j->config.size;
    start_phase(j, FILLING, &w, j->config.size);
}

static void sized(struct request *r, const struct nfs3_result *result)
{
    struct job *j = r->arg;

    if (result->status != NFS3_SUCCESS)
        prepared_wrong(j, result);
    else
        prepared(j);
}

static void found(struct job *j, const struct nfs3_fh *fh, const struct nfs3_attr *attr)
{
    j->fh = *fh;
    if (attr && attr->type == NFS3_REG && attr->size >= j->config.size) {
        prepared(j);
        return;
    }
    memset(&j->request, 0, sizeof j->request);
    j->request.call.attr.set_size = true;
    j->request.call.attr.size = j->config.size;
    prepare(j, NFS3_SETATTR, sized);
}

static void made(struct request *r, const struct nfs3_result *result)
{
    struct job *j = r->arg;

    if (result->status == NFS3_SUCCESS && result->fh)
        found(j, result->fh, result->attr);
    else
        prepared_wrong(j, result);
}

static void looked_up(struct request *r, const struct nfs3_result *result)
{
    struct job *j = r->arg;

    if (result->status == NFS3_ENOENT && !*j->rest) {
        memset(&j->request, 0, sizeof j->request);
        j->request.call.attr.set_mode = true;
        j->request.call.attr.mode = 0644;
        prepare(j, NFS3_CREATE, made);
    } else if (result->status != NFS3_SUCCESS) {
        prepared_wrong(j, result);
    } else if (*j->rest) {
        j->fh = *result->fh;
        look_up_next(j);
    } else if (result->attr && result->attr->type != NFS3_REG) {
        say(j, "%s: not a regular file", j->config.file);
        fail_job(j);
    } else {
        found(j, result->fh, result->attr);
    }
}

static void look_up_next(struct job *j)
{
    size_t n;

    while (*j->rest == '/')
        j->rest++;
    n = strcspn(j->rest, "/");
    if (n == 0 || n >= sizeof j->component) {
        say(j, "%s: no name of a file", j->config.file);
        fail_job(j);
        return;
    }
    memcpy(j->component, j->rest, n);
    j->component[n] = '\0';
    j->rest += n;
    memset(&j->request, 0, sizeof j->request);
    prepare(j, NFS3_LOOKUP, looked_up);
}

static void mounted(void *context, const char *problem)
{
    struct job *j = context;

    if (j->phase == OVER) /* stopped meanwhile */
        return;
    if (problem) {
        say(j, "%s", problem);
        fail_job(j);
        return;
    }
    j->phase = PREPARING;
    j->fh = paths_root(j->paths)->fh;
    j->rest = j->config.file;
    look_up_next(j);
}

static void report(void *context, const char *line)
{
    struct job *j = context;

    if (j->load->events.report)
        j->load->events.report(j->load->events.context, j->config.name, line);
}

static bool start_job(struct job *j)
{
    const struct job_config *c = &j->config;
    uint64_t run = 0;

    if (getrandom(&run, sizeof run, GRND_NONBLOCK) != (ssize_t)sizeof run)
        run = (uint64_t)loop_clock();
    j->config.paths.report = report;
    j->config.paths.report_context = j;
    j->pool = pool_new(KEPT_MAX + (uint64_t)64 * NFS3_IO_MAX + (uint64_t)c->workload.outstanding * NFS3_IO_MAX);
    j->same = j->pool ? pool_get(j->pool, NFS3_IO_MAX) : NULL;
    if (c->machine && !machine_init(&j->life, c->machine, c->seed, c->size))
        return false;
    if (!j->same || !make_ops(j) || (c->verify && !stamps_init(&j->stamps, run, c->size, c->workload.block)))
        return false;
    for (size_t i = 0; i < NFS3_IO_MAX; i++)
        j->same->data[i] = (uint8_t)(i * 167 + (i >> 8));
    j->paths = paths_new(j->load->loop, &j->config.paths, mounted, j);
    j->stable = j->paths ? stable_new(j->load->loop, j->paths, c->target ? KEPT_COPY : KEPT_MAX) : NULL;
    return j->stable != NULL;
}

struct jobs *jobs_new(struct loop *l, const struct job_config *jobs, size_t n, const struct jobs_events *events)
{
    struct jobs *load = calloc(1, sizeof *load);

    if (!load)
        return NULL;
    load->loop = l;
    load->events = *events;
    load->jobs = calloc(n ? n : 1, sizeof *load->jobs);
    load->n = load->jobs ? n : 0;
    for (size_t i = 0; i < load->n; i++) {
        load->jobs[i].load = load;
        load->jobs[i].config = jobs[i];
        if (jobs[i].to) {
            load->jobs[i].to = &load->jobs[jobs[i].to - 1];
            load->jobs[i].to->from = &load->jobs[i];
        }
    }
    for (size_t i = 0; i < load->n; i++)
        if (!start_job(&load->jobs[i])) {
            jobs_free(load);
            return NULL;
        }
    if (load->jobs)
        return load;
    jobs_free(load);
    return NULL;
}

static void close_job(struct job *j)
{
    loop_timer_stop(&j->timer);
    loop_task_cancel(&j->pump);
    for (unsigned i = 0; i < j->n_ops; i++)
        paths_forget(&j->ops[i].request);
    paths_forget(&j->request);
    stable_close(j->file);
    stable_free(j->stable);
    paths_free(j->paths);
}

/* Once all are closed: a clone's target keeps buffers of the other half. */
static void free_job(struct job *j)
{
    for (unsigned i = 0; i < j->n_ops; i++) {
        buffer_release(j->ops[i].buffer);
        free(j->ops[i].floor);
    }
    free(j->ops);
    buffer_release(j->same);
    pool_free(j->pool);
    stamps_free(&j->stamps);
    machine_free(&j->life);
}

void jobs_free(struct jobs *load)
{
    if (!load)
        return;
    loop_timer_stop(&load->second);
    loop_task_cancel(&load->over);
    loop_task_cancel(&load->say_ready);
    for (size_t i = 0; i < load->n; i++)
        close_job(&load->jobs[i]);
    for (size_t i = 0; i < load->n; i++)
        free_job(&load->jobs[i]);
    free(load->jobs);
    free(load);
}

void jobs_stop(struct jobs *load)
{
    bool again = load->stopping;

    load->stopping = true;
    for (size_t i = 0; i < load->n; i++) {
        struct job *j = &load->jobs[i];

        if (j->phase == OVER)
            continue;
        if (again || j->phase < FILLING || j->phase == READY) {
            say(j, "stopped");
            paths_forget(&j->request);
            fail_job(j);
        } else {
            loop_timer_stop(&j->timer);
            loop_task_queue(load->loop, &j->pump, pump, j);
        }
    }
}

size_t jobs_count(const struct jobs *load) { return load->n; }
const struct job_config *jobs_job(const struct jobs *load, size_t i) { return &load->jobs[i].config; }

void jobs_result(const struct jobs *load, size_t i, struct jobs_result *out)
{
    const struct job *j = &load->jobs[i];
    struct path_info info;

    *out = (struct jobs_result){
        .problem = *j->problem          ? j->problem
                   : *j->stamps.problem ? j->stamps.problem
                                        : NULL,
        .read = j->read,
        .written = j->written,
        .operations = j->operations,
        .errors = j->errors,
        .seconds = j->first ? (double)(j->last - j->first) / 1e9 : 0,
        .latency = {&j->latency[0], &j->latency[1]},
        .phases = j->life.phases,
        .paths = paths_root(j->paths) ? j->paths : NULL,
    };
    for (size_t k = 0; k < paths_count(j->paths); k++)
        if (paths_info(j->paths, k, &info)) {
            out->reconnects += info.reconnects;
            out->reissued += info.lost;
            tcp_counts_add(&out->tcp, info.tcp);
        }
}
