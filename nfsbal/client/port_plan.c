#include "nfsbal/client/port_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "nfsbal/client/local_link.h"

static size_t count(const struct port_plan_set *sets, size_t n_sets, size_t *most)
{
    size_t n = 0;

    *most = 0;
    for (size_t i = 0; i < n_sets; i++) {
        n += sets[i].n * sets[i].each;
        if (sets[i].n > *most)
            *most = sets[i].n;
    }
    return n;
}

bool port_plan_on(const char *root, const struct local_link *link, const union conn_address *source,
                  struct port_plan_set *sets, size_t n_sets, uint16_t port, bool reserved,
                  bool (*is_free)(const union conn_address *source, uint16_t port))
{
    size_t most, n = count(sets, n_sets, &most), at = 0;
    union conn_address *servers = calloc(n + 1, sizeof *servers);
    uint16_t *ports = calloc(n + 1, sizeof *ports), **to = calloc(n + 1, sizeof *to);
    char text[64];
    bool ok = servers && ports && to && n > 0;

    for (size_t k = 0; ok && k < most; k++)
        for (size_t i = 0; i < n_sets; i++)
            for (unsigned c = 0; k < sets[i].n && c < sets[i].each; c++) {
                conn_parse_address(conn_print_address(&sets[i].servers[k], text, sizeof text), port, &servers[at]);
                to[at++] = &sets[i].ports[k * sets[i].each + c];
            }
    ok = ok && local_link_plan(root, link, source, servers, n, reserved, is_free, ports);
    for (size_t i = 0; ok && i < at; i++)
        if (to[i])
            *to[i] = ports[i];
    free(servers);
    free(ports);
    free(to);
    return ok;
}

bool port_plan(const union conn_address *source, struct port_plan_set *sets, size_t n_sets, uint16_t port,
               char *problem, size_t size)
{
    struct local_link link;
    char text[64];

    if (!local_link_of(source, &link) || !*link.bond) {
        snprintf(problem, size, "no bond carries %s", conn_print_address(source, text, sizeof text));
        return false;
    }
    if (port_plan_on("", &link, source, sets, n_sets, port, geteuid() == 0, local_link_port_is_free))
        return true;
    snprintf(problem, size, "source ports don't choose the member of %s (%s, %s)", link.bond, link.mode, link.policy);
    return false;
}
