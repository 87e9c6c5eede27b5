#include "nfsbal/cli/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "nfsbal/cli/commands.h"

struct hash_options {
    bool list, json, why;
    const char *policy, *links, *members, *down;
    struct option_list params;
    const char *src_mac, *dst_mac, *proto;
    int64_t vlan, port_id, ingress, flow_label;
    int fragment;
    const char *flows, *pcap;
};

static const char *const fragments[] = {"none", "first", "later", NULL};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct hash_options, list, "list", 'l', "list the policies, what they read and how sure they are"),
    OPTION_STRING(struct hash_options, policy, "policy", 'p', "POLICY", "policy by name or alias"),
    OPTION_STRING(struct hash_options, links, "links", 'n', "LINKS", "how many links, or several counts: 4 or 2,3,4"),
    OPTION_LIST(struct hash_options, params, "param", 0, "K=V", "a parameter of the policy, as --list shows them"),
    OPTION_STRING(struct hash_options, members, "members", 0, "A,B,C", "names of the links in order; gives LINKS too"),
    OPTION_STRING(struct hash_options, down, "down", 0, "A,B", "links that have failed, by name or index"),
    OPTION_STRING(struct hash_options, src_mac, "src-mac", 0, "MAC", "source MAC address"),
    OPTION_STRING(struct hash_options, dst_mac, "dst-mac", 0, "MAC", "destination MAC address"),
    OPTION_INTEGER(struct hash_options, vlan, "vlan", 0, "V", 0, 4094, "VLAN id of the frame; none: untagged"),
    OPTION_STRING(struct hash_options, proto, "proto", 0, "P", "tcp (the default), udp, icmp or a number"),
    OPTION_ENUM(struct hash_options, fragment, "fragment", 0, "WHICH", fragments, "none, first or later"),
    OPTION_INTEGER(struct hash_options, port_id, "port-id", 0, "N", 0, UINT32_MAX, "virtual port of the vmknic"),
    OPTION_INTEGER(struct hash_options, ingress, "ingress", 0, "N", 0, 65535, "port where the frame enters the switch"),
    OPTION_INTEGER(struct hash_options, flow_label, "flow-label", 0, "N", 0, 0xfffff, "IPv6 flow label"),
    OPTION_FLAG(struct hash_options, why, "why", 0, "show every step of the arithmetic"),
    OPTION_STRING(struct hash_options, flows, "flows", 0, "FILE",
                  "tab-separated flows in (- is standard input),\nthe same lines out with hash and link"),
    OPTION_STRING(struct hash_options, pcap, "pcap", 0, "FILE", "what the traffic of a capture would do"),
    OPTION_FLAG(struct hash_options, json, "json", 0, "print JSON"),
};

static const struct option_table table = {
    .operands = "[SRC[:PORT] DST[:PORT]]",
    .max_operands = 2,
    .about = "Which link does this flow take? SRC and DST may be ranges, 10.50.0.[15-16]: more than one pair\n"
             "prints the matrix, sources down, destinations across.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

bool hash_command_members(const struct hash_command *c, unsigned n, struct hash_members *members)
{
    hash_members_init(members, n);
    for (unsigned i = 0; i < HASH_MEMBERS_MAX; i++) {
        if (!c->down[i])
            continue;
        if (i >= n) {
            cli_error(CLI_USAGE, c->label, "--down %u: there are %u links, numbered from 0", i, n);
            return false;
        }
        hash_members_down(&c->selector, members, i);
    }
    return true;
}

const char *hash_member_name(const struct hash_command *c, int member, char *buf, size_t size)
{
    if (c->members[0])
        return c->members[member];
    snprintf(buf, size, "%d", member);
    return buf;
}

uint32_t hash_missing_inputs(const struct hash_command *c, uint32_t given)
{
    /* No tag, no flow label and protocol TCP are values; a MAC, an address, a port or a port id of zero is not. */
    const uint32_t needed = HASH_READS_SRC_MAC | HASH_READS_DST_MAC | HASH_READS_SRC_IP | HASH_READS_DST_IP |
                            HASH_READS_SRC_PORT | HASH_READS_DST_PORT | HASH_READS_PORT_ID | HASH_READS_INGRESS;
    if (c->selector.policy->status == HASH_STATUS_UNKNOWN) /* the answer is a range, whatever the inputs */
        return 0;
    uint32_t reads = hash_reads(&c->selector) & needed & ~given;
    if (c->base.fragment == HASH_FRAGMENT_LATER ||
        !hash_proto_has_ports(c->base.proto)) /* such packets have no ports to give */
        reads &= ~(uint32_t)(HASH_READS_SRC_PORT | HASH_READS_DST_PORT);
    return reads;
}

int hash_report_missing(const struct hash_command *c, uint32_t missing, const char *how)
{
    char fields[128];
    hash_fields_text(missing, fields, sizeof fields);
    return cli_error(CLI_USAGE, c->label, "%s reads %s: %s", c->selector.policy->name, fields, how);
}

static int set_policy(struct hash_command *c, const struct hash_options *o)
{
    if (!o->policy)
        return cli_error(CLI_USAGE, c->label, "which policy? give -p POLICY; --list shows them");
    const struct hash_policy *policy = hash_policy_find(o->policy);
    if (!policy) {
        const char *near = hash_policy_nearest(NULL, o->policy);
        return near ? cli_error(CLI_USAGE, c->label, "%s: unknown policy; did you mean `%s`?", o->policy, near)
                    : cli_error(CLI_USAGE, c->label, "%s: unknown policy; --list shows them", o->policy);
    }
    hash_selector_init(&c->selector, policy);
    for (size_t i = 0; i < o->params.n; i++) {
        char key[64], error[256];
        const char *text = o->params.items[i], *equals = strchr(text, '=');
        if (!equals || equals == text || (size_t)(equals - text) >= sizeof key)
            return cli_error(CLI_USAGE, c->label, "--param %s: expected NAME=VALUE", text);
        memcpy(key, text, (size_t)(equals - text));
        key[equals - text] = '\0';
        if (!hash_selector_set(&c->selector, key, equals + 1, error, sizeof error))
            return cli_error(CLI_USAGE, c->label, "--param %s: %s", text, error);
    }
    return CLI_OK;
}

/* Splits `text` at commas, in place, into at most `max` words. Returns their number, or -1 for too many or an empty one. */
static int split(char *text, const char **words, size_t max)
{
    size_t n = 0;
    for (char *save, *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
        if (n == max)
            return -1;
        words[n++] = word;
    }
    return n ? (int)n : -1;
}

static int set_links(struct hash_command *c, const struct hash_options *o, char *links, char *members)
{
    const char *words[HASH_LIST_MAX];
    int n;
    if (members) {
        if ((n = split(members, c->members, HASH_MEMBERS_MAX)) < 0)
            return cli_error(CLI_USAGE, c->label, "--members %s: expected 1 to %d names divided by commas", o->members,
                             HASH_MEMBERS_MAX);
        c->links[0] = (unsigned)n;
        c->n_links = 1;
    }
    if (!links)
        return c->n_links ? CLI_OK : cli_error(CLI_USAGE, c->label, "how many links? give -n LINKS or --members A,B");
    if ((n = split(links, words, HASH_LIST_MAX)) < 0)
        return cli_error(CLI_USAGE, c->label, "-n %s: expected a number, or several divided by commas", o->links);
    for (int i = 0; i < n; i++) {
        int64_t count;
        if (!option_parse_integer(words[i], 1, HASH_MEMBERS_MAX, &count))
            return cli_error(CLI_USAGE, c->label, "-n %s: expected a number of links from 1 to %d", words[i],
                             HASH_MEMBERS_MAX);
        if (members && (n > 1 || (unsigned)count != c->links[0]))
            return cli_error(CLI_USAGE, c->label, "-n %s: --members names %u links", o->links, c->links[0]);
        c->links[i] = (unsigned)count;
    }
    c->n_links = (size_t)n;
    return CLI_OK;
}

static int set_down(struct hash_command *c, const struct hash_options *o, char *down)
{
    const char *words[HASH_MEMBERS_MAX];
    int n = split(down, words, HASH_MEMBERS_MAX);
    if (n < 0)
        return cli_error(CLI_USAGE, c->label, "--down %s: expected links divided by commas", o->down);
    for (int i = 0; i < n; i++) {
        int64_t member = -1;
        for (int m = 0; m < HASH_MEMBERS_MAX && c->members[m]; m++)
            if (!strcmp(c->members[m], words[i]))
                member = m;
        if (member < 0 && (c->members[0] || !option_parse_integer(words[i], 0, HASH_MEMBERS_MAX - 1, &member)))
            return cli_error(CLI_USAGE, c->label, "--down %s: no such link", words[i]);
        c->down[member] = true;
    }
    return CLI_OK;
}

static int set_frame(struct hash_command *c, const struct hash_options *o)
{
    const char *expected = NULL, *value = NULL;
    struct hash_flow *f = &c->base;
    f->proto = 6;
    if (o->src_mac && (expected = hash_parse_mac(value = o->src_mac, f->smac)))
        return cli_error(CLI_USAGE, c->label, "--src-mac %s: expected %s", value, expected);
    if (o->dst_mac && (expected = hash_parse_mac(value = o->dst_mac, f->dmac)))
        return cli_error(CLI_USAGE, c->label, "--dst-mac %s: expected %s", value, expected);
    if (o->proto && (expected = hash_parse_proto(value = o->proto, &f->proto)))
        return cli_error(CLI_USAGE, c->label, "--proto %s: expected %s", value, expected);
    f->fragment = (uint8_t)o->fragment;
    if (o->vlan >= 0) {
        f->tag = HASH_TAG_OFFLOADED; /* how drivers see it: the tag beside the frame */
        f->tci = (uint16_t)o->vlan;
    }
    f->port_id = o->port_id < 0 ? 0 : (uint32_t)o->port_id;
    f->ingress_port = o->ingress < 0 ? 0 : (uint16_t)o->ingress;
    f->flow_label = o->flow_label < 0 ? 0 : (uint32_t)o->flow_label;
    c->given = (o->src_mac ? HASH_READS_SRC_MAC : 0) | (o->dst_mac ? HASH_READS_DST_MAC : 0) |
               (o->port_id >= 0 ? HASH_READS_PORT_ID : 0) | (o->ingress >= 0 ? HASH_READS_INGRESS : 0);
    return CLI_OK;
}

/* Exactly one of the four forms, and nothing that the form would ignore. */
static int check_form(const struct hash_command *c, const struct hash_options *o, size_t operands)
{
    int forms = o->list + !!o->flows + !!o->pcap + (operands > 0);
    if (forms != 1)
        return cli_error(CLI_USAGE, c->label, "give one of: SRC DST, --flows FILE, --pcap FILE, --list");
    if (operands == 1)
        return cli_error(CLI_USAGE, c->label, "a source without destination: give SRC and DST");
    if (o->list && (o->policy || o->links || o->params.n || o->members || o->down || o->why))
        return cli_error(CLI_USAGE, c->label, "--list goes only with --json");
    bool frame = o->src_mac || o->dst_mac || o->proto || o->vlan >= 0 || o->fragment || o->flow_label >= 0;
    if ((o->list || o->flows || o->pcap) && (frame || o->why))
        return cli_error(CLI_USAGE, c->label, "options of one frame, and --why, go with SRC DST");
    if ((o->list || o->flows) && (o->port_id >= 0 || o->ingress >= 0))
        return cli_error(CLI_USAGE, c->label, "--port-id and --ingress go with SRC DST or --pcap");
    if (o->flows && o->json)
        return cli_error(CLI_USAGE, c->label, "--flows prints tab-separated lines: no --json");
    return CLI_OK;
}

static int run(struct hash_command *c, const struct hash_options *o, const struct option_list *operands)
{
    int rc = check_form(c, o, operands->n);
    if (rc != CLI_OK || o->list)
        return rc != CLI_OK ? rc : hash_list(o->json);
    char *links = o->links ? strdup(o->links) : NULL, *members = o->members ? strdup(o->members) : NULL;
    char *down = o->down ? strdup(o->down) : NULL;
    if ((o->links && !links) || (o->members && !members) || (o->down && !down)) {
        rc = cli_error(CLI_FAILED, c->label, "out of memory");
        goto out;
    }
    if ((rc = set_policy(c, o)) || (rc = set_links(c, o, links, members)) || (down && (rc = set_down(c, o, down))) ||
        (rc = set_frame(c, o)))
        goto out;
    if (operands->n) {
        rc = hash_pairs(c, operands->items[0], operands->items[1]);
    } else if (c->n_links > 1) {
        rc = cli_error(CLI_USAGE, c->label, "-n %s: several counts go with SRC DST", o->links);
    } else {
#if BUILD_MINIMAL
        rc = o->flows
                 ? hash_flows(c, o->flows)
                 : cli_error(CLI_USAGE, c->label, "--pcap %s: this is a minimal build, made without libpcap", o->pcap);
#else
        rc = o->flows ? hash_flows(c, o->flows) : hash_pcap(c, o->pcap);
#endif
    }
out:
    free(links);
    free(members);
    free(down);
    return rc;
}

int command_hash(int argc, char **argv)
{
    struct hash_options o = {.vlan = -1, .port_id = -1, .ingress = -1, .flow_label = -1};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &o, &operands);
    if (rc == OPTION_GO_ON) {
        struct hash_command c = {.label = argv[0], .why = o.why, .json = o.json};
        rc = run(&c, &o, &operands);
    }
    option_free(&table, &o, &operands);
    return rc;
}
