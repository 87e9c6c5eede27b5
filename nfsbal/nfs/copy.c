/* nfsbal copy: files to, from and between NFS servers, over all their VIPs. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "emu/cli/progress.h"
#include "emu/model/topology_arena.h"
#include "emu/model/units.h"
#include "emu/report/json.h"
#include "nfsbal/client/copy.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/pool.h"
#include "nfsbal/nfs/commands.h"
#include "nfsbal/nfs/location.h"

struct copy_options {
    const char *source, *congestion;
    uint64_t block;
    int64_t outstanding, nconnect, mount_port, uid, gid;
    ps_t bound, timeo;
    bool full, preserve, no_replace, soft, quiet, json;
};

static const char *a_size(const char *text, void *out) { return unit_parse_size(text, out); }
static const char *a_time(const char *text, void *out) { return unit_parse_time(text, out); }

#define O struct copy_options
static const struct option_spec rows[] = {
    OPTION_FLAG(O, preserve, "preserve", 'p', "keep the time of modification"),
    OPTION_FLAG(O, no_replace, "no-replace", 'n', "an existing target is an error"),
    OPTION_FLAG(O, full, "full", 0, "write blocks of zeros, which are left out as holes otherwise"),
    OPTION_VALUE(O, block, "block", 0, "SIZE", a_size, "bytes of an operation, at most 1MiB; default 1MiB"),
    OPTION_INTEGER(O, outstanding, "outstanding", 0, "N", 1, 256, "blocks under way at a time; default 16"),
    OPTION_INTEGER(O, nconnect, "nconnect", 0, "N", 1, 64, "connections to each server; default 1"),
    OPTION_STRING(O, source, "source", 0, "ADDRESS", "where connections come from"),
    OPTION_INTEGER(O, mount_port, "mountport", 0, "PORT", 1, 65535, "of the mount service; default: asked for"),
    OPTION_STRING(O, congestion, "congestion", 0, "NAME", "TCP's congestion control"),
    OPTION_VALUE(O, bound, "bound", 0, "TIME", a_time, "a path without progress for so long is left; default 3s"),
    OPTION_FLAG(O, soft, "soft", 0, "give up on an operation after three times --timeo"),
    OPTION_VALUE(O, timeo, "timeo", 0, "TIME", a_time, "default 60s"),
    OPTION_INTEGER(O, uid, "uid", 0, "N", 0, UINT32_MAX, "user for the server; default: yours"),
    OPTION_INTEGER(O, gid, "gid", 0, "N", 0, UINT32_MAX, "group for the server; default: yours"),
    OPTION_FLAG(O, quiet, "quiet", 'q', "no progress bar"),
    OPTION_FLAG(O, json, "json", 'j', "print JSON (nfsbal-copy/1)"),
};

static const struct option_table table = {
    .operands = "SOURCE... TARGET",
    .min_operands = 2,
    .max_operands = 10000,
    .about =
        "Copies files. Each of SOURCE and TARGET is a local path or nfs://SERVER[,SERVER]...[:PORT]/EXPORT/FILE; with\n"
        "several servers the blocks of a file are spread over all of them.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct run {
    const struct copy_options *o;
    struct topo_arena *arena;
    struct progress progress;
    const char *name; /* of the file at hand */
    size_t number, n;
};

static void on_progress(void *context, uint64_t done, uint64_t total)
{
    struct run *run = context;
    char what[120];
    double share = total ? (double)done / (double)total : 1;

    snprintf(what, sizeof what, "%.80s (%zu of %zu)", run->name, run->number + 1, run->n);
    progress_show(&run->progress, ((double)run->number + share) / (double)run->n, what);
}

static bool take_end(const struct run *run, const char *text, struct paths_config *paths, struct copy_end *end,
                     char *problem, size_t size)
{
    const struct copy_options *o = run->o;
    struct location l;

    if (!location_is_url(text)) {
        *end = (struct copy_end){.path = text};
        return true;
    }
    *paths = (struct paths_config){
        .mount_port = (uint16_t)o->mount_port,
        .reserved = true,
        .nconnect = (unsigned)o->nconnect,
        .spread = PATHS_SPREAD_STRIPE,
        .choice = PATHS_LEAST_BYTES,
        .congestion = o->congestion,
        .credential = {.uid = o->uid < 0 ? getuid() : (uint32_t)o->uid,
                       .gid = o->gid < 0 ? getgid() : (uint32_t)o->gid},
        .bound_ms = (o->bound + PS_PER_MS - 1) / PS_PER_MS,
        .timeo_ms = (o->timeo + PS_PER_MS - 1) / PS_PER_MS,
        .soft = o->soft,
    };
    if (o->source && !conn_parse_address(o->source, 0, &paths->source)) {
        snprintf(problem, size, "--source: `%s` is no address", o->source);
        return false;
    }
    if (!location_read(run->arena, text, NULL, (uint16_t)o->mount_port, &paths->source, &paths->credential, &l, problem,
                       size))
        return false;
    paths->servers = l.servers;
    paths->n_servers = l.n_servers;
    paths->export = l.export;
    paths->port = l.port;
    *end = (struct copy_end){.paths = paths, .path = l.rest};
    return true;
}

static void print_file(struct json_out *j, const char *from, const char *to, const struct copy_result *r,
                       const char *problem)
{
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "from", from);
    json_out_string(j, "to", to);
    json_out_count(j, "size", r->size);
    json_out_count(j, "written", r->written);
    json_out_real(j, "seconds", r->seconds);
    json_out_count(j, "reissued", r->reissued);
    json_out_string(j, "problem", problem);
    json_out_end(j);
}

/* One file; 0 or a negative errno. */
static int copy_one(struct run *run, struct loop *loop, const char *from, const char *to, struct copy_result *result,
                    char *problem, size_t size)
{
    struct paths_config from_paths, to_paths;
    struct copy_config c = {
        .block = (uint32_t)run->o->block,
        .outstanding = (unsigned)run->o->outstanding,
        .full = run->o->full,
        .preserve = run->o->preserve,
        .no_replace = run->o->no_replace,
        .progress = on_progress,
        .context = run,
    };

    *result = (struct copy_result){.size = 0};
    run->name = from;
    if (!take_end(run, from, &from_paths, &c.from, problem, size) ||
        !take_end(run, to, &to_paths, &c.to, problem, size))
        return -EINVAL;
    return copy_file(loop, &c, result, problem, size);
}

static int copy_all(const char *command, const struct copy_options *o, const struct option_list *files)
{
    struct run run = {.o = o, .arena = arena_new(), .n = files->n - 1};
    struct loop *loop = loop_new();
    const char *target = files->items[files->n - 1];
    struct json_out j;
    int rc = CLI_OK;

    if (!run.arena || !loop) {
        arena_free(run.arena);
        loop_free(loop);
        return cli_error(CLI_FAILED, command, "out of memory");
    }
    pool_tune_malloc();
    progress_begin(&run.progress, !o->quiet && !o->json);
    if (o->json) {
        json_out_init(&j, stdout);
        json_out_object(&j, NULL, JSON_ON_LINES);
        json_out_string(&j, "schema", "nfsbal-copy/1");
        json_out_array(&j, "files", JSON_ON_LINES);
    }
    for (run.number = 0; rc != CLI_INTERRUPTED && run.number < run.n; run.number++) {
        const char *from = files->items[run.number];
        char problem[400] = "";
        struct copy_result result;
        int error = copy_one(&run, loop, from, target, &result, problem, sizeof problem);

        if (o->json)
            print_file(&j, from, target, &result, error ? problem : NULL);
        if (error) {
            progress_end(&run.progress);
            rc = cli_error(error == -EINTR ? CLI_INTERRUPTED : CLI_FAILED, command, "%s", problem);
        }
    }
    progress_end(&run.progress);
    if (o->json) {
        json_out_end(&j);
        json_out_end(&j);
    }
    loop_free(loop);
    arena_free(run.arena);
    return rc;
}

int command_copy(int argc, char **argv)
{
    struct copy_options o = {.block = NFS3_IO_MAX, .outstanding = 16, .nconnect = 1, .uid = -1, .gid = -1};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &o, &operands);

    if (rc == OPTION_GO_ON) {
        if (o.block < 1 || o.block > NFS3_IO_MAX)
            rc = cli_error(CLI_USAGE, argv[0], "--block: at most 1MiB is expected");
        else
            rc = copy_all(argv[0], &o, &operands);
    }
    option_free(&table, &o, &operands);
    return rc;
}
