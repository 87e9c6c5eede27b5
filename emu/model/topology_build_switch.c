/* Switches: LAGs and what they lead to, VLANs of ports and LAGs, MLAG pairs, and what boxes were seen to choose.
 *
 * A LAG says `to:` a team; its members are the cables between this switch and that team, in this side's port order, unless
 * `members:` gives them. Two switches of an MLAG pair have one LAG each to the same team. The host's team then has the LAG
 * of the switch whose name comes first as its peer; the checks know about pairs.
 */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

struct lag {
    const struct doc_pair *pair;
    int team; /* index of the team it becomes */
    int to;   /* team at the other end, or -1 */
};

static int other_port(const struct topo *t, int port)
{
    const struct topo_port *p = &t->ports[port];
    return p->link < 0 ? -1 : t->links[p->link].port[!p->end];
}

static bool leads_to(const struct topo *t, int port, int team)
{
    int far = other_port(t, port);
    if (far < 0)
        return false;
    if (t->teams[team].kind == TOPO_TEAM_SWITCH_LAG && !t->teams[team].n_ports)
        return t->ports[far].box == t->teams[team].box; /* a LAG of another switch without members of its own yet */
    return t->ports[far].team == team;
}

/* The port of switch `box` that `members:` or `port:` names. */
static int member_port(struct build *b, int box, const char *name, struct diag_mark mark)
{
    const char *full = arena_printf(b->scratch, "%s:%s", b->t->boxes[box].name, name);
    int port = name_table_find(&b->ports, full);
    if (port < 0)
        build_dangling(b, mark, "port", full, &b->ports);
    return port;
}

static void join(struct build *b, struct topo_team *team, int *ports, int port, struct diag_mark mark)
{
    struct topo_port *p = &b->t->ports[port];
    if (p->team >= 0) {
        schema_error(b->report, mark, NULL, "`%s` is in two LAGs, `%s` and `%s`", p->full, b->t->teams[p->team].name,
                     team->name);
        return;
    }
    p->team = (int)(team - b->t->teams);
    ports[team->n_ports++] = port;
}

static void given_members(struct build *b, const struct lag *lag, struct topo_team *team, int *ports)
{
    const struct topo *t = b->t;
    const struct doc_node *members = doc_get(lag->pair->value, "members");
    for (size_t i = 0; i < members->count; i++) {
        struct diag_mark mark = members->items[i]->mark;
        int port = member_port(b, team->box, members->items[i]->text, mark);
        if (port < 0)
            continue;
        int far = other_port(t, port);
        if (far < 0)
            schema_error(b->report, mark, NULL, "`%s` has no cable", t->ports[port].full);
        else if (lag->to >= 0 && !leads_to(t, port, lag->to))
            schema_error(b->report, mark, NULL, "`%s` does not lead to `%s` but to `%s`", t->ports[port].full,
                         build_word(lag->pair->value, "to"), t->ports[far].full);
        else
            join(b, team, ports, port, mark);
    }
}

/* The cables to the team at the other end, in this side's port order: ports are numbered in that order. */
static void found_members(struct build *b, const struct lag *lag, struct topo_team *team, int *ports)
{
    const struct topo *t = b->t;
    const struct topo_box *box = &t->boxes[team->box];
    const struct topo_team *to = &t->teams[lag->to];
    if (to->kind == TOPO_TEAM_SWITCH_LAG && !to->n_ports) {
        /* Neither end has members yet: all cables between both switches that no other LAG has taken. */
        for (int port = box->first_port; port < box->first_port + box->n_ports && !b->report->failed; port++)
            if (t->ports[port].team < 0 && leads_to(t, port, lag->to))
                join(b, team, ports, port, lag->pair->mark);
    } else {
        for (size_t i = 0; i < to->n_ports; i++) {
            int near = other_port(t, to->ports[i]);
            if (near >= 0 && t->ports[near].box == team->box)
                join(b, team, ports, near, lag->pair->mark);
        }
        qsort(ports, team->n_ports, sizeof(*ports), build_by_number);
    }
    if (!team->n_ports)
        schema_error(b->report, build_mark(lag->pair->value, "to"), NULL, "no cable leads from `%s` to `%s`", box->name,
                     build_word(lag->pair->value, "to"));
}

static void take_members(struct build *b, const struct lag *lag)
{
    struct topo *t = b->t;
    struct topo_team *team = &t->teams[lag->team];
    const struct topo_box *box = &t->boxes[team->box];
    const struct doc_node *given = doc_get(lag->pair->value, "members");
    size_t room = given                                       ? given->count
                  : lag->to >= 0 && t->teams[lag->to].n_ports ? t->teams[lag->to].n_ports
                                                              : (size_t)box->n_ports;
    int *ports = arena_alloc(b->arena, (room + 1) * sizeof(*ports));
    if (given)
        given_members(b, lag, team, ports);
    else if (lag->to >= 0)
        found_members(b, lag, team, ports);
    team->ports = team->teaming.active = ports;
    team->teaming.n_active = team->n_ports;
    if (team->n_ports > HASH_MEMBERS_MAX)
        schema_error(b->report, team->mark, NULL, "`%s` has %zu links; a LAG has at most %d", team->name, team->n_ports,
                     HASH_MEMBERS_MAX);
    if (lag->to >= 0) {
        team->peer_team = lag->to;
        int *back = &t->teams[lag->to].peer_team;
        if (*back < 0 || build_natural_order(box->name, t->boxes[t->teams[*back].box].name) < 0)
            *back = lag->team;
    } else if (team->n_ports) {
        int far = other_port(t, ports[0]);
        team->peer_team = far < 0 ? -1 : t->ports[far].team;
    }
}

/* A VLAN of the switch that is being read. */
static uint16_t known_vlan(struct build *b, const struct topo_node *node, const char *text, struct diag_mark mark)
{
    uint16_t vlan = (uint16_t)strtoul(text, NULL, 10);
    if (!(b->known_vlans[vlan / 8] & 1u << vlan % 8))
        schema_error(b->report, mark, NULL, "VLAN %u is none of the `vlans:` of `%s`", vlan, node->name);
    return vlan;
}

static void take_vlan(struct build *b, const struct topo_node *node, const struct doc_node *map, struct topo_vlan *out)
{
    const struct doc_node *vlan = doc_get(map, "vlan");
    if (!vlan)
        return;
    struct diag_mark mark = build_mark(map, "vlan");
    const struct doc_node *list = doc_get(vlan, "trunk");
    if (vlan->type == DOC_SCALAR && strcmp(vlan->text, "trunk") != 0) {
        out->mode = TOPO_VLAN_ACCESS;
        out->access = known_vlan(b, node, vlan->text, mark);
        return;
    }
    out->mode = TOPO_VLAN_TRUNK;
    out->allowed = node->vlans;
    out->n_allowed = node->n_vlans;
    if (!node->n_vlans)
        schema_error(b->report, mark, "vlans: [50]", "a trunk passes the VLANs of the switch, and `%s` has no `vlans:`",
                     node->name);
    if (list) {
        uint16_t *allowed = arena_alloc(b->arena, (list->count + 1) * sizeof(*allowed));
        for (size_t i = 0; i < list->count; i++)
            allowed[i] = known_vlan(b, node, list->items[i]->text, list->items[i]->mark);
        out->allowed = allowed;
        out->n_allowed = list->count;
    }
    if (build_word(vlan, "native"))
        out->native = known_vlan(b, node, build_word(vlan, "native"), build_mark(vlan, "native"));
}

/* Also makes them the ones that known_vlan() knows. */
static void read_vlans(struct build *b, struct topo_node *node, const struct doc_node *doc)
{
    const struct doc_node *vlans = doc_get(doc, "vlans");
    memset(b->known_vlans, 0, sizeof(b->known_vlans));
    if (!vlans)
        return;
    uint16_t *all = arena_alloc(b->arena, (vlans->count + 1) * sizeof(*all));
    for (size_t i = 0; i < vlans->count; i++) {
        all[i] = (uint16_t)strtoul(vlans->items[i]->text, NULL, 10);
        b->known_vlans[all[i] / 8] |= (uint8_t)(1u << all[i] % 8);
    }
    node->vlans = all;
    node->n_vlans = vlans->count;
}

static void take_vlans_of_ports(struct build *b, struct topo_node *node, const struct doc_node *doc)
{
    const struct doc_node *ports = doc_get(doc, "ports");
    for (size_t i = 0; ports && i < ports->count; i++) {
        int port = member_port(b, node->first_box, ports->pairs[i].key, ports->pairs[i].mark);
        if (port >= 0)
            take_vlan(b, node, ports->pairs[i].value, &b->t->ports[port].vlan);
    }
}

static void make_lag(struct build *b, int n, const struct doc_pair *pair)
{
    struct topo *t = b->t;
    const struct topo_node *node = &t->nodes[n];
    const char *full = arena_printf(b->scratch, "%s:%s", node->name, pair->key),
               *rate = build_word(pair->value, "lacp-rate");
    const struct doc_node *hash = doc_get(pair->value, "hash");
    t->teams = arena_grow(b->arena, t->teams, t->n_teams, &b->teams_capacity, sizeof(*t->teams));
    if (name_table_add(&b->teams, full, (int)t->n_teams) >= 0)
        schema_error(b->report, pair->mark, NULL, "`%s` names two teams", full);
    struct topo_team *team = &t->teams[t->n_teams++];
    *team = (struct topo_team){
        .name = build_string(b, pair->key),
        .kind = TOPO_TEAM_SWITCH_LAG,
        .box = node->first_box,
        .mark = pair->mark,
        .mode = strcmp(build_word(pair->value, "mode"), "lacp") == 0 ? TOPO_LAG_LACP : TOPO_LAG_STATIC,
        .lacp_fast = rate && strcmp(rate, "fast") == 0,
        .peer_team = -1,
        .link_down_delay = build_time(b->docs[n], "link-down-delay", 0),
    };
    team->teaming = (struct topo_teaming){.failback = true, .notify = true, .mark = pair->mark, .policy = node->hash};
    team->teaming.policy_origin = node->hash.policy ? TOPO_GIVEN : TOPO_ASSUMED;
    if (hash && build_hash(b, hash, build_vendor(b, node->model), &team->teaming.policy))
        team->teaming.policy_origin = TOPO_GIVEN;
    if (!team->teaming.policy.policy)
        build_any_hash(&team->teaming.policy);
    team->mac_origin = build_mac(b, NULL, full, team->mac);
    take_vlan(b, node, pair->value, &team->vlan);
}

/* Whose members are settled first: given ones, then those of cables to hosts and NAS, then between switches. */
static int order_of(const struct topo *t, const struct lag *lag)
{
    if (doc_get(lag->pair->value, "members"))
        return 0;
    return lag->to >= 0 && t->teams[lag->to].kind == TOPO_TEAM_SWITCH_LAG ? 2 : 1;
}

static void find_peer(struct build *b, struct lag *lag)
{
    const char *to = build_word(lag->pair->value, "to");
    lag->to = -1;
    if (to) {
        lag->to = name_table_find(&b->teams, to);
        if (lag->to < 0)
            build_dangling(b, build_mark(lag->pair->value, "to"), "team", to, &b->teams);
        else if (b->t->teams[lag->to].box == b->t->teams[lag->team].box)
            schema_error(b->report, build_mark(lag->pair->value, "to"), NULL, "`%s` is a LAG of the same switch", to);
    } else if (!doc_get(lag->pair->value, "members")) {
        schema_error(b->report, lag->pair->mark, "to: \"esx1:vSwitch1\", or members: [..]",
                     "`%s` says neither `to:` nor `members:`", lag->pair->key);
    }
}

/* Members and peers of the LAGs of all switches. */
static void settle_lags(struct build *b, struct lag *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        find_peer(b, &all[i]);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < n; i++)
            if (order_of(b->t, &all[i]) == round && (all[i].to >= 0 || !build_word(all[i].pair->value, "to")))
                take_members(b, &all[i]);
}

static void take_mlag(struct build *b, int n)
{
    struct topo *t = b->t;
    const struct doc_node *mlag = doc_get(b->docs[n], "mlag"), *peers = doc_get(mlag, "peers");
    if (!mlag)
        return;
    int nodes[2] = {-1, -1};
    for (size_t i = 0; i < peers->count && i < 2; i++) {
        nodes[i] = name_table_find(&b->nodes, peers->items[i]->text);
        if (nodes[i] < 0 || t->nodes[nodes[i]].kind != TOPO_SWITCH) {
            build_dangling(b, peers->items[i]->mark, "switch", peers->items[i]->text, &b->nodes);
            return;
        }
    }
    if (peers->count != 2 || (nodes[0] != n && nodes[1] != n)) {
        schema_error(b->report, build_mark(mlag, "peers"), NULL, "an MLAG pair is this switch and one other");
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct topo_node *node = &t->nodes[nodes[i]];
        const char *link = arena_printf(b->scratch, "%s:%s", node->name, build_word(mlag, "peer-link"));
        int team = name_table_find(&b->teams, link), peer = nodes[!i];
        if (team < 0)
            build_dangling(b, build_mark(mlag, "peer-link"), "LAG", link, &b->teams);
        if ((node->mlag_peer >= 0 && node->mlag_peer != peer) ||
            (node->mlag_peer_link >= 0 && node->mlag_peer_link != team))
            schema_error(b->report, mlag->mark.line ? mlag->mark : node->mark, NULL,
                         "`%s` is in two different MLAG pairs", node->name);
        node->mlag_peer = peer;
        node->mlag_peer_link = team;
    }
}

static void take_observed(struct build *b, int n)
{
    struct topo *t = b->t;
    struct topo_node *node = &t->nodes[n];
    const struct doc_node *list = doc_get(b->docs[n], "observed");
    if (!list || !list->count)
        return;
    struct topo_observed *all = arena_alloc(b->arena, list->count * sizeof(*all));
    for (size_t i = 0; i < list->count; i++) {
        const struct doc_node *item = list->items[i];
        struct topo_observed *o = &all[node->n_observed];
        const char *lag = arena_printf(b->scratch, "%s:%s", node->name, build_word(item, "lag"));
        const char *port = arena_printf(b->scratch, "%s:%s", node->name, build_word(item, "port"));
        *o = (struct topo_observed){.sport = (uint16_t)build_integer(item, "sport", 0),
                                    .dport = (uint16_t)build_integer(item, "dport", 0),
                                    .team = name_table_find(&b->teams, lag),
                                    .port = name_table_find(&b->ports, port),
                                    .date = build_text(b, item, "date"),
                                    .mark = item->pairs[0].mark};
        topo_addr_parse(&o->src, build_word(item, "src"));
        topo_addr_parse(&o->dst, build_word(item, "dst"));
        if (o->team < 0)
            build_dangling(b, build_mark(item, "lag"), "team", lag, &b->teams);
        else if (o->port < 0)
            build_dangling(b, build_mark(item, "port"), "port", port, &b->ports);
        else if (t->ports[o->port].team != o->team)
            schema_error(b->report, build_mark(item, "port"), NULL, "`%s` is no member of `%s`", port, lag);
        node->n_observed++;
    }
    node->observed = all;
}

void build_switches(struct build *b)
{
    struct topo *t = b->t;
    struct lag *lags = NULL;
    size_t n_lags = 0, capacity = 0;
    for (size_t i = 0; i < t->n_nodes; i++) {
        const struct doc_node *doc = b->docs[i], *hash = doc_get(doc, "hash"), *own = doc_get(doc, "lags");
        if (t->nodes[i].kind != TOPO_SWITCH)
            continue;
        if (hash)
            build_hash(b, hash, build_vendor(b, t->nodes[i].model), &t->nodes[i].hash);
        read_vlans(b, &t->nodes[i], doc);
        take_vlans_of_ports(b, &t->nodes[i], doc);
        for (size_t k = 0; own && k < own->count; k++) {
            lags = arena_grow(b->scratch, lags, n_lags, &capacity, sizeof(*lags));
            lags[n_lags++] = (struct lag){.pair = &own->pairs[k], .team = (int)t->n_teams};
            make_lag(b, (int)i, &own->pairs[k]);
        }
    }
    settle_lags(b, lags, n_lags);
    for (size_t i = 0; i < t->n_nodes; i++) {
        take_mlag(b, (int)i);
        take_observed(b, (int)i);
    }
}
