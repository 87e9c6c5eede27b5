#include "emu/model/topology_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/range.h"
#include "emu/model/schema.h"
#include "emu/model/topology_build.h"
#include "emu/model/topology_change.h"
#include "emu/model/topology_file_internal.h"
#include "emu/model/topology_yaml.h"

enum { FILE_SIZE_MAX = 16 * 1024 * 1024 };

/* The whole of a stream; NULL with an error. */
static char *slurp(FILE *in, size_t *size, struct diag *d)
{
    char *text = NULL;
    size_t used = 0, room = 0;
    for (;;) {
        if (used + 1 >= room) {
            room = room ? 2 * room : 65536;
            char *grown = realloc(text, room);
            if (!grown)
                abort();
            text = grown;
        }
        size_t n = fread(text + used, 1, room - used - 1, in);
        used += n;
        if (n == 0)
            break;
        if (used > FILE_SIZE_MAX) {
            diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "more than %d MiB", FILE_SIZE_MAX >> 20);
            free(text);
            return NULL;
        }
    }
    if (ferror(in)) {
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "cannot be read: %s", strerror(errno));
        free(text);
        return NULL;
    }
    text[used] = '\0';
    *size = used;
    return text;
}

struct topo_file *topo_file_open(const char *path, struct diag *d)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    size_t size = 0;
    if (!in) {
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    char *text = slurp(in, &size, d);
    if (in != stdin)
        fclose(in);
    struct topo_file *f = text ? topo_file_parse(path, text, size, d) : NULL;
    free(text);
    return f;
}

/* `version` is looked at before anything else: a file of another version has other keys. */
static bool check_version(const struct doc_node *root, struct diag *d)
{
    const struct doc_pair *version = doc_get_pair(root, "version");
    if (!version)
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){1, 1, 1}, "the first line is `version: 1`",
                 "`version` is missing");
    else if (version->value->type != DOC_SCALAR || strcmp(version->value->text, "1") != 0)
        diag_add(d, DIAG_ERROR, NULL, version->value->mark, "this program reads version 1",
                 "version `%s` is not supported", version->value->text);
    else
        return true;
    return false;
}

struct topo_file *topo_file_parse(const char *name, const char *text, size_t size, struct diag *d)
{
    if (!d->source && (d->source = malloc(size + 1))) {
        memcpy(d->source, text, size);
        d->source[size] = '\0';
        d->source_size = size;
    }
    struct topo_arena *arena = arena_new();
    struct topo_file *f = arena_alloc(arena, sizeof(*f));
    struct schema_report report;
    f->arena = arena;
    f->name = arena_copy(arena, name, strlen(name));
    struct doc_node *root = topology_yaml_read(arena, text, size, d);
    if (!root)
        goto failed;
    schema_report_init(&report, arena, d);
    if (root->type != DOC_MAP) {
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){1, 1, 1}, "version: 1", "a topology file is a map, this is %s",
                 doc_type_name(root));
        goto failed;
    }
    if (!check_version(root, d))
        goto failed;
    size_t names = 0;
    f->root = schema_expand(root, &schema_root, &report, &names);
    schema_check(f->root, &schema_root, false, &report);
    if (report.failed)
        goto failed;
    f->cases = doc_get(f->root, "cases");
    if (f->cases && f->cases->type != DOC_MAP)
        f->cases = NULL;
    return f;
failed:
    arena_free(arena);
    return NULL;
}

void topo_file_close(struct topo_file *f)
{
    if (f)
        arena_free(f->arena);
}

size_t topo_file_cases(const struct topo_file *f) { return f->cases ? f->cases->count : 0; }

const char *topo_file_case(const struct topo_file *f, size_t i) { return f->cases->pairs[i].key; }

const struct doc_node *topo_file_tree(const struct topo_file *f, const char *case_name, struct schema_report *report,
                                      const struct doc_node **case_out)
{
    *case_out = NULL;
    if (!case_name)
        return f->root;
    const struct doc_pair *pair = doc_get_pair(f->cases, case_name);
    if (!pair) {
        size_t n = topo_file_cases(f);
        const char **names = arena_alloc(report->arena, (n + 1) * sizeof(*names));
        for (size_t i = 0; i < n; i++)
            names[i] = topo_file_case(f, i);
        const char *near = diag_nearest(case_name, names, n);
        schema_error(report, (struct diag_mark){0},
                     near ? arena_printf(report->arena, "did you mean `%s`?", near) : NULL, "there is no case `%s`",
                     case_name);
        return NULL;
    }
    *case_out = pair->value;
    const struct doc_node *set = doc_get(pair->value, "set");
    if (!set || set->type != DOC_MAP)
        return f->root;
    size_t errors = diag_count(report->d, DIAG_ERROR);
    const struct doc_node *merged = doc_merge(report->arena, f->root, set, report->d);
    if (diag_count(report->d, DIAG_ERROR) > errors)
        return NULL;
    schema_check(merged, &schema_root, false, report);
    return report->failed ? NULL : merged;
}

struct topo *topo_load(const struct topo_file *f, const char *case_name, struct diag *d)
{
    struct topo_arena *scratch = arena_new();
    struct schema_report report;
    const struct doc_node *case_;
    schema_report_init(&report, scratch, d);
    const struct doc_node *tree = topo_file_tree(f, case_name, &report, &case_);
    struct topo *t = tree ? topo_build(tree, case_, f->name, case_name, &report) : NULL;
    arena_free(scratch);
    return t;
}

/* A map with one more entry for `key`, a map too: the one that is there, or a new one. */
static struct doc_node *map_in(struct topo_arena *a, struct doc_node *map, const char *key)
{
    const struct doc_pair *pair = doc_get_pair(map, key);
    if (pair)
        return pair->value;
    struct doc_node *inside = doc_new(a, DOC_MAP, (struct diag_mark){0});
    doc_put(a, map, key, (struct diag_mark){0}, inside);
    return inside;
}

/* The assignments as a patch of the tree. NULL, with errors, when they name datastores that are not there. */
static struct doc_node *patch_of(const struct doc_node *tree, const struct topo_assignment *all, size_t n,
                                 struct schema_report *report)
{
    struct topo_arena *a = report->arena;
    const struct doc_node *there = doc_get(tree, "datastores");
    const struct diag_mark nowhere = {0};
    struct doc_node *patch = doc_new(a, DOC_MAP, nowhere), *datastores = map_in(a, patch, "datastores");
    for (size_t i = 0; i < n; i++) {
        const struct doc_node *old = doc_get(there, all[i].datastore), *own = doc_get(old, "server");
        if (!old) {
            schema_error(report, nowhere, NULL, "the plan has a datastore `%s` and the file has not", all[i].datastore);
            continue;
        }
        struct doc_node *ds = map_in(a, datastores, all[i].datastore);
        doc_put(a, map_in(a, ds, "mounted"), all[i].host, nowhere, doc_scalar(a, all[i].server, nowhere));
        if (own && own->type == DOC_SCALAR && strcmp(own->text, all[i].server) == 0 && !doc_get(ds, "vip"))
            doc_put(a, ds, "vip", nowhere, doc_scalar(a, all[i].vip, nowhere));
    }
    return report->failed ? NULL : patch;
}

struct topo *topo_load_assigned(const struct topo_file *f, const char *case_name, const struct topo_assignment *all,
                                size_t n, struct diag *d)
{
    return topo_load_changed(f, case_name, NULL, 0, all, n, d);
}

/* The changes made on a tree. NULL after an error. */
static const struct doc_node *change_tree(const struct topo_file *f, const struct doc_node *tree,
                                          const struct topo_change *changes, size_t n, struct schema_report *report)
{
    struct topo_file changed = {
        .arena = report->arena, .name = f->name, .root = (struct doc_node *)(uintptr_t)tree, .cases = NULL};
    for (size_t i = 0; i < n; i++)
        if (!topo_file_change_words(&changed, &changes[i], report->d))
            return NULL;
    if (n > 0)
        schema_check(changed.root, &schema_root, false, report);
    return report->failed ? NULL : changed.root;
}

struct topo *topo_load_changed(const struct topo_file *f, const char *case_name, const struct topo_change *changes,
                               size_t n_changes, const struct topo_assignment *all, size_t n, struct diag *d)
{
    struct topo_arena *scratch = arena_new();
    struct schema_report report;
    const struct doc_node *case_;
    struct topo *t = NULL;
    schema_report_init(&report, scratch, d);
    const struct doc_node *tree = topo_file_tree(f, case_name, &report, &case_);
    tree = tree ? change_tree(f, tree, changes, n_changes, &report) : NULL;
    const struct doc_node *patch = tree ? patch_of(tree, all, n, &report) : NULL;
    if (patch) {
        tree = doc_merge(scratch, tree, patch, d);
        t = topo_build(tree, case_, f->name, case_name, &report);
    }
    arena_free(scratch);
    return t;
}

/* FNV-1a over more bytes. */
static uint64_t hash_text(uint64_t h, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text;; p++) {
        h = (h ^ *p) * UINT64_C(0x100000001b3);
        if (!*p)
            return h;
    }
}

/* Of a tree, so that neither the order of a map nor that of a cable's ends counts. */
static uint64_t hash_tree(const struct doc_node *node, bool unordered)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) + (uint64_t)node->type, sum = 0;
    switch (node->type) {
    case DOC_NULL:
    case DOC_SCALAR:
        return hash_text(h, node->text);
    case DOC_LIST:
        for (size_t i = 0; i < node->count; i++) {
            uint64_t item = hash_tree(node->items[i], false);
            sum += item * UINT64_C(0x9e3779b97f4a7c15);
            h = (h ^ item) * UINT64_C(0x9e3779b97f4a7c15);
        }
        return unordered ? sum : h;
    case DOC_MAP:
        for (size_t i = 0; i < node->count; i++) {
            const struct doc_pair *pair = &node->pairs[i];
            uint64_t value = hash_tree(pair->value, strcmp(pair->key, "ends") == 0);
            sum += hash_text(value * UINT64_C(0x9e3779b97f4a7c15), pair->key);
        }
        return h ^ sum;
    }
    return h;
}

bool topo_file_fingerprint(const struct topo_file *f, const char *case_name,
                           void (*part)(void *context, const char *name, uint64_t hash), void *context, struct diag *d)
{
    /* What a plan does not depend on; `set` of the case is merged already. */
    static const char *const left_out[] = {"version", "name",  "title",  "workloads", "events", "cases",
                                           "expect",  "allow", "inputs", "detail",    "raise"};
    struct topo_arena *scratch = arena_new();
    struct schema_report report;
    const struct doc_node *case_;
    schema_report_init(&report, scratch, d);
    const struct doc_node *tree = topo_file_tree(f, case_name, &report, &case_);
    for (size_t i = 0; tree && i < tree->count; i++) {
        const struct doc_pair *pair = &tree->pairs[i];
        bool nodes = strcmp(pair->key, "nodes") == 0, out = false;
        for (size_t k = 0; k < sizeof(left_out) / sizeof(left_out[0]); k++)
            out |= strcmp(pair->key, left_out[k]) == 0;
        if (out)
            continue;
        if ((!nodes && strcmp(pair->key, "datastores") != 0) || pair->value->type != DOC_MAP) {
            part(context, pair->key, hash_tree(pair->value, true));
            continue;
        }
        for (size_t k = 0; k < pair->value->count; k++) {
            const struct doc_pair *inside = &pair->value->pairs[k];
            part(context, arena_printf(scratch, "%s %s", nodes ? "node" : "datastore", inside->key),
                 hash_tree(inside->value, false));
        }
    }
    arena_free(scratch);
    return tree != NULL;
}

/* The tree of a case as a file of its own: its `allow` joins; other cases, and what compares them, go. The name is written
 * where it was the file's. */
static const struct doc_node *as_file(const struct topo_file *f, const struct doc_node *tree, const char *case_name,
                                      const struct doc_node *case_, struct schema_report *report)
{
    struct topo_arena *a = report->arena;
    struct doc_node *file = doc_new(a, DOC_MAP, tree->mark);
    for (size_t i = 0; i < tree->count; i++) {
        const struct doc_pair *pair = &tree->pairs[i];
        if (case_name && (strcmp(pair->key, "cases") == 0 || strcmp(pair->key, "expect") == 0))
            continue;
        doc_put(a, file, pair->key, pair->mark, pair->value);
        if (strcmp(pair->key, "version") == 0 && !doc_get(tree, "name"))
            doc_put(a, file, "name", pair->mark, doc_scalar(a, topo_file_stem(a, f->name), pair->mark));
    }
    const struct doc_pair *allow = doc_get_pair(case_, "allow");
    if (!allow || allow->value->type != DOC_MAP)
        return file;
    struct doc_node *patch = doc_new(a, DOC_MAP, allow->mark);
    doc_put(a, patch, "allow", allow->mark, allow->value);
    return doc_merge(a, file, patch, report->d);
}

int topo_file_print_expanded(const struct topo_file *f, const char *case_name, FILE *out)
{
    struct topo_arena *scratch = arena_new();
    struct diag unheard;
    struct schema_report report;
    const struct doc_node *case_;
    diag_init(&unheard, f->name);
    schema_report_init(&report, scratch, &unheard);
    const struct doc_node *tree = topo_file_tree(f, case_name, &report, &case_);
    if (tree)
        doc_print(as_file(f, tree, case_name, case_, &report), out);
    arena_free(scratch);
    diag_free(&unheard);
    return !tree || ferror(out) ? -EIO : 0;
}
