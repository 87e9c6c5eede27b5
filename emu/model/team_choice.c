#include "emu/model/team_choice.h"

#include <string.h>

#include "hashes/key.h"
#include "hashes/range.h"

/* Ports of a list that sit in the chassis, appended. */
static void append(struct team_choice *c, const struct topo *t, const int *ports, size_t n, int chassis)
{
    for (size_t i = 0; i < n && c->n < HASH_MEMBERS_MAX; i++)
        if (chassis == 0 || t->ports[ports[i]].chassis == chassis)
            c->port[c->n++] = ports[i];
}

/* The first `want` set bits of `bits`. */
static uint64_t lowest(uint64_t bits, unsigned want)
{
    uint64_t out = 0;

    for (; want > 0 && bits; want--) {
        out |= bits & -bits;
        bits &= bits - 1;
    }
    return out;
}

static unsigned count(uint64_t bits) { return (unsigned)__builtin_popcountll(bits); }

/* Who is offered to the rule now, given who was before. */
static uint64_t offered(const struct team_choice *c)
{
    uint64_t kept = c->in_use & c->links;

    if (c->one)
        return kept && !c->teaming->failback ? kept : lowest(c->links, 1);
    if (c->teaming->failback || count(kept) > c->n_active)
        return lowest(c->links, c->n_active);
    return kept | lowest(c->links & ~kept, c->n_active - count(kept));
}

static void offer(struct team_choice *c, uint64_t now)
{
    const struct hash_selector *sel = &c->teaming->policy;
    uint64_t changed = c->in_use ^ now;

    c->in_use = now;
    if (!sel->policy)
        return;
    /* The dead first: a promoted port takes a place that is free. */
    for (uint64_t bits = changed & ~now; bits; bits &= bits - 1)
        hash_members_down(sel, &c->members, (unsigned)__builtin_ctzll(bits));
    for (uint64_t bits = changed & now; bits; bits &= bits - 1)
        hash_members_up(sel, &c->members, (unsigned)__builtin_ctzll(bits));
}

void team_choice_init(struct team_choice *c, const struct topo *t, int team, const struct topo_teaming *teaming,
                      int chassis)
{
    const struct topo_team *tm = &t->teams[team];

    c->teaming = teaming ? teaming : &tm->teaming;
    c->n = 0;
    append(c, t, c->teaming->active, c->teaming->n_active, chassis);
    c->n_active = c->n;
    append(c, t, c->teaming->standby, c->teaming->n_standby, chassis);
    if (c->n == 0) {
        append(c, t, tm->ports, tm->n_ports, chassis);
        c->n_active = c->n;
    }
    c->one = !c->teaming->policy.policy || c->teaming->policy.policy->reduction == HASH_REDUCE_ACTIVE;
    c->links = c->n == 64 ? UINT64_MAX : (UINT64_C(1) << c->n) - 1;
    c->in_use = c->links;
    if (c->n)
        hash_members_init(&c->members, c->n);
    else
        memset(&c->members, 0, sizeof c->members);
    offer(c, lowest(c->links, c->one ? 1 : c->n_active));
}

void team_choice_link(struct team_choice *c, int port, bool up)
{
    for (unsigned i = 0; i < c->n; i++) {
        uint64_t bit = UINT64_C(1) << i;

        if (c->port[i] != port)
            continue;
        if (!!(c->links & bit) == up)
            return;
        c->links ^= bit;
        offer(c, offered(c));
        return;
    }
}

int team_draw(const struct team_choice *c, const struct hash_key *key, uint64_t seed)
{
    int id;

    if (c->in_use == 0)
        return TEAM_NO_PORT;
    if (!c->teaming->policy.policy)
        return c->port[__builtin_ctzll(c->in_use)];
    id = hash_draw(&c->teaming->policy, key, seed, &c->members);
    return id >= 0 ? c->port[id] : TEAM_NO_PORT;
}

const struct topo_observed *team_observed(const struct topo *t, int team, const struct hash_key *key)
{
    const struct topo_node *node = &t->nodes[t->boxes[t->teams[team].box].node];

    for (size_t i = 0; i < node->n_observed; i++) {
        const struct topo_observed *o = &node->observed[i];

        if (o->team == team && o->src.version == key->ip_version && o->dst.version == key->ip_version &&
            memcmp(o->src.bytes, key->src, sizeof o->src.bytes) == 0 &&
            memcmp(o->dst.bytes, key->dst, sizeof o->dst.bytes) == 0 && (o->sport == 0 || o->sport == key->sport) &&
            (o->dport == 0 || o->dport == key->dport))
            return o;
    }
    return NULL;
}

int team_receive(const struct team_choice *c, unsigned ordinal)
{
    unsigned id, nth;
    uint64_t bits = c->links;

    if (bits == 0)
        return TEAM_NO_PORT;
    id = ordinal % c->n;
    if (bits & (UINT64_C(1) << id))
        return c->port[id];
    for (nth = ordinal % count(bits); nth > 0; nth--)
        bits &= bits - 1;
    return c->port[__builtin_ctzll(bits)];
}

bool team_sends_nic_mac(const struct topo *t, int team)
{
    const struct topo_team *tm = &t->teams[team];
    const struct hash_policy *policy = tm->teaming.policy.policy;

    return tm->kind == TOPO_TEAM_NAS_TEAM ||
           (tm->kind == TOPO_TEAM_BOND && policy &&
            (strcmp(policy->name, "linux-alb") == 0 || strcmp(policy->name, "linux-tlb") == 0));
}

static bool is_zero(const uint8_t mac[6])
{
    static const uint8_t zero[6];

    return memcmp(mac, zero, sizeof zero) == 0;
}

void team_mac(const struct topo *t, int iface, int vip, uint8_t mac[6], enum topo_origin *origin)
{
    const struct topo_iface *i = &t->ifaces[iface];
    const struct topo_team *team = &t->teams[i->team];
    const uint8_t *from = i->mac;

    *origin = i->mac_origin;
    if (vip >= 0 && t->vips[vip].mac_origin == TOPO_GIVEN && !is_zero(t->vips[vip].mac)) {
        from = t->vips[vip].mac;
        *origin = TOPO_GIVEN;
    } else if (is_zero(from) && !is_zero(team->mac)) {
        from = team->mac;
        *origin = team->mac_origin;
    } else if (is_zero(from) && team->n_ports > 0) {
        from = t->ports[team->ports[0]].mac;
        *origin = t->ports[team->ports[0]].mac_origin;
    }
    memcpy(mac, from, 6);
}

void team_key_vlan(struct hash_key *key, const struct topo *t, int team, uint16_t vlan)
{
    enum topo_team_kind kind = t->teams[team].kind;
    bool before = kind == TOPO_TEAM_VSWITCH || kind == TOPO_TEAM_DVSWITCH;

    key->inline_tags = 0;
    key->wire_ethertype = key->ethertype;
    key->tag = before || vlan == 0 ? HASH_TAG_NONE : HASH_TAG_OFFLOADED;
    key->tci = key->tag == HASH_TAG_NONE ? 0 : vlan;
}
