/* A lab's own process. */
#define _GNU_SOURCE /* SCHED_RESET_ON_FORK */
#include "emu/live/up_internal.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/fabric/eventq.h"
#include "emu/model/topology.h"
#include "emu/report/json.h"

#define UNFETCHED_EVERY (PS_PER_S / 2)

struct up_event {
    struct event event;
    struct up_lab *lab;
    const struct topo_event *what;
};

static void say(struct up_lab *u, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct up_lab *u, const char *format, ...) /* into the log */
{
    double now = u->datapath ? (double)datapath_lateness(u->datapath)->running / (double)PS_PER_S : 0;
    va_list args;

    fprintf(stderr, "%.3f s: ", now);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- changes ---- */

/* An event as the lab sees it: the fabric, and the addresses in the namespaces. */
static int apply(struct up_lab *u, const struct topo_event *e, ps_t now)
{
    struct fabric *f = datapath_fabric(u->datapath);
    int rc = 0, from = e->vip >= 0 ? fabric_vip_box(f, e->vip) : -1;

    /* The address is there before the network says so, so that nothing is refused in between. */
    if (e->what == TOPO_EV_VIP_MOVE)
        rc = up_move_address(u, e->vip, from, e->box);
    if (e->what == TOPO_EV_VIP_STATE && !e->up)
        rc = up_move_address(u, e->vip, from, -1);
    fabric_apply(f, e, now);
    if (e->what == TOPO_EV_VIP_STATE && e->up)
        rc = up_move_address(u, e->vip, -1, fabric_vip_box(f, e->vip));
    if (e->what == TOPO_EV_BOX_STATE) { /* without power nothing is sent any more: no FIN, no RST */
        rc = e->up ? 0 : up_end_connections(u, e->box);
        nas_power(u->nas, e->box, e->up);
    }
    return rc;
}

static void event_of_file(struct event *e, ps_t now)
{
    struct up_event *w = (struct up_event *)(void *)((char *)e - offsetof(struct up_event, event));
    int rc = apply(w->lab, w->what, now);

    if (rc < 0)
        say(w->lab, "an event at line %d of the file: %s", w->what->mark.line, strerror(-rc));
}

/* The file's events happen at their times, counted from now. */
static void schedule_events(struct up_lab *u)
{
    const struct topo *t = u->topo;

    for (size_t i = 0; i < t->n_events; i++) {
        u->events[i] = (struct up_event){.event.run = event_of_file, .lab = u, .what = &t->events[i]};
        eventq_set(datapath_queue(u->datapath), &u->events[i].event, t->events[i].at + datapath_clock(u->datapath));
    }
}

/* ---- what can be asked ---- */

static ps_t now_for_commands(void *context)
{
    struct up_lab *u = context;

    return datapath_now(u->datapath);
}

static bool apply_for_commands(void *context, const struct topo_event *e, char *problem, size_t size)
{
    struct up_lab *u = context;
    int rc = apply(u, e, datapath_now(u->datapath));

    if (rc < 0)
        snprintf(problem, size, "addresses in the namespaces: %s", strerror(-rc));
    return rc == 0;
}

/* Not asked of the kernel more than once a second: 64 devices take it a millisecond, in which frames wait. */
static uint64_t unfetched(struct up_lab *u)
{
    ps_t now = datapath_clock(u->datapath);

    if (now - u->asked >= UNFETCHED_EVERY || !u->asked) {
        u->unfetched = up_unfetched(u);
        u->asked = datapath_clock(u->datapath);
    }
    return u->unfetched;
}

static void put_lateness(struct up_lab *u, struct json_out *j)
{
    const struct lateness *l = datapath_lateness(u->datapath);
    struct datapath_counters c;

    datapath_counters(u->datapath, &c);
    json_out_count(j, "frames", l->total);
    json_out_real(j, "late_p50", (double)lateness_quantile(l, 0.5) / (double)PS_PER_S);
    json_out_real(j, "late_p99", (double)lateness_quantile(l, 0.99) / (double)PS_PER_S);
    json_out_real(j, "late_p999", (double)lateness_quantile(l, 0.999) / (double)PS_PER_S);
    json_out_real(j, "late_max", (double)l->most / (double)PS_PER_S);
    json_out_real(j, "behind", lateness_share_behind(l));
    json_out_bool(j, "kept_up", lateness_share_behind(l) <= LATENESS_LIMIT);
    json_out_real(j, "running", (double)l->running / (double)PS_PER_S);
    json_out_count(j, "received", c.received);
    json_out_count(j, "sent", c.sent);
    json_out_count(j, "malformed", c.malformed);
    json_out_count(j, "foreign", c.foreign);
    json_out_count(j, "write_errors", c.write_errors);
    json_out_count(j, "unfetched", unfetched(u));
    json_out_real(j, "short", l->running > 0 ? (double)u->shortage.time / (double)l->running : 0);
}

static void put_status(void *context, struct json_out *j)
{
    struct up_lab *u = context;

    json_out_object(j, "lateness", JSON_ON_ONE_LINE);
    put_lateness(u, j);
    json_out_end(j);
}

static bool answer(void *context, struct control_call *call)
{
    struct up_lab *u = context;

    if (strcmp(call->what, "lateness") == 0) {
        datapath_now(u->datapath);
        put_lateness(u, call->reply);
        return true;
    }
    if (strcmp(call->what, "begin") == 0) {
        datapath_now(u->datapath);
        if (u->begun) {
            snprintf(call->problem, sizeof call->problem, "the file's events have begun already");
            return false;
        }
        u->begun = true;
        schedule_events(u);
        nas_begin(u->nas);
        return true;
    }
    return commands_handle(u->commands, call);
}

static void watched(void *context, int linkdir, const struct train *t, ps_t start)
{
    struct up_lab *u = context;

    commands_tap(u->commands, linkdir, t, start);
}

/* ---- running ---- */

static void end(struct ev_loop *loop, ev_signal *w, int events)
{
    (void)w;
    (void)events;
    ev_break(loop, EVBREAK_ALL);
}

static void each_second(struct ev_loop *loop, ev_timer *w, int events)
{
    struct up_lab *u = w->data;
    const struct lateness *l = datapath_lateness(u->datapath);
    double share = (double)(l->behind - u->behind_before) / (double)PS_PER_S;

    (void)loop;
    (void)events;
    if (share > LATENESS_LIMIT && !u->behind_said)
        say(u, "the machine can't keep up: %.1f %% of the last second behind", 100 * share);
    u->behind_said = share > LATENESS_LIMIT;
    u->behind_before = l->behind;
}

static void look(struct ev_loop *loop, ev_timer *w, int events)
{
    struct up_lab *u = w->data;

    (void)loop;
    (void)events;
    shortage_look(&u->shortage, u->topo, datapath_fabric(u->datapath), datapath_now(u->datapath));
}

/* A controller whose server has ended loses its VIPs to its partner, if the file names one. */
static void take_over(struct up_lab *u, int box)
{
    const struct topo *t = u->topo;
    int partner = t->boxes[box].takeover;

    for (int v = 0; partner >= 0 && v < (int)t->n_vips; v++) {
        const struct topo_event e = {.what = TOPO_EV_VIP_MOVE, .vip = v, .box = partner, .garp = true};

        if (fabric_vip_box(datapath_fabric(u->datapath), v) != box)
            continue;
        int rc = apply(u, &e, datapath_now(u->datapath));
        say(u, "%s goes to %s%s%s", t->vips[v].text, t->boxes[partner].name, rc < 0 ? ": " : "",
            rc < 0 ? strerror(-rc) : "");
    }
}

static void server_ended(void *context, int box, const char *problem)
{
    struct up_lab *u = context;

    say(u, "%s", problem);
    take_over(u, box);
}

static int start_servers(struct up_lab *u, char *problem, size_t size)
{
    char *own = NULL;
    struct nas_config c = {.topo = u->topo,
                           .lab = u->lab,
                           .exports = u->options->exports,
                           .storage = u->options->storage,
                           .rate = u->options->scale,
                           .seed = u->options->seed,
                           .files = u->options->files,
                           .n_files = u->options->n_files,
                           .loop = u->loop,
                           .ended = server_ended,
                           .context = u};
    int rc;

    if (u->options->no_nas)
        return 0;
    if (!c.exports) {
        own = lab_path(u->lab, "export");
        rc = own ? lab_make_export(u->lab) : -ENOMEM;
        if (rc < 0) {
            snprintf(problem, size, "%s/export: %s", u->lab->folder, strerror(-rc));
            free(own);
            return rc;
        }
        c.exports = own;
    }
    rc = nas_start(&u->nas, &c, problem, size);
    free(own);
    if (rc == 0 && (rc = lab_write(u->lab)) < 0)
        snprintf(problem, size, "%s/lab.json: %s", u->lab->folder, strerror(-rc));
    return rc;
}

static int start_control(struct up_lab *u, char *problem, size_t size)
{
    const struct commands_lab c = {
        .name = u->lab->name,
        .topo = u->topo,
        .fabric = datapath_fabric(u->datapath),
        .pool = datapath_trains(u->datapath),
        .loop = u->loop,
        .scale = u->options->scale,
        .now = now_for_commands,
        .apply = apply_for_commands,
        .frame = datapath_frame,
        .status = put_status,
        .context = u,
    };
    char *path = lab_path(u->lab, "control");
    int rc = -ENOMEM;

    u->commands = commands_new(&c);
    if (path && u->commands)
        rc = control_server_new(&u->control, u->loop, path, answer, u);
    if (rc < 0)
        snprintf(problem, size, "%s: %s", path ? path : "control", strerror(-rc));
    free(path);
    if (rc == 0) {
        u->watch = (struct datapath_watch){.train = watched, .context = u};
        datapath_watch(u->datapath, &u->watch);
    }
    return rc;
}

static int start(struct up_lab *u, char *problem, size_t size)
{
    const struct datapath_config config = {.topo = u->topo, .seed = u->options->seed};
    struct datapath_config c = config;
    int rc;

    snprintf(problem, size, "out of memory");
    if (!u->lab->rootless && (rc = netns_folder()) < 0) {
        snprintf(problem, size, "%s: %s", NETNS_FOLDER, strerror(-rc));
        return rc;
    }
    u->lab->pid = getpid();
    u->lab->start = lab_process_start(u->lab->pid);
    rc = lab_write(u->lab);
    if (rc < 0) {
        snprintf(problem, size, "%s/lab.json: %s", u->lab->folder, strerror(-rc));
        return rc;
    }
    u->loop = c.loop = ev_loop_new(EVBACKEND_EPOLL | EVFLAG_NOENV);
    u->datapath = u->loop ? datapath_new(&c) : NULL;
    u->spaces = calloc(u->topo->n_boxes + 1, sizeof(*u->spaces));
    if (!u->datapath || !u->spaces)
        return -ENOMEM;
    rc = up_nodes(u, problem, size);
    if (rc == 0)
        rc = start_control(u, problem, size);
    if (rc == 0)
        rc = start_servers(u, problem, size);
    u->events = calloc(u->topo->n_events + 1, sizeof *u->events);
    if (!shortage_init(&u->shortage, u->topo) || (rc == 0 && !u->events))
        rc = rc < 0 ? rc : -ENOMEM;
    u->begun = !u->options->no_events;
    if (rc == 0 && u->begun)
        schedule_events(u);
    if (rc == 0 && !u->options->storage_waits)
        nas_begin(u->nas);
    return rc;
}

static void stop(struct up_lab *u)
{
    if (u->watch.train)
        datapath_unwatch(u->datapath, &u->watch);
    commands_free(u->commands); /* ends the captures, while their connections are there */
    control_server_free(u->control);
    nas_stop(u->nas);
    lab_end_processes(u->lab);
    datapath_free(u->datapath);
    u->datapath = NULL; /* what is said from here on has no time */
    for (size_t b = 0; u->spaces && b < u->topo->n_boxes; b++)
        netns_close(u->spaces[b]);
    free(u->spaces);
    shortage_free(&u->shortage);
    free(u->events);
    if (u->loop)
        ev_loop_destroy(u->loop);
}

/* Whether whoever waits for us has heard it. */
static bool tell(struct up_lab *u, const char *text)
{
    ssize_t n = write(u->ready, text, strlen(text));

    close(u->ready);
    u->ready = -1;
    return n == (ssize_t)strlen(text);
}

/* A frame's time does not wait for the compiler next door. Where it may not be asked for it goes without. */
static void first_in_line(void)
{
    const struct sched_param p = {.sched_priority = 1};

    (void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &p);
}

int up_run(struct up_lab *u)
{
    char problem[1024];
    int rc = start(u, problem, sizeof problem);

    if (rc == 0) {
        first_in_line();
        ev_signal_init(&u->terminate, end, SIGTERM);
        ev_signal_start(u->loop, &u->terminate);
        ev_timer_init(&u->second, each_second, 1, 1);
        ev_timer_init(&u->look, look, SHORTAGE_EVERY, SHORTAGE_EVERY);
        u->second.data = u->look.data = u;
        datapath_start(u->datapath);
        ev_timer_start(u->loop, &u->second);
        ev_timer_start(u->loop, &u->look);
        if (tell(u, "ready\n")) /* else nobody waits any more: the start was interrupted */
            ev_run(u->loop, 0);
    }
    stop(u);
    if (rc < 0) {
        char also[512];

        say(u, "%s", problem);
        if (lab_remove(u->lab, also, sizeof also) < 0)
            say(u, "%s", also);
        tell(u, problem);
        return 1;
    }
    if (lab_remove(u->lab, problem, sizeof problem) < 0) {
        say(u, "%s", problem);
        return 1;
    }
    return 0;
}
