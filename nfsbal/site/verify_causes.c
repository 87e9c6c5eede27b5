/* Theory of operation. A cause is a hypothesis that is worked out: the topology with that one thing changed (another rule at this
 * team, members without a carrier, mounts by another VIP), the flows of the group walked again, and the plan that comes out
 * held against the counters with the thresholds of the verdict. What fits is listed, nearest shares first. The order of
 * members needs no walk: it fits when as many members are idle as are loaded without reason, each pair exchanged.
 */
#include "nfsbal/site/verify.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "emu/model/team_choice.h"

static const double CERTAIN = 0.999;

struct test { /* of one group */
    const struct verify *v;
    struct verify_group *g;
    size_t *flows; /* 2 * flow + direction, of those that use the group */
    size_t n_flows;
    double *planned, *certain; /* per link of the group, under the hypothesis */
    double count;              /* of the flow that is walked */
};

enum { SETTINGS_MAX = 64 }; /* combinations of one policy that are tried */

static void add_cause(struct verify_group *g, enum verify_cause_kind kind, unsigned subject, double distance,
                      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Causes stand by distance; past the last place the farthest falls off. */
static void add_cause(struct verify_group *g, enum verify_cause_kind kind, unsigned subject, double distance,
                      const char *format, ...)
{
    struct verify_cause cause = {.kind = kind, .subject = subject, .distance = distance};
    size_t at = g->n_causes;
    va_list args;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vsnprintf(cause.text, sizeof cause.text, format, args);
    va_end(args);
    while (at > 0 && g->causes[at - 1].distance > distance)
        at--;
    if (at == VERIFY_CAUSES)
        return;
    if (g->n_causes < VERIFY_CAUSES)
        g->n_causes++;
    memmove(&g->causes[at + 1], &g->causes[at], (g->n_causes - 1 - at) * sizeof *g->causes);
    g->causes[at] = cause;
}

/* ---- walking the group's flows again ---- */

static void add_share(void *context, int linkdir, double share)
{
    struct test *test = context;

    for (size_t i = 0; i < test->g->n; i++)
        if (test->g->links[i].linkdir == linkdir) {
            test->planned[i] += share * test->count;
            test->certain[i] += share > CERTAIN ? test->count : 0;
        }
}

/* Flows of one VIP as if they were of another. */
struct swap {
    int vip, instead;
    bool only; /* no flows but those */
};

/* The plan of the group's flows under a hypothesis: in this topology and state, with VIPs swapped (NULL: not). */
static void work_out(struct test *test, const struct topo *t, const struct path_state *state, const struct swap *swap)
{
    const struct path_site *s = test->v->site;

    memset(test->planned, 0, test->g->n * sizeof *test->planned);
    memset(test->certain, 0, test->g->n * sizeof *test->certain);
    for (size_t i = 0; i < test->n_flows; i++) {
        struct flow flow = s->flows[test->flows[i] / 2];

        if (swap && swap->only && flow.vip != swap->vip)
            continue;
        if (swap && flow.vip == swap->vip)
            flow.vip = swap->instead;
        test->count = s->counts[test->flows[i] / 2];
        path_shares(t, state, &flow, (enum flow_direction)(test->flows[i] % 2), add_share, test);
    }
}

/* True when the counters are as this plan wants them, and it is a plan: most of its flows have a certain place. */
static bool fits(const struct test *test, double *distance)
{
    const struct verify_group *g = test->g;
    double all = 0, certain = 0;

    *distance = 0;
    for (size_t i = 0; i < g->n; i++) {
        all += test->planned[i];
        certain += test->certain[i];
    }
    if (all <= 0 || certain < all * CERTAIN)
        return false;
    for (size_t i = 0; i < g->n; i++) {
        double share = g->links[i].bytes / g->bytes;

        if (test->planned[i] > 0 ? share < VERIFY_IDLE : share > VERIFY_LOADED)
            return false;
        *distance += fabs(share - test->planned[i] / all) / 2;
    }
    return true;
}

struct use {
    const struct verify_group *g;
    bool used;
};

static void mark_use(void *context, int linkdir, double share)
{
    struct use *u = context;

    for (size_t i = 0; share > 0 && i < u->g->n; i++)
        u->used |= u->g->links[i].linkdir == linkdir;
}

static bool find_flows(struct test *test)
{
    const struct path_site *s = test->v->site;

    test->flows = malloc((2 * s->n_flows + 1) * sizeof *test->flows);
    test->planned = calloc(test->g->n + 1, sizeof *test->planned);
    test->certain = calloc(test->g->n + 1, sizeof *test->certain);
    if (!test->flows || !test->planned || !test->certain)
        return false;
    for (size_t i = 0; i < 2 * s->n_flows; i++) {
        struct use u = {test->g, false};

        path_shares(s->t, NULL, &s->flows[i / 2], (enum flow_direction)(i % 2), mark_use, &u);
        if (u.used)
            test->flows[test->n_flows++] = i;
    }
    return true;
}

/* ---- hypotheses ---- */

static const char *nic(const struct topo *t, int linkdir, char *out, size_t size)
{
    const char *blank = strchr(verify_member_name(t, linkdir, out, size), ' ');

    return blank ? blank + 1 : out;
}

/* Which key of the file holds the order of a team's members. */
static const char *order_key(const struct topo_team *team)
{
    return team->kind == TOPO_TEAM_VSWITCH || team->kind == TOPO_TEAM_DVSWITCH ? "uplinks" : "members";
}

/* The heaviest member with this finding that no other is paired with. */
static struct verify_link *heaviest(struct verify_group *g, enum verify_finding finding, bool by_plan)
{
    struct verify_link *best = NULL;

    for (size_t i = 0; i < g->n; i++) {
        struct verify_link *l = &g->links[i];

        if (l->finding == finding && l->moved < 0 &&
            (!best || (by_plan ? l->planned > best->planned : l->bytes > best->bytes)))
            best = l;
    }
    return best;
}

static void try_order(struct test *test)
{
    struct verify_group *g = test->g;
    const struct topo *t = test->v->site->t;
    size_t idle = 0, loaded = 0;
    double distance = 0;
    char name[160], list[200] = "";

    for (size_t i = 0; i < g->n; i++) {
        idle += g->links[i].finding == VERIFY_IDLE_LINK;
        loaded += g->links[i].finding == VERIFY_LOADED_LINK;
    }
    if (g->team < 0 || idle == 0 || idle != loaded)
        return;
    for (size_t i = 0; i < idle; i++) {
        struct verify_link *a = heaviest(g, VERIFY_IDLE_LINK, true), *b = heaviest(g, VERIFY_LOADED_LINK, false);

        a->moved = b->linkdir;
        b->moved = a->linkdir;
        distance += fabs(b->bytes / g->bytes - a->planned / g->planned) / 2;
    }
    for (size_t i = 0; i < g->n; i++)
        if (g->links[i].finding == VERIFY_FINE)
            distance += fabs(g->links[i].bytes / g->bytes - g->links[i].planned / g->planned) / 2;
    for (size_t i = 0; i < g->n; i++)
        if (g->links[i].finding == VERIFY_IDLE_LINK) {
            size_t n = strlen(list);

            snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", nic(t, g->links[i].moved, name, sizeof name));
        }
    add_cause(g, CAUSE_ORDER, 0, distance, "members of %s in other order than assumed (%s carr%s %s share): give `%s:`",
              t->teams[g->team].name, list, idle == 1 ? "ies" : "y", idle == 1 ? "its" : "their",
              order_key(&t->teams[g->team]));
}

/* True when nothing went over this cable in either direction. */
static bool silent(const struct test *test, const struct verify_link *l)
{
    const struct verify_group *back = &test->v->groups[test->v->group_of[l->linkdir ^ 1]];
    double least = VERIFY_IDLE * test->g->bytes;

    for (size_t k = 0; k < back->n; k++)
        if (back->links[k].linkdir == (l->linkdir ^ 1) && back->links[k].state != COUNTER_NONE &&
            back->links[k].bytes >= least)
            return false;
    return l->bytes < least;
}

/* One silent member that is down. */
static int try_down(struct test *test)
{
    struct verify_group *g = test->g;
    const struct topo *t = test->v->site->t;
    bool *down = calloc(2 * t->n_links + 1, sizeof *down);
    struct path_state state = {.linkdir_down = down};
    char name[160];
    double distance;

    if (!down)
        return -ENOMEM;
    for (size_t i = 0; i < g->n; i++) {
        int linkdir = g->links[i].linkdir;

        if (g->n < 2 || !silent(test, &g->links[i]))
            continue;
        for (size_t k = 0; k < 2 * t->n_links; k++)
            down[k] = t->links[k / 2].down;
        down[linkdir] = down[linkdir ^ 1] = true;
        work_out(test, t, &state, NULL);
        if (fits(test, &distance))
            add_cause(g, CAUSE_DOWN, (unsigned)linkdir / 2, distance,
                      "%s is down: nothing goes over it in either direction, the others carry all",
                      verify_member_name(t, linkdir, name, sizeof name));
    }
    free(down);
    return 0;
}

/* The topology with another rule at one team. The parts that are changed are copies; the rest is the original's. */
struct variant {
    struct topo t;
    struct topo_teaming own; /* of port groups on that team */
};

static bool make_variant(struct variant *x, const struct topo *t, int team)
{
    x->t = *t;
    x->t.teams = malloc((t->n_teams + 1) * sizeof *t->teams);
    x->t.ifaces = malloc((t->n_ifaces + 1) * sizeof *t->ifaces);
    if (!x->t.teams || !x->t.ifaces)
        return false;
    memcpy(x->t.teams, t->teams, t->n_teams * sizeof *t->teams);
    memcpy(x->t.ifaces, t->ifaces, t->n_ifaces * sizeof *t->ifaces);
    for (size_t i = 0; i < t->n_ifaces; i++) {
        int own = t->ifaces[i].team;

        if (own >= 0 && t->ifaces[i].teaming == &t->teams[own].teaming)
            x->t.ifaces[i].teaming = &x->t.teams[own].teaming;
        else if (own == team && t->ifaces[i].teaming) {
            x->own = *t->ifaces[i].teaming;
            x->t.ifaces[i].teaming = &x->own;
        }
    }
    return true;
}

static void free_variant(struct variant *x)
{
    free(x->t.teams);
    free(x->t.ifaces);
}

/* A policy of the box's vendor: by its present policy's name, or by the first word of its model. */
static bool of_vendor(const struct topo *t, int team, const struct hash_policy *p)
{
    const struct hash_policy *now = t->teams[team].teaming.policy.policy;
    const char *model = t->nodes[t->boxes[t->teams[team].box].node].model;
    size_t n = strlen(p->prefix);

    if (now && strcmp(now->prefix, p->prefix) == 0)
        return true;
    return model && strncasecmp(model, p->prefix, n) == 0 && (model[n] == '\0' || model[n] == '-' || model[n] == ' ');
}

/* True when the MACs of the group's flows stand in the file: a rule that reads made-up ones proves nothing. */
static bool macs_known(const struct test *test)
{
    const struct topo *t = test->v->site->t;

    for (size_t i = 0; i < test->n_flows; i++) {
        const struct flow *f = &test->v->site->flows[test->flows[i] / 2];
        enum topo_origin client, server;
        uint8_t mac[6];

        team_mac(t, f->iface, -1, mac, &client);
        team_mac(t, t->vips[f->vip].iface, f->vip, mac, &server);
        if (client != TOPO_GIVEN || server != TOPO_GIVEN)
            return false;
    }
    return true;
}

/* The next combination of a policy's named settings; false when all have been there. Numbers and keys stay as they are. */
static bool next_settings(struct hash_selector *sel)
{
    for (unsigned i = 0; i < sel->policy->param_count; i++) {
        const struct hash_param *param = &sel->policy->params[i];
        uint64_t *value = &sel->params.value[i];

        if (param->kind != HASH_PARAM_CHOICE)
            continue;
        *value = param->values[*value + 1] ? *value + 1 : 0;
        if (*value != 0)
            return true;
    }
    return false;
}

static void clear_settings(struct hash_selector *sel)
{
    for (unsigned i = 0; i < sel->policy->param_count; i++)
        if (sel->policy->params[i].kind == HASH_PARAM_CHOICE)
            sel->params.value[i] = 0;
}

/* True when this rule explains the group: then it is a cause. */
static bool try_hash(struct test *test, struct variant *x, const struct hash_selector *sel, bool macs, unsigned subject)
{
    struct verify_group *g = test->g;
    const struct topo_team *team = &test->v->site->t->teams[g->team];
    struct topo_teaming *teaming = &x->t.teams[g->team].teaming;
    double distance;
    char name[160];

    if (!macs && (hash_reads(sel) & (HASH_READS_SRC_MAC | HASH_READS_DST_MAC)))
        return false;
    teaming->policy = *sel;
    teaming->policy_origin = TOPO_GIVEN;
    x->own.policy = *sel;
    work_out(test, &x->t, NULL, NULL);
    if (!fits(test, &distance))
        return false;
    hash_selector_text(sel, false, name, sizeof name);
    add_cause(g, CAUSE_HASH, subject, distance, "%s of %s is %s: that fits",
              team->kind == TOPO_TEAM_VSWITCH ? "teaming" : "hash", team->name, name);
    return true;
}

/* Every policy of the vendor as it usually is, and where that doesn't fit with its other named settings. */
static int try_hashes(struct test *test)
{
    struct verify_group *g = test->g;
    const struct topo *t = test->v->site->t;
    struct variant x = {.t = {.file = NULL}};
    const struct hash_policy *p;
    bool macs = macs_known(test);
    int rc = 0;

    if (g->team < 0)
        return 0;
    const struct hash_selector *now = &t->teams[g->team].teaming.policy;
    if (!make_variant(&x, t, g->team))
        rc = -ENOMEM;
    for (unsigned i = 0; rc == 0 && (p = hash_policy_at(i)); i++) {
        struct hash_selector usual, sel;
        unsigned turn = 0;

        if (!of_vendor(t, g->team, p))
            continue;
        hash_selector_init(&usual, p);
        if ((p != now->policy || memcmp(&usual.params, &now->params, sizeof usual.params) != 0) &&
            try_hash(test, &x, &usual, macs, i * SETTINGS_MAX))
            continue;
        sel = p == now->policy ? *now : usual;
        clear_settings(&sel);
        do {
            bool known = memcmp(&sel.params, &usual.params, sizeof sel.params) == 0 ||
                         (p == now->policy && memcmp(&sel.params, &now->params, sizeof sel.params) == 0);

            if (!known)
                try_hash(test, &x, &sel, macs, i * SETTINGS_MAX + turn + 1);
        } while (++turn + 1 < SETTINGS_MAX && next_settings(&sel));
    }
    free_variant(&x);
    return rc;
}

/* True when the group looks as if some of one VIP's flows, not all, had moved: `own` are its flows as planned, `moved` as they
 * would be. What is loaded can be theirs, what is idle was theirs alone. */
static bool partly_fits(const struct verify_group *g, const double *own, const double *moved, double all_moved)
{
    bool any = false;

    for (size_t i = 0; i < g->n; i++) {
        const struct verify_link *l = &g->links[i];

        if (l->finding == VERIFY_LOADED_LINK && moved[i] <= 0)
            return false;
        if (l->finding == VERIFY_IDLE_LINK && l->planned - own[i] > 1 - CERTAIN)
            return false;
        any |= l->finding == VERIFY_LOADED_LINK;
    }
    return any && all_moved > 0;
}

/* `own` is room for the group's links. */
static void try_vip(struct test *test, double *own, int a, int b)
{
    const struct verify *v = test->v;
    struct verify_group *g = test->g;
    const struct topo *t = v->site->t;
    unsigned subject = (unsigned)a * (unsigned)t->n_vips + (unsigned)b;
    struct swap stay = {a, a, true}, go = {a, b, true};
    double distance, moved = 0;
    bool all;

    work_out(test, t, NULL, &stay);
    memcpy(own, test->planned, g->n * sizeof *own);
    work_out(test, t, NULL, &go);
    for (size_t i = 0; i < g->n; i++)
        moved += test->planned[i];
    all = !partly_fits(g, own, test->planned, moved);
    if (all) {
        go.only = false;
        work_out(test, t, NULL, &go);
        if (!fits(test, &distance))
            return;
    }
    add_cause(g, CAUSE_VIP, subject, all ? distance : 1, "%s the file mounts from %s is mounted from %s",
              all ? "what" : "some of what", t->vips[a].text, t->vips[b].text);
}

static int try_vips(struct test *test)
{
    const struct topo *t = test->v->site->t;
    double *own = malloc((test->g->n + 1) * sizeof *own);

    if (!own)
        return -ENOMEM;
    for (size_t a = 0; a < t->n_vips; a++) {
        bool used = false;

        for (size_t i = 0; i < test->n_flows && !used; i++)
            used = test->v->site->flows[test->flows[i] / 2].vip == (int)a;
        for (size_t b = 0; used && b < t->n_vips; b++)
            if (a != b && t->vips[b].up && t->vips[b].node == t->vips[a].node && t->vips[b].svm == t->vips[a].svm)
                try_vip(test, own, (int)a, (int)b);
    }
    free(own);
    return 0;
}

/* Only idle members: what should be there may have had nothing to do. */
static void try_quiet(struct test *test)
{
    const struct verify_group *g = test->g;
    double flows = 0;
    bool loaded = false;

    for (size_t i = 0; i < g->n; i++) {
        flows += g->links[i].finding == VERIFY_IDLE_LINK ? g->links[i].certain : 0;
        loaded |= g->links[i].finding == VERIFY_LOADED_LINK;
    }
    if (!loaded)
        add_cause(test->g, CAUSE_QUIET, 0, 1,
                  "or the %.0f flow%s planned there had nothing to do: read again while they are busy", flows,
                  flows > 1 ? "s" : "");
}

/* No mount should be here, and a team of the same box lacks its traffic. */
static void say_elsewhere(const struct verify *v, struct verify_group *g)
{
    const struct topo *t = v->site->t;

    for (size_t i = 0; i < v->n; i++) {
        const struct verify_group *other = &v->groups[i];

        if (other->verdict != VERIFY_TOO_LITTLE || other->box != g->box)
            continue;
        add_cause(g, CAUSE_ELSEWHERE, 0, 0,
                  "%.0f flows planned on %s are not there: an interface in another subnet or team, or another route",
                  other->planned,
                  other->team >= 0 ? t->teams[other->team].name
                                   : t->ports[topo_linkdir_from(t, other->links[0].linkdir)].name);
    }
}

int verify_explain(const struct verify *v, struct verify_group *g)
{
    struct test test = {.v = v, .g = g};
    int rc = 0;

    if (g->verdict == VERIFY_UNPLANNED) {
        say_elsewhere(v, g);
        return 0;
    }
    if (!find_flows(&test))
        rc = -ENOMEM;
    if (rc == 0) {
        try_order(&test);
        rc = try_down(&test);
    }
    if (rc == 0)
        rc = try_hashes(&test);
    if (rc == 0)
        rc = try_vips(&test);
    if (rc == 0)
        try_quiet(&test);
    if (rc == 0 && g->n_causes == 0 && g->team < 0 && g->receiver >= 0)
        add_cause(g, CAUSE_LEARNED, 0, 1, "%s of %s is in use by another port than its teaming says",
                  v->site->t->teams[g->receiver].name, v->site->t->boxes[v->site->t->teams[g->receiver].box].name);
    else if (rc == 0 && g->n_causes == 0)
        add_cause(g, CAUSE_NONE, 0, 1,
                  "no other order, rule or VIP explains it: cables plugged otherwise, or traffic that is not in "
                  "the file");
    free(test.flows);
    free(test.planned);
    free(test.certain);
    return rc;
}

/* ---- causes of several groups ---- */

static bool has_cause(const struct verify_group *g, const struct verify_cause *c)
{
    for (size_t i = 0; i < g->n_causes; i++)
        if (g->causes[i].kind == c->kind && g->causes[i].subject == c->subject)
            return true;
    return false;
}

/* In how many groups that differ this cause fits, if in all of its scope and in two at least: a rule's is the box, a VIP's
 * the site, a cable's its two ends. 0 otherwise. */
static size_t common(const struct verify *v, const struct verify_group *g, const struct verify_cause *c)
{
    size_t with = 0;

    if (c->kind != CAUSE_HASH && c->kind != CAUSE_VIP && c->kind != CAUSE_DOWN)
        return 0;
    for (size_t i = 0; i < v->n; i++) {
        const struct verify_group *other = &v->groups[i];

        if (other->verdict != VERIFY_DIFFERS || (c->kind == CAUSE_HASH && other->box != g->box))
            continue;
        if (has_cause(other, c))
            with++;
        else if (c->kind != CAUSE_DOWN)
            return 0;
    }
    return with >= 2 ? with : 0;
}

void verify_settle(struct verify *v)
{
    size_t *n = calloc(v->n * VERIFY_CAUSES + 1, sizeof *n); /* without memory the causes stay as they are */

    for (size_t i = 0; n && i < v->n; i++)
        for (size_t k = 0; k < v->groups[i].n_causes; k++)
            n[i * VERIFY_CAUSES + k] = common(v, &v->groups[i], &v->groups[i].causes[k]);
    for (size_t i = 0; n && i < v->n; i++) {
        struct verify_group *g = &v->groups[i];
        size_t kept = 0;
        bool any = false;

        for (size_t k = 0; k < g->n_causes; k++)
            any |= n[i * VERIFY_CAUSES + k] > 0;
        for (size_t k = 0; any && k < g->n_causes; k++) {
            size_t length = strlen(g->causes[k].text);

            if (n[i * VERIFY_CAUSES + k] == 0)
                continue;
            if (g->causes[k].kind == CAUSE_DOWN)
                snprintf(g->causes[k].text + length, sizeof g->causes[k].text - length, " (seen from both ends)");
            else
                snprintf(g->causes[k].text + length, sizeof g->causes[k].text - length,
                         " (as in all %zu groups that differ%s)", n[i * VERIFY_CAUSES + k],
                         g->causes[k].kind == CAUSE_HASH ? " there" : "");
            g->causes[kept++] = g->causes[k];
        }
        if (any)
            g->n_causes = kept;
    }
    free(n);
}
