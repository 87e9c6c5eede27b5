/* needs: full */
#include "emu/cli/lab_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/live/control.h"
#include "emu/live/lab.h"

struct control_client *lab_client(const char *command, const char *name, int *rc)
{
    char problem[512];
    struct control_client *c = NULL;
    struct lab *lab = lab_open(name, problem, sizeof problem);
    char *path;
    int error;

    if (!lab) {
        *rc = cli_error(CLI_USAGE, command, "%s", problem);
        return NULL;
    }
    if (!lab_alive(lab)) {
        *rc = cli_error(CLI_FAILED, command,
                        "lab `%s` is dead: its process was killed; `emu clean` removes what is left", name);
        lab_free(lab);
        return NULL;
    }
    path = lab_path(lab, "control");
    error = path ? control_connect(&c, path) : -ENOMEM;
    if (error)
        *rc = cli_error(CLI_FAILED, command, "%s: %s", path ? path : name, strerror(-error));
    free(path);
    lab_free(lab);
    return c;
}

int lab_client_failed(const char *command, const struct control_client *c, const char *problem)
{
    return cli_error(control_refused(c) ? CLI_USAGE : CLI_FAILED, command, "%s", problem);
}
