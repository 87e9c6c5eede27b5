/* What levers could do next: a VIP on another controller, a volume on another controller, another hash for a switch. */
#include <string.h>

#include "nfsbal/plan/frontier_private.h"
#include "nfsbal/plan/problem.h"

bool plan_lever_allowed(const struct making *m, enum plan_lever lever)
{
    return (m->levers->levers >> lever & 1) && plan_lever_cost(lever) <= m->levers->most;
}

bool plan_vips_allowed(const struct making *m) { return m->levers->levers >> PLAN_LEVER_VIP & 1; }

bool plan_same_target(const struct plan_change *a, const struct plan_change *b)
{
    return a->lever == b->lever && !strcmp(a->words.words[1], b->words.words[1]) &&
           ((a->lever != PLAN_LEVER_VMK_ADDRESS && a->lever != PLAN_LEVER_VMK_BINDING) ||
            !strcmp(a->words.words[2], b->words.words[2]));
}

static const char *part_of(const struct topo *t, int box)
{
    return t->boxes[box].part ? t->boxes[box].part : t->boxes[box].name;
}

static const char *export_words(struct making *m, const struct topo *t, int export_)
{
    const struct topo_export *e = &t->exports[export_];
    return arena_printf(m->arena, "%s:%s", t->nodes[e->node].name, e->path);
}

static struct candidate *add_candidate(struct making *m, struct list *list, size_t changes)
{
    if (list->n == list->most)
        return NULL;
    struct candidate *c = &list->all[list->n];
    *c =
        (struct candidate){.changes = arena_alloc(m->arena, (changes + 1) * sizeof *c->changes), .unit = -1, .vip = -1};
    return c;
}

struct plan_change plan_home_change(struct making *m, const struct topo *t, size_t vip, int box)
{
    return (struct plan_change){
        .lever = PLAN_LEVER_LIF_HOME,
        .words = {{"home", arena_copy(m->arena, t->vips[vip].text, strlen(t->vips[vip].text)), part_of(t, box)}},
        .from = part_of(t, t->vips[vip].home)};
}

struct plan_change plan_owner_change(struct making *m, const struct topo *t, int export_, int box)
{
    return (struct plan_change){.lever = PLAN_LEVER_VOLUME_OWNER,
                                .words = {{"owner", export_words(m, t, export_), part_of(t, box)}},
                                .from = part_of(t, t->exports[export_].owner)};
}

/* A VIP on another controller, and with it the volumes that are reached through it. Not where one of these is reached through
 * another VIP as well. */
void plan_home_candidates(struct making *m, const struct state *s, const int *vips, bool free_volumes,
                          struct list *list)
{
    const struct plan *plan = s->plans[0];
    const struct topo *t = s->t;
    for (size_t v = 0; v < t->n_vips; v++)
        for (int b = t->nodes[t->vips[v].node].first_box;
             b < t->nodes[t->vips[v].node].first_box + t->nodes[t->vips[v].node].n_boxes; b++) {
            bool ok = t->vips[v].up && b != t->vips[v].home;
            struct candidate *c = ok ? add_candidate(m, list, plan->n_units + 1) : NULL;
            if (!c)
                continue;
            c->changes[c->n++] = plan_home_change(m, t, v, b);
            for (size_t u = 0; ok && u < plan->n_units; u++) {
                int export_ = t->datastores[plan->units[u].datastore].export_, owner = t->exports[export_].owner;
                bool through = vips[u] == (int)v;
                if (vips[u] == PLAN_AS_TODAY || owner < 0)
                    continue;
                for (size_t o = 0; o < plan->n_units && through; o++)
                    ok &= t->datastores[plan->units[o].datastore].export_ != export_ || vips[o] == (int)v;
                if (!through || owner == b || m->options.allow_indirect)
                    continue;
                bool there = false;
                struct plan_change change = plan_owner_change(m, t, export_, b);
                for (size_t i = 0; i < c->n; i++)
                    there |= plan_same_target(&c->changes[i], &change);
                if (!there)
                    c->changes[c->n++] = change;
                ok &= free_volumes;
            }
            list->n += ok;
        }
}

/* A volume of each class on another controller, and its datastore on each VIP there. */
void plan_owner_candidates(struct making *m, const struct state *s, const int *vips, struct list *list)
{
    const struct plan *plan = s->plans[0];
    const struct plan_problem *p = plan->problem;
    const struct topo *t = s->t;
    for (size_t k = 0; k < p->n_classes; k++) {
        int u = p->classes[k].units[0];
        int export_ = t->datastores[plan->units[u].datastore].export_;
        const struct topo_export *e = &t->exports[export_];
        bool alone = e->owner >= 0;
        for (size_t o = 0; o < plan->n_units; o++)
            alone &= (int)o == u || t->datastores[plan->units[o].datastore].export_ != export_;
        if (!alone || vips[u] == PLAN_AS_TODAY || vips[u] < 0)
            continue;
        for (size_t v = 0; v < t->n_vips; v++) {
            const struct topo_vip *vip = &t->vips[v];
            bool stays = vips[u] == (int)v;
            bool may =
                stays || (plan_vips_allowed(m) && (!plan->units[u].mounted || plan->units[u].cost <= m->levers->most));
            if (vip->node != e->node || vip->svm != e->svm || !vip->up || vip->home == e->owner || !may)
                continue;
            struct candidate *c = add_candidate(m, list, 1);
            if (!c)
                return;
            c->changes[c->n++] = plan_owner_change(m, t, export_, vip->home);
            c->unit = u;
            c->vip = (int)v;
            list->n++;
        }
    }
}

/* Policies of the switch's maker that say by addresses where a frame goes. */
const struct hash_policy *plan_hash_policy(const struct topo *t, size_t n, unsigned i)
{
    const uint32_t certain = HASH_READS_SRC_IP | HASH_READS_DST_IP | HASH_READS_SRC_MAC | HASH_READS_DST_MAC |
                             HASH_READS_ETHERTYPE | HASH_READS_VLAN | HASH_READS_PROTO;
    const struct topo_node *node = &t->nodes[n];
    const struct hash_policy *now = node->hash.policy, *other;
    if (node->kind != TOPO_SWITCH || !now || !now->prefix || node->n_observed)
        return NULL;
    for (unsigned k = 0; (other = hash_policy_at(k)) != NULL; k++) {
        bool fits = other != now && other->prefix && strcmp(other->prefix, now->prefix) == 0 &&
                    other->status != HASH_STATUS_UNKNOWN && other->status != HASH_REVERSE_ENGINEERED && other->reads &&
                    !(other->reads & ~certain);
        if (fits && i-- == 0)
            return other;
    }
    return NULL;
}

struct plan_change plan_hash_change(struct making *m, const struct topo *t, size_t node, unsigned i)
{
    const char *name = t->nodes[node].name;
    return (struct plan_change){
        .lever = PLAN_LEVER_SWITCH_HASH,
        .words = {{"hash", arena_copy(m->arena, name, strlen(name)), plan_hash_policy(t, node, i)->name}},
        .from = t->nodes[node].hash.policy->name};
}

void plan_hash_candidates(struct making *m, const struct state *s, struct list *list)
{
    for (size_t n = 0; n < s->t->n_nodes; n++)
        for (unsigned i = 0; plan_hash_policy(s->t, n, i); i++) {
            struct candidate *c = add_candidate(m, list, 1);
            if (!c)
                return;
            c->changes[c->n++] = plan_hash_change(m, s->t, n, i);
            list->n++;
        }
}

struct plan_change plan_address_change(struct making *m, const struct topo *t, int iface, const struct topo_addr *to)
{
    const struct topo_iface *f = &t->ifaces[iface];
    char now[64], then[64];
    topo_addr_print(now, sizeof now, &f->addr, false);
    topo_addr_print(then, sizeof then, to, false);
    return (struct plan_change){.lever = PLAN_LEVER_VMK_ADDRESS,
                                .words = {{"address", arena_printf(m->arena, "%s", t->boxes[f->box].name),
                                           arena_printf(m->arena, "%s", f->name), arena_printf(m->arena, "%s", then)}},
                                .from = arena_printf(m->arena, "%s", now)};
}

struct plan_change plan_binding_change(struct making *m, const struct topo *t, int datastore, int host, int iface,
                                       int from)
{
    return (struct plan_change){.lever = PLAN_LEVER_VMK_BINDING,
                                .words = {{"bind", arena_printf(m->arena, "%s", t->datastores[datastore].name),
                                           arena_printf(m->arena, "%s", t->boxes[host].name),
                                           arena_printf(m->arena, "%s", t->ifaces[iface].name)}},
                                .from = from >= 0 ? arena_printf(m->arena, "%s", t->ifaces[from].name) : NULL};
}
