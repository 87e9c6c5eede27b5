/* Which member of a team takes a frame.
 *
 * The rule is model/team_choice.h's, the same that the path function asks. What is here: one choice with its state per teaming
 * in force, the key of a frame, answers of the real box, and a cache. The cache holds what a flow got at a place (a port where it
 * came in, an interface that sends it). Every change of state that could alter an answer advances the generation, and all
 * answers of former generations are void.
 */
#include "emu/fabric/fabric_internal.h"

#include <string.h>

static bool is_fixed(const struct topo_teaming *teaming)
{
    const uint32_t constant = HASH_READS_SRC_MAC | HASH_READS_PORT_ID | HASH_READS_VLAN;

    if (!teaming->policy.policy || teaming->policy.policy->reduction == HASH_REDUCE_ACTIVE)
        return true;
    return teaming->policy.policy->reduction == HASH_REDUCE_MOD && (hash_reads(&teaming->policy) & ~constant) == 0;
}

void fabric_pick_init(struct fabric *f, struct fabric_pick *p, int team, const struct topo_teaming *teaming,
                      int chassis)
{
    const struct hash_policy *policy;

    team_choice_init(&p->choice, f->topo, team, teaming, chassis);
    p->team = team;
    policy = p->choice.teaming->policy.policy;
    p->bound = policy && policy->reduction == HASH_REDUCE_BUCKETS_BOUND;
    p->fixed = is_fixed(p->choice.teaming) && f->topo->teams[team].mode == TOPO_LAG_NONE;
}

struct fabric_pick *fabric_pick_of_lag(const struct fabric *f, int team, int port_in)
{
    const struct fabric_team *t = &f->teams[team];
    int chassis = f->topo->ports[port_in].chassis;

    if (t->n_picks > 1 && chassis > 0 && chassis < t->n_picks && t->picks[chassis].choice.in_use)
        return &t->picks[chassis];
    return &t->picks[0];
}

/* What the real box was seen to choose, as long as that port is in use; or -1. */
static int observed(const struct fabric *f, const struct team_choice *c, int team, const struct hash_key *key)
{
    const struct topo_observed *o = team_observed(f->topo, team, key);

    for (unsigned i = 0; o && i < c->n; i++)
        if (c->port[i] == o->port && (c->in_use >> i & 1))
            return o->port;
    return -1;
}

int fabric_pick(struct fabric *f, struct fabric_pick *p, const struct train *t, int port_in, int iface)
{
    struct team_choice *c = &p->choice;
    struct hash_key key;
    int port;

    if (c->in_use == 0)
        return -1;
    if (!c->teaming->policy.policy || (c->in_use & (c->in_use - 1)) == 0)
        return c->port[__builtin_ctzll(c->in_use)];
    fabric_key(t, &key);
    key.port_id = iface >= 0 ? f->topo->ifaces[iface].port_id : 0;
    if (port_in >= 0) {
        const struct topo_port *in = &f->topo->ports[port_in];

        key.ingress_port = (uint16_t)(port_in - f->topo->boxes[in->box].first_port + 1);
        key.ingress_module = (uint16_t)(in->chassis - 1);
    }
    team_key_vlan(&key, f->topo, p->team, t->vlan);
    port = observed(f, c, p->team, &key);
    if (port < 0)
        port = team_choose(c, &key);
    if (port == TEAM_NO_INDEX && p->bound) {
        fabric_balance_bind(f, p, &key);
        port = team_choose(c, &key);
    }
    if (port == TEAM_NO_INDEX)
        port = team_draw(c, &key, f->config.seed);
    return port;
}

void fabric_team_changed(struct fabric *f, int team, int port, bool usable, ps_t now)
{
    struct fabric_team *t = &f->teams[team];

    for (int i = 0; i < t->n_picks; i++)
        team_choice_link(&t->picks[i].choice, port, usable);
    f->generation++;
    switch (f->boxes[t->topo->box].kind) {
    case TOPO_ESXI:
    case TOPO_LINUX:
    case TOPO_ROUTER:
        fabric_host_uplinks(f, team, now);
        break;
    case TOPO_NAS:
        fabric_nas_team_changed(f, team, now);
        break;
    case TOPO_SWITCH:
        break;
    }
}

bool fabric_first_copy(struct fabric_team *team, const struct train *t)
{
    enum { TAKEN = sizeof team->taken / sizeof team->taken[0] };

    if (!t->serial)
        return true;
    for (unsigned i = 0; i < TAKEN; i++)
        if (team->taken[i] == t->serial)
            return false;
    team->taken[team->next_taken++ % TAKEN] = t->serial;
    return true;
}

struct fabric_hop *fabric_hop_put(struct fabric *f, struct fabric_hop *slot, const struct train *t, uint32_t where,
                                  uint16_t tag, int out)
{
    *slot = (struct fabric_hop){.flow = t->flow, .where = where, .generation = f->generation, .out = out, .tag = tag};
    memcpy(slot->src, t->src, 6);
    memcpy(slot->dst, t->dst, 6);
    return slot;
}
