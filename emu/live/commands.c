#include "emu/live/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/fabric/fabric.h"
#include "emu/live/capture.h"
#include "emu/live/carried.h"
#include "emu/live/changes.h"
#include "emu/model/diag.h"
#include "emu/model/path.h"
#include "emu/model/topology.h"
#include "emu/report/json.h"
#include "hashes/policy.h"

struct commands {
    struct commands_lab lab;
    struct carried *carried;
    struct captures *captures;
};

struct commands *commands_new(const struct commands_lab *lab)
{
    struct commands *c = calloc(1, sizeof *c);

    if (!c)
        return NULL;
    c->lab = *lab;
    c->carried = carried_new();
    c->captures = captures_new(&c->lab);
    if (c->carried && c->captures)
        return c;
    commands_free(c);
    return NULL;
}

void commands_free(struct commands *c)
{
    if (!c)
        return;
    captures_free(c->captures);
    carried_free(c->carried);
    free(c);
}

void commands_tap(struct commands *c, int linkdir, const struct train *t, ps_t start)
{
    carried_train(c->carried, linkdir, t, start);
    captures_train(c->captures, linkdir, t);
}

static double seconds(ps_t time) { return (double)time / (double)PS_PER_S; }

/* ---- links ---- */

/* The rule of the team that sends on this direction; NULL: one port, or none to choose by. */
static const char *rule_of(const struct topo *t, int port, char *text, size_t size)
{
    int team = t->ports[port].team;

    if (team < 0 || !t->teams[team].teaming.policy.policy)
        return NULL;
    hash_selector_text(&t->teams[team].teaming.policy, false, text, size);
    return text;
}

static bool links(struct commands *c, struct control_call *call, ps_t now)
{
    const struct topo *t = c->lab.topo;
    struct json_out *j = call->reply;
    char rule[128];

    (void)now;
    json_out_array(j, "links", JSON_ON_ONE_LINE);
    for (int d = 0; d < 2 * (int)t->n_links; d++) {
        int from = topo_linkdir_from(t, d), to = topo_linkdir_to(t, d), team = t->ports[from].team;

        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "name", topo_linkdir_name(t, d));
        json_out_string(j, "from", t->boxes[t->ports[from].box].name);
        json_out_string(j, "to", t->boxes[t->ports[to].box].name);
        json_out_string(j, "team", team < 0 || t->teams[team].kind == TOPO_TEAM_SINGLE ? NULL : t->teams[team].name);
        json_out_string(j, "policy", rule_of(t, from, rule, sizeof rule));
        json_out_end(j);
    }
    json_out_end(j);
    return true;
}

/* Flows that a link direction has carried in the last second, by number of the direction. NULL: no memory. */
static unsigned *active_flows(const struct commands *c, ps_t now)
{
    unsigned *flows = calloc(2 * c->lab.topo->n_links + 1, sizeof *flows);

    for (size_t i = 0; flows && i < carried_count(c->carried); i++) {
        const struct carried_flow *f = carried_at(c->carried, i);

        flows[f->linkdir] += f->last >= now - PS_PER_S;
    }
    return flows;
}

static void link_counters(struct commands *c, struct json_out *j, int d, unsigned flows, ps_t now)
{
    struct fabric_counters n;
    struct fabric_link l;

    fabric_counters(c->lab.fabric, d, &n);
    fabric_link(c->lab.fabric, d, now, &l);
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_count(j, "frames", n.frames_out);
    json_out_count(j, "bytes", n.bytes_out);
    json_out_count(j, "dropped", n.frames_tail_dropped);
    json_out_count(j, "lost", n.frames_lost);
    json_out_count(j, "queued", l.queued);
    json_out_count(j, "queue_peak", n.queue_peak);
    json_out_count(j, "rate", l.rate);
    json_out_real(j, "delay", seconds(l.delay));
    json_out_real(j, "loss", l.loss);
    if (l.buffer == UINT64_MAX)
        json_out_null(j, "buffer"); /* the sender is held back */
    else
        json_out_count(j, "buffer", l.buffer);
    /* A failure in one direction is the other direction's business only in that it goes on. */
    json_out_string(j, "state",
                    change_state_name(l.state == TOPO_LINK_ONE_WAY && l.from_end != (d & 1) ? TOPO_LINK_UP : l.state));
    json_out_bool(j, "carrier", l.carrier);
    json_out_count(j, "flows", flows);
    json_out_end(j);
}

/* Of the link directions first .. first + n - 1. */
static bool put_counters(struct commands *c, struct control_call *call, int first, int n, ps_t now)
{
    unsigned *flows = active_flows(c, now);

    snprintf(call->problem, sizeof call->problem, "out of memory");
    json_out_array(call->reply, "links", JSON_ON_ONE_LINE);
    for (int d = first; flows && d < first + n; d++)
        link_counters(c, call->reply, d, flows[d], now);
    json_out_end(call->reply);
    free(flows);
    return flows != NULL;
}

static bool counters(struct commands *c, struct control_call *call, ps_t now)
{
    uint64_t flooded = 0, flaps = 0, giants = 0;

    for (size_t b = 0; b < c->lab.topo->n_boxes; b++) {
        struct fabric_box_counters box;

        fabric_box_counters(c->lab.fabric, (int)b, &box);
        flooded += box.flooded_unicast;
        flaps += box.mac_flaps;
        giants += box.giants_dropped;
    }
    json_out_real(call->reply, "time", seconds(now));
    json_out_count(call->reply, "flooded", flooded);
    json_out_count(call->reply, "flaps", flaps);
    json_out_count(call->reply, "giants", giants);
    json_out_count(call->reply, "untold", carried_untold(c->carried));
    return put_counters(c, call, 0, 2 * (int)c->lab.topo->n_links, now);
}

/* ---- flows ---- */

/* Who has this address now: a host, a router, or the controller where the VIP is. */
static const char *owner_of(const struct commands *c, uint8_t version, const uint8_t *bytes)
{
    const struct topo *t = c->lab.topo;
    struct topo_addr a = {.version = version};
    int vip;

    if (!version)
        return NULL;
    memcpy(a.bytes, bytes, version == 4 ? 4 : 16);
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (topo_addr_equal(&t->ifaces[i].addr, &a))
            return t->boxes[t->ifaces[i].box].name;
    vip = topo_find_vip(t, &a);
    if (vip < 0)
        return NULL;
    return fabric_vip_box(c->lab.fabric, vip) >= 0 ? t->boxes[fabric_vip_box(c->lab.fabric, vip)].name : NULL;
}

static void address(struct json_out *j, const char *key, uint8_t version, const uint8_t *bytes, const uint8_t mac[6])
{
    struct topo_addr a = {.version = version};
    char text[64];

    if (version) {
        memcpy(a.bytes, bytes, version == 4 ? 4 : 16);
        json_out_string(j, key, topo_addr_print(text, sizeof text, &a, false));
        return;
    }
    snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    json_out_string(j, key, text);
}

static void reason(const struct commands *c, struct json_out *j, const struct carried_flow *f)
{
    struct fabric_reason r;
    char policy[128];

    fabric_reason(c->lab.fabric, f->linkdir, &f->key, f->tag, &r);
    if (r.policy)
        hash_selector_text(r.policy, false, policy, sizeof policy);
    json_out_string(j, "policy", r.policy ? policy : NULL);
    json_out_string(j, "label", path_label(r.status, r.inputs));
    json_out_string(j, "why", r.why);
    json_out_bool(j, "agrees", r.agrees);
}

static void flow(const struct commands *c, struct json_out *j, const struct carried_flow *f, ps_t now)
{
    const struct hash_key *k = &f->key;

    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_integer(j, "link", f->linkdir);
    address(j, "src", k->ip_version, k->src, k->smac);
    address(j, "dst", k->ip_version, k->dst, k->dmac);
    json_out_string(j, "from", owner_of(c, k->ip_version, k->src));
    json_out_string(j, "to", owner_of(c, k->ip_version, k->dst));
    json_out_integer(j, "ethertype", k->ethertype);
    json_out_integer(j, "proto", k->ip_version ? k->proto : 0);
    json_out_integer(j, "sport", k->has_ports ? k->sport : 0);
    json_out_integer(j, "dport", k->has_ports ? k->dport : 0);
    json_out_count(j, "frames", f->frames);
    json_out_count(j, "bytes", f->bytes);
    json_out_real(j, "age", now > f->first ? seconds(now - f->first) : 0);
    json_out_real(j, "idle", now > f->last ? seconds(now - f->last) : 0);
    reason(c, j, f);
    json_out_end(j);
}

/* {"link": NAME, "within": 10, "max": 200, "after": 400}: of one direction only, seen in so many seconds, a page at a time: 200 take
 * a millisecond, in which frames wait. */
static bool flows(struct commands *c, struct control_call *call, ps_t now)
{
    const struct json_in *after = json_in_member(call->request, "after"), *max = json_in_member(call->request, "max");
    uint64_t at = 0, most = UINT64_MAX;
    const char *name = json_in_text(json_in_member(call->request, "link"));
    struct change_link link = {-1, 0, false};
    double within = 10;
    ps_t since;

    if (name && !change_find_link(c->lab.topo, name, &link, call->problem, sizeof call->problem))
        return false;
    if (json_in_number(json_in_member(call->request, "within"), &within) && !(within >= 0 && within <= 1e6)) {
        snprintf(call->problem, sizeof call->problem, "\"within\" is a number of seconds up to a million");
        return false;
    }
    if ((after && !json_in_count(after, &at)) || (max && (!json_in_count(max, &most) || most == 0))) {
        snprintf(call->problem, sizeof call->problem, "\"after\" and \"max\" are numbers, and \"max\" isn't 0");
        return false;
    }
    since = now - (ps_t)(within * (double)PS_PER_S);
    json_out_real(call->reply, "time", seconds(now));
    json_out_array(call->reply, "flows", JSON_ON_ONE_LINE);
    for (; at < carried_count(c->carried) && most > 0; at++) {
        const struct carried_flow *f = carried_at(c->carried, (size_t)at);

        if (f->last < since || (name && f->linkdir / 2 != link.link) ||
            (link.directed && f->linkdir != 2 * link.link + link.from_end))
            continue;
        flow(c, call->reply, f, now);
        most--;
    }
    json_out_end(call->reply);
    if (at < carried_count(c->carried))
        json_out_count(call->reply, "next", at);
    else
        json_out_null(call->reply, "next");
    return true;
}

/* ---- changes ---- */

static bool apply(struct commands *c, struct control_call *call, const struct change *change, ps_t now)
{
    for (int i = 0; i < change->n_events; i++)
        if (!c->lab.apply(c->lab.context, &change->events[i], call->problem, sizeof call->problem))
            return false;
    if (change->has_buffer)
        fabric_link_buffer(c->lab.fabric, change->link, change->buffer, now);
    return true;
}

/* The answer says how the link is now, in both directions. */
static bool set(struct commands *c, struct control_call *call, ps_t now)
{
    struct change change;

    if (!change_set(c->lab.topo, c->lab.scale, call->request, &change, call->problem, sizeof call->problem) ||
        !apply(c, call, &change, now))
        return false;
    return put_counters(c, call, 2 * change.link, 2, now);
}

static bool move(struct commands *c, struct control_call *call, ps_t now)
{
    const struct topo *t = c->lab.topo;
    struct change change;
    int from;

    if (!change_move(t, call->request, &change, call->problem, sizeof call->problem))
        return false;
    from = fabric_vip_box(c->lab.fabric, change.events[0].vip);
    if (!apply(c, call, &change, now))
        return false;
    json_out_string(call->reply, "vip", t->vips[change.events[0].vip].text);
    json_out_string(call->reply, "from", from >= 0 ? t->boxes[from].name : NULL);
    json_out_string(call->reply, "to", t->boxes[change.events[0].box].name);
    return true;
}

/* ---- the rest ---- */

static bool capture(struct commands *c, struct control_call *call, ps_t now)
{
    (void)now;
    return captures_begin(c->captures, call);
}

static bool captured(struct commands *c, struct control_call *call, ps_t now)
{
    (void)now;
    return captures_told(c->captures, call);
}

static bool status(struct commands *c, struct control_call *call, ps_t now)
{
    json_out_string(call->reply, "name", c->lab.name);
    json_out_string(call->reply, "file", c->lab.topo->file);
    json_out_string(call->reply, "title", c->lab.topo->title);
    json_out_real(call->reply, "time", seconds(now));
    json_out_real(call->reply, "scale", c->lab.scale);
    json_out_integer(call->reply, "links", (int64_t)c->lab.topo->n_links);
    if (c->lab.status)
        c->lab.status(c->lab.context, call->reply);
    return true;
}

static const struct {
    const char *what;
    bool (*answer)(struct commands *c, struct control_call *call, ps_t now);
} table[] = {
    {"links", links}, {"counters", counters}, {"flows", flows},       {"set", set},
    {"move", move},   {"capture", capture},   {"captured", captured}, {"status", status},
};
enum { COMMANDS = sizeof table / sizeof table[0] };

bool commands_handle(void *context, struct control_call *call)
{
    struct commands *c = context;
    ps_t now = c->lab.now(c->lab.context);
    const char *names[COMMANDS], *near;

    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(call->what, table[i].what) == 0)
            return table[i].answer(c, call, now);
        names[i] = table[i].what;
    }
    near = diag_nearest(call->what, names, COMMANDS);
    if (near)
        snprintf(call->problem, sizeof call->problem, "a lab can't `%.64s`; did you mean `%s`?", call->what, near);
    else
        snprintf(call->problem, sizeof call->problem, "a lab can't `%.64s`", call->what);
    return false;
}
