/* Cables: what hangs in the air, what closes a loop, what is not reached. */
#include "emu/model/check_rules.h"

#include <stdlib.h>
#include <string.h>

static void uplink_uncabled(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *tm = &t->teams[i];
        struct check_names bare = {0};
        for (size_t k = 0; k < tm->n_ports; k++)
            if (t->ports[tm->ports[k]].link < 0)
                check_names_add(c, &bare, t->ports[tm->ports[k]].name);
        if (bare.n && tm->kind != TOPO_TEAM_SINGLE)
            check_add(c, tm->mark, check_team_name(c, (int)i), "add the cable to `links:`, or take the port out",
                      "%s %s no cable", check_names_text(c, &bare), bare.n == 1 ? "has" : "have");
    }
}

/* ---- loops ---- */

/* Switches are vertices, an MLAG pair is one; a LAG is one edge. Per VLAN the edges must form a forest. */
struct loop_search {
    const struct topo *t;
    int *parent;    /* union-find over nodes */
    int *team_seen; /* per team the last VLAN that it was an edge in, + 1 */
    int round;
};

static int loop_root(struct loop_search *s, int node)
{
    while (s->parent[node] != node) {
        s->parent[node] = s->parent[s->parent[node]];
        node = s->parent[node];
    }
    return node;
}

/* The team that stands for the whole LAG: of an MLAG pair's two halves (one name on both) the one of the lower
 * node. */
static int whole_lag(const struct topo *t, int team)
{
    int node = t->boxes[t->teams[team].box].node, peer = t->nodes[node].mlag_peer;

    if (peer < 0 || peer > node)
        return team;
    for (size_t i = 0; i < t->n_teams; i++)
        if (t->boxes[t->teams[i].box].node == peer && strcmp(t->teams[i].name, t->teams[team].name) == 0)
            return (int)i;
    return team;
}

/* Whether this end belongs to a LAG that has been an edge already in this VLAN; notes it. */
static bool edge_seen(struct loop_search *s, int port)
{
    int team = s->t->ports[port].team;

    if (team < 0 || check_bundle_of(s->t, team, &s->t->teams[team].teaming) == CHECK_LOOSE)
        return false;
    team = whole_lag(s->t, team);
    if (s->team_seen[team] == s->round)
        return true;
    s->team_seen[team] = s->round;
    return false;
}

static bool is_peer_link(const struct topo *t, const struct topo_link *l)
{
    const struct topo_node *n = check_node(t, t->ports[l->port[0]].box);
    int team = t->ports[l->port[0]].team;
    return n->mlag_peer >= 0 && n->mlag_peer == t->boxes[t->ports[l->port[1]].box].node && n->mlag_peer_link >= 0 &&
           team == n->mlag_peer_link;
}

static void loops_in(struct check *c, struct loop_search *s, int vlan, bool *told)
{
    const struct topo *t = c->t;

    s->round++;
    for (size_t i = 0; i < t->n_nodes; i++) {
        int peer = t->nodes[i].mlag_peer;
        s->parent[i] = peer >= 0 && peer < (int)i ? peer : (int)i;
    }
    for (size_t i = 0; i < t->n_links; i++) {
        const struct topo_link *l = &t->links[i];
        const struct topo_port *a = &t->ports[l->port[0]], *b = &t->ports[l->port[1]];
        uint16_t tag;
        bool seen;
        int ra, rb;
        if (l->down || !check_is_switch(t, a->box) || !check_is_switch(t, b->box) || is_peer_link(t, l) ||
            !path_vlan_out(t, l->port[0], (uint16_t)vlan, &tag) || !path_vlan_out(t, l->port[1], (uint16_t)vlan, &tag))
            continue;
        seen = edge_seen(s, l->port[0]);
        if (edge_seen(s, l->port[1]) || seen)
            continue;
        ra = loop_root(s, t->boxes[a->box].node);
        rb = loop_root(s, t->boxes[b->box].node);
        if (ra != rb) {
            s->parent[ra] = rb;
        } else if (!told[i]) {
            told[i] = true;
            check_add(
                c, l->mark, NULL,
                "bundle the cables in a LAG on both switches, or mark the one that spanning tree blocks `state: down`",
                "the cable %s to %s closes a loop%s: %s and %s are already connected without it", a->full, b->full,
                vlan ? check_text(c, " in VLAN %d", vlan) : "", t->boxes[a->box].name, t->boxes[b->box].name);
        }
    }
}

static void loop_without_lag(struct check *c)
{
    const struct topo *t = c->t;
    struct loop_search s = {.t = t};
    bool *told = check_alloc(c, t->n_links, sizeof *told);
    bool *vlans = check_alloc(c, 4096, sizeof *vlans);

    s.parent = check_alloc(c, t->n_nodes, sizeof *s.parent);
    s.team_seen = check_alloc(c, t->n_teams, sizeof *s.team_seen);
    vlans[0] = true;
    for (size_t i = 0; i < t->n_nodes; i++)
        for (size_t k = 0; k < t->nodes[i].n_vlans; k++)
            vlans[t->nodes[i].vlans[k] & 4095] = true;
    for (int v = 0; v < 4096; v++)
        if (vlans[v])
            loops_in(c, &s, v, told);
}

/* ---- reach ---- */

static void unreachable(struct check *c)
{
    const struct topo *t = c->t;
    struct path p;

    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct check_pair *pair = &c->pairs[i];
        const struct topo_mount *m = &t->mounts[pair->mount];
        if (!t->vips[pair->vip].up)
            continue; /* vip-down-but-used says that */
        for (int d = FLOW_WRITE; d <= FLOW_READ; d++) {
            enum path_end end = path_walk(t, NULL, &pair->flow, (enum flow_direction)d, false, &p);
            if (end == PATH_OK || end == PATH_VIP_DOWN || end == PATH_NO_ROUTE)
                continue;
            check_add_for(c, m->mark, t->datastores[m->datastore].name, t->boxes[m->host].name,
                          "`emu path` shows the way hop by hop", "frames do not arrive%s: %s",
                          d == FLOW_READ ? " on the way back" : "", p.problem);
            break;
        }
    }
}

// clang-format off
const struct check_rule check_wiring_rules[] = {
    {"uplink-uncabled", DIAG_WARNING, "a member of a team has no cable",
     "A vSwitch, bond or LAG counts a port that no cable in `links:` ends in. Such a port never carries\n"
     "anything: with a hash over n members the flows are spread over the others, in another order than n\n"
     "members would give.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network nic list                      # ESXi: link status of every vmnic\n"
     "    cat /proc/net/bonding/bond0                  # Linux: MII status of every member\n"
     "    show lldp neighbors                          # switch: who is at the other end\n",
     uplink_uncabled},
    {"loop-without-lag", DIAG_ERROR, "two ways between switches that are no LAG",
     "Two cables between the same switches, or a ring of switches, in one VLAN. Without spanning tree\n"
     "broadcasts circle for ever; with it one of the cables is blocked and carries nothing. Spanning tree\n"
     "is not modelled: which cable it blocks depends on priorities that the file does not hold. Say it\n"
     "yourself by marking that link `state: down`, or bundle parallel cables in a LAG on both switches.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show spanning-tree vlan 50                   # one port must be blocking (BLK, altn)\n"
     "    show etherchannel summary                    # bundled ports are marked P\n",
     loop_without_lag},
    {"unreachable", DIAG_ERROR, "frames of a mount do not arrive",
     "The way from the host to the VIP, or back, ends before the other side: links that are down, a switch\n"
     "without a way on, or a loop. `emu path FILE --host H --datastore D` shows the hops up to there.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    vmkping -I vmk1 10.50.0.101\n"
     "    ping -I bond0.50 10.50.0.101\n",
     unreachable},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
