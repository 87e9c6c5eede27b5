/* nfsbal plan --suggest-vips: reading its addresses and printing what was found. */
#ifndef NFSBAL_CLI_PLAN_SUGGEST_H
#define NFSBAL_CLI_PLAN_SUGGEST_H

#include <stdint.h>

#include "emu/cli/options.h"
#include "emu/model/topology.h"

/* `from`: ranges such as 10.0.0.[101-199]; `reserved`: a file with an address or range a line, # comments, or NULL. The exit code. */
int plan_suggest_vips(const char *command, const struct topo *t, int64_t total, const struct option_list *from,
                      const char *reserved);

/* The addresses of ranges and of a file, in the memory of `arena`. OPTION_GO_ON, or the exit code after an error. */
struct topo_arena;
int plan_read_addresses(const char *command, const struct option_list *from, const char *reserved,
                        struct topo_arena *arena, const struct topo_addr **all, size_t *n,
                        const struct topo_addr **taken, size_t *n_taken);

struct plan;
struct plan_row;
/* The same addresses for hosts' interfaces, for the chosen row of a plan. The exit code. */
int plan_suggest_vmks(const char *command, const struct plan *plan, const struct plan_row *chosen,
                      const struct option_list *from, const char *reserved);

#endif
