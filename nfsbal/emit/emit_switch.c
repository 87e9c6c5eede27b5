/* Theory of operation. What the file says about the switch end of each host's team is printed as commands of that switch's model:
 * LAG, its mode, VLANs. One block per host, so that one host at a time is done, in maintenance mode; the order and the way back
 * stand above its commands. Where the host's management rides on the same team a mistake would cut the host off: that is refused.
 * Commands only add: `vlan add`, never a list that replaces another; no MTU and no hash, which are of the whole box and move all its
 * flows: what the file has is a comment.
 *
 * Sources: VMware KB 1001938 and 1004048 (order of changes, requirements of IP hash), Cisco IOS and NX-OS, Arista EOS, Junos, HPE
 * ProCurve and Dell Networking command references.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "emu/model/path_proof.h"
#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

enum style { STYLE_IOS, STYLE_NEXUS, STYLE_ARISTA, STYLE_JUNOS, STYLE_PROCURVE, STYLE_WORDS };

static enum style style_of(const struct topo_node *node)
{
    static const struct {
        const char *begin;
        enum style style;
    } styles[] = {
        {"cisco-nexus", STYLE_NEXUS}, {"nexus", STYLE_NEXUS},        {"cisco", STYLE_IOS},
        {"catalyst", STYLE_IOS},      {"dell-n", STYLE_IOS},         {"powerconnect", STYLE_IOS},
        {"arista", STYLE_ARISTA},     {"juniper", STYLE_JUNOS},      {"hp-procurve", STYLE_PROCURVE},
        {"procurve", STYLE_PROCURVE}, {"hpe-aruba", STYLE_PROCURVE},
    };
    for (size_t i = 0; node->model && i < sizeof styles / sizeof *styles; i++)
        if (strncasecmp(node->model, styles[i].begin, strlen(styles[i].begin)) == 0)
            return styles[i].style;
    return STYLE_WORDS;
}

static char comment_of(enum style style)
{
    return style == STYLE_JUNOS || style == STYLE_WORDS ? '#' : style == STYLE_PROCURVE ? ';' : '!';
}

/* ---- what a team is cabled to ---- */

/* The switch port at the other end of a member, or -1. */
static int far_port(const struct topo *t, int port)
{
    int out = topo_port_out(t, port), far = out < 0 ? -1 : topo_linkdir_to(t, out);
    return far >= 0 && t->nodes[t->boxes[t->ports[far].box].node].kind == TOPO_SWITCH ? far : -1;
}

/* The LAG that a switch port is in, or -1. */
static int lag_of(const struct topo *t, int port)
{
    int team = t->ports[port].team;
    return team >= 0 && t->teams[team].kind == TOPO_TEAM_SWITCH_LAG ? team : -1;
}

static bool touches(const struct topo *t, const struct topo_team *team, int box)
{
    for (size_t i = 0; i < team->n_ports; i++) {
        int far = far_port(t, team->ports[i]);
        if (far >= 0 && t->ports[far].box == box)
            return true;
    }
    return false;
}

static int first_lag(const struct topo *t, const struct topo_team *team)
{
    for (size_t i = 0; i < team->n_ports; i++) {
        int far = far_port(t, team->ports[i]);
        if (far >= 0 && lag_of(t, far) >= 0)
            return lag_of(t, far);
    }
    return -1;
}

/* Teams of hosts that mount something, and of a NAS that serves; with --host only that host's. */
static bool carries_nfs(const struct topo *t, const struct topo_team *team)
{
    for (size_t m = 0; m < t->n_mounts; m++) {
        const struct topo_mount *mount = &t->mounts[m];
        if (mount->iface >= 0 && &t->teams[t->ifaces[mount->iface].team] == team)
            return true;
        if (mount->vip >= 0 && t->vips[mount->vip].iface >= 0 &&
            &t->teams[t->ifaces[t->vips[mount->vip].iface].team] == team)
            return true;
    }
    return false;
}

static bool is_wanted(const struct emit *e, const struct topo_team *team)
{
    enum topo_kind kind = e->t->nodes[e->t->boxes[team->box].node].kind;
    bool host = kind == TOPO_ESXI || kind == TOPO_LINUX;
    if (e->host >= 0 ? team->box != e->host : !host && kind != TOPO_NAS)
        return false;
    for (size_t i = 0; i < team->n_ports; i++)
        if (far_port(e->t, team->ports[i]) >= 0)
            return carries_nfs(e->t, team);
    return false;
}

/* ---- what can't be printed ---- */

static const struct topo_iface *management_on(const struct topo *t, const struct topo_team *team)
{
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].management && &t->teams[t->ifaces[i].team] == team)
            return &t->ifaces[i];
    return NULL;
}

static const char *number_in(const char *name)
{
    while (*name && !isdigit((unsigned char)*name))
        name++;
    return name;
}

static bool numbered(enum style style) { return style != STYLE_WORDS; }

/* A LAG's number is all digits behind its letters: "po11", "Trk3". */
static bool has_number(const char *name)
{
    const char *n = number_in(name);
    return *n && n[strspn(n, "0123456789")] == '\0' && n - name <= 16;
}

static bool possible(const struct topo *t, const struct topo_team *team, char *problem, size_t size)
{
    const struct topo_iface *f = management_on(t, team);
    int lag = first_lag(t, team);
    if (f) {
        snprintf(problem, size,
                 "switch: mgmt-on-nfs-team: %s carries the management of %s and rides on %s: a mistake at the switch "
                 "would cut the "
                 "host off; give it a team of its own first, or do the others with --host",
                 f->name, t->boxes[team->box].name, team->name);
        return false;
    }
    for (size_t i = 0; lag >= 0 && i < team->n_ports; i++) {
        int far = far_port(t, team->ports[i]);
        lag = far >= 0 ? lag_of(t, far) : -1;
        if (lag >= 0 && numbered(style_of(&t->nodes[t->boxes[t->teams[lag].box].node])) &&
            !has_number(t->teams[lag].name)) {
            snprintf(problem, size, "switch: LAG `%s` of %s: this model calls its LAGs by a number, as in po1",
                     t->teams[lag].name, t->boxes[t->teams[lag].box].name);
            return false;
        }
        lag = 0;
    }
    return true;
}

bool emit_switch_possible(const struct emit *e, char *problem, size_t size)
{
    bool any = false;
    for (size_t i = 0; i < e->t->n_teams; i++) {
        const struct topo_team *team = &e->t->teams[i];
        if (!is_wanted(e, team))
            continue;
        any = true;
        if (!possible(e->t, team, problem, size))
            return false;
    }
    if (!any)
        snprintf(problem, size, "switch: there is no team with mounts and a cable to a switch%s%s",
                 e->host < 0 ? "" : " on ", e->host < 0 ? "" : e->t->boxes[e->host].name);
    return any;
}

/* ---- VLANs ---- */

/* The native VLAN has to be among those that pass. */
static void print_vlans(const struct topo_vlan *v, const char *divider, FILE *out)
{
    bool native = v->native != 0;
    for (size_t i = 0; i < v->n_allowed; i++) {
        fprintf(out, "%s%u", i ? divider : "", v->allowed[i]);
        native = native && v->allowed[i] != v->native;
    }
    if (native)
        fprintf(out, "%s%u", v->n_allowed ? divider : "", v->native);
}

/* The VLAN lines of IOS and its like. */
static void ios_vlan(const struct topo_vlan *v, FILE *out)
{
    if (v->mode == TOPO_VLAN_ACCESS)
        fprintf(out, " switchport mode access\n switchport access vlan %u\n", v->access);
    if (v->mode != TOPO_VLAN_TRUNK)
        return;
    fputs(" switchport mode trunk\n", out);
    if (v->native)
        fprintf(out, " switchport trunk native vlan %u\n", v->native);
    fputs(" switchport trunk allowed vlan add ", out);
    print_vlans(v, ",", out);
    fputc('\n', out);
}

static void junos_vlan(const char *name, const struct topo_vlan *v, FILE *out)
{
    bool trunk = v->mode == TOPO_VLAN_TRUNK;
    if (v->mode == TOPO_VLAN_NONE)
        return;
    fprintf(out, "set interfaces %s unit 0 family ethernet-switching interface-mode %s\n", name,
            trunk ? "trunk" : "access");
    if (trunk && v->native)
        fprintf(out, "set interfaces %s native-vlan-id %u\n", name, v->native);
    fprintf(out, "set interfaces %s unit 0 family ethernet-switching vlan members [ ", name);
    if (trunk)
        print_vlans(v, " ", out);
    else
        fprintf(out, "%u", v->access);
    fputs(" ]\n", out);
}

static void procurve_vlan(const char *name, const struct topo_vlan *v, FILE *out)
{
    bool native = v->mode == TOPO_VLAN_TRUNK && v->native;
    if (v->mode == TOPO_VLAN_ACCESS)
        fprintf(out, "vlan %u untagged %s\n", v->access, name);
    for (size_t i = 0; v->mode == TOPO_VLAN_TRUNK && i < v->n_allowed; i++) {
        fprintf(out, "vlan %u %s %s\n", v->allowed[i], v->allowed[i] == v->native ? "untagged" : "tagged", name);
        native = native && v->allowed[i] != v->native;
    }
    if (native)
        fprintf(out, "vlan %u untagged %s\n", v->native, name);
}

static void words_vlan(const char *name, const struct topo_vlan *v, FILE *out)
{
    if (v->mode == TOPO_VLAN_ACCESS)
        fprintf(out, "# %s: untagged in VLAN %u\n", name, v->access);
    if (v->mode != TOPO_VLAN_TRUNK)
        return;
    fprintf(out, "# %s: VLANs ", name);
    print_vlans(v, ", ", out);
    if (v->native)
        fprintf(out, ", %u untagged, the others tagged\n", v->native);
    else
        fputs(", tagged\n", out);
}

/* ---- commands ---- */

static void channel(const struct topo *t, const struct topo_team *lag, enum style style, const char *what, FILE *out)
{
    const char *number = number_in(lag->name);
    char name[64];
    switch (style) {
    case STYLE_IOS:
    case STYLE_NEXUS:
    case STYLE_ARISTA:
        fprintf(out, "interface port-channel %s\n", number);
        ios_vlan(&lag->vlan, out);
        break;
    case STYLE_JUNOS:
        snprintf(name, sizeof name, "ae%.40s", number);
        if (lag->mode == TOPO_LAG_LACP)
            fprintf(out, "set interfaces %s aggregated-ether-options lacp active periodic %s\n", name,
                    lag->lacp_fast ? "fast" : "slow");
        junos_vlan(name, &lag->vlan, out);
        break;
    case STYLE_PROCURVE:
        snprintf(name, sizeof name, "trk%.40s", number);
        fputs("trunk ", out);
        for (size_t i = 0; i < lag->n_ports; i++)
            fprintf(out, "%s%s", i ? "," : "", t->ports[lag->ports[i]].name);
        fprintf(out, " %s %s\n", name, lag->mode == TOPO_LAG_LACP ? "lacp" : "trunk");
        procurve_vlan(name, &lag->vlan, out);
        break;
    case STYLE_WORDS:
        fprintf(out, "# LAG %s towards %s: %s\n", lag->name, what,
                lag->mode == TOPO_LAG_LACP ? "LACP, active" : "static, without LACP");
        words_vlan(lag->name, &lag->vlan, out);
        break;
    }
}

static void port(const struct topo *t, int p, enum style style, FILE *out)
{
    const char *name = t->ports[p].name;
    int lag = lag_of(t, p);
    bool lacp = lag >= 0 && t->teams[lag].mode == TOPO_LAG_LACP;
    const char *number = lag >= 0 ? number_in(t->teams[lag].name) : "";
    switch (style) {
    case STYLE_IOS:
    case STYLE_NEXUS:
    case STYLE_ARISTA:
        fprintf(out, "interface %s\n", name);
        ios_vlan(lag >= 0 ? &t->teams[lag].vlan : &t->ports[p].vlan, out); /* members have to equal their LAG */
        if (lag >= 0)
            fprintf(out, " channel-group %s mode %s\n", number, lacp ? "active" : "on");
        break;
    case STYLE_JUNOS:
        if (lag >= 0)
            fprintf(out, "set interfaces %s ether-options 802.3ad ae%s\n", name, number);
        else
            junos_vlan(name, &t->ports[p].vlan, out);
        break;
    case STYLE_PROCURVE:
        if (lag < 0)
            procurve_vlan(name, &t->ports[p].vlan, out);
        break;
    case STYLE_WORDS:
        if (lag >= 0)
            fprintf(out, "# port %s: in LAG %s\n", name, t->teams[lag].name);
        if (lag < 0)
            words_vlan(name, &t->ports[p].vlan, out);
        break;
    }
}

/* ---- order and way back ---- */

static void esxi_order(const struct topo_team *team, bool lag, bool lacp, char c, FILE *out)
{
    fprintf(out, "%c order     1 maintenance mode: no VM on it\n", c);
    if (!lag) {
        fprintf(out, "%c           2 the commands below   3 vmkping each VIP from each vmknic\n", c);
        fprintf(out, "%c way back  the ports' former lines\n", c);
        return;
    }
    fprintf(out, "%c           2 %s: one uplink active, the others unused\n", c, team->name);
    fprintf(out, "%c           3 the commands below\n", c);
    if (lacp)
        fprintf(out,
                "%c           4 the uplinks into the LAG of %s, the LAG the only active uplink of its port groups\n", c,
                team->name);
    else
        fprintf(
            out,
            "%c           4 %s and all its port groups: IP hash, link status only, all uplinks active, none standby\n",
            c, team->name);
    fprintf(out, "%c           5 all ports bundled?   6 vmkping each VIP from each vmknic   7 leave maintenance mode\n",
            c);
    fprintf(out,
            "%c way back  teaming by port ID with one uplink active, then the ports out of the LAG one by one, then "
            "all uplinks\n",
            c);
}

static void linux_order(const struct topo_team *team, bool lag, char c, FILE *out)
{
    fprintf(out, "%c order     1 no guest on it, its mounts unused   2 the commands below\n", c);
    if (lag)
        fprintf(out, "%c           3 %s as the file has it: /proc/net/bonding/%s shows all members in one aggregator\n",
                c, team->name, team->name);
    fprintf(out, "%c           %d ping each VIP\n", c, lag ? 4 : 3);
    fprintf(out, "%c way back  %sthe ports' former lines\n", c, lag ? "the bond as it was, one member up; then " : "");
}

static void nas_order(const struct topo_box *box, bool lag, char c, FILE *out)
{
    fprintf(out, "%c order     1 %s   2 the commands below\n", c,
            box->takeover >= 0 ? "its addresses at the partner"
                               : "all that mounts from it stopped: there is no partner");
    if (lag)
        fprintf(out, "%c           3 the LAG at the NAS   4 all ports bundled?\n", c);
    fprintf(out, "%c           %d %s\n", c, lag ? 5 : 3,
            box->takeover >= 0 ? "the addresses home" : "ping each VIP from each host");
    fprintf(out, "%c way back  %sthe ports' former lines\n", c,
            box->takeover >= 0 ? "the addresses at the partner; then " : "");
}

static void print_order(const struct topo *t, const struct topo_team *team, char c, FILE *out)
{
    int lag = first_lag(t, team);
    switch (t->nodes[t->boxes[team->box].node].kind) {
    case TOPO_ESXI:
        esxi_order(team, lag >= 0, lag >= 0 && t->teams[lag].mode == TOPO_LAG_LACP, c, out);
        break;
    case TOPO_LINUX:
        linux_order(team, lag >= 0, c, out);
        break;
    case TOPO_NAS:
        nas_order(&t->boxes[team->box], lag >= 0, c, out);
        break;
    case TOPO_SWITCH:
    case TOPO_ROUTER:
        break;
    }
}

/* ---- blocks ---- */

/* What the file has for the whole box: comments. */
static void print_box(const struct topo *t, int box, char c, FILE *out)
{
    const struct topo_node *node = &t->nodes[t->boxes[box].node];
    if (!path_proof_confirmed(node))
        fprintf(
            out,
            "%c worded after the model's reference, not confirmed on a box: look at each line before it is entered\n",
            c);
    if (node->hash.policy && node->hash.policy->status != HASH_STATUS_UNKNOWN)
        fprintf(out, "%c of the whole box, not set here: load balancing as in %s\n", c, node->hash.policy->name);
    if (node->mtu)
        fprintf(out, "%c of the whole box, not set here: frames of %u bytes\n", c, node->mtu);
}

static void print_at(const struct topo *t, const struct topo_team *team, int box, FILE *out)
{
    enum style style = style_of(&t->nodes[t->boxes[box].node]);
    char c = comment_of(style), what[160];
    int done = -1;
    snprintf(what, sizeof what, "%s %s", t->boxes[team->box].name, team->name);
    fprintf(out, "%c ---- on %s ----\n", c, t->boxes[box].name);
    for (size_t i = 0; i < team->n_ports; i++) {
        int far = far_port(t, team->ports[i]), lag = far >= 0 && t->ports[far].box == box ? lag_of(t, far) : -1;
        if (lag >= 0 && lag != done)
            channel(t, &t->teams[lag], style, what, out);
        done = lag >= 0 ? lag : done;
    }
    for (size_t i = 0; i < team->n_ports; i++) {
        int far = far_port(t, team->ports[i]);
        if (far < 0 || t->ports[far].box != box)
            continue;
        fprintf(out, "%c %s\n", c, t->ports[team->ports[i]].full);
        port(t, far, style, out);
    }
}

static void print_team(const struct topo *t, const struct topo_team *team, FILE *out)
{
    char c = '#';
    for (size_t i = team->n_ports; i-- > 0;)
        if (far_port(t, team->ports[i]) >= 0)
            c = comment_of(style_of(&t->nodes[t->boxes[t->ports[far_port(t, team->ports[i])].box].node]));
    fprintf(out, "%c ==== %s: %s ====\n", c, t->boxes[team->box].name, team->name);
    print_order(t, team, c, out);
    for (size_t box = 0; box < t->n_boxes; box++)
        if (touches(t, team, (int)box))
            print_at(t, team, (int)box, out);
}

void emit_switch(const struct emit *e, FILE *out)
{
    const struct topo *t = e->t;
    for (size_t box = 0; box < t->n_boxes; box++) {
        bool used = false;
        for (size_t i = 0; i < t->n_teams; i++)
            used = used || (is_wanted(e, &t->teams[i]) && touches(t, &t->teams[i], (int)box));
        if (!used)
            continue;
        fprintf(out, "%c %s: one block at a time, then look before the next; what is there already stays\n",
                comment_of(style_of(&t->nodes[t->boxes[box].node])), t->boxes[box].name);
        print_box(t, (int)box, comment_of(style_of(&t->nodes[t->boxes[box].node])), out);
    }
    for (size_t i = 0; i < t->n_teams; i++)
        if (is_wanted(e, &t->teams[i])) {
            fputc('\n', out);
            print_team(t, &t->teams[i], out);
        }
}
