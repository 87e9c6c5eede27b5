/* Checks of a file with cases: each case is a topology of its own, their findings are told once. */
#include "emu/model/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/expect.h"
#include "emu/model/topology.h"
#include "emu/model/topology_arena.h"
#include "emu/model/topology_file.h"

/* A finding and the cases that have it. */
struct merged {
    struct diag_entry entry; /* owns its texts */
    size_t *cases, n_cases;
};

/* An entry of `allow:`, by its place in the file, and how many cases it holds for. */
struct allow_seen {
    struct diag_mark mark;
    size_t n_cases;
};

struct merge {
    struct topo_arena *arena;
    const char **cases;
    size_t n_cases;
    bool unread; /* a case could not be read: what it would need is not known */
    struct merged *all;
    size_t n, capacity, next;
    struct allow_seen *allows;
    size_t n_allows, allows_capacity;
};

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_mark(const struct diag_mark *a, const struct diag_mark *b)
{
    return a->line == b->line && a->column == b->column;
}

static bool same_entry(const struct diag_entry *a, const struct diag_entry *b)
{
    return a->severity == b->severity && same_mark(&a->mark, &b->mark) && same_text(a->id, b->id) &&
           same_text(a->text, b->text) && same_text(a->hint, b->hint) && a->allowed == b->allowed &&
           same_text(a->reason, b->reason);
}

/* Cases find mostly the same in the same order: the search starts behind the last one found. */
static struct merged *find(struct merge *m, const struct diag_entry *e)
{
    for (size_t i = 0; i < m->n; i++) {
        struct merged *candidate = &m->all[(m->next + i) % m->n];
        if (!same_entry(&candidate->entry, e))
            continue;
        m->next = (m->next + i + 1) % m->n;
        return candidate;
    }
    return NULL;
}

static void take(struct merge *m, const struct diag_entry *e, size_t number)
{
    struct merged *found = find(m, e);

    if (!found) {
        m->all = arena_grow(m->arena, m->all, m->n, &m->capacity, sizeof *m->all);
        found = &m->all[m->n++];
        *found = (struct merged){.entry = *e};
        found->entry.text = arena_copy(m->arena, e->text, strlen(e->text));
        found->entry.hint = e->hint ? arena_copy(m->arena, e->hint, strlen(e->hint)) : NULL;
        found->entry.reason = e->reason ? arena_copy(m->arena, e->reason, strlen(e->reason)) : NULL;
        found->cases = arena_alloc(m->arena, m->n_cases * sizeof *found->cases);
        m->next = 0;
    }
    if (!found->n_cases || found->cases[found->n_cases - 1] != number)
        found->cases[found->n_cases++] = number;
}

static void see_allows(struct merge *m, const struct topo *t)
{
    for (size_t i = 0; i < t->n_allows; i++) {
        size_t k = 0;
        while (k < m->n_allows && !same_mark(&m->allows[k].mark, &t->allows[i].mark))
            k++;
        if (k == m->n_allows) {
            m->allows = arena_grow(m->arena, m->allows, m->n_allows, &m->allows_capacity, sizeof *m->allows);
            m->allows[m->n_allows++] = (struct allow_seen){.mark = t->allows[i].mark};
        }
        m->allows[k].n_cases++;
    }
}

/* "allow-unused" counts only when none of the cases that the entry holds for needs it. */
static bool needed_elsewhere(const struct merge *m, const struct merged *f)
{
    if (!same_text(f->entry.id, "allow-unused"))
        return false;
    for (size_t i = 0; i < m->n_allows; i++)
        if (same_mark(&m->allows[i].mark, &f->entry.mark))
            return m->unread || f->n_cases < m->allows[i].n_cases;
    return false;
}

static const char *which_cases(const struct merge *m, const struct merged *f)
{
    const char *text;

    if (f->n_cases == m->n_cases)
        return "";
    text = arena_printf(m->arena, " [case%s %s", f->n_cases == 1 ? "" : "s", m->cases[f->cases[0]]);
    for (size_t i = 1; i < f->n_cases; i++)
        text = arena_printf(m->arena, "%s, %s", text, m->cases[f->cases[i]]);
    return arena_printf(m->arena, "%s]", text);
}

static void tell(const struct merge *m, struct diag *d)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct merged *f = &m->all[i];
        const struct diag_entry *e = &f->entry;
        if (needed_elsewhere(m, f))
            continue;
        diag_add(d, e->severity, e->id, e->mark, e->hint, "%s%s", e->text, which_cases(m, f));
        if (e->allowed)
            diag_allow(d, d->count - 1, e->reason);
    }
}

static bool is_esxi(const struct topo *t, int box) { return t->nodes[t->boxes[box].node].kind == TOPO_ESXI; }

/* How many hosts mount something, and how many VIPs are up where they mount. */
static void count_pings(const struct topo *t, struct check_proof *proof)
{
    for (size_t b = 0; b < t->n_boxes; b++) {
        bool mounts = false;
        for (size_t i = 0; i < t->n_mounts && !mounts; i++)
            mounts = t->mounts[i].host == (int)b;
        proof->hosts += mounts;
    }
    for (size_t v = 0; v < t->n_vips; v++) {
        bool used = false;
        for (size_t i = 0; i < t->n_mounts && !used; i++)
            used = t->mounts[i].vip >= 0 && t->vips[t->mounts[i].vip].node == t->vips[v].node;
        proof->vips += used && t->vips[v].up;
    }
}

/* The ping of an ESXi host where there is one. */
static void prove(const struct topo *t, struct check_proof *proof)
{
    const struct topo_mount *best = NULL;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        if (m->vip >= 0 && m->iface >= 0 && (!best || (is_esxi(t, m->host) && !is_esxi(t, best->host))))
            best = m;
    }
    if (!best)
        return;
    const struct topo_iface *f = &t->ifaces[best->iface];
    const struct topo_vip *vip = &t->vips[best->vip];
    bool six = vip->addr.version == 6;
    unsigned headers = six ? 48 : 28; /* IP and ICMP */
    if (f->mtu <= headers)
        return;
    if (is_esxi(t, best->host))
        snprintf(proof->command, sizeof proof->command, "vmkping%s -I %s -d -s %u %s", six ? " -6" : "", f->name,
                 f->mtu - headers, vip->text);
    else
        snprintf(proof->command, sizeof proof->command, "ping -M do -s %u -I %s %s", f->mtu - headers, f->name,
                 vip->text);
    count_pings(t, proof);
}

bool check_case_exists(const struct topo_file *f, const char *name, struct diag *d)
{
    const char *known[64];
    size_t n = 0;

    for (size_t i = 0; i < topo_file_cases(f); i++) {
        if (strcmp(topo_file_case(f, i), name) == 0)
            return true;
        if (n < sizeof known / sizeof known[0])
            known[n++] = topo_file_case(f, i);
    }
    const char *near = diag_nearest(name, known, n);
    char hint[160] = "";
    if (near)
        snprintf(hint, sizeof hint, "did you mean `%s`?", near);
    else if (n)
        snprintf(hint, sizeof hint, "its first case is `%s`", known[0]);
    diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, *hint ? hint : NULL,
             n ? "no case `%s`" : "no case `%s`: the file has no cases", name);
    return false;
}

bool check_file(const struct topo_file *f, const char *const *cases, size_t n, struct diag *d,
                struct check_proof *proof)
{
    struct merge m = {.arena = arena_new()};
    bool ok = true;

    if (proof)
        *proof = (struct check_proof){.command = ""};
    for (size_t i = 0; i < n; i++)
        ok = check_case_exists(f, cases[i], d) && ok;
    m.n_cases = n ? n : topo_file_cases(f) ? topo_file_cases(f) : 1;
    m.cases = arena_alloc(m.arena, m.n_cases * sizeof *m.cases);
    for (size_t i = 0; i < m.n_cases; i++)
        m.cases[i] = n ? cases[i] : topo_file_cases(f) ? topo_file_case(f, i) : NULL;
    for (size_t i = 0; i < m.n_cases && ok; i++) {
        struct diag one;
        struct topo *t;
        diag_init(&one, d->file);
        t = topo_load(f, m.cases[i], &one);
        if (t) {
            check_topo(t, &one);
            see_allows(&m, t);
            if (proof && !*proof->command)
                prove(t, proof);
        }
        m.unread = m.unread || !t;
        for (size_t k = 0; k < one.count; k++)
            take(&m, &one.entries[k], i);
        topo_free(t);
        diag_free(&one);
    }
    if (ok)
        tell(&m, d);
    if (ok && !m.unread)
        expect_check_file(f, d);
    arena_free(m.arena);
    return ok;
}
