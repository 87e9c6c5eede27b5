/* Does a port have a link, and since when does its team know?
 *
 * A port has carrier when its cable isn't down and both boxes have power. A failure in one direction or a blackhole leaves the
 * carrier: a static LAG goes on sending into it. What the team goes by is `usable`:
 *
 *   carrier lost    link_down_delay later; at once on a port without a team
 *   carrier back    at once; with LACP after LACP_JOIN
 *   LACP            members are usable only when both ends speak LACP. When LACPDUs don't get through, the end that no longer
 *                   hears them gives up after three periods (IEEE 802.1AX: 1 s fast, 30 s slow, as that end has asked for)
 *                   and, if its own still get through, the other end learns of it in its next one, that is at once. When they
 *                   get through again the first one comes within a period, and LACP_JOIN later the member is back.
 *   beacons         beacon.c says which port they have stopped coming through
 *
 * LACP is state here, there are no frames of it.
 */
#include "emu/fabric/fabric_internal.h"

/* Wait before a member joins an aggregate: AGGREGATE_WAIT_TIME of IEEE 802.1AX, also in Linux bonding. */
#define LACP_JOIN   (2 * PS_PER_S)
#define LACP_MISSED 3

static const struct topo_team *team_of(const struct fabric *f, int port)
{
    int team = f->topo->ports[port].team;

    return team < 0 ? NULL : &f->topo->teams[team];
}

/* Where the port's team leads: the team at the other end of the cable, or NULL. */
static const struct topo_team *far_team(const struct fabric *f, int port)
{
    const struct topo_port *p = &f->topo->ports[port];

    return p->link < 0 ? NULL : team_of(f, f->topo->links[p->link].port[!p->end]);
}

static bool lacp(const struct topo_team *team) { return team && team->mode == TOPO_LAG_LACP; }

static ps_t lacp_period(const struct topo_team *team) { return team->lacp_fast ? PS_PER_S : 30 * PS_PER_S; }

static void settle(struct fabric_port *p, bool usable, ps_t now)
{
    struct fabric *f = p->fabric;
    int team = f->topo->ports[p->index].team;

    if (p->usable == usable)
        return;
    p->usable = usable;
    f->generation++;
    if (team >= 0)
        fabric_team_changed(f, team, p->index, usable, now);
    if (f->boxes[f->ports[p->index].box].kind == TOPO_SWITCH && !usable && !fabric_lport_usable(f, p->lport))
        fabric_switch_lport_down(f, p->lport);
}

static void change(struct event *e, ps_t now)
{
    struct fabric_port *p = FABRIC_OF(e, struct fabric_port, change);

    settle(p, p->wanted, now);
}

/* The port is to become usable or not at `at`, unless that is coming sooner already. */
static void want(struct fabric_port *p, bool usable, ps_t at, ps_t now)
{
    bool pending = event_pending(&p->change);

    if (p->wanted == usable && (!pending || p->change.at <= at))
        return;
    p->wanted = usable;
    eventq_cancel(p->fabric->queue, &p->change);
    if (usable == p->usable)
        return;
    if (at <= now)
        settle(p, usable, now);
    else
        eventq_set(p->fabric->queue, &p->change, at);
}

static bool passes(const struct wire *w) { return !w->down && !w->deaf; }

/* When the team learns that LACPDUs don't get through; `here` and `there` hear as said. */
static ps_t lacp_gives_up(const struct topo_team *here, const struct topo_team *there, bool here_hears,
                          bool there_hears)
{
    if (!here_hears)
        return LACP_MISSED * lacp_period(here);
    /* The other end gives up and says so. */
    return there_hears ? 0 : LACP_MISSED * lacp_period(there);
}

/* Whether the port is to be usable, and how long it takes from now until the team acts on it. */
static bool judge(const struct fabric *f, const struct fabric_port *p, bool was_up, ps_t *after)
{
    const struct topo_team *here = team_of(f, p->index), *there = far_team(f, p->index);
    bool here_hears, there_hears;

    *after = 0;
    if (!p->carrier) {
        *after = here ? here->link_down_delay : 0;
        return false;
    }
    if (!lacp(here))
        return !p->beacon_lost;
    if (!lacp(there))
        return false;
    there_hears = passes(p->out);
    here_hears = passes(&f->wires[topo_port_out(f->topo, p->index) ^ 1]);
    if (here_hears && there_hears) {
        ps_t period = lacp_period(here) > lacp_period(there) ? lacp_period(here) : lacp_period(there);

        *after = LACP_JOIN + (was_up ? period : 0);
        return true;
    }
    *after = lacp_gives_up(here, there, here_hears, there_hears);
    return false;
}

static void update(struct fabric *f, int port, bool carrier, ps_t now)
{
    struct fabric_port *p = &f->ports[port];
    bool was_up = p->carrier, usable;
    ps_t after;

    p->carrier = carrier;
    usable = judge(f, p, was_up, &after);
    want(p, usable, now + after, now);
}

void fabric_port_init(struct fabric *f, int port)
{
    struct fabric_port *p = &f->ports[port];
    int team = f->topo->ports[port].team;
    ps_t after;

    p->change.run = change;
    p->carrier = p->out && !p->out->down;
    p->usable = p->wanted = judge(f, p, true, &after);
    /* Everything has been up for a while at the start; teams begin with all links. */
    if (team >= 0 && !p->usable)
        for (int i = 0; i < f->teams[team].n_picks; i++)
            team_choice_link(&f->teams[team].picks[i].choice, port, false);
}

void fabric_port_beacon(struct fabric *f, int port, bool lost, ps_t now)
{
    f->ports[port].beacon_lost = lost;
    update(f, port, f->ports[port].carrier, now);
}

bool fabric_lport_usable(const struct fabric *f, int lport)
{
    if (!fabric_lport_is_team(f, lport))
        return f->ports[lport].usable;
    return f->teams[fabric_team_of_lport(f, lport)].picks[0].choice.in_use != 0;
}

void fabric_link_update(struct fabric *f, int link, ps_t now)
{
    const struct topo_link *l = &f->topo->links[link];
    enum topo_link_state state = f->link_state[link];
    bool down = state == TOPO_LINK_DOWN;

    for (int end = 0; end < 2; end++)
        down |= f->boxes[f->topo->ports[l->port[end]].box].off;
    for (int end = 0; end < 2; end++) {
        struct wire *w = &f->wires[2 * link + end];

        wire_set_deaf(w, state == TOPO_LINK_BLACKHOLE || (state == TOPO_LINK_ONE_WAY && end == f->link_from[link]));
        wire_set_down(w, down, now);
    }
    for (int end = 0; end < 2; end++)
        update(f, l->port[end], !down, now);
}
