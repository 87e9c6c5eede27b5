#include "emu/model/doc.h"

#include <string.h>

enum { INDEX_FROM = 16 }; /* a map of so many entries is looked up by a table */

struct doc_node *doc_new(struct topo_arena *a, enum doc_type type, struct diag_mark mark)
{
    struct doc_node *node = arena_alloc(a, sizeof(*node));
    node->type = type;
    node->mark = mark;
    node->text = "";
    node->weight = 1;
    return node;
}

struct doc_node *doc_scalar(struct topo_arena *a, const char *text, struct diag_mark mark)
{
    struct doc_node *node = doc_new(a, DOC_SCALAR, mark);
    node->text = text;
    return node;
}

void doc_append(struct topo_arena *a, struct doc_node *list, struct doc_node *item)
{
    list->items = arena_grow(a, list->items, list->count, &list->capacity, sizeof(*list->items));
    list->items[list->count++] = item;
    list->weight += item->weight;
}

void doc_put(struct topo_arena *a, struct doc_node *map, const char *key, struct diag_mark mark, struct doc_node *value)
{
    map->pairs = arena_grow(a, map->pairs, map->count, &map->capacity, sizeof(*map->pairs));
    map->pairs[map->count++] = (struct doc_pair){key, mark, value};
    map->weight += value->weight;
    if (map->count < INDEX_FROM)
        return;
    if (!map->index) {
        map->index = arena_alloc(a, sizeof(*map->index));
        name_table_init(map->index, a);
        for (size_t i = 0; i + 1 < map->count; i++)
            name_table_add(map->index, map->pairs[i].key, (int)i);
    }
    name_table_add(map->index, key, (int)map->count - 1);
}

const struct doc_pair *doc_get_pair(const struct doc_node *map, const char *key)
{
    if (!map || map->type != DOC_MAP)
        return NULL;
    if (map->index) {
        int place = name_table_find(map->index, key);
        return place < 0 ? NULL : &map->pairs[place];
    }
    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->pairs[i].key, key) == 0)
            return &map->pairs[i];
    return NULL;
}

const struct doc_node *doc_get(const struct doc_node *map, const char *key)
{
    const struct doc_pair *pair = doc_get_pair(map, key);
    return pair ? pair->value : NULL;
}

const char *doc_type_name(const struct doc_node *node)
{
    switch (node->type) {
    case DOC_NULL:
        return "nothing";
    case DOC_SCALAR:
        return "one value";
    case DOC_LIST:
        return "a list";
    case DOC_MAP:
        return "a map";
    }
    return "";
}

/* A null in a patch that meets nothing to delete: new parts of a tree can't hold nulls either. */
static struct doc_node *without_nulls(struct topo_arena *a, const struct doc_pair *pair, struct diag *d);

static struct doc_node *merge_maps(struct topo_arena *a, const struct doc_node *base, const struct doc_node *patch,
                                   struct diag *d)
{
    struct doc_node *merged = doc_new(a, DOC_MAP, base->mark);
    for (size_t i = 0; i < base->count; i++) {
        const struct doc_pair *old = &base->pairs[i], *new = doc_get_pair(patch, old->key);
        if (!new)
            doc_put(a, merged, old->key, old->mark, old->value);
        else if (new->value->type != DOC_NULL)
            doc_put(a, merged, old->key, old->mark, doc_merge(a, old->value, new->value, d));
    }
    for (const struct doc_pair *pair = patch->pairs; pair && pair < patch->pairs + patch->count; pair++) {
        struct doc_node *value = doc_get_pair(base, pair->key) ? NULL : without_nulls(a, pair, d);
        if (value)
            doc_put(a, merged, pair->key, pair->mark, value);
    }
    return merged;
}

static struct doc_node *without_nulls(struct topo_arena *a, const struct doc_pair *pair, struct diag *d)
{
    if (pair->value->type == DOC_NULL) {
        diag_add(d, DIAG_ERROR, NULL, pair->mark, NULL, "nothing to delete: there is no `%s` here without this case",
                 pair->key);
        return NULL;
    }
    if (pair->value->type != DOC_MAP)
        return pair->value;
    return merge_maps(a, doc_new(a, DOC_MAP, pair->value->mark), pair->value, d);
}

struct doc_node *doc_merge(struct topo_arena *a, const struct doc_node *base, const struct doc_node *patch,
                           struct diag *d)
{
    static const struct doc_node nothing = {.type = DOC_MAP, .text = ""};
    if (patch->type == DOC_MAP)
        return merge_maps(a, base->type == DOC_MAP ? base : &nothing, patch, d);
    /* Shared, and nobody changes a node that has been made. */
    struct doc_node *replaced = doc_new(a, patch->type, patch->mark);
    *replaced = *patch;
    return replaced;
}

/* True for words that can stand in block and flow context without quotes and mean themselves. */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"null", "Null", "NULL", "~"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return false;
    if (!*text || *text == '-' || *text == '?')
        return false;
    for (const char *p = text; *p; p++) {
        bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        if (!letter && !strchr("./+-_%", *p))
            return false;
    }
    return true;
}

static void print_scalar(const char *text, FILE *out)
{
    if (is_plain(text)) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fprintf(out, "\\%c", *p);
        else if (*p == '\n')
            fputs("\\n", out);
        else if (*p == '\t')
            fputs("\\t", out);
        else if (*p < 0x20 || *p == 0x7f)
            fprintf(out, "\\x%02x", *p);
        else
            fputc(*p, out);
    }
    fputc('"', out);
}

static bool only_scalars(const struct doc_node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        const struct doc_node *child = node->type == DOC_LIST ? node->items[i] : node->pairs[i].value;
        bool flat_list = child->type == DOC_LIST && child->count <= 8 && only_scalars(child);
        if (child->type != DOC_SCALAR && child->type != DOC_NULL && !flat_list && child->count > 0)
            return false;
    }
    return true;
}

static void print_flow(const struct doc_node *node, FILE *out)
{
    switch (node->type) {
    case DOC_NULL:
        fputs("null", out);
        return;
    case DOC_SCALAR:
        print_scalar(node->text, out);
        return;
    case DOC_LIST:
        fputc('[', out);
        for (size_t i = 0; i < node->count; i++) {
            fputs(i ? ", " : "", out);
            print_flow(node->items[i], out);
        }
        fputc(']', out);
        return;
    case DOC_MAP:
        fputc('{', out);
        for (size_t i = 0; i < node->count; i++) {
            fputs(i ? ", " : "", out);
            print_scalar(node->pairs[i].key, out);
            fputs(": ", out);
            print_flow(node->pairs[i].value, out);
        }
        fputc('}', out);
        return;
    }
}

static void print_block(const struct doc_node *node, int indent, FILE *out)
{
    for (size_t i = 0; i < node->count; i++) {
        const struct doc_node *child = node->type == DOC_LIST ? node->items[i] : node->pairs[i].value;
        fprintf(out, "%*s", indent, "");
        if (node->type == DOC_LIST) {
            fputs("- ", out);
        } else {
            print_scalar(node->pairs[i].key, out);
            fputc(':', out);
        }
        bool flow = node->type == DOC_LIST || child->type == DOC_SCALAR || child->type == DOC_NULL ||
                    child->count == 0 || (indent > 0 && only_scalars(child));
        if (flow) {
            fputs(node->type == DOC_LIST ? "" : " ", out);
            print_flow(child, out);
            fputc('\n', out);
        } else {
            fputc('\n', out);
            print_block(child, indent + 2, out);
        }
    }
}

void doc_print(const struct doc_node *node, FILE *out)
{
    if (node->type == DOC_MAP || node->type == DOC_LIST) {
        if (node->count) {
            print_block(node, 0, out);
            return;
        }
    }
    print_flow(node, out);
    fputc('\n', out);
}
