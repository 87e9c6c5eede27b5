/* nfsbal doctor: can these servers be the paths of one mount? */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/model/topology_arena.h"
#include "emu/model/units.h"
#include "emu/report/json.h"
#include "emu/report/table.h"
#include "nfsbal/client/doctor.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/nfs/commands.h"
#include "nfsbal/nfs/location.h"

struct doctor_options {
    const char *export, *write_test, *source;
    int64_t port, mount_port, uid, gid;
    ps_t bound;
    bool json;
};

static const char *a_time(const char *text, void *out) { return unit_parse_time(text, out); }

#define O struct doctor_options
static const struct option_spec rows[] = {
    OPTION_STRING(O, export, "export", 0, "PATH", "the exported directory; default: the first that each lists"),
    OPTION_STRING(O, write_test, "write-test", 0, "DIR",
                  "also write one file into this directory below the export, and remove it"),
    OPTION_STRING(O, source, "source", 0, "ADDRESS", "where connections come from"),
    OPTION_INTEGER(O, port, "port", 0, "PORT", 1, 65535, "of NFS; default 2049"),
    OPTION_INTEGER(O, mount_port, "mountport", 0, "PORT", 1, 65535, "of the mount service; default: asked for"),
    OPTION_VALUE(O, bound, "bound", 0, "TIME", a_time, "how long to wait for a connection; default 3s"),
    OPTION_INTEGER(O, uid, "uid", 0, "N", 0, UINT32_MAX, "user for the server; default: yours"),
    OPTION_INTEGER(O, gid, "gid", 0, "N", 0, UINT32_MAX, "group for the server; default: yours"),
    OPTION_FLAG(O, json, "json", 'j', "print JSON (nfsbal-doctor/1)"),
};

static const struct option_table table = {
    .operands = "SERVER...",
    .min_operands = 1,
    .max_operands = 1024,
    .about =
        "Asks each server what it serves, and says whether they can be used together: same root, same file system. A\n"
        "SERVER may be a range (10.0.0.[101-108]) or a name with several addresses. It only reads.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* Why server i is no path beside the first good one; NULL: it is. */
static const char *wrong(const struct doctor_server *s, size_t i, size_t first)
{
    return *s[i].problem ? s[i].problem : i == first ? NULL : doctor_differ(&s[first], &s[i]);
}

static size_t first_good(const struct doctor_server *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!*s[i].problem)
            return i;
    return n;
}

static void link_text(const struct doctor_server *s, char *out, size_t size)
{
    if (!s->have_link)
        snprintf(out, size, "?");
    else if (!*s->link.bond)
        snprintf(out, size, "%s", s->link.interface);
    else if (s->member < 0)
        snprintf(out, size, "%s (%s)", s->link.bond, *s->link.policy ? s->link.policy : s->link.mode);
    else
        snprintf(out, size, "%s (%s, %s)", s->link.members[s->member], s->link.bond, s->link.policy);
}

static void root_text(const struct doctor_server *s, char *out, size_t size)
{
    uint32_t h = 2166136261u;

    for (unsigned i = 0; i < s->root.size; i++)
        h = (h ^ s->root.bytes[i]) * 16777619u;
    snprintf(out, size, "%08" PRIx32, h); /* the handle is long; equal ones print equal */
}

static void print_table(const struct doctor_server *s, size_t n)
{
    static const struct table_column columns[] = {{"SERVER", 0},
                                                  {"ROOT", 0},
                                                  {"FSID", 0},
                                                  {"RTT ms", TABLE_RIGHT},
                                                  {"READ KiB", TABLE_RIGHT},
                                                  {"WRITE KiB", TABLE_RIGHT},
                                                  {"LINK", 0},
                                                  {"VERDICT", 0}};
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    size_t first = first_good(s, n);

    for (size_t i = 0; i < n; i++) {
        struct table_row *row = table_row(t, NULL);
        const char *no = wrong(s, i, first);
        char text[200];

        table_cell(t, row, 0, s[i].name);
        if (s[i].mounted && s[i].root.size) {
            root_text(&s[i], text, sizeof text);
            table_cell(t, row, 1, text);
            table_cellf(t, row, 2, "%" PRIx64, s[i].attr.fsid);
            table_cellf(t, row, 4, "%u", s[i].fsinfo.rtmax / 1024);
            table_cellf(t, row, 5, "%u", s[i].fsinfo.wtmax / 1024);
        }
        if (s[i].reached) {
            table_cellf(t, row, 3, "%.2f", (double)(s[i].rtt_us ? s[i].rtt_us : s[i].connect_us) / 1000);
            link_text(&s[i], text, sizeof text);
            table_cell(t, row, 6, text);
        }
        table_cell(t, row, 7, no ? no : "good");
    }
    table_print(t, stdout, TABLE_TEXT, 0);
    table_free(t);
}

/* What is worth knowing beside the verdict, once for all servers it holds for. */
static void print_hints(const struct doctor_server *s, size_t n)
{
    bool closed = false, unlisted = false, reserved = false, squashed = false, ordinary = false, verifiers = false;
    size_t first = first_good(s, n);

    for (size_t i = 0; i < n; i++) {
        if (*s[i].problem)
            continue;
        closed |= s[i].exports == DOCTOR_EXPORTS_NONE;
        unlisted |= s[i].exports == DOCTOR_EXPORTS_UNLISTED;
        reserved |= s[i].tried_unprivileged && !s[i].unprivileged;
        ordinary |= !s[i].reserved_port;
        squashed |= s[i].have_root_access && !(s[i].root_access & NFS3_ACCESS_MODIFY);
        verifiers |= s[i].wrote && s[i].verifier != s[first].verifier;
    }
    if (closed)
        puts("- The export list is closed or empty. That is no failure; ESXi doesn't read it either.");
    if (unlisted)
        puts("- The export is not in the list, but can be mounted: it is below one, or the list is short on purpose.");
    if (reserved)
        puts("- Calls from ports above 1023 are refused: an ordinary user needs the export's `insecure`; ESXi and root "
             "have\n"
             "  reserved ports.");
    if (ordinary)
        puts("- This was asked from a port above 1023: run as root to see what a client with reserved ports is "
             "allowed.");
    if (squashed)
        puts("- User 0 may not write into the root: it is squashed, or the mode forbids it. ESXi mounts as user 0 and "
             "needs\n"
             "  no_root_squash; check it from each ESXi host with `vmkping` and a test mount, for export rules go by "
             "address.");
    if (verifiers)
        puts(
            "- Write verifiers differ: more than one server stands behind these addresses. Data is committed by each.");
}

static void print_json(const struct doctor_server *s, size_t n, bool together)
{
    static const char *const exports[] = {"none", "listed", "unlisted"};
    size_t first = first_good(s, n);
    struct json_out j;
    char text[200];

    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-doctor/1");
    json_out_bool(&j, "together", together);
    json_out_array(&j, "servers", JSON_ON_LINES);
    for (size_t i = 0; i < n; i++) {
        const struct doctor_server *d = &s[i];
        char handle[2 * NFS3_HANDLE_MAX + 1] = "";

        for (unsigned k = 0; k < d->root.size; k++)
            snprintf(handle + 2 * k, 3, "%02x", d->root.bytes[k]);
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "server", d->name);
        json_out_string(&j, "problem", wrong(s, i, first));
        json_out_string(&j, "export", *d->mounted_path ? d->mounted_path : NULL);
        json_out_string(&j, "export_list", exports[d->exports]);
        json_out_string(&j, "root", d->root.size ? handle : NULL);
        snprintf(text, sizeof text, "%" PRIx64, d->attr.fsid);
        json_out_string(&j, "fsid", d->mounted ? text : NULL);
        json_out_count(&j, "read_max", d->fsinfo.rtmax);
        json_out_count(&j, "write_max", d->fsinfo.wtmax);
        json_out_real(&j, "connect", (double)d->connect_us / 1e6);
        json_out_real(&j, "rtt", (double)d->rtt_us / 1e6);
        json_out_bool(&j, "reserved_port", d->reserved_port);
        if (d->tried_unprivileged)
            json_out_bool(&j, "unprivileged", d->unprivileged);
        else
            json_out_null(&j, "unprivileged");
        json_out_integer(&j, "access", d->access);
        json_out_integer(&j, "root_access", d->root_access);
        snprintf(text, sizeof text, "%016" PRIx64, d->verifier);
        json_out_string(&j, "verifier", d->wrote ? text : NULL);
        link_text(d, text, sizeof text);
        json_out_string(&j, "link", d->reached ? text : NULL);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
}

static int examine(const char *command, const struct doctor_options *o, const struct location *l, struct topo_arena *a)
{
    struct doctor_config config = {
        .export = o->export,
        .write_test = o->write_test,
        .port = (uint16_t)o->port,
        .mount_port = (uint16_t)o->mount_port,
        .credential = {.uid = o->uid < 0 ? getuid() : (uint32_t)o->uid,
                       .gid = o->gid < 0 ? getgid() : (uint32_t)o->gid},
        .bound_ms = (o->bound + PS_PER_MS - 1) / PS_PER_MS,
    };
    struct doctor_server *servers = arena_alloc(a, l->n_servers * sizeof *servers);
    struct loop *loop = loop_new();
    bool together = true;

    if (o->source && !conn_parse_address(o->source, 0, &config.source)) {
        loop_free(loop);
        return cli_error(CLI_USAGE, command, "--source: `%s` is no address", o->source);
    }
    if (!servers || !loop) {
        loop_free(loop);
        return cli_error(CLI_FAILED, command, "out of memory");
    }
    for (size_t i = 0; i < l->n_servers; i++) {
        servers[i].name = l->servers[i].name;
        servers[i].address = l->servers[i].address;
    }
    doctor_examine(loop, &config, servers, l->n_servers);
    loop_free(loop);
    for (size_t i = 0; i < l->n_servers; i++)
        together &= !wrong(servers, i, first_good(servers, l->n_servers));
    if (o->json) {
        print_json(servers, l->n_servers, together);
    } else {
        print_table(servers, l->n_servers);
        print_hints(servers, l->n_servers);
    }
    return together ? CLI_OK : CLI_FAILED;
}

int command_doctor(int argc, char **argv)
{
    struct doctor_options o = {.uid = -1, .gid = -1};
    struct option_list operands = {0};
    struct topo_arena *a = NULL;
    int rc = option_parse(&table, argc, argv, &o, &operands);

    if (rc == OPTION_GO_ON) {
        struct location l = {.n_servers = 0};
        const char *names = NULL;
        char problem[300] = "out of memory";

        a = arena_new();
        for (size_t i = 0; a && i < operands.n; i++)
            names = names ? arena_printf(a, "%s,%s", names, operands.items[i]) : operands.items[i];
        if (!a || !location_servers(a, names, &l, problem, sizeof problem))
            rc = cli_error(CLI_USAGE, argv[0], "%s", problem);
        else
            rc = examine(argv[0], &o, &l, a);
    }
    arena_free(a);
    option_free(&table, &o, &operands);
    return rc;
}
