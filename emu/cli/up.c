/* emu up: brings a live lab up. needs: full */
#include "emu/cli/commands.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "emu/cli/cli.h"
#include "emu/cli/live_topo.h"
#include "emu/cli/options.h"
#include "emu/live/lab.h"
#include "emu/live/up.h"
#include "emu/model/topology.h"
#include "emu/model/topology_file.h"

struct up_command {
    const char *name, *case_name, *exports;
    double scale;
    int detail;
    int64_t seed;
    bool storage, no_nas, no_events, rootless, quiet;
};

static const char *const details[] = {"train", "frame", NULL};

static const struct option_spec rows[] = {
    OPTION_STRING(struct up_command, name, "name", 'n', "LAB", "name of the lab; the topology's by default"),
    OPTION_STRING(struct up_command, case_name, "case", 'c', "CASE",
                  "the topology of this case; by default as the file stands"),
    OPTION_VALUE(struct up_command, scale, "scale", 0, "R", live_parse_scale,
                 "rates times R, delays divided by R; 1 by default"),
    OPTION_ENUM(struct up_command, detail, "detail", 0, "LEVEL", details,
                "what kernels hand over: trains of frames (train, the\n"
                "default) or each frame by itself (frame)"),
    OPTION_STRING(struct up_command, exports, "exports", 0, "FOLDER",
                  "what the exports hold: FOLDER/NAS/PATH; by default a folder\n"
                  "of the lab's own, which goes with it"),
    OPTION_INTEGER(struct up_command, seed, "seed", 0, "N", 0, INT64_MAX, "of losses that are drawn; 1 by default"),
    OPTION_FLAG(struct up_command, storage, "storage", 0,
                "the file's `storage:` is played: reads and writes are\n"
                "answered when it would have; else by memory"),
    OPTION_FLAG(struct up_command, no_nas, "no-nas", 0, "controllers without NFS servers"),
    OPTION_FLAG(struct up_command, no_events, "no-events", 0, "the file's events don't happen by themselves"),
    OPTION_FLAG(struct up_command, rootless, "rootless", 0, "as an ordinary user, in a user namespace"),
    OPTION_FLAG(struct up_command, quiet, "quiet", 'q', "no words on how to go on"),
};

static const struct option_table table = {
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Makes the network of a topology file live: a network namespace per host and NAS controller, and real frames\n"
        "between them by the file's links, switches and teams. Returns when all of it is up; emu down ends it.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static bool is_host(const struct topo *t, int box)
{
    enum topo_kind kind = t->nodes[t->boxes[box].node].kind;

    return kind == TOPO_ESXI || kind == TOPO_LINUX;
}

/* What can be done now, with names of this lab. */
static void print_next(const struct topo *t, const char *lab)
{
    const char *host = NULL, *vip = t->n_vips ? t->vips[0].text : NULL;

    for (int b = 0; b < (int)t->n_boxes && !host; b++)
        if (is_host(t, b))
            host = t->boxes[b].name;
    printf("lab %s is up\n", lab);
    if (host && vip)
        printf("  emu exec %s %s -- ping -c 3 %s\n", lab, host, vip);
    if (host)
        printf("  emu shell %s %s\n", lab, host);
    printf("  emu top %s\n  emu down %s\n", lab, lab);
}

static int run(const char *command, const struct up_command *c, const char *file)
{
    const struct up_options o = {
        .name = c->name,
        .file = file,
        .case_name = c->case_name,
        .scale = c->scale,
        .seed = (uint64_t)c->seed,
        .frames = c->detail == 1,
        .storage = c->storage,
        .no_nas = c->no_nas,
        .no_events = c->no_events,
        .rootless = c->rootless,
        .exports = c->exports,
    };
    char name[LAB_NAME_MAX + 1], problem[1024] = "";
    struct topo *t;
    struct stat s;
    int rc;

    if (c->name && !lab_name_valid(c->name))
        return cli_error(CLI_USAGE, command,
                         "--name %s: expected at most %d letters, digits, `.`, `_` or `-`, not first `.` or `-`",
                         c->name, LAB_NAME_MAX);
    if (c->exports && c->no_nas)
        return cli_error(CLI_USAGE, command, "--exports %s: with --no-nas nobody serves them", c->exports);
    if (c->storage && c->no_nas)
        return cli_error(CLI_USAGE, command, "--storage: with --no-nas nobody serves it");
    if (c->exports && (stat(c->exports, &s) < 0 || !S_ISDIR(s.st_mode)))
        return cli_error(CLI_USAGE, command, "--exports %s: no such folder", c->exports);
    t = live_topo_load(command, file, c->case_name);
    if (!t)
        return CLI_USAGE;
    rc = up(&o, t, name, problem, sizeof problem);
    if (rc < 0)
        rc = cli_error(rc == -EINVAL || rc == -EEXIST ? CLI_USAGE : CLI_FAILED, command, "%s", problem);
    else if (!c->quiet)
        print_next(t, name);
    topo_free(t);
    return rc;
}

int cmd_up(int argc, char **argv)
{
    struct up_command c = {.scale = 1, .seed = 1};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &c, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &c, operands.items[0]);
    option_free(&table, &c, &operands);
    return rc;
}
