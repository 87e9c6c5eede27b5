#include "nfsbal/client/mount.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfsbal/client/control.h"
#include "nfsbal/client/fuse.h"
#include "nfsbal/client/mount_private.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/pool.h"
#include "nfsbal/client/server_name.h"
#include "nfsbal/client/stable.h"

enum {
    DIRTY_DEFAULT = 96 << 20, /* bytes of unwritten data in memory, of all mounts of a process */
    PATIENCE_S = 20,          /* after SIGTERM: programs that hold files open */
};

void mount_report(void *context, const char *line)
{
    struct mount *m = context;
    char text[700];

    if (m->all->n > 1) {
        snprintf(text, sizeof text, "%s: %s", m->target, line);
        line = text;
    }
    if (m->all->report)
        m->all->report(line);
}

/* Contacting the servers. */

static void servers_ready(void *context, const char *problem)
{
    struct mount *m = context;

    m->ready = true;
    if (problem)
        snprintf(m->problem, sizeof m->problem, "%s", problem);
    if (++m->all->n_ready == m->all->n || problem)
        loop_stop(m->all->loop);
}

/* Whether this user may have ports below 1024 at all; one that is taken is no answer. */
static bool may_reserve(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(1023)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), rc;

    if (fd < 0)
        return true;
    rc = bind(fd, (struct sockaddr *)&a, sizeof a);
    rc = rc && errno == EACCES;
    close(fd);
    return !rc;
}

static int64_t or_zero(int64_t value) { return value < 0 ? 0 : value; }

static bool contact(struct mount *m, char *problem, size_t size)
{
    static const enum paths_spread spreads[] = {[MOUNT_SPREAD_MOUNT] = PATHS_SPREAD_MOUNT,
                                                [MOUNT_SPREAD_FILE] = PATHS_SPREAD_FILE,
                                                [MOUNT_SPREAD_STRIPE] = PATHS_SPREAD_STRIPE};
    static const enum paths_choice choices[] = {[MOUNT_CHOICE_ROUND_ROBIN] = PATHS_ROUND_ROBIN,
                                                [MOUNT_CHOICE_LEAST_BYTES] = PATHS_LEAST_BYTES,
                                                [MOUNT_CHOICE_WEIGHTED] = PATHS_WEIGHTED};
    const struct mount_options *o = &m->options;
    const struct server_names *names = &m->names;
    struct paths_server *servers;
    struct paths_config config = {.export = m->export,
                                  .port = (uint16_t)o->port,
                                  .mount_port = (uint16_t)o->mount_port,
                                  .source_ports = o->source_ports,
                                  .n_source_ports = o->n_source_ports,
                                  .reserved = o->reserved,
                                  .nconnect = (unsigned)o->nconnect,
                                  .spread = spreads[o->spread],
                                  .choice = choices[o->choice],
                                  .congestion = *o->congestion ? o->congestion : NULL,
                                  .bound_ms = or_zero(o->bound),
                                  .failback_ms = or_zero(o->failback),
                                  .quarantine_ms = or_zero(o->quarantine),
                                  .soft = o->soft,
                                  .timeo_ms = or_zero(o->timeo),
                                  .retrans = (unsigned)or_zero(o->retrans),
                                  .report = mount_report,
                                  .report_context = m};

    if (*o->source && !conn_parse_address(o->source, 0, &config.source)) {
        snprintf(problem, size, "-o srcaddr=%s: expected an address", o->source);
        return false;
    }
    if (o->reserved && !may_reserve()) {
        snprintf(problem, size,
                 "-o resvport: this user may not use ports below 1024; it takes root or CAP_NET_BIND_SERVICE");
        return false;
    }
    servers = calloc(names->n, sizeof *servers);
    for (size_t i = 0; servers && i < names->n; i++)
        servers[i] = (struct paths_server){.name = names->items[i].name, .address = names->items[i].address};
    config.servers = servers;
    config.n_servers = names->n;
    if (m->ports) {
        config.source_ports = m->ports;
        config.n_source_ports = names->n * (o->nconnect > 0 ? (size_t)o->nconnect : 1);
    }
    if (servers)
        m->paths = paths_new(m->all->loop, &config, servers_ready, m);
    free(servers);
    if (m->paths && mount_servers_watch(m))
        return true;
    snprintf(problem, size, "no memory");
    return false;
}

/* Control. */

static bool change_path(struct mount *m, const char *verb, const char *name, char *problem, size_t size)
{
    struct server_names names = {.n = 0};
    int rc = -EINVAL;

    if (strcmp(verb, "add") == 0) {
        if (!server_names_resolve(name, &names, problem, size))
            return false;
        rc = 0;
        for (size_t i = 0; rc == 0 && i < names.n; i++) {
            const struct paths_server s = {.name = names.items[i].name, .address = names.items[i].address};

            rc = paths_add(m->paths, &s);
        }
        server_names_free(&names);
    } else if (strcmp(verb, "remove") == 0) {
        rc = paths_remove(m->paths, name);
    } else if (strcmp(verb, "down") == 0 || strcmp(verb, "up") == 0) {
        rc = paths_set_down(m->paths, name, *verb == 'd');
    }
    if (rc == 0)
        return true;
    snprintf(problem, size, "%s: %s", name,
             rc == -ENOENT   ? "no such VIP in this mount"
             : rc == -EEXIST ? "it is one of this mount's already"
                             : strerror(-rc));
    return false;
}

static bool handle(void *context, char *request, FILE *out, char *problem, size_t size)
{
    struct mount *m = context;
    char *save, *verb = strtok_r(request, " ", &save), *a = strtok_r(NULL, " ", &save), *b = strtok_r(NULL, " ", &save);

    if (verb && a && strcmp(verb, "stat") == 0 && mount_status(m, a, out))
        return true;
    if (verb && a && b && strcmp(verb, "vip") == 0)
        return change_path(m, a, b, problem, size);
    if (verb && strcmp(verb, "umount") == 0) {
        fs_unmount(m->fs, a && strcmp(a, "force") == 0);
        return true;
    }
    snprintf(problem, size, "not understood");
    return false;
}

/* The file system. */

static void over(void *context)
{
    struct mount *m = context;
    struct fs_stats stats;

    fs_get_stats(m->fs, &stats);
    m->all->lost |= stats.dropped_bytes > 0;
    control_close(m->control);
    fs_free(m->fs);
    m->control = NULL;
    m->fs = NULL;
    if (++m->all->n_ended == m->all->n)
        loop_stop(m->all->loop);
}

static void ended(void *context)
{
    struct mount *m = context;

    loop_task_queue(m->all->loop, &m->over, over, m);
}

static bool mount_one(struct mount *m, char *problem, size_t size)
{
    struct fs_config config = {.loop = m->all->loop,
                               .paths = m->paths,
                               .options = &m->options,
                               .source = m->source,
                               .target = m->target,
                               .debug = m->all->debug,
                               .report = mount_report,
                               .ended = ended,
                               .context = m};

    m->pool = pool_share(m->all->pool, (unsigned)m->all->n);
    m->stable = m->pool ? stable_new(m->all->loop, m->paths, pool_fair(m->pool) / 2) : NULL;
    if (!m->stable) {
        snprintf(problem, size, "no memory");
        return false;
    }
    config.pool = m->pool;
    config.stable = m->stable;
    m->fs = fs_mount(&config, problem, size);
    if (!m->fs)
        return false;
    m->since = loop_clock();
    m->control = control_listen(m->all->loop, fs_device(m->fs), handle, m, problem, size);
    return m->control != NULL;
}

static void free_all(struct mounts *all)
{
    if (!all)
        return;
    loop_signal_stop(&all->terminate);
    loop_signal_stop(&all->interrupt);
    loop_timer_stop(&all->patience);
    for (size_t i = 0; i < all->n; i++) {
        struct mount *m = &all->items[i];

        mount_servers_unwatch(m);
        server_names_free(&m->names);
        free(m->ports);
        control_close(m->control);
        fs_free(m->fs);
        stable_free(m->stable);
        paths_free(m->paths);
        pool_free(m->pool);
        free(m->servers);
        free(m->export);
        free(m->target);
        free(m->source);
    }
    free(all->items);
    pool_free(all->pool);
    loop_free(all->loop);
    free(all);
}

static bool copy(struct mount *m, const struct mount_wish *w)
{
    size_t n = strlen(w->servers) + strlen(w->export) + 2;

    m->options = w->options;
    m->servers = strdup(w->servers);
    m->export = strdup(w->export);
    m->target = strdup(w->target);
    m->source = w->source ? strdup(w->source) : malloc(n);
    if (!m->servers || !m->export || !m->target || !m->source)
        return false;
    if (!w->source)
        snprintf(m->source, n, "%s:%s", w->servers, w->export);
    return true;
}

/* The memory that the most generous of them allows is for all of them together. */
static struct pool *make_pool(const struct mounts *all)
{
    int64_t dirty = -1;

    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].options.dirty > dirty)
            dirty = all->items[i].options.dirty;
    return pool_new(dirty > 0 ? (uint64_t)dirty : DIRTY_DEFAULT);
}

static bool start(struct mounts *all, char *problem, size_t size)
{
    for (size_t i = 0; i < all->n; i++)
        if (!mount_servers_resolve(&all->items[i], problem, size))
            return false;
    if (!mount_servers_plan_ports(all, problem, size))
        return false;
    for (size_t i = 0; i < all->n; i++)
        if (!contact(&all->items[i], problem, size))
            return false;
    loop_run(all->loop);
    for (size_t i = 0; i < all->n; i++)
        if (*all->items[i].problem) {
            snprintf(problem, size, "%s: %s", all->items[i].source, all->items[i].problem);
            return false;
        }
    for (size_t i = 0; i < all->n; i++)
        if (!all->items[i].ready) {
            snprintf(problem, size, "%s: interrupted", all->items[i].source);
            return false;
        }
    for (size_t i = 0; i < all->n; i++)
        if (!mount_one(&all->items[i], problem, size))
            return false;
    return true;
}

/* Programs that still have files open keep the file system: it is detached at once, and when their patience, or ours, is over
 * it ends all the same. */
static void stop_all(struct mounts *all, bool force)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].fs)
            fs_unmount(all->items[i].fs, force);
}

static void out_of_patience(void *context)
{
    struct mounts *all = context;

    if (all->report)
        all->report("stopping without what the servers have not answered for");
    stop_all(all, true);
}

static void stop(void *context)
{
    struct mounts *all = context;

    if (all->n_ready < all->n) { /* still waiting for servers */
        loop_stop(all->loop);
        return;
    }
    if (!all->stopping)
        loop_timer_start(all->loop, &all->patience, PATIENCE_S * NS_PER_S, out_of_patience, all);
    stop_all(all, all->stopping);
    all->stopping = true;
}

struct mounts *mounts_start(const struct mount_wish *wishes, size_t n, mounts_report *say, bool debug, char *problem,
                            size_t size)
{
    struct mounts *all = calloc(1, sizeof *all);
    bool ok = all != NULL;

    pool_tune_malloc();
    if (ok) {
        all->report = say;
        all->debug = debug;
        all->loop = loop_new();
        all->items = calloc(n, sizeof *all->items);
        ok = all->loop && all->items;
    }
    for (size_t i = 0; ok && i < n; i++) {
        all->items[i].all = all;
        all->n++;
        ok = copy(&all->items[i], &wishes[i]);
    }
    ok = ok && (all->pool = make_pool(all)) != NULL;
    if (!ok) {
        snprintf(problem, size, "no memory");
    } else {
        loop_signal_start(all->loop, &all->terminate, SIGTERM, stop, all);
        loop_signal_start(all->loop, &all->interrupt, SIGINT, stop, all);
        ok = start(all, problem, size);
    }
    if (ok)
        return all;
    free_all(all);
    return NULL;
}

bool mounts_serve(struct mounts *all)
{
    bool ok;

    if (all->n_ended < all->n)
        loop_run(all->loop);
    ok = !all->lost;
    free_all(all);
    return ok;
}
