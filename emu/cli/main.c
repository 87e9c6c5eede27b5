#include "emu/cli/cli.h"
#include "emu/cli/commands.h"

// clang-format off
static const struct cli_command commands[] = {
    {"check", cmd_check, "check a topology file, and the network that it describes"},
    {"path", cmd_path, "explain which links every flow takes"},
    {"run", cmd_run, "run a topology file in virtual time and compare with its document"},
    {"reproduce", cmd_reproduce, "run the files of the documents and hold every result against theirs"},
    {"size", cmd_size, "how many desktops a storage carries, by formula and by running them"},
    {"compare", cmd_compare, "lay two results side by side"},
#if !BUILD_MINIMAL
    {"live", cmd_live, "run a topology file with real frames and real NFS"},
    {"up", cmd_up, "make the network of a topology file live, with real frames"},
    {"exec", cmd_exec, "run a program in a host or controller of a live lab"},
    {"shell", cmd_shell, "a shell in a host or controller of a live lab"},
    {"top", cmd_top, "watch the links and flows of a live lab"},
    {"metrics", cmd_metrics, "counters of a live lab for Prometheus"},
    {"capture", cmd_capture, "capture a link of a live lab"},
    {"set", cmd_set, "change a link of a live lab: state, rate, delay, loss, buffer"},
    {"move", cmd_move, "move a VIP of a live lab to another controller"},
    {"list", cmd_list, "list the live labs"},
    {"down", cmd_down, "end a live lab"},
    {"clean", cmd_clean, "remove what killed labs have left behind"},
#endif
};
// clang-format on

int main(int argc, char **argv)
{
    static const struct cli_program emu = {
        .name = "emu",
        .version = PROJECT_VERSION,
        .about = "What will happen on the links between hosts and their NFS storage:\n"
                 "checks a topology file, explains the path of every flow, runs it and makes it live.",
        .commands = commands,
        .n_commands = sizeof commands / sizeof commands[0],
    };
    return cli_main(&emu, argc, argv);
}
