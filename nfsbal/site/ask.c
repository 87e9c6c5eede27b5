#include "nfsbal/site/ask.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 320, HEADERS4 = 28, HEADERS6 = 48 /* IP and ICMP */ };

static uint64_t digest(int box, const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)box;

    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h ^ h >> 32;
}

/* The place of a question in the table: its own, or the free one where it belongs. */
static size_t *slot(const struct ask *a, int box, const char *text)
{
    size_t i = digest(box, text) & (a->n_slots - 1);

    while (a->slots[i] && (a->items[a->slots[i] - 1].box != box || strcmp(a->items[a->slots[i] - 1].text, text) != 0))
        i = (i + 1) & (a->n_slots - 1);
    return &a->slots[i];
}

static int grow(struct ask *a)
{
    size_t capacity = a->capacity ? 2 * a->capacity : 64;
    struct ask_question *items = realloc(a->items, capacity * sizeof *items);
    size_t *slots = calloc(2 * capacity, sizeof *slots);

    if (items)
        a->items = items;
    if (!items || !slots) {
        free(slots);
        return -ENOMEM;
    }
    free(a->slots);
    a->capacity = capacity;
    a->slots = slots;
    a->n_slots = 2 * capacity;
    for (size_t i = 0; i < a->n; i++)
        *slot(a, items[i].box, items[i].text) = i + 1;
    return 0;
}

static int add(struct ask *a, int box, int team, enum path_proof_form form, const char *label, const char *text)
{
    struct ask_question *q;
    size_t *place;

    if (a->n == a->capacity && grow(a) != 0)
        return -ENOMEM;
    place = slot(a, box, text);
    if (*place) {
        q = &a->items[*place - 1];
        q->flows++;
        if (q->team != team)
            q->team = -1;
        return 0;
    }
    q = &a->items[a->n];
    *q = (struct ask_question){box, team, form, label, strdup(text), 1, a->n};
    if (!q->text)
        return -ENOMEM;
    *place = ++a->n;
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct ask_question *x = a, *y = b;

    if (x->box != y->box)
        return x->box < y->box ? -1 : 1;
    if (x->team != y->team)
        return x->team < y->team ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void sort(struct ask *a)
{
    if (a->n)
        qsort(a->items, a->n, sizeof *a->items, by_place);
    free(a->slots);
    a->slots = NULL;
}

static int ask_path(const struct topo *t, const struct flow *flow, enum flow_direction direction, struct ask *out)
{
    enum path_proof_form form;
    char text[TEXT_MAX];
    struct path path;
    int box, rc = 0;

    path_walk(t, NULL, flow, direction, false, &path);
    for (size_t h = 0; rc == 0 && h < path.n_hops; h++) {
        const struct path_hop *hop = &path.hops[h];
        enum topo_origin inputs = hop->conditional ? TOPO_DRAWN : hop->inputs;

        if (path_proof(t, flow, direction, hop, &box, &form, text, sizeof text))
            rc = add(out, box, hop->team, form, path_label(hop->status, inputs), text);
    }
    return rc;
}

int ask_choices(const struct topo *t, struct ask *out)
{
    struct flow *flows;
    long n = flow_list(t, &flows);
    int rc = n < 0 ? (int)n : 0;

    *out = (struct ask){0};
    for (long i = 0; rc == 0 && i < n; i++)
        for (int d = 0; rc == 0 && d < 2; d++)
            rc = ask_path(t, &flows[i], (enum flow_direction)d, out);
    free(flows);
    sort(out);
    return rc;
}

static int ask_ping(const struct topo *t, const struct topo_mount *m, const struct topo_vip *vip, struct ask *out)
{
    const struct topo_iface *f = &t->ifaces[m->iface];
    bool six = vip->addr.version == 6, esxi = t->nodes[t->boxes[m->host].node].kind == TOPO_ESXI;
    unsigned headers = six ? HEADERS6 : HEADERS4;
    char text[TEXT_MAX];

    if (f->mtu <= headers || f->addr.version != vip->addr.version)
        return 0;
    if (esxi)
        snprintf(text, sizeof text, "vmkping%s -I %s -d -c 3 -s %u %s", six ? " -6" : "", f->name, f->mtu - headers,
                 vip->text);
    else
        snprintf(text, sizeof text, "ping -M do -c 3 -I %s -s %u %s", f->name, f->mtu - headers, vip->text);
    return add(out, m->host, -1, PATH_PROOF_SHOW, "", text);
}

int ask_mtu(const struct topo *t, struct ask *out)
{
    int rc = 0;

    *out = (struct ask){0};
    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];

        if (m->vip < 0 || m->iface < 0)
            continue;
        for (size_t v = 0; rc == 0 && v < t->n_vips; v++)
            if (t->vips[v].up && t->vips[v].node == t->vips[m->vip].node)
                rc = ask_ping(t, m, &t->vips[v], out);
    }
    sort(out);
    return rc;
}

void ask_free(struct ask *a)
{
    for (size_t i = 0; i < a->n; i++)
        free(a->items[i].text);
    free(a->items);
    free(a->slots);
    *a = (struct ask){0};
}
