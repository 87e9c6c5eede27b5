/* Theory of operation. The file belongs to its author: comments, order and layout stay. So nothing is printed anew; the parsed
 * tree only tells the places where lines are put in. A node is a block map (a line is added below its last one), or a flow map
 * (an item is added behind its brace); `observed:` may be there already in either style. The result is read again before it is
 * given out: what doesn't come back as the choices that were meant is refused.
 */
#include "nfsbal/site/tell.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/team_choice.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_yaml.h"
#include "hashes/key.h"
#include "nfsbal/site/site.h"

struct text {
    const char *at;
    size_t length;
};

static void print_name(const char *name, FILE *out)
{
    fprintf(out, isalnum((unsigned char)*name) ? "%s" : "\"%s\"", name);
}

void tell_print(const struct topo *t, const struct tell_entry *e, const char *date, FILE *out)
{
    char src[64], dst[64], team[160];
    bool six = e->src.version == 6;

    fprintf(out, six ? "{src: \"%s\", dst: \"%s\"" : "{src: %s, dst: %s",
            topo_addr_print(src, sizeof src, &e->src, false), topo_addr_print(dst, sizeof dst, &e->dst, false));
    if (e->sport)
        fprintf(out, ", sport: %u", (unsigned)e->sport);
    if (e->dport)
        fprintf(out, ", dport: %u", (unsigned)e->dport);
    fputs(", lag: ", out);
    print_name(site_team_name(t, e->team, team, sizeof team), out);
    fputs(", port: ", out);
    print_name(t->ports[e->port].name, out);
    fprintf(out, ", date: %s}", date);
}

/* ---- places ---- */

/* Where a line begins; past the last one the end. */
static size_t line_start(struct text t, int line)
{
    size_t i = 0;

    while (line > 1 && i < t.length)
        if (t.at[i++] == '\n')
            line--;
    return i;
}

/* The byte of a mark: columns count characters. */
static size_t offset_of(struct text t, struct diag_mark mark)
{
    size_t i = line_start(t, mark.line);

    for (int column = 1; i < t.length && column < mark.column; column++)
        do
            i++;
        while (i < t.length && ((unsigned char)t.at[i] & 0xC0) == 0x80);
    return i;
}

/* Behind the last line before line `end` that is neither blank nor a comment. */
static size_t block_end(struct text t, int begin, int end)
{
    size_t i = line_start(t, begin), stop = line_start(t, end), last = i;

    while (i < stop) {
        const char *newline = memchr(t.at + i, '\n', t.length - i);
        size_t next = newline ? (size_t)(newline - t.at) + 1 : t.length, k = i;

        while (k < next && isspace((unsigned char)t.at[k]))
            k++;
        if (k < next && t.at[k] != '#' && strncmp(t.at + i, "...", 3) != 0)
            last = next;
        i = next;
    }
    return last;
}

/* The line where the entry behind pair i of a map begins, or `end`. */
static int next_line(const struct doc_node *map, size_t i, int end)
{
    return i + 1 < map->count ? map->pairs[i + 1].mark.line : end;
}

static size_t index_of(const struct doc_node *map, const char *key)
{
    for (size_t i = 0; map && map->type == DOC_MAP && i < map->count; i++)
        if (strcmp(map->pairs[i].key, key) == 0)
            return i;
    return SIZE_MAX;
}

/* ---- one node's entries ---- */

struct insert {
    const struct topo *t;
    const struct tell *a;
    const char *date;
    struct text text;
    const struct doc_node *root;
    int node;
    FILE *out;
};

static int node_of(const struct topo *t, const struct tell_entry *e) { return t->boxes[t->teams[e->team].box].node; }

/* The node's new entries, each on a line with `indent` blanks, or in a row. */
static void print_entries(const struct insert *in, int indent, const char *last)
{
    const char *separator = "";

    for (size_t i = 0; i < in->a->n; i++) {
        const struct tell_entry *e = &in->a->entries[i];

        if (e->known || node_of(in->t, e) != in->node)
            continue;
        if (indent >= 0)
            fprintf(in->out, "%*s- ", indent, "");
        else
            fputs(separator, in->out);
        tell_print(in->t, e, in->date, in->out);
        if (indent >= 0)
            fputc('\n', in->out);
        separator = ", ";
    }
    fputs(last, in->out);
}

/* Where the entries go, and what they look like there; false when the node isn't an entry of its own. */
static bool insert_node(const struct insert *in, size_t *place)
{
    size_t nodes = index_of(in->root, "nodes"), own, seen;
    const struct doc_node *map = nodes == SIZE_MAX ? NULL : in->root->pairs[nodes].value, *node, *list;
    int end = next_line(in->root, nodes, INT32_MAX);

    own = index_of(map, in->t->nodes[in->node].name);
    if (!map || own == SIZE_MAX || map->pairs[own].value->type != DOC_MAP)
        return false;
    node = map->pairs[own].value;
    end = next_line(map, own, end);
    seen = index_of(node, "observed");
    list = seen == SIZE_MAX ? NULL : node->pairs[seen].value;
    if (list && list->type == DOC_LIST && in->text.at[offset_of(in->text, list->mark)] == '[') {
        *place = offset_of(in->text, list->mark) + 1;
        print_entries(in, -1, list->count ? ", " : "");
    } else if (list && in->text.at[offset_of(in->text, node->mark)] == '{') {
        return false; /* `observed:` without a value inside braces */
    } else if (list) {
        struct diag_mark first = list->type == DOC_LIST && list->count ? list->items[0]->mark : node->pairs[seen].mark;
        size_t line = line_start(in->text, first.line);

        *place = block_end(in->text, node->pairs[seen].mark.line, next_line(node, seen, end));
        print_entries(in, list->count ? (int)strspn(in->text.at + line, " ") : first.column + 1, "");
    } else if (in->text.at[offset_of(in->text, node->mark)] == '{') {
        *place = offset_of(in->text, node->mark) + 1;
        fputs("observed: [", in->out);
        print_entries(in, -1, node->count ? "], " : "]");
    } else {
        *place = block_end(in->text, map->pairs[own].mark.line, end);
        fprintf(in->out, "%*sobserved:\n", node->pairs[0].mark.column - 1, "");
        print_entries(in, node->pairs[0].mark.column + 1, "");
    }
    return true;
}

/* `text` with `more` at `place`. Lines that are put behind a last line without its end give it one. */
static char *spliced(struct text t, size_t place, const char *more, size_t n)
{
    bool broken = n > 0 && more[n - 1] == '\n' && place > 0 && t.at[place - 1] != '\n';
    char *out = malloc(t.length + n + 2);

    if (!out)
        return NULL;
    memcpy(out, t.at, place);
    if (broken)
        out[place] = '\n';
    memcpy(out + place + broken, more, n);
    memcpy(out + place + broken + n, t.at + place, t.length - place);
    out[t.length + broken + n] = '\0';
    return out;
}

/* The text with one node's entries; NULL with the reason. */
static char *with_node(const struct topo *t, struct text text, const struct tell *a, const char *date, int node,
                       char *problem, size_t size)
{
    struct topo_arena *arena = arena_new();
    struct insert in = {.t = t, .a = a, .date = date, .text = text, .node = node};
    char *more = NULL, *out = NULL;
    size_t n = 0, place = 0;
    struct diag d;
    bool found = false;

    diag_init(&d, t->file);
    in.root = topology_yaml_read(arena, text.at, text.length, &d);
    in.out = open_memstream(&more, &n);
    if (in.root && in.out)
        found = insert_node(&in, &place);
    if (in.out && fclose(in.out) != 0)
        in.out = NULL;
    if (found && in.out)
        out = spliced(text, place, more, n);
    if (!found)
        snprintf(problem, size, "`%s` is no entry of its own under `nodes:` (one of a range?): write it out first",
                 t->nodes[node].name);
    else if (!out)
        snprintf(problem, size, "out of memory");
    free(more);
    diag_free(&d);
    arena_free(arena);
    return out;
}

/* ---- the whole ---- */

/* Reads the new text: every entry must be there. */
static bool holds(const struct topo *t, const char *text, const struct tell *a)
{
    struct diag d;
    struct topo_file *f;
    struct topo *now = NULL;
    bool good;

    diag_init(&d, t->file);
    f = topo_file_parse(t->file, text, strlen(text), &d);
    if (f)
        now = topo_load(f, NULL, &d);
    good = now && diag_count(&d, DIAG_ERROR) == 0;
    for (size_t i = 0; good && i < a->n; i++) {
        const struct tell_entry *e = &a->entries[i];
        const struct topo_observed *seen;
        struct hash_key key;
        struct hash_flow flow = {.ip_version = e->src.version, .proto = 6, .sport = e->sport, .dport = e->dport};

        memcpy(flow.src, e->src.bytes, sizeof flow.src);
        memcpy(flow.dst, e->dst.bytes, sizeof flow.dst);
        hash_key_flow(&key, &flow);
        seen = team_observed(now, e->team, &key);
        good = seen && seen->port == e->port;
    }
    topo_free(now);
    topo_file_close(f);
    diag_free(&d);
    return good;
}

char *tell_insert(const struct topo *t, const char *text, size_t length, const struct tell *a, const char *date,
                  char *problem, size_t size)
{
    char *now = malloc(length + 1);

    if (!now) {
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    memcpy(now, text, length);
    now[length] = '\0';
    for (size_t node = 0; now && node < t->n_nodes; node++) {
        bool any = false;
        char *next;

        for (size_t i = 0; i < a->n; i++)
            any |= !a->entries[i].known && node_of(t, &a->entries[i]) == (int)node;
        if (!any)
            continue;
        next = with_node(t, (struct text){now, strlen(now)}, a, date, (int)node, problem, size);
        free(now);
        now = next;
    }
    if (now && !holds(t, now, a)) {
        snprintf(problem, size, "the answers can't be added to this file as it is laid out");
        free(now);
        return NULL;
    }
    return now;
}
