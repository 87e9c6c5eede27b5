/* Teams of hosts, routers and NAS controllers: which ports, which policy, what stands by. A NIC that carries addresses by
 * itself gets a team of its own, so that every interface rides on exactly one team. */
#include "emu/model/topology_build.h"

#include <stdio.h>
#include <string.h>

/* A new team with nothing but its place. The name is "NODE:TEAM" or "NODE:CONTROLLER.TEAM" in the table of teams. */
static struct topo_team *add_team(struct build *b, int box, const char *name, enum topo_team_kind kind,
                                  struct diag_mark mark)
{
    struct topo *t = b->t;
    const struct topo_box *self = &t->boxes[box];
    const char *node = t->nodes[self->node].name;
    const char *full = self->part ? arena_printf(b->scratch, "%s:%s.%s", node, self->part, name)
                                  : arena_printf(b->scratch, "%s:%s", node, name);
    t->teams = arena_grow(b->arena, t->teams, t->n_teams, &b->teams_capacity, sizeof(*t->teams));
    if (name_table_add(&b->teams, full, (int)t->n_teams) >= 0)
        schema_error(b->report, mark, NULL, "`%s` names two teams", full);
    struct topo_team *team = &t->teams[t->n_teams++];
    *team = (struct topo_team){.name = build_string(b, name),
                               .kind = kind,
                               .box = box,
                               .mark = mark,
                               .peer_team = -1,
                               .link_down_delay = build_time(b->docs[self->node], "link-down-delay", 0)};
    team->teaming.failback = team->teaming.notify = true;
    team->teaming.mark = mark;
    return team;
}

/* The port of a box by its name there, or -1 with an error. */
static int port_of(struct build *b, int box, const struct doc_node *name)
{
    const struct topo_box *self = &b->t->boxes[box];
    const char *node = b->t->nodes[self->node].name;
    const char *full = self->part ? arena_printf(b->scratch, "%s:%s.%s", node, self->part, name->text)
                                  : arena_printf(b->scratch, "%s:%s", node, name->text);
    int port = name_table_find(&b->ports, full);
    if (port < 0)
        build_dangling(b, name->mark, "port", full, &b->ports);
    return port;
}

static const int *all_active(struct build *b, const int *ports, size_t n)
{
    int *copy = arena_alloc(b->arena, (n + 1) * sizeof(*copy));
    if (n)
        memcpy(copy, ports, n * sizeof(*copy));
    return copy;
}

/* Makes the listed ports members of the newest team. */
static void take_members(struct build *b, struct topo_team *team, const struct doc_node *list)
{
    int index = (int)(team - b->t->teams);
    int *ports = arena_alloc(b->arena, (list->count + 1) * sizeof(*ports));
    for (size_t i = 0; i < list->count; i++) {
        int port = port_of(b, team->box, list->items[i]);
        if (port < 0)
            continue;
        struct topo_port *p = &b->t->ports[port];
        if (p->team >= 0)
            schema_error(b->report, list->items[i]->mark, NULL, "`%s` is in two teams, `%s` and `%s`", p->full,
                         b->t->teams[p->team].name, team->name);
        p->team = index;
        ports[team->n_ports++] = port;
    }
    if (!list->count)
        schema_error(b->report, team->mark, NULL, "`%s` has no links", team->name);
    if (list->count > HASH_MEMBERS_MAX)
        schema_error(b->report, team->mark, NULL, "`%s` has %zu links; a team has at most %d", team->name, list->count,
                     HASH_MEMBERS_MAX);
    team->ports = ports;
    team->teaming.active = all_active(b, ports, team->n_ports);
    team->teaming.n_active = team->n_ports;
}

static void no_choice(struct topo_teaming *teaming)
{
    teaming->policy.policy = NULL;
    teaming->policy_origin = TOPO_DERIVED;
}

/* The policy of `key` in the map, or the default by name; a NULL default is "nothing known". */
static void take_policy(struct build *b, struct topo_teaming *teaming, const struct doc_node *map, const char *key,
                        const char *prefix, const char *otherwise)
{
    const struct doc_node *node = doc_get(map, key);
    teaming->policy_origin = node ? TOPO_GIVEN : TOPO_ASSUMED;
    if (node) {
        build_hash(b, node, prefix, &teaming->policy);
        teaming->mark = node->mark.line ? node->mark : teaming->mark;
    } else if (otherwise) {
        const struct hash_policy *policy = hash_policy_find(otherwise);
        if (policy)
            hash_selector_init(&teaming->policy, policy);
    } else {
        build_any_hash(&teaming->policy);
    }
}

/* Ports of the team that a list of `active`, `standby` or `unused` names. */
static const int *pick_ports(struct build *b, const struct topo_team *team, const struct doc_node *list, size_t *n)
{
    int *ports = arena_alloc(b->arena, (list->count + 1) * sizeof(*ports));
    *n = 0;
    if (list->count > HASH_MEMBERS_MAX)
        schema_error(b->report, team->mark, NULL, "more than %d uplinks", HASH_MEMBERS_MAX);
    for (size_t i = 0; i < list->count && i < HASH_MEMBERS_MAX; i++) {
        int port = port_of(b, team->box, list->items[i]);
        size_t k = 0;
        while (k < team->n_ports && team->ports[k] != port)
            k++;
        if (port >= 0 && k == team->n_ports)
            schema_error(b->report, list->items[i]->mark, NULL, "`%s` is no uplink of `%s`", list->items[i]->text,
                         team->name);
        else if (port >= 0)
            ports[(*n)++] = port;
    }
    return ports;
}

static bool among(const int *ports, size_t n, int port)
{
    for (size_t i = 0; i < n; i++)
        if (ports[i] == port)
            return true;
    return false;
}

static bool is_policy(const struct topo_teaming *teaming, const char *name)
{
    return teaming->policy.policy && strcmp(teaming->policy.policy->name, name) == 0;
}

/* What a vSwitch or a port group says about teaming, over what `teaming` holds already. */
static void take_teaming(struct build *b, const struct topo_team *team, const struct doc_node *map,
                         struct topo_teaming *teaming)
{
    const struct doc_node *active = doc_get(map, "active"), *standby = doc_get(map, "standby"),
                          *unused = doc_get(map, "unused");
    const char *detection = build_word(map, "detection");
    if (standby)
        teaming->standby = pick_ports(b, team, standby, &teaming->n_standby);
    if (unused)
        teaming->unused = pick_ports(b, team, unused, &teaming->n_unused);
    if (active) {
        teaming->active = pick_ports(b, team, active, &teaming->n_active);
    } else if (standby || unused) {
        int *rest = arena_alloc(b->arena, (team->n_ports + 1) * sizeof(*rest));
        teaming->n_active = 0;
        for (size_t i = 0; i < team->n_ports; i++)
            if (!among(teaming->standby, teaming->n_standby, team->ports[i]) &&
                !among(teaming->unused, teaming->n_unused, team->ports[i]))
                rest[teaming->n_active++] = team->ports[i];
        teaming->active = rest;
    }
    for (size_t i = 0; i < teaming->n_active + teaming->n_standby; i++) {
        int port = i < teaming->n_active ? teaming->active[i] : teaming->standby[i - teaming->n_active];
        bool twice = (i < teaming->n_active && among(teaming->standby, teaming->n_standby, port)) ||
                     among(teaming->unused, teaming->n_unused, port);
        if (twice)
            schema_error(b->report, build_mark(map, standby ? "standby" : "unused"), NULL,
                         "`%s` is in two of active, standby and unused", b->t->ports[port].full);
    }
    teaming->failback = build_bool(map, "failback", teaming->failback);
    char problem[160];
    if (!teaming->failback && is_policy(teaming, "esxi-explicit"))
        hash_selector_set(&teaming->policy, "failback", "no", problem, sizeof(problem));
    teaming->notify = build_bool(map, "notify", teaming->notify);
    if (detection)
        teaming->detect = strcmp(detection, "beacon") == 0 ? TOPO_DETECT_BEACON : TOPO_DETECT_LINK;
}

static enum topo_lag_mode mode_of(const struct doc_node *lag)
{
    return strcmp(build_word(lag, "mode"), "lacp") == 0 ? TOPO_LAG_LACP : TOPO_LAG_STATIC;
}

/* A LAG of a host or NAS: mode, rate, MAC address; the policy stands already. */
static void take_lag(struct build *b, struct topo_team *team, const struct doc_node *lag, const char *full)
{
    const char *rate = build_word(lag, "lacp-rate");
    team->mode = mode_of(lag);
    team->lacp_fast = rate && strcmp(rate, "fast") == 0;
    team->mac_origin = build_mac(b, build_word(lag, "mac"), full, team->mac);
}

static void add_vswitch(struct build *b, int box, const struct doc_pair *pair, bool distributed)
{
    const struct doc_node *lag = distributed ? doc_get(pair->value, "lag") : NULL;
    struct topo_team *team =
        add_team(b, box, pair->key, distributed ? TOPO_TEAM_DVSWITCH : TOPO_TEAM_VSWITCH, pair->mark);
    take_members(b, team, lag && doc_get(lag, "members") ? doc_get(lag, "members") : doc_get(pair->value, "uplinks"));
    team->mtu = (uint32_t)build_integer(pair->value, "mtu", 0);
    if (!lag) {
        take_policy(b, &team->teaming, pair->value, "teaming", "esxi", "esxi-port-id");
        take_teaming(b, team, pair->value, &team->teaming);
        team->mode = is_policy(&team->teaming, "esxi-ip-hash") ? TOPO_LAG_STATIC : TOPO_LAG_NONE;
        return;
    }
    if (doc_get(pair->value, "teaming"))
        schema_error(b->report, build_mark(pair->value, "teaming"), NULL,
                     "`%s` has a LAG: its `hash:` takes the place of teaming", pair->key);
    const char *full = arena_printf(b->scratch, "%s:%s", b->t->boxes[box].name, pair->key);
    take_policy(b, &team->teaming, lag, "hash", "esxi-lacp", NULL);
    take_lag(b, team, lag, full);
    if (build_word(lag, "name"))
        name_table_add(&b->teams, arena_printf(b->scratch, "%s:%s", b->t->boxes[box].name, build_word(lag, "name")),
                       (int)(team - b->t->teams));
}

static void esxi_teams(struct build *b, int box, const struct doc_node *doc)
{
    const struct doc_node *standard = doc_get(doc, "vswitches"), *distributed = doc_get(doc, "dvswitches");
    for (size_t i = 0; standard && i < standard->count; i++)
        add_vswitch(b, box, &standard->pairs[i], false);
    for (size_t i = 0; distributed && i < distributed->count; i++)
        add_vswitch(b, box, &distributed->pairs[i], true);
}

/* The driver's generation decides the arithmetic: `gen:` of the bond, else the node's kernel, else the newest, assumed. */
static void take_generation(struct build *b, struct topo_team *team, const struct doc_node *bond, const char *kernel)
{
    struct hash_selector *policy = &team->teaming.policy;
    const char *written = build_word(bond, "gen"), *gen = written;
    char problem[160];
    bool has_gen = false;
    for (unsigned i = 0; policy->policy && i < policy->policy->param_count; i++)
        has_gen |= strcmp(policy->policy->params[i].name, "gen") == 0;
    if (!has_gen || strcmp(policy->policy->prefix, "linux") != 0)
        return;
    if (!gen && kernel)
        gen = hash_linux_gen_for_kernel(kernel, NULL);
    const struct doc_node *hash = doc_get(bond, "hash");
    if (hash && doc_get(hash, "gen"))
        return;
    if (gen && !hash_selector_set(policy, "gen", gen, problem, sizeof(problem)))
        schema_error(b->report, build_mark(bond, written ? "gen" : "hash"), NULL, "%s", problem);
    if (!gen)
        team->teaming.policy_origin = TOPO_ASSUMED;
}

/* Modes that need no transmit hash of their own. */
static const char *policy_of_mode(const char *mode)
{
    return strcmp(mode, "active-backup") == 0 ? "linux-active-backup"
           : strcmp(mode, "balance-tlb") == 0 ? "linux-tlb"
                                              : "linux-alb";
}

/* `primary:` of an active-backup bond: its place among the members is a setting of the policy. */
static void take_primary(struct build *b, struct topo_team *team, const char *mode, const struct doc_node *primary)
{
    char place[24], problem[160];
    int port = port_of(b, team->box, primary);
    size_t i = 0;
    while (i < team->n_ports && team->ports[i] != port)
        i++;
    snprintf(place, sizeof(place), "%zu", i);
    if (strcmp(mode, "active-backup") != 0)
        schema_error(b->report, primary->mark, NULL, "`primary` belongs to mode active-backup");
    else if (port >= 0 && i == team->n_ports)
        schema_error(b->report, primary->mark, NULL, "`%s` is no member of `%s`", primary->text, team->name);
    else if (port >= 0 && !hash_selector_set(&team->teaming.policy, "primary", place, problem, sizeof(problem)))
        schema_error(b->report, primary->mark, NULL, "%s", problem);
}

static void add_bond(struct build *b, int box, const struct doc_pair *pair, const char *kernel)
{
    const struct doc_node *bond = pair->value;
    const char *mode = build_word(bond, "mode"), *rate = build_word(bond, "lacp-rate");
    struct topo_team *team = add_team(b, box, pair->key, TOPO_TEAM_BOND, pair->mark);
    take_members(b, team, doc_get(bond, "members"));
    bool hashed = strcmp(mode, "802.3ad") == 0 || strcmp(mode, "balance-xor") == 0;
    if (hashed) {
        take_policy(b, &team->teaming, bond, "hash", "linux", "linux-layer2");
        take_generation(b, team, bond, kernel);
    } else if (doc_get(bond, "hash")) {
        schema_error(b->report, build_mark(bond, "hash"), NULL, "mode %s has no transmit hash", mode);
    } else {
        take_policy(b, &team->teaming, bond, "hash", "linux", policy_of_mode(mode));
        team->teaming.policy_origin = TOPO_DERIVED; /* the mode says it */
    }
    if (doc_get(bond, "primary"))
        take_primary(b, team, mode, doc_get(bond, "primary"));
    team->mode = strcmp(mode, "802.3ad") == 0       ? TOPO_LAG_LACP
                 : strcmp(mode, "balance-xor") == 0 ? TOPO_LAG_STATIC
                                                    : TOPO_LAG_NONE;
    team->lacp_fast = rate && strcmp(rate, "fast") == 0;
    team->mtu = (uint32_t)build_integer(bond, "mtu", 0);
    const char *full = arena_printf(b->scratch, "%s:%s", b->t->boxes[box].name, pair->key);
    team->mac_origin = build_mac(b, build_word(bond, "mac"), full, team->mac);
}

/* A NIC of its own: a team of one, named like the NIC. */
static void add_single(struct build *b, int port)
{
    struct topo_port *p = &b->t->ports[port];
    const char *name = p->name;
    if (b->t->boxes[p->box].part)
        name = strchr(name, '.') + 1;
    struct topo_team *team = add_team(b, p->box, name, TOPO_TEAM_SINGLE, p->mark);
    int *ports = arena_alloc(b->arena, sizeof(*ports));
    ports[0] = port;
    team->ports = team->teaming.active = ports;
    team->n_ports = team->teaming.n_active = 1;
    no_choice(&team->teaming);
    memcpy(team->mac, p->mac, sizeof(team->mac));
    team->mac_origin = p->mac_origin;
    p->team = (int)(team - b->t->teams);
}

static void add_singles(struct build *b, int box)
{
    const struct topo_box *self = &b->t->boxes[box];
    for (int i = self->first_port; i < self->first_port + self->n_ports; i++)
        if (b->t->ports[i].team < 0)
            add_single(b, i);
}

/* `members:` of a LAG or team, else all NICs of the controller. */
static const struct doc_node *members_of(struct build *b, int box, const struct doc_node *map)
{
    const struct doc_node *members = doc_get(map, "members"), *nics = doc_get(b->part_docs[box], "nics");
    if (members || nics->type == DOC_LIST)
        return members ? members : nics;
    struct doc_node *list = doc_new(b->scratch, DOC_LIST, nics->mark);
    for (size_t i = 0; i < nics->count; i++)
        doc_append(b->scratch, list, doc_scalar(b->scratch, nics->pairs[i].key, nics->pairs[i].mark));
    return list;
}

static void nas_lag(struct build *b, int box, const char *name, const struct doc_node *lag, struct diag_mark mark)
{
    const struct topo_box *self = &b->t->boxes[box];
    const struct topo_node *node = &b->t->nodes[self->node];
    struct topo_team *team = add_team(b, box, name, TOPO_TEAM_NAS_LAG, mark);
    take_members(b, team, members_of(b, box, lag));
    take_policy(b, &team->teaming, lag, "hash", build_vendor(b, node->model), NULL);
    take_generation(b, team, lag, node->version);
    take_lag(b, team, lag, arena_printf(b->scratch, "%s.%s", self->name, name));
}

static void nas_team(struct build *b, int box, const struct doc_pair *pair)
{
    struct topo_team *team = add_team(b, box, "team", TOPO_TEAM_NAS_TEAM, pair->mark);
    take_members(b, team, members_of(b, box, pair->value));
    take_policy(b, &team->teaming, pair->value, "transmit", NULL, NULL);
    team->learning = build_time(pair->value, "learning", PS_PER_S);
    if (team->n_ports) {
        memcpy(team->mac, b->t->ports[team->ports[0]].mac, sizeof(team->mac));
        team->mac_origin = b->t->ports[team->ports[0]].mac_origin;
    }
}

static void nas_teams(struct build *b, int box)
{
    const struct doc_node *doc = b->part_docs[box];
    const struct doc_pair *lag = doc_get_pair(doc, "lag"), *team = doc_get_pair(doc, "team");
    const struct doc_node *lags = doc_get(doc, "lags");
    size_t before = b->t->n_teams;
    if (!!lag + !!lags + !!team > 1) {
        schema_error(b->report, (team ? team : lag)->mark, NULL, "`%s` has more than one of lag, lags and team",
                     b->t->boxes[box].name);
        return;
    }
    if (lag)
        nas_lag(b, box, build_word(lag->value, "name") ? build_word(lag->value, "name") : "lag", lag->value, lag->mark);
    for (size_t i = 0; lags && i < lags->count; i++)
        nas_lag(b, box, lags->pairs[i].key, lags->pairs[i].value, lags->pairs[i].mark);
    if (team)
        nas_team(b, box, team);
    add_singles(b, box);
    /* "fas:n1" is a name for the only team of n1. */
    if (b->t->n_teams == before + 1)
        name_table_add(&b->teams, b->t->boxes[box].name, (int)before);
}

int build_nas_team(struct build *b, int box, const char *on, const struct diag_mark *mark)
{
    const struct topo_box *self = &b->t->boxes[box];
    if (on) {
        int team = name_table_find(&b->teams, arena_printf(b->scratch, "%s.%s", self->name, on));
        if (team < 0 && mark)
            build_dangling(b, *mark, "LAG or NIC", arena_printf(b->scratch, "%s.%s", self->name, on), &b->teams);
        return team;
    }
    if (b->several_teams[box] && mark)
        schema_error(b->report, *mark, "say which: {port: e0a}", "`%s` has several LAGs or NICs this VIP could be on",
                     self->name);
    return b->several_teams[box] ? -1 : b->only_team[box];
}

/* The team that VIPs of a controller ride on where they don't say: its LAG or team, else its only NIC. */
static void know_only_team(struct build *b, int box, size_t first)
{
    const struct topo *t = b->t;
    int found = -1;
    bool several = false;
    for (size_t i = first; i < t->n_teams; i++) {
        bool single = t->teams[i].kind == TOPO_TEAM_SINGLE;
        if (found >= 0 && single && t->teams[found].kind != TOPO_TEAM_SINGLE)
            continue;
        several = found >= 0 && t->teams[i].kind == t->teams[found].kind;
        if (several)
            break;
        found = (int)i;
    }
    b->only_team[box] = found;
    b->several_teams[box] = several;
}

void build_teams(struct build *b)
{
    struct topo *t = b->t;
    b->only_team = arena_alloc(b->scratch, (t->n_boxes + 1) * sizeof(*b->only_team));
    b->several_teams = arena_alloc(b->scratch, t->n_boxes + 1);
    for (int box = 0; box < (int)t->n_boxes; box++) {
        const struct topo_node *node = &t->nodes[t->boxes[box].node];
        const size_t first = t->n_teams;
        const struct doc_node *doc = b->docs[t->boxes[box].node], *bonds = doc_get(doc, "bonds");
        switch (node->kind) {
        case TOPO_ESXI:
            esxi_teams(b, box, doc);
            break;
        case TOPO_LINUX:
        case TOPO_ROUTER:
            for (size_t i = 0; bonds && i < bonds->count; i++)
                add_bond(b, box, &bonds->pairs[i], node->version);
            add_singles(b, box);
            break;
        case TOPO_NAS:
            nas_teams(b, box);
            know_only_team(b, box, first);
            break;
        case TOPO_SWITCH:
            break;
        }
    }
}

/* For port groups: a teaming of their own over that of their switch. */
const struct topo_teaming *build_portgroup_teaming(struct build *b, int team, const struct doc_node *portgroup)
{
    static const char *const keys[] = {"teaming", "active", "standby", "unused", "failback", "notify", "detection"};
    bool own = false;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        own |= doc_get(portgroup, keys[i]) != NULL;
    if (!own)
        return &b->t->teams[team].teaming;
    struct topo_teaming *teaming = arena_alloc(b->arena, sizeof(*teaming));
    *teaming = b->t->teams[team].teaming;
    if (doc_get(portgroup, "teaming"))
        take_policy(b, teaming, portgroup, "teaming", "esxi", NULL);
    take_teaming(b, &b->t->teams[team], portgroup, teaming);
    return teaming;
}
