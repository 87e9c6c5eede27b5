/* `nfsbal hash SRC DST`: one pair, or the matrix that people keep in spreadsheets: sources down, destinations across,
 * collisions marked, idle links last. */
#include "nfsbal/cli/hash_pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/model/range.h"
#include "emu/report/table.h"
#include "nfsbal/cli/hash_json.h"

enum { PAIRS_MAX = 1 << 20 };

bool hash_pair_range(const struct hash_command *c, unsigned links, unsigned flows, struct hash_range *out)
{
    struct hash_members members;
    return hash_command_members(c, links, &members) && hash_range(&c->selector, members.usable, flows, out);
}

/* Fills the key of a pair from what the options say and what the two endpoints say. */
static int read_pair(const struct hash_command *c, struct hash_pair *p)
{
    const char *expected;
    uint8_t versions[2];
    int sport, dport;
    struct hash_flow f = c->base;
    uint32_t given = c->given | HASH_READS_SRC_IP | HASH_READS_DST_IP | HASH_READS_DST_PORT;

    if ((expected = hash_parse_endpoint(p->src, f.src, &versions[0], &sport)))
        return cli_error(CLI_USAGE, c->label, "%s: expected %s", p->src, expected);
    if ((expected = hash_parse_endpoint(p->dst, f.dst, &versions[1], &dport)))
        return cli_error(CLI_USAGE, c->label, "%s: expected %s", p->dst, expected);
    if (versions[0] != versions[1])
        return cli_error(CLI_USAGE, c->label, "%s and %s are of different IP versions", p->src, p->dst);
    if ((sport >= 0 || dport >= 0) && !hash_proto_has_ports(f.proto))
        return cli_error(CLI_USAGE, c->label, "a port with protocol %u, which has none", f.proto);
    f.ip_version = versions[0];
    f.sport = sport >= 0 ? (uint16_t)sport : 0;
    f.dport = dport >= 0 ? (uint16_t)dport : 2049; /* NFS, what this tool is about */
    if (sport >= 0)
        given |= HASH_READS_SRC_PORT;
    uint32_t missing = hash_missing_inputs(c, given);
    p->drawn = missing & HASH_READS_SRC_PORT;
    if (missing & ~(uint32_t)HASH_READS_SRC_PORT)
        return hash_report_missing(c, missing & ~(uint32_t)HASH_READS_SRC_PORT,
                                   "give --src-mac, --dst-mac, --port-id or --ingress");
    hash_key_flow(&p->key, &f);
    return CLI_OK;
}

static int answer(const struct hash_command *c, struct hash_pair *p, struct hash_members *members)
{
    int rc = read_pair(c, p);
    if (rc != CLI_OK)
        return rc;
    p->label = hash_label(&c->selector, &p->key, members->usable ? members->usable : 1);
    p->member = p->drawn ? -1 : hash_pick(&c->selector, &p->key, members);
    p->bucket = p->drawn ? -1 : hash_bucket(&c->selector, hash_value(&c->selector, &p->key));
    return CLI_OK;
}

static const char *label_name(const struct hash_pair *p)
{
    return p->drawn ? "drawn" : hash_status_name(p->label.status);
}

static void print_range(const struct hash_command *c, unsigned links, unsigned flows)
{
    struct hash_range r;
    char name[16];
    if (!hash_pair_range(c, links, flows, &r))
        return;
    if (flows == 1) {
        for (unsigned place = 0; place < r.n; place++)
            printf("%s%s with %.1f %%", place ? ", " : "    ", hash_member_name(c, (int)place, name, sizeof name),
                   100 * hash_share(&c->selector, r.n, place));
        putchar('\n');
        return;
    }
    printf("%u flows on %u links: best %u used, worst %u, expected %.2f; busiest carries %.2f expected; "
           "a link idles with %.1f %%\n",
           flows, r.n, r.best_used, r.worst_used, r.expected_used, r.expected_busiest, 100 * r.chance_idle);
}

/* The steps of the arithmetic, one a line. */
static void print_why(const struct hash_command *c, const struct hash_pair *p)
{
    char text[512];
    struct hash_members members;
    if (!hash_command_members(c, p->links, &members))
        return;
    hash_explain(&c->selector, &p->key, &members, text, sizeof text);
    for (char *step = text, *next; step; step = next) {
        next = strstr(step, ", ");
        if (next) {
            *next = '\0';
            next += 2;
        }
        printf("    %s\n", step);
    }
}

static void print_single(const struct hash_command *c, const struct hash_pair *p)
{
    char name[16], policy[256];
    hash_selector_text(&c->selector, false, policy, sizeof policy);
    printf("%s", p->member >= 0 ? hash_member_name(c, p->member, name, sizeof name) : "-");
    printf("    %s, %u link%s: %s", policy, p->links, p->links == 1 ? "" : "s", label_name(p));
    if (p->drawn)
        printf(" (the source port is not given: SRC:PORT)");
    else if (p->label.reason)
        printf(" (%s)", p->label.reason);
    if (p->member == -HASH_NO_MEMBER && !p->drawn)
        printf("; every link is down");
    if (p->member == -HASH_UNBOUND)
        printf("; entry %d of its table, whose link depends on load history", p->bucket);
    putchar('\n');
    if (c->why && !p->drawn)
        print_why(c, p);
    if (p->drawn || p->member == -HASH_UNKNOWN)
        print_range(c, p->links, 1);
}

/* What a row of the matrix means: "10.50.0.15: 10.50.0.101 10.50.0.104 share 1". Nothing for an even row. */
static void print_row_note(const struct hash_command *c, const struct hash_pair *row, size_t n_dst)
{
    unsigned on[HASH_MEMBERS_MAX] = {0};
    char name[16];
    bool any = false;
    for (size_t d = 0; d < n_dst; d++)
        on[row[d].member]++;
    for (unsigned link = 0; link < row[0].links; link++) {
        if (on[link] < 2)
            continue;
        if (any)
            putchar(';');
        else
            printf("%s:", row[0].src);
        for (size_t d = 0; d < n_dst; d++)
            if (row[d].member == (int)link)
                printf(" %s", row[d].dst);
        printf(" share %s", hash_member_name(c, (int)link, name, sizeof name));
        any = true;
    }
    if (any)
        putchar('\n');
}

/* "flows per link: vmnic2 3, vmnic3 5; idle: vmnic4" over all pairs of a matrix. */
static void print_totals(const struct hash_command *c, const struct hash_pair *pairs, size_t n)
{
    size_t on[HASH_MEMBERS_MAX] = {0};
    char name[16];
    const char *before = "flows per link: ";
    for (size_t i = 0; i < n; i++)
        on[pairs[i].member]++;
    for (unsigned link = 0; link < pairs[0].links; link++) {
        if (on[link]) {
            printf("%s%s: %zu", before, hash_member_name(c, (int)link, name, sizeof name), on[link]);
            before = ", ";
        }
    }
    before = "; idle: ";
    for (unsigned link = 0; link < pairs[0].links; link++) {
        if (!on[link]) {
            printf("%s%s", before, hash_member_name(c, (int)link, name, sizeof name));
            before = ", ";
        }
    }
    putchar('\n');
}

/* One table of sources x destinations. `*` marks an answer that another destination of the same source has as well. */
static int print_matrix(const struct hash_command *c, const struct hash_pair *pairs, size_t n_src, size_t n_dst)
{
    char policy[256], name[16];
    bool unanswered = false;
    struct table_column *columns = calloc(n_dst + 1, sizeof *columns);
    if (!columns)
        return cli_error(CLI_FAILED, c->label, "out of memory");
    columns[0].title = "";
    for (size_t d = 0; d < n_dst; d++)
        columns[d + 1] = (struct table_column){pairs[d].dst, TABLE_RIGHT};
    struct table *t = table_new(columns, n_dst + 1);
    for (size_t s = 0; s < n_src; s++) {
        const struct hash_pair *row = &pairs[s * n_dst];
        struct table_row *line = table_row(t, NULL);
        table_cell(t, line, 0, row[0].src);
        for (size_t d = 0; d < n_dst; d++) {
            size_t same = 0;
            for (size_t e = 0; e < n_dst; e++)
                same += row[e].member == row[d].member;
            unanswered |= row[d].member < 0;
            if (row[d].member < 0)
                table_cell(t, line, d + 1, "?");
            else
                table_cellf(t, line, d + 1, "%s%s", hash_member_name(c, row[d].member, name, sizeof name),
                            same > 1 ? "*" : "");
        }
    }
    enum hash_status worst = HASH_EXACT;
    const char *reason = NULL;
    for (size_t i = 0; i < n_src * n_dst; i++) {
        if (pairs[i].label.status > worst) {
            worst = pairs[i].label.status;
            reason = pairs[i].label.reason;
        }
    }
    hash_selector_text(&c->selector, false, policy, sizeof policy);
    printf("%s, %u link%s: %s%s%s%s\n", policy, pairs[0].links, pairs[0].links == 1 ? "" : "s",
           pairs[0].drawn ? "drawn" : hash_status_name(worst), reason ? " (" : "", reason ? reason : "",
           reason ? ")" : "");
    int rc = table_print(t, stdout, TABLE_TEXT, 0) ? cli_error(CLI_FAILED, c->label, "out of memory") : CLI_OK;
    table_free(t);
    free(columns);
    if (unanswered && pairs[0].member != -HASH_NO_MEMBER)
        print_range(c, pairs[0].links, (unsigned)n_dst);
    if (unanswered)
        return rc;
    for (size_t s = 0; n_dst > 1 && s < n_src; s++)
        print_row_note(c, &pairs[s * n_dst], n_dst);
    print_totals(c, pairs, n_src * n_dst);
    return rc;
}

static int print_pairs(const struct hash_command *c, const struct hash_pair *pairs, size_t n_src, size_t n_dst)
{
    int rc = CLI_OK;
    if (c->json)
        return hash_json_pairs(c, pairs, n_src, n_dst) ? cli_error(CLI_FAILED, c->label, "out of memory") : CLI_OK;
    for (size_t i = 0; i < c->n_links && rc == CLI_OK; i++) {
        const struct hash_pair *part = &pairs[i * n_src * n_dst];
        if (n_src * n_dst == 1) {
            print_single(c, part);
            continue;
        }
        if (i)
            putchar('\n');
        rc = print_matrix(c, part, n_src, n_dst);
        for (size_t p = 0; c->why && p < n_src * n_dst; p++) {
            printf("%s > %s\n", part[p].src, part[p].dst);
            if (!part[p].drawn)
                print_why(c, &part[p]);
        }
    }
    return rc;
}

static bool expand(const struct hash_command *c, struct topo_arena *a, const char *text, struct range *out)
{
    const char *problem;
    if (range_parse(a, text, out, &problem))
        return true;
    cli_error(CLI_USAGE, c->label, "%s: %s", text, problem);
    return false;
}

int hash_pairs(const struct hash_command *c, const char *src, const char *dst)
{
    struct range sources, destinations;
    struct hash_members members;
    struct hash_pair *pairs = NULL, *p;
    int rc = CLI_USAGE;
    struct topo_arena *a = arena_new();
    if (!a)
        return cli_error(CLI_FAILED, c->label, "out of memory");
    if (!expand(c, a, src, &sources) || !expand(c, a, dst, &destinations))
        goto out;
    if (c->n_links * sources.count > PAIRS_MAX / destinations.count) {
        cli_error(CLI_USAGE, c->label, "%zu x %zu pairs: more than %d", sources.count, destinations.count, PAIRS_MAX);
        goto out;
    }
    pairs = p = calloc(c->n_links * sources.count * destinations.count, sizeof *pairs);
    if (!pairs) {
        rc = cli_error(CLI_FAILED, c->label, "out of memory");
        goto out;
    }
    for (size_t i = 0; i < c->n_links; i++) {
        if (!hash_command_members(c, c->links[i], &members))
            goto out;
        for (size_t s = 0; s < sources.count; s++) {
            for (size_t d = 0; d < destinations.count; d++, p++) {
                p->src = range_at(a, &sources, s);
                p->dst = range_at(a, &destinations, d);
                p->links = c->links[i];
                if ((rc = answer(c, p, &members)) != CLI_OK)
                    goto out;
            }
        }
    }
    rc = print_pairs(c, pairs, sources.count, destinations.count);
out:
    free(pairs);
    arena_free(a);
    return rc;
}
