#include "emu/model/check_rules.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void *check_alloc(struct check *c, size_t n, size_t size)
{
    if (n > SIZE_MAX / size)
        abort();
    return arena_alloc(c->arena, n * size + 1);
}

const char *check_text(struct check *c, const char *format, ...)
{
    va_list ap;
    char *text;
    int n;

    va_start(ap, format);
    n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0)
        abort();
    text = check_alloc(c, (size_t)n + 1, 1);
    va_start(ap, format);
    vsnprintf(text, (size_t)n + 1, format, ap);
    va_end(ap);
    return text;
}

/* ---- lists of names ---- */

void check_names_add(struct check *c, struct check_names *list, const char *name)
{
    list->name = arena_grow(c->arena, list->name, list->n, &list->capacity, sizeof *list->name);
    list->name[list->n++] = name;
}

void check_names_add_new(struct check *c, struct check_names *list, const char *name)
{
    if (list->n == 0 || strcmp(list->name[list->n - 1], name) != 0)
        check_names_add(c, list, name);
}

const char *check_names_text(struct check *c, const struct check_names *list)
{
    return check_join(c, list->name, list->n, 8);
}

static size_t digits_at(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n]))
        n++;
    return n;
}

/* Whether b is a with one number in it counted up by one; *at is where that number starts. */
static bool counts_up(const char *a, const char *b, size_t *at)
{
    size_t p = 0, na, nb;
    long va, vb;

    while (a[p] && a[p] == b[p])
        p++;
    while (p > 0 && isdigit((unsigned char)a[p - 1]))
        p--;
    na = digits_at(a + p);
    nb = digits_at(b + p);
    if (na == 0 || nb == 0 || na > 9 || nb > 9 || strcmp(a + p + na, b + p + nb) != 0)
        return false;
    if (na != nb && (a[p] == '0' || b[p] == '0'))
        return false;
    va = strtol(a + p, NULL, 10);
    vb = strtol(b + p, NULL, 10);
    *at = p;
    return vb == va + 1;
}

const char *check_join(struct check *c, const char *const *names, size_t n, size_t most)
{
    const char *text = "";
    size_t items = 0;

    for (size_t i = 0; i < n; items++) {
        size_t at = 0, place, last = i;
        const char *item;
        while (last + 1 < n && counts_up(names[last], names[last + 1], &place) && (last == i || place == at)) {
            at = place;
            last++;
        }
        if (last < i + 2) /* two names are shorter than a range of two */
            last = i;
        if (items == most && last + 1 < n)
            return check_text(c, "%s and %zu more", text, n - i);
        if (last == i)
            item = names[i];
        else
            item = check_text(c, "%.*s[%.*s-%.*s]%s", (int)at, names[i], (int)digits_at(names[i] + at), names[i] + at,
                              (int)digits_at(names[last] + at), names[last] + at,
                              names[i] + at + digits_at(names[i] + at));
        text = items ? check_text(c, "%s, %s", text, item) : item;
        i = last + 1;
    }
    return text;
}

/* ---- names ---- */

const char *check_team_name(struct check *c, int team)
{
    const struct topo_team *tm = &c->t->teams[team];
    const struct topo_box *b = &c->t->boxes[tm->box];
    return check_text(c, "%s%c%s", b->name, b->part ? '.' : ':', tm->name);
}

const char *check_iface_name(struct check *c, int iface)
{
    const struct topo_iface *i = &c->t->ifaces[iface];
    const struct topo_box *b = &c->t->boxes[i->box];
    return check_text(c, "%s%c%s", b->name, b->part ? '.' : ':', i->name);
}

/* ---- what things are ---- */

bool check_same_switch(const struct topo *t, int box_a, int box_b)
{
    const struct topo_node *a = check_node(t, box_a);
    return box_a == box_b || (a->mlag_peer >= 0 && a->mlag_peer == t->boxes[box_b].node);
}

bool check_policy_is(const struct topo_teaming *teaming, const char *name)
{
    return teaming->policy.policy && strcmp(teaming->policy.policy->name, name) == 0;
}

enum check_bundle check_bundle_of(const struct topo *t, int team, const struct topo_teaming *teaming)
{
    const struct topo_team *tm = &t->teams[team];

    switch (tm->kind) {
    case TOPO_TEAM_VSWITCH:
    case TOPO_TEAM_DVSWITCH:
        if (tm->kind == TOPO_TEAM_DVSWITCH && tm->mode == TOPO_LAG_LACP)
            return CHECK_LACP;
        if (check_policy_is(teaming, "esxi-ip-hash"))
            return CHECK_STATIC;
        if (teaming->policy.policy && strncmp(teaming->policy.policy->name, "esxi-lacp-", 10) == 0)
            return CHECK_LACP;
        return CHECK_LOOSE;
    case TOPO_TEAM_BOND:
    case TOPO_TEAM_SWITCH_LAG:
    case TOPO_TEAM_NAS_LAG:
        return tm->mode == TOPO_LAG_LACP ? CHECK_LACP : tm->mode == TOPO_LAG_STATIC ? CHECK_STATIC : CHECK_LOOSE;
    case TOPO_TEAM_NAS_TEAM:
    case TOPO_TEAM_SINGLE:
        break;
    }
    return CHECK_LOOSE;
}

enum check_bundle check_peer_bundle(const struct topo *t, int port)
{
    int peer = check_peer_port(t, port);
    if (peer < 0 || t->ports[peer].team < 0)
        return CHECK_LOOSE;
    return check_bundle_of(t, t->ports[peer].team, &t->teams[t->ports[peer].team].teaming);
}

void check_teamings(struct check *c, check_teaming_visit *visit)
{
    const struct topo *t = c->t;
    for (size_t i = 0; i < t->n_teams; i++)
        visit(c, (int)i, &t->teams[i].teaming, -1);
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        if (f->team >= 0 && f->teaming && f->teaming != &t->teams[f->team].teaming)
            visit(c, f->team, f->teaming, (int)i);
    }
}

unsigned check_esxi_release(const char *version)
{
    unsigned part[3] = {0, 0, 0};
    const char *s = version;

    if (!s)
        return 0;
    for (int i = 0; i < 3; i++) {
        size_t n;
        while (*s == ' ' || *s == '.' || *s == '-' || *s == 'u' || *s == 'U')
            s++;
        n = digits_at(s);
        if (n == 0 || n > 2)
            break;
        part[i] = (unsigned)strtoul(s, NULL, 10);
        s += n;
    }
    return part[0] ? CHECK_ESXI(part[0], part[1] > 9 ? 9 : part[1], part[2]) : 0;
}

int64_t check_limit(const struct topo_node *node, const char *name, int64_t preset, bool *given)
{
    *given = false;
    for (size_t i = 0; i < node->n_limits; i++)
        if (strcasecmp(node->limits[i].name, name) == 0) {
            *given = true;
            return node->limits[i].value;
        }
    return preset;
}

/* ---- facts ---- */

/* All pairs of client interface and VIP, each with its first flow. */
static void find_pairs(struct check *c)
{
    const struct topo *t = c->t;
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    size_t slots, *index;

    if (n < 0)
        abort();
    slots = 2 * (size_t)n + 1;
    index = check_alloc(c, slots, sizeof *index);
    c->pairs = check_alloc(c, (size_t)n + 1, sizeof *c->pairs);
    for (long i = 0; i < n; i++) {
        const struct flow *f = &flows[i];
        size_t s = ((size_t)f->iface * 2654435761u + (size_t)f->vip * 40503u) % slots;
        struct check_pair *p;
        while (index[s] && (c->pairs[index[s] - 1].iface != f->iface || c->pairs[index[s] - 1].vip != f->vip))
            s = (s + 1) % slots;
        if (!index[s]) {
            index[s] = ++c->n_pairs;
            c->pairs[index[s] - 1] =
                (struct check_pair){.iface = f->iface, .vip = f->vip, .mount = f->mount, .flow = *f};
        }
        p = &c->pairs[index[s] - 1];
        p->mounts += f->connection == 0;
    }
    free(flows);
}

static void find_users(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        if (m->iface >= 0)
            c->iface_used[m->iface] = true;
        if (m->vip >= 0)
            c->vip_mounts[m->vip]++;
        for (size_t k = 0; k < m->n_vips; k++)
            if (m->vips[k] >= 0 && m->vips[k] != m->vip)
                c->vip_mounts[m->vips[k]]++;
    }
    for (size_t v = 0; v < t->n_vips; v++)
        if (c->vip_mounts[v] && t->vips[v].iface >= 0)
            c->iface_used[t->vips[v].iface] = true;
}

static void sort_mounts(struct check *c)
{
    const struct topo *t = c->t;
    size_t *next = check_alloc(c, t->n_boxes + 1, sizeof *next);

    for (size_t i = 0; i < t->n_mounts; i++)
        c->host_first[t->mounts[i].host + 1]++;
    for (size_t b = 0; b < t->n_boxes; b++)
        c->host_first[b + 1] += c->host_first[b];
    memcpy(next, c->host_first, t->n_boxes * sizeof *next);
    for (size_t i = 0; i < t->n_mounts; i++)
        c->host_mounts[next[t->mounts[i].host]++] = (int)i;
}

void check_facts(struct check *c)
{
    const struct topo *t = c->t;

    c->iface_used = check_alloc(c, t->n_ifaces, sizeof *c->iface_used);
    c->vip_mounts = check_alloc(c, t->n_vips, sizeof *c->vip_mounts);
    c->host_mounts = check_alloc(c, t->n_mounts, sizeof *c->host_mounts);
    c->host_first = check_alloc(c, t->n_boxes + 1, sizeof *c->host_first);
    find_pairs(c);
    find_users(c);
    sort_mounts(c);
}
