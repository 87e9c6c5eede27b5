#include "nfsbal/cli/plan_suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/model/range.h"
#include "emu/model/topology_arena.h"
#include "nfsbal/plan/suggest.h"

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

int plan_suggest_vips(const char *command, const struct topo *t, int64_t total, const struct option_list *from,
                      const char *reserved)
{
    struct topo_arena *arena = arena_new();
    struct addresses candidates = {.arena = arena}, taken = {.arena = arena};
    struct plan_suggestion s = {0};
    const char *why;
    char problem[512];
    int rc = OPTION_GO_ON;
    for (size_t i = 0; i < from->n && rc == OPTION_GO_ON; i++)
        if (!take_range(&candidates, from->items[i], &why))
            rc = cli_error(CLI_USAGE, command, "--from %s: %s", from->items[i], why);
    if (rc == OPTION_GO_ON && reserved)
        rc = read_reserved(command, reserved, &taken);
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
