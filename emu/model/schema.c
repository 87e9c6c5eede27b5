#include "emu/model/schema.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "emu/model/topology.h"
#include "emu/model/units.h"

const struct schema_key *schema_find(const struct schema_key *keys, const char *name)
{
    for (; keys->name; keys++)
        if ((keys->flags & SCHEMA_ANY_KEY) || strcmp(keys->name, name) == 0)
            return keys;
    return NULL;
}

static const char *place_name(struct schema_report *r, struct diag_mark mark)
{
    return arena_printf(r->arena, "%d:%d", mark.line, mark.column);
}

void schema_report_init(struct schema_report *r, struct topo_arena *a, struct diag *d)
{
    *r = (struct schema_report){.d = d, .arena = a};
    name_table_init(&r->seen, a);
    /* What an earlier reading of the same file said need not be said again. */
    for (size_t i = 0; i < d->count; i++)
        if (d->entries[i].severity == DIAG_ERROR && d->entries[i].mark.line)
            name_table_add(&r->seen, place_name(r, d->entries[i].mark), 0);
}

enum { ERRORS_MAX = 100 };

bool schema_is_new(struct schema_report *r, struct diag_mark mark)
{
    return !mark.line || (r->errors <= ERRORS_MAX && name_table_find(&r->seen, place_name(r, mark)) < 0);
}

void schema_error(struct schema_report *r, struct diag_mark mark, const char *hint, const char *format, ...)
{
    r->failed = true;
    if (!schema_is_new(r, mark) || r->errors > ERRORS_MAX)
        return;
    name_table_add(&r->seen, place_name(r, mark), 0);
    if (r->errors++ == ERRORS_MAX) {
        diag_add(r->d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "more than %d errors; the rest is not shown",
                 ERRORS_MAX);
        return;
    }
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    diag_add(r->d, DIAG_ERROR, NULL, mark, hint, "%s", text);
}

/* "did you mean `teaming`?", else the list of what is known, in arena memory. */
static const char *suggest(struct schema_report *r, const char *word, const char *const *names, size_t n)
{
    const char *near = diag_nearest(word, names, n);
    if (near)
        return arena_printf(r->arena, "did you mean `%s`?", near);
    const char *known = NULL;
    for (size_t i = 0; i < n; i++)
        known = known ? arena_printf(r->arena, "%s, %s", known, names[i])
                      : arena_printf(r->arena, "known here: %s", names[i]);
    return known;
}

/* A limit of this row in its unit, for messages. */
static const char *limit_text(struct schema_report *r, const struct schema_key *row, double limit)
{
    char text[40];
    if (row->value == SCHEMA_RATE)
        unit_print_rate(text, sizeof(text), (bps_t)limit);
    else if (row->value == SCHEMA_SIZE)
        unit_print_size(text, sizeof(text), (uint64_t)limit);
    else if (row->value == SCHEMA_TIME || row->value == SCHEMA_TIME_OR_OFF)
        unit_print_time(text, sizeof(text), (ps_t)(limit * (double)PS_PER_S));
    else if (row->value == SCHEMA_BYTE_RATE && limit < 1e5)
        snprintf(text, sizeof(text), "%llu B/s", (unsigned long long)limit);
    else if (row->value == SCHEMA_BYTE_RATE)
        snprintf(text, sizeof(text), "%llu MB/s", (unsigned long long)(limit / 1e6));
    else if (row->value == SCHEMA_PERCENT)
        snprintf(text, sizeof(text), "%d%%", (int)(limit * 100));
    else if (limit > 0 && limit < 1)
        snprintf(text, sizeof(text), "0.%03d", (int)(limit * 1000));
    else
        snprintf(text, sizeof(text), "%llu", (unsigned long long)limit);
    return arena_copy(r->arena, text, strlen(text));
}

/* `scale` is what one of the limits' unit is in the value's. */
static void check_limits(struct schema_report *r, const struct doc_node *node, const struct schema_key *row,
                         double value, double scale)
{
    if (row->max == 0 || (value >= row->min * scale && value <= row->max * scale))
        return;
    schema_error(r, node->mark, NULL, "`%s` is out of range: %s is %s to %s", node->text, row->name,
                 limit_text(r, row, row->min), limit_text(r, row, row->max));
}

static bool read_integer(const char *text, double *out)
{
    double value = 0;
    if (!*text || strlen(text) > 15)
        return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return false;
        value = value * 10 + (*text - '0');
    }
    *out = value;
    return true;
}

static bool is_name(const char *text) { return *text && !strpbrk(text, " \t\n:>,[]{}\"'`"); }

static bool is_mac(const char *text)
{
    for (int i = 0; i < 17; i++) {
        char c = text[i];
        bool hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        if (i % 3 == 2 ? c != ':' && c != '-' : !hex)
            return false;
    }
    return text[17] == '\0';
}

/* What was expected instead, or NULL when the text is of the kind and needs no check of its limits (then *number < 0). */
static const char *parse_value(const struct schema_key *row, const char *text, double *number, double *scale)
{
    struct topo_addr address;
    const char *expected = NULL;
    uint64_t whole;
    ps_t time;
    *number = -1;
    *scale = 1;
    switch (row->value) {
    case SCHEMA_WORD:
        return *text ? NULL : "a value";
    case SCHEMA_NAME:
        return is_name(text) ? NULL : "a name without blanks, quotes and : > , [ ] { }";
    case SCHEMA_BOOL:
        return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ? NULL : "true or false";
    case SCHEMA_VLAN_OR_TRUNK:
        if (strcmp(text, "trunk") == 0)
            return NULL;
        return read_integer(text, number) && *number >= 1 && *number <= 4094 ? NULL : "a VLAN 1 to 4094, or trunk";
    case SCHEMA_INTEGER:
        return read_integer(text, number) ? NULL : "a whole number";
    case SCHEMA_RATE:
        expected = unit_parse_rate(text, &whole);
        *number = expected ? -1 : (double)whole;
        return expected;
    case SCHEMA_SIZE:
        expected = unit_parse_size(text, &whole);
        *number = expected ? -1 : (double)whole;
        return expected;
    case SCHEMA_TIME_OR_OFF:
        if (strcmp(text, "off") == 0)
            return NULL;
        expected = unit_parse_time(text, &time) ? "a time such as 1s, or off" : NULL;
        *number = expected ? -1 : (double)time;
        *scale = (double)PS_PER_S;
        return expected;
    case SCHEMA_TIME:
        expected = unit_parse_time(text, &time);
        *number = expected ? -1 : (double)time;
        *scale = (double)PS_PER_S;
        return expected;
    case SCHEMA_BYTE_RATE:
        return unit_parse_byte_rate(text, number);
    case SCHEMA_COUNT:
        return unit_parse_count(text, number);
    case SCHEMA_PERCENT:
        return unit_parse_percent(text, number);
    case SCHEMA_WEIGHT:
        if (!unit_parse_count(text, number) || !unit_parse_byte_rate(text, number))
            return *number > 0 ? NULL : "a weight above 0";
        return "a number such as 2, or bytes per second such as 600MB/s";
    case SCHEMA_MEASURE:
        if (!unit_parse_count(text, number) || !unit_parse_byte_rate(text, number) || !unit_parse_time(text, &time))
            return NULL;
        return "a number such as 4 or 20k, bytes per second such as 118MB/s, or a time such as 20ms";
    case SCHEMA_ADDRESS:
        return topo_addr_parse(&address, text) && !strchr(text, '/') ? NULL : "an address such as 10.10.5.1";
    case SCHEMA_ADDRESS_PREFIX:
        return topo_addr_parse(&address, text) && strchr(text, '/') && address.prefix > 0
                   ? NULL
                   : "an address with its prefix, such as 10.10.5.11/24";
    case SCHEMA_MAC:
        return is_mac(text) ? NULL : "a MAC address such as 00:50:56:00:00:11";
    case SCHEMA_PATH:
        return *text == '/' ? NULL : "a path that begins with /";
    case SCHEMA_CHOICE:
        break;
    }
    return NULL;
}

static void check_choice(struct schema_report *r, const struct doc_node *node, const struct schema_key *row)
{
    const char *known = NULL;
    size_t n = 0;
    for (const char *const *w = row->words; w && *w; w++, n++) {
        if (strcmp(*w, node->text) == 0)
            return;
        known = known ? arena_printf(r->arena, "%s, %s", known, *w) : *w;
    }
    const char *near = diag_nearest(node->text, row->words, n);
    schema_error(r, node->mark, near ? arena_printf(r->arena, "did you mean `%s`?", near) : NULL,
                 "`%s`: %s is one of %s", node->text, row->name, known);
}

static void check_one(struct schema_report *r, const struct doc_node *node, const struct schema_key *row)
{
    if (row->value == SCHEMA_CHOICE) {
        check_choice(r, node, row);
        return;
    }
    double number, scale;
    const char *expected = parse_value(row, node->text, &number, &scale);
    if (expected)
        schema_error(r, node->mark, NULL, "`%s`: %s expects %s", node->text, row->name, expected);
    else if (number >= 0)
        check_limits(r, node, row, number, scale);
}

static void check_list(struct schema_report *r, const struct doc_node *node, const struct schema_key *row)
{
    struct name_table seen;
    name_table_init(&seen, r->arena);
    if (row->flags & SCHEMA_PAIR) {
        if (node->count != 2)
            schema_error(r, node->mark, NULL, "%s are exactly two, not %zu", row->name, node->count);
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct doc_node *item = node->items[i];
        if (item->type != DOC_SCALAR)
            schema_error(r, item->mark.line ? item->mark : node->mark, NULL,
                         "%s in a list of %s: expected names or numbers", doc_type_name(item), row->name);
        else if (name_table_add(&seen, item->text, 0) >= 0)
            schema_error(r, item->mark, NULL, "`%s` is twice in %s", item->text, row->name);
        else
            check_one(r, item, row);
    }
}

static const char *kind_names(struct schema_report *r, unsigned kinds)
{
    const char *text = NULL;
    for (unsigned i = 0; schema_kinds[i]; i++)
        if (kinds & 1u << i)
            text = text ? arena_printf(r->arena, "%s, %s", text, schema_kinds[i]) : schema_kinds[i];
    return text;
}

static unsigned kind_bit(const struct doc_node *map)
{
    const struct doc_node *kind = doc_get(map, "kind");
    for (unsigned i = 0; kind && schema_kinds[i]; i++)
        if (strcmp(schema_kinds[i], kind->text) == 0)
            return 1u << i;
    return 0;
}

/* `kind`: that of the node, 0 elsewhere. */
static void unknown_key(struct schema_report *r, const struct doc_pair *pair, const struct schema_key *keys,
                        unsigned kind)
{
    const char *names[64] = {NULL};
    size_t n = 0;
    r->failed = true;
    if (!schema_is_new(r, pair->mark))
        return;
    for (; keys->name && n < sizeof(names) / sizeof(names[0]); keys++)
        if (!keys->kinds || !kind || (keys->kinds & kind))
            names[n++] = keys->name;
    schema_error(r, pair->mark, suggest(r, pair->key, names, n), "unknown key `%s`", pair->key);
}

static void check(struct schema_report *r, const struct doc_node *node, const struct schema_key *row,
                  struct diag_mark at, bool partial);

static void check_map(struct schema_report *r, const struct doc_node *map, const struct schema_key *keys,
                      struct diag_mark at, bool partial)
{
    unsigned kind = kind_bit(map);
    for (size_t i = 0; i < map->count; i++) {
        const struct doc_pair *pair = &map->pairs[i];
        const struct schema_key *row = schema_find(keys, pair->key);
        if (!row)
            unknown_key(r, pair, keys, kind);
        else if (partial && (row->flags & SCHEMA_NOT_IN_CASE))
            schema_error(r, pair->mark, NULL, "a case can't change `%s`", pair->key);
        else if (row->kinds && kind && !(row->kinds & kind))
            schema_error(r, pair->mark, NULL, "`%s` belongs to %s, this node is of kind %s", pair->key,
                         kind_names(r, row->kinds), doc_get(map, "kind")->text);
        else
            check(r, pair->value, row, pair->mark, partial);
    }
    for (const struct schema_key *row = keys; row->name && !partial; row++)
        if ((row->flags & SCHEMA_REQUIRED) && !doc_get(map, row->name))
            schema_error(r, at, row->help ? arena_printf(r->arena, "%s: %s", row->name, row->help) : NULL,
                         "`%s` is missing", row->name);
}

static void check_named(struct schema_report *r, const struct doc_node *map, const struct schema_key *row, bool partial)
{
    const struct schema_key name_row = {.name = row->name, .value = row->names};
    const struct schema_key one = {
        .name = row->name, .shape = SCHEMA_ONE, .value = row->value, .min = row->min, .max = row->max};
    for (size_t i = 0; i < map->count; i++) {
        const struct doc_pair *pair = &map->pairs[i];
        const struct doc_node name = {.type = DOC_SCALAR, .mark = pair->mark, .text = pair->key};
        check_one(r, &name, &name_row);
        if (row->flags & SCHEMA_TEXT_ENTRIES) {
            if (pair->value->type != DOC_SCALAR && !(partial && pair->value->type == DOC_NULL))
                schema_error(r, pair->mark, NULL, "`%s`: expected a text", pair->key);
        } else if (!row->keys) {
            check(r, pair->value, &one, pair->mark, partial);
        } else if (pair->value->type == DOC_MAP) {
            check_map(r, pair->value, row->keys, pair->mark, partial);
        } else if (pair->value->type == DOC_NULL && !partial) {
            static const struct doc_node nothing = {.type = DOC_MAP, .text = ""};
            check_map(r, &nothing, row->keys, pair->mark, partial);
        } else if (pair->value->type != DOC_NULL) {
            schema_error(r, pair->value->mark.line ? pair->value->mark : pair->mark, NULL,
                         "`%s`: expected a map, found %s", pair->key, doc_type_name(pair->value));
        }
    }
}

static const char *shape_names(unsigned shape)
{
    bool one = shape & (SCHEMA_ONE | SCHEMA_TEXT), list = shape & (SCHEMA_LIST | SCHEMA_ITEMS),
         map = shape & (SCHEMA_MAP | SCHEMA_NAMED);
    return one && map    ? "one value or a map"
           : list && map ? "a list or a map"
           : map         ? "a map"
           : list        ? "a list"
                         : "one value";
}

static void check(struct schema_report *r, const struct doc_node *node, const struct schema_key *row,
                  struct diag_mark at, bool partial)
{
    partial = partial || (row->flags & SCHEMA_PARTIAL);
    /* `exports:` with nothing behind it is an empty map, where nothing but a map could stand there. */
    bool only_map = (row->shape & (SCHEMA_MAP | SCHEMA_NAMED)) && !(row->shape & (SCHEMA_ONE | SCHEMA_LIST));
    if (node->type == DOC_NULL && (partial || (only_map && !(row->flags & SCHEMA_REQUIRED))))
        return;
    if (node->type == DOC_SCALAR && (row->shape & SCHEMA_TEXT))
        return;
    if (node->type == DOC_SCALAR && (row->shape & SCHEMA_ONE)) {
        check_one(r, node, row);
    } else if (node->type == DOC_LIST && (row->shape & SCHEMA_LIST)) {
        check_list(r, node, row);
    } else if (node->type == DOC_MAP && (row->shape & SCHEMA_MAP)) {
        check_map(r, node, row->keys, at, partial);
    } else if (node->type == DOC_MAP && (row->shape & SCHEMA_NAMED)) {
        check_named(r, node, row, partial);
    } else if (node->type == DOC_LIST && (row->shape & SCHEMA_ITEMS)) {
        for (size_t i = 0; i < node->count; i++) {
            const struct doc_node *item = node->items[i];
            /* A list replaces as a whole, so its items are complete in a case too. */
            if (item->type == DOC_MAP)
                check_map(r, item, row->keys, item->mark, false);
            else
                schema_error(r, item->mark.line ? item->mark : at, NULL, "%s: expected a map, found %s", row->name,
                             doc_type_name(item));
        }
    } else {
        schema_error(r, node->mark.line ? node->mark : at, NULL, "`%s`: expected %s, found %s", row->name,
                     shape_names(row->shape), doc_type_name(node));
    }
}

void schema_check(const struct doc_node *tree, const struct schema_key *row, bool partial, struct schema_report *r)
{
    check(r, tree, row, (struct diag_mark){1, 1, 1}, partial);
}
