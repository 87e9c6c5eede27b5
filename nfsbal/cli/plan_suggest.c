#include "nfsbal/cli/plan_suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/model/range.h"
#include "emu/model/topology_arena.h"
#include "emu/report/table.h"
#include "nfsbal/plan/suggest.h"
#include "nfsbal/plan/suggest_vmk.h"

struct addresses {
    struct topo_arena *arena;
    struct topo_addr *all;
    size_t n, capacity;
};

/* Adds the addresses of a range; false, with the reason, when it is none. */
static bool take_range(struct addresses *a, const char *text, const char **problem)
{
    struct range range;
    if (!range_parse(a->arena, text, &range, problem))
        return false;
    for (size_t i = 0; i < range.count; i++) {
        struct topo_addr addr;
        if (!topo_addr_parse(&addr, range_at(a->arena, &range, i)) || strchr(range_at(a->arena, &range, i), '/')) {
            *problem = "expected an address or a range such as 10.0.0.[101-199]";
            return false;
        }
        a->all = arena_grow(a->arena, a->all, a->n, &a->capacity, sizeof *a->all);
        a->all[a->n++] = addr;
    }
    return true;
}

static int read_reserved(const char *command, const char *path, struct addresses *a)
{
    char line[512];
    const char *problem;
    int rc = OPTION_GO_ON;
    FILE *f = fopen(path, "r");
    if (!f)
        return cli_error(CLI_USAGE, command, "--reserved %s: %s", path, strerror(errno));
    for (int number = 1; rc == OPTION_GO_ON && fgets(line, sizeof line, f); number++) {
        line[strcspn(line, "#\r\n")] = '\0';
        char *word = line + strspn(line, " \t");
        word[strcspn(word, " \t")] = '\0';
        if (*word && !take_range(a, word, &problem))
            rc = cli_error(CLI_USAGE, command, "--reserved %s:%d: `%s`: %s", path, number, word, problem);
    }
    if (rc == OPTION_GO_ON && ferror(f))
        rc = cli_error(CLI_USAGE, command, "--reserved %s: %s", path, strerror(errno));
    fclose(f);
    return rc;
}

/* --from and --reserved. */
static int read_all(const char *command, const struct option_list *from, const char *reserved,
                    struct addresses *candidates, struct addresses *taken)
{
    const char *why;
    for (size_t i = 0; i < from->n; i++)
        if (!take_range(candidates, from->items[i], &why))
            return cli_error(CLI_USAGE, command, "--from %s: %s", from->items[i], why);
    return reserved ? read_reserved(command, reserved, taken) : OPTION_GO_ON;
}

int plan_read_addresses(const char *command, const struct option_list *from, const char *reserved,
                        struct topo_arena *arena, const struct topo_addr **all, size_t *n,
                        const struct topo_addr **taken, size_t *n_taken)
{
    struct addresses candidates = {.arena = arena}, reserved_ones = {.arena = arena};
    int rc = read_all(command, from, reserved, &candidates, &reserved_ones);
    *all = candidates.all;
    *n = candidates.n;
    *taken = reserved_ones.all;
    *n_taken = reserved_ones.n;
    return rc;
}

static void print(const struct topo *t, const struct plan_suggestion *s)
{
    char text[64];
    for (size_t i = 0; i < s->n_added; i++)
        printf("%s  home %s\n", topo_addr_print(text, sizeof text, &s->added[i].addr, true),
               t->boxes[s->added[i].home].name);
    printf("\nwith the %zu VIPs that are there, out of %zu free addresses: ", s->n_existing, s->n_candidates);
    if (s->n_uneven == 0)
        puts("every host's uplinks and every LAG with a known rule are even");
    else
        puts("no set was found that is even everywhere; this one is nearest");
    for (size_t i = 0; i < s->n_uneven; i++) {
        const struct plan_uneven *u = &s->uneven[i];
        printf("  %s %s, %s: %.4g flows on its fullest member, even would be %.4g\n",
               t->boxes[t->teams[u->team].box].name, t->teams[u->team].name, u->reads ? "reads" : "writes", u->most,
               u->even);
    }
    puts(
        "the file knows only its own addresses: check with your IPAM, and on the wire: arping -D -I INTERFACE ADDRESS");
}

static void print_vmk(const struct plan *plan, const struct plan_readdressed *before,
                      const struct plan_readdressed *all, size_t n)
{
    static const struct table_column columns[] = {{"hosts", TABLE_RIGHT},          {"host", TABLE_LEFT},
                                                  {"interface", TABLE_LEFT},       {"address today", TABLE_LEFT},
                                                  {"address", TABLE_LEFT},         {"MB/s each", TABLE_RIGHT},
                                                  {"least even host", TABLE_RIGHT}};
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i <= n; i++) {
        const struct plan_readdressed *r = i ? &all[i - 1] : before;
        struct table_row *row = table_row(t, NULL);
        char text[64];
        table_cellf(t, row, 0, "%zu", i);
        if (r->iface >= 0) {
            const struct topo_iface *f = &plan->t->ifaces[r->iface];
            table_cell(t, row, 1, plan->t->boxes[f->box].name);
            table_cell(t, row, 2, f->name);
            table_cell(t, row, 3, topo_addr_print(text, sizeof text, &f->addr, false));
            table_cell(t, row, 4, topo_addr_print(text, sizeof text, &r->addr, false));
        }
        table_cell(t, row, 5, unit_print_mbps(text, sizeof text, r->max_load > 0 ? 1 / r->max_load : 0));
        table_cellf(t, row, 6, "%.2f times even", r->max_host);
    }
    table_print(t, stdout, TABLE_TEXT, 0);
    table_free(t);
    fputs("each row with all above it. class 1 rolling: one host at a time in maintenance mode; exports must allow the "
          "new addresses\n",
          stdout);
}

int plan_suggest_vmks(const char *command, const struct plan *plan, const struct plan_row *chosen,
                      const struct option_list *from, const char *reserved)
{
    struct topo_arena *arena = arena_new();
    struct addresses candidates = {.arena = arena}, taken = {.arena = arena};
    struct plan_readdressed before, *all = NULL;
    int rc = read_all(command, from, reserved, &candidates, &taken);
    if (rc == OPTION_GO_ON) {
        long n = plan_suggest_vmk(plan, chosen, candidates.all, candidates.n, taken.all, taken.n, &before, &all);
        rc = n < 0 ? cli_error(CLI_FAILED, command, "%s", strerror(ENOMEM)) : CLI_OK;
        if (n == 0)
            puts("no other address of a host's interface makes anything better");
        else if (n > 0)
            print_vmk(plan, &before, all, (size_t)n);
        if (n >= 0)
            puts("the file knows only its own addresses: check with your IPAM, and on the wire: arping -D -I INTERFACE "
                 "ADDRESS");
    }
    free(all);
    arena_free(arena);
    return rc;
}

int plan_suggest_vips(const char *command, const struct topo *t, int64_t total, const struct option_list *from,
                      const char *reserved)
{
    struct topo_arena *arena = arena_new();
    struct addresses candidates = {.arena = arena}, taken = {.arena = arena};
    struct plan_suggestion s = {0};
    char problem[512];
    int rc = read_all(command, from, reserved, &candidates, &taken);
    if (rc == OPTION_GO_ON) {
        rc = CLI_OK;
        if (plan_suggest(t, (size_t)total, candidates.all, candidates.n, taken.all, taken.n, &s, problem,
                         sizeof problem))
            print(t, &s);
        else
            rc = cli_error(CLI_FAILED, command, "--suggest-vips %lld: %s", (long long)total, problem);
        if (rc == CLI_OK && s.n_uneven > 0)
            rc = CLI_FAILED;
    }
    plan_suggestion_free(&s);
    arena_free(arena);
    return rc;
}
