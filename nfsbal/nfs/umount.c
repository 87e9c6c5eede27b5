/* nfsbal umount: unmounts, and waits until what was written is on the server. */
#define _GNU_SOURCE /* environ */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "nfsbal/nfs/commands.h"
#include "nfsbal/client/control.h"

struct umount_options {
    bool force, lazy;
    int64_t wait;
};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct umount_options, lazy, "lazy", 'l', "although files are open; it ends when they are closed"),
    OPTION_FLAG(struct umount_options, force, "force", 'f',
                "without the servers: what is not written is lost, and said to be"),
    OPTION_INTEGER(struct umount_options, wait, "wait", 0, "SECONDS", 0, 86400,
                   "for unwritten data to reach the server (60)"),
};

static const struct option_table table = {
    .operands = "DIR...",
    .min_operands = 1,
    .max_operands = 1000,
    .about = "Unmounts what `nfsbal mount` has mounted and returns when everything written is on the server.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

/* 0, or a positive errno; -1 when fusermount3 has said it. */
static int detach(const char *directory)
{
    char program[] = "fusermount3", unmount[] = "-u", end[] = "--", copy[4096];
    char *arguments[] = {program, unmount, end, copy, NULL};
    pid_t pid;
    int status = 0;

    if (geteuid() == 0)
        return umount2(directory, 0) == 0 ? 0 : errno;
    snprintf(copy, sizeof copy, "%s", directory);
    if (posix_spawnp(&pid, program, NULL, NULL, arguments, environ) != 0)
        return ENOENT;
    if (waitpid(pid, &status, 0) != pid || status != 0)
        return -1;
    return 0;
}

static int unmount(const char *command, const struct umount_options *o, const char *directory)
{
    char problem[400], type[64];
    uint64_t device;
    int rc;

    if (!control_find(directory, &device, type, sizeof type))
        return cli_error(CLI_FAILED, command, "%s: nothing is mounted there", directory);
    if (strcmp(type, "fuse.nfsbal") != 0)
        return cli_error(CLI_FAILED, command, "%s: a mount of type %s, not of nfsbal", directory, type);
    if (o->force || o->lazy) {
        if (!control_ask(directory, o->force ? "umount force" : "umount", stdout, problem, sizeof problem)) {
            /* Its process is gone: what is left is the directory. */
            if (umount2(directory, MNT_DETACH) != 0 && detach(directory) != 0)
                return cli_error(CLI_FAILED, command, "%s", problem);
        }
        if (o->lazy && !o->force)
            return CLI_OK;
    } else if ((rc = detach(directory)) != 0) {
        return rc < 0 ? CLI_FAILED : cli_error(CLI_FAILED, command, "%s: %s", directory, strerror(rc));
    }
    if (!control_wait_gone(device, o->wait))
        return cli_error(CLI_FAILED, command, "%s: unmounted, but not everything is on the server yet", directory);
    return CLI_OK;
}

int command_umount(int argc, char **argv)
{
    struct umount_options o = {.wait = 60};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &o, &operands);

    if (rc == OPTION_GO_ON) {
        rc = CLI_OK;
        for (size_t i = 0; i < operands.n; i++)
            if (unmount(argv[0], &o, operands.items[i]) != CLI_OK)
                rc = CLI_FAILED;
    }
    option_free(&table, &o, &operands);
    return rc;
}
