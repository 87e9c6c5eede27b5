/* Theory of operation. The text is read as libfyaml's stream of events, not as its document: events carry the places of
 * maps and lists, show anchors, aliases and further documents before anything is resolved (an alias bomb never expands),
 * and leave doubled keys and nesting to us, so that one file gives several errors in one pass. libfyaml's own errors are
 * collected in a diag object of ours; for an empty or binary text it has none, so those are looked for first.
 */
#include "emu/model/topology_yaml.h"

#include <libfyaml.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 24 };

struct reader {
    struct fy_parser *parser;
    struct topo_arena *arena;
    struct diag *d;
    bool failed;
};

static void error(struct reader *r, struct diag_mark mark, const char *hint, const char *text)
{
    diag_add(r->d, DIAG_ERROR, NULL, mark, hint, "%s", text);
    r->failed = true;
}

static struct diag_mark mark_of(struct fy_event *event)
{
    const struct fy_mark *start = fy_event_start_mark(event), *end = fy_event_end_mark(event);
    if (!start)
        return (struct diag_mark){0};
    struct diag_mark mark = {start->line + 1, start->column + 1, 1};
    if (end && end->line == start->line && end->column > start->column)
        mark.length = end->column - start->column;
    return mark;
}

/* Copies what the event carries into a new node. An empty value is placed behind its key. */
static struct doc_node *scalar(struct reader *r, struct fy_event *event, struct diag_mark behind)
{
    struct fy_token *token = event->scalar.value;
    size_t length = 0;
    const char *text = token ? fy_token_get_text(token, &length) : NULL;
    struct diag_mark mark = token ? mark_of(event) : behind;
    if (!text)
        return doc_new(r->arena, DOC_NULL, mark);
    bool plain = fy_scalar_token_get_style(token) == FYSS_PLAIN;
    if (memchr(text, '\0', length)) {
        error(r, mark, NULL, "a value with a NUL character in it");
        length = strlen(text);
    }
    const char *copy = arena_copy(r->arena, text, length);
    if (plain && (!*copy || strcmp(copy, "~") == 0 || strcmp(copy, "null") == 0 || strcmp(copy, "Null") == 0 ||
                  strcmp(copy, "NULL") == 0))
        return doc_new(r->arena, DOC_NULL, mark);
    return doc_scalar(r->arena, copy, mark);
}

static void refuse_decoration(struct reader *r, struct fy_event *event)
{
    struct fy_token *anchor = NULL, *tag = NULL;
    if (event->type == FYET_SCALAR)
        anchor = event->scalar.anchor, tag = event->scalar.tag;
    else if (event->type == FYET_MAPPING_START)
        anchor = event->mapping_start.anchor, tag = event->mapping_start.tag;
    else if (event->type == FYET_SEQUENCE_START)
        anchor = event->sequence_start.anchor, tag = event->sequence_start.tag;
    if (anchor)
        error(r, mark_of(event), "write it out, or use a range such as esx[1-4]",
              "anchors (&) are not used in this format");
    if (tag)
        error(r, mark_of(event), NULL, "tags (!) are not used in this format");
}

static struct doc_node *value(struct reader *r, struct fy_event *event, struct diag_mark behind, unsigned depth);

static struct doc_node *list(struct reader *r, struct fy_event *start, unsigned depth)
{
    struct doc_node *node = doc_new(r->arena, DOC_LIST, mark_of(start));
    for (;;) {
        struct fy_event *event = fy_parser_parse(r->parser);
        if (!event || event->type == FYET_SEQUENCE_END) {
            fy_parser_event_free(r->parser, event);
            return event ? node : NULL;
        }
        struct doc_node *item = value(r, event, node->mark, depth + 1);
        fy_parser_event_free(r->parser, event);
        if (!item)
            return NULL;
        doc_append(r->arena, node, item);
    }
}

/* One key of a map: a scalar. NULL after an error. */
static struct doc_node *key(struct reader *r, struct fy_event *event)
{
    if (event->type == FYET_ALIAS) {
        error(r, mark_of(event), NULL, "aliases (*) are not used in this format");
        return NULL;
    }
    if (event->type != FYET_SCALAR) {
        error(r, mark_of(event), "quote it when it holds brackets: \"[a,b]1\"", "a key must be one word");
        return NULL;
    }
    refuse_decoration(r, event);
    struct doc_node *node = scalar(r, event, mark_of(event));
    if (strcmp(node->text, "<<") == 0) {
        error(r, node->mark, "write it out, or use a range such as esx[1-4]",
              "merge keys (<<) are not used in this format");
        return NULL;
    }
    if (node->type != DOC_SCALAR || !*node->text) {
        error(r, node->mark, NULL, "an empty key");
        return NULL;
    }
    return node;
}

static struct doc_node *map(struct reader *r, struct fy_event *start, unsigned depth)
{
    struct doc_node *node = doc_new(r->arena, DOC_MAP, mark_of(start));
    struct name_table keys;
    name_table_init(&keys, r->arena);
    for (;;) {
        struct fy_event *event = fy_parser_parse(r->parser);
        if (!event || event->type == FYET_MAPPING_END) {
            fy_parser_event_free(r->parser, event);
            return event ? node : NULL;
        }
        struct doc_node *k = key(r, event);
        fy_parser_event_free(r->parser, event);
        event = k ? fy_parser_parse(r->parser) : NULL;
        struct doc_node *v = event ? value(r, event, k->mark, depth + 1) : NULL;
        fy_parser_event_free(r->parser, event);
        if (!v)
            return NULL;
        int first = name_table_add(&keys, k->text, (int)node->count);
        if (first >= 0) {
            diag_add(r->d, DIAG_ERROR, NULL, k->mark, NULL, "`%s` stands here twice; the first is in line %d", k->text,
                     node->pairs[first].mark.line);
            r->failed = true;
        } else {
            doc_put(r->arena, node, k->text, k->mark, v);
        }
    }
}

/* The value that begins with this event, with all that belongs to it; NULL when the text breaks off or is refused. */
static struct doc_node *value(struct reader *r, struct fy_event *event, struct diag_mark behind, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        error(r, mark_of(event), NULL, "nested too deeply");
        return NULL;
    }
    refuse_decoration(r, event);
    if (event->type == FYET_SCALAR)
        return scalar(r, event, behind);
    if (event->type == FYET_SEQUENCE_START)
        return list(r, event, depth);
    if (event->type == FYET_MAPPING_START)
        return map(r, event, depth);
    if (event->type == FYET_ALIAS)
        error(r, mark_of(event), "write it out, or use a range such as esx[1-4]",
              "aliases (*) are not used in this format");
    return NULL;
}

/* A word with a `[` right behind it, inside a flow map and outside quotes: YAML takes that as the start of a list. Returns the
 * hint for such a line, or NULL. */
static const char *unquoted_range(struct reader *r, const char *text, size_t size, int line)
{
    const char *p = text, *end = text + size, *word = NULL;
    for (int i = 1; i < line && p; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p)
            p++;
    }
    bool quoted = false;
    for (char before = ' '; p && p < end && *p != '\n'; before = *p++) {
        if (strchr(" ,{[:\"'", before))
            word = p;
        if (*p == '"' || *p == '\'')
            quoted = !quoted;
        else if (*p == '#' && before == ' ' && !quoted)
            return NULL;
        else if (*p == '[' && !quoted && p > word)
            break;
    }
    if (!word || !p || p >= end || *p != '[')
        return NULL;
    while (p < end && !strchr(" }\n\r", *p) && (*p != ',' || memchr(word, ']', (size_t)(p - word)) == NULL))
        p++;
    return arena_printf(r->arena, "quote the range: \"%.*s\", since a bare [ begins a list inside { }", (int)(p - word),
                        word);
}

static void take_errors(struct reader *r, struct fy_diag *collected, const char *text, size_t size)
{
    void *at = NULL;
    struct fy_diag_error *e;
    int last_line = size && text[size - 1] != '\n';
    for (size_t i = 0; i < size; i++)
        last_line += text[i] == '\n';
    while ((e = fy_diag_errors_iterate(collected, &at))) {
        struct diag_mark mark = {e->line > 0 ? e->line : 1, e->column > 0 ? e->column : 1, 1};
        const char *hint = unquoted_range(r, text, size, mark.line);
        if (!hint && mark.line > last_line)
            hint = "the file ends here: a {, [ or quote further up is not closed";
        error(r, mark, hint, e->msg);
    }
    if (!r->failed)
        error(r, (struct diag_mark){1, 1, 1}, NULL, "this is not YAML");
}

static struct doc_node *document(struct reader *r)
{
    struct doc_node *root = NULL;
    bool begun = false;
    for (;;) {
        struct fy_event *event = fy_parser_parse(r->parser);
        if (!event)
            return NULL;
        enum fy_event_type type = event->type;
        struct diag_mark mark = mark_of(event);
        bool fine = true;
        if (type == FYET_DOCUMENT_START && begun) {
            error(r, mark, "one file holds one topology", "a second document begins here");
            fine = false;
        } else if (type == FYET_DOCUMENT_START) {
            begun = true;
        } else if (type != FYET_STREAM_START && type != FYET_STREAM_END && type != FYET_DOCUMENT_END) {
            root = value(r, event, mark, 0);
            fine = root != NULL;
        }
        fy_parser_event_free(r->parser, event);
        if (!fine)
            return NULL;
        if (type == FYET_STREAM_END)
            return root;
    }
}

/* Place of the first byte that is not UTF-8 or is NUL; line 0: none. */
static struct diag_mark find_bad_byte(const char *text, size_t size)
{
    struct diag_mark mark = {1, 1, 1};
    for (size_t i = 0; i < size;) {
        const unsigned char *p = (const unsigned char *)text + i;
        size_t length = *p < 0x80 ? 1 : *p < 0xC2 ? 0 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : *p < 0xF5 ? 4 : 0;
        if (*p == 0 || length == 0 || i + length > size)
            return mark;
        for (size_t j = 1; j < length; j++)
            if ((p[j] & 0xC0) != 0x80)
                return mark;
        bool overlong = (*p == 0xE0 && p[1] < 0xA0) || (*p == 0xF0 && p[1] < 0x90);
        bool no_character = (*p == 0xED && p[1] > 0x9F) || (*p == 0xF4 && p[1] > 0x8F);
        if (overlong || no_character)
            return mark;
        if (*p == '\n')
            mark.line++, mark.column = 1;
        else
            mark.column++;
        i += length;
    }
    return (struct diag_mark){0};
}

struct doc_node *topology_yaml_read(struct topo_arena *a, const char *text, size_t size, struct diag *d)
{
    struct reader r = {.arena = a, .d = d};
    struct diag_mark bad = find_bad_byte(text, size);
    if (bad.line) {
        error(&r, bad, NULL, "this byte is not UTF-8 text");
        return NULL;
    }
    struct fy_diag_cfg diag_config;
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = NULL;
    struct fy_diag *collected = fy_diag_create(&diag_config);
    struct doc_node *root = NULL;
    if (!collected)
        abort();
    fy_diag_set_collect_errors(collected, true);
    const struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_JSON_NONE, .diag = collected};
    r.parser = fy_parser_create(&config);
    if (!r.parser || fy_parser_set_string(r.parser, text, size) != 0)
        abort();
    root = document(&r);
    if (fy_parser_get_stream_error(r.parser))
        take_errors(&r, collected, text, size);
    else if (!root && !r.failed)
        error(&r, (struct diag_mark){1, 1, 1}, "it begins with `version: 1`", "the file is empty");
    fy_parser_destroy(r.parser);
    fy_diag_destroy(collected);
    return r.failed ? NULL : root;
}
