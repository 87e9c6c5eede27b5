/* nfsbal plan --suggest-vips: reading its addresses and printing what was found. */
#ifndef NFSBAL_CLI_PLAN_SUGGEST_H
#define NFSBAL_CLI_PLAN_SUGGEST_H

#include <stdint.h>

#include "emu/cli/options.h"
#include "emu/model/topology.h"

/* `from`: ranges such as 10.0.0.[101-199]; `reserved`: a file with an address or range a line, # comments, or NULL. The exit code. */
int plan_suggest_vips(const char *command, const struct topo *t, int64_t total, const struct option_list *from,
                      const char *reserved);

struct plan;
/* The same addresses for hosts' interfaces, for the chosen row of a plan. The exit code. */
int plan_suggest_vmks(const char *command, const struct plan *plan, const struct option_list *from,
                      const char *reserved);

#endif
