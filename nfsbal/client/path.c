/* Paths: first contact, death, return, and the choice among those that are up.
 *
 * First contact with a VIP is GETPORT (when no mount port was given) and MNT, each on a connection of its own, then GETATTR
 * of the root and FSINFO on the first NFS connection. Only then may requests use it: a VIP that names another root than the
 * first one, or answers for the root with another fsid or file id, is refused. A connection that is made again later asks
 * for the root's attributes once more, for the VIP may have moved meanwhile.
 *
 * A path is up while one of its connections is. When the last one goes it is dead; its connections are tried again with
 * growing pauses; once one is back it is RETURNING for `failback`, so that a flapping VIP does not take the traffic each
 * time, unless nothing else is up.
 */
#include "nfsbal/client/path.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/client/path_private.h"

enum {
    BACKOFF_FIRST_MS = 50,
    BACKOFF_LONGEST_MS = 2000,
    REFUSED_AGAIN_MS = 30000,
    PORTMAP_PORT = 111,
    NFS_PORT = 2049,
    MOUNT_PROGRAM = 100005,
    NFS_VERSION = 3,
};

void paths_report(struct paths *p, const char *format, ...)
{
    char line[400];
    va_list args;

    if (!p->config.report)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    p->config.report(p->config.report_context, line);
}

static void say(struct path *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct path *path, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(path->problem, sizeof path->problem, format, args);
    va_end(args);
}

static bool any_up(const struct paths *p)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (p->paths[i]->state == PATH_UP)
            return true;
    return false;
}

/* --- telling whether it is mounted --------------------------------------------------------------------------------- */

static void tell_ready(void *context)
{
    struct paths *p = context;

    p->ready(p->ready_context, *p->problem ? p->problem : NULL);
}

static void path_start(struct path *path);

/* After any first contact ended, well or not. The first path is asked alone: what it serves is what the others must. */
static void maybe_ready(struct paths *p)
{
    bool all_tried = true, all_refused = true;

    if (p->ready_told || !p->paths[0]->tried)
        return;
    if (!p->others_started) {
        p->others_started = true;
        for (size_t i = 1; i < p->n_paths; i++)
            if (p->paths[i]->state != PATH_DOWN)
                path_start(p->paths[i]);
    }
    for (size_t i = 0; i < p->n_paths; i++) {
        const struct path *path = p->paths[i];

        if (!path->name || path->state == PATH_DOWN)
            continue;
        all_tried &= path->tried;
        all_refused &= path->state == PATH_REFUSED;
    }
    if (!all_tried || !(any_up(p) || all_refused || p->config.soft))
        return;
    if (!any_up(p)) {
        const struct path *first = p->paths[0];

        for (size_t i = 0; i < p->n_paths; i++)
            if (p->paths[i]->name && *p->paths[i]->problem) {
                first = p->paths[i];
                break;
            }
        snprintf(p->problem, sizeof p->problem, "%s: %s", first->name ? first->name : "?",
                 *first->problem ? first->problem : "no path");
    }
    p->ready_told = true;
    loop_task_queue(p->loop, &p->tell_ready, tell_ready, p);
}

/* --- states -------------------------------------------------------------------------------------------------------- */

static void conn_start(struct path_conn *pc);

static void enter(struct path *path, enum path_state state)
{
    path->state = state;
    if (state == PATH_UP) {
        loop_timer_stop(&path->failback);
        requests_run(path->set);
    }
}

static void fail_back(void *context)
{
    struct path *path = context;

    if (path->state != PATH_RETURNING)
        return;
    enter(path, PATH_UP);
    paths_report(path->set, "%s: in use again", path->name);
}

/* When nothing is up, what has returned is used before its time. */
static void promote(struct paths *p)
{
    if (p->freeing || any_up(p))
        return;
    for (size_t i = 0; i < p->n_paths; i++)
        if (p->paths[i]->state == PATH_RETURNING) {
            fail_back(p->paths[i]);
            return;
        }
}

/* A connection of it has been verified. */
static void path_reached(struct path *path)
{
    struct paths *p = path->set;
    bool first = !path->tried || path->state == PATH_REFUSED;

    path->tried = true;
    if (path->state == PATH_UP || path->state == PATH_RETURNING) {
        requests_run(p);
        return;
    }
    if (path->state == PATH_DOWN)
        return;
    if (first || !any_up(p)) {
        if (!first)
            paths_report(p, "%s: in use again", path->name);
        enter(path, PATH_UP);
    } else {
        enter(path, PATH_RETURNING);
        paths_report(p, "%s: reachable again, in use in %lld s", path->name,
                     (long long)(p->config.failback_ms + 999) / 1000);
        loop_timer_start(p->loop, &path->failback, p->config.failback_ms * NS_PER_MS, fail_back, path);
    }
    maybe_ready(p);
}

/* Nothing of it is usable any more, or yet. */
static void path_lost(struct path *path)
{
    struct paths *p = path->set;
    bool was_in_use = path->state == PATH_UP;

    path->tried = true;
    if (path->state == PATH_DOWN || path->state == PATH_REFUSED)
        return;
    if (path->state != PATH_DEAD)
        paths_report(p, "%s: %s%s", path->name, *path->problem ? path->problem : "lost",
                     was_in_use ? "; its requests go elsewhere" : "");
    loop_timer_stop(&path->failback);
    path->state = PATH_DEAD;
    promote(p);
    maybe_ready(p);
}

static void conn_restart(void *context) { conn_start(context); }

static void close_conns(struct path *path, const char *why)
{
    for (unsigned i = 0; i < path->n_conns; i++) {
        struct path_conn *pc = &path->conns[i];

        loop_timer_stop(&pc->retry);
        pc->verified = false;
        if (pc->conn)
            conn_close(pc->conn, why);
    }
    if (path->helper)
        conn_close(path->helper, why);
}

static void path_restart(void *context)
{
    struct path *path = context;

    path_start(path);
}

/* It answers, but not with what it should. */
static void path_refuse(struct path *path)
{
    struct paths *p = path->set;

    path->tried = true;
    if (path->state != PATH_REFUSED)
        paths_report(p, "%s: refused: %s", path->name, path->problem);
    path->state = PATH_REFUSED;
    path->mounted = false;
    loop_timer_stop(&path->failback);
    close_conns(path, path->problem);
    loop_timer_start(p->loop, &path->mount_retry, REFUSED_AGAIN_MS * NS_PER_MS, path_restart, path);
    promote(p);
    maybe_ready(p);
}

/* --- connections --------------------------------------------------------------------------------------------------- */

static int64_t grow(int64_t *backoff)
{
    int64_t now = *backoff ? *backoff : BACKOFF_FIRST_MS;

    *backoff = now * 2 > BACKOFF_LONGEST_MS ? BACKOFF_LONGEST_MS : now * 2;
    return now;
}

static void conn_later(struct path_conn *pc)
{
    struct path *path = pc->path;

    if (path->set->freeing || !path->name || path->state == PATH_DOWN || path->state == PATH_REFUSED)
        return;
    loop_timer_start(path->set->loop, &pc->retry, grow(&pc->backoff_ms) * NS_PER_MS, conn_restart, pc);
}

/* Why a server may refuse, where it can be seen from here. */
static const char *hint(const struct conn *c, enum nfs3_status status)
{
    bool refuses = status == NFS3_REJECTED || status == NFS3_EACCES || status == NFS3_EPERM;

    return refuses && c && conn_source_port(c) > 1023
               ? " (it was asked from a port above 1023, which an export takes that says `insecure`)"
               : "";
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void got_fsinfo(void *arg, const struct nfs3_result *r)
{
    struct path_conn *pc = arg;
    struct path *path = pc->path;
    struct paths_root *root = &path->set->root;

    if (r->status != NFS3_SUCCESS) {
        if (r->status > 0 || r->status == NFS3_REJECTED) {
            say(path, "FSINFO: %s", nfs3_status_name(r->status));
            path_refuse(path);
        }
        return;
    }
    if (!root->read_max) {
        root->fsinfo = *r->fsinfo;
        root->read_max = root->write_max = NFS3_IO_MAX;
    }
    root->read_max = least(root->read_max, r->fsinfo->rtmax);
    root->write_max = least(root->write_max, r->fsinfo->wtmax);
    path->set->have_root = true;
    path->mounted = true;
    pc->verified = true;
    pc->backoff_ms = 0;
    path_reached(path);
}

/* The root as this server sees it, against the one we know. */
static void got_root(void *arg, const struct nfs3_result *r)
{
    struct path_conn *pc = arg;
    struct path *path = pc->path;
    struct paths *p = path->set;
    struct nfs3_call fsinfo = {.procedure = NFS3_FSINFO, .fh = p->root.fh};

    if (r->status != NFS3_SUCCESS) {
        if (r->status > 0 || r->status == NFS3_REJECTED) {
            say(path, "the root: %s%s", r->problem ? r->problem : nfs3_status_name(r->status),
                hint(pc->conn, r->status));
            path_refuse(path);
        }
        return;
    }
    if (!p->root.attr.type) {
        p->root.attr = *r->attr;
    } else if (r->attr->fsid != p->root.attr.fsid || r->attr->fileid != p->root.attr.fileid) {
        say(path, "serves another file system: fsid %llx, root %llu, not %llx, %llu", (unsigned long long)r->attr->fsid,
            (unsigned long long)r->attr->fileid, (unsigned long long)p->root.attr.fsid,
            (unsigned long long)p->root.attr.fileid);
        path_refuse(path);
        return;
    }
    if (conn_send(pc->conn, &fsinfo, got_fsinfo, pc))
        conn_close(pc->conn, "out of memory");
}

static void conn_is_up(struct path_conn *pc)
{
    struct nfs3_call getattr = {.procedure = NFS3_GETATTR, .fh = pc->path->set->root.fh};

    pc->path->ports[pc - pc->path->conns] = conn_source_port(pc->conn);
    if (conn_send(pc->conn, &getattr, got_root, pc))
        conn_close(pc->conn, "out of memory");
}

/* When one connection hangs the others to the same VIP probably do: until they answer for themselves, nothing is given to
 * them, so that requests don't lose their time once for each. */
static void doubt_others(struct path *path)
{
    for (unsigned i = 0; i < path->n_conns; i++) {
        struct path_conn *pc = &path->conns[i];

        if (path_conn_usable(pc)) {
            pc->verified = false;
            conn_is_up(pc);
        }
    }
}

static void conn_is_changed(void *context, struct conn *c, enum conn_state state)
{
    struct path_conn *pc = context;
    struct path *path = pc->path;

    if (state == CONN_UP) {
        conn_is_up(pc);
        return;
    }
    if (path->state != PATH_REFUSED && path->state != PATH_DOWN)
        say(path, "%s", conn_problem(c));
    if (pc->verified)
        path->reconnects++;
    path->epoch++;
    tcp_counts_add(&path->tcp, conn_tcp(c));
    pc->conn = NULL;
    pc->verified = false;
    path->ports[pc - path->conns] = 0;
    conn_later(pc);
    if (conn_stalled(c))
        doubt_others(path);
    if (path_n_usable(path) == 0)
        path_lost(path);
    requests_run(path->set);
}

static void config_of(const struct path *path, struct conn_config *k)
{
    const struct paths_config *c = &path->set->config;

    *k = (struct conn_config){
        .server = path->address,
        .source = c->source,
        .reserved = c->reserved,
        .bound_ms = c->bound_ms,
        .congestion = c->congestion,
        .send_buffer = c->send_buffer,
        .receive_buffer = c->receive_buffer,
        .credential = c->credential,
    };
}

static void port_into(union conn_address *a, uint16_t port)
{
    char text[64];

    conn_parse_address(conn_print_address(a, text, sizeof text), port, a);
}

static void conn_start(struct path_conn *pc)
{
    struct path *path = pc->path;
    struct conn_config k;
    char problem[160];

    if (pc->conn || path->state == PATH_DOWN || path->state == PATH_REFUSED)
        return;
    config_of(path, &k);
    k.source_port = pc->fixed_port;
    pc->conn = conn_open(path->set->loop, &k, conn_is_changed, pc, problem, sizeof problem);
    if (pc->conn)
        return;
    say(path, "%s", problem);
    conn_later(pc);
    if (path_n_usable(path) == 0)
        path_lost(path);
}

static void start_conns(struct path *path)
{
    for (unsigned i = 0; i < path->n_conns; i++)
        conn_start(&path->conns[i]);
}

/* --- MNT ----------------------------------------------------------------------------------------------------------- */

/* The helper has done its work: `next` comes when it is closed. */
static void helper_over(struct path *path, void (*next)(struct path *path))
{
    path->helper_next = next;
    conn_close(path->helper, "done");
}

/* No answer from the mount service: where the root is known from another VIP, that will do. */
static void mount_failed(struct path *path)
{
    struct paths *p = path->set;

    if (p->freeing || !path->name || path->state == PATH_DOWN)
        return;
    if (p->root.fh.size) {
        start_conns(path);
        return;
    }
    loop_timer_start(p->loop, &path->mount_retry, grow(&path->mount_backoff_ms) * NS_PER_MS, path_restart, path);
    path_lost(path);
}

static void got_mount(void *arg, const struct nfs3_result *r)
{
    struct path *path = arg;
    struct paths *p = path->set;
    void (*next)(struct path *) = path_refuse;

    if (r->status == NFS3_CONN_LOST) /* the end of the connection follows */
        return;
    if (r->status != NFS3_SUCCESS) {
        say(path, "mount %s: %s%s", p->config.export, r->problem ? r->problem : nfs3_status_name(r->status),
            hint(path->helper, r->status));
    } else if (!r->auth_sys) {
        say(path, "mount %s: the server does not take sec=sys", p->config.export);
    } else if (p->root.fh.size && !nfs3_fh_equal(&p->root.fh, r->fh)) {
        say(path, "%s has another root handle than on the other paths", p->config.export);
    } else {
        p->root.fh = *r->fh;
        next = start_conns;
    }
    helper_over(path, next);
}

static void helper_start(struct path *path);

static void got_port(void *arg, const struct nfs3_result *r)
{
    struct path *path = arg;

    if (r->status == NFS3_CONN_LOST)
        return;
    path->mount_port = r->status == NFS3_SUCCESS ? (uint16_t)r->count : 0;
    if (!path->mount_port)
        say(path, "the portmapper knows no mount service");
    helper_over(path, path->mount_port ? helper_start : mount_failed);
}

static void helper_changed(void *context, struct conn *c, enum conn_state state)
{
    struct path *path = context;
    void (*next)(struct path *) = path->helper_next ? path->helper_next : mount_failed;
    struct nfs3_call mnt = {.procedure = NFS3_MOUNT_MNT, .name = path->set->config.export};
    struct nfs3_call getport = {.procedure = NFS3_GETPORT, .count = MOUNT_PROGRAM, .max_count = NFS_VERSION};

    if (state == CONN_UP) {
        if (conn_send(c, path->mount_port ? &mnt : &getport, path->mount_port ? got_mount : got_port, path))
            conn_close(c, "out of memory");
        return;
    }
    if (!path->helper_next) {
        say(path, "%s: %s", path->mount_port ? "mount service" : "portmapper", conn_problem(c));
        path->mount_port = 0; /* it may have another after a restart */
    }
    path->helper = NULL;
    path->helper_next = NULL;
    next(path);
}

static void helper_start(struct path *path)
{
    struct conn_config k;
    char problem[160];

    config_of(path, &k);
    port_into(&k.server, path->mount_port ? path->mount_port : PORTMAP_PORT);
    path->helper = conn_open(path->set->loop, &k, helper_changed, path, problem, sizeof problem);
    if (path->helper)
        return;
    say(path, "%s", problem);
    mount_failed(path);
}

static void path_start(struct path *path)
{
    struct paths *p = path->set;

    if (path->helper)
        return;
    if (path->state == PATH_REFUSED)
        path->state = PATH_TRYING;
    if (path->mounted || p->config.root) {
        start_conns(path);
        return;
    }
    if (!path->mount_port)
        path->mount_port = p->config.mount_port;
    helper_start(path);
}

/* --- the set ------------------------------------------------------------------------------------------------------- */

/* Slow servers are said, once; soft requests end. */
static void tick(void *context)
{
    struct paths *p = context;
    int64_t interval = p->config.timeo_ms / 4 < 1000 ? p->config.timeo_ms / 4 : 1000;

    if (p->config.soft)
        requests_expire(p, loop_clock());
    for (size_t i = 0; i < p->n_paths; i++) {
        struct path *path = p->paths[i];
        int64_t silent = path_silent_ms(path);

        if (silent >= p->config.timeo_ms && !path->slow)
            paths_report(p, "%s: not responding for %lld s, still waiting", path->name, (long long)silent / 1000);
        else if (path->slow && silent < p->config.timeo_ms)
            paths_report(p, "%s: responding again", path->name);
        path->slow = silent >= p->config.timeo_ms;
    }
    loop_timer_start(p->loop, &p->tick, (interval > 20 ? interval : 20) * NS_PER_MS, tick, p);
}

static struct path *path_new(struct paths *p, const struct paths_server *server)
{
    struct path *path = calloc(1, sizeof *path);
    const struct paths_config *c = &p->config;

    if (!path)
        return NULL;
    path->set = p;
    path->index = p->n_paths;
    path->address = server->address;
    port_into(&path->address, c->port);
    path->weight = server->weight ? server->weight : 1;
    path->n_conns = c->nconnect + (c->spread == PATHS_SPREAD_STRIPE);
    path->name = strdup(server->name);
    path->conns = calloc(path->n_conns, sizeof *path->conns);
    path->ports = calloc(path->n_conns, sizeof *path->ports);
    if (!path->name || !path->conns || !path->ports) {
        free(path->name);
        free(path->conns);
        free(path->ports);
        free(path);
        return NULL;
    }
    for (unsigned i = 0; i < path->n_conns; i++) {
        size_t k = path->index * c->nconnect + i;

        path->conns[i].path = path;
        path->conns[i].meta = i == c->nconnect;
        if (i < c->nconnect && k < c->n_source_ports)
            path->conns[i].fixed_port = c->source_ports[k];
    }
    return path;
}

static bool push_path(struct paths *p, const struct paths_server *server)
{
    struct path **grown = realloc(p->paths, (p->n_paths + 1) * sizeof(struct path *));
    struct path *path;

    if (!grown)
        return false;
    p->paths = grown;
    path = path_new(p, server);
    if (!path)
        return false;
    p->paths[p->n_paths++] = path;
    return true;
}

static bool copy_config(struct paths *p, const struct paths_config *config)
{
    struct paths_config *c = &p->config;
    uint16_t *ports = NULL;

    *c = *config;
    c->servers = NULL;
    c->source_ports = NULL;
    c->export = strdup(config->export);
    c->congestion = config->congestion ? strdup(config->congestion) : NULL;
    if (config->n_source_ports) {
        ports = malloc(config->n_source_ports * sizeof *ports);
        if (ports)
            memcpy(ports, config->source_ports, config->n_source_ports * sizeof *ports);
        c->source_ports = ports;
    }
    c->port = c->port ? c->port : NFS_PORT;
    c->nconnect = c->nconnect ? c->nconnect : 1;
    c->bound_ms = c->bound_ms ? c->bound_ms : CONN_BOUND_MS;
    c->failback_ms = c->failback_ms ? c->failback_ms : 30000;
    c->quarantine_ms = c->quarantine_ms ? c->quarantine_ms : 30000;
    c->timeo_ms = c->timeo_ms ? c->timeo_ms : 60000;
    c->retrans = c->retrans ? c->retrans : 2;
    if (config->root)
        p->root.fh = *config->root;
    return c->export && (!config->congestion || c->congestion) && (!config->n_source_ports || ports);
}

struct paths *paths_new(struct loop *l, const struct paths_config *config, paths_ready *ready, void *context)
{
    struct paths *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->loop = l;
    p->ready = ready;
    p->ready_context = context;
    requests_init(p);
    if (!copy_config(p, config))
        goto fail;
    for (size_t i = 0; i < config->n_servers; i++)
        if (!push_path(p, &config->servers[i]))
            goto fail;
    if (p->n_paths)
        path_start(p->paths[0]);
    tick(p);
    return p;
fail:
    paths_free(p);
    return NULL;
}

static void path_close(struct path *path)
{
    loop_timer_stop(&path->failback);
    loop_timer_stop(&path->mount_retry);
    conn_free(path->helper);
    path->helper = NULL;
    for (unsigned i = 0; i < path->n_conns; i++) {
        struct conn *c = path->conns[i].conn;

        loop_timer_stop(&path->conns[i].retry);
        path->conns[i].conn = NULL;
        conn_free(c);
    }
}

void paths_free(struct paths *p)
{
    if (!p)
        return;
    p->freeing = true;
    loop_timer_stop(&p->tick);
    loop_task_cancel(&p->tell_ready);
    requests_cancel(p);
    for (size_t i = 0; i < p->n_paths; i++)
        path_close(p->paths[i]);
    requests_free(p);
    for (size_t i = 0; i < p->n_paths; i++) {
        free(p->paths[i]->name);
        free(p->paths[i]->conns);
        free(p->paths[i]->ports);
        free(p->paths[i]);
    }
    free(p->paths);
    free((void *)(uintptr_t)p->config.export);
    free((void *)(uintptr_t)p->config.congestion);
    free((void *)(uintptr_t)p->config.source_ports);
    free(p);
}

/* --- changes while in use ------------------------------------------------------------------------------------------ */

static struct path *find(const struct paths *p, const char *name)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (p->paths[i]->name && strcmp(p->paths[i]->name, name) == 0)
            return p->paths[i];
    return NULL;
}

static struct path *find_removed(const struct paths *p, const union conn_address *address)
{
    for (size_t i = 0; i < p->n_paths; i++)
        if (!p->paths[i]->name && conn_same_address(&p->paths[i]->address, address))
            return p->paths[i];
    return NULL;
}

int paths_add(struct paths *p, const struct paths_server *server)
{
    struct path *removed = find_removed(p, &server->address);

    if (find(p, server->name))
        return -EEXIST;
    if (removed) { /* names that come and go shall not make the list longer each time */
        removed->name = strdup(server->name);
        return removed->name ? paths_set_down(p, server->name, false) : -ENOMEM;
    }
    if (!push_path(p, server))
        return -ENOMEM;
    path_start(p->paths[p->n_paths - 1]);
    return 0;
}

int paths_set_down(struct paths *p, const char *name, bool down)
{
    struct path *path = find(p, name);

    if (!path)
        return -ENOENT;
    if (down == (path->state == PATH_DOWN))
        return 0;
    if (down) {
        path->state = PATH_DOWN;
        loop_timer_stop(&path->failback);
        loop_timer_stop(&path->mount_retry);
        close_conns(path, "taken down");
        paths_report(p, "%s: taken down", path->name);
        promote(p);
    } else {
        path->state = PATH_TRYING;
        path->tried = false; /* used at once: somebody said so */
        path_start(path);
    }
    return 0;
}

int paths_remove(struct paths *p, const char *name)
{
    struct path *path = find(p, name);
    int rc = paths_set_down(p, name, true);

    if (rc == 0) {
        free(path->name);
        path->name = NULL;
    }
    return rc;
}
