/* A program with commands: the table of commands, help, exit codes and the care for standard
 * output.
 *
 * `emu` and `nfsbal` are each a table of struct cli_command and one call of cli_main().
 */
#ifndef EMU_CLI_CLI_H
#define EMU_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

/* Exit codes of all commands. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1,       /* it could not be done, or what was asked for does not hold (an expectation,
                       --strict) */
    CLI_USAGE = 2,        /* wrong arguments or wrong input; nothing was done */
    CLI_INTERRUPTED = 130 /* Ctrl-C; what was known so far is printed */
};

struct cli_command {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is "PROGRAM COMMAND", as messages begin; returns the exit code */
    const char *summary;               /* one line for `PROGRAM --help` */
};

struct cli_program {
    const char *name, *version;
    const char *about; /* a sentence or two for --help, lines divided by \n */
    const struct cli_command *commands;
    size_t n_commands;
};

/* The whole of main(): finds the command, runs it, closes standard output and returns the exit
 * code. Without arguments it prints the help. It makes sure that descriptors 0 to 2 are open, so
 * that no file of ours becomes standard output, and ignores SIGPIPE, so that a closed pipe is an
 * error like any other. */
int cli_main(const struct cli_program *program, int argc, char **argv);

/* Prints "COMMAND: text" on stderr and returns `code`. */
int cli_error(int code, const char *command, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Flushes and closes stdout. False, with a message, when anything written to it was lost (closed
 * pipe, full disk). cli_main() calls it after every command; a command needs it only before it acts
 * on what it printed. */
bool cli_close_stdout(const char *command);

#endif
