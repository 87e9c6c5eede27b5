/* Theory of operation. A NIC's neighbour is the name and port that CDP or LLDP told it. Names are compared without domain, serial
 * number and letter case; one that no folder has becomes a switch. A NIC without a neighbour goes to the switch of its team's
 * other NICs, else to the only switch, else to a stand-in, and is marked so: a port that is not connected would make the file
 * worthless for everything else.
 *
 * A port channel belongs to the team whose NICs are cabled to its ports. One whose ports no neighbour names is paired with a team
 * of which no cable is known, when mode and number of ports leave no choice. A team that needs a LAG at a switch that didn't show
 * its port channels gets one; at a switch that did, it doesn't: then that is a finding for `emu check`.
 */
#include "nfsbal/site/import_model.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* ---- neighbours ---- */

static struct import_device *find_device(struct import *m, const char *name)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        if (strcasecmp(import_host_name(m, d->name), name) == 0)
            return d;
    return NULL;
}

/* "cisco WS-C3750X-48" -> "cisco-WS-C3750X-48"; of a long description only a vendor's name. */
static const char *model_of(struct import *m, const char *type)
{
    static const char *const vendors[] = {"cisco", "arista", "juniper", "mikrotik", "dell", "netgear", "brocade", "hp"};
    char *model;

    if (!type)
        return NULL;
    for (size_t i = 0; i < sizeof vendors / sizeof *vendors; i++)
        if (strncasecmp(type, vendors[i], strlen(vendors[i])) == 0 && (strlen(type) > 40 || strchr(type, ',')))
            return vendors[i];
        else if (strncasecmp(type, vendors[i], strlen(vendors[i])) == 0) {
            model = arena_copy(m->arena, import_name(m, type), strlen(type));
            for (char *p = model; *p; p++)
                *p = *p == '_' ? '-' : *p;
            return model;
        }
    return NULL;
}

static struct import_device *neighbour(struct import *m, const struct import_nic *n)
{
    const char *name = import_host_name(m, n->peer);
    struct import_device *d = find_device(m, name);

    if (!d) {
        for (d = m->devices.first; d; d = d->next) /* ONTAP tells its node's name */
            if (d->kind == IMPORT_NAS && import_has(&d->nodes, n->peer))
                return d;
        d = import_device(m, name);
        d->node = name;
    }
    if (d->kind == IMPORT_UNKNOWN)
        d->kind = IMPORT_SWITCH;
    if (d->kind == IMPORT_SWITCH && !d->model)
        d->model = model_of(m, n->peer_type);
    return d;
}

/* The port of a NAS or host as the file calls it: with its controller. */
static const char *end_name(struct import *m, const struct import_nic *n)
{
    return n->owner ? arena_printf(m->arena, "%s.%s", import_name(m, n->owner), import_name(m, n->name))
                    : import_name(m, n->name);
}

static struct import_nic *nic_called(struct import_device *d, const char *name)
{
    for (struct import_nic *n = d->nics.first; n; n = n->next)
        if (strcasecmp(n->name, name) == 0 || (n->mac && strcasecmp(n->mac, name) == 0))
            return n;
    return NULL;
}

static void connect(struct import *m, struct import_device *d, struct import_nic *n)
{
    struct import_device *far = neighbour(m, n);
    struct import_nic *there;

    if (far == d)
        return;
    if (far->kind == IMPORT_SWITCH) {
        n->far = far;
        n->far_port = import_port_name(m, n->peer_port);
        return;
    }
    there = nic_called(far, n->peer_port); /* a cable without a switch */
    if (!there)
        return;
    n->far = far;
    n->far_port = end_name(m, there);
    there->far = d;
    there->far_port = end_name(m, n);
    there->used = true;
    there->from_far = true;
}

static void connect_neighbours(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_nic *n = d->nics.first; n; n = n->next)
            if (n->peer && n->peer_port && n->used && !n->far && d->kind != IMPORT_SWITCH)
                connect(m, d, n);
    /* What switches say about the hosts. */
    for (struct import_device *s = m->devices.first; s; s = s->next)
        for (struct import_nic *n = s->kind == IMPORT_SWITCH ? s->nics.first : NULL; n; n = n->next) {
            struct import_device *host = n->peer && n->peer_port ? find_device(m, import_host_name(m, n->peer)) : NULL;
            struct import_nic *there = host && host->kind != IMPORT_SWITCH ? nic_called(host, n->peer_port) : NULL;

            if (there && there->used && !there->far) {
                there->far = s;
                there->far_port = import_port_name(m, n->name);
            }
        }
}

/* ---- stacks ---- */

/* The member of a stack that "gi2/0/1" sits in; 0: the name isn't of this form. */
static unsigned member_of(const char *port)
{
    const char *slash = strchr(port, '/'), *number = slash;

    while (number && number > port && isdigit((unsigned char)number[-1]))
        number--;
    return slash && strchr(slash + 1, '/') && number < slash ? import_number(number) : 0;
}

static void see_port(struct import_device *s, const char *port, bool *stack)
{
    unsigned member = member_of(port);

    *stack = *stack && member >= 1 && member <= 16;
    if (member > s->members)
        s->members = member;
}

/* A switch all of whose known ports are of that form has at least as many members. */
static void find_stacks(struct import *m)
{
    for (struct import_device *s = m->devices.first; s; s = s->next) {
        bool stack = true;

        if (s->kind != IMPORT_SWITCH)
            continue;
        for (const struct import_device *d = m->devices.first; d; d = d->next)
            for (const struct import_nic *n = d->nics.first; n; n = n->next)
                if (n->far == s)
                    see_port(s, n->far_port, &stack);
        for (const struct import_team *c = s->teams.first; c; c = c->next)
            for (size_t i = 0; c->kind == IMPORT_CHANNEL && i < c->members.n; i++)
                see_port(s, c->members.items[i], &stack);
        if (!stack)
            s->members = 0;
    }
}

/* ---- what nobody said ---- */

static const char *stand_in_port(struct import *m, const struct import_device *s, const char *end)
{
    return import_name(m, arena_printf(m->arena, s->members > 1 ? "unknown1/%s" : "unknown-%s", end));
}

static struct import_device *switch_of_team(const struct import_device *d, const struct import_nic *n)
{
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        for (size_t i = 0; t->used && import_has(&t->members, n->name) && i < t->members.n; i++) {
            const struct import_nic *other = import_find_nic(d, t->owner, t->members.items[i]);

            if (other && other->far && other->far->kind == IMPORT_SWITCH)
                return other->far;
        }
    return NULL;
}

static struct import_device *any_switch(struct import *m)
{
    struct import_device *d;

    for (d = m->devices.first; d; d = d->next)
        if (d->kind == IMPORT_SWITCH)
            return d;
    d = import_device(m, "unknown-switch");
    d->node = "unknown-switch";
    d->kind = IMPORT_SWITCH;
    d->stand_in = true;
    return d;
}

static void connect_rest(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_nic *n = import_is_node(d) ? d->nics.first : NULL; n; n = n->next) {
            struct import_device *s;

            if (!n->used || n->far)
                continue;
            s = switch_of_team(d, n);
            n->far = s ? s : any_switch(m);
            n->far_port = stand_in_port(m, n->far, arena_printf(m->arena, "%s-%s", d->node, end_name(m, n)));
            n->far_assumed = true;
        }
}

/* ---- port channels ---- */

const char *import_needs_lag(const struct import_device *d, const struct import_team *t)
{
    if (t->kind == IMPORT_VSWITCH && t->policy && strcmp(t->policy, "ip-hash") == 0)
        return "static";
    if (t->kind == IMPORT_DVSWITCH && (t->mode || (t->policy && strcmp(t->policy, "ip-hash") == 0)))
        return t->mode ? "lacp" : "static";
    if (t->kind != IMPORT_BOND)
        return NULL;
    if (d->kind == IMPORT_NAS)
        return t->mode && strcmp(t->mode, "static") == 0 ? "static"
               : t->mode && strcmp(t->mode, "lacp") != 0 ? NULL
                                                         : "lacp";
    if (t->mode && strcmp(t->mode, "802.3ad") == 0)
        return "lacp";
    return t->mode && strcmp(t->mode, "balance-xor") == 0 ? "static" : NULL;
}

static bool is_cabled_to(const struct import_device *d, const struct import_team *t, const struct import_device *s)
{
    for (size_t i = 0; i < t->members.n; i++) {
        const struct import_nic *n = import_find_nic(d, t->owner, t->members.items[i]);

        if (n && n->far == s)
            return true;
    }
    return false;
}

/* Whether a known cable of this team ends in the channel. */
static bool is_channel_of(const struct import_device *s, const struct import_team *channel,
                          const struct import_device *d, const struct import_team *t)
{
    for (size_t i = 0; i < t->members.n; i++) {
        const struct import_nic *n = import_find_nic(d, t->owner, t->members.items[i]);

        if (n && n->far == s && !n->far_assumed && import_has(&channel->members, n->far_port))
            return true;
    }
    return false;
}

/* The next used team behind (*d, *t); start with the first device and NULL. */
static bool next_team(struct import_device **d, struct import_team **t)
{
    *t = *t ? (*t)->next : *d ? (*d)->teams.first : NULL;
    for (;;) {
        for (; *t; *t = (*t)->next)
            if ((*t)->used && (*t)->kind != IMPORT_CHANNEL && (*t)->kind != IMPORT_BRIDGE && import_is_node(*d))
                return true;
        if (!*d || !(*d = (*d)->next))
            return false;
        *t = (*d)->teams.first;
    }
}

static void pair_by_cables(struct import *m, struct import_device *s, struct import_team *channel)
{
    struct import_device *d = m->devices.first;

    for (struct import_team *t = NULL; next_team(&d, &t);)
        if (is_channel_of(s, channel, d, t)) {
            if (!channel->to_team) {
                channel->to_device = d;
                channel->to_team = t;
            }
            if (!t->mode && d->kind == IMPORT_NAS)
                t->mode = channel->mode;
        }
}

static bool all_unknown(const struct import_device *d, const struct import_team *t, const struct import_device *s)
{
    for (size_t i = 0; i < t->members.n; i++) {
        const struct import_nic *n = import_find_nic(d, t->owner, t->members.items[i]);

        if (!n || n->far != s || !n->far_assumed)
            return false;
    }
    return t->members.n > 0;
}

static bool could_pair(const struct import_device *s, const struct import_team *channel, const struct import_device *d,
                       const struct import_team *t)
{
    const char *needs = import_needs_lag(d, t);
    bool any_mode = d->kind == IMPORT_NAS && !t->mode;

    return needs && channel->kind == IMPORT_CHANNEL && !channel->to_team && channel->members.n == t->members.n &&
           all_unknown(d, t, s) && (any_mode || strcmp(needs, channel->mode) == 0);
}

/* Pairs what can only be one with the other; their ports in order. */
static void pair_by_elimination(struct import *m, struct import_device *s, struct import_team *channel)
{
    struct import_device *d = m->devices.first, *found = NULL;
    struct import_team *team = NULL;
    size_t teams = 0, channels = 0;

    for (struct import_team *t = NULL; next_team(&d, &t);)
        if (could_pair(s, channel, d, t)) {
            found = d;
            team = t;
            teams++;
        }
    for (struct import_team *c = s->teams.first; c && team; c = c->next)
        channels += could_pair(s, c, found, team);
    if (teams != 1 || channels != 1)
        return;
    for (size_t i = 0; i < team->members.n; i++)
        import_find_nic(found, team->owner, team->members.items[i])->far_port = channel->members.items[i];
    channel->to_device = found;
    channel->to_team = team;
    channel->to_assumed = true;
    if (!team->mode && found->kind == IMPORT_NAS)
        team->mode = channel->mode;
}

static bool has_channel(const struct import_device *s, const struct import_team *t)
{
    for (const struct import_team *c = s->teams.first; c; c = c->next)
        if (c->kind == IMPORT_CHANNEL && c->to_team == t)
            return true;
    return false;
}

static void make_channel(struct import *m, struct import_device *s, struct import_device *d, struct import_team *t)
{
    const char *needs = import_needs_lag(d, t);
    struct import_team *c;

    if (!needs || !is_cabled_to(d, t, s) || has_channel(s, t) || (s->channels_known && !all_unknown(d, t, s)))
        return;
    c = import_team(
        m, s, NULL,
        t->owner ? arena_printf(m->arena, "lag-%s-%s-%s", d->node, import_name(m, t->owner), import_name(m, t->name))
                 : arena_printf(m->arena, "lag-%s-%s", d->node, import_name(m, t->name)),
        IMPORT_CHANNEL);
    c->mode = needs;
    c->to_device = d;
    c->to_team = t;
    c->derived = true;
}

static void join_channels(struct import *m)
{
    struct import_device *d;

    for (struct import_device *s = m->devices.first; s; s = s->next)
        for (struct import_team *c = s->kind == IMPORT_SWITCH ? s->teams.first : NULL; c; c = c->next)
            pair_by_cables(m, s, c);
    for (struct import_device *s = m->devices.first; s; s = s->next)
        for (struct import_team *c = s->kind == IMPORT_SWITCH ? s->teams.first : NULL; c; c = c->next)
            if (!c->to_team)
                pair_by_elimination(m, s, c);
    d = m->devices.first;
    for (struct import_team *t = NULL; next_team(&d, &t);) {
        for (struct import_device *s = m->devices.first; s; s = s->next)
            if (s->kind == IMPORT_SWITCH)
                make_channel(m, s, d, t);
        if (d->kind == IMPORT_NAS && t->kind == IMPORT_BOND && !t->mode) {
            t->mode = "lacp";
            t->mode_assumed = true;
        }
    }
}

/* ---- between switches ---- */

static void use_switches(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_nic *n = d->nics.first; n; n = n->next)
            if (n->used && n->far && n->far->kind == IMPORT_SWITCH)
                n->far->used = true;
}

static void trunk(struct import *m, struct import_device *a, struct import_device *b, bool peer_link)
{
    struct import_trunk *t = IMPORT_ADD(m, &m->trunks, struct import_trunk);

    t->a = a;
    t->b = b;
    t->a_port = stand_in_port(m, a, b->node);
    t->b_port = stand_in_port(m, b, a->node);
    t->peer_link = peer_link;
}

/* A LAG that ends on two switches: they are a pair. */
static void find_pairs(struct import *m)
{
    struct import_device *d = m->devices.first;

    for (struct import_team *t = NULL; next_team(&d, &t);) {
        struct import_device *first = NULL;

        for (size_t i = 0; import_needs_lag(d, t) && i < t->members.n; i++) {
            struct import_nic *n = import_find_nic(d, t->owner, t->members.items[i]);

            if (!n || !n->far || n->far->kind != IMPORT_SWITCH || n->far == first)
                continue;
            if (!first) {
                first = n->far;
            } else if (!first->mlag && !n->far->mlag) {
                first->mlag = n->far;
                first->mlag_first = true;
                n->far->mlag = first;
                trunk(m, first, n->far, true);
            }
        }
    }
}

static struct import_device *root_of(struct import_device *s)
{
    while (s->reach)
        s = s->reach;
    return s;
}

/* Switches of which nothing says how they are connected are connected, since their hosts and NAS are. */
static void join_switches(struct import *m)
{
    struct import_device *first = NULL;

    for (struct import_trunk *t = m->trunks.first; t; t = t->next)
        if (root_of(t->a) != root_of(t->b))
            root_of(t->b)->reach = root_of(t->a);
    for (struct import_device *s = m->devices.first; s; s = s->next) {
        if (s->kind != IMPORT_SWITCH || !s->used)
            continue;
        if (!first) {
            first = s;
        } else if (root_of(s) != root_of(first)) {
            trunk(m, first, s, false);
            root_of(s)->reach = root_of(first);
        }
    }
}

/* ---- VLANs ---- */

unsigned import_vlan_of(const struct import *m, const char *cidr)
{
    for (const struct import_device *d = m->devices.first; d; d = d->next) {
        for (const struct import_iface *f = import_is_host(d) ? d->ifaces.first : NULL; f; f = f->next)
            for (size_t i = 0; f->used && f->vlan && i < f->addresses.n; i++)
                if (import_same_subnet(f->addresses.items[i], cidr))
                    return f->vlan;
        for (const struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
            if (v->used && v->vlan && import_same_subnet(v->address, cidr))
                return v->vlan;
    }
    return 0;
}

static void find_vlans(struct import *m)
{
    for (struct import_device *d = m->devices.first; d;
         d = d->next) /* a distributed switch keeps its VLANs in vCenter */
        for (struct import_iface *f = d->kind == IMPORT_ESXI ? d->ifaces.first : NULL; f; f = f->next)
            if (f->used && f->distributed && !f->vlan_known && f->addresses.n)
                f->vlan = import_vlan_of(m, f->addresses.items[0]);
    for (struct import_device *d = m->devices.first; d; d = d->next) /* made for one host, used by others */
        for (struct import_vip *v = d->stand_in && d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
            v->vlan = import_vlan_of(m, v->address);
    for (const struct import_device *d = m->devices.first; d; d = d->next) {
        for (const struct import_iface *f = import_is_host(d) ? d->ifaces.first : NULL; f; f = f->next)
            m->vlans = m->vlans || (f->used && f->vlan);
        for (const struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
            m->vlans = m->vlans || (v->used && v->vlan);
    }
}

void import_join_cables(struct import *m)
{
    connect_neighbours(m);
    find_stacks(m);
    connect_rest(m);
    join_channels(m);
    use_switches(m);
    find_pairs(m);
    join_switches(m);
    find_vlans(m);
}
