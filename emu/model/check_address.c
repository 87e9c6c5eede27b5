/* Addresses: IP and MAC, and which interfaces share a subnet. */
#include "emu/model/check_rules.h"

#include <stdlib.h>
#include <string.h>

/* An address in the file and whose it is. */
struct holder {
    struct topo_addr addr;
    struct diag_mark mark;
    int iface, vip; /* one of them, the other -1 */
};

static int by_address(const void *a, const void *b)
{
    const struct holder *x = a, *y = b;
    int d = x->addr.version - y->addr.version;
    if (!d)
        d = memcmp(x->addr.bytes, y->addr.bytes, sizeof x->addr.bytes);
    if (!d)
        d = x->mark.line != y->mark.line ? x->mark.line - y->mark.line : x->mark.column - y->mark.column;
    if (!d)
        d = x->iface != y->iface ? x->iface - y->iface : x->vip - y->vip;
    return d;
}

static const char *holder_name(struct check *c, const struct holder *h)
{
    return h->iface >= 0 ? check_iface_name(c, h->iface)
                         : check_text(c, "a VIP of %s", c->t->nodes[c->t->vips[h->vip].node].name);
}

static struct holder *holders(struct check *c, size_t *n)
{
    const struct topo *t = c->t;
    struct holder *all = check_alloc(c, t->n_ifaces + t->n_vips, sizeof *all);

    *n = 0;
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].addr.version)
            all[(*n)++] = (struct holder){t->ifaces[i].addr, t->ifaces[i].mark, (int)i, -1};
    for (size_t i = 0; i < t->n_vips; i++)
        all[(*n)++] = (struct holder){t->vips[i].addr, t->vips[i].mark, -1, (int)i};
    return all;
}

static void address_doubled(struct check *c)
{
    size_t n;
    struct holder *all = holders(c, &n);
    char text[64];

    qsort(all, n, sizeof *all, by_address);
    for (size_t i = 1; i < n; i++)
        if (topo_addr_equal(&all[i - 1].addr, &all[i].addr))
            check_add(c, all[i].mark, NULL, NULL, "%s belongs to %s and to %s",
                      topo_addr_print(text, sizeof text, &all[i].addr, false), holder_name(c, &all[i - 1]),
                      holder_name(c, &all[i]));
}

static void address_unusable(struct check *c)
{
    size_t n;
    struct holder *all = holders(c, &n);
    char text[64];

    for (size_t i = 0; i < n; i++) {
        const struct topo_addr *a = &all[i].addr;
        uint32_t v, host;
        if (a->version != 4 || a->prefix == 0 || a->prefix > 30)
            continue;
        v = (uint32_t)a->bytes[0] << 24 | (uint32_t)a->bytes[1] << 16 | (uint32_t)a->bytes[2] << 8 | a->bytes[3];
        host = UINT32_MAX >> a->prefix;
        if ((v & host) == 0 || (v & host) == host)
            check_add(c, all[i].mark, NULL, NULL, "%s of %s is the %s address of its subnet",
                      topo_addr_print(text, sizeof text, a, true), holder_name(c, &all[i]),
                      (v & host) == 0 ? "network" : "broadcast");
    }
}

static void prefix_differs(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct check_pair *p = &c->pairs[i];
        const struct topo_iface *f = &t->ifaces[p->iface];
        const struct topo_vip *v = &t->vips[p->vip];
        if (f->addr.version != v->addr.version || !f->addr.prefix || !v->addr.prefix ||
            f->addr.prefix == v->addr.prefix || t->mounts[p->mount].gateway_iface >= 0)
            continue;
        check_add(c, f->mark, check_iface_name(c, p->iface), "give both the mask that the subnet really has",
                  "its subnet is a /%u, that of the VIPs on %s a /%u", f->addr.prefix, t->nodes[v->node].name,
                  v->addr.prefix);
    }
}

/* The subnet of a VIP on this NAS interface that the gateway is in. */
static bool beside_a_vip(const struct topo *t, int iface)
{
    for (size_t i = 0; i < t->n_vips; i++)
        if (t->vips[i].iface == iface &&
            topo_addr_same_subnet(&t->vips[i].addr, &t->ifaces[iface].gateway, t->vips[i].addr.prefix))
            return true;
    return false;
}

static void gateway_outside(struct check *c)
{
    const struct topo *t = c->t;
    char text[64];

    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        bool nas = check_node(t, f->box)->kind == TOPO_NAS;
        if (!f->gateway.version || (nas && !c->iface_used[i]) ||
            (nas ? beside_a_vip(t, (int)i) : topo_addr_same_subnet(&f->addr, &f->gateway, f->addr.prefix)))
            continue;
        check_add(c, f->mark, check_iface_name(c, (int)i), "a gateway is an address in the subnet of the interface",
                  "its gateway %s is not in its subnet", topo_addr_print(text, sizeof text, &f->gateway, false));
    }
}

static void no_way_back(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct topo_vip *v = &t->vips[c->pairs[i].vip];
        int router = t->mounts[c->pairs[i].mount].gateway_iface;
        if (router < 0 || v->iface < 0 || t->ifaces[v->iface].gateway.version)
            continue;
        check_add(c, t->boxes[v->home].mark, check_iface_name(c, v->iface),
                  check_text(c, "give the controller a `gateway:`, the address of %s in its subnet",
                             t->boxes[t->ifaces[router].box].name),
                  "has no gateway, and hosts in other subnets mount over it: requests arrive, answers do not");
    }
}

/* ---- MAC addresses ---- */

struct mac_holder {
    const uint8_t *mac;
    struct diag_mark mark;
    int box;
    const char *name;
};

static int by_mac(const void *a, const void *b)
{
    const struct mac_holder *x = a, *y = b;
    int d = memcmp(x->mac, y->mac, 6);
    if (!d)
        d = x->box - y->box;
    return d ? d : strcmp(x->name, y->name);
}

/* Only addresses that the file gives; within one box a MAC is shared on purpose (bond and its members, VIP
 * aliases). */
static void mac_doubled(struct check *c)
{
    const struct topo *t = c->t;
    size_t n = 0;
    struct mac_holder *all = check_alloc(c, t->n_ifaces + t->n_teams + t->n_ports + t->n_vips, sizeof *all);

    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].mac_origin == TOPO_GIVEN)
            all[n++] =
                (struct mac_holder){t->ifaces[i].mac, t->ifaces[i].mark, t->ifaces[i].box, check_iface_name(c, (int)i)};
    for (size_t i = 0; i < t->n_teams; i++)
        if (t->teams[i].mac_origin == TOPO_GIVEN && t->teams[i].kind != TOPO_TEAM_SWITCH_LAG)
            all[n++] =
                (struct mac_holder){t->teams[i].mac, t->teams[i].mark, t->teams[i].box, check_team_name(c, (int)i)};
    for (size_t i = 0; i < t->n_ports; i++)
        if (t->ports[i].mac_origin == TOPO_GIVEN && !check_is_switch(t, t->ports[i].box))
            all[n++] = (struct mac_holder){t->ports[i].mac, t->ports[i].mark, t->ports[i].box, t->ports[i].full};
    for (size_t i = 0; i < t->n_vips; i++)
        if (t->vips[i].mac_origin == TOPO_GIVEN)
            all[n++] = (struct mac_holder){t->vips[i].mac, t->vips[i].mark, t->vips[i].home, t->vips[i].text};
    qsort(all, n, sizeof *all, by_mac);
    for (size_t i = 1; i < n; i++) {
        const uint8_t *m = all[i].mac;
        static const uint8_t none[6];
        if (all[i].box != all[i - 1].box && memcmp(m, all[i - 1].mac, 6) == 0 && memcmp(m, none, 6) != 0)
            check_add(c, all[i].mark, NULL, NULL, "MAC %02x:%02x:%02x:%02x:%02x:%02x belongs to %s and to %s", m[0],
                      m[1], m[2], m[3], m[4], m[5], all[i - 1].name, all[i].name);
    }
}

/* ---- several interfaces ---- */

/* Whatever leaves the box by one of these two is bound to it: nothing is left to routing. */
static bool only_bound(const struct topo *t, int box, int a, int b)
{
    bool any = false;
    for (size_t m = 0; m < t->n_mounts; m++) {
        if (t->mounts[m].host != box || (t->mounts[m].iface != a && t->mounts[m].iface != b))
            continue;
        any = true;
        if (!t->mounts[m].bound)
            return false;
    }
    return any;
}

static void vmknics_one_subnet(struct check *c)
{
    const struct topo *t = c->t;
    char text[64];

    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *a = &t->ifaces[i];
        if (!a->addr.version || !check_is_host(t, a->box))
            continue;
        for (size_t k = i + 1; k < t->n_ifaces && t->ifaces[k].box == a->box; k++) {
            const struct topo_iface *b = &t->ifaces[k];
            struct topo_addr net = a->addr;
            if (b->addr.version != a->addr.version || !topo_addr_same_subnet(&a->addr, &b->addr, a->addr.prefix))
                continue;
            if (only_bound(t, a->box, (int)i, (int)k))
                continue;
            for (unsigned bit = net.prefix; bit < (net.version == 4 ? 32u : 128u); bit++)
                net.bytes[bit / 8] &= (uint8_t) ~(0x80u >> (bit % 8));
            check_add(c, b->mark, t->boxes[b->box].name,
                      "one interface per subnet; a second subnet makes a second path",
                      "%s and %s are both in %s: one of them carries all NFS traffic, which one is assumed (the first "
                      "created)",
                      a->name, b->name, topo_addr_print(text, sizeof text, &net, true));
        }
    }
}

static void mgmt_on_nfs_team(struct check *c)
{
    const struct topo *t = c->t;
    bool *nfs = check_alloc(c, t->n_teams, sizeof *nfs);

    for (size_t i = 0; i < t->n_ifaces; i++)
        if (c->iface_used[i] && t->ifaces[i].team >= 0)
            nfs[t->ifaces[i].team] = true;
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        if (f->management && f->team >= 0 && nfs[f->team] && check_is_host(t, f->box))
            check_add(
                c, f->mark, t->boxes[f->box].name, NULL,
                "management (%s) rides on %s, the team that carries NFS: a mistake in its LAG or hash cuts the host "
                "off with its datastores",
                f->name, t->teams[f->team].name);
    }
}

// clang-format off
const struct check_rule check_address_rules[] = {
    {"address-doubled", DIAG_ERROR, "one IP address belongs to two interfaces",
     "Two interfaces, or an interface and a VIP, have the same address. Whoever answers ARP last gets the\n"
     "traffic.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    arping -D -I bond0.50 -c 3 10.50.0.101       # Linux: more than one MAC answers\n"
     "    esxcli network ip neighbor list\n",
     address_doubled},
    {"address-unusable", DIAG_ERROR, "an address is the network or broadcast address of its subnet",
     "With the prefix that the file gives, the host part of the address is all zeros or all ones. Usually\n"
     "the prefix is wrong, or a range of addresses runs one too far.\n",
     address_unusable},
    {"prefix-differs", DIAG_WARNING, "host and VIP disagree on the size of their subnet",
     "The two ends take different addresses for local. It works for this pair, and fails for the first\n"
     "address that only one of them believes to be on the wire; a takeover to another address can be that\n"
     "one.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network ip interface ipv4 get         # ESXi\n"
     "    network interface show -fields netmask       # ONTAP\n",
     prefix_differs},
    {"gateway-outside", DIAG_ERROR, "a gateway is not in the subnet of its interface",
     "A host reaches its gateway directly, so the gateway's address must be in the interface's own subnet.\n"
     "The host refuses the route, or never finds the gateway's MAC address.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network ip route ipv4 list ; ip route show default\n"
     "    network route show                           # ONTAP\n",
     gateway_outside},
    {"no-way-back", DIAG_ERROR, "the NAS has no route back to hosts in another subnet",
     "The host reaches the VIP through a router, but the controller has no gateway, so it can't answer. A\n"
     "NAS that answers over the path by which a request came hides it, and fails in what it begins itself.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    network route show                           # ONTAP; on others: netstat -rn\n"
     "    vmkping -I vmk1 10.60.0.101                  # no answer, while the router's statistics show the request\n",
     no_way_back},
    {"mac-doubled", DIAG_ERROR, "one MAC address belongs to two boxes",
     "Switches learn an address on one port at a time: two boxes with the same MAC steal each other's\n"
     "frames, and the switch logs a flapping address. Usually a copied line in the file.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show mac address-table address 0050.5600.0001\n"
     "    show logging | include FLAP\n",
     mac_doubled},
    {"vmknics-one-subnet", DIAG_WARNING, "a host has several interfaces in one subnet",
     "The routing table picks one interface for all traffic to a subnet, so a second vmknic in it adds no\n"
     "path, and which of them is used is not promised (VMware KB 2010877: unsupported except for iSCSI\n"
     "port binding, multi-NIC vMotion and overlay end points). The file assumes the first one created.\n"
     "More paths need more VIPs under IP hash, or one subnet per path, or since 8.0 U1 datastores that are\n"
     "each bound to an interface (`vmknic:`), which is not complained of.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network ip connection list | grep 2049   # the local address in use\n"
     "    ip route get 10.50.0.101                         # Linux: `src`\n",
     vmknics_one_subnet},
    {"mgmt-on-nfs-team", DIAG_NOTE, "the management interface rides on the team that carries NFS",
     "A team with IP hash and its EtherChannel must be changed on both sides in the right order; in\n"
     "between the host may be unreachable. When management shares that team, the only way left is the\n"
     "console. Not a fault on hosts that have two NICs in all, but worth knowing before a change.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network ip interface tag get -i vmk0\n"
     "    esxcli network vswitch standard list\n",
     mgmt_on_nfs_team},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
