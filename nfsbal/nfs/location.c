#include "nfsbal/nfs/location.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/options.h"
#include "emu/model/topology_arena.h"
#include "nfsbal/client/mount_query.h"
#include "nfsbal/client/server_name.h"

bool location_is_url(const char *text) { return strncmp(text, "nfs://", strlen("nfs://")) == 0; }

bool location_servers(struct topo_arena *a, const char *names, struct location *out, char *problem, size_t size)
{
    struct server_names found;
    struct paths_server *servers;

    if (!server_names_resolve(names, &found, problem, size))
        return false;
    servers = arena_alloc(a, found.n * sizeof *servers);
    for (size_t i = 0; servers && i < found.n; i++)
        servers[i] = (struct paths_server){.name = arena_copy(a, found.items[i].name, strlen(found.items[i].name)),
                                           .address = found.items[i].address};
    out->names = names;
    out->servers = servers;
    out->n_servers = servers ? found.n : 0;
    server_names_free(&found);
    if (!servers)
        snprintf(problem, size, "out of memory");
    return servers != NULL;
}

static bool split_by(struct topo_arena *a, const char *path, const char *export, struct location *out, char *problem,
                     size_t size)
{
    size_t n = strlen(export);

    while (n > 1 && export[n - 1] == '/')
        n--;
    if (strncmp(path, export, n) != 0 || (n > 1 && path[n] && path[n] != '/')) {
        snprintf(problem, size, "`%s` is not below the export %s", path, export);
        return false;
    }
    out->export = arena_copy(a, export, n);
    out->rest = arena_copy(a, path + n, strlen(path + n));
    return true;
}

static bool split_by_asking(struct topo_arena *a, const char *path, uint16_t mount_port,
                            const union conn_address *source, const struct nfs3_credential *credential,
                            struct location *out, char *problem, size_t size)
{
    char *export = arena_alloc(a, strlen(path) + 1), *rest = arena_alloc(a, strlen(path) + 1), why[256] = "";

    for (size_t i = 0; export && rest && i < out->n_servers; i++) {
        struct conn_config to = {
            .server = out->servers[i].address, .source = *source, .reserved = true, .credential = *credential};

        if (mount_query_split(&to, mount_port, path, export, rest, why, sizeof why) == 0) {
            out->export = export;
            out->rest = rest;
            return true;
        }
    }
    snprintf(problem, size, "%s: %s", out->names, *why ? why : "out of memory");
    return false;
}

bool location_read(struct topo_arena *a, const char *url, const char *export, uint16_t mount_port,
                   const union conn_address *source, const struct nfs3_credential *credential, struct location *out,
                   char *problem, size_t size)
{
    const char *names = url + strlen("nfs://"), *slash = location_is_url(url) ? strchr(names, '/') : NULL;
    char *servers, *colon;

    *out = (struct location){.port = 0};
    if (!slash || slash == names) {
        snprintf(problem, size, "`%s` is not nfs://SERVER/EXPORT", url);
        return false;
    }
    servers = arena_copy(a, names, (size_t)(slash - names));
    colon = strrchr(servers, ':');
    if (colon && !strchr(colon, ']')) {
        int64_t port;

        if (!option_parse_integer(colon + 1, 1, 65535, &port)) {
            snprintf(problem, size, "`%s`: `%s` is no port", url, colon + 1);
            return false;
        }
        out->port = (uint16_t)port;
        *colon = '\0';
    }
    if (!location_servers(a, servers, out, problem, size))
        return false;
    if (!(export ? split_by(a, slash, export, out, problem, size)
                 : split_by_asking(a, slash, mount_port, source, credential, out, problem, size)))
        return false;
    while (*out->rest == '/')
        out->rest++;
    return true;
}
