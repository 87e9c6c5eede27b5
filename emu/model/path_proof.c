/* Sources of the commands: Cisco TAC 116385 (Catalyst), NX-OS Layer 2 guides, "Verifying the Load-Balancing Outgoing Port ID"
 * (Nexus), Junos CLI reference `show forwarding-options load-balance`, HPE Aruba 16.09 `show trunks`, ONTAP `network port ifgrp
 * show`, esxcli reference, Linux Documentation/networking/bonding.rst. Other switches have no command that answers for a flow:
 * there the members' counters tell, while this flow alone is busy.
 */
#include "emu/model/path_proof.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emu/model/team_choice.h"

/* What is uncertain about a hop, and so what has to be asked. */
enum doubt {
    DOUBT_RULE, /* the arithmetic, or what it reads */
    DOUBT_PORT, /* the client's source port */
    DOUBT_MAC,
    DOUBT_PORT_ID,
    DOUBT_PLACE /* where a switch has learned the receiver */
};

struct proof {
    enum topo_kind kind;
    const char *model; /* prefix of the node's model up to a hyphen, or NULL: any */
    enum doubt doubt;
    const char *command; /* {name}: see values below */
};

/* The first row that fits counts. */
// clang-format off
static const struct proof proofs[] = {
    {TOPO_SWITCH, "cisco-nexus", DOUBT_RULE, "show port-channel load-balance forwarding-path interface {port-channel} vlan {vlan} src-ip {src} dst-ip {dst}"},
    {TOPO_SWITCH, "nexus", DOUBT_RULE, "show port-channel load-balance forwarding-path interface {port-channel} vlan {vlan} src-ip {src} dst-ip {dst}"},
    {TOPO_SWITCH, "cisco", DOUBT_RULE, "test etherchannel load-balance interface {lag} {ip|mac}"},
    {TOPO_SWITCH, "catalyst", DOUBT_RULE, "test etherchannel load-balance interface {lag} {ip|mac}"},
    {TOPO_SWITCH, "juniper", DOUBT_RULE, "show forwarding-options load-balance ingress-interface {in} family {inet} source-address {src} destination-address {dst} transport-protocol tcp source-port {sport} destination-port {dport}"},
    {TOPO_SWITCH, "hp", DOUBT_RULE, "show trunks load-balance interface {lag} mac {smac} {dmac} ip {src} {dst} {sport} {dport} inbound-port {in}"},
    {TOPO_SWITCH, "procurve", DOUBT_RULE, "show trunks load-balance interface {lag} mac {smac} {dmac} ip {src} {dst} {sport} {dport} inbound-port {in}"},
    {TOPO_SWITCH, "aruba", DOUBT_RULE, "show trunks load-balance interface {lag} mac {smac} {dmac} ip {src} {dst} {sport} {dport} inbound-port {in}"},
    {TOPO_SWITCH, "cisco-nexus", DOUBT_PLACE, "show mac address-table address {mac.}"},
    {TOPO_SWITCH, "nexus", DOUBT_PLACE, "show mac address-table address {mac.}"},
    {TOPO_SWITCH, "cisco", DOUBT_PLACE, "show mac address-table address {mac.}"},
    {TOPO_SWITCH, "catalyst", DOUBT_PLACE, "show mac address-table address {mac.}"},
    {TOPO_SWITCH, "arista", DOUBT_PLACE, "show mac address-table address {mac.}"},
    {TOPO_SWITCH, NULL, DOUBT_PLACE, "look up {mac} in its MAC address table"},
    {TOPO_SWITCH, NULL, DOUBT_RULE, "compare the counters of {lag}'s members while this flow alone is busy"},
    {TOPO_ESXI, NULL, DOUBT_PORT, "esxcli network ip connection list"},
    {TOPO_ESXI, NULL, DOUBT_MAC, "esxcli network ip interface list"},
    {TOPO_ESXI, NULL, DOUBT_PORT_ID, "esxtop, n: column TEAM-PNIC of {iface}"},
    {TOPO_ESXI, NULL, DOUBT_RULE, "esxtop, n: column TEAM-PNIC of {iface}"},
    {TOPO_LINUX, NULL, DOUBT_PORT, "ss -tn dst {server}"},
    {TOPO_LINUX, NULL, DOUBT_MAC, "ip -br link show {team}"},
    {TOPO_LINUX, NULL, DOUBT_RULE, "cat /proc/net/bonding/{team}; uname -r"},
    {TOPO_NAS, "netapp", DOUBT_RULE, "network port ifgrp show -node {part} -ifgrp {team}; ifstat of its ports while this flow alone is busy"},
    {TOPO_NAS, "truenas", DOUBT_RULE, "cat /proc/net/bonding/{team} (CORE: ifconfig {team})"},
    {TOPO_NAS, NULL, DOUBT_RULE, "compare the counters of the NICs of {part} while this flow alone is busy"},
    {TOPO_ROUTER, NULL, DOUBT_RULE, "compare the counters of {team}'s members while this flow alone is busy"},
};
// clang-format on

static bool model_fits(const char *model, const char *want)
{
    size_t n;

    if (!want)
        return true;
    n = strlen(want);
    return model && strncasecmp(model, want, n) == 0 && (model[n] == '\0' || model[n] == '-' || model[n] == ' ');
}

static const struct proof *find(const struct topo *t, int box, enum doubt doubt)
{
    const struct topo_node *node = &t->nodes[t->boxes[box].node];

    for (int any = 0; any < 2; any++)
        for (size_t i = 0; i < sizeof proofs / sizeof proofs[0]; i++)
            if (proofs[i].kind == node->kind && model_fits(node->model, proofs[i].model) &&
                proofs[i].doubt == (any ? DOUBT_RULE : doubt))
                return &proofs[i];
    return NULL;
}

struct values {
    const struct topo *t;
    const struct flow *flow;
    const struct path_hop *hop;
    int box; /* that is asked */
    bool write;
    bool drawn; /* the client's port */
};

/* How devices write a MAC: 0050.5600.0001, 005056-000001, 00:50:56:00:00:01. */
struct mac_style {
    int group; /* bytes between separators */
    char separator;
};
static const struct mac_style dots = {2, '.'}, hyphen = {3, '-'}, colons = {1, ':'};

/* The MAC of the sender or of the receiver. */
static void put_mac(char *out, size_t size, const struct values *v, bool sender, struct mac_style style)
{
    bool client = sender == v->write;
    int iface = client ? v->flow->iface : v->t->vips[v->flow->vip].iface;
    uint8_t mac[6];
    enum topo_origin origin;
    size_t at = 0;

    team_mac(v->t, iface, client ? -1 : v->flow->vip, mac, &origin);
    if (origin != TOPO_GIVEN) { /* made up: no use to the real box */
        snprintf(out, size, "MAC-of-%s", client ? v->t->ifaces[iface].name : v->t->vips[v->flow->vip].text);
        return;
    }
    for (int i = 0; i < 6 && at + 4 < size; i++) {
        if (i > 0 && i % style.group == 0)
            out[at++] = style.separator;
        at += (size_t)snprintf(out + at, size - at, "%02x", mac[i]);
    }
}

static void put_cisco(char *out, size_t size, const struct values *v, const char *src, const char *dst)
{
    size_t at;

    if (!v->hop->policy || hash_reads(v->hop->policy) & (HASH_READS_SRC_IP | HASH_READS_DST_IP)) {
        snprintf(out, size, "ip %s %s", src, dst);
        return;
    }
    at = (size_t)snprintf(out, size, "mac ");
    put_mac(out + at, size - at, v, true, dots);
    at += strlen(out + at);
    at += (size_t)snprintf(out + at, size - at, " ");
    put_mac(out + at, size - at, v, false, dots);
}

/* The value of {name}. */
static void put(char *out, size_t size, const char *name, size_t n, const struct values *v)
{
    const struct topo *t = v->t;
    const struct topo_iface *client = &t->ifaces[v->flow->iface];
    const struct topo_vip *vip = &t->vips[v->flow->vip];
    const struct topo_box *box = &t->boxes[v->box];
    const char *lag = v->hop->team >= 0 ? t->teams[v->hop->team].name : t->ports[v->hop->candidates[0]].name;
    char client_ip[64], server_ip[64];
    const char *src = v->write ? client_ip : server_ip, *dst = v->write ? server_ip : client_ip;

#define IS(word) (n == sizeof word - 1 && memcmp(name, word, n) == 0)
    topo_addr_print(client_ip, sizeof client_ip, &client->addr, false);
    topo_addr_print(server_ip, sizeof server_ip, &vip->addr, false);
    if (IS("team") && v->box != v->hop->box)
        snprintf(out, size, "%s", t->teams[client->team].name);
    else if (IS("lag") || IS("team"))
        snprintf(out, size, "%s", lag);
    else if (IS("port-channel"))
        snprintf(out, size, "port-channel %s", lag + strcspn(lag, "0123456789"));
    else if (IS("src"))
        snprintf(out, size, "%s", src);
    else if (IS("dst"))
        snprintf(out, size, "%s", dst);
    else if (IS("server"))
        snprintf(out, size, "%s", server_ip);
    else if (IS("inet"))
        snprintf(out, size, "%s", vip->addr.version == 6 ? "inet6" : "inet");
    else if (IS("vlan"))
        snprintf(out, size, "%u", client->vlan ? (unsigned)client->vlan : 1);
    else if (IS("iface"))
        snprintf(out, size, "%s", client->name);
    else if (IS("part"))
        snprintf(out, size, "%s", box->part ? box->part : box->name);
    else if (IS("ip|mac"))
        put_cisco(out, size, v, src, dst);
    else if (IS("smac"))
        put_mac(out, size, v, true, hyphen);
    else if (IS("dmac"))
        put_mac(out, size, v, false, hyphen);
    else if (IS("mac."))
        put_mac(out, size, v, false, dots);
    else if (IS("mac"))
        put_mac(out, size, v, false, colons);
    else if (v->drawn && (v->write ? IS("sport") : IS("dport")))
        snprintf(out, size, "PORT");
    else if (IS("sport"))
        snprintf(out, size, "%u", (unsigned)(v->write ? v->flow->sport : v->flow->dport));
    else if (IS("dport"))
        snprintf(out, size, "%u", (unsigned)(v->write ? v->flow->dport : v->flow->sport));
    else
        snprintf(out, size, "PORT-OF-ENTRY");
#undef IS
}

static void fill_in(const char *command, const struct values *v, char *out, size_t size)
{
    size_t at = 0;

    while (*command && at + 1 < size) {
        const char *end = *command == '{' ? strchr(command, '}') : NULL;

        if (!end) {
            out[at++] = *command++;
            continue;
        }
        out[at] = '\0';
        put(out + at, size - at, command + 1, (size_t)(end - command - 1), v);
        at += strlen(out + at);
        command = end + 1;
    }
    out[at] = '\0';
}

/* What to ask about, and where: a drawn port or an assumed MAC of the client is the client's to tell. */
static bool doubt_of(const struct topo *t, const struct flow *flow, enum flow_direction direction,
                     const struct path_hop *hop, enum doubt *doubt, int *box)
{
    uint32_t reads = hop->policy ? hash_reads(hop->policy) : 0;
    uint32_t client = direction == FLOW_WRITE ? HASH_READS_SRC_PORT : HASH_READS_DST_PORT;

    *doubt = DOUBT_RULE;
    *box = hop->box;
    if (hop->observed || (hop->n == 1 && hop->inputs <= TOPO_DERIVED))
        return false;
    if (hop->status == HASH_EXACT && hop->inputs == TOPO_DRAWN && (reads & client)) {
        *doubt = DOUBT_PORT;
        *box = t->ifaces[flow->iface].box;
        return true;
    }
    if (hop->status == HASH_EXACT && hop->inputs == TOPO_ASSUMED &&
        (reads & (HASH_READS_SRC_MAC | HASH_READS_DST_MAC))) {
        *doubt = DOUBT_MAC;
        *box = t->ifaces[flow->iface].box;
        return true;
    }
    if (!hop->policy)
        *doubt = DOUBT_PLACE;
    else if (reads & HASH_READS_PORT_ID)
        *doubt = DOUBT_PORT_ID;
    return hop->status != HASH_EXACT || hop->inputs > TOPO_DERIVED;
}

bool path_proof(const struct topo *t, const struct flow *flow, enum flow_direction direction,
                const struct path_hop *hop, int *box, char *out, size_t size)
{
    struct values v = {.t = t, .flow = flow, .hop = hop, .write = direction == FLOW_WRITE};
    const struct proof *p;
    enum doubt doubt;

    v.drawn = flow->sport_origin == TOPO_DRAWN;
    if (!doubt_of(t, flow, direction, hop, &doubt, &v.box))
        return false;
    p = find(t, v.box, doubt);
    if (!p)
        return false;
    fill_in(p->command, &v, out, size);
    *box = v.box;
    return true;
}
