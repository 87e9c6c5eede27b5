/* Ranges in the tree, led by the schema.
 *
 * Theory of operation. The tree is walked with a stack of frames, one for each entry of a map of names and each item that
 * a pair of link ends multiplies. A frame of a ranged key knows how many entries the key makes and which of them this is.
 *   - Where a list is expected, a range is a set: it needs no frame.
 *   - Where one value is expected, a range takes the name at the position of the nearest frame that has as many.
 *   - `{name}` is the name of the nearest entry.
 * An expansion that consulted no frame outside its own node is the same wherever it is done, so it is kept with the node:
 * a thousand hosts of one range share their list of uplinks.
 */
#include "emu/model/schema.h"

#include <stdint.h>
#include <string.h>

#include "emu/model/range.h"

enum { WEIGHT_MAX = 2000000 };

struct frame {
    const struct frame *up;
    size_t depth;           /* 1, 2, ... from the root */
    const char *name;       /* of the entry, NULL for a pair of link ends */
    const char *written;    /* as it stands in the file, for messages */
    size_t count, position; /* count 0: not ranged */
};

struct expansion {
    struct schema_report *report;
    struct topo_arena *arena;
    size_t *names;
    size_t consulted; /* the smallest depth of a frame consulted, SIZE_MAX none */
};

static struct doc_node *expand(struct expansion *x, struct doc_node *node, const struct schema_key *row,
                               const struct frame *up);

static size_t depth_of(const struct frame *frame) { return frame ? frame->depth : 0; }

static void consult(struct expansion *x, const struct frame *frame)
{
    if (frame && frame->depth < x->consulted)
        x->consulted = frame->depth;
}

/* Counts names that a range made. False, once with an error, when the file has too many. */
static bool count_names(struct expansion *x, struct diag_mark mark, size_t n)
{
    if (*x->names > RANGE_NAMES_MAX)
        return false;
    *x->names += n;
    if (*x->names <= RANGE_NAMES_MAX)
        return true;
    schema_error(x->report, mark, NULL, "the ranges of this file make more than %d names", RANGE_NAMES_MAX);
    return false;
}

/* A short text can stand for more than fits anywhere: ranges within ranges. Once with an error. */
static bool too_large(struct expansion *x, const struct doc_node *node, struct diag_mark mark)
{
    if (node->weight > WEIGHT_MAX)
        schema_error(x->report, mark, NULL, "the ranges make this file larger than %d values", WEIGHT_MAX);
    return node->weight > WEIGHT_MAX;
}

/* `{name}` replaced by the name of the nearest entry. Where there is none, the text stays. */
static const char *put_name(struct expansion *x, const char *text, const struct frame *up)
{
    static const char mark[] = "{name}";
    while (up && !up->name)
        up = up->up;
    const char *found = strstr(text, mark);
    if (!found || !up)
        return text;
    consult(x, up);
    const char *result = "";
    for (; found; text = found + strlen(mark), found = strstr(text, mark))
        result = arena_printf(x->arena, "%s%.*s%s", result, (int)(found - text), text, up->name);
    return arena_printf(x->arena, "%s%s", result, text);
}

static bool parse(struct expansion *x, const char *text, struct diag_mark mark, struct range *out)
{
    const char *problem = NULL;
    if (range_parse(x->arena, text, out, &problem))
        return true;
    schema_error(x->report, mark, NULL, "`%s`: %s", text, problem);
    return false;
}

/* One value: with a range in it, the name at the position of the nearest ranged key of the same count. */
static struct doc_node *expand_one(struct expansion *x, const struct doc_node *node, const struct frame *up)
{
    struct range range;
    const char *text = put_name(x, node->text, up);
    if (!parse(x, text, node->mark, &range))
        return doc_scalar(x->arena, node->text, node->mark);
    if (!range.ranged)
        return doc_scalar(x->arena, text, node->mark);
    if (range.count == 1)
        return doc_scalar(x->arena, range_at(x->arena, &range, 0), node->mark);
    const struct frame *nearest = NULL;
    for (const struct frame *f = up; f; f = f->up) {
        if (!f->count)
            continue;
        if (!nearest)
            nearest = f;
        if (f->count == range.count) {
            consult(x, f);
            if (!count_names(x, node->mark, 1))
                return doc_scalar(x->arena, node->text, node->mark);
            return doc_scalar(x->arena, range_at(x->arena, &range, f->position), node->mark);
        }
    }
    if (nearest)
        schema_error(x->report, node->mark, NULL, "`%s` is %zu names, but `%s` is %zu: here they pair by position",
                     text, range.count, nearest->written, nearest->count);
    else
        schema_error(x->report, node->mark, NULL, "`%s` is %zu names, but one value belongs here", text, range.count);
    return doc_scalar(x->arena, range_at(x->arena, &range, 0), node->mark);
}

/* Appends the names of a text, a set. */
static void add_set(struct expansion *x, struct doc_node *list, const struct doc_node *item, const struct frame *up)
{
    struct range range;
    const char *text = put_name(x, item->text, up);
    if (!parse(x, text, item->mark, &range) || !count_names(x, item->mark, range.ranged ? range.count : 0))
        return;
    for (size_t i = 0; i < range.count; i++) {
        const char *name = range.ranged ? range_at(x->arena, &range, i) : text;
        doc_append(x->arena, list, doc_scalar(x->arena, name, item->mark));
    }
}

static struct doc_node *expand_set(struct expansion *x, const struct doc_node *node, const struct frame *up)
{
    struct doc_node *list = doc_new(x->arena, DOC_LIST, node->mark);
    if (node->type == DOC_SCALAR) {
        add_set(x, list, node, up);
        return list;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (node->items[i]->type == DOC_SCALAR)
            add_set(x, list, node->items[i], up);
        else
            doc_append(x->arena, list, node->items[i]); /* refused by schema_check() */
    }
    return list;
}

static struct doc_node *expand_map(struct expansion *x, const struct doc_node *node, const struct schema_key *keys,
                                   const struct frame *up)
{
    struct doc_node *map = doc_new(x->arena, DOC_MAP, node->mark);
    for (size_t i = 0; i < node->count; i++) {
        const struct doc_pair *pair = &node->pairs[i];
        const struct schema_key *row = schema_find(keys, pair->key);
        doc_put(x->arena, map, pair->key, pair->mark, row ? expand(x, pair->value, row, up) : pair->value);
    }
    return map;
}

/* The value of one entry of a map of names. */
static struct doc_node *expand_entry(struct expansion *x, const struct doc_node *value, const struct schema_key *row,
                                     const struct frame *frame)
{
    if (value->type == DOC_MAP && row->keys)
        return expand_map(x, value, row->keys, frame);
    if (value->type == DOC_SCALAR && !(row->flags & SCHEMA_TEXT_ENTRIES))
        return expand_one(x, value, frame);
    struct doc_node *copy = doc_new(x->arena, value->type, value->mark);
    *copy = *value;
    return copy;
}

static struct doc_node *expand_named(struct expansion *x, const struct doc_node *node, const struct schema_key *row,
                                     const struct frame *up)
{
    struct doc_node *map = doc_new(x->arena, DOC_MAP, node->mark);
    struct name_table places;
    name_table_init(&places, x->arena);
    for (size_t i = 0; i < node->count; i++) {
        const struct doc_pair *pair = &node->pairs[i];
        struct range range;
        if (!parse(x, pair->key, pair->mark, &range) || !count_names(x, pair->mark, range.ranged ? range.count : 0))
            continue;
        for (size_t k = 0; k < range.count; k++) {
            const char *name = range.ranged ? range_at(x->arena, &range, k) : pair->key;
            const struct frame frame = {up, depth_of(up) + 1, name, pair->key, range.ranged ? range.count : 0, k};
            if (too_large(x, map, pair->mark))
                return map;
            int first = name_table_add(&places, name, (int)map->count);
            if (first >= 0)
                schema_error(x->report, pair->mark, NULL, "`%s` is here twice; the first is from line %d", name,
                             map->pairs[first].mark.line);
            else
                doc_put(x->arena, map, name, pair->mark, expand_entry(x, pair->value, row, &frame));
        }
    }
    return map;
}

/* The two ends of a link: how many cables the item is, and the ends parsed. False after an error. */
static bool parse_ends(struct expansion *x, const struct doc_node *ends, struct range out[2])
{
    if (!ends || ends->type != DOC_LIST || ends->count != 2 || ends->items[0]->type != DOC_SCALAR ||
        ends->items[1]->type != DOC_SCALAR)
        return false; /* schema_check() says what is wrong */
    for (int i = 0; i < 2; i++)
        if (!parse(x, ends->items[i]->text, ends->items[i]->mark, &out[i]))
            return false;
    if (out[0].count == out[1].count)
        return count_names(x, ends->mark, out[0].ranged ? 2 * out[0].count : 0);
    schema_error(x->report, ends->items[1]->mark, NULL, "`%s` is %zu ports, but `%s` is %zu: the ends pair by position",
                 ends->items[1]->text, out[1].count, ends->items[0]->text, out[0].count);
    return false;
}

static const char *key_of_pair(const struct schema_key *keys)
{
    for (; keys->name; keys++)
        if (keys->flags & SCHEMA_PAIR)
            return keys->name;
    return NULL;
}

static void expand_item(struct expansion *x, struct doc_node *item, const struct schema_key *row,
                        const struct frame *up, struct doc_node *list)
{
    const char *pair_key = key_of_pair(row->keys);
    struct range ends[2];
    if (!pair_key) {
        doc_append(x->arena, list, expand_map(x, item, row->keys, up));
        return;
    }
    if (!parse_ends(x, doc_get(item, pair_key), ends)) {
        doc_append(x->arena, list, item); /* as it stands, so that schema_check() sees the rest of it */
        return;
    }
    for (size_t k = 0; k < ends[0].count; k++) {
        const struct frame frame = {
            up, depth_of(up) + 1, NULL, doc_get(item, pair_key)->items[0]->text, ends[0].ranged ? ends[0].count : 0, k};
        struct doc_node *map = doc_new(x->arena, DOC_MAP, item->mark);
        if (too_large(x, list, item->mark))
            return;
        for (size_t i = 0; i < item->count; i++) {
            const struct doc_pair *pair = &item->pairs[i];
            const struct schema_key *r = schema_find(row->keys, pair->key);
            struct doc_node *value = pair->value;
            if (strcmp(pair->key, pair_key) == 0) {
                value = doc_new(x->arena, DOC_LIST, pair->value->mark);
                for (int e = 0; e < 2; e++)
                    doc_append(x->arena, value,
                               doc_scalar(x->arena, range_at(x->arena, &ends[e], k), pair->value->items[e]->mark));
            } else if (r) {
                value = expand(x, pair->value, r, &frame);
            }
            doc_put(x->arena, map, pair->key, pair->mark, value);
        }
        doc_append(x->arena, list, map);
    }
}

static struct doc_node *expand_items(struct expansion *x, const struct doc_node *node, const struct schema_key *row,
                                     const struct frame *up)
{
    struct doc_node *list = doc_new(x->arena, DOC_LIST, node->mark);
    for (size_t i = 0; i < node->count; i++) {
        struct doc_node *item = node->items[i];
        if (item->type == DOC_MAP)
            expand_item(x, item, row, up, list);
        else
            doc_append(x->arena, list, node->items[i]); /* refused by schema_check() */
    }
    return list;
}

static struct doc_node *expand_shape(struct expansion *x, const struct doc_node *node, const struct schema_key *row,
                                     const struct frame *up)
{
    if (node->type == DOC_MAP && (row->shape & SCHEMA_MAP))
        return expand_map(x, node, row->keys, up);
    if (node->type == DOC_MAP && (row->shape & SCHEMA_NAMED))
        return expand_named(x, node, row, up);
    if (node->type == DOC_LIST && (row->shape & SCHEMA_ITEMS))
        return expand_items(x, node, row, up);
    if (node->type == DOC_SCALAR && (row->shape & SCHEMA_ONE))
        return expand_one(x, node, up);
    if ((node->type == DOC_SCALAR || node->type == DOC_LIST) && (row->shape & SCHEMA_LIST))
        return expand_set(x, node, up);
    struct doc_node *copy = doc_new(x->arena, node->type, node->mark);
    *copy = *node;
    return copy;
}

static struct doc_node *expand(struct expansion *x, struct doc_node *node, const struct schema_key *row,
                               const struct frame *up)
{
    if (node->expanded)
        return node->expanded;
    size_t outer = x->consulted;
    x->consulted = SIZE_MAX;
    struct doc_node *result = expand_shape(x, node, row, up);
    if (x->consulted > depth_of(up)) {
        /* Only frames within this node, or none: the same wherever it stands. The tree as parsed is ours to annotate. */
        node->expanded = result;
        x->consulted = outer;
    } else if (outer < x->consulted) {
        x->consulted = outer;
    }
    return result;
}

struct doc_node *schema_expand(struct doc_node *tree, const struct schema_key *row, struct schema_report *r,
                               size_t *names)
{
    struct expansion x = {.report = r, .arena = r->arena, .consulted = SIZE_MAX};
    x.names = names;
    return expand(&x, tree, row, NULL);
}
