/* Sources of the commands: Cisco TAC 116385 (Catalyst), NX-OS Layer 2 guides, "Verifying the Load-Balancing Outgoing Port ID"
 * (Nexus), Arista EOS manual `show load-balance destination`, FTOS command reference `show port-channel-flow`, Junos CLI reference `show forwarding-options load-balance`, HPE Aruba 16.09 `show trunks`, ONTAP `network port ifgrp
 * show`, esxcli reference, Linux Documentation/networking/bonding.rst. Other switches have no command that answers for a flow:
 * there the members' counters tell, while this flow alone is busy.
 */
#include "emu/model/path_proof.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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
    enum path_proof_form form;
    const char *answer; /* TELL: words of the answer in which {port} is the choice; NULL: any member of a LAG */
};

/* The first row that fits counts. */
// clang-format off
static const struct proof proofs[] = {
    {TOPO_SWITCH, "cisco-nexus", DOUBT_RULE, "show port-channel load-balance forwarding-path interface {port-channel} vlan {vlan} src-ip {src} dst-ip {dst}", PATH_PROOF_TELL, "Outgoing port id: {port}"},
    {TOPO_SWITCH, "nexus", DOUBT_RULE, "show port-channel load-balance forwarding-path interface {port-channel} vlan {vlan} src-ip {src} dst-ip {dst}", PATH_PROOF_TELL, "Outgoing port id: {port}"},
    {TOPO_SWITCH, "cisco", DOUBT_RULE, "test etherchannel load-balance interface {lag} {ip|mac}", PATH_PROOF_TELL, "Would select {port} of"},
    {TOPO_SWITCH, "catalyst", DOUBT_RULE, "test etherchannel load-balance interface {lag} {ip|mac}", PATH_PROOF_TELL, "Would select {port} of"},
    {TOPO_SWITCH, "arista", DOUBT_RULE, "show load-balance destination port-channel {lag} ingress-interface {in} src-ipv4-address {src} dst-ipv4-address {dst} ip-protocol 6 src-l4-port {sport} dst-l4-port {dport}", PATH_PROOF_TELL, "Output Interface: {port}"},
    {TOPO_SWITCH, "force10", DOUBT_RULE, "show port-channel-flow outgoing-port-channel {number} incoming-interface {in} source-ip {src} destination-ip {dst} protocol tcp source-port {sport} destination-port {dport}", PATH_PROOF_TELL, "for the given flow, is {port}"},
    {TOPO_SWITCH, "dell-force10", DOUBT_RULE, "show port-channel-flow outgoing-port-channel {number} incoming-interface {in} source-ip {src} destination-ip {dst} protocol tcp source-port {sport} destination-port {dport}", PATH_PROOF_TELL, "for the given flow, is {port}"},
    {TOPO_SWITCH, "ftos", DOUBT_RULE, "show port-channel-flow outgoing-port-channel {number} incoming-interface {in} source-ip {src} destination-ip {dst} protocol tcp source-port {sport} destination-port {dport}", PATH_PROOF_TELL, "for the given flow, is {port}"},
    {TOPO_SWITCH, "juniper", DOUBT_RULE, "show forwarding-options load-balance ingress-interface {in} family {inet} source-address {src} destination-address {dst} transport-protocol tcp source-port {sport} destination-port {dport}", PATH_PROOF_TELL, NULL},
    {TOPO_SWITCH, "hp", DOUBT_RULE, "show trunks load-balance interface {lag} mac {smac} {dmac} ip {src} {dst} {sport} {dport} inbound-port {in}", PATH_PROOF_TELL, "forwarded out port {port}"},
    {TOPO_SWITCH, "procurve", DOUBT_RULE, "show trunks load-balance interface {lag} mac {smac} {dmac} ip {src} {dst} {sport} {dport} inbound-port {in}", PATH_PROOF_TELL, "forwarded out port {port}"},
    {TOPO_SWITCH, "aruba", DOUBT_RULE, "show trunks load-balance interface {lag} mac {smac} {dmac} ip {src} {dst} {sport} {dport} inbound-port {in}", PATH_PROOF_TELL, "forwarded out port {port}"},
    {TOPO_SWITCH, "cisco-nexus", DOUBT_PLACE, "show mac address-table address {mac.}", PATH_PROOF_SHOW, NULL},
    {TOPO_SWITCH, "nexus", DOUBT_PLACE, "show mac address-table address {mac.}", PATH_PROOF_SHOW, NULL},
    {TOPO_SWITCH, "cisco", DOUBT_PLACE, "show mac address-table address {mac.}", PATH_PROOF_SHOW, NULL},
    {TOPO_SWITCH, "catalyst", DOUBT_PLACE, "show mac address-table address {mac.}", PATH_PROOF_SHOW, NULL},
    {TOPO_SWITCH, "arista", DOUBT_PLACE, "show mac address-table address {mac.}", PATH_PROOF_SHOW, NULL},
    {TOPO_SWITCH, NULL, DOUBT_PLACE, "look up {mac} in its MAC address table", PATH_PROOF_ADVICE, NULL},
    {TOPO_SWITCH, NULL, DOUBT_RULE, "compare the counters of {lag}'s members while this flow alone is busy", PATH_PROOF_ADVICE, NULL},
    {TOPO_ESXI, NULL, DOUBT_PORT, "esxcli network ip connection list", PATH_PROOF_SHOW, NULL},
    {TOPO_ESXI, NULL, DOUBT_MAC, "esxcli network ip interface list", PATH_PROOF_SHOW, NULL},
    {TOPO_ESXI, NULL, DOUBT_PORT_ID, "esxtop, n: column TEAM-PNIC of {iface}", PATH_PROOF_ADVICE, NULL},
    {TOPO_ESXI, NULL, DOUBT_RULE, "esxtop, n: column TEAM-PNIC of {iface}", PATH_PROOF_ADVICE, NULL},
    {TOPO_LINUX, NULL, DOUBT_PORT, "ss -tn dst {server}", PATH_PROOF_SHOW, NULL},
    {TOPO_LINUX, NULL, DOUBT_MAC, "ip -br link show {team}", PATH_PROOF_SHOW, NULL},
    {TOPO_LINUX, NULL, DOUBT_RULE, "cat /proc/net/bonding/{team}; uname -r", PATH_PROOF_SHOW, NULL},
    {TOPO_NAS, "netapp", DOUBT_RULE, "network port ifgrp show -node {part} -ifgrp {team}; ifstat of its ports while this flow alone is busy", PATH_PROOF_ADVICE, NULL},
    {TOPO_NAS, "truenas", DOUBT_RULE, "cat /proc/net/bonding/{team} (CORE: ifconfig {team})", PATH_PROOF_ADVICE, NULL},
    {TOPO_NAS, NULL, DOUBT_RULE, "compare the counters of the NICs of {part} while this flow alone is busy", PATH_PROOF_ADVICE, NULL},
    {TOPO_ROUTER, NULL, DOUBT_RULE, "compare the counters of {team}'s members while this flow alone is busy", PATH_PROOF_ADVICE, NULL},
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
    bool drawn; /* the client's port, and it matters */
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
    else if (IS("number"))
        snprintf(out, size, "%s", lag + strcspn(lag, "0123456789"));
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
                const struct path_hop *hop, int *box, enum path_proof_form *form, char *out, size_t size)
{
    struct values v = {.t = t, .flow = flow, .hop = hop, .write = direction == FLOW_WRITE};
    const struct proof *p;
    enum doubt doubt;

    v.drawn = flow->sport_origin == TOPO_DRAWN &&
              (!hop->policy || (hash_reads(hop->policy) & (HASH_READS_SRC_PORT | HASH_READS_DST_PORT)));
    if (!doubt_of(t, flow, direction, hop, &doubt, &v.box))
        return false;
    p = find(t, v.box, doubt);
    if (!p)
        return false;
    fill_in(p->command, &v, out, size);
    *box = v.box;
    if (form)
        *form = p->form;
    return true;
}

bool path_proof_confirmed(const struct topo_node *node)
{
    static const char *const by_reference[] = {"force10", "dell-force10", "ftos", "juniper", "hp", "procurve", "aruba"};

    for (size_t i = 0; i < sizeof by_reference / sizeof by_reference[0]; i++)
        if (node->kind == TOPO_SWITCH && node->model && model_fits(node->model, by_reference[i]))
            return false;
    return true;
}

/* ---- reading back ---- */

/* The next word of a text, divided by blanks; its length, 0 at the end. */
static size_t word(const char **text)
{
    *text += strspn(*text, " \t\r");
    return strcspn(*text, " \t\r");
}

/* Names of ports and LAGs: the same letters, one's perhaps shorter, and the same numbers. */
static bool same_name(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t la = 0, lb = 0;

    while (la < n_a && !isdigit((unsigned char)a[la]))
        la++;
    while (lb < n_b && !isdigit((unsigned char)b[lb]))
        lb++;
    if (strncasecmp(a, b, la < lb ? la : lb) != 0)
        return false;
    while (la < n_a && lb < n_b) {
        char *end_a, *end_b;

        if (isdigit((unsigned char)a[la]) && isdigit((unsigned char)b[lb])) {
            if (strtoul(a + la, &end_a, 10) != strtoul(b + lb, &end_b, 10))
                return false;
            la = (size_t)(end_a - a);
            lb = (size_t)(end_b - b);
        } else if (a[la++] != b[lb++]) {
            return false;
        }
    }
    return la == n_a && lb == n_b;
}

/* The name as the box has it, without the controller. */
static const char *own_name(const struct topo *t, int port)
{
    const char *dot = t->boxes[t->ports[port].box].part ? strchr(t->ports[port].name, '.') : NULL;

    return dot ? dot + 1 : t->ports[port].name;
}

/* One port against a device's name. *found: -1, or the one that fits so far; -2 once there are two. True: it is this one. */
static bool is_called(const struct topo *t, int port, const char *name, int *found)
{
    const char *own = own_name(t, port);

    if (strcasecmp(own, name) == 0 || strcasecmp(t->ports[port].name, name) == 0) {
        *found = port;
        return true;
    }
    if (same_name(own, strlen(own), name, strlen(name)))
        *found = *found == -1 ? port : -2;
    return false;
}

int path_proof_port(const struct topo *t, int team, const char *name)
{
    int found = -1;

    for (size_t i = 0; i < t->teams[team].n_ports; i++)
        if (is_called(t, t->teams[team].ports[i], name, &found))
            break;
    return found >= 0 ? found : -1;
}

int path_proof_node_port(const struct topo *t, int node, const char *name)
{
    const struct topo_node *n = &t->nodes[node];
    int found = -1;

    for (int b = n->first_box; b < n->first_box + n->n_boxes; b++)
        for (int p = t->boxes[b].first_port; p < t->boxes[b].first_port + t->boxes[b].n_ports; p++)
            if (is_called(t, p, name, &found))
                return found;
    return found >= 0 ? found : -1;
}

/* The LAG of this node that is called so, or whose number this is. */
static int find_team(const struct topo *t, int node, const char *name, size_t n)
{
    for (size_t i = 0; i < t->n_teams; i++) {
        const char *own = t->teams[i].name, *digits = own + strcspn(own, "0123456789");

        if (t->boxes[t->teams[i].box].node != node || t->teams[i].kind == TOPO_TEAM_SINGLE)
            continue;
        if (same_name(own, strlen(own), name, n))
            return (int)i;
        if (*digits && ((isdigit((unsigned char)*name) && same_name(digits, strlen(digits), name, n)) ||
                        (n > 12 && strncasecmp(name, "port-channel", 12) == 0 &&
                         same_name(digits, strlen(digits), name + 12, n - 12))))
            return (int)i;
    }
    return -1;
}

static bool take_address(struct topo_addr *a, const char *text, size_t n)
{
    char copy[64];

    if (n >= sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return topo_addr_parse(a, copy);
}

/* A port number; a placeholder that nobody filled in is 0: any. */
static uint16_t take_port(const char *text) { return (uint16_t)strtoul(text, NULL, 10); }

/* Takes the value of {name} off *line. */
static bool take(const struct topo *t, int node, const char *name, const char **line, struct path_asked *a)
{
    size_t n = word(line);
    const char *text = *line;

    if (n == 0)
        return false;
    *line += n;
#define IS(literal) (strncmp(name, "{" literal "}", sizeof literal + 1) == 0)
    if (IS("lag") || IS("port-channel") || IS("number")) {
        if (n == 12 && strncasecmp(text, "port-channel", n) == 0) { /* the number is a word of its own */
            n = word(line);
            text = *line;
            *line += n;
        }
        a->lag = text;
        a->lag_length = n;
        a->team = find_team(t, node, text, n);
        return n > 0;
    }
    if (IS("ip|mac")) {
        size_t of_src = word(line);
        const char *src = *line, *dst = src + of_src;
        size_t of_dst = word(&dst);

        *line = dst + of_dst;
        a->by_mac = n == 3 && strncasecmp(text, "mac", n) == 0;
        if (a->by_mac)
            return true;
        return n == 2 && strncasecmp(text, "ip", n) == 0 && take_address(&a->src, src, of_src) &&
               take_address(&a->dst, dst, of_dst);
    }
    if (IS("in")) { /* "Te 1/1" */
        const char *next = *line;
        size_t more = word(&next);

        a->entry = text;
        a->entry_length = n;
        if (more > 0 && isdigit((unsigned char)*next) && isalpha((unsigned char)text[n - 1]))
            *line = next + more;
        return true;
    }
    if (IS("src"))
        return take_address(&a->src, text, n);
    if (IS("dst"))
        return take_address(&a->dst, text, n);
    if (IS("sport"))
        a->sport = take_port(text);
    if (IS("dport"))
        a->dport = take_port(text);
#undef IS
    return true;
}

/* The line against one command: its words, or unmistakable beginnings of them. */
static bool fits(const struct topo *t, int node, const char *command, const char *line, struct path_asked *a)
{
    for (size_t n; (n = word(&command)) > 0; command += n) {
        size_t m;

        if (*command == '{') {
            if (!take(t, node, command, &line, a))
                return false;
            continue;
        }
        m = word(&line);
        if (m < (n < 2 ? n : 2) || m > n || strncasecmp(command, line, m) != 0)
            return false;
        line += m;
    }
    return word(&line) == 0;
}

bool path_proof_read(const struct topo *t, int node, const char *line, struct path_asked *out)
{
    for (size_t i = 0; i < sizeof proofs / sizeof proofs[0]; i++) {
        struct path_asked a = {.team = -1, .answer = proofs[i].answer};

        if (proofs[i].form != PATH_PROOF_TELL || proofs[i].kind != t->nodes[node].kind ||
            !model_fits(t->nodes[node].model, proofs[i].model) || !fits(t, node, proofs[i].command, line, &a))
            continue;
        *out = a;
        return true;
    }
    return false;
}

/* Copies a word of the device; letters that stand apart from their number belong to it: "Te 1/21". */
static bool copy_port(const char *text, size_t n, char *port, size_t size)
{
    size_t letters = 0, more = 0;
    const char *next = text + n;

    while (letters < n && isalpha((unsigned char)text[letters]))
        letters++;
    if (letters == n && n > 0 && (more = word(&next)) > 0 && !isdigit((unsigned char)*next))
        more = 0;
    while (n > 0 && more == 0 && strchr(".,;", text[n - 1]))
        n--;
    while (more > 0 && strchr(".,;", next[more - 1]))
        more--;
    if (n == 0 || n + more >= size)
        return false;
    memcpy(port, text, n);
    memcpy(port + n, next, more);
    port[n + more] = '\0';
    return true;
}

int path_proof_member(const struct topo *t, int node, const struct path_asked *asked, const char *line)
{
    int found = -1;

    for (size_t n; (n = word(&line)) > 0; line += n) {
        const char *begin = line;
        size_t length = n;
        char name[64];
        int port;

        while (length > 0 && strchr("(\"',:", *begin))
            begin++, length--;
        while (length > 0 && strchr(")\"',:;.", begin[length - 1]))
            length--;
        for (size_t i = 0; i < length; i++) /* a unit: ge-0/0/21.0 */
            if (begin[i] == '.')
                length = i;
        if (length == 0 || length >= sizeof name ||
            (asked->entry && same_name(begin, length, asked->entry, strcspn(asked->entry, " \t\r."))))
            continue;
        memcpy(name, begin, length);
        name[length] = '\0';
        port = path_proof_node_port(t, node, name);
        if (port < 0 || t->ports[port].team < 0 || t->teams[t->ports[port].team].kind != TOPO_TEAM_SWITCH_LAG)
            continue;
        if (found >= 0 && found != port)
            return -1;
        found = port;
    }
    return found;
}

bool path_proof_answer(const struct path_asked *asked, const char *line, char *port, size_t size)
{
    const char *start = line;

    for (size_t step; asked->answer && (step = word(&start)) > 0; start += step) {
        const char *at = start, *pattern = asked->answer, *found = NULL;
        size_t n, m, length = 0;

        while ((n = word(&pattern)) > 0 && (m = word(&at)) > 0) {
            if (*pattern == '{') {
                found = at;
                length = m;
            } else if (n != m || strncasecmp(pattern, at, n) != 0) {
                break;
            }
            pattern += n;
            at += m;
        }
        if (n == 0 && found)
            return copy_port(found, length, port, size);
    }
    return false;
}
