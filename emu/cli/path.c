/* emu path: which links each datastore's traffic takes, why, who is on them too, and what that comes to. */
#include "emu/cli/commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/path_site.h"
#include "emu/model/topology_file.h"
#include "emu/report/path_report.h"
#include "emu/report/plan_file.h"

enum { LINKS_SHOWN = 64, PORTS_MAX = 64 };

struct path_options {
    const char *case_name, *plan, *host, *datastore, *sport;
    bool json, tsv, links;
};

static const struct option_spec rows[] = {
    OPTION_STRING(struct path_options, case_name, "case", 0, "C",
                  "the topology of this case; default: as the file stands"),
    OPTION_STRING(struct path_options, plan, "plan", 0, "P", "mounts as this plan wants them (nfsbal plan -o P)"),
    OPTION_STRING(struct path_options, host, "host", 0, "H", "the datastores of this host in full"),
    OPTION_STRING(struct path_options, datastore, "datastore", 0, "D", "this datastore in full, on every host or on H"),
    OPTION_STRING(struct path_options, sport, "sport", 0, "P[,P...]",
                  "source ports of the connections of D on H, in order (ss -tn on the host)"),
    OPTION_FLAG(struct path_options, links, "links", 0, "every link direction: its flows, rates and load"),
    OPTION_FLAG(struct path_options, json, "json", 0, "print JSON (emu-path/1)"),
    OPTION_FLAG(struct path_options, tsv, "tsv", 0,
                "tab-separated: a row per flow and hop; with --links per link direction"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Explains which links every mount's reads and writes take and predicts what that gives: a summary of\n"
             "the site, or --host and --datastore hop by hop.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* Topology of the file and case, under a plan if there is one; prints what is wrong. NULL when there is an error. */
static struct topo *load(const char *command, const char *file, const char *case_name, const char *plan)
{
    char problem[512];
    struct diag d;
    struct plan_file *p = plan ? plan_file_load(plan, problem, sizeof problem) : NULL;
    struct topo_file *f;
    struct topo *t = NULL;

    if (plan && !p) {
        cli_error(CLI_USAGE, command, "--plan %s", problem);
        return NULL;
    }
    if (p && !case_name)
        case_name = p->case_name;
    diag_init(&d, file);
    f = topo_file_open(file, &d);
    if (f && case_name) {
        size_t i = 0;

        while (i < topo_file_cases(f) && strcmp(topo_file_case(f, i), case_name) != 0)
            i++;
        if (i == topo_file_cases(f)) {
            cli_error(CLI_USAGE, command, "%s has no case `%s`", file, case_name);
            goto out;
        }
    }
    if (f)
        t = p ? plan_file_topo(p, f, case_name, &d) : topo_load(f, case_name, &d);
    if (!t || diag_count(&d, DIAG_ERROR) > 0)
        diag_print_text(&d, stderr, true);
out:
    plan_file_free(p);
    topo_file_close(f);
    diag_free(&d);
    return t;
}

/* A host's box by its name; -1, with a message, when there is none. */
static int find_host(const char *command, const struct topo *t, const char *name)
{
    int box = topo_find_box(t, name);

    if (box >= 0 && (t->nodes[t->boxes[box].node].kind == TOPO_ESXI || t->nodes[t->boxes[box].node].kind == TOPO_LINUX))
        return box;
    cli_error(CLI_USAGE, command, box < 0 ? "there is no host `%s`" : "`%s` is no host", name);
    return -1;
}

/* The mounts asked for, in order. False, with a message, when there are none. */
static bool choose(const char *command, const struct topo *t, const struct path_options *o, int *mounts,
                   struct path_choice *choice)
{
    int datastore = o->datastore ? topo_find_datastore(t, o->datastore) : -1;

    *choice = (struct path_choice){.mounts = mounts, .host = o->host ? find_host(command, t, o->host) : -1};
    if (o->host && choice->host < 0)
        return false;
    if (o->datastore && datastore < 0) {
        cli_error(CLI_USAGE, command, "there is no datastore `%s`", o->datastore);
        return false;
    }
    for (size_t m = 0; m < t->n_mounts; m++)
        if ((choice->host < 0 || t->mounts[m].host == choice->host) &&
            (datastore < 0 || t->mounts[m].datastore == datastore))
            mounts[choice->n_mounts++] = (int)m;
    if (choice->n_mounts == 0 && (o->host || o->datastore)) {
        cli_error(CLI_USAGE, command, o->datastore && o->host ? "%s does not mount %s" : "%s%s has no mounts",
                  o->host ? o->host : "", o->datastore ? o->datastore : "");
        return false;
    }
    return true;
}

/* Writes the given source ports into the flows of the one chosen mount. */
static bool give_ports(const char *command, const struct topo *t, const struct path_choice *choice, const char *text,
                       struct flow *flows, size_t n_flows)
{
    size_t given = 0, taken = 0;
    int64_t ports[PORTS_MAX];
    int mount;

    if (choice->n_mounts != 1) {
        cli_error(CLI_USAGE, command,
                  "--sport is about one mount: it needs --datastore, and --host where several have it");
        return false;
    }
    for (const char *p = text; *p || p == text; given++) {
        size_t length = strcspn(p, ",");
        char word[16];

        if (length == 0 || length >= sizeof word || given == PORTS_MAX) {
            cli_error(CLI_USAGE, command, "--sport: `%s`: expected ports such as 701,702", text);
            return false;
        }
        memcpy(word, p, length);
        word[length] = '\0';
        if (!option_parse_integer(word, 1, 65535, &ports[given])) {
            cli_error(CLI_USAGE, command, "--sport: `%s`: expected a port from 1 to 65535", word);
            return false;
        }
        p += length;
        if (*p == ',' && p[1])
            p++;
    }
    mount = path_site_owner(t, choice->mounts[0]);
    for (size_t f = 0; f < n_flows; f++)
        if (flows[f].mount == mount && taken < given) {
            flows[f].sport = (uint16_t)ports[taken++];
            flows[f].sport_origin = TOPO_GIVEN;
        }
    if (taken < given) {
        cli_error(CLI_USAGE, command, "--sport gives %zu ports and the mount has %zu connection%s", given, taken,
                  taken == 1 ? "" : "s");
        return false;
    }
    return true;
}

static int print(struct path_site *s, const struct path_choice *choice, const struct path_options *o)
{
    bool some = o->host || o->datastore, links = o->links || (!some && 2 * s->t->n_links <= LINKS_SHOWN);
    int rc = 0;

    if (o->json)
        return path_json(s, choice, stdout);
    if (o->tsv)
        return path_tsv(s, choice, o->links, stdout);
    if (some)
        rc = path_text_mounts(s, choice, stdout);
    else
        rc = path_text_summary(s, stdout);
    if (rc == 0 && links) {
        fputc('\n', stdout);
        rc = path_text_links(s, choice, stdout);
    }
    return rc;
}

static int run(const char *command, const struct path_options *o, const char *file)
{
    struct topo *t = load(command, file, o->case_name, o->plan);
    struct path_site *s = NULL;
    struct path_choice choice;
    struct flow *flows = NULL;
    int *mounts = NULL, rc = CLI_USAGE;
    long n;

    if (!t)
        return CLI_USAGE;
    mounts = malloc((t->n_mounts + 1) * sizeof *mounts);
    n = flow_list(t, &flows);
    if (!mounts || n < 0) {
        rc = cli_error(CLI_FAILED, command, "out of memory");
        goto out;
    }
    if (!choose(command, t, o, mounts, &choice) ||
        (o->sport && !give_ports(command, t, &choice, o->sport, flows, (size_t)n)))
        goto out;
    s = path_site_new(t, flows, (size_t)n);
    if (!s || print(s, &choice, o) != 0)
        rc = cli_error(CLI_FAILED, command, "out of memory");
    else
        rc = CLI_OK;
out:
    path_site_free(s);
    free(flows);
    free(mounts);
    topo_free(t);
    return rc;
}

int cmd_path(int argc, char **argv)
{
    struct path_options options = {.json = false};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON && options.json && (options.tsv || options.links))
        rc = cli_error(CLI_USAGE, argv[0], "--json has everything in it: it goes without --tsv and --links");
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
