/* Frame sizes. A host's and a NAS's MTU counts IP bytes; a switch's is the largest frame that it passes. */
#include "emu/model/check_rules.h"

#include <string.h>

#define ETHERNET_HEADER 14
#define VLAN_TAG        4
#define FCS             4

/* The largest frame that crosses a switch, and whose it is. */
struct check_need {
    unsigned frame; /* bytes without FCS; 0: nothing crosses */
    unsigned ip;    /* its IP bytes */
    bool tagged;
    const struct check_pair *pair;
};

struct need_search {
    const struct topo *t;
    struct check_need *of_box;
    const struct check_pair *pair;
    unsigned ip;
    uint16_t vlan; /* in which they meet, as the host's switch sees it */
};

static unsigned smaller(unsigned a, unsigned b) { return a < b ? a : b; }

/* TCP keeps segments to the smaller MTU of the two ends. */
static unsigned ip_bytes(const struct topo *t, const struct check_pair *p)
{
    int nas = t->vips[p->vip].iface;
    unsigned host = t->ifaces[p->iface].mtu;
    return nas < 0 ? host : smaller(host, t->ifaces[nas].mtu);
}

static void needed(struct need_search *s, int port, bool tagged)
{
    int box = s->t->ports[port].box;
    struct check_need *n = &s->of_box[box];
    unsigned frame = s->ip + ETHERNET_HEADER + (tagged ? VLAN_TAG : 0);

    if (check_is_switch(s->t, box) && frame > n->frame)
        *n = (struct check_need){frame, s->ip, tagged, s->pair};
}

static void crosses(void *context, int linkdir, double share)
{
    struct need_search *s = context;
    int from = topo_linkdir_from(s->t, linkdir), to = topo_linkdir_to(s->t, linkdir);
    uint16_t tag = 0;

    /* The cable's own setting where a switch sends into it, the end's tag where it doesn't. */
    if (share <= 0)
        return;
    if (check_is_switch(s->t, s->t->ports[from].box))
        path_vlan_out(s->t, from, s->vlan, &tag);
    else
        path_vlan_out(s->t, to, s->vlan, &tag);
    needed(s, from, tag != 0);
    needed(s, to, tag != 0);
}

/* What each switch must pass, over all mounts and every way that a hash may choose. */
static const struct check_need *needs(struct check *c)
{
    const struct topo *t = c->t;
    struct need_search s = {.t = t, .of_box = check_alloc(c, t->n_boxes, sizeof *s.of_box)};

    if (c->needs)
        return c->needs;
    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct topo_iface *f = &t->ifaces[c->pairs[i].iface];
        int at = f->team < 0 ? -1 : check_peer_port(t, t->teams[f->team].ports[0]);
        s.pair = &c->pairs[i];
        s.ip = ip_bytes(t, s.pair);
        s.vlan = f->vlan;
        if (at >= 0 && check_is_switch(t, t->ports[at].box))
            path_vlan_in(t, at, f->vlan, &s.vlan);
        path_shares(t, NULL, &s.pair->flow, FLOW_WRITE, crosses, &s);
        path_shares(t, NULL, &s.pair->flow, FLOW_READ, crosses, &s);
    }
    return c->needs = s.of_box;
}

static const char *arithmetic(struct check *c, const struct check_need *n)
{
    return check_text(c, "%u (IP %u + Ethernet 14%s)", n->frame, n->ip, n->tagged ? " + VLAN tag 4" : "");
}

static void mtu_switch(struct check *c)
{
    const struct topo *t = c->t;
    const struct check_need *of_box = needs(c);

    for (size_t b = 0; b < t->n_boxes; b++) {
        const struct topo_node *node = check_node(t, (int)b);
        const struct check_need *n = &of_box[b];
        const char *hint;
        if (!n->frame || !node->mtu || node->mtu >= n->frame)
            continue;
        hint = node->mtu == n->ip
                   ? check_text(c, "`mtu` of a switch is the largest frame; where the box counts IP bytes, write %u",
                                n->ip + ETHERNET_HEADER + VLAN_TAG)
                   : check_text(c, "raise it to at least %u; most switches take 9216", n->frame + FCS);
        check_add(c, node->mark, node->name, hint, "passes frames of %u bytes, and %s to %s needs %s", node->mtu,
                  check_iface_name(c, n->pair->iface), t->vips[n->pair->vip].text, arithmetic(c, n));
    }
}

static void mtu_tight(struct check *c)
{
    const struct topo *t = c->t;
    const struct check_need *of_box = needs(c);

    for (size_t b = 0; b < t->n_boxes; b++) {
        const struct topo_node *node = check_node(t, (int)b);
        const struct check_need *n = &of_box[b];
        if (n->frame && node->mtu >= n->frame && node->mtu < n->frame + FCS)
            check_add(c, node->mark, node->name, check_text(c, "%u or more is safe either way", n->frame + FCS),
                      "passes frames of %u bytes, needed are %s, and 4 of FCS where the vendor counts it: does not fit "
                      "then",
                      node->mtu, arithmetic(c, n));
    }
}

static void mtu_not_said(struct check *c)
{
    const struct topo *t = c->t;
    const struct check_need *of_box = needs(c);

    for (size_t b = 0; b < t->n_boxes; b++) {
        const struct check_need *n = &of_box[b];
        if (n->ip > 1500 && !check_node(t, (int)b)->mtu)
            check_add(c, check_node(t, (int)b)->mark, t->boxes[b].name, "say it: `mtu: 9216`",
                      "its largest frame is not in the file, and needed are %s", arithmetic(c, n));
    }
}

static void mtu_fits(struct check *c)
{
    const struct topo *t = c->t;
    const struct check_need *of_box = needs(c);

    for (size_t b = 0; b < t->n_boxes; b++) {
        const struct topo_node *node = check_node(t, (int)b);
        const struct check_need *n = &of_box[b];
        if (n->ip > 1500 && node->mtu >= n->frame + FCS)
            check_add(c, node->mark, node->name, NULL, "passes frames of %u bytes, needed are %s, and 4 of FCS: fine",
                      node->mtu, arithmetic(c, n));
    }
}

static void mtu_ends(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct topo_iface *f = &t->ifaces[c->pairs[i].iface];
        int nas = t->vips[c->pairs[i].vip].iface;
        if (nas < 0 || !f->mtu || !t->ifaces[nas].mtu || f->mtu == t->ifaces[nas].mtu)
            continue;
        check_add(c, f->mark, check_iface_name(c, c->pairs[i].iface), "give both ends the same MTU",
                  "has MTU %u, %s %u: TCP uses the smaller, so the larger is for nothing", f->mtu,
                  check_iface_name(c, nas), t->ifaces[nas].mtu);
    }
}

static void mtu_vswitch(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        const struct topo_team *tm = f->team < 0 ? NULL : &t->teams[f->team];
        if (tm && tm->mtu && f->mtu > tm->mtu && check_is_host(t, f->box))
            check_add(c, f->mark, check_iface_name(c, (int)i), check_text(c, "raise the MTU of %s", tm->name),
                      "has MTU %u, %s beneath it %u: larger frames never leave the host", f->mtu, tm->name, tm->mtu);
    }
}

#define PROVE_MTU                                                                                   \
    "\n"                                                                                            \
    "Prove it, from every host to every VIP (8972 = 9000 - 20 IP - 8 ICMP; -d: do not fragment):\n" \
    "\n"                                                                                            \
    "    vmkping -I vmk1 -d -s 8972 10.50.0.101\n"                                                  \
    "    ping -M do -s 8972 -I bond0.50 10.50.0.101   # Linux\n"                                    \
    "    show system mtu ; show interfaces counters errors   # giants, runts\n"

// clang-format off
const struct check_rule check_mtu_rules[] = {
    {"mtu-switch", DIAG_ERROR, "a switch passes smaller frames than the ends send",
     "A frame is the IP MTU plus 14 bytes of Ethernet header plus 4 for a VLAN tag: 9018 for MTU 9000 in a\n"
     "tagged VLAN. What is larger than the switch's limit is dropped without a word: small requests work,\n"
     "the first big read hangs. `mtu` of a switch in the file is the largest frame without FCS. Some makes\n"
     "(Cisco `system mtu`) count IP bytes only; write the frame they pass then.\n" PROVE_MTU,
     mtu_switch},
    {"mtu-vswitch", DIAG_ERROR, "an interface has a larger MTU than the vSwitch beneath it",
     "ESXi refuses such a vmknic, or the frames end at the vSwitch.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network ip interface list ; esxcli network vswitch standard list   # MTU of both\n",
     mtu_vswitch},
    {"mtu-ends", DIAG_WARNING, "host and NAS have different MTUs",
     "TCP announces the MTU of each end when it connects, and both use the smaller: it works, but the end\n"
     "with large frames gains nothing, and everything but TCP (mount over UDP, large pings) fails.\n" PROVE_MTU,
     mtu_ends},
    {"mtu-tight", DIAG_WARNING, "the frames fit a switch only if it does not count the FCS",
     "Vendors count the 4 bytes of frame check sequence or not; this limit is between the two readings.\n" PROVE_MTU,
     mtu_tight},
    {"mtu-not-said", DIAG_NOTE, "large frames cross a switch whose limit is not in the file",
     "The emulator lets every frame pass there. Many switches have jumbo frames off by default.\n" PROVE_MTU,
     mtu_not_said},
    {"mtu", DIAG_NOTE, "large frames fit: the arithmetic",
     "Not a problem. 9000 on the hosts and 9216 (or 9198) on a switch look different and are right: the\n"
     "one counts IP bytes, the other the frame around them.\n" PROVE_MTU,
     mtu_fits},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
