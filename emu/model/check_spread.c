/* Spread: do a host's datastores reach all of its uplinks, and would other addresses do better.
 *
 * vip-collision looks at one interface of one host at a time: V VIPs that it uses, n uplinks. Any V addresses can
 * be hoped to use min(V, n) uplinks, and none of them for much more than ceil(V / n) VIPs. Where the rule gives
 * less, other addresses are looked for: VIPs are kept in their order as long as every host of the same subnet can
 * still reach that, the others are replaced by the first address of the subnet with which it holds, unused VIPs
 * before new ones. That is greedy, so it may miss a set that exists; what it finds holds by construction.
 */
#include "emu/model/check_rules.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/team_choice.h"
#include "hashes/key.h"

enum {
    MOST_VIPS = 64,        /* of one subnet, for which better addresses are looked for */
    MOST_ADDRESSES = 1024, /* tried for each */
    NFS_PORT = 2049,
    PROTO_TCP = 6,
};
#define PORTS (HASH_READS_SRC_PORT | HASH_READS_DST_PORT)

/* ---- what an interface sees ---- */

struct view_pair {
    int iface, vip;
    size_t pair;
};

/* One client interface with the VIPs that it uses. */
struct view {
    int iface;
    const struct view_pair *pair;
    size_t n;
    bool known, collides; /* known: the VIP decides, and every VIP's uplink is an index */
    struct team_choice choice;
    uint8_t load[HASH_MEMBERS_MAX]; /* VIPs per uplink */
    int *port;                      /* per pair its uplink */
    uint64_t slots;                 /* while addresses are looked for: which of the set it uses */
};

static int by_iface(const void *a, const void *b)
{
    const struct view_pair *x = a, *y = b;
    return x->iface != y->iface ? (x->iface < y->iface ? -1 : 1) : (x->vip > y->vip) - (x->vip < y->vip);
}

static unsigned uplinks(const struct view *v) { return (unsigned)__builtin_popcountll(v->choice.in_use); }
/* The most VIPs on one uplink that nobody would complain of: less than half as many again as when they are even. */
static unsigned most_per_uplink(size_t vips, unsigned n)
{
    unsigned even = (unsigned)((vips + n - 1) / n);
    return (3 * even - 1) / 2;
}

static int place_of(const struct view *v, int port)
{
    for (int i = 0; i < v->choice.n; i++)
        if (v->choice.port[i] == port)
            return i;
    return -1;
}

/* The uplinks of the VIPs in use, by the path function. */
static void look(struct check *c, struct view *v)
{
    const struct topo_iface *f = &c->t->ifaces[v->iface];
    unsigned used = 0, most = 0;

    team_choice_init(&v->choice, c->t, f->team, f->teaming, 0);
    v->port = check_alloc(c, v->n, sizeof *v->port);
    v->known = uplinks(v) > 1 && !v->choice.one && v->choice.teaming->policy.policy &&
               (hash_reads(&v->choice.teaming->policy) & (HASH_READS_DST_IP | HASH_READS_DST_MAC));
    for (size_t i = 0; i < v->n && v->known; i++) {
        struct path p;
        int place;
        path_walk(c->t, NULL, &c->pairs[v->pair[i].pair].flow, FLOW_WRITE, false, &p);
        v->known = p.n_hops > 0 && p.hops[0].linkdir >= 0 && p.hops[0].index >= 0;
        if (!v->known)
            break;
        v->port[i] = topo_linkdir_from(c->t, p.hops[0].linkdir);
        place = place_of(v, v->port[i]);
        if (place < 0)
            v->known = false;
        else if (v->load[place]++ == 0)
            used++;
    }
    for (unsigned i = 0; i < v->choice.n; i++)
        most = v->load[i] > most ? v->load[i] : most;
    v->collides = v->known && (most > most_per_uplink(v->n, uplinks(v)) ||
                               used < (v->n < uplinks(v) ? (unsigned)v->n : uplinks(v)));
}

static struct view *views(struct check *c, size_t *n)
{
    struct view_pair *all = check_alloc(c, c->n_pairs, sizeof *all);
    struct view *view = NULL;
    size_t capacity = 0;

    for (size_t i = 0; i < c->n_pairs; i++)
        all[i] = (struct view_pair){c->pairs[i].iface, c->pairs[i].vip, i};
    qsort(all, c->n_pairs, sizeof *all, by_iface);
    *n = 0;
    for (size_t i = 0, end; i < c->n_pairs; i = end) {
        for (end = i + 1; end < c->n_pairs && all[end].iface == all[i].iface; end++)
            ;
        if (c->t->ifaces[all[i].iface].team < 0)
            continue;
        view = arena_grow(c->arena, view, *n, &capacity, sizeof *view);
        view[*n] = (struct view){.iface = all[i].iface, .pair = &all[i], .n = end - i};
        look(c, &view[(*n)++]);
    }
    return view;
}

/* ---- better addresses ---- */

/* Other addresses can be tried only where the rule reads nothing else that depends on them. */
static bool reads_addresses_only(const struct view *v)
{
    const struct hash_selector *sel = &v->choice.teaming->policy;
    uint32_t others = HASH_READS_SRC_MAC | HASH_READS_DST_MAC | HASH_READS_PORT_ID | HASH_READS_INGRESS | PORTS;
    return sel->policy && (hash_reads(sel) & HASH_READS_DST_IP) && !(hash_reads(sel) & others);
}

static int uplink_of(const struct topo *t, struct view *v, const struct topo_addr *to)
{
    const struct topo_iface *f = &t->ifaces[v->iface];
    struct hash_flow flow = {.ip_version = 4, .proto = PROTO_TCP, .dport = NFS_PORT};
    struct hash_key key;

    memcpy(flow.src, f->addr.bytes, 4);
    memcpy(flow.dst, to->bytes, 4);
    hash_key_flow(&key, &flow);
    team_key_vlan(&key, t, f->team, f->vlan);
    return place_of(v, team_choose(&v->choice, &key));
}

/* The VIPs of one subnet with those who use them. */
struct quest {
    const struct topo *t;
    const unsigned *vip_mounts;
    struct view *view; /* all; those with slots take part */
    size_t n_views;
    int vip[MOST_VIPS];
    struct topo_addr addr[MOST_VIPS]; /* chosen so far */
    size_t n;
    const struct topo_addr *taken; /* every address of the file, sorted */
    size_t n_taken;
};

static int by_bytes(const void *a, const void *b)
{
    const struct topo_addr *x = a, *y = b;
    return memcmp(x->bytes, y->bytes, sizeof x->bytes);
}

static bool is_taken(const struct quest *q, const struct topo_addr *a)
{
    return bsearch(a, q->taken, q->n_taken, sizeof *a, by_bytes) != NULL;
}

/* Whether everyone who uses slot j can still reach its best when j gets this address; takes it when so. */
static bool take(struct quest *q, size_t j, const struct topo_addr *a)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < q->n_views; i++) {
            struct view *v = &q->view[i];
            unsigned idle = 0, later, n = uplinks(v);
            int place;
            if (!(v->slots >> j & 1))
                continue;
            place = uplink_of(q->t, v, a);
            if (place < 0)
                return false;
            if (pass == 1) {
                v->load[place]++;
                continue;
            }
            if (v->load[place] + 1u > most_per_uplink(v->n, n))
                return false;
            for (unsigned k = 0; k < v->choice.n; k++)
                idle += (v->choice.in_use >> k & 1) && v->load[k] == 0;
            idle -= v->load[place] == 0;
            later = j < 63 ? (unsigned)__builtin_popcountll(v->slots >> (j + 1)) : 0;
            if (v->n >= n && idle > later)
                return false;
        }
    q->addr[j] = *a;
    return true;
}

static struct topo_addr address_at(const struct topo_addr *net, uint32_t host)
{
    struct topo_addr a = *net;
    uint32_t mask = UINT32_MAX >> net->prefix, v = 0;

    for (int i = 0; i < 4; i++)
        v = v << 8 | net->bytes[i];
    v = (v & ~mask) | (host & mask);
    for (int i = 3; i >= 0; i--, v >>= 8)
        a.bytes[i] = (uint8_t)v;
    return a;
}

/* Another address for slot j: an unused VIP, else the first free address after its own. */
static bool replace(struct quest *q, size_t j)
{
    const struct topo *t = q->t;
    const struct topo_vip *old = &t->vips[q->vip[j]];
    uint32_t own = 0, size;

    for (size_t i = 0; i < t->n_vips; i++) {
        bool in_set =
            !t->vips[i].up || q->vip_mounts[i] || t->vips[i].node != old->node || t->vips[i].home != old->home;
        for (size_t k = 0; k < q->n && !in_set; k++)
            in_set = q->vip[k] == (int)i || (k < j && topo_addr_equal(&q->addr[k], &t->vips[i].addr));
        if (!in_set && topo_addr_same_subnet(&old->addr, &t->vips[i].addr, old->addr.prefix) &&
            take(q, j, &t->vips[i].addr))
            return true;
    }
    if (old->addr.prefix < 8 || old->addr.prefix > 30)
        return false;
    size = UINT32_MAX >> old->addr.prefix; /* host part of the broadcast address */
    for (int i = 0; i < 4; i++)
        own = own << 8 | old->addr.bytes[i];
    for (uint32_t step = 1, tried = 0; step < size && tried < MOST_ADDRESSES; step++) {
        struct topo_addr a = address_at(&old->addr, (own + step) & size);
        uint32_t host = (own + step) & size;
        bool in_set = host == 0 || host == size || is_taken(q, &a);
        for (size_t k = 0; k < j && !in_set; k++)
            in_set = topo_addr_equal(&q->addr[k], &a);
        if (in_set)
            continue;
        tried++;
        if (take(q, j, &a))
            return true;
    }
    return false;
}

/* Gathers the set of the subnet that `of` is in; false when it can't be searched. */
static bool gather(struct quest *q, const struct view *of)
{
    const struct topo *t = q->t;
    const struct topo_addr *net = &t->ifaces[of->iface].addr;

    if (net->version != 4)
        return false;
    for (size_t i = 0; i < q->n_views; i++) {
        struct view *v = &q->view[i];
        v->slots = 0;
        if (!v->known || !topo_addr_same_subnet(net, &t->ifaces[v->iface].addr, net->prefix))
            continue;
        if (!reads_addresses_only(v))
            return false;
        memset(v->load, 0, sizeof v->load);
        for (size_t k = 0; k < v->n; k++) {
            size_t j = 0;
            while (j < q->n && q->vip[j] != v->pair[k].vip)
                j++;
            if (j == MOST_VIPS)
                return false;
            if (j == q->n)
                q->vip[q->n++] = v->pair[k].vip;
            v->slots |= UINT64_C(1) << j;
        }
    }
    return true;
}

/* What to mount over instead, or what to say when nothing was found. */
static const char *better(struct check *c, struct view *view, size_t n, const struct view *of,
                          const struct topo_addr *taken, size_t n_taken)
{
    const struct topo *t = c->t;
    struct quest q = {
        .t = t, .vip_mounts = c->vip_mounts, .view = view, .n_views = n, .taken = taken, .n_taken = n_taken};
    struct check_names swaps = {0};
    char text[64];

    if (!gather(&q, of))
        return "other addresses may do better: `nfsbal hash` shows what each VIP gives";
    for (size_t j = 0; j < q.n; j++) {
        const struct topo_vip *old = &t->vips[q.vip[j]];
        int vip;
        if (take(&q, j, &old->addr))
            continue;
        if (!replace(&q, j))
            return "no addresses that suit every host were found; `nfsbal plan` finds the best layout of the "
                   "datastores";
        vip = topo_find_vip(t, &q.addr[j]);
        check_names_add(c, &swaps,
                        check_text(c, "%s%s instead of %s", topo_addr_print(text, sizeof text, &q.addr[j], false),
                                   vip >= 0 ? ", a VIP in no use," : "", old->text));
    }
    return check_text(c, "no uplink of any host would collide with %s", check_names_text(c, &swaps));
}

static const struct topo_addr *all_addresses(struct check *c, size_t *n)
{
    const struct topo *t = c->t;
    struct topo_addr *all = check_alloc(c, t->n_ifaces + t->n_vips, sizeof *all);

    *n = 0;
    for (size_t i = 0; i < t->n_ifaces; i++)
        all[(*n)++] = t->ifaces[i].addr;
    for (size_t i = 0; i < t->n_vips; i++)
        all[(*n)++] = t->vips[i].addr;
    qsort(all, *n, sizeof *all, by_bytes);
    return all;
}

/* "10.0.0.1, 10.0.0.5 (ds1, ds2)": the VIPs of the fullest uplink. *vip is the last of them. */
static const char *crowd(struct check *c, const struct view *v, int *vip)
{
    const struct topo *t = c->t;
    struct check_names vips = {0}, stores = {0};
    int fullest = -1;
    size_t box = (size_t)t->ifaces[v->iface].box;

    for (size_t i = 0; i < v->n; i++)
        if (fullest < 0 || v->load[place_of(v, v->port[i])] > v->load[place_of(v, fullest)])
            fullest = v->port[i];
    for (size_t i = 0; i < v->n; i++) {
        if (v->port[i] != fullest)
            continue;
        *vip = v->pair[i].vip;
        check_names_add(c, &vips, t->vips[*vip].text);
        for (size_t k = c->host_first[box]; k < c->host_first[box + 1]; k++)
            if (t->mounts[c->host_mounts[k]].vip == *vip)
                check_names_add(c, &stores, t->datastores[t->mounts[c->host_mounts[k]].datastore].name);
    }
    return check_text(c, "%s (%s)", check_names_text(c, &vips), check_names_text(c, &stores));
}

/* A subnet, by an interface in it, and what its hint says. */
struct told {
    int iface;
    const char *hint;
};

static void vip_collision(struct check *c)
{
    const struct topo *t = c->t;
    size_t n, n_taken;
    struct view *view = views(c, &n);
    const struct topo_addr *taken = all_addresses(c, &n_taken);
    struct told *told = NULL;
    size_t n_told = 0, told_capacity = 0;

    /* The search spoils the loads, so all texts are made first. */
    const char **text = check_alloc(c, n, sizeof *text);
    int *mark = check_alloc(c, n, sizeof *mark);
    for (size_t i = 0; i < n; i++) {
        unsigned idle = 0;
        if (!view[i].collides)
            continue;
        for (unsigned k = 0; k < view[i].choice.n; k++)
            idle += (view[i].choice.in_use >> k & 1) && view[i].load[k] == 0;
        text[i] = crowd(c, &view[i], &mark[i]);
        text[i] = check_text(c, "%s share one of %u uplinks%s", text[i], uplinks(&view[i]),
                             idle ? check_text(c, " while %u carr%s nothing", idle, idle == 1 ? "ies" : "y") : "");
    }
    for (size_t i = 0; i < n; i++) {
        const struct topo_iface *f = &t->ifaces[view[i].iface];
        size_t k = 0;
        if (!view[i].collides)
            continue;
        while (k < n_told && !topo_addr_same_subnet(&f->addr, &t->ifaces[told[k].iface].addr, f->addr.prefix))
            k++;
        if (k == n_told) {
            told = arena_grow(c->arena, told, n_told, &told_capacity, sizeof *told);
            told[n_told++] = (struct told){view[i].iface, better(c, view, n, &view[i], taken, n_taken)};
        }
        check_add(c, t->vips[mark[i]].mark, t->boxes[f->box].name, told[k].hint, "%s", text[i]);
    }
}

/* ---- fewer flows than uplinks ---- */

/* What the rule of a team can tell apart, at best, of the traffic of its interfaces. */
struct variety {
    size_t flows;
    const char *of; /* "VIP", "connection" ... */
    const struct topo_teaming *teaming;
};

static size_t connections_of(const struct check *c, int iface)
{
    const struct topo *t = c->t;
    size_t box = (size_t)t->ifaces[iface].box, n = 0;

    for (size_t i = c->host_first[box]; i < c->host_first[box + 1]; i++)
        if (t->mounts[c->host_mounts[i]].iface == iface)
            n += t->mounts[c->host_mounts[i]].nconnect;
    return n;
}

/* VIPs that the interface could use: those up on the NAS that it uses, no more than it has mounts. */
static size_t vips_for(const struct check *c, const struct view *v)
{
    const struct topo *t = c->t;
    size_t up = 0, mounts = 0;

    for (size_t i = 0; i < v->n; i++) {
        bool again = false;
        /* A further address of an NFS 4.1 session counts as well. */
        mounts += c->pairs[v->pair[i].pair].mounts ? c->pairs[v->pair[i].pair].mounts : 1;
        for (size_t k = 0; k < i && !again; k++)
            again = t->vips[v->pair[k].vip].node == t->vips[v->pair[i].vip].node;
        for (size_t k = 0; k < t->n_vips && !again; k++)
            up += t->vips[k].up && t->vips[k].node == t->vips[v->pair[i].vip].node;
    }
    return up < mounts ? up : mounts;
}

static void add_variety(const struct check *c, const struct view *v, struct variety *sum)
{
    const struct topo *t = c->t;
    const struct hash_selector *sel = &v->choice.teaming->policy;
    uint32_t reads = sel->policy ? hash_reads(sel) : 0;

    sum->teaming = v->choice.teaming;
    if (v->choice.one) {
        sum->flows = 1;
        sum->of = "NIC at a time";
    } else if (reads & PORTS) {
        sum->flows += connections_of(c, v->iface);
        sum->of = "connection";
    } else if (reads & HASH_READS_DST_IP) {
        sum->flows += vips_for(c, v);
        sum->of = "mounted VIP";
    } else if (reads & HASH_READS_DST_MAC) {
        for (size_t i = 0; i < v->n; i++)
            sum->flows += i == 0 || t->vips[v->pair[i].vip].iface != t->vips[v->pair[i - 1].vip].iface;
        sum->of = "NAS interface";
    } else {
        sum->flows++;
        sum->of = "interface with NFS";
    }
}

static void idle_uplinks(struct check *c)
{
    const struct topo *t = c->t;
    size_t n;
    const struct view *view = views(c, &n);
    struct variety *of_team = check_alloc(c, t->n_teams, sizeof *of_team);

    for (size_t i = 0; i < n; i++)
        add_variety(c, &view[i], &of_team[t->ifaces[view[i].iface].team]);
    for (size_t i = 0; i < t->n_teams; i++) {
        const struct variety *v = &of_team[i];
        size_t active;
        if (!v->teaming)
            continue;
        active = v->teaming->n_active ? v->teaming->n_active : t->teams[i].n_ports;
        if (v->flows < active)
            check_add(c, t->teams[i].mark, check_team_name(c, (int)i), NULL,
                      "%zu of %zu uplinks can't carry NFS: all that %s can tell apart is %zu %s%s", active - v->flows,
                      active, v->teaming->policy.policy ? v->teaming->policy.policy->name : "the team", v->flows, v->of,
                      v->flows == 1 ? "" : "s");
    }
}

/* ---- single points of failure ---- */

/* Cables of an interface's team; the switch where all end (-1: several, or none), and whether all are in one
 * chassis. */
static size_t where_it_hangs(const struct topo *t, int iface, int *box, bool *one_chassis)
{
    const struct topo_team *tm = &t->teams[t->ifaces[iface].team];
    size_t cables = 0;
    int chassis = 0;

    *box = -1;
    *one_chassis = true;
    for (size_t i = 0; i < tm->n_ports; i++) {
        int peer = check_peer_port(t, tm->ports[i]);
        if (peer < 0)
            continue;
        if (cables++ == 0) {
            *box = t->ports[peer].box;
            chassis = t->ports[peer].chassis;
        }
        if (*box != t->ports[peer].box)
            *box = -1;
        *one_chassis = *one_chassis && t->ports[peer].chassis == chassis;
    }
    return cables;
}

static void single_point(struct check *c)
{
    const struct topo *t = c->t;
    size_t *hosts = check_alloc(c, t->n_boxes, sizeof *hosts);
    bool *serves = check_alloc(c, t->n_boxes, sizeof *serves);

    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        bool one_chassis;
        size_t cables;
        int box;
        if (!c->iface_used[i] || f->team < 0 || !check_is_host(t, f->box))
            continue;
        cables = where_it_hangs(t, (int)i, &box, &one_chassis);
        if (cables == 1)
            check_add(c, f->mark, check_iface_name(c, (int)i), NULL, "has one cable for NFS");
        else if (box >= 0 && check_is_switch(t, box) && check_node(t, box)->members > 1 && one_chassis)
            check_add(c, f->mark, check_iface_name(c, (int)i), NULL, "all its cables end in one chassis of %s",
                      t->boxes[box].name);
        else if (box >= 0 && check_is_switch(t, box) && check_node(t, box)->members < 2)
            hosts[box]++;
    }
    for (size_t b = 0; b < t->n_boxes; b++)
        if (hosts[b])
            check_add(c, t->boxes[b].mark, t->boxes[b].name, NULL,
                      "is a single switch in which all cables for NFS of %zu host%s end", hosts[b],
                      hosts[b] == 1 ? "" : "s");
    for (size_t i = 0; i < t->n_vips; i++)
        if (c->vip_mounts[i])
            serves[t->vips[i].home] = true;
    for (size_t b = 0; b < t->n_boxes; b++)
        if (serves[b] && t->boxes[b].takeover < 0)
            check_add(c, t->boxes[b].mark, t->boxes[b].name, NULL,
                      "no partner takes over (there is no `takeover:` in the file)");
}

// clang-format off
const struct check_rule check_spread_rules[] = {
    {"vip-collision", DIAG_WARNING, "VIPs share an uplink of a host while other addresses would not",
     "Under an address hash the VIP decides the uplink: with IP hash it is (host address xor VIP) mod n.\n"
     "Two VIPs that give the same remainder share one uplink, and another stands idle. Consecutive\n"
     "addresses are right for 2, 4 and 8 uplinks and mostly wrong for 3, 5, 6 and 7. The hint names\n"
     "addresses of the subnet that no interface or VIP in the file has; look before you take one.\n"
     "\n"
     "Prove it, while the datastores on those VIPs are busy:\n"
     "\n"
     "    esxtop, then n                               # MbTX/s: one vmnic full, another at zero\n"
     "    nfsbal hash -p esxi-ip-hash -n 3 10.50.0.[15-16] 10.50.0.[101-104]\n",
     vip_collision},
    {"idle-uplinks", DIAG_NOTE, "a host has more uplinks than its teaming can tell flows apart",
     "The rule of the team picks an uplink from what it reads: addresses, MACs, ports, the virtual port.\n"
     "NFS traffic that is equal in these takes one uplink. With fewer different values than uplinks some\n"
     "can never carry NFS, however the datastores are mounted. More VIPs (IP hash), more subnets with an\n"
     "interface each (port ID), or more connections (a rule that reads ports) change that. Uplinks that\n"
     "carry other traffic, or are there for redundancy, are fine.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxtop, then n                               # MbTX/s of each vmnic under load\n"
     "    ip -s link\n",
     idle_uplinks},
    {"single-point", DIAG_NOTE, "the loss of one part takes NFS away",
     "A host with one cable, all cables in one switch or one chassis, or a controller without a partner.\n"
     "May well be meant.\n"
     "\n"
     "Prove it, in a maintenance window: pull that cable, or\n"
     "\n"
     "    storage failover show                        # ONTAP: takeover possible\n"
     "    show lldp neighbors                          # which switch each vmnic ends in\n",
     single_point},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
