/* Why a flow is on a link: the rule in force at its sender, asked once more with the flow's key and written down step by step.
 *
 * Answers come from the very team_choice that forwards. Where they differ from the link the flow was seen on, the rule is
 * history by now (a link has come or gone since), the choice was drawn for want of a published rule, or it goes by load.
 */
#include "emu/fabric/fabric_internal.h"

#include <stdio.h>
#include <string.h>

static bool has_address(const struct topo_addr *a, const struct hash_key *key)
{
    return a->version && a->version == key->ip_version && memcmp(a->bytes, key->src, a->version == 4 ? 4 : 16) == 0;
}

/* The interface of the team that has sent this: by address, else by MAC, else the first. -1: the team has none. */
static int sender(const struct fabric *f, const struct fabric_team *team, const struct hash_key *key)
{
    for (int i = 0; i < team->n_ifaces; i++)
        if (has_address(&f->topo->ifaces[team->ifaces[i]].addr, key))
            return team->ifaces[i];
    for (size_t v = 0; v < f->topo->n_vips; v++)
        for (int i = 0; i < team->n_ifaces; i++)
            if (f->vips[v].iface == team->ifaces[i] && has_address(&f->topo->vips[v].addr, key))
                return team->ifaces[i];
    for (int i = 0; i < team->n_ifaces; i++)
        if (memcmp(f->ifaces[team->ifaces[i]].mac, key->smac, 6) == 0)
            return team->ifaces[i];
    return team->n_ifaces ? team->ifaces[0] : -1;
}

static enum topo_origin weaker(enum topo_origin a, enum topo_origin b) { return a > b ? a : b; }

/* Where a MAC comes from: whoever has it in the file. */
static enum topo_origin mac_origin(const struct fabric *f, const uint8_t mac[6])
{
    const struct topo *t = f->topo;

    for (size_t i = 0; i < t->n_vips; i++)
        if (t->vips[i].mac_origin == TOPO_GIVEN && memcmp(t->vips[i].mac, mac, 6) == 0)
            return TOPO_GIVEN;
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (memcmp(f->ifaces[i].mac, mac, 6) == 0)
            return t->ifaces[i].mac_origin;
    for (size_t i = 0; i < t->n_teams; i++)
        if (memcmp(t->teams[i].mac, mac, 6) == 0)
            return t->teams[i].mac_origin;
    for (size_t i = 0; i < t->n_ports; i++)
        if (memcmp(t->ports[i].mac, mac, 6) == 0)
            return t->ports[i].mac_origin;
    return TOPO_ASSUMED;
}

/* As the path function has it, but for what a live flow is known by: its addresses and ports. */
static enum topo_origin inputs_of(const struct fabric *f, const struct topo_teaming *teaming, int iface,
                                  const struct hash_key *key)
{
    uint32_t reads = hash_reads(&teaming->policy);
    enum topo_origin weakest = teaming->policy_origin;

    if (reads & HASH_READS_SRC_MAC)
        weakest = weaker(weakest, mac_origin(f, key->smac));
    if (reads & HASH_READS_DST_MAC)
        weakest = weaker(weakest, mac_origin(f, key->dmac));
    if (reads & HASH_READS_PORT_ID)
        weakest = weaker(weakest, iface >= 0 ? f->topo->ifaces[iface].port_id_origin : TOPO_ASSUMED);
    if (reads & HASH_READS_INGRESS)
        weakest = weaker(weakest, TOPO_ASSUMED);
    return weakest;
}

/* What the rule gives, on a copy: nothing is bound by asking. */
static int answer(const struct fabric *f, const struct team_choice *choice, int team, const struct hash_key *key,
                  struct fabric_reason *out)
{
    const struct topo_observed *o = team_observed(f->topo, team, key);
    struct team_choice c = *choice;

    for (unsigned i = 0; o && i < c.n; i++) {
        if (c.port[i] != o->port || !(c.in_use >> i & 1))
            continue;
        snprintf(out->why, sizeof out->why, "observed%s%s", o->date ? " on " : "", o->date ? o->date : "");
        out->status = HASH_EXACT;
        out->inputs = TOPO_GIVEN;
        return o->port;
    }
    hash_explain(&c.teaming->policy, key, &c.members, out->why, sizeof out->why);
    return team_choose(&c, key);
}

void fabric_reason(const struct fabric *f, int linkdir, const struct hash_key *key, uint16_t tag,
                   struct fabric_reason *out)
{
    int port = topo_linkdir_from(f->topo, linkdir), index = f->topo->ports[port].team, iface;
    const struct fabric_team *team = index < 0 ? NULL : &f->teams[index];
    const struct fabric_pick *pick;
    const struct team_choice *c;
    struct hash_key k = *key;
    uint16_t vlan = tag;

    *out = (struct fabric_reason){.status = HASH_EXACT, .inputs = TOPO_GIVEN, .n = 1, .agrees = true};
    if (!team || team->topo->kind == TOPO_TEAM_SINGLE) {
        snprintf(out->why, sizeof out->why, "one port");
        return;
    }
    iface = sender(f, team, key);
    /* A stack that prefers its own members: it came in at the chassis where it leaves. */
    pick = iface >= 0 ? f->ifaces[iface].pick : fabric_pick_of_lag(f, index, port);
    c = &pick->choice;
    if (iface >= 0) {
        k.port_id = f->topo->ifaces[iface].port_id;
        vlan = f->topo->ifaces[iface].vlan;
    } else {
        path_vlan_in(f->topo, port, tag, &vlan);
    }
    team_key_vlan(&k, f->topo, index, vlan);
    out->n = c->members.usable;
    out->index = -1;
    for (int i = 0; i < out->n; i++)
        if (c->port[c->members.order[i]] == port)
            out->index = i;
    if (!c->teaming->policy.policy || (c->in_use & (c->in_use - 1)) == 0) {
        out->agrees = c->in_use != 0 && c->port[__builtin_ctzll(c->in_use)] == port;
        snprintf(out->why, sizeof out->why, "%s", out->agrees ? "the port in use" : "another port is in use");
        return;
    }
    out->policy = &c->teaming->policy;
    out->status = hash_label(out->policy, &k, (unsigned)out->n).status;
    out->inputs = inputs_of(f, c->teaming, iface, &k);
    out->agrees = answer(f, c, index, &k, out) == port;
}
