/* A place is a path of keys. The tree is rebuilt along it, around what it keeps: nodes are never changed. */
#include "emu/model/topology_scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/schema.h"
#include "emu/model/topology.h"
#include "emu/model/topology_build.h"
#include "emu/model/topology_file.h"
#include "emu/model/topology_file_internal.h"

/* The key or place in a list that `path` begins with; *rest is what follows the slash, or NULL. */
static const char *first_key(struct topo_arena *a, const char *path, const char **rest)
{
    size_t n = strcspn(path, "/");
    *rest = path[n] ? path + n + 1 : NULL;
    return arena_copy(a, path, n);
}

/* The item of a list that a key names, or -1. */
static long item_of(const struct doc_node *list, const char *key)
{
    char *end;
    long i = strtol(key, &end, 10);
    return *key && !*end && i >= 0 && (size_t)i < list->count ? i : -1;
}

/* A number with whatever unit stands behind it, times factor; NULL when it does not begin with a number. */
static const char *scaled_text(struct topo_arena *a, const char *text, double factor)
{
    char *unit;
    double value = strtod(text, &unit);
    uint64_t bytes;
    if (unit == text || !isfinite(value))
        return NULL;
    bool whole = !memchr(text, '.', (size_t)(unit - text));
    if (!*unit && whole)
        return arena_printf(a, "%.0f", round(value * factor));
    if (*unit && !unit_parse_size(text, &bytes)) /* sizes are whole bytes */
        return arena_printf(a, "%.0fB", round((double)bytes * factor));
    return arena_printf(a, "%.12g%s", value * factor, unit);
}

/* What is done to a number: it is replaced by `text`, or where that is NULL multiplied by `factor`. */
struct scaling {
    double factor;
    const char *text;
};

/* `node` with the number at `path` changed; NULL when there is none. `problem`: there is something, but no number. */
static struct doc_node *scaled(struct topo_arena *a, const struct doc_node *node, const char *path,
                               const struct scaling *how, const char **problem)
{
    if (!path) {
        const char *text = node->type == DOC_SCALAR ? scaled_text(a, node->text, how->factor) : NULL;
        text = text && how->text ? how->text : text;
        if (!text)
            *problem = node->type == DOC_SCALAR ? node->text : doc_type_name(node);
        return text ? doc_scalar(a, text, node->mark) : NULL;
    }
    const char *rest, *key = first_key(a, path, &rest);
    const struct doc_node *inside = doc_get(node, key);
    long item = node->type == DOC_LIST ? item_of(node, key) : -1;
    if (item >= 0)
        inside = node->items[item];
    struct doc_node *changed = inside ? scaled(a, inside, rest, how, problem) : NULL;
    if (!changed)
        return NULL;
    struct doc_node *out = doc_new(a, node->type, node->mark);
    for (size_t i = 0; i < node->count; i++) {
        if (node->type == DOC_LIST)
            doc_append(a, out, (long)i == item ? changed : node->items[i]);
        else
            doc_put(a, out, node->pairs[i].key, node->pairs[i].mark,
                    strcmp(node->pairs[i].key, key) == 0 ? changed : node->pairs[i].value);
    }
    return out;
}

/* The case with the number at each of `n` places changed. */
static struct topo *load_changed(const struct topo_file *f, const char *case_name, const char *const *at, size_t n,
                                 const struct scaling *how, bool *moved, struct diag_mark mark, struct diag *d)
{
    struct topo_arena *scratch = arena_new();
    struct schema_report report;
    const struct doc_node *case_, *tree;
    const char *problem = NULL;
    struct topo *t = NULL;
    *moved = false;
    schema_report_init(&report, scratch, d);
    tree = topo_file_tree(f, case_name, &report, &case_);
    for (size_t i = 0; tree && i < n && !problem; i++) {
        const struct doc_node *changed = scaled(scratch, tree, at[i], how, &problem);
        *moved |= changed != NULL;
        tree = changed ? changed : tree;
        if (problem)
            schema_error(&report, mark, NULL, "%s is no number but %s", at[i], problem);
    }
    if (tree && *moved) /* the new number may be out of its limits */
        schema_check(tree, &schema_root, false, &report);
    if (tree && !problem && !report.failed)
        t = topo_build(tree, case_, f->name, case_name, &report);
    arena_free(scratch);
    return t;
}

struct topo *topo_load_scaled(const struct topo_file *f, const char *case_name, const struct topo_input *input,
                              double factor, bool *moved, struct diag *d)
{
    const struct scaling how = {factor, NULL};
    return load_changed(f, case_name, input->at, input->n_at, &how, moved, input->mark, d);
}

struct topo *topo_load_with(const struct topo_file *f, const char *case_name, const char *place, const char *text,
                            struct diag *d)
{
    const struct scaling how = {1, text};
    bool found;
    struct topo *t = load_changed(f, case_name, &place, 1, &how, &found, (struct diag_mark){0}, d);
    if (t && !found) {
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0},
                 "keys from the top divided by /, as in vm-groups/desktops/total", "there is no %s in this case",
                 place);
        topo_free(t);
        return NULL;
    }
    return t;
}

/* The node at a path, or NULL. */
static const struct doc_node *look_up(struct topo_arena *a, const struct doc_node *node, const char *path)
{
    while (node && path) {
        const char *key = first_key(a, path, &path);
        long item = node->type == DOC_LIST ? item_of(node, key) : -1;
        node = item >= 0 ? node->items[item] : doc_get(node, key);
    }
    return node;
}

/* ... in the file, or in the first case that has it. */
static const struct doc_node *look_anywhere(struct topo_arena *a, const struct topo_file *f, const char *path)
{
    /* Not within `cases`: it is the merged tree that is scaled. */
    const struct doc_node *found = strncmp(path, "cases/", 6) ? look_up(a, f->root, path) : NULL;
    for (size_t k = 0; !found && k < topo_file_cases(f); k++)
        found = look_up(a, doc_get(f->cases->pairs[k].value, "set"), path);
    return found;
}

bool topo_input_check(const struct topo_file *f, const struct topo_input *input, struct diag *d)
{
    struct topo_arena *scratch = arena_new();
    bool ok = true;
    for (size_t i = 0; i < input->n_at; i++) {
        const struct doc_node *node = look_anywhere(scratch, f, input->at[i]);
        bool number = node && node->type == DOC_SCALAR && scaled_text(scratch, node->text, 1);
        if (!node)
            diag_add(d, DIAG_ERROR, NULL, input->mark, "keys from the top divided by /, as in workloads/writers/block",
                     "the input `%s`: there is no %s in the file or its cases", input->name, input->at[i]);
        else if (!number)
            diag_add(d, DIAG_ERROR, NULL, input->mark, NULL, "the input `%s`: %s is no number but %s", input->name,
                     input->at[i], node->type == DOC_SCALAR ? node->text : doc_type_name(node));
        ok &= number;
    }
    arena_free(scratch);
    return ok;
}

const char *topo_input_text(const struct topo_file *f, const struct topo_input *input)
{
    struct topo_arena *scratch = arena_new();
    const struct doc_node *node = input->n_at ? look_anywhere(scratch, f, input->at[0]) : NULL;
    arena_free(scratch);
    return node && node->type == DOC_SCALAR ? node->text : "";
}
