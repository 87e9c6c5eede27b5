/* Teaming: what a vSwitch or bond makes of its uplinks by itself, and whether the switch at the other end agrees that
 * there is a bundle. Rules about a LAG as such are in check_lag.c. */
#include "emu/model/check_rules.h"

#include <string.h>

static bool is_vswitch(const struct topo_team *tm)
{
    return tm->kind == TOPO_TEAM_VSWITCH || tm->kind == TOPO_TEAM_DVSWITCH;
}

static struct diag_mark teaming_mark(const struct topo_team *tm, const struct topo_teaming *teaming)
{
    return teaming->mark.line ? teaming->mark : tm->mark;
}

/* "esx1:vSwitch1", or "esx1:vSwitch1, port group nfs-50" where the port group has a teaming of its own. */
static const char *teaming_name(struct check *c, int team, int iface)
{
    const char *name = check_team_name(c, team), *group = iface < 0 ? NULL : c->t->ifaces[iface].portgroup;
    return group ? check_text(c, "%s, port group %s", name, group) : name;
}

static const char *policy_name(const struct topo_teaming *teaming)
{
    return teaming->policy.policy ? teaming->policy.policy->name : "one NIC at a time";
}

/* Names of the listed ports. */
static const char *port_names(struct check *c, const int *ports, size_t n)
{
    struct check_names list = {0};
    for (size_t i = 0; i < n; i++)
        check_names_add(c, &list, c->t->ports[ports[i]].name);
    return check_names_text(c, &list);
}

/* Active ports with a cable whose other end is no LAG. */
static size_t unbundled(struct check *c, bool from_switch, const struct topo_teaming *teaming, struct check_names *at)
{
    const struct topo *t = c->t;
    size_t cabled = 0;

    for (size_t i = 0; i < teaming->n_active; i++) {
        int peer = check_peer_port(t, teaming->active[i]);
        if (peer < 0)
            continue;
        cabled++;
        if (check_peer_bundle(t, teaming->active[i]) == CHECK_LOOSE &&
            (!from_switch || check_is_switch(t, t->ports[peer].box)))
            check_names_add(c, at, t->ports[peer].full);
    }
    return cabled;
}

static void needs_lag(struct check *c, int team, const struct topo_teaming *teaming, int iface)
{
    const struct topo_team *tm = &c->t->teams[team];
    struct check_names at = {0};

    /* A switch's LAG towards a host or NAS without one is lag-under-...'s business. */
    if (check_bundle_of(c->t, team, teaming) != CHECK_STATIC ||
        unbundled(c, tm->kind == TOPO_TEAM_SWITCH_LAG, teaming, &at) < 2 || !at.n)
        return;
    check_add(c, teaming_mark(tm, teaming), teaming_name(c, team, iface),
              "make a static LAG of these ports on the switch, or use a teaming that needs none (port-id)",
              "%s needs a static LAG at the other end, and %s %s in none", policy_name(teaming),
              check_names_text(c, &at), at.n == 1 ? "is" : "are");
}

static void teaming_needs_lag(struct check *c) { check_teamings(c, needs_lag); }

/* ---- a LAG under a teaming that must not have one ---- */

enum loose { UNDER_PORT_ID, UNDER_MAC_HASH, UNDER_EXPLICIT, UNDER_LBT, UNDER_BOND, UNDER_NAS_TEAM, UNDER_OTHER };

static enum loose kind_of_loose(const struct topo_team *tm, const struct topo_teaming *teaming)
{
    if (tm->kind == TOPO_TEAM_BOND)
        return UNDER_BOND;
    if (tm->kind == TOPO_TEAM_NAS_TEAM)
        return UNDER_NAS_TEAM;
    if (check_policy_is(teaming, "esxi-port-id"))
        return UNDER_PORT_ID;
    if (check_policy_is(teaming, "esxi-mac-hash"))
        return UNDER_MAC_HASH;
    if (check_policy_is(teaming, "esxi-explicit"))
        return UNDER_EXPLICIT;
    if (check_policy_is(teaming, "esxi-lbt"))
        return UNDER_LBT;
    return UNDER_OTHER;
}

static void lag_under(struct check *c, enum loose what, int team, const struct topo_teaming *teaming, int iface)
{
    const struct topo *t = c->t;
    const struct topo_team *tm = &t->teams[team];

    if (tm->kind == TOPO_TEAM_SWITCH_LAG || check_bundle_of(t, team, teaming) != CHECK_LOOSE ||
        kind_of_loose(tm, teaming) != what)
        return;
    for (size_t i = 0; i < tm->n_ports; i++) {
        int peer = check_peer_port(t, tm->ports[i]);
        const struct topo_team *lag;
        if (peer < 0 || check_peer_bundle(t, tm->ports[i]) == CHECK_LOOSE)
            continue;
        lag = &t->teams[t->ports[peer].team];
        if (lag->n_ports < 2)
            continue;
        check_add(c, teaming_mark(tm, teaming), teaming_name(c, team, iface),
                  what == UNDER_BOND ? "take the LAG off the switch, or make the bond 802.3ad with LACP at the switch"
                  : what == UNDER_NAS_TEAM ? "take the LAG off the switch, or use the NAS's own LAG mode"
                                           : "take the LAG off the switch, or use ip-hash with a static LAG",
                  "%s, but %s makes one channel of them%s",
                  what == UNDER_BOND ? "the bond takes its NICs for independent links"
                  : what == UNDER_NAS_TEAM
                      ? "the NAS balances over independent NICs by itself"
                      : check_text(c, "%s takes the uplinks for independent links", policy_name(teaming)),
                  check_team_name(c, t->ports[peer].team),
                  lag->mode == TOPO_LAG_LACP ? " (LACP: without an answer its ports stay down or fall out of it)" : "");
        return;
    }
}

#define LAG_UNDER(name, what)                                                                          \
    static void visit_##name(struct check *c, int team, const struct topo_teaming *teaming, int iface) \
    {                                                                                                  \
        lag_under(c, what, team, teaming, iface);                                                      \
    }                                                                                                  \
    static void lag_under_##name(struct check *c) { check_teamings(c, visit_##name); }

LAG_UNDER(port_id, UNDER_PORT_ID)
LAG_UNDER(mac_hash, UNDER_MAC_HASH)
LAG_UNDER(explicit, UNDER_EXPLICIT)
LAG_UNDER(load_based, UNDER_LBT)
LAG_UNDER(bond, UNDER_BOND)
LAG_UNDER(nas_team, UNDER_NAS_TEAM)

/* ---- IP hash's conditions ---- */

static void hash_standby(struct check *c, int team, const struct topo_teaming *teaming, int iface)
{
    const struct topo_team *tm = &c->t->teams[team];

    if (!is_vswitch(tm) || check_bundle_of(c->t, team, teaming) == CHECK_LOOSE)
        return;
    if (teaming->n_standby)
        check_add(c, teaming_mark(tm, teaming), teaming_name(c, team, iface), "make every uplink of the LAG active",
                  "%s with standby %s: the switch sends into the whole LAG, these uplinks too", policy_name(teaming),
                  port_names(c, teaming->standby, teaming->n_standby));
    if (teaming->n_unused)
        check_add(c, teaming_mark(tm, teaming), teaming_name(c, team, iface), "make every uplink of the LAG active",
                  "%s with unused %s: what the switch sends there is lost", policy_name(teaming),
                  port_names(c, teaming->unused, teaming->n_unused));
}

static void ip_hash_standby(struct check *c) { check_teamings(c, hash_standby); }

static void hash_beacon(struct check *c, int team, const struct topo_teaming *teaming, int iface)
{
    const struct topo_team *tm = &c->t->teams[team];

    if (is_vswitch(tm) && check_bundle_of(c->t, team, teaming) != CHECK_LOOSE && teaming->detect == TOPO_DETECT_BEACON)
        check_add(
            c, teaming_mark(tm, teaming), teaming_name(c, team, iface), "use `detection: link-status`",
            "beacon probing under %s: a beacon comes back over whichever member the switch picks, and good uplinks "
            "are taken for dead",
            policy_name(teaming));
}

static void ip_hash_beacon(struct check *c) { check_teamings(c, hash_beacon); }

static void few_beacons(struct check *c, int team, const struct topo_teaming *teaming, int iface)
{
    const struct topo_team *tm = &c->t->teams[team];
    size_t n = teaming->n_active + teaming->n_standby;

    if (is_vswitch(tm) && check_bundle_of(c->t, team, teaming) == CHECK_LOOSE &&
        teaming->detect == TOPO_DETECT_BEACON && n < 3)
        check_add(c, teaming_mark(tm, teaming), teaming_name(c, team, iface),
                  "use `detection: link-status`, or a third uplink",
                  "beacon probing with %zu uplink%s can't tell which side failed, and sends every frame on both", n,
                  n == 1 ? "" : "s");
}

static void beacon_few_uplinks(struct check *c) { check_teamings(c, few_beacons); }

#define PROVE_TEAMING                                                       \
    "\n"                                                                    \
    "Prove it:\n"                                                           \
    "\n"                                                                    \
    "    esxcli network vswitch standard policy failover get -v vSwitch1\n" \
    "    show etherchannel summary                    # on the switch: ports bundled are marked P\n"

#define LAG_UNDER_TEXT                                                                                                \
    "With a LAG the switch sends a host's frames down any member, by its own hash; the host's teaming believes that " \
    "each\n"                                                                                                          \
    "of its ports lives on one NIC. Writes work on the NIC that was picked, reads come back elsewhere, frames can "   \
    "be\n"                                                                                                            \
    "dropped or doubled, and nothing is spread. VMware supports EtherChannel with IP hash only (KB 1004048).\n"

// clang-format off
const struct check_rule check_teaming_rules[] = {
    {"teaming-needs-lag", DIAG_ERROR, "a teaming that needs a LAG has none at the switch",
     "IP hash, balance-xor and the like send one host's frames over all NICs with the same source MAC. A\n"
     "switch that was not told sees that address flap between its ports: it moves every answer to the port\n"
     "heard last, floods, or blocks the address. IP hash needs a static EtherChannel on one switch or one\n"
     "stack (VMware KB 1001938).\n" PROVE_TEAMING
     "    cat /proc/net/bonding/bond0                  # Linux: Bonding Mode\n",
     teaming_needs_lag},
    {"lag-under-port-id", DIAG_ERROR, "a LAG under teaming by port ID", LAG_UNDER_TEXT PROVE_TEAMING,
     lag_under_port_id},
    {"lag-under-mac-hash", DIAG_ERROR, "a LAG under teaming by MAC hash", LAG_UNDER_TEXT PROVE_TEAMING,
     lag_under_mac_hash},
    {"lag-under-explicit", DIAG_ERROR, "a LAG under explicit failover order",
     LAG_UNDER_TEXT
     "Under explicit order the host listens on all active NICs, but those in standby get frames too.\n" PROVE_TEAMING,
     lag_under_explicit},
    {"lag-under-load-based", DIAG_ERROR, "a LAG under load-based teaming",
     LAG_UNDER_TEXT
     "Load-based teaming moves ports between NICs by itself and belongs on ports that are no LAG.\n" PROVE_TEAMING,
     lag_under_load_based},
    {"lag-under-bond", DIAG_ERROR, "a LAG under a bond of independent links",
     "active-backup, balance-tlb and balance-alb want plain switch ports. With a LAG the switch sends to\n"
     "members that the bond does not listen on (active-backup), or undoes the balancing that the bond does\n"
     "by MAC address (balance-alb).\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    cat /proc/net/bonding/bond0                  # Bonding Mode\n"
     "    show etherchannel summary\n",
     lag_under_bond},
    {"lag-under-nas-team", DIAG_ERROR, "a LAG under a switch-independent NAS team",
     "The NAS gives each VIP the MAC address of one NIC, so that a VIP's traffic arrives there (adaptive\n"
     "load balancing). A LAG at the switch takes all its MAC addresses for one bundle and spreads by its\n"
     "own hash: the team's balancing is void. Use the NAS's own LAG mode, or plain ports.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show mac address-table                       # each NIC's MAC on its own port, not on a port-channel\n",
     lag_under_nas_team},
    {"ip-hash-standby", DIAG_ERROR, "standby or unused uplinks under IP hash",
     "Under IP hash every uplink must be active: the switch knows nothing of standby and unused and sends\n"
     "into the whole channel (VMware KB 1001938). Frames to an unused uplink are lost: some datastores\n"
     "work, others do not.\n" PROVE_TEAMING,
     ip_hash_standby},
    {"ip-hash-beacon", DIAG_ERROR, "beacon probing under IP hash",
     "Beacons are broadcast by each uplink and expected on the others; an EtherChannel returns none of its\n"
     "own broadcasts, so uplinks look dead and flap. VMware allows link status only with IP hash.\n" PROVE_TEAMING,
     ip_hash_beacon},
    {"beacon-few-uplinks", DIAG_WARNING, "beacon probing with fewer than three uplinks",
     "With two uplinks both miss the other's beacon when one path fails, and the host cannot tell which:\n"
     "it sends all frames on both. Three uplinks survive one failure.\n" PROVE_TEAMING,
     beacon_few_uplinks},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
