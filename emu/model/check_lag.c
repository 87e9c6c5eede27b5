/* LAGs: one channel that both ends must understand alike. */
#include "emu/model/check_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/units.h"

static bool is_lag(const struct topo *t, int team)
{
    return t->teams[team].n_ports > 1 && check_bundle_of(t, team, &t->teams[team].teaming) != CHECK_LOOSE;
}

/* Of a channel with a LAG at both ends only one end speaks: the switch's; between equals the lower number. */
static bool speaks(const struct topo *t, int team)
{
    int peer = -1;

    for (size_t i = 0; i < t->teams[team].n_ports && peer < 0; i++) {
        int port = check_peer_port(t, t->teams[team].ports[i]);
        if (port >= 0 && t->ports[port].team >= 0 && is_lag(t, t->ports[port].team))
            peer = t->ports[port].team;
    }
    if (peer < 0)
        return true;
    if ((t->teams[team].kind == TOPO_TEAM_SWITCH_LAG) != (t->teams[peer].kind == TOPO_TEAM_SWITCH_LAG))
        return t->teams[team].kind == TOPO_TEAM_SWITCH_LAG;
    return team < peer;
}

static void lag_speed(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *tm = &t->teams[i];
        int first = -1, other = -1;
        char a[32], b[32];
        if (!is_lag(t, (int)i) || !speaks(t, (int)i))
            continue;
        for (size_t k = 0; k < tm->n_ports && other < 0; k++) {
            int link = t->ports[tm->ports[k]].link;
            if (link < 0)
                continue;
            if (first < 0)
                first = link;
            else if (t->links[link].rate != t->links[first].rate)
                other = link;
        }
        if (other < 0)
            continue;
        check_add(c, t->links[other].mark, check_team_name(c, (int)i), "cable the LAG with links of one speed",
                  "its members differ in speed: %s %s, %s %s", topo_linkdir_name(t, 2 * first),
                  unit_print_rate(a, sizeof a, t->links[first].rate), topo_linkdir_name(t, 2 * other),
                  unit_print_rate(b, sizeof b, t->links[other].rate));
    }
}

/* ---- the two ends ---- */

static bool is_standard_vswitch(const struct topo *t, int team)
{
    return team >= 0 && t->teams[team].kind == TOPO_TEAM_VSWITCH;
}

static void lacp_on_standard_vswitch(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *tm = &t->teams[i];
        if (tm->kind == TOPO_TEAM_VSWITCH && check_bundle_of(t, (int)i, &tm->teaming) == CHECK_LACP)
            check_add(c, tm->mark, check_team_name(c, (int)i),
                      "use ip-hash and `mode: static` on the switch, or a dvswitch",
                      "a standard vSwitch does not speak LACP (teaming %s)", tm->teaming.policy.policy->name);
        for (size_t k = 0; k < tm->n_ports && tm->mode == TOPO_LAG_LACP && tm->kind == TOPO_TEAM_SWITCH_LAG; k++) {
            int peer = check_peer_port(t, tm->ports[k]);
            if (peer < 0 || !is_standard_vswitch(t, t->ports[peer].team))
                continue;
            check_add(c, tm->mark, check_team_name(c, (int)i),
                      "use `mode: static` (on Cisco `channel-group N mode on`)",
                      "LACP towards %s, a standard vSwitch, which does not speak it: the ports do not come up as a LAG",
                      check_team_name(c, t->ports[peer].team));
            break;
        }
    }
}

static const char *bundle_word(enum check_bundle b)
{
    switch (b) {
    case CHECK_LOOSE:
        return "no LAG";
    case CHECK_STATIC:
        return "a static LAG";
    case CHECK_LACP:
        break;
    }
    return "LACP";
}

static void lacp_mismatch(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *tm = &t->teams[i];
        enum check_bundle mine = check_bundle_of(t, (int)i, &tm->teaming);
        if (mine != CHECK_LACP || is_standard_vswitch(t, (int)i))
            continue;
        for (size_t k = 0; k < tm->n_ports; k++) {
            int peer = check_peer_port(t, tm->ports[k]), other = peer < 0 ? -1 : t->ports[peer].team;
            enum check_bundle theirs = check_peer_bundle(t, tm->ports[k]);
            /* A loose team that is no switch is lag-under-...'s business. */
            if (peer < 0 || theirs == CHECK_LACP || is_standard_vswitch(t, other) ||
                (theirs == CHECK_LOOSE && !check_is_switch(t, t->ports[peer].box) && tm->n_ports > 1 &&
                 tm->kind == TOPO_TEAM_SWITCH_LAG))
                continue;
            check_add(c, tm->mark, check_team_name(c, (int)i), "set `mode: lacp` at both ends, or `static` at both",
                      "LACP here, %s at %s", bundle_word(theirs),
                      theirs == CHECK_LOOSE ? t->ports[peer].full : check_team_name(c, other));
            break;
        }
    }
}

/* ---- where the members end ---- */

static void lag_across_switches(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *tm = &t->teams[i];
        int first = -1;
        if (!is_lag(t, (int)i))
            continue;
        for (size_t k = 0; k < tm->n_ports; k++) {
            int peer = check_peer_port(t, tm->ports[k]);
            if (peer < 0)
                continue;
            if (first < 0)
                first = peer;
            if (check_same_switch(t, t->ports[first].box, t->ports[peer].box))
                continue;
            check_add(c, tm->mark, check_team_name(c, (int)i),
                      "end all members on one switch or stack, or declare `mlag: {peers: [...]}` where the pair is one",
                      "one LAG ends on %s and on %s, which are %s", t->boxes[t->ports[first].box].name,
                      t->boxes[t->ports[peer].box].name,
                      check_is_switch(t, t->ports[peer].box) ? "neither a stack nor an MLAG pair" : "two boxes");
            break;
        }
    }
}

static void lag_one_chassis(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *tm = &t->teams[i];
        const struct topo_node *n = check_node(t, tm->box);
        size_t cabled = 0;
        int chassis = 0;
        bool one = true;
        if (tm->kind != TOPO_TEAM_SWITCH_LAG || n->members < 2 || !is_lag(t, (int)i))
            continue;
        for (size_t k = 0; k < tm->n_ports; k++) {
            const struct topo_port *p = &t->ports[tm->ports[k]];
            if (p->link < 0)
                continue;
            cabled++;
            if (!chassis)
                chassis = p->chassis;
            one = one && p->chassis == chassis;
        }
        if (one && cabled > 1)
            check_add(c, tm->mark, check_team_name(c, (int)i), "spread the cables over the members of the stack",
                      "all %zu members sit in chassis %d of the stack's %d: when it fails, the whole LAG is gone",
                      cabled, chassis, n->members);
    }
}

// clang-format off
const struct check_rule check_lag_rules[] = {
    {"lag-speed", DIAG_ERROR, "members of a LAG differ in speed",
     "A LAG bundles links of one speed. LACP puts the others aside, a static LAG sends as many flows to\n"
     "the slow member as to a fast one.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show interfaces status                       # speed and duplex of every port\n"
     "    esxcli network nic list\n",
     lag_speed},
    {"lacp-on-standard-vswitch", DIAG_ERROR, "LACP on a standard vSwitch",
     "A standard vSwitch has no LACP; only a distributed switch (5.1 and later) speaks it. A switch that\n"
     "waits for LACP frames keeps the ports down or alone: the host is cut off, or has no LAG under IP\n"
     "hash (VMware KB 1001938).\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show lacp neighbor                           # no partner on these ports\n"
     "    esxcli network vswitch dvs vmware lacp status get\n",
     lacp_on_standard_vswitch},
    {"lacp-mismatch", DIAG_ERROR, "LACP at one end, something else at the other",
     "LACP needs an answer. Against a static LAG or plain ports one side bundles and the other does not;\n"
     "depending on the make the ports stay down, or work one by one until frames go missing.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show lacp neighbor ; show etherchannel summary\n"
     "    cat /proc/net/bonding/bond0                  # 'Partner Mac Address: 00:00:00:00:00:00' means no answer\n"
     "    network port ifgrp show                      # ONTAP: mode multimode_lacp or multimode\n",
     lacp_mismatch},
    {"lag-across-switches", DIAG_ERROR, "a LAG ends on two switches that are not one",
     "All members of a LAG must end on one switch, one stack, or an MLAG (vPC, VLT) pair that acts as one.\n"
     "Between two independent switches the MAC address of the bundle flaps, and a static LAG sends half of\n"
     "the flows the wrong way round. For two independent switches use a teaming without LAG (port-id,\n"
     "active-backup), or one subnet per switch.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show switch ; show vpc ; show vlt brief      # are the two one?\n"
     "    show lldp neighbors\n",
     lag_across_switches},
    {"lag-one-chassis", DIAG_WARNING, "all members of a LAG sit in one chassis of a stack",
     "A stack outlives the loss of one of its switches, this LAG does not.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    show etherchannel summary                    # first number of each port: Gi1/0/1 is chassis 1\n",
     lag_one_chassis},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
