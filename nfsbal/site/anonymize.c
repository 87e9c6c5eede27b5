/* Theory of operation. The expanded file is read again as a tree without ranges and walked along the schema, which knows what is
 * an address, a MAC or a path; which values are references is in a table here, by key. Names are dealt out in the order in which
 * they are met, nodes and controllers in a pass before, so that a reference comes to the same name as what it refers to.
 *
 * Results stay where a rule reads addresses by their XOR. Others (CRCs, mixers, made-up MACs that come from names) may change:
 * anonymize_compare() counts, nothing is promised.
 */
#include "nfsbal/site/anonymize.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/diag.h"
#include "emu/model/path.h"
#include "emu/model/schema.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_yaml.h"
#include "nfsbal/site/anonymize_private.h"

enum names { NODES, CONTROLLERS, SVMS, DATASTORES, PATHS, LABELS, DOMAINS, WORKLOADS, CASES, GROUPS, NAMES };

static const char *const words[NAMES] = {
    [NODES] = "node",    [CONTROLLERS] = "c",  [SVMS] = "svm",   [DATASTORES] = "ds", [PATHS] = "p",
    [LABELS] = "server", [DOMAINS] = "domain", [CASES] = "case", [GROUPS] = "group",  [WORKLOADS] = "w",
};

struct walk {
    struct topo_arena *arena;
    struct veil veil;
    struct name_table tables[NAMES]; /* name -> its place in new_names */
    const char **new_names;
    size_t n_new, new_capacity;
    unsigned counts[NAMES];
    unsigned kinds[8];             /* of nodes */
    struct name_table controllers; /* "NODE:CONTROLLER" */
    const char *node;              /* whose entry this is */
    FILE *map;
};

static struct doc_node *walk(struct walk *w, const struct doc_node *node, const struct schema_key *row,
                             const char *within);

/* ---- names ---- */

/* The new name of `name`, which is called `word` and a number when it is met for the first time. */
static const char *rename_as(struct walk *w, enum names kind, const char *name, const char *word, unsigned *count)
{
    int at = name_table_find(&w->tables[kind], name);

    if (at < 0) {
        at = (int)w->n_new;
        w->new_names = arena_grow(w->arena, w->new_names, w->n_new, &w->new_capacity, sizeof *w->new_names);
        w->new_names[w->n_new++] = arena_printf(w->arena, "%s%u", word, ++*count);
        name_table_add(&w->tables[kind], arena_copy(w->arena, name, strlen(name)), at);
        if (w->map)
            fprintf(w->map, "%s\t%s\n", name, w->new_names[at]);
    }
    return w->new_names[at];
}

static const char *renamed(struct walk *w, enum names kind, const char *name)
{
    return rename_as(w, kind, name, words[kind], &w->counts[kind]);
}

/* The new name where there is one already, else the name itself. */
static const char *known(struct walk *w, enum names kind, const char *name)
{
    int at = name_table_find(&w->tables[kind], name);

    return at >= 0 ? w->new_names[at] : name;
}

/* A controller of this node (NULL: of any) has the same new name on every node that has one called so. */
static const char *controller(struct walk *w, const char *node, const char *name)
{
    if (node && name_table_find(&w->controllers, arena_printf(w->arena, "%s:%s", node, name)) < 0)
        return name;
    return known(w, CONTROLLERS, name);
}

/* "/vol/ds01/" -> "/p1/p2/": slashes stay, they matter to who compares paths. */
static const char *path(struct walk *w, const char *text)
{
    const char *out = "";

    while (*text) {
        size_t n = strcspn(text, "/");

        if (n > 0)
            out = arena_printf(w->arena, "%s%s", out, renamed(w, PATHS, arena_copy(w->arena, text, n)));
        text += n;
        if (*text == '/') {
            out = arena_printf(w->arena, "%s/", out);
            text++;
        }
    }
    return out;
}

/* A DNS name: its first label and the rest, each for itself, so that short and long forms of one name stay alike. */
static const char *dns(struct walk *w, const char *text)
{
    char *name = arena_copy(w->arena, text, strlen(text)), *dot;
    const char *label;

    for (char *p = name; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    dot = strchr(name, '.');
    if (dot)
        *dot = '\0';
    label = renamed(w, LABELS, name);
    return dot ? arena_printf(w->arena, "%s.%s.example", label, renamed(w, DOMAINS, dot + 1)) : label;
}

/* An address in whatever form it has in the file; NULL: it is none. */
static const char *address(struct walk *w, const char *text)
{
    struct topo_addr a;
    char out[80];

    if (!topo_addr_parse(&a, text))
        return NULL;
    veil_apply(&w->veil, &a);
    topo_addr_print(out, sizeof out, &a, strchr(text, '/') != NULL);
    return *text == '[' ? arena_printf(w->arena, "[%s]", out) : arena_copy(w->arena, out, strlen(out));
}

/* What is mounted: an address or a name, perhaps with ":/path". */
static const char *server(struct walk *w, const char *text)
{
    const char *colon = strstr(text, ":/"),
               *host = arena_copy(w->arena, text, colon ? (size_t)(colon - text) : strlen(text));
    const char *now = address(w, host);

    if (!now)
        now = dns(w, host);
    return colon ? arena_printf(w->arena, "%s:%s", now, path(w, colon + 1)) : now;
}

/* "NAS:/path" or "NAS:SVM:/path". */
static const char *export_of(struct walk *w, const char *text)
{
    const char *slash = strstr(text, ":/"), *colon = strchr(text, ':'), *node;

    if (!slash)
        return known(w, NODES, text);
    node = known(w, NODES, arena_copy(w->arena, text, (size_t)(colon - text)));
    if (colon == slash)
        return arena_printf(w->arena, "%s:%s", node, path(w, slash + 1));
    return arena_printf(w->arena, "%s:%s:%s", node,
                        renamed(w, SVMS, arena_copy(w->arena, colon + 1, (size_t)(slash - colon - 1))),
                        path(w, slash + 1));
}

/* "a0a", "n1.a0a" or "n1" of a node. */
static const char *part(struct walk *w, const char *node, const char *text)
{
    const char *dot = strchr(text, '.');
    const char *first = arena_copy(w->arena, text, dot ? (size_t)(dot - text) : strlen(text)),
               *now = controller(w, node, first);

    return now == first ? text : arena_printf(w->arena, "%s%s", now, dot ? dot : "");
}

/* "esx1:vmnic2", "fas:n1.e0c", "fas", a direction of two with > between, or a controller of this node. */
static const char *reference(struct walk *w, const char *text)
{
    const char *arrow = strchr(text, '>'), *colon = strchr(text, ':'), *node;

    if (arrow)
        return arena_printf(w->arena, "%s>%s", reference(w, arena_copy(w->arena, text, (size_t)(arrow - text))),
                            reference(w, arrow + 1));
    if (!colon)
        return known(w, NODES, text) != text ? known(w, NODES, text) : part(w, w->node, text);
    node = arena_copy(w->arena, text, (size_t)(colon - text));
    return arena_printf(w->arena, "%s:%s", known(w, NODES, node), part(w, node, colon + 1));
}

static const char *mac(struct walk *w, const char *text)
{
    unsigned long byte[6];
    const char *p = text;

    for (int i = 0; i < 6; i++) {
        char *end;

        byte[i] = strtoul(p, &end, 16) ^ w->veil.mac[i];
        p = end + (*end != '\0');
    }
    return arena_printf(w->arena, "%02lx:%02lx:%02lx:%02lx:%02lx:%02lx", byte[0], byte[1], byte[2], byte[3], byte[4],
                        byte[5]);
}

/* ---- the tree ---- */

static const char *data_store(struct walk *w, const char *text) { return renamed(w, DATASTORES, text); }
static const char *node_name(struct walk *w, const char *text) { return known(w, NODES, text); }
static const char *group(struct walk *w, const char *text) { return renamed(w, GROUPS, text); }
static const char *svm(struct walk *w, const char *text) { return renamed(w, SVMS, text); }
static const char *workload(struct walk *w, const char *text) { return renamed(w, WORKLOADS, text); }
static const char *case_of(struct walk *w, const char *text) { return renamed(w, CASES, text); }
static const char *own_controller(struct walk *w, const char *text) { return controller(w, w->node, text); }
static const char *own_part(struct walk *w, const char *text) { return part(w, w->node, text); }
static const char *site_name(struct walk *w, const char *text)
{
    (void)w;
    (void)text;
    return "site";
}
static const char *reason(struct walk *w, const char *text)
{
    (void)w;
    (void)text;
    return "acknowledged";
}

struct rule {
    const char *within, *key; /* within NULL: wherever the key stands */
    const char *(*change)(struct walk *w, const char *text);
};

/* Values by key. */
static const struct rule values[] = {
    {"", "name", site_name},
    {"vips", "name", dns},
    {NULL, "home", own_controller},
    {NULL, "owner", own_controller},
    {NULL, "takeover", own_controller},
    {NULL, "to", reference},
    {NULL, "ends", reference},
    {NULL, "link", reference},
    {NULL, "node", reference},
    {NULL, "peers", node_name},
    {NULL, "host", node_name},
    {NULL, "hosts", node_name},
    {NULL, "datastores", data_store},
    {NULL, "export", export_of},
    {NULL, "mounted", server},
    {NULL, "server", server},
    {NULL, "servers", server},
    {NULL, "pin", server},
    {NULL, "vip", server},
    {NULL, "apart", group},
    {NULL, "allow", reason},
    {"observed", "lag", own_part},
    {"observed", "port", own_part},
};

/* Names of entries by the key above them. */
static const struct rule entries[] = {
    {NULL, "nodes", node_name},
    {NULL, "controllers", own_controller},
    {NULL, "svms", svm},
    {NULL, "zones", svm},
    {NULL, "datastores", data_store},
    {NULL, "exports", path},
    {NULL, "workloads", workload},
    {NULL, "cases", case_of},
    {NULL, "mounted", node_name},
    {NULL, "nconnect", node_name},
    {NULL, "vmknic", node_name},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const struct rule *rule_for(const struct rule *rules, size_t n, const char *within, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(rules[i].key, key) == 0 && (!rules[i].within || strcmp(rules[i].within, within) == 0))
            return &rules[i];
    return NULL;
}

static const char *value(struct walk *w, const char *text, const struct schema_key *row, const char *within)
{
    const struct rule *rule = rule_for(values, COUNT(values), within, row->name);
    const char *now = NULL;

    if (row->value == SCHEMA_ADDRESS || row->value == SCHEMA_ADDRESS_PREFIX)
        now = address(w, text);
    else if (row->value == SCHEMA_MAC)
        now = mac(w, text);
    else if (rule)
        now = rule->change(w, text);
    return now ? now : text;
}

/* Left out: words for people, and numbers that somebody measured. */
static bool left_out(const char *within, const char *key)
{
    return strcmp(key, "title") == 0 || (*within == '\0' && strcmp(key, "expect") == 0);
}

/* A map of named entries: "vips", "nodes", ... */
static struct doc_node *walk_named(struct walk *w, const struct doc_node *node, const struct schema_key *row)
{
    struct doc_node *out = doc_new(w->arena, DOC_MAP, node->mark);
    const struct rule *rule = rule_for(entries, COUNT(entries), "", row->name);
    const char *outer = w->node;

    for (size_t i = 0; i < node->count; i++) {
        const struct doc_pair *pair = &node->pairs[i];
        const char *key = pair->key;

        if (strcmp(row->name, "nodes") == 0)
            w->node = key;
        if (row->names == SCHEMA_ADDRESS_PREFIX && address(w, key))
            key = address(w, key);
        else if (rule)
            key = rule->change(w, key);
        doc_put(w->arena, out, key, pair->mark,
                pair->value->type == DOC_MAP && row->keys
                    ? walk(w, pair->value,
                           &(struct schema_key){.name = row->name, .shape = SCHEMA_MAP, .keys = row->keys}, row->name)
                    : walk(w, pair->value, row, row->name));
    }
    w->node = outer;
    return out;
}

static struct doc_node *walk_map(struct walk *w, const struct doc_node *node, const struct schema_key *keys,
                                 const char *within)
{
    struct doc_node *out = doc_new(w->arena, DOC_MAP, node->mark);

    for (size_t i = 0; i < node->count; i++) {
        const struct doc_pair *pair = &node->pairs[i];
        const struct schema_key *row = keys ? schema_find(keys, pair->key) : NULL;

        if (left_out(within, pair->key))
            continue;
        doc_put(w->arena, out, pair->key, pair->mark, row ? walk(w, pair->value, row, within) : pair->value);
    }
    return out;
}

/* `within` is the key above; "" at the top of the file and of a case's `set`. */
static struct doc_node *walk(struct walk *w, const struct doc_node *node, const struct schema_key *row,
                             const char *within)
{
    struct doc_node *out;

    switch (node->type) {
    case DOC_SCALAR:
        return doc_scalar(w->arena, value(w, node->text, row, within), node->mark);
    case DOC_LIST:
        out = doc_new(w->arena, DOC_LIST, node->mark);
        for (size_t i = 0; i < node->count; i++)
            doc_append(w->arena, out,
                       node->items[i]->type == DOC_MAP ? walk_map(w, node->items[i], row->keys, row->name)
                                                       : walk(w, node->items[i], row, within));
        return out;
    case DOC_MAP:
        if (row->shape & SCHEMA_NAMED)
            return walk_named(w, node, row);
        return walk_map(w, node, row->keys, strcmp(row->name, "set") == 0 ? "" : within);
    default:
        return doc_new(w->arena, DOC_NULL, node->mark);
    }
}

/* ---- before the walk ---- */

/* Nodes by their kind, controllers by their node. */
static void name_nodes(struct walk *w, const struct doc_node *nodes)
{
    static const struct {
        const char *kind, *word;
    } kinds[] = {{"esxi", "esx"}, {"linux", "linux"}, {"switch", "switch"}, {"nas", "nas"}, {"router", "router"}};

    for (size_t i = 0; nodes && nodes->type == DOC_MAP && i < nodes->count; i++) {
        const struct doc_node *kind = doc_get(nodes->pairs[i].value, "kind");
        const struct doc_node *controllers = doc_get(nodes->pairs[i].value, "controllers");

        for (size_t k = 0; kind && k < COUNT(kinds); k++)
            if (strcmp(kind->text, kinds[k].kind) == 0)
                rename_as(w, NODES, nodes->pairs[i].key, kinds[k].word, &w->kinds[k]);
        for (size_t k = 0; controllers && controllers->type == DOC_MAP && k < controllers->count; k++) {
            renamed(w, CONTROLLERS, controllers->pairs[k].key);
            name_table_add(&w->controllers,
                           arena_printf(w->arena, "%s:%s", nodes->pairs[i].key, controllers->pairs[k].key), 0);
        }
    }
}

/* Whatever in the tree is an address, with its prefix where it has one: those with one first, since they make the subnets. */
static void note_addresses(struct walk *w, const struct doc_node *node, bool with_prefix)
{
    struct topo_addr a;

    if (node->type == DOC_SCALAR && topo_addr_parse(&a, node->text) && (strchr(node->text, '/') != NULL) == with_prefix)
        veil_note(&w->veil, &a);
    for (size_t i = 0; (node->type == DOC_LIST || node->type == DOC_MAP) && i < node->count; i++) {
        if (node->type == DOC_MAP && topo_addr_parse(&a, node->pairs[i].key) && with_prefix)
            veil_note(&w->veil, &a);
        note_addresses(w, node->type == DOC_MAP ? node->pairs[i].value : node->items[i], with_prefix);
    }
}

/* Subnets of the ends of mounts, in the file and in its cases, get one constant. */
static void join_mounts(struct walk *w, const struct topo_file *f)
{
    for (size_t c = 0; c <= topo_file_cases(f); c++) {
        struct diag unheard;
        struct topo *t;

        diag_init(&unheard, "");
        t = topo_load(f, c ? topo_file_case(f, c - 1) : NULL, &unheard);
        for (size_t i = 0; t && i < t->n_mounts; i++)
            if (t->mounts[i].iface >= 0 && t->mounts[i].vip >= 0)
                veil_join(&w->veil, &t->ifaces[t->mounts[i].iface].addr, &t->vips[t->mounts[i].vip].addr);
        topo_free(t);
        diag_free(&unheard);
    }
}

/* The file's tree without ranges; NULL on failure. */
static struct doc_node *expanded(struct walk *w, const struct topo_file *f)
{
    struct doc_node *root = NULL;
    struct diag unheard;
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    int rc;

    if (!out)
        return NULL;
    rc = topo_file_print_expanded(f, NULL, out);
    if (fclose(out) == 0 && rc == 0) {
        diag_init(&unheard, "");
        root = topology_yaml_read(w->arena, text, n, &unheard);
        diag_free(&unheard);
    }
    free(text);
    return root;
}

int anonymize(const struct topo_file *f, uint64_t seed, FILE *out, FILE *map, char *problem, size_t size)
{
    struct walk w = {.arena = arena_new(), .map = map};
    struct doc_node *root;
    int rc = 0;

    w.veil.arena = w.arena;
    for (int i = 0; i < NAMES; i++)
        name_table_init(&w.tables[i], w.arena);
    name_table_init(&w.controllers, w.arena);
    root = expanded(&w, f);
    if (!root) {
        snprintf(problem, size, "the expanded file can't be read again");
        rc = -EIO;
    }
    if (rc == 0) {
        name_nodes(&w, doc_get(root, "nodes"));
        note_addresses(&w, root, true);
        note_addresses(&w, root, false);
        join_mounts(&w, f);
        if (!veil_draw(&w.veil, seed)) {
            snprintf(problem, size, "no constants were found that keep all addresses usable and all subnets apart");
            rc = -EINVAL;
        }
    }
    if (rc == 0) {
        doc_print(walk(&w, root, &schema_root, ""), out);
        if (ferror(out)) {
            snprintf(problem, size, "writing failed");
            rc = -EIO;
        }
    }
    arena_free(w.arena);
    return rc;
}

/* ---- what has changed ---- */

static void compare_paths(const struct path *a, const struct path *b, struct anonymize_change *teams)
{
    for (size_t h = 0; h < a->n_hops; h++) {
        const struct path_hop *x = &a->hops[h], *y = h < b->n_hops ? &b->hops[h] : NULL;

        if (x->team < 0 || x->n < 2)
            continue;
        teams[x->team].choices++;
        teams[x->team].changed += !y || y->team != x->team || y->linkdir != x->linkdir;
        if (!y || y->linkdir != x->linkdir)
            return; /* from here on the ways differ for another reason */
    }
}

long anonymize_compare(const struct topo *before, const struct topo *after, struct anonymize_change **out)
{
    struct anonymize_change *teams = calloc(before->n_teams + 1, sizeof *teams);
    struct flow *x = NULL, *y = NULL;
    long n = flow_list(before, &x), m = flow_list(after, &y), found = 0;

    *out = teams;
    if (!teams || n < 0 || m < 0 || before->n_teams != after->n_teams)
        found = -ENOMEM;
    for (long i = 0; found == 0 && i < n && i < m; i++)
        for (int d = 0; d < 2; d++) {
            struct path a, b;

            path_walk(before, NULL, &x[i], (enum flow_direction)d, false, &a);
            path_walk(after, NULL, &y[i], (enum flow_direction)d, false, &b);
            compare_paths(&a, &b, teams);
        }
    for (size_t i = 0; found >= 0 && i < before->n_teams; i++)
        if (teams[i].changed) {
            teams[found] = teams[i];
            teams[found++].team = (int)i;
        }
    free(x);
    free(y);
    return found;
}
