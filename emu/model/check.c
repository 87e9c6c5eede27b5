#include "emu/model/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/check_rules.h"

/* The engine's own rules: what `allow:` itself can get wrong. They run after all others. */
// clang-format off
static const struct check_rule engine_rules[] = {
    {"allow-unknown", DIAG_ERROR, "`allow:` names a rule that does not exist",
     "An `allow:` entry acknowledges one rule by its id. An id that no rule has acknowledges nothing, and\n"
     "a finding that you believe to be acknowledged may be meant by it.\n"
     "\n"
     "`emu check --list` prints all ids.\n",
     NULL},
    {"allow-unused", DIAG_NOTE, "`allow:` acknowledges something that was not found",
     "The rule is known but found nothing, so the entry can go: left in place it would hide the finding if\n"
     "it came back. An entry of the whole file counts as used when one of the cases needs it.\n",
     NULL},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on

static const struct check_rule *const groups[] = {
    check_wiring_rules,  check_address_rules, check_teaming_rules, check_lag_rules,   check_vlan_rules,
    check_mtu_rules,     check_mount_rules,   check_vip_rules,     check_limit_rules, check_nconnect_rules,
    check_binding_rules, check_spread_rules,  check_label_rules,   engine_rules};
#define N_GROUPS (sizeof groups / sizeof groups[0])

const struct check_rule *check_rule_at(size_t i)
{
    for (size_t g = 0; g < N_GROUPS; g++)
        for (const struct check_rule *r = groups[g]; r->id; r++)
            if (i-- == 0)
                return r;
    return NULL;
}

size_t check_rule_count(void)
{
    size_t n = 0;
    while (check_rule_at(n))
        n++;
    return n;
}

const struct check_rule *check_rule_find(const char *id)
{
    const struct check_rule *r;
    for (size_t i = 0; (r = check_rule_at(i)); i++)
        if (strcmp(r->id, id) == 0)
            return r;
    return NULL;
}

const char *check_rule_nearest(const char *id)
{
    const char *ids[256];
    size_t n = 0;
    const struct check_rule *r;
    while (n < sizeof ids / sizeof ids[0] && (r = check_rule_at(n)))
        ids[n++] = r->id;
    return diag_nearest(id, ids, n);
}

/* ---- merging ----
 *
 * Findings wait until their rule is done. Those with the same place, object and text become one with several
 * subjects; after that, those with the same place, subjects and text become one with several objects: "ds[1-4] on
 * esx[1-6]: ...".
 */

struct check_pending {
    struct diag_mark mark;
    const char *key; /* what must be equal besides the place */
    const char *hint, *text;
    const char *object; /* first level: the datastore, or NULL */
    const char *on;     /* second level: the subjects */
    struct check_names names;
};

static size_t slot_of(const struct check_merge *m, struct diag_mark mark, const char *key)
{
    size_t h = ((size_t)mark.line << 20) ^ (size_t)mark.column;

    for (const char *s = key; *s; s++)
        h = (h ^ (unsigned char)*s) * (size_t)1099511628211u;
    for (h %= m->slots;; h = (h + 1) % m->slots) {
        const struct check_pending *p = m->index[h] ? &m->all[m->index[h] - 1] : NULL;
        if (!p || (p->mark.line == mark.line && p->mark.column == mark.column && strcmp(p->key, key) == 0))
            return h;
    }
}

/* The finding of that place and key, a new one if there is none yet. */
static struct check_pending *pending(struct check *c, struct check_merge *m, struct diag_mark mark, const char *key)
{
    size_t before = m->capacity, slot;

    m->all = arena_grow(c->arena, m->all, m->n, &m->capacity, sizeof *m->all);
    if (m->capacity != before) {
        m->slots = 2 * m->capacity + 1;
        m->index = check_alloc(c, m->slots, sizeof *m->index);
        for (size_t i = 0; i < m->n; i++)
            m->index[slot_of(m, m->all[i].mark, m->all[i].key)] = i + 1;
    }
    slot = slot_of(m, mark, key);
    if (!m->index[slot]) {
        m->all[m->n++] = (struct check_pending){.mark = mark, .key = key};
        m->index[slot] = m->n;
    }
    return &m->all[m->index[slot] - 1];
}

void check_add_for(struct check *c, struct diag_mark mark, const char *object, const char *subject, const char *hint,
                   const char *format, ...)
{
    struct check_pending *p;
    char text[1024];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    p = pending(c, &c->merge, mark, check_text(c, "%s\n%s", object ? object : "", text));
    if (!p->text) {
        p->text = check_text(c, "%s", text);
        p->hint = hint ? check_text(c, "%s", hint) : NULL;
        p->object = object ? check_text(c, "%s", object) : NULL;
    }
    if (subject)
        check_names_add_new(c, &p->names, check_text(c, "%s", subject));
}

static void tell(struct check *c, const struct check_pending *p, const char *who)
{
    diag_add(c->d, c->rule->severity, c->rule->id, p->mark, p->hint, "%s%s%s", who, *who ? ": " : "", p->text);
}

static void flush(struct check *c)
{
    struct check_merge by_object = {0};

    for (size_t i = 0; i < c->merge.n; i++) {
        const struct check_pending *p = &c->merge.all[i];
        const char *subjects = check_names_text(c, &p->names);
        struct check_pending *q;
        if (!p->object) {
            tell(c, p, subjects);
            continue;
        }
        q = pending(c, &by_object, p->mark, check_text(c, "%s\n%s", subjects, p->text));
        q->text = p->text;
        q->hint = p->hint;
        q->on = subjects;
        check_names_add(c, &q->names, p->object);
    }
    for (size_t i = 0; i < by_object.n; i++) {
        const struct check_pending *q = &by_object.all[i];
        const char *objects = check_names_text(c, &q->names);
        tell(c, q, *q->on ? check_text(c, "%s on %s", objects, q->on) : objects);
    }
    c->merge = (struct check_merge){0};
}

/* Marks what `allow:` acknowledges among the findings from `first` on, and judges the entries themselves. */
static void apply_allows(struct check *c, size_t first)
{
    const struct topo *t = c->t;
    size_t end = c->d->count;

    for (size_t a = 0; a < t->n_allows; a++) {
        const struct topo_allow *allow = &t->allows[a];
        bool used = false;
        if (!check_rule_find(allow->id)) {
            const char *near = check_rule_nearest(allow->id);
            c->rule = check_rule_find("allow-unknown");
            check_add(c, allow->mark, NULL,
                      near ? check_text(c, "did you mean `%s`?", near) : "`emu check --list` prints all ids",
                      "`allow:` names `%s`, and there is no such rule", allow->id);
            flush(c);
            continue;
        }
        for (size_t i = first; i < end; i++) {
            const char *id = c->d->entries[i].id;
            if (!id || strcmp(id, allow->id) != 0)
                continue;
            used = true;
            diag_allow(c->d, i, allow->reason);
        }
        if (!used) {
            c->rule = check_rule_find("allow-unused");
            check_add(c, allow->mark, NULL, NULL, "`allow:` acknowledges `%s`, which finds nothing here", allow->id);
            flush(c);
        }
    }
}

void check_topo(const struct topo *t, struct diag *d)
{
    struct check c = {.t = t, .d = d, .arena = arena_new()};
    size_t first = d->count;

    check_facts(&c);
    for (size_t i = 0; (c.rule = check_rule_at(i)); i++) {
        if (!c.rule->run)
            continue;
        c.rule->run(&c);
        flush(&c);
    }
    apply_allows(&c, first);
    arena_free(c.arena);
}
