#include "nfsbal/cli/hash.h"

#include <stdio.h>

#include "emu/cli/cli.h"
#include "emu/report/table.h"
#include "nfsbal/cli/hash_json.h"

/* Below each policy its parameters: allowed values, the default marked. */
static void add_params(struct table *t, struct table_row *parent, const struct hash_policy *policy)
{
    struct hash_selector sel;
    char preset[128];
    hash_selector_init(&sel, policy);
    for (unsigned i = 0; i < policy->param_count; i++) {
        const struct hash_param *p = &policy->params[i];
        struct table_row *row = table_row(t, parent);
        hash_param_text(&sel, i, preset, sizeof preset);
        table_cellf(t, row, 0, "%s=%s", p->name, preset);
        table_cell(t, row, 4, p->help);
    }
}

int hash_list(bool json)
{
    static const struct table_column columns[] = {{"policy", TABLE_TREE},
                                                  {"vendor", TABLE_LEFT},
                                                  {"status", TABLE_LEFT},
                                                  {"reads", TABLE_LEFT},
                                                  {"what", TABLE_LEFT}};
    char reads[160];
    if (json)
        return hash_json_list() ? cli_error(CLI_FAILED, "nfsbal hash", "out of memory") : CLI_OK;
    struct table *t = table_new(columns, 5);
    const struct hash_policy *policy;
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++) {
        struct table_row *row = table_row(t, NULL);
        hash_fields_text(policy->reads, reads, sizeof reads);
        table_cell(t, row, 0, policy->name);
        table_cell(t, row, 1, policy->vendor);
        table_cell(t, row, 2, hash_status_name(policy->status));
        table_cell(t, row, 3, reads);
        table_cell(t, row, 4, policy->summary);
        add_params(t, row, policy);
    }
    int rc = table_print(t, stdout, TABLE_TEXT, 0) ? cli_error(CLI_FAILED, "nfsbal hash", "out of memory") : CLI_OK;
    table_free(t);
    return rc;
}
