/* MLAG pairs (vPC, VLT, ...): two switches that look like one to a team with cables to both.
 *
 * Each of the pair has a LAG of its own towards that team; the two are partners. The pair shares what it learns: an address on
 * a LAG with a partner is on the partner for the other switch, any other address is behind the peer link. So each switch sends by
 * its own members, and over the peer link only what has no usable member here. A frame that came over the peer link does not
 * leave by a LAG whose partner still has members: the other switch has sent it there itself.
 */
#include "emu/fabric/fabric_internal.h"

/* Whether both lead to the same team: the cables tell, since peer_team names only one LAG of a pair. */
static bool same_team(const struct topo *t, int a, int b)
{
    int to[2] = {-1, -2}, lags[2] = {a, b};

    for (int i = 0; i < 2; i++) {
        const struct topo_team *lag = &t->teams[lags[i]];
        const struct topo_port *p = lag->n_ports ? &t->ports[lag->ports[0]] : NULL;

        if (p && p->link >= 0)
            to[i] = t->ports[t->links[p->link].port[!p->end]].team;
    }
    return to[0] >= 0 && to[0] == to[1];
}

void fabric_mlag_init(struct fabric *f)
{
    const struct topo *t = f->topo;

    for (size_t a = 0; a < t->n_teams; a++) {
        int peer = f->boxes[t->teams[a].box].mlag_peer;

        f->teams[a].mlag_partner = -1;
        if (t->teams[a].kind != TOPO_TEAM_SWITCH_LAG || peer < 0)
            continue;
        for (size_t b = 0; b < t->n_teams; b++)
            if (t->teams[b].kind == TOPO_TEAM_SWITCH_LAG && t->teams[b].box == peer && same_team(t, (int)a, (int)b))
                f->teams[a].mlag_partner = (int)b;
    }
}

static int partner(const struct fabric *f, int lport)
{
    return fabric_lport_is_team(f, lport) ? f->teams[fabric_team_of_lport(f, lport)].mlag_partner : -1;
}

void fabric_mlag_learned(struct fabric *f, int box, uint64_t key, int lport, ps_t now)
{
    int peer = f->boxes[box].mlag_peer, other = partner(f, lport);

    if (peer < 0 || lport == f->boxes[box].mlag_peer_link || f->boxes[peer].mlag_peer_link < 0)
        return;
    fabric_switch_learn(f, peer, key, other >= 0 ? fabric_lport_of_team(f, other) : f->boxes[peer].mlag_peer_link, now,
                        NULL);
}

bool fabric_mlag_knows(const struct fabric *f, int box, struct mac_entry *e, ps_t now)
{
    int peer = f->boxes[box].mlag_peer;
    const struct mac_entry *other = e && peer >= 0 ? mac_table_find(&f->boxes[peer].macs, e->key) : NULL;

    if (!other || e->lport < 0 || !mac_known(&f->boxes[peer].macs, other, now))
        return false;
    e->seen = other->seen;
    return true;
}

int fabric_mlag_way(const struct fabric *f, int box, int in, int lport)
{
    int link = f->boxes[box].mlag_peer_link, other = partner(f, lport);

    if (link < 0 || other < 0)
        return lport;
    if (in == link)
        return fabric_lport_usable(f, fabric_lport_of_team(f, other)) ? -1 : lport;
    return fabric_lport_usable(f, lport) ? lport : link;
}
