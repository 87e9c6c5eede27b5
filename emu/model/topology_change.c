/* Nodes of a tree are never changed: a change makes new maps and lists around what it keeps. */
#include "emu/model/topology_change.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology.h"
#include "emu/model/topology_file_internal.h"

enum { NEW_PORTS = 1000 };

static const struct diag_mark nowhere;

struct change {
    struct topo_file *f;
    struct topo_arena *a;
    struct diag *d;
    const char *text;
    const char *words[TOPO_CHANGE_WORDS];
    size_t n_words;
    struct doc_node *root; /* as it becomes */
};

static bool refuse(struct change *c, const char *hint, const char *why, const char *what)
{
    diag_add(c->d, DIAG_ERROR, NULL, nowhere, hint, "what if `%s`: %s%s", c->text, what, why);
    return false;
}

/* The map with another value for a key, which may be new; value NULL: without the key. */
static struct doc_node *with(struct change *c, const struct doc_node *map, const char *key, struct doc_node *value)
{
    struct doc_node *out = doc_new(c->a, DOC_MAP, map ? map->mark : nowhere);
    bool there = false;
    for (size_t i = 0; map && map->type == DOC_MAP && i < map->count; i++) {
        bool it = strcmp(map->pairs[i].key, key) == 0;
        there |= it;
        if (!it)
            doc_put(c->a, out, map->pairs[i].key, map->pairs[i].mark, map->pairs[i].value);
        else if (value)
            doc_put(c->a, out, key, map->pairs[i].mark, value);
    }
    if (!there && value)
        doc_put(c->a, out, key, nowhere, value);
    return out;
}

static struct doc_node *scalar(struct change *c, const char *text) { return doc_scalar(c->a, text, nowhere); }

static const char *end_of(const struct doc_node *link, size_t i)
{
    const struct doc_node *ends = doc_get(link, "ends");
    return ends && ends->type == DOC_LIST && i < ends->count && ends->items[i]->type == DOC_SCALAR
               ? ends->items[i]->text
               : "";
}

/* "esx1:vmnic3" is at esx1. */
static bool at_node(const char *end, const char *node)
{
    size_t n = strlen(node);
    return strncmp(end, node, n) == 0 && end[n] == ':';
}

static bool touches(const struct doc_node *link, const char *what)
{
    for (size_t i = 0; i < 2; i++)
        if (strcmp(end_of(link, i), what) == 0 || at_node(end_of(link, i), what))
            return true;
    return false;
}

/* Gives every cable at `what` (NULL: every one) this value. */
static bool set_links(struct change *c, const char *what, const char *key, const char *value)
{
    const struct doc_node *links = doc_get(c->root, "links");
    struct doc_node *out = doc_new(c->a, DOC_LIST, nowhere);
    size_t found = 0;
    for (size_t i = 0; links && i < links->count; i++) {
        bool it = !what || touches(links->items[i], what);
        found += it;
        doc_append(c->a, out, it ? with(c, links->items[i], key, scalar(c, value)) : links->items[i]);
    }
    if (!found)
        return refuse(c, NULL, " has no cable", what ? what : "the file");
    c->root = with(c, c->root, "links", out);
    return true;
}

static bool is_host(const struct doc_node *node)
{
    const struct doc_node *kind = doc_get(node, "kind");
    return kind && (strcmp(kind->text, "esxi") == 0 || strcmp(kind->text, "linux") == 0);
}

/* A name with its last number replaced: "vmnic5" and 7 give "vmnic7", a name without gets it at its end. */
static const char *renumber(struct change *c, const char *name, long number, long *old)
{
    size_t end = strlen(name), start;
    while (end > 0 && (name[end - 1] < '0' || name[end - 1] > '9'))
        end--;
    start = end;
    while (start > 0 && name[start - 1] >= '0' && name[start - 1] <= '9')
        start--;
    *old = end > start ? strtol(name + start, NULL, 10) : 0;
    if (end == 0)
        return arena_printf(c->a, "%s%ld", name, number);
    return arena_printf(c->a, "%.*s%ld%s", (int)start, name, number, name + end);
}

/* A free port like this one, on the same box. */
static const char *free_port(struct change *c, const char *like)
{
    const struct doc_node *links = doc_get(c->root, "links");
    for (long number = NEW_PORTS;; number++) {
        long old;
        const char *name = renumber(c, like, number, &old);
        size_t i = 0;
        while (i < links->count && strcmp(end_of(links->items[i], 0), name) != 0 &&
               strcmp(end_of(links->items[i], 1), name) != 0)
            i++;
        if (i == links->count)
            return name;
    }
}

/* The settings of a switch port, if it has any, for a new one as well. */
static void copy_port_settings(struct change *c, const char *from, const char *to)
{
    const char *colon = strchr(from, ':');
    const struct doc_node *nodes = doc_get(c->root, "nodes");
    if (!colon)
        return;
    const char *name = arena_copy(c->a, from, (size_t)(colon - from));
    const struct doc_node *node = doc_get(nodes, name), *ports = doc_get(node, "ports");
    const struct doc_pair *own = doc_get_pair(ports, colon + 1);
    if (!own)
        return;
    struct doc_node *changed = with(c, node, "ports", with(c, ports, strchr(to, ':') + 1, own->value));
    c->root = with(c, c->root, "nodes", with(c, nodes, name, changed));
}

/* One more cable like the one at `port`, from `new_port`. False when that has none. */
static bool clone_cable(struct change *c, const char *port, const char *new_port)
{
    const struct doc_node *links = doc_get(c->root, "links");
    for (size_t i = 0; links && i < links->count; i++)
        for (size_t e = 0; e < 2; e++) {
            const struct doc_node *link = links->items[i];
            if (strcmp(end_of(link, e), port) != 0)
                continue;
            const char *far = end_of(link, !e), *new_far = free_port(c, far);
            struct doc_node *out = doc_new(c->a, DOC_LIST, nowhere), *ends = doc_new(c->a, DOC_LIST, nowhere);
            for (size_t k = 0; k < links->count; k++)
                doc_append(c->a, out, links->items[k]);
            doc_append(c->a, ends, scalar(c, e ? new_far : new_port));
            doc_append(c->a, ends, scalar(c, e ? new_port : new_far));
            doc_append(c->a, out, with(c, link, "ends", ends));
            c->root = with(c, c->root, "links", out);
            copy_port_settings(c, far, new_far);
            return true;
        }
    return false;
}

static void remove_cable(struct change *c, const char *port)
{
    const struct doc_node *links = doc_get(c->root, "links");
    struct doc_node *out = doc_new(c->a, DOC_LIST, nowhere);
    for (size_t i = 0; links && i < links->count; i++)
        if (strcmp(end_of(links->items[i], 0), port) != 0 && strcmp(end_of(links->items[i], 1), port) != 0)
            doc_append(c->a, out, links->items[i]);
    c->root = with(c, c->root, "links", out);
}

/* The list of a team's ports at its new length, its cables with it. NULL after an error. */
static struct doc_node *resize_team(struct change *c, const char *host, const struct doc_node *list, size_t n)
{
    struct doc_node *out = doc_new(c->a, DOC_LIST, list->mark);
    for (size_t i = 0; i < list->count; i++) {
        const char *port = arena_printf(c->a, "%s:%s", host, list->items[i]->text);
        if (i < n)
            doc_append(c->a, out, list->items[i]);
        else
            remove_cable(c, port);
    }
    const char *last = list->items[list->count - 1]->text;
    for (size_t i = list->count; i < n; i++) {
        long number;
        renumber(c, last, 0, &number);
        const char *name = renumber(c, last, number + (long)(i - list->count) + 1, &number);
        doc_append(c->a, out, scalar(c, name));
        if (!clone_cable(c, arena_printf(c->a, "%s:%s", host, last), arena_printf(c->a, "%s:%s", host, name))) {
            refuse(c, NULL, " has no cable to copy", arena_printf(c->a, "%s:%s", host, last));
            return NULL;
        }
    }
    return out;
}

/* Every team of a host under `section` ("vswitches", ports in "uplinks"). */
static bool resize_teams(struct change *c, const char *host, const char *section, const char *key, size_t n)
{
    static const char *const orders[] = {"active", "standby", "unused"};
    const struct doc_node *teams = doc_get(doc_get(doc_get(c->root, "nodes"), host), section);
    for (size_t i = 0; teams && teams->type == DOC_MAP && i < teams->count; i++) {
        const struct doc_pair *team = &teams->pairs[i];
        const struct doc_node *list = doc_get(team->value, key);
        if (!list || list->type != DOC_LIST || list->count == 0)
            continue;
        for (size_t o = 0; o < 3; o++)
            if (doc_get(team->value, orders[o]))
                return refuse(c, "change a copy of the file instead", " has an order of its uplinks",
                              arena_printf(c->a, "%s %s", host, team->key));
        struct doc_node *resized = resize_team(c, host, list, n);
        if (!resized)
            return false;
        const struct doc_node *nodes = doc_get(c->root, "nodes"), *node = doc_get(nodes, host);
        struct doc_node *changed = with(c, doc_get(node, section), team->key, with(c, team->value, key, resized));
        c->root = with(c, c->root, "nodes", with(c, nodes, host, with(c, node, section, changed)));
    }
    return true;
}

static bool set_uplinks(struct change *c)
{
    const struct doc_node *nodes = doc_get(c->root, "nodes");
    char *end;
    long n = c->n_words == 2 ? strtol(c->words[1], &end, 10) : 0;
    if (c->n_words != 2 || *end || n < 1 || n > 32)
        return refuse(c, "uplinks N, from 1 to 32", "", "that is no number of uplinks");
    for (size_t i = 0; nodes && i < nodes->count; i++) {
        const char *host = nodes->pairs[i].key;
        if (is_host(nodes->pairs[i].value) && (!resize_teams(c, host, "vswitches", "uplinks", (size_t)n) ||
                                               !resize_teams(c, host, "dvswitches", "uplinks", (size_t)n) ||
                                               !resize_teams(c, host, "bonds", "members", (size_t)n)))
            return false;
    }
    return true;
}

/* A host's node for another name: the address that is in the new one's subnet replaced, hardware addresses dropped. NULL when it
 * has none there. */
static struct doc_node *copy_host(struct change *c, const struct doc_node *node, const char *address)
{
    static const char *const sections[] = {"vmknics", "interfaces", "bonds"};
    struct topo_addr wanted, own;
    bool found = false;
    struct doc_node *out = with(c, node, "mac", NULL);
    topo_addr_parse(&wanted, address);
    for (size_t s = 0; s < 3; s++) {
        const struct doc_node *section = doc_get(node, sections[s]);
        struct doc_node *changed = doc_new(c->a, DOC_MAP, nowhere);
        for (size_t i = 0; section && section->type == DOC_MAP && i < section->count; i++) {
            struct doc_node *iface = with(c, with(c, section->pairs[i].value, "mac", NULL), "port-id", NULL);
            const struct doc_node *addr = doc_get(iface, "address");
            if (addr && topo_addr_parse(&own, addr->text) && topo_addr_same_subnet(&own, &wanted, own.prefix)) {
                iface =
                    with(c, iface, "address", scalar(c, arena_printf(c->a, "%s/%u", address, (unsigned)own.prefix)));
                found = true;
            } else if (addr) {
                continue; /* an interface for something else, whose address nobody knows */
            }
            doc_put(c->a, changed, section->pairs[i].key, section->pairs[i].mark, iface);
        }
        if (section)
            out = with(c, out, sections[s], changed);
    }
    return found ? out : NULL;
}

/* LAGs that lead to the old host lead to the new one as well. */
static bool copy_lags(struct change *c, const char *old, const char *name)
{
    const struct doc_node *nodes = doc_get(c->root, "nodes");
    struct doc_node *out = doc_new(c->a, DOC_MAP, nodes->mark);
    for (size_t i = 0; i < nodes->count; i++) {
        struct doc_node *node = nodes->pairs[i].value;
        const struct doc_node *lags = doc_get(node, "lags");
        struct doc_node *all = NULL;
        for (size_t k = 0; lags && lags->type == DOC_MAP && k < lags->count; k++) {
            const struct doc_node *lag = lags->pairs[k].value, *to = doc_get(lag, "to");
            if (!to || !at_node(to->text, old))
                continue;
            if (doc_get(lag, "members"))
                return refuse(c, "change a copy of the file instead", " lists its members", lags->pairs[k].key);
            all = with(c, all ? all : lags, arena_printf(c->a, "%s-%s", lags->pairs[k].key, name),
                       with(c, lag, "to", scalar(c, arena_printf(c->a, "%s%s", name, to->text + strlen(old)))));
        }
        doc_put(c->a, out, nodes->pairs[i].key, nodes->pairs[i].mark, all ? with(c, node, "lags", all) : node);
    }
    c->root = with(c, c->root, "nodes", out);
    return true;
}

/* What the old host mounts by name the new one mounts too. */
static void copy_mounts(struct change *c, const char *old, const char *name)
{
    static const char *const maps[] = {"mounted", "nconnect", "vmknic"};
    const struct doc_node *datastores = doc_get(c->root, "datastores");
    struct doc_node *out = doc_new(c->a, DOC_MAP, nowhere);
    for (size_t i = 0; datastores && i < datastores->count; i++) {
        struct doc_node *ds = datastores->pairs[i].value;
        const struct doc_node *hosts = doc_get(ds, "hosts");
        for (size_t k = 0; hosts && hosts->type == DOC_LIST && k < hosts->count; k++) {
            if (strcmp(hosts->items[k]->text, old) != 0)
                continue;
            struct doc_node *longer = doc_new(c->a, DOC_LIST, hosts->mark);
            for (size_t j = 0; j < hosts->count; j++)
                doc_append(c->a, longer, hosts->items[j]);
            doc_append(c->a, longer, scalar(c, name));
            ds = with(c, ds, "hosts", longer);
            break;
        }
        for (size_t m = 0; m < sizeof maps / sizeof maps[0]; m++) {
            const struct doc_pair *own = doc_get_pair(doc_get(ds, maps[m]), old);
            if (own)
                ds = with(c, ds, maps[m], with(c, doc_get(ds, maps[m]), name, own->value));
        }
        doc_put(c->a, out, datastores->pairs[i].key, datastores->pairs[i].mark, ds);
    }
    if (datastores)
        c->root = with(c, c->root, "datastores", out);
}

static bool add_host(struct change *c)
{
    const struct doc_node *nodes = doc_get(c->root, "nodes"), *links = doc_get(c->root, "links");
    const struct doc_pair *old = NULL;
    struct topo_addr addr;
    if (c->n_words != 3 || !topo_addr_parse(&addr, c->words[2]) || strchr(c->words[2], '/'))
        return refuse(c, "add-host NAME ADDRESS", "", "a name and an address are needed");
    for (size_t i = 0; nodes && i < nodes->count; i++)
        if (is_host(nodes->pairs[i].value))
            old = &nodes->pairs[i];
    if (!old || doc_get(nodes, c->words[1]))
        return refuse(c, NULL, old ? " is there already" : "there is no host to copy", old ? c->words[1] : "");
    struct doc_node *node = copy_host(c, old->value, c->words[2]);
    if (!node)
        return refuse(c, NULL, " has no interface in the subnet of that address", old->key);
    for (size_t i = 0; links && i < links->count; i++)
        for (size_t e = 0; e < 2; e++)
            if (at_node(end_of(links->items[i], e), old->key))
                clone_cable(c, end_of(links->items[i], e),
                            arena_printf(c->a, "%s%s", c->words[1], end_of(links->items[i], e) + strlen(old->key)));
    if (!copy_lags(c, old->key, c->words[1]))
        return false;
    c->root = with(c, c->root, "nodes", with(c, doc_get(c->root, "nodes"), c->words[1], node));
    copy_mounts(c, old->key, c->words[1]);
    return true;
}

static bool set_speed(struct change *c)
{
    bps_t rate;
    if (c->n_words < 2 || unit_parse_rate(c->words[c->n_words - 1], &rate))
        return refuse(c, "speed [NODE] RATE", "", "a rate such as 10G is needed");
    return set_links(c, c->n_words == 3 ? c->words[1] : NULL, "speed", c->words[c->n_words - 1]);
}

static bool split(struct change *c)
{
    char *copy = arena_copy(c->a, c->text, strlen(c->text)), *rest = copy;
    for (char *word; (word = strtok_r(rest, " \t", &rest));) {
        if (c->n_words == TOPO_CHANGE_WORDS)
            return false;
        c->words[c->n_words++] = word;
    }
    return c->n_words > 0;
}

/* The tree with another value at a path of keys, which may be new at its end. */
static struct doc_node *put_at(struct change *c, const struct doc_node *map, const char *const *keys, size_t n,
                               struct doc_node *value)
{
    return with(c, map, keys[0], n == 1 ? value : put_at(c, doc_get(map, keys[0]), keys + 1, n - 1, value));
}

static void put(struct change *c, const char *const *keys, size_t n, const char *text)
{
    c->root = put_at(c, c->root, keys, n, scalar(c, text));
}
#define PUT(c, text, ...) \
    put(c, (const char *const[]){__VA_ARGS__}, sizeof(const char *const[]){__VA_ARGS__} / sizeof(const char *), text)

static bool set_address(struct change *c)
{
    static const char *const sections[] = {"vmknics", "interfaces"};
    const char *host = c->words[1], *iface = c->words[2], *address = c->words[3];
    const struct doc_node *node = doc_get(doc_get(c->root, "nodes"), host);
    struct topo_addr wanted, own;
    if (!topo_addr_parse(&wanted, address) || strchr(address, '/'))
        return refuse(c, NULL, " is no address", address);
    for (size_t s = 0; s < 2; s++) {
        const struct doc_node *old = doc_get(doc_get(doc_get(node, sections[s]), iface), "address");
        if (!old || !topo_addr_parse(&own, old->text))
            continue;
        if (!topo_addr_same_subnet(&own, &wanted, own.prefix))
            return refuse(c, NULL, " is in another subnet", address);
        PUT(c, arena_printf(c->a, "%s/%u", address, (unsigned)own.prefix), "nodes", host, sections[s], iface,
            "address");
        return true;
    }
    return refuse(c, NULL, " has no such interface with an address", host);
}

/* VIPs and exports stand on the NAS itself or in groups. */
typedef bool entry_fn(const char *key, const char *wanted);

static bool is_same(const char *key, const char *wanted) { return strcmp(key, wanted) == 0; }

static bool is_vip(const char *key, const char *wanted)
{
    struct topo_addr a, b;
    return topo_addr_parse(&a, key) && topo_addr_parse(&b, wanted) && topo_addr_equal(&a, &b);
}

/* Where an entry of `section` stands in a NAS: in itself (group NULL) or in a group of "svms" or "zones". NULL: not there. */
static const struct doc_pair *find_entry(const struct doc_node *nas, const char *section, entry_fn *is,
                                         const char *wanted, const char *in_group, const char **groups,
                                         const char **group)
{
    static const char *const all[] = {"svms", "zones"};
    const struct doc_node *own = doc_get(nas, section);
    *groups = *group = NULL;
    for (size_t i = 0; own && !in_group && own->type == DOC_MAP && i < own->count; i++)
        if (is(own->pairs[i].key, wanted))
            return &own->pairs[i];
    for (size_t g = 0; g < 2; g++) {
        const struct doc_node *map = doc_get(nas, all[g]);
        for (size_t k = 0; map && map->type == DOC_MAP && k < map->count; k++) {
            const struct doc_node *inside = doc_get(map->pairs[k].value, section);
            if (in_group && strcmp(in_group, map->pairs[k].key) != 0)
                continue;
            for (size_t i = 0; inside && inside->type == DOC_MAP && i < inside->count; i++)
                if (is(inside->pairs[i].key, wanted)) {
                    *groups = all[g];
                    *group = map->pairs[k].key;
                    return &inside->pairs[i];
                }
        }
    }
    return NULL;
}

static bool put_entry(struct change *c, const char *nas, const char *groups, const char *group, const char *section,
                      const char *entry, const char *key, const char *value)
{
    if (!doc_get(doc_get(doc_get(doc_get(c->root, "nodes"), nas), "controllers"), value))
        return refuse(c, NULL, " has no such controller", nas);
    if (group)
        PUT(c, value, "nodes", nas, groups, group, section, entry, key);
    else
        PUT(c, value, "nodes", nas, section, entry, key);
    return true;
}

static bool set_home(struct change *c)
{
    const struct doc_node *nodes = doc_get(c->root, "nodes");
    for (size_t i = 0; nodes && i < nodes->count; i++) {
        const char *groups, *group;
        const struct doc_pair *vip =
            find_entry(nodes->pairs[i].value, "vips", is_vip, c->words[1], NULL, &groups, &group);
        if (!vip)
            continue;
        const struct doc_node *home = doc_get(vip->value, "home");
        if (!home || strcmp(home->text, "round-robin") == 0)
            return refuse(c, "write the `home:` of each VIP", " goes round-robin: the others would move too",
                          c->words[1]);
        return put_entry(c, nodes->pairs[i].key, groups, group, "vips", vip->key, "home", c->words[2]);
    }
    return refuse(c, NULL, " is no VIP of the file", c->words[1]);
}

/* "fas:/ds01", or "fas:svm:/ds01". */
static bool set_owner(struct change *c)
{
    const char *full = c->words[1], *colon = strchr(full, ':'), *path = strstr(full, ":/");
    if (!path)
        return refuse(c, "NAS:/path", " is no export", full);
    const char *nas = arena_copy(c->a, full, (size_t)(colon - full));
    const char *svm = colon == path ? NULL : arena_copy(c->a, colon + 1, (size_t)(path - colon - 1));
    const char *groups, *group;
    const struct doc_pair *e =
        find_entry(doc_get(doc_get(c->root, "nodes"), nas), "exports", is_same, path + 1, svm, &groups, &group);
    if (!e)
        return refuse(c, NULL, " is no export of the file", full);
    return put_entry(c, nas, groups, group, "exports", e->key, "owner", c->words[2]);
}

static bool set_hash(struct change *c)
{
    const char *name = c->words[1], *policy = c->words[2];
    const struct doc_node *node = doc_get(doc_get(c->root, "nodes"), name), *lags = doc_get(node, "lags");
    const struct doc_node *kind = doc_get(node, "kind");
    if (!kind || strcmp(kind->text, "switch") != 0)
        return refuse(c, NULL, " is no switch of the file", name);
    PUT(c, policy, "nodes", name, "hash");
    for (size_t i = 0; lags && lags->type == DOC_MAP && i < lags->count; i++)
        if (doc_get(lags->pairs[i].value, "hash"))
            PUT(c, policy, "nodes", name, "lags", lags->pairs[i].key, "hash");
    return true;
}

static bool set_name(struct change *c)
{
    if (!doc_get(doc_get(c->root, "datastores"), c->words[1]))
        return refuse(c, NULL, " is no datastore of the file", c->words[1]);
    PUT(c, c->words[2], "datastores", c->words[1], "server");
    return true;
}

/* The others keep what they are bound to. */
static bool set_binding(struct change *c)
{
    const char *name = c->words[1], *host = c->words[2], *vmknic = c->words[3];
    const struct doc_node *ds = doc_get(doc_get(c->root, "datastores"), name), *now = doc_get(ds, "vmknic");
    if (!ds)
        return refuse(c, NULL, " is no datastore of the file", name);
    if (!doc_get(doc_get(doc_get(doc_get(c->root, "nodes"), host), "vmknics"), vmknic))
        return refuse(c, NULL, arena_printf(c->a, " has no VMkernel interface %s", vmknic), host);
    if (now && now->type == DOC_SCALAR)
        PUT(c, now->text, "datastores", name, "vmknic", "default");
    PUT(c, vmknic, "datastores", name, "vmknic", host);
    return true;
}

static bool apply(struct change *c)
{
    static const struct {
        const char *word;
        size_t words; /* 0: it looks for itself */
        bool (*apply)(struct change *c);
    } all[] = {{"add-host", 0, add_host},   {"uplinks", 0, set_uplinks}, {"speed", 0, set_speed}, {"fail", 2, NULL},
               {"address", 4, set_address}, {"home", 3, set_home},       {"owner", 3, set_owner}, {"hash", 3, set_hash},
               {"name", 3, set_name},       {"bind", 4, set_binding}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(c->words[0], all[i].word) == 0 && (!all[i].words || c->n_words == all[i].words))
            return all[i].apply ? all[i].apply(c) : set_links(c, c->words[1], "state", "down");
    return refuse(
        c,
        "add-host NAME ADDRESS, uplinks N, speed [NODE] RATE, fail PORT|NODE, address HOST INTERFACE ADDRESS, "
        "home VIP CONTROLLER, owner NAS:/PATH CONTROLLER, hash SWITCH POLICY, name DATASTORE NAME, bind DATASTORE HOST "
        "VMKNIC",
        "", "that is not known");
}

static bool finish(struct change *c)
{
    struct topo_file *f = c->f;
    if (!apply(c))
        return false;
    f->root = c->root;
    f->cases = doc_get(f->root, "cases");
    if (f->cases && f->cases->type != DOC_MAP)
        f->cases = NULL;
    return true;
}

bool topo_file_change(struct topo_file *f, const char *change, struct diag *d)
{
    struct change c = {.f = f, .a = f->arena, .d = d, .text = change, .root = f->root};
    if (!split(&c))
        c.words[0] = "";
    return finish(&c);
}

bool topo_file_change_words(struct topo_file *f, const struct topo_change *change, struct diag *d)
{
    struct change c = {.f = f, .a = f->arena, .d = d, .text = "", .root = f->root};
    for (size_t i = 0; i < TOPO_CHANGE_WORDS && change->words[i]; i++) {
        c.words[c.n_words++] = arena_copy(c.a, change->words[i], strlen(change->words[i]));
        c.text = arena_printf(c.a, "%s%s%s", c.text, i ? " " : "", change->words[i]);
    }
    if (c.n_words == 0)
        c.words[c.n_words++] = "";
    return finish(&c);
}
