/* Teams that look at loads. Both rules are approximations of what is documented.
 *
 * Load-based teaming (vDS, "route based on physical NIC load"): interfaces begin as under port-ID; every 30 s an uplink that was
 * busier than 75 % gives away an interface. Documented are the two numbers and that traffic moves to an uplink with free
 * capacity. Chosen here: the busier direction of the uplink counts, over the whole 30 s; the busiest interface on it
 * moves to the least busy uplink, if that stays below 75 % and below what the old one had; one move per team and round.
 *
 * Linux' balance-tlb and balance-alb (bond_alb.c): frames hash into 256 buckets; a bucket is bound, when first used, to the
 * NIC with the most room left (rate less load), and all are unbound every 10 s. Load is what was sent in these 10 s. On the
 * receiving side of balance-alb each client is told one NIC's address, in turn.
 */
#include "emu/fabric/fabric_internal.h"

#include <stdlib.h>
#include <string.h>

#define LBT_PERIOD  (30 * PS_PER_S)
#define LBT_PERCENT 75
#define ALB_PERIOD  (10 * PS_PER_S)

struct fabric_balance {
    struct event tick;
    struct fabric *fabric;
    int team;
    bool load_based;     /* else tlb or alb */
    ps_t *busy;          /* by link direction end: out and in of each uplink at the last tick */
    uint64_t *bytes;     /* by interface, or sent by each NIC, at the last tick */
    uint8_t client[256]; /* alb: NIC + 1 told to clients with that XOR of address bytes */
    unsigned turn;
};

static bool is_policy(const struct fabric_pick *p, const char *name)
{
    const struct hash_policy *policy = p->choice.teaming->policy.policy;

    return policy && strcmp(policy->name, name) == 0;
}

/* ---- load-based teaming ---- */

static struct wire *wire_of(struct fabric *f, int port, int in)
{
    int out = topo_port_out(f->topo, port);

    return out < 0 ? NULL : &f->wires[out ^ in];
}

/* Busy time of the uplink since the last tick, of its busier direction; remembers. */
static ps_t uplink_busy(struct fabric_balance *b, size_t i)
{
    struct fabric *f = b->fabric;
    int port = f->teams[b->team].topo->ports[i];
    ps_t most = 0;

    for (int in = 0; in < 2; in++) {
        const struct wire *w = wire_of(f, port, in);
        ps_t busy = w ? w->counters.busy : 0, grown = busy - b->busy[2 * i + (size_t)in];

        b->busy[2 * i + (size_t)in] = busy;
        most = grown > most ? grown : most;
    }
    return most;
}

static size_t place_of(const struct topo_team *team, int port)
{
    size_t i = 0;

    while (i < team->n_ports && team->ports[i] != port)
        i++;
    return i;
}

/* Moves the busiest interface of uplink `from`, if that helps. `load`: busy time per uplink. */
static bool relieve(struct fabric_balance *b, size_t from, const ps_t *load, const uint64_t *grown)
{
    struct fabric *f = b->fabric;
    struct fabric_team *t = &f->teams[b->team];
    const ps_t most = LBT_PERIOD / 100 * LBT_PERCENT;
    int busiest = -1;
    size_t to = from;
    ps_t its;

    for (int k = 0; k < t->n_ifaces && k < HASH_MEMBERS_MAX; k++) {
        const struct fabric_iface *i = &f->ifaces[t->ifaces[k]];

        if (is_policy(i->pick, "esxi-lbt") && i->uplink == t->topo->ports[from] &&
            (busiest < 0 || grown[k] > grown[busiest]))
            busiest = k;
    }
    if (busiest < 0)
        return false;
    for (size_t i = 0; i < t->topo->n_ports && i < HASH_MEMBERS_MAX; i++)
        if (f->ports[t->topo->ports[i]].usable && load[i] < load[to])
            to = i;
    /* What it would add there, at that uplink's rate; sent and received bytes are one direction at worst. */
    its = (ps_t)(grown[busiest] * 8 * 1000000 / wire_of(f, t->topo->ports[to], 0)->rate) * PS_PER_US;
    if (to == from || load[to] + its > most || load[to] + its >= load[from])
        return false;
    f->ifaces[t->ifaces[busiest]].moved = t->topo->ports[to];
    return true;
}

static void load_based(struct fabric_balance *b, ps_t now)
{
    struct fabric *f = b->fabric;
    struct fabric_team *t = &f->teams[b->team];
    ps_t load[HASH_MEMBERS_MAX];
    uint64_t grown[HASH_MEMBERS_MAX];
    size_t n = t->topo->n_ports < HASH_MEMBERS_MAX ? t->topo->n_ports : HASH_MEMBERS_MAX;
    bool moved = false;

    for (size_t i = 0; i < n; i++)
        load[i] = uplink_busy(b, i);
    for (int k = 0; k < t->n_ifaces && k < HASH_MEMBERS_MAX; k++) {
        uint64_t bytes = f->ifaces[t->ifaces[k]].bytes;

        grown[k] = bytes - b->bytes[k];
        b->bytes[k] = bytes;
    }
    for (size_t i = 0; i < n && !moved; i++)
        if (load[i] > LBT_PERIOD / 100 * LBT_PERCENT)
            moved = relieve(b, i, load, grown);
    if (moved)
        fabric_host_uplinks(f, b->team, now);
}

/* ---- balance-tlb, balance-alb ---- */

static uint64_t sent(const struct fabric *f, int port)
{
    return f->ports[port].out ? f->ports[port].out->counters.bytes_in : 0;
}

void fabric_balance_bind(struct fabric *f, struct fabric_pick *p, const struct hash_key *key)
{
    const struct hash_selector *sel = &p->choice.teaming->policy;
    struct fabric_balance *b = f->teams[p->team].balance;
    const struct topo_team *team = f->teams[p->team].topo;
    int bucket = hash_bucket(sel, hash_value(sel, key)), best = -1;
    int64_t most = 0;

    for (unsigned i = 0; i < p->choice.n; i++) {
        const struct wire *w = f->ports[p->choice.port[i]].out;
        size_t k = place_of(team, p->choice.port[i]);
        int64_t gap;

        if (!w || !(p->choice.in_use >> i & 1))
            continue;
        /* Bytes that it could send in the period, less those that it has. */
        gap = (int64_t)(w->rate / 8 * (ALB_PERIOD / PS_PER_S));
        if (b && k < team->n_ports)
            gap -= (int64_t)(sent(f, p->choice.port[i]) - b->bytes[k]);
        if (best < 0 || gap > most) {
            best = (int)i;
            most = gap;
        }
    }
    if (bucket >= 0 && best >= 0)
        hash_members_bind(&p->choice.members, (unsigned)bucket, (unsigned)best);
}

static void unbind(struct fabric_balance *b)
{
    struct fabric *f = b->fabric;
    struct fabric_team *t = &f->teams[b->team];

    for (size_t i = 0; i < t->topo->n_ports; i++)
        b->bytes[i] = sent(f, t->topo->ports[i]);
    for (int i = 0; i < t->n_picks; i++)
        hash_members_unbind(&t->picks[i].choice.members);
    f->generation++;
}

int fabric_balance_receive(struct fabric *f, int team, const uint8_t client_ip[4])
{
    struct fabric_balance *b = f->teams[team].balance;
    const struct topo_team *topo = f->teams[team].topo;
    uint8_t *told;

    if (!b || topo->n_ports == 0 || !is_policy(&f->teams[team].picks[0], "linux-alb"))
        return -1;
    told = &b->client[client_ip[0] ^ client_ip[1] ^ client_ip[2] ^ client_ip[3]];
    for (size_t i = 0; i < topo->n_ports && (!*told || !f->ports[topo->ports[*told - 1]].usable); i++)
        *told = (uint8_t)(1 + b->turn++ % topo->n_ports);
    return topo->ports[*told - 1];
}

/* ---- both ---- */

static void tick(struct event *e, ps_t now)
{
    struct fabric_balance *b = FABRIC_OF(e, struct fabric_balance, tick);

    if (b->load_based)
        load_based(b, now);
    else
        unbind(b);
    eventq_set(b->fabric->queue, e, now + (b->load_based ? LBT_PERIOD : ALB_PERIOD));
}

bool fabric_balance_init(struct fabric *f, int team)
{
    struct fabric_team *t = &f->teams[team];
    size_t n = t->topo->n_ports + (size_t)t->n_ifaces;
    bool by_load = false, bound = false;
    struct fabric_balance *b;

    for (int i = 0; i < t->n_picks; i++) {
        by_load |= is_policy(&t->picks[i], "esxi-lbt");
        bound |= t->picks[i].bound && (t->topo->kind == TOPO_TEAM_BOND || t->topo->kind == TOPO_TEAM_NAS_TEAM ||
                                       t->topo->kind == TOPO_TEAM_NAS_LAG);
    }
    if (!by_load && !bound)
        return true;
    b = t->balance = calloc(1, sizeof *b);
    if (!b)
        return false;
    b->busy = calloc(2 * t->topo->n_ports + 1, sizeof *b->busy);
    b->bytes = calloc(n + 1, sizeof *b->bytes);
    b->tick.run = tick;
    b->fabric = f;
    b->team = team;
    b->load_based = by_load;
    if (!b->busy || !b->bytes)
        return false;
    eventq_set(f->queue, &b->tick, eventq_now(f->queue) + (by_load ? LBT_PERIOD : ALB_PERIOD));
    return true;
}

void fabric_balance_free(struct fabric *f, int team)
{
    struct fabric_balance *b = f->teams[team].balance;

    if (!b)
        return;
    eventq_cancel(f->queue, &b->tick);
    free(b->busy);
    free(b->bytes);
    free(b);
}
