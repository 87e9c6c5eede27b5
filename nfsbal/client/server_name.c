#include "nfsbal/client/server_name.h"

#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/range.h"
#include "emu/model/topology_arena.h"

static bool push(struct server_names *out, const char *name, const union conn_address *address)
{
    struct server_name *grown;
    char *copy;

    for (size_t i = 0; i < out->n; i++)
        if (conn_same_address(&out->items[i].address, address))
            return true;
    grown = realloc(out->items, (out->n + 1) * sizeof *grown);
    if (!grown)
        return false;
    out->items = grown;
    copy = strdup(name);
    if (!copy)
        return false;
    out->items[out->n++] = (struct server_name){.name = copy, .address = *address};
    return true;
}

static int by_address(const void *a, const void *b)
{
    const union conn_address *x = a, *y = b;

    if (x->any.sa_family != y->any.sa_family)
        return x->any.sa_family < y->any.sa_family ? -1 : 1;
    return x->any.sa_family == AF_INET6 ? memcmp(&x->in6.sin6_addr, &y->in6.sin6_addr, sizeof x->in6.sin6_addr)
                                        : memcmp(&x->in.sin_addr, &y->in.sin_addr, sizeof x->in.sin_addr);
}

enum { DNS_MAX = 256 };

/* A name's addresses, sorted: DNS hands them out in another order each time. */
static bool resolve_dns(const char *name, struct server_names *out, char *problem, size_t size)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG}, *list = NULL;
    union conn_address found[DNS_MAX];
    size_t n = 0;
    bool ok = true;
    int rc = getaddrinfo(name, NULL, &hints, &list);

    if (rc) {
        snprintf(problem, size, "%s: %s", name, gai_strerror(rc));
        return false;
    }
    memset(found, 0, sizeof found);
    for (const struct addrinfo *a = list; a && n < DNS_MAX; a = a->ai_next)
        if (a->ai_addrlen <= sizeof found[0])
            memcpy(&found[n++], a->ai_addr, a->ai_addrlen);
    freeaddrinfo(list);
    qsort(found, n, sizeof found[0], by_address);
    for (size_t i = 0; ok && i < n; i++) {
        char text[64], full[320];

        snprintf(full, sizeof full, n > 1 ? "%s(%s)" : "%s", name, conn_print_address(&found[i], text, sizeof text));
        ok = push(out, full, &found[i]);
    }
    if (!ok)
        snprintf(problem, size, "out of memory");
    return ok;
}

static bool resolve_one(const char *name, struct server_names *out, char *problem, size_t size)
{
    union conn_address a;

    if (!*name || strlen(name) > 255) {
        snprintf(problem, size, "`%.40s` is no server name", name);
        return false;
    }
    if (!conn_parse_address(name, 0, &a)) {
        out->dns = true;
        return resolve_dns(name, out, problem, size);
    }
    if (push(out, name, &a))
        return true;
    snprintf(problem, size, "out of memory");
    return false;
}

/* One item of the list, which may hold ranges. */
static bool resolve_item(const char *item, struct server_names *out, char *problem, size_t size)
{
    struct topo_arena *arena = arena_new();
    struct range range;
    const char *wrong = "out of memory";
    bool ok = arena && range_parse(arena, item, &range, &wrong);

    if (!ok)
        snprintf(problem, size, "%s: %s", item, wrong);
    else if (range.count > 1024) {
        snprintf(problem, size, "%s: %zu servers, at most 1024", item, range.count);
        ok = false;
    }
    for (size_t i = 0; ok && i < range.count; i++)
        ok = resolve_one(range_at(arena, &range, i), out, problem, size);
    arena_free(arena);
    return ok;
}

bool server_names_resolve(const char *text, struct server_names *out, char *problem, size_t size)
{
    const char *p = text;
    bool ok = true;

    *out = (struct server_names){0};
    while (ok) {
        char item[512];
        size_t n = 0;
        int depth = 0;

        for (; p[n] && (p[n] != ',' || depth); n++)
            depth += (p[n] == '[') - (p[n] == ']');
        if (n >= sizeof item) {
            snprintf(problem, size, "a server name of %zu bytes", n);
            ok = false;
            break;
        }
        memcpy(item, p, n);
        item[n] = '\0';
        ok = resolve_item(item, out, problem, size);
        p += n;
        if (!*p)
            break;
        p++;
    }
    if (!ok)
        server_names_free(out);
    return ok;
}

void server_names_free(struct server_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->items[i].name);
    free(names->items);
    *names = (struct server_names){0};
}
