#include <stdbool.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/cli/commands.h"
#include "nfsbal/cli/commands.h"
#if !BUILD_MINIMAL
#include "nfsbal/nfs/commands.h"
#endif

// clang-format off
static const struct cli_command commands[] = {
    {"anonymize", command_anonymize, "the same site under other names and addresses, to show to others"},
    {"ask", command_ask, "what to ask the devices so that uncertain choices of links become certain"},
    {"check", cmd_check, "check a topology file, and the network that it describes"},
#if !BUILD_MINIMAL
    {"copy", command_copy, "copy files to, from and between NFS servers, over all their addresses"},
#endif
    {"diff", command_diff, "what to do, step by step, to get from today's mounts to a plan's"},
#if !BUILD_MINIMAL
    {"doctor", command_doctor, "whether NFS servers can be the paths of one mount"},
#endif
    {"hash", command_hash, "which link does this flow take: one pair, a matrix, a stream or a capture"},
    {"import", command_import, "a topology file from what the devices of a site print"},
#if !BUILD_MINIMAL
    {"load", command_load, "read and write files over NFS, as fast or as slowly as asked, without mounting"},
    {"mount", command_mount, "mount an export, or all datastores of a file, through several VIPs"},
#endif
    {"path", cmd_path, "explain which links every flow takes"},
    {"plan", command_plan, "find the VIP for each datastore that uses every link"},
#if !BUILD_MINIMAL
    {"stat", command_stat, "how the paths of a mount are doing"},
#endif
    {"tell", command_tell, "write what the devices answered to `ask` into the file"},
#if !BUILD_MINIMAL
    {"umount", command_umount, "unmount, and wait until everything is on the server"},
#endif
    {"verify", command_verify, "hold counters of the real links against what the file says"},
#if !BUILD_MINIMAL
    {"vip", command_vip, "add, remove, take down or up a VIP of a mount in use"},
#endif
};
// clang-format on

#if !BUILD_MINIMAL
/* mount(8) runs mount.TYPE for a type that it doesn't know. */
static bool is_mount_helper(const char *name)
{
    const char *slash = name ? strrchr(name, '/') : NULL;

    return name && strcmp(slash ? slash + 1 : name, "mount.nfsbal") == 0;
}
#endif

int main(int argc, char **argv)
{
    static const struct cli_program nfsbal = {
        .name = "nfsbal",
        .version = PROJECT_VERSION,
        .about = "What to do about the links between hosts and their NFS storage.",
        .commands = commands,
        .n_commands = sizeof commands / sizeof commands[0],
    };
#if !BUILD_MINIMAL
    if (is_mount_helper(argv[0]))
        return command_mount_helper(argc, argv);
#endif
    return cli_main(&nfsbal, argc, argv);
}
