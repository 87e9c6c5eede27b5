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
    {"diff", command_diff, "what to do, step by step, to get from today's mounts to a plan's"},
    {"hash", command_hash, "which link does this flow take: one pair, a matrix, a stream or a capture"},
#if !BUILD_MINIMAL
    {"load", command_load, "read and write files over NFS, as fast or as slowly as asked, without mounting"},
#endif
    {"path", cmd_path, "explain which links every flow takes"},
    {"plan", command_plan, "find the VIP for each datastore that uses every link"},
    {"tell", command_tell, "write what the devices answered to `ask` into the file"},
    {"verify", command_verify, "hold counters of the real links against what the file says"},
};
// clang-format on

int main(int argc, char **argv)
{
    static const struct cli_program nfsbal = {
        .name = "nfsbal",
        .version = PROJECT_VERSION,
        .about = "What to do about the links between hosts and their NFS storage.",
        .commands = commands,
        .n_commands = sizeof commands / sizeof commands[0],
    };
    return cli_main(&nfsbal, argc, argv);
}
