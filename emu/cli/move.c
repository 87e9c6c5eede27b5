/* emu move: moves a VIP of a live lab to another controller. needs: full */
#include "emu/cli/commands.h"

#include <stdio.h>

#include "emu/cli/cli.h"
#include "emu/cli/lab_client.h"
#include "emu/cli/options.h"
#include "emu/live/control.h"
#include "emu/report/json.h"

struct move_options {
    bool no_garp;
};

static const struct option_spec rows[] = {
    OPTION_FLAG(struct move_options, no_garp, "no-garp", 0,
                "quietly: no gratuitous ARP, clients and switches learn of it by themselves or never"),
};

static const struct option_table table = {
    .operands = "LAB VIP CONTROLLER",
    .min_operands = 3,
    .max_operands = 3,
    .about = "Moves a VIP (address or name) to another controller of its NAS, as a takeover does: the address leaves\n"
             "the one and comes to the other, which announces it.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

enum { TIMEOUT_MS = 10000 };

static int run(const char *command, const struct move_options *o, const struct option_list *operands)
{
    int rc;
    struct control_client *c = lab_client(command, operands->items[0], &rc);
    struct json_out *request;
    struct json_in *reply;
    char problem[512];

    if (!c)
        return rc;
    request = control_begin(c, "move");
    json_out_string(request, "vip", operands->items[1]);
    json_out_string(request, "controller", operands->items[2]);
    json_out_bool(request, "garp", !o->no_garp);
    reply = control_ask(c, TIMEOUT_MS, problem, sizeof problem);
    rc = reply ? CLI_OK : lab_client_failed(command, c, problem);
    json_in_free(reply);
    control_disconnect(c);
    return rc;
}

int cmd_move(int argc, char **argv)
{
    struct move_options options = {.no_garp = false};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, &operands);
    option_free(&table, &options, &operands);
    return rc;
}
