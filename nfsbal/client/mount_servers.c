/* A mount's servers: their addresses, and what DNS says of them later. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/client/dns_watch.h"
#include "nfsbal/client/local_link.h"
#include "nfsbal/client/mount_private.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/port_plan.h"
#include "nfsbal/client/server_name.h"

enum { MISSES_MAX = 3 }; /* answers without an address: a server of names may hand out a part of them each time */

/* An address that came from the names of the mount. */
struct mount_server {
    union conn_address address;
    unsigned misses;
};

static char *list_of(const struct mount *m)
{
    size_t n = strlen(m->servers) + strlen(m->options.vips) + 2;
    char *all = malloc(n);

    if (all)
        snprintf(all, n, *m->options.vips ? "%s,%s" : "%s", m->servers, m->options.vips);
    return all;
}

bool mount_servers_resolve(struct mount *m, char *problem, size_t size)
{
    char *all = list_of(m);
    bool ok = false;

    if (all)
        ok = server_names_resolve(all, &m->names, problem, size);
    else
        snprintf(problem, size, "no memory");
    free(all);
    return ok;
}

static unsigned connections(const struct mount *m)
{
    return m->options.nconnect > 0 ? (unsigned)m->options.nconnect : 1;
}

static bool source_of(const struct mount *m, union conn_address *source)
{
    *source = (union conn_address){.any.sa_family = AF_UNSPEC};
    return (*m->options.source && conn_parse_address(m->options.source, 0, source)) ||
           local_link_source(&m->names.items[0].address, source);
}

static bool fill(struct mount *m, struct port_plan_set *set)
{
    union conn_address *servers = calloc(m->names.n, sizeof *servers);

    m->ports = calloc(m->names.n * connections(m), sizeof *m->ports);
    for (size_t i = 0; servers && i < m->names.n; i++)
        servers[i] = m->names.items[i].address;
    *set = (struct port_plan_set){servers, m->names.n, connections(m), m->ports};
    return servers && m->ports;
}

/* The mount and all others that leave by the same address. */
static bool plan_with_others(struct mounts *all, struct mount *first, struct port_plan_set *sets, char *problem,
                             size_t size)
{
    union conn_address source, other;
    size_t n = 0;
    bool ok = true;

    if (!source_of(first, &source)) {
        snprintf(problem, size, "no route to %s", first->names.items[0].name);
        return false;
    }
    for (struct mount *m = first; ok && m < all->items + all->n; m++)
        if (m->options.plan_ports && !m->ports && source_of(m, &other) && conn_same_address(&source, &other))
            ok = fill(m, &sets[n++]);
    if (!ok)
        snprintf(problem, size, "no memory");
    else
        ok = port_plan(&source, sets, n, first->options.port ? (uint16_t)first->options.port : 2049, problem, size);
    for (size_t i = 0; i < n; i++)
        free((void *)(uintptr_t)sets[i].servers);
    return ok;
}

bool mount_servers_plan_ports(struct mounts *all, char *problem, size_t size)
{
    struct port_plan_set *sets = calloc(all->n, sizeof *sets);
    char why[300] = "no memory";
    bool ok = sets != NULL;

    for (size_t i = 0; ok && i < all->n; i++)
        if (all->items[i].options.plan_ports && !all->items[i].ports)
            ok = plan_with_others(all, &all->items[i], sets, why, sizeof why);
    free(sets);
    if (!ok)
        snprintf(problem, size, "-o srcport=plan: %s", why);
    return ok;
}

static void say(struct mount *m, const char *name, const char *what)
{
    char line[400];

    snprintf(line, sizeof line, "%s: %s", name, what);
    mount_report(m, line);
}

static bool holds(const struct server_names *names, const union conn_address *address)
{
    for (size_t i = 0; i < names->n; i++)
        if (conn_same_address(&names->items[i].address, address))
            return true;
    return false;
}

/* The path with this address; NULL: none. */
static const char *path_name(const struct mount *m, const union conn_address *address)
{
    struct path_info info;

    for (size_t i = 0; i < paths_count(m->paths); i++)
        if (paths_info(m->paths, i, &info) && conn_same_address(&info.address, address))
            return info.name;
    return NULL;
}

static void let_go(struct mount *m, size_t i)
{
    const char *name = path_name(m, &m->known[i].address);
    char copy[320];

    if (name) {
        snprintf(copy, sizeof copy, "%s", name);
        say(m, copy, "no longer one of its addresses: let go");
        paths_remove(m->paths, copy);
    }
    m->known[i] = m->known[--m->n_known];
}

static bool learn(struct mount *m, const union conn_address *address)
{
    struct mount_server *grown;

    for (size_t i = 0; i < m->n_known; i++)
        if (conn_same_address(&m->known[i].address, address))
            return true;
    grown = realloc(m->known, (m->n_known + 1) * sizeof *grown);
    if (!grown)
        return false;
    m->known = grown;
    m->known[m->n_known++] = (struct mount_server){.address = *address};
    return true;
}

static void add(struct mount *m, const struct server_name *s)
{
    char full[320], text[64];
    struct paths_server server = {.name = s->name, .address = s->address};
    int rc;

    if (path_name(m, &s->address))
        return;
    rc = paths_add(m->paths, &server);
    if (rc == -EEXIST) { /* the name had one address until now, and the path is called by the name alone */
        snprintf(full, sizeof full, "%s(%s)", s->name, conn_print_address(&s->address, text, sizeof text));
        server.name = full;
        rc = paths_add(m->paths, &server);
    }
    if (rc == 0)
        say(m, server.name, "a new address: added");
}

static void answer(void *context, const struct server_names *names)
{
    struct mount *m = context;

    for (size_t i = 0; i < names->n; i++)
        if (learn(m, &names->items[i].address))
            add(m, &names->items[i]);
    for (size_t i = m->n_known; i-- > 0;) {
        if (holds(names, &m->known[i].address))
            m->known[i].misses = 0;
        else if (++m->known[i].misses >= MISSES_MAX)
            let_go(m, i);
    }
}

bool mount_servers_watch(struct mount *m)
{
    const struct server_names *names = &m->names;
    char *all;

    if (!names->dns || m->options.resolve == 0)
        return true;
    for (size_t i = 0; i < names->n; i++)
        if (!learn(m, &names->items[i].address))
            return false;
    all = list_of(m);
    if (all)
        m->dns = dns_watch_new(m->all->loop, all, m->options.resolve * NS_PER_MS, answer, m);
    free(all);
    return m->dns != NULL;
}

void mount_servers_unwatch(struct mount *m)
{
    dns_watch_free(m->dns);
    m->dns = NULL;
    free(m->known);
    m->known = NULL;
    m->n_known = 0;
}
