/* Labels: which answers of `path`, `plan` and `run` rest on rules or inputs that are not certain. */
#include "emu/model/check_rules.h"

#include <string.h>

/* A choice on the way of some mount: a team, its rule, and what is unsure about it. */
struct check_choice {
    bool there;
    const struct hash_selector *policy;
    enum hash_status status; /* the worst over all flows */
    enum topo_origin inputs;
    bool rule_assumed; /* the rule itself, or a setting of it, is not in the file */
};

/* Per team, over all pairs and both directions. */
static const struct check_choice *choices(struct check *c)
{
    const struct topo *t = c->t;
    struct check_choice *of_team = c->choices;
    struct path p;

    if (of_team)
        return of_team;
    c->choices = of_team = check_alloc(c, t->n_teams, sizeof *of_team);
    for (size_t i = 0; i < 2 * c->n_pairs; i++) {
        path_walk(t, NULL, &c->pairs[i / 2].flow, i % 2 ? FLOW_READ : FLOW_WRITE, false, &p);
        for (size_t h = 0; h < p.n_hops; h++) {
            const struct path_hop *hop = &p.hops[h];
            struct check_choice *ch;
            if (hop->team < 0 || hop->n < 2 || !hop->policy || !hop->policy->policy)
                continue;
            ch = &of_team[hop->team];
            if (!ch->there)
                *ch = (struct check_choice){true, hop->policy, hop->status, hop->inputs,
                                            t->teams[hop->team].teaming.policy_origin == TOPO_ASSUMED};
            if (hop->status > ch->status)
                ch->status = hop->status;
            if (hop->inputs > ch->inputs)
                ch->inputs = hop->inputs;
        }
    }
    return of_team;
}

/* One finding: "TEAMS: POLICY is STATUS; TEAMS: ..." */
static void hash_unconfirmed(struct check *c)
{
    const struct topo *t = c->t;
    const struct check_choice *of_team = choices(c);
    bool *told = check_alloc(c, t->n_teams, sizeof *told);
    const char *text = NULL;
    struct diag_mark mark = {0};

    for (size_t i = 0; i < t->n_teams; i++) {
        const struct check_choice *a = &of_team[i];
        struct check_names teams = {0};
        if (!a->there || told[i] || a->status == HASH_EXACT || a->status >= HASH_STATUS_UNKNOWN)
            continue;
        for (size_t k = i; k < t->n_teams; k++) {
            const struct check_choice *b = &of_team[k];
            if (!b->there || b->policy->policy != a->policy->policy || b->status != a->status)
                continue;
            told[k] = true;
            check_names_add(c, &teams, check_team_name(c, (int)k));
        }
        if (!text)
            mark = t->teams[i].mark;
        text = check_text(c, "%s%s%s: %s is %s", text ? text : "", text ? "; " : "", check_names_text(c, &teams),
                          a->policy->policy->name, hash_status_name(a->status));
    }
    if (text)
        check_add(c, mark, NULL, "`emu path` names the command that settles each; `observed:` holds the answers", "%s",
                  text);
}

/* One finding for each rule, at the first team that has it. */
static void by_policy(struct check *c, bool (*matches)(const struct check_choice *), const char *hint,
                      const char *(*text)(struct check *, const struct check_choice *))
{
    const struct topo *t = c->t;
    const struct check_choice *of_team = choices(c);

    for (size_t i = 0; i < t->n_teams; i++) {
        size_t first = 0;
        if (!of_team[i].there || !matches(&of_team[i]))
            continue;
        while (!of_team[first].there || !matches(&of_team[first]) ||
               of_team[first].policy->policy != of_team[i].policy->policy)
            first++;
        check_add(c, t->teams[first].mark, check_team_name(c, (int)i), hint, "%s", text(c, &of_team[i]));
    }
}

static const char *fields(struct check *c, const struct hash_selector *sel, uint32_t mask)
{
    char text[256];
    hash_fields_text(hash_reads(sel) & mask, text, sizeof text);
    return check_text(c, "%s", text);
}

static bool is_unknown(const struct check_choice *a) { return a->status >= HASH_STATUS_UNKNOWN; }

static const char *unknown_text(struct check *c, const struct check_choice *a)
{
    const char *read = fields(c, a->policy, UINT32_MAX);
    return check_text(c, "the rule by which a member is picked is not published%s%s: every answer behind it is a range",
                      *read ? ", only that it reads " : "", read);
}

static void hash_unknown(struct check *c)
{
    by_policy(c, is_unknown, "choices of the real box given as `observed:` turn the range into an answer",
              unknown_text);
}

static bool is_assumed(const struct check_choice *a) { return a->inputs == TOPO_ASSUMED && !is_unknown(a); }

static const char *assumed_text(struct check *c, const struct check_choice *a)
{
    uint32_t mask = HASH_READS_SRC_MAC | HASH_READS_DST_MAC | HASH_READS_PORT_ID | HASH_READS_INGRESS;
    const char *read = fields(c, a->policy, mask);
    char rule[256];

    if (a->rule_assumed) {
        hash_selector_text(a->policy, true, rule, sizeof rule);
        return check_text(c, "%s is assumed: the file does not say the rule, or not all of it", rule);
    }
    return check_text(c, "%s reads %s, which the file does not give: assumed", a->policy->policy->name,
                      *read ? read : "what");
}

static void input_assumed(struct check *c)
{
    by_policy(
        c, is_assumed,
        "give what is missing: `mac:` or `port-id:` of interfaces and VIPs, `hash:` of the team, `kernel:` of the node",
        assumed_text);
}

static bool is_drawn(const struct check_choice *a) { return a->inputs == TOPO_DRAWN && !is_unknown(a); }

static const char *drawn_text(struct check *c, const struct check_choice *a)
{
    return check_text(
        c, "%s reads the client's port, drawn anew at every connect: who shares a member is a matter of chance",
        a->policy->policy->name);
}

static void input_drawn(struct check *c)
{
    by_policy(c, is_drawn, "`emu path --sport` with the ports of today (`ss -tn`) answers for today's connections",
              drawn_text);
}

// clang-format off
const struct check_rule check_label_rules[] = {
    {"hash-unconfirmed", DIAG_NOTE, "a rule on the way is not confirmed by its vendor",
     "`approximate`: the vendor says what the rule reads, not its arithmetic; a stand-in is used.\n"
     "`reverse-engineered`: a third party published the arithmetic from observation. Who shares a link\n"
     "with whom is usually right (equal inputs always share), which link it is may not be. The order of\n"
     "the members in the box is assumed as well, unless `members:` says it.\n"
     "\n"
     "Prove it, and write the answers into `observed:`, which beats every rule:\n"
     "\n"
     "    test etherchannel load-balance interface port-channel 11 ip 10.50.0.11 10.50.0.101   # Cisco\n"
     "    show port-channel load-balance forwarding-path interface port-channel 11 ...         # Nexus\n"
     "    statistics show-periodic -object nic_common -instance e0c    # ONTAP, with one datastore busy\n"
     "    esxtop, then n                                               # ESXi: TEAM-PNIC of each vmknic\n",
     hash_unconfirmed},
    {"hash-unknown", DIAG_NOTE, "a rule on the way is not known",
     "The box picks a member by a rule that is not published. All that can be said: flows that are equal\n"
     "in what it reads share a member; others are independent draws. Results are a range: best, expected,\n"
     "worst.\n"
     "\n"
     "Prove it: ask the box where it offers that, or load one datastore at a time and read the counters of\n"
     "the members.\n"
     "\n"
     "    show interfaces counters ; monitor-traffic interface=sfp1,sfp2\n",
     hash_unknown},
    {"input-assumed", DIAG_NOTE, "a rule reads something that the file does not give",
     "The arithmetic may be exact, but it is done on a MAC address or a virtual port number that was made\n"
     "up (stable for the name). Give the real ones and the label goes.\n"
     "\n"
     "Look it up:\n"
     "\n"
     "    esxcli network ip interface list             # MAC and Port ID of each vmknic\n"
     "    ip -br link ; cat /proc/net/bonding/bond0\n"
     "    esxcli network ip neighbor list              # MAC of each VIP as the host sees it\n",
     input_assumed},
    {"input-drawn", DIAG_NOTE, "a rule reads the source port, which changes at every connect",
     "Under a rule that reads ports the member changes when the mount gets new connections. Answers are\n"
     "distributions: best, expected, worst, and the chance that a member idles. The Linux client draws a\n"
     "port below 1024 for each connection; with NFS 3 it keeps it when it reconnects, with NFS 4.1 a VIP\n"
     "that moves to another server means new ones (seen with 6.1).\n"
     "\n"
     "Today's answer, from today's ports:\n"
     "\n"
     "    ss -tn dst :2049                             # Linux\n"
     "    esxcli network ip connection list | grep :2049\n",
     input_drawn},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
