#include "emu/model/path_internal.h"

#include <stdio.h>
#include <string.h>

#include "hashes/range.h"

static enum topo_origin weaker(enum topo_origin a, enum topo_origin b) { return a > b ? a : b; }

/* The frame as the rule of this team sees it. */
static void make_key(const struct path_walk *w, const struct path_cursor *c, int team, const struct topo_iface *from,
                     struct hash_key *key)
{
    const struct topo *t = w->t;
    struct hash_flow f = w->packet;

    memcpy(f.smac, c->smac, sizeof f.smac);
    memcpy(f.dmac, w->legs[c->leg].mac, sizeof f.dmac);
    if (from)
        f.port_id = from->port_id;
    if (c->port_in >= 0) {
        f.ingress_port = (uint16_t)(c->port_in - t->boxes[c->box].first_port + 1);
        f.ingress_module = (uint16_t)(t->ports[c->port_in].chassis - 1);
    }
    hash_key_flow(key, &f);
    team_key_vlan(key, t, team, c->vlan);
}

/* The weakest origin of what the rule reads. */
static enum topo_origin inputs_of(const struct path_walk *w, const struct path_cursor *c, const struct topo_iface *from,
                                  uint32_t reads)
{
    bool write = w->direction == FLOW_WRITE;
    enum topo_origin weakest = TOPO_GIVEN;

    if (reads & HASH_READS_SRC_MAC)
        weakest = weaker(weakest, c->smac_origin);
    if (reads & HASH_READS_DST_MAC)
        weakest = weaker(weakest, w->legs[c->leg].mac_origin);
    if (reads & (write ? HASH_READS_SRC_IP : HASH_READS_DST_IP))
        weakest = weaker(weakest, w->client);
    if (reads & HASH_READS_PORT_ID)
        weakest = weaker(weakest, from ? from->port_id_origin : TOPO_ASSUMED);
    if (reads & HASH_READS_INGRESS)
        weakest = weaker(weakest, TOPO_ASSUMED); /* how the chip numbers its ports is not published */
    if (reads & w->drawn_field)
        weakest = weaker(weakest, TOPO_DRAWN);
    return weakest;
}

static uint64_t fold(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

static uint64_t fold_bytes(uint64_t h, const uint8_t *bytes, size_t n)
{
    uint64_t value[2] = {0, 0};

    memcpy(value, bytes, n);
    return n > sizeof value[0] ? fold(fold(h, value[0]), value[1]) : fold(h, value[0]);
}

/* A number that is equal for flows that are equal in all that the rule reads; different else, but for one in 2^64. */
static uint64_t draw_of(const struct hash_key *key, uint32_t reads, int team)
{
    uint64_t h = fold(UINT64_C(0x452821e638d01377), (uint64_t)team);

    if (reads & HASH_READS_SRC_MAC)
        h = fold_bytes(h, key->smac, sizeof key->smac);
    if (reads & HASH_READS_DST_MAC)
        h = fold_bytes(h, key->dmac, sizeof key->dmac);
    if (reads & HASH_READS_SRC_IP)
        h = fold_bytes(h, key->src, sizeof key->src);
    if (reads & HASH_READS_DST_IP)
        h = fold_bytes(h, key->dst, sizeof key->dst);
    if (reads & (HASH_READS_ETHERTYPE | HASH_READS_PROTO))
        h = fold(h, (uint64_t)key->ethertype << 8 | key->proto);
    if (reads & HASH_READS_VLAN)
        h = fold(h, key->tci);
    if (reads & HASH_READS_SRC_PORT)
        h = fold(h, key->sport);
    if (reads & HASH_READS_DST_PORT)
        h = fold(h, key->dport);
    if (reads & HASH_READS_PORT_ID)
        h = fold(h, key->port_id);
    if (reads & HASH_READS_INGRESS)
        h = fold(h, (uint64_t)key->ingress_module << 16 | key->ingress_port);
    return h;
}

/* The answer of the real box for this flow at this team, or NULL. */
static const struct topo_observed *observed(const struct path_walk *w, int team)
{
    struct hash_key key;

    if (w->t->nodes[w->t->boxes[w->t->teams[team].box].node].n_observed == 0)
        return NULL;
    hash_key_flow(&key, &w->packet);
    return team_observed(w->t, team, &key);
}

/* A hop as it begins; its arrays count from n on only. */
void path_hop_begin(struct path_hop *hop, int box, int team, enum path_via via)
{
    memset(hop, 0, offsetof(struct path_hop, candidates));
    hop->box = box;
    hop->team = team;
    hop->via = via;
    hop->linkdir = hop->index = -1;
    hop->why[0] = '\0';
}

/* The usable ports in the rule's order. */
static void candidates(const struct team_choice *choice, struct path_hop *hop)
{
    if (!choice->teaming->policy.policy || choice->one) {
        hop->n = 1;
        hop->candidates[0] = choice->port[__builtin_ctzll(choice->in_use)];
        return;
    }
    hop->n = choice->members.usable;
    for (int i = 0; i < hop->n; i++)
        hop->candidates[i] = choice->port[choice->members.order[i]];
}

static void take(const struct topo *t, struct path_hop *hop, int index)
{
    hop->index = index;
    hop->linkdir = topo_port_out(t, hop->candidates[index]);
    for (int i = 0; i < hop->n; i++)
        hop->share[i] = i == index;
}

static int place_of(const struct path_hop *hop, int port)
{
    for (int i = 0; i < hop->n; i++)
        if (hop->candidates[i] == port)
            return i;
    return -1;
}

static void no_index(struct path_hop *hop)
{
    hop->index = -1;
    hop->linkdir = -1;
    for (int i = 0; i < hop->n; i++)
        hop->share[i] = hop->policy ? hash_share(hop->policy, (unsigned)hop->n, (unsigned)i) : 1.0 / hop->n;
}

static void explain_down(const struct path_hop *hop, const struct team_choice *choice, char *why, size_t size)
{
    size_t at = strlen(why);

    if (choice->n_active > hop->n && !choice->one && at < size)
        snprintf(why + at, size - at, "%s%d of %d up", at ? ", " : "", hop->n, (int)choice->n_active);
}

/* After a failure the order of the members depends on who failed and returned when. */
static bool order_is_history(const struct hash_selector *sel)
{
    enum hash_failure rule = hash_failure_rule(sel);

    return rule == HASH_FAIL_APPEND || rule == HASH_FAIL_SWAP_LAST || rule == HASH_FAIL_UNKNOWN;
}

/* The rule's answer. */
static void by_rule(const struct path_walk *w, const struct path_cursor *c, const struct topo_iface *from, int team,
                    struct team_choice *choice, struct path_hop *hop)
{
    const struct hash_selector *sel = &choice->teaming->policy;
    uint32_t reads = hash_reads(sel);
    struct hash_key key;
    bool history =
        sel->policy->reduction == HASH_REDUCE_BUCKETS_STATE || sel->policy->reduction == HASH_REDUCE_BUCKETS_BOUND;
    int port;

    hop->policy = sel;
    make_key(w, c, team, from, &key);
    if (hop->n > 1) {
        hop->status = hash_label(sel, &key, (unsigned)hop->n).status;
        hop->inputs = weaker(hop->inputs, weaker(inputs_of(w, c, from, reads), choice->teaming->policy_origin));
        if (history)
            hop->inputs = TOPO_DRAWN;
        else if (hop->n < choice->members.count && order_is_history(sel))
            hop->inputs = weaker(hop->inputs, TOPO_ASSUMED);
    }
    hop->draw = hop->n > 1 ? draw_of(&key, reads, team) : 0;
    if (w->explain)
        hash_explain(sel, &key, &choice->members, hop->why, sizeof hop->why);
    if (hop->n == 1) {
        take(w->t, hop, 0);
        return;
    }
    port = hop->status == HASH_STATUS_UNKNOWN || hop->inputs == TOPO_DRAWN ? TEAM_NO_INDEX : team_choose(choice, &key);
    if (port < 0) {
        no_index(hop);
        return;
    }
    take(w->t, hop, place_of(hop, port));
}

static void set_up(const struct path_walk *w, struct team_choice *choice, int team, const struct topo_teaming *teaming,
                   int chassis)
{
    bool lacp = w->t->teams[team].mode == TOPO_LAG_LACP;

    team_choice_init(choice, w->t, team, teaming, chassis);
    for (unsigned i = 0; i < choice->n; i++)
        if (!path_port_up(w, choice->port[i], lacp))
            team_choice_link(choice, choice->port[i], false);
}

bool path_choose(struct path_walk *w, const struct path_cursor *c, int team, const struct topo_teaming *teaming,
                 int chassis, struct path_hop *hop)
{
    const struct topo *t = w->t;
    const struct topo_iface *from = c->port_in < 0 ? &t->ifaces[w->legs[c->leg].from] : NULL;
    const struct topo_observed *seen;
    struct team_choice choice;

    set_up(w, &choice, team, teaming, chassis);
    if (choice.in_use == 0 && chassis != 0)
        set_up(w, &choice, team, teaming, 0);
    path_hop_begin(hop, c->box, team, PATH_VIA_POLICY);
    if (choice.in_use == 0)
        return path_fail(w, PATH_NO_LINK, "no port of %s %s has a link", t->boxes[c->box].name, t->teams[team].name);
    candidates(&choice, hop);
    /* With several interfaces that fit, another one's team might send. */
    if (from && c->leg == 0 && w->direction == FLOW_WRITE)
        hop->inputs = w->client;
    if (choice.n == 1)
        hop->via = PATH_VIA_ONLY;
    if (choice.teaming->policy.policy && choice.n > 1)
        by_rule(w, c, from, team, &choice, hop);
    else
        take(t, hop, 0);
    seen = observed(w, team);
    if (seen && place_of(hop, seen->port) >= 0) {
        hop->observed = true;
        hop->status = HASH_EXACT;
        hop->inputs = TOPO_GIVEN;
        take(t, hop, place_of(hop, seen->port));
        if (w->explain)
            snprintf(hop->why, sizeof hop->why, "observed%s%s", seen->date ? " on " : "", seen->date ? seen->date : "");
        return true;
    }
    if (w->explain)
        explain_down(hop, &choice, hop->why, sizeof hop->why);
    return true;
}

void path_only(const struct topo *t, struct path_hop *hop, int port, enum path_via via)
{
    path_hop_begin(hop, t->ports[port].box, -1, via);
    hop->n = 1;
    hop->candidates[0] = port;
    take(t, hop, 0);
}

int path_learned(struct path_walk *w, const struct path_cursor *c, struct path_hop *hop)
{
    const struct topo *t = w->t;
    const struct path_leg *leg = &w->legs[c->leg];
    const struct topo_iface *to = &t->ifaces[leg->to];
    struct path_walk back = *w;
    struct path_cursor at = {
        .leg = c->leg, .box = to->box, .port_in = -1, .vlan = to->vlan, .smac_origin = leg->mac_origin};
    struct path_hop its;
    uint32_t reads;

    /* The receiver as a sender: the leg and the packet the other way round. */
    back.legs[c->leg] =
        (struct path_leg){.from = leg->to, .from_vip = leg->to_vip, .to = leg->from, .to_vip = leg->from_vip};
    memcpy(at.smac, leg->mac, sizeof at.smac);
    memcpy(back.legs[c->leg].mac, c->smac, sizeof c->smac);
    back.legs[c->leg].mac_origin = c->smac_origin;
    memcpy(back.packet.src, w->packet.dst, sizeof back.packet.src);
    memcpy(back.packet.dst, w->packet.src, sizeof back.packet.dst);
    back.packet.sport = w->packet.dport;
    back.packet.dport = w->packet.sport;
    back.direction = w->direction == FLOW_READ ? FLOW_WRITE : FLOW_READ;
    if (w->drawn_field)
        back.drawn_field = back.direction == FLOW_READ ? HASH_READS_DST_PORT : HASH_READS_SRC_PORT;
    if (!path_choose(&back, &at, to->team, to->teaming, 0, &its)) {
        w->end = back.end;
        return TEAM_NO_PORT;
    }
    hop->status = its.status;
    hop->inputs = its.inputs;
    reads = its.policy && its.n > 1 ? hash_reads(its.policy) : 0;
    /* Any of its frames moves the MAC; which was the last is only known where all leave by the same port. */
    if (reads & ~(uint32_t)(HASH_READS_SRC_MAC | HASH_READS_PORT_ID | HASH_READS_VLAN))
        hop->inputs = weaker(hop->inputs, TOPO_ASSUMED);
    if (w->explain)
        snprintf(hop->why, sizeof hop->why, "%s sends by %s%s%.180s", t->boxes[to->box].name,
                 its.index >= 0 ? t->ports[its.candidates[its.index]].name : "any", its.why[0] ? ": " : "", its.why);
    return its.index >= 0 ? its.candidates[its.index] : TEAM_NO_INDEX;
}
