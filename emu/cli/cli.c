#include "emu/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/model/diag.h"

int cli_error(int code, const char *command, const char *format, ...)
{
    va_list args;
    fprintf(stderr, "%s: ", command);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return code;
}

bool cli_close_stdout(const char *command)
{
    static bool closed;
    if (closed)
        return true;
    closed = true;
    bool lost = ferror(stdout);
    errno = 0;
    if (fclose(stdout))
        lost = true;
    if (lost) {
        /* An earlier error may have left no errno that fits. */
        cli_error(CLI_FAILED, command, "writing standard output: %s", errno ? strerror(errno) : "an error");
    }
    return !lost;
}

/* A descriptor that is closed now would be given to the next file we open. Open something in its
 * place on which the wrong direction of transfer fails, as it would on the closed one. */
static void keep_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

static void print_help(const struct cli_program *p)
{
    size_t width = strlen("help"), i;
    for (i = 0; i < p->n_commands; i++)
        width = strlen(p->commands[i].name) > width ? strlen(p->commands[i].name) : width;
    printf("usage: %s COMMAND [ARGUMENT]...\n\n%s\n\n", p->name, p->about);
    for (i = 0; i < p->n_commands; i++)
        printf("  %-*s  %s\n", (int)width, p->commands[i].name, p->commands[i].summary);
    printf("\n%s COMMAND --help shows the options of a command, %s --version the version.\n", p->name, p->name);
}

static const struct cli_command *find(const struct cli_program *p, const char *name)
{
    for (size_t i = 0; i < p->n_commands; i++)
        if (!strcmp(p->commands[i].name, name))
            return &p->commands[i];
    return NULL;
}

static int unknown(const struct cli_program *p, const char *name)
{
    const char *names[64];
    size_t n = 0;
    for (; n < p->n_commands && n < 64; n++)
        names[n] = p->commands[n].name;
    const char *near = diag_nearest(name, names, n);
    if (near)
        return cli_error(CLI_USAGE, p->name, "%s: unknown command; did you mean `%s`?", name, near);
    return cli_error(CLI_USAGE, p->name, "%s: unknown command; %s --help lists them", name, p->name);
}

static int dispatch(const struct cli_program *p, int argc, char **argv, char *label, size_t size)
{
    const struct cli_command *command;
    if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || (!strcmp(argv[1], "help") && argc == 2)) {
        print_help(p);
        return CLI_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("%s %s\n", p->name, p->version);
        return CLI_OK;
    }
    if (!strcmp(argv[1], "help")) { /* `help COMMAND` is `COMMAND --help` */
        static char help[] = "--help";
        char *words[] = {label, help, NULL};
        command = find(p, argv[2]);
        if (!command)
            return unknown(p, argv[2]);
        snprintf(label, size, "%s %s", p->name, command->name);
        return command->run(2, words);
    }
    if (argv[1][0] == '-')
        return cli_error(CLI_USAGE, p->name, "%s: options come after the command; %s --help lists the commands",
                         argv[1], p->name);
    command = find(p, argv[1]);
    if (!command)
        return unknown(p, argv[1]);
    snprintf(label, size, "%s %s", p->name, command->name);
    argv[1] = label;
    return command->run(argc - 1, argv + 1);
}

int cli_main(const struct cli_program *program, int argc, char **argv)
{
    char label[64];
    keep_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    /* Only how wide a character is: numbers are read and written alike everywhere. Our files are
     * UTF-8. */
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        setlocale(LC_CTYPE, "");
    snprintf(label, sizeof label, "%s", program->name);
    int rc = dispatch(program, argc, argv, label, sizeof label);
    if (!cli_close_stdout(label) && rc == CLI_OK)
        rc = CLI_FAILED;
    return rc;
}
