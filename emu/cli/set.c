/* emu set: changes a link of a live lab. needs: full */
#include "emu/cli/commands.h"

#include <stdint.h>
#include <stdio.h>

#include "emu/cli/cli.h"
#include "emu/cli/lab_client.h"
#include "emu/cli/options.h"
#include "emu/live/control.h"
#include "emu/report/json.h"

static const struct option_table table = {
    .operands = "LAB LINK KEY=VALUE...",
    .min_operands = 3,
    .max_operands = SIZE_MAX,
    .about = "Changes a link of a live lab, now. LINK is one of its ports (esx1:vmnic2) or a direction\n"
             "(\"esx1:vmnic2>sw1:ge3\"). Values are those of the topology file:\n"
             "  state=up|down|blackhole|one-way   one-way loses what the port named sends\n"
             "  rate=500M  delay=2ms  loss=0.1%  buffer=64KiB",
};

enum { TIMEOUT_MS = 10000 };

static int run(const char *command, const struct option_list *operands)
{
    int rc;
    struct control_client *c = lab_client(command, operands->items[0], &rc);
    struct json_out *request;
    struct json_in *reply;
    char problem[512];

    if (!c)
        return rc;
    request = control_begin(c, "set");
    json_out_string(request, "link", operands->items[1]);
    json_out_array(request, "changes", JSON_ON_ONE_LINE);
    for (size_t i = 2; i < operands->n; i++)
        json_out_string(request, NULL, operands->items[i]);
    json_out_end(request);
    reply = control_ask(c, TIMEOUT_MS, problem, sizeof problem);
    rc = reply ? CLI_OK : lab_client_failed(command, c, problem);
    json_in_free(reply);
    control_disconnect(c);
    return rc;
}

int cmd_set(int argc, char **argv)
{
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, NULL, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &operands);
    option_free(&table, NULL, &operands);
    return rc;
}
