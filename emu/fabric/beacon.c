/* Beacon probing of ESXi (vSphere 6.5 Networking, p. 98 and 107): every uplink of the team sends a broadcast once a second and
 * listens for those of the others.
 *
 * An uplink is good while beacons go both ways between it and at least one other. With three or more uplinks one that has no such
 * partner has failed, as long as others have. With two, or when nobody hears anybody, the host can't tell which one it is, and
 * sends everything on all of them, as documented. How many beacons must be missed is not documented: three are taken.
 */
#include "emu/fabric/fabric_internal.h"

#include <stdlib.h>

#define PERIOD PS_PER_S
#define MISSED 3

struct fabric_beacons {
    struct event tick;
    struct fabric *fabric;
    int team;
    const struct team_choice *uplinks; /* active and standby */
    uint16_t vlan;
    unsigned n;
    ps_t started;
    ps_t heard[]; /* [at * n + from]: last beacon of `from` at `at` */
};

static event_function tick;

bool fabric_beacons_init(struct fabric *f, int team)
{
    struct fabric_team *t = &f->teams[team];
    const struct team_choice *uplinks = NULL;
    uint16_t vlan = 0;
    size_t n;

    for (int i = 0; i < t->n_ifaces && !uplinks; i++)
        if (f->ifaces[t->ifaces[i]].pick->choice.teaming->detect == TOPO_DETECT_BEACON) {
            uplinks = &f->ifaces[t->ifaces[i]].pick->choice;
            vlan = f->ifaces[t->ifaces[i]].vlan;
        }
    if (!uplinks || uplinks->n < 2)
        return true;
    n = uplinks->n;
    t->beacons = calloc(1, sizeof *t->beacons + n * n * sizeof(ps_t));
    if (!t->beacons)
        return false;
    t->beacons->tick.run = tick;
    t->beacons->fabric = f;
    t->beacons->team = team;
    t->beacons->uplinks = uplinks;
    t->beacons->vlan = vlan;
    t->beacons->n = (unsigned)n;
    t->beacons->started = eventq_now(f->queue);
    eventq_set(f->queue, &t->beacons->tick, eventq_now(f->queue));
    return true;
}

void fabric_beacons_free(struct fabric *f, int team)
{
    if (f->teams[team].beacons)
        eventq_cancel(f->queue, &f->teams[team].beacons->tick);
    free(f->teams[team].beacons);
}

void fabric_beacon_heard(struct fabric *f, int port, const struct train *t, ps_t now)
{
    struct fabric_team *team = &f->teams[f->topo->ports[port].team];
    struct fabric_beacons *b = team->beacons;
    unsigned at = 0;

    /* Beacons of other hosts arrive as well. */
    if (!b || t->source >= b->n || train_mac(t->src) != train_mac(f->topo->ports[team->topo->ports[t->source]].mac))
        return;
    while (team->topo->ports[at] != port)
        at++;
    b->heard[at * b->n + t->source] = now;
}

static bool hears(const struct fabric_beacons *b, unsigned at, unsigned from, ps_t now)
{
    return b->heard[at * b->n + from] > 0 && now - b->heard[at * b->n + from] <= MISSED * PERIOD;
}

/* Whether beacons go both ways between the uplink and one of the others. */
static bool good(const struct fabric_beacons *b, unsigned i, ps_t now)
{
    for (unsigned k = 0; k < b->n; k++)
        if (k != i && hears(b, i, k, now) && hears(b, k, i, now))
            return true;
    return false;
}

static void judge(struct fabric_beacons *b, ps_t now)
{
    struct fabric *f = b->fabric;
    struct fabric_team *t = &f->teams[b->team];
    unsigned linked = 0, fine = 0;
    bool both;

    for (unsigned i = 0; i < b->n; i++) {
        linked += f->ports[b->uplinks->port[i]].carrier;
        fine += good(b, i, now);
    }
    both = linked > 1 && fine == 0;
    if (both != t->both)
        f->generation++;
    t->both = both;
    for (unsigned i = 0; i < b->n; i++) {
        int port = b->uplinks->port[i];
        bool lost = fine > 0 && f->ports[port].carrier && !good(b, i, now);

        if (lost != f->ports[port].beacon_lost)
            fabric_port_beacon(f, port, lost, now);
    }
}

static void tick(struct event *e, ps_t now)
{
    struct fabric_beacons *b = FABRIC_OF(e, struct fabric_beacons, tick);
    struct fabric *f = b->fabric;

    if (now - b->started > MISSED * PERIOD)
        judge(b, now);
    for (unsigned i = 0; i < b->n; i++) {
        int port = b->uplinks->port[i];
        struct train *t;

        if (!f->ports[port].carrier)
            continue;
        t = fabric_control_new(f, TRAIN_BEACON, f->topo->ports[port].mac, fabric_broadcast, now);
        t->source = (uint16_t)i;
        fabric_port_send(f, port, t, b->vlan);
    }
    eventq_set(f->queue, e, now + PERIOD);
}
