/* nfsbal plan: which VIP for which datastore, what each change buys, and how good that is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology_arena.h"
#include "emu/model/topology_change.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_write.h"
#include "emu/report/outfile.h"
#include "nfsbal/cli/commands.h"
#include "nfsbal/cli/plan_suggest.h"
#include "nfsbal/cli/plan_view.h"
#include "nfsbal/emit/emit.h"

enum { PROBLEM = 16384 };

struct options {
    const char *case_name, *out, *why, *datastore, *reserved, *domain, *host, *write;
    struct option_list from, what_if, allow;
    int64_t max_changes, suggest, max_class;
    double worth;
    unsigned levers;
    int format, names; /* positions, or -1 */
    bool best, vmk, indirect, json, tsv, markdown, designs;
};

static const char *const names_choices[] = {"per-datastore", NULL};

static const char *parse_levers(const char *text, void *member)
{
    const char *bad;
    size_t length;
    if (!plan_levers_parse(text, member, &bad, &length))
        return "a list of vip, vmk-address, vmk-binding, lif-home, volume-owner, switch-hash, names with commas";
    return NULL;
}

static const char *parse_percent(const char *text, void *member)
{
    double *fraction = member;
    const char *expected = unit_parse_percent(text, fraction);
    if (expected || !(*fraction > 0) || *fraction > 1)
        return "a percentage such as 5%";
    return NULL;
}

static const struct option_spec rows[] = {
    OPTION_STRING(struct options, case_name, "case", 0, "C", "the topology of this case; default: as the file stands"),
    OPTION_STRING(struct options, out, "output", 'o', "FILE",
                  "write the plan as JSON (nfsbal-plan/1); - is standard output,\n"
                  "instead of the tables"),
    OPTION_INTEGER(struct options, max_changes, "max-changes", 0, "N", 0, 1000000,
                   "propose the best layout that changes no more than N datastores"),
    OPTION_VALUE(struct options, worth, "worth", 0, "P", parse_percent,
                 "propose changes as long as each takes P % off the fullest link"),
    OPTION_FLAG(struct options, best, "best", 0, "propose the best layout, whatever it changes"),
    OPTION_VALUE(struct options, levers, "levers", 0, "LIST", parse_levers,
                 "what may change: vip, vmk-address, vmk-binding, lif-home, volume-owner,\n"
                 "switch-hash, names; default: all but the last"),
    OPTION_INTEGER(struct options, max_class, "max-class", 0, "C", 0, 3,
                   "no change of a worse class: 0 nothing stops, 1 rolling, 2 copy, 3 outage"),
    OPTION_FLAG(struct options, indirect, "allow-indirect", 0,
                "also VIPs on another controller than the owner of the export"),
    OPTION_LIST(struct options, allow, "allow", 0, "ID",
                "also propose what vendors only tolerate, by its name (alias-mount);\n"
                "may be given several times"),
    OPTION_OPTIONAL(struct options, why, "explain", 'e', "D",
                    "why each datastore of the plan, or this one, has its VIP, who shares its\n"
                    "links, and what the next best VIP would cost"),
    OPTION_STRING(struct options, datastore, "datastore", 0, "D", "with --explain: only this datastore"),
    OPTION_FLAG(struct options, designs, "designs", 0,
                "other designs for the whole site side by side: what they give, what must\n"
                "change for them, and whether vendors support them"),
    OPTION_ENUM(struct options, names, "names", 0, "per-datastore", names_choices,
                "a DNS name for each datastore: lines of a zone and of a hosts file"),
    OPTION_STRING(struct options, domain, "domain", 0, "D",
                  "with --names and --levers names: the domain of these names"),
    OPTION_LIST(struct options, what_if, "what-if", 0, "CHANGE",
                "plan as if: 'add-host NAME ADDRESS', 'uplinks N',\n"
                "'speed [NODE] RATE', 'fail PORT|NODE'; may be given several times"),
    OPTION_INTEGER(struct options, suggest, "suggest-vips", 0, "N", 1, 4096,
                   "addresses that make N VIPs with those that are there, so that\n"
                   "every host's uplinks and every LAG are even"),
    OPTION_FLAG(struct options, vmk, "suggest-vmk", 0,
                "addresses for hosts' interfaces that make today's mounts, or the\n"
                "proposed ones, more even: a change that is rolling"),
    OPTION_LIST(struct options, from, "from", 0, "RANGE",
                "with the two above and for --levers vmk-address: out of these, such as\n"
                "10.0.0.[101-199]; may be given several times"),
    OPTION_STRING(struct options, reserved, "reserved", 0, "FILE",
                  "with the same: but none of these, an address or range a line"),
    OPTION_STRING(struct options, write, "write", 0, "NEW",
                  "write the topology file as the plan wants it, with your comments"),
    OPTION_ENUM(struct options, format, "format", 'f', "F", emit_format_names,
                "print the mounts of the plan for a tool instead; nfsbal-diff(1) lists them"),
    OPTION_STRING(struct options, host, "host", 0, "H", "with --format: only the mounts of this host"),
    OPTION_FLAG(struct options, markdown, "markdown", 0, "print the tables as Markdown"),
    OPTION_FLAG(struct options, json, "json", 0, "print JSON (nfsbal-plan/1)"),
    OPTION_FLAG(struct options, tsv, "tsv", 0, "tab-separated: a row per datastore and host"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Finds the VIP for each datastore that uses every link, shows what 0, 1, 2 ... changes of today's mounts "
             "would\n"
             "buy, and proves how good that is. Nothing is proposed for a site that is mounted unless it is asked for.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static int check_suggest(const char *command, const struct options *o)
{
    bool other = o->json || o->tsv || o->why || o->out || o->markdown || o->format >= 0 || o->write || o->designs ||
                 o->names >= 0;
    if (o->vmk && !o->from.n)
        return cli_error(CLI_USAGE, command, "--suggest-vmk: out of which addresses? --from RANGE");
    if (o->vmk && (o->suggest >= 0 || other))
        return cli_error(CLI_USAGE, command,
                         "--suggest-vmk is a question of its own: without --json, --tsv, --explain, -o");
    if (o->suggest >= 0 && !o->from.n)
        return cli_error(CLI_USAGE, command, "--suggest-vips %lld: out of which addresses? --from RANGE",
                         (long long)o->suggest);
    if (o->suggest >= 0 && (o->max_changes >= 0 || o->worth > 0 || o->best || other))
        return cli_error(CLI_USAGE, command,
                         "--suggest-vips is a question of its own: it goes with --case, --from and --reserved");
    if (o->suggest < 0 && !o->vmk && (o->from.n || o->reserved) && !(o->levers >> PLAN_LEVER_VMK_ADDRESS & 1))
        return cli_error(CLI_USAGE, command,
                         "--from and --reserved go with --suggest-vips, --suggest-vmk and --levers vmk-address");
    return OPTION_GO_ON;
}

static int check_options(const char *command, const struct options *o)
{
    if ((o->max_changes >= 0) + (o->worth > 0) + o->best > 1)
        return cli_error(CLI_USAGE, command, "--max-changes, --worth and --best: one of them");
    if (o->json + o->tsv + (o->why != NULL) + o->markdown + (o->format >= 0) + (o->names >= 0) > 1 &&
        !(o->designs && o->json + o->markdown == 1))
        return cli_error(CLI_USAGE, command, "--json, --tsv, --markdown, --format, --names and --explain: one of them");
    if (o->designs && (o->tsv || o->why || o->format >= 0 || o->names >= 0 || o->out || o->write || o->best ||
                       o->max_changes >= 0 || o->worth > 0))
        return cli_error(CLI_USAGE, command, "--designs is a question of its own: it goes with --json and --markdown");
    if (o->what_if.n && (o->out || o->json || o->write))
        return cli_error(CLI_USAGE, command,
                         "--what-if: a plan for what is not in the file can't be written: change a copy of the file");
    if (o->datastore && (!o->why || *o->why))
        return cli_error(CLI_USAGE, command, "--datastore %s: it says what --explain is about", o->datastore);
    if (o->domain && o->names < 0 && !(o->levers >> PLAN_LEVER_NAMES & 1))
        return cli_error(CLI_USAGE, command, "--domain %s: it goes with --names and --levers names", o->domain);
    if (o->host && o->format < 0)
        return cli_error(CLI_USAGE, command, "--host %s: it needs --format", o->host);
    if (o->out && !strcmp(o->out, "-") &&
        (o->json || o->tsv || o->why || o->markdown || o->format >= 0 || o->names >= 0))
        return cli_error(CLI_USAGE, command, "-o -: it wants standard output for itself");
    for (size_t i = 0; i < o->allow.n; i++)
        if (!plan_way_find(o->allow.items[i]))
            return cli_error(CLI_USAGE, command,
                             "--allow %s: nothing has this name; the last lines of a plan name what "
                             "it rests on",
                             o->allow.items[i]);
    return check_suggest(command, o);
}

/* The predictions of a layout. False on lack of memory. */
static bool set_scene(struct plan_scene *s, const struct plan_frontier_row *row, struct topo *t)
{
    struct flow *flows = NULL;
    long n = flow_list(t, &flows);
    *s = (struct plan_scene){.row = row, .t = t};
    s->site = n < 0 ? NULL : path_site_new(t, flows, (size_t)n);
    free(flows);
    return s->site != NULL;
}

/* The topology with a row's mounts and changes; NULL with errors in d. */
static struct topo *apply(const struct topo_file *f, const struct plan_view *v, const struct plan_frontier_row *row,
                          struct diag *d)
{
    struct topo_assignment *all;
    long n = plan_frontier_assignments(v->frontier, row, &all);
    struct topo_change *words = n < 0 ? NULL : plan_frontier_words(row);
    struct topo *t = words ? topo_load_changed(f, v->t->case_name, words, row->n_changes, all, (size_t)n, d) : NULL;
    free(words);
    if (n >= 0)
        free(all);
    return t;
}

static bool make_scenes(struct plan_view *v, const struct topo_file *f, struct topo *t, struct diag *d)
{
    const struct plan *plan = v->frontier->plan;
    bool new_site = true, new_units = false;
    for (size_t u = 0; u < plan->n_units; u++) {
        new_site &= !plan->units[u].mounted;
        new_units |= !plan->units[u].mounted;
    }
    v->best = &v->frontier->rows[v->frontier->best];
    v->chosen = &v->frontier->rows[v->frontier->chosen];
    v->plan = v->chosen->plan;
    v->proposed = new_units || v->frontier->chosen > 0;
    if (!new_site && !set_scene(&v->today, &v->frontier->rows[0], t))
        return false;
    const struct plan_frontier_row *row = v->proposed ? v->chosen : v->best;
    struct topo *goal = apply(f, v, row, d);
    if (!goal || !set_scene(&v->goal, row, goal)) {
        if (!v->goal.t)
            topo_free(goal);
        return false;
    }
    plan_failure_worst(v->chosen->row->layout, &v->worst);
    return true;
}

/* What is only tolerated is proposed where the user or the file says so. */
static int check_support(const char *command, const struct plan_view *v, const struct options *o)
{
    for (size_t i = 0; i < v->n_ways && v->proposed; i++) {
        const struct plan_way_facts *way = v->ways[i];
        bool allowed = way->support == PLAN_SUPPORTED;
        for (size_t k = 0; k < o->allow.n; k++)
            allowed |= !strcmp(o->allow.items[k], way->id);
        for (size_t k = 0; k < v->t->n_allows; k++)
            allowed |= !strcmp(v->t->allows[k].id, way->id);
        for (size_t k = 0; k < v->n_ways_today; k++)
            allowed |= v->ways_today[k] == way;
        if (way == plan_way(PLAN_WAY_INDIRECT))
            allowed |= o->indirect;
        if (!allowed)
            return cli_error(CLI_FAILED, command,
                             "%s: what there is to propose is only %s (%s): --allow %s proposes it", v->file,
                             plan_support_name(way->support), way->why, way->id);
    }
    return CLI_OK;
}

static int write_plan(const char *command, const struct plan_view *v, const char *path)
{
    struct outfile out;
    int rc = outfile_open(&out, path);
    if (rc == 0) {
        plan_json(v, out.file);
        rc = outfile_commit(&out);
    }
    outfile_abandon(&out);
    return rc ? cli_error(CLI_FAILED, command, "%s: %s", path, strerror(-rc)) : CLI_OK;
}

static int print_format(const char *command, const struct plan_view *v, const struct options *o)
{
    char problem[512];
    struct emit e = {.t = v->proposed ? v->goal.t : v->t, .format = (enum emit_format)o->format, .host = -1};
    if (o->host) {
        e.host = topo_find_box(e.t, o->host);
        if (e.host < 0)
            return cli_error(CLI_USAGE, command, "there is no host `%s`", o->host);
    }
    return emit_print(&e, stdout, problem, sizeof problem) ? CLI_OK : cli_error(CLI_USAGE, command, "%s", problem);
}

/* The file as the plan wants it. */
static int write_new(const char *command, const struct plan_view *v, const struct topo_file *f, const char *path,
                     struct diag *d)
{
    struct topo_assignment *all;
    struct outfile out;
    long n = plan_frontier_assignments(v->frontier, v->chosen, &all);
    struct topo_change *words = n < 0 ? NULL : plan_frontier_words(v->chosen);
    char *text = words ? topo_file_write(f, d->source, d->source_size, v->t->case_name, words, v->chosen->n_changes,
                                         all, (size_t)n, d)
                       : NULL;
    free(words);
    if (n >= 0)
        free(all);
    if (!text) {
        diag_print_text(d, stderr, true);
        return cli_error(CLI_FAILED, command, "%s: nothing was written", path);
    }
    int rc = outfile_open(&out, path);
    if (rc == 0) {
        fputs(text, out.file);
        rc = outfile_commit(&out);
    }
    outfile_abandon(&out);
    free(text);
    return rc ? cli_error(CLI_FAILED, command, "%s: %s", path, strerror(-rc)) : CLI_OK;
}

static int print(const char *command, const struct plan_view *v, const struct options *o)
{
    const char *name = o->datastore ? o->datastore : o->why && *o->why ? o->why : NULL;
    int datastore = name ? topo_find_datastore(v->t, name) : -1, rc = 0;
    if (name && datastore < 0)
        return cli_error(CLI_USAGE, command, "there is no datastore `%s`", name);
    if (o->out) {
        int written = write_plan(command, v, o->out);
        if (written != CLI_OK || !strcmp(o->out, "-"))
            return written;
    }
    if (o->format >= 0)
        return print_format(command, v, o);
    if (o->names >= 0)
        return plan_names(v, o->domain, stdout)
                   ? CLI_OK
                   : cli_error(
                         CLI_USAGE, command,
                         "--names per-datastore: no VIP has a name whose domain they could have: --domain DOMAIN");
    if (o->json)
        plan_json(v, stdout);
    else if (o->tsv)
        rc = plan_tsv(v, stdout);
    else if (o->why)
        rc = plan_explain(v, datastore, stdout);
    else {
        for (size_t i = 0; i < o->what_if.n; i++)
            printf("%s%s%s", i ? ", " : "what if: ", o->what_if.items[i], i + 1 == o->what_if.n ? "\n" : "");
        rc = plan_text(v, stdout);
    }
    return rc ? cli_error(CLI_FAILED, command, "%s", strerror(-rc)) : CLI_OK;
}

/* A lever that was asked for by name must be there. */
static int check_bindings(const char *command, const char *file, const struct topo *t)
{
    const char *old = NULL;
    for (size_t a = 0; a < t->n_ifaces; a++)
        for (size_t b = a + 1; b < t->n_ifaces; b++) {
            const struct topo_iface *x = &t->ifaces[a], *y = &t->ifaces[b];
            const struct topo_node *node = &t->nodes[t->boxes[x->box].node];
            if (x->box != y->box || node->kind != TOPO_ESXI || x->addr.version != y->addr.version ||
                !topo_addr_same_subnet(&x->addr, &y->addr, x->addr.prefix))
                continue;
            for (size_t d = 0; d < t->n_datastores; d++)
                if (topo_can_bind(node, t->datastores[d].nfs))
                    return OPTION_GO_ON;
            old = node->name;
        }
    if (old)
        return cli_error(
            CLI_USAGE, command,
            "--levers vmk-binding: %s: ESXi can bind datastores to an interface since 8.0 U1 with NFS 3 and "
            "since 8.0 U3 with NFS 4.1; %s is older",
            file, old);
    return cli_error(CLI_USAGE, command,
                     "--levers vmk-binding: %s: no ESXi host has two interfaces in one subnet to choose from", file);
}

static int plan_file(const char *command, const struct options *o, const struct topo_file *f, struct topo *t,
                     struct diag *d)
{
    const struct plan_options wanted = {.max_changes = o->max_changes > 0 ? (size_t)o->max_changes : 0,
                                        .worth = o->worth,
                                        .best = o->best,
                                        .allow_indirect = o->indirect};
    struct plan_lever_options levers = {.levers = o->vmk      ? 1u << PLAN_LEVER_VIP
                                                  : o->levers ? o->levers
                                                              : PLAN_LEVERS_DEFAULT,
                                        .most = o->max_class < 0 ? PLAN_OUTAGE : (enum plan_cost)o->max_class,
                                        .domain = o->domain};
    struct topo_arena *arena = arena_new();
    char problem[PROBLEM];
    struct plan_view v = {.file = d->file,
                          .t = t,
                          .format = o->markdown ? TABLE_MARKDOWN : TABLE_TEXT,
                          .more_levers = (levers.levers & ~(1u << PLAN_LEVER_VIP | 1u << PLAN_LEVER_NAMES)) != 0};
    int rc = o->levers >> PLAN_LEVER_VMK_BINDING & 1 ? check_bindings(command, d->file, t) : OPTION_GO_ON;
    if (rc == OPTION_GO_ON)
        rc = plan_read_addresses(command, &o->from, o->reserved, arena, &levers.from, &levers.n_from, &levers.taken,
                                 &levers.n_taken);
    struct plan_frontier *frontier =
        rc == OPTION_GO_ON ? plan_frontier_make(f, t, &wanted, &levers, problem, sizeof problem) : NULL;
    if (!frontier) {
        arena_free(arena);
        return rc == OPTION_GO_ON ? cli_error(CLI_FAILED, command, "%s: %s", d->file, problem) : rc;
    }
    v.frontier = frontier;
    long n = plan_parts(f, t->case_name, &v.parts, d);
    if (n < 0 || !make_scenes(&v, f, t, d)) {
        diag_print_text(d, stderr, true);
        rc = cli_error(CLI_FAILED, command, "the plan can't be applied to %s", d->file);
    } else {
        v.n_parts = (size_t)n;
        plan_judge(&v, arena);
        rc = check_support(command, &v, o);
        if (rc == CLI_OK && o->write)
            rc = write_new(command, &v, f, o->write, d);
        if (rc == CLI_OK && !(o->write && !strcmp(o->write, "-")))
            rc = o->vmk ? plan_suggest_vmks(command, v.plan, v.chosen->row, &o->from, o->reserved)
                        : print(command, &v, o);
    }
    plan_parts_free(v.parts, v.n_parts);
    path_site_free(v.today.site);
    path_site_free(v.goal.site);
    topo_free(v.goal.t);
    plan_frontier_free(frontier);
    arena_free(arena);
    return rc;
}

static int print_designs(const char *command, const struct options *o, const struct topo *t)
{
    if (o->json)
        plan_designs_json(t, stdout);
    else if (plan_designs_text(t, o->markdown ? TABLE_MARKDOWN : TABLE_TEXT, stdout) != 0)
        return cli_error(CLI_FAILED, command, "%s", strerror(ENOMEM));
    return CLI_OK;
}

static int run(const char *command, const struct options *o, const char *path)
{
    struct diag d;
    int rc = CLI_USAGE;
    diag_init(&d, path);
    struct topo_file *f = topo_file_open(path, &d);
    bool changed = f != NULL;
    for (size_t i = 0; changed && i < o->what_if.n; i++)
        changed = topo_file_change(f, o->what_if.items[i], &d);
    struct topo *t = changed ? topo_load(f, o->case_name, &d) : NULL;
    if (t && diag_count(&d, DIAG_ERROR) == 0 && o->designs)
        rc = print_designs(command, o, t);
    else if (t && diag_count(&d, DIAG_ERROR) == 0)
        rc = o->suggest >= 0 ? plan_suggest_vips(command, t, o->suggest, &o->from, o->reserved)
                             : plan_file(command, o, f, t, &d);
    else
        diag_print_text(&d, stderr, true);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

int command_plan(int argc, char **argv)
{
    struct options options = {.max_changes = -1, .suggest = -1, .max_class = -1, .format = -1, .names = -1};
    struct option_list operands;
    int rc = option_parse(&table, argc, argv, &options, &operands);
    if (rc == OPTION_GO_ON)
        rc = check_options(argv[0], &options);
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
