/* nfsbal tell: what the devices answered goes into the file. */
#include "nfsbal/site/tell.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology_file.h"
#include "emu/report/outfile.h"
#include "nfsbal/cli/commands.h"

struct tell_options {
    const char *write, *date;
};

/* A number of so many digits within [1, max]. */
static bool digits(const char *text, size_t n, int64_t max)
{
    char copy[8];
    int64_t value;

    if (n >= sizeof copy || strspn(text, "0123456789") < n)
        return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return option_parse_integer(copy, 1, max, &value);
}

static const char *parse_date(const char *text, void *member)
{
    if (strlen(text) != 10 || !digits(text, 4, 9999) || text[4] != '-' || !digits(text + 5, 2, 12) || text[7] != '-' ||
        !digits(text + 8, 2, 31))
        return "a day such as 2024-05-31";
    memcpy(member, &text, sizeof text);
    return NULL;
}

static const struct option_spec rows[] = {
    OPTION_STRING(struct tell_options, write, "write", 'w', "NEW",
                  "write FILE with the answers in it here; - is standard output"),
    OPTION_VALUE(struct tell_options, date, "date", 0, "DAY", parse_date, "day of the answers; default: today"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Reads what devices answered to the questions of `nfsbal ask`, pasted on standard input with the\n"
             "commands, and makes `observed:` entries of it, which beat every rule.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static int node_of(const struct topo *t, const struct tell_entry *e) { return t->boxes[t->teams[e->team].box].node; }

/* The new entries by node, as they go into the file. */
static void print_entries(const struct topo *t, const struct tell *a, const char *date)
{
    for (size_t node = 0; node < t->n_nodes; node++) {
        bool any = false;

        for (size_t i = 0; i < a->n; i++) {
            if (a->entries[i].known || node_of(t, &a->entries[i]) != (int)node)
                continue;
            if (!any)
                printf("%s:\n  observed:\n", t->nodes[node].name);
            any = true;
            fputs("    - ", stdout);
            tell_print(t, &a->entries[i], date, stdout);
            putchar('\n');
        }
    }
}

/* The first mount of an interface to a VIP that has connections of its own; -1: none. */
static int mount_of(const struct topo *t, const struct tell_connection *c)
{
    for (size_t m = 0; m < t->n_mounts; m++)
        if (t->mounts[m].iface == c->iface && t->mounts[m].vip == c->vip && t->mounts[m].nconnect > 0)
            return (int)m;
    return -1;
}

/* Source ports settle rules that read them, but only until the next connect: they are for `emu path`, not for the file. */
static void print_connections(const struct topo *t, const struct tell *a, FILE *out)
{
    for (size_t i = 0; i < a->n_connections; i++) {
        const struct tell_connection *c = &a->connections[i];
        bool first = true;
        int mount = mount_of(t, c);

        for (size_t k = 0; k < i; k++)
            first &= a->connections[k].iface != c->iface || a->connections[k].vip != c->vip;
        if (!first || mount < 0)
            continue;
        fprintf(out, "source ports, good until it connects again: emu path %s --host %s --datastore %s --sport ",
                t->file, t->boxes[t->mounts[mount].host].name, t->datastores[t->mounts[mount].datastore].name);
        for (size_t k = i; k < a->n_connections; k++)
            if (a->connections[k].iface == c->iface && a->connections[k].vip == c->vip)
                fprintf(out, "%s%u", k > i ? "," : "", (unsigned)a->connections[k].sport);
        fputc('\n', out);
    }
}

static bool passed(const struct tell_ping *p) { return p->sent > 0 && p->received == p->sent; }

/* Pings that prove the largest frame, or don't: nothing of them goes into the file. The count that failed. */
static size_t print_pings(const struct topo *t, const struct tell *a, FILE *out)
{
    size_t failed = 0;

    for (size_t i = 0; i < a->n_pings; i++) {
        const struct tell_ping *p = &a->pings[i];

        if (passed(p))
            continue;
        failed++;
        fprintf(out, "MTU: %s%s%s -> %s, %u bytes: %u of %u came back%s\n", p->node < 0 ? "" : t->nodes[p->node].name,
                p->node < 0 ? "" : " ", p->iface, p->to, p->size, p->received, p->sent,
                p->too_long ? ", a hop says the frame is too long" : "");
    }
    if (a->n_pings > 0)
        fprintf(out, "MTU: %zu of %zu pings of full size came back%s%s\n", a->n_pings - failed, a->n_pings,
                a->unanswered && a->n == 0 ? ", some more have no answer" : "",
                failed ? ": where one of few bytes does, something on the way passes only smaller frames" : "");
    return failed;
}

static void print_summary(const struct tell *a, FILE *out)
{
    size_t known = 0;

    if (a->n == 0 && a->n_pings > 0)
        return;
    for (size_t i = 0; i < a->n; i++)
        known += a->entries[i].known;
    fprintf(out, "%zu new choice%s", a->n - known, a->n - known == 1 ? "" : "s");
    if (known)
        fprintf(out, ", %zu in the file already", known);
    if (a->unanswered)
        fprintf(out, ", %zu question%s without an answer", a->unanswered, a->unanswered == 1 ? "" : "s");
    fputc('\n', out);
}

static int write_file(const char *command, const char *path, const char *text)
{
    struct outfile o;
    int rc = outfile_open(&o, path);

    if (rc == 0) {
        fputs(text, o.file);
        rc = outfile_commit(&o);
    }
    if (rc == 0)
        return CLI_OK;
    outfile_abandon(&o);
    return cli_error(CLI_FAILED, command, "%s: %s", path, strerror(-rc));
}

static int put(const char *command, const struct topo *t, const struct diag *file, const struct tell *a,
               const struct tell_options *o, const char *date)
{
    char problem[256], *text;
    int rc;

    if (!o->write) {
        print_entries(t, a, date);
        print_connections(t, a, stderr);
        print_summary(a, stderr);
        return print_pings(t, a, stderr) > 0 ? CLI_FAILED : CLI_OK;
    }
    text = tell_insert(t, file->source, file->source_size, a, date, problem, sizeof problem);
    if (!text)
        return cli_error(CLI_USAGE, command, "%s: %s", t->file, problem);
    rc = write_file(command, o->write, text);
    free(text);
    if (rc == CLI_OK) {
        print_connections(t, a, stderr);
        print_summary(a, stderr);
        rc = print_pings(t, a, stderr) > 0 ? CLI_FAILED : CLI_OK;
    }
    return rc;
}

static int take(const char *command, const struct topo *t, const struct diag *file, const struct tell_options *o,
                const char *date)
{
    struct tell answers;
    struct diag d;
    int rc;

    diag_init(&d, "standard input");
    rc = tell_read(t, stdin, &d, &answers);
    if (rc < 0) {
        rc = cli_error(CLI_FAILED, command, "standard input: %s", strerror(-rc));
    } else {
        diag_print_text(&d, stderr, false);
        if (diag_count(&d, DIAG_ERROR) > 0)
            rc = CLI_USAGE;
        else if (answers.n == 0 && answers.n_connections == 0 && answers.n_pings == 0)
            rc = cli_error(CLI_USAGE, command, "there is no answer on standard input");
        else
            rc = put(command, t, file, &answers, o, date);
    }
    tell_free(&answers);
    diag_free(&d);
    return rc;
}

static int run(const char *command, const struct tell_options *o, const char *path)
{
    struct diag d;
    struct topo_file *f;
    struct topo *t = NULL;
    char today[16] = "";
    time_t now = time(NULL);
    struct tm day;
    int rc = CLI_USAGE;

    if (strcmp(path, "-") == 0)
        return cli_error(CLI_USAGE, command, "the answers come on standard input: FILE must be a file");
    diag_init(&d, path);
    f = topo_file_open(path, &d);
    if (f)
        t = topo_load(f, NULL, &d);
    if (!t || diag_count(&d, DIAG_ERROR) > 0)
        diag_print_text(&d, stderr, true);
    if (localtime_r(&now, &day))
        strftime(today, sizeof today, "%Y-%m-%d", &day);
    if (t)
        rc = take(command, t, &d, o, o->date ? o->date : today);
    topo_free(t);
    topo_file_close(f);
    diag_free(&d);
    return rc;
}

int command_tell(int argc, char **argv)
{
    struct tell_options options = {NULL, NULL};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
