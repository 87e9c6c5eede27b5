/* Theory of operation
 *
 * The tree of the file and the tree that the plan wants are compared, value by value. Entries that a range made share the place in
 * the text that they came from, so the values that differ are collected by place: every entry of that place says what it wants
 * there, and that becomes one value, or a range that gives each entry its own. Where no bracket can hold what differs, the entries of
 * the range are written out, one a line. A plan of a case becomes part of the case's `set`. Edits are made from the end of the text
 * to its beginning. Then the new text is read, and what does not come back as the tree that was wanted is refused.
 */
#include "emu/model/topology_write.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/schema.h"
#include "emu/model/topology_file_internal.h"

enum edit_kind { EDIT_VALUE, EDIT_NEW };

/* What one place in the text becomes. */
struct edit {
    enum edit_kind kind;
    const struct doc_node *at;      /* VALUE: the old value; NEW: the map */
    struct diag_mark key;           /* VALUE: its key */
    const char *name;               /* of the key */
    const struct doc_node **wanted; /* by entry */
    size_t n, capacity;
    bool differs;
    const char *text; /* of the place; NULL: the entries must be written out */
};

/* Entries of one range that are written out instead of it. */
struct split {
    const struct doc_node *before, *after; /* the maps that have them */
    const struct doc_pair *first;
    size_t from, to; /* bytes */
};

struct writer {
    struct topo_arena *a;
    const char *source;
    size_t size;
    struct edit *edits;
    size_t n_edits, capacity;
    struct split *splits;
    size_t n_splits, splits_capacity;
    struct diag *d;
};

static bool refuse(struct writer *w, struct diag_mark mark, const char *why, const char *what)
{
    diag_add(w->d, DIAG_ERROR, NULL, mark, "write the entries out, one by one, and plan again",
             "the plan can't be written here: %s%s", what, why);
    return false;
}

/* ---- what is wanted ---- */

/* The server that a host mounts from, as the file has it. */
static const char *server_of(const struct doc_node *datastore, const char *host)
{
    const struct doc_node *mounted = doc_get(datastore, "mounted"), *own;
    if (!mounted || mounted->type == DOC_SCALAR)
        return mounted ? mounted->text : NULL;
    own = doc_get(mounted, host);
    if (!own)
        own = doc_get(mounted, "default");
    return own && own->type == DOC_SCALAR ? own->text : NULL;
}

/* `mounted` as the assignments of a datastore want it: NULL where it may stay. */
static struct doc_node *wanted_mounts(struct writer *w, const struct doc_node *datastore,
                                      const struct topo_assignment *all, size_t n, const char *name)
{
    const struct diag_mark nowhere = {0};
    struct doc_node *map = doc_new(w->a, DOC_MAP, nowhere);
    const char *first = NULL;
    bool same = true, stays = true;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(all[i].datastore, name) != 0)
            continue;
        const char *old = server_of(datastore, all[i].host);
        stays &= old && strcmp(old, all[i].server) == 0;
        same &= !first || strcmp(first, all[i].server) == 0;
        first = first ? first : all[i].server;
        doc_put(w->a, map, all[i].host, nowhere, doc_scalar(w->a, all[i].server, nowhere));
    }
    if (!first || stays)
        return NULL;
    return same ? doc_scalar(w->a, first, nowhere) : map;
}

static struct doc_node *map_with(struct writer *w, const struct doc_node *map, const char *key, struct doc_node *value)
{
    struct doc_node *out = doc_new(w->a, DOC_MAP, map->mark);
    bool there = false;
    for (size_t i = 0; i < map->count; i++) {
        bool it = strcmp(map->pairs[i].key, key) == 0;
        there |= it;
        doc_put(w->a, out, map->pairs[i].key, map->pairs[i].mark, it ? value : map->pairs[i].value);
    }
    if (!there)
        doc_put(w->a, out, key, (struct diag_mark){0}, value);
    return out;
}

static struct doc_node *wanted_tree(struct writer *w, const struct doc_node *tree, const struct topo_assignment *all,
                                    size_t n)
{
    const struct doc_node *datastores = doc_get(tree, "datastores");
    struct doc_node *out = doc_new(w->a, DOC_MAP, datastores ? datastores->mark : tree->mark);
    for (size_t i = 0; datastores && i < datastores->count; i++) {
        const struct doc_pair *pair = &datastores->pairs[i];
        struct doc_node *ds = pair->value, *mounts = wanted_mounts(w, ds, all, n, pair->key);
        const struct doc_node *own = doc_get(ds, "server");
        if (mounts)
            ds = map_with(w, ds, "mounted", mounts);
        /* What a name of its own resolves to. */
        for (size_t k = 0; own && own->type == DOC_SCALAR && k < n; k++)
            if (strcmp(all[k].datastore, pair->key) == 0 && strcmp(all[k].server, own->text) == 0 &&
                (!doc_get(ds, "vip") || strcmp(doc_get(ds, "vip")->text, all[k].vip) != 0))
                ds = map_with(w, ds, "vip", doc_scalar(w->a, all[k].vip, (struct diag_mark){0}));
        doc_put(w->a, out, pair->key, pair->mark, ds);
    }
    return map_with(w, tree, "datastores", out);
}

/* ---- comparing ---- */

static bool is_same(const struct doc_node *a, const struct doc_node *b)
{
    if (a == b)
        return true;
    if (a->type != b->type || a->count != b->count)
        return false;
    if (a->type == DOC_SCALAR)
        return strcmp(a->text, b->text) == 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct doc_node *other = a->type == DOC_MAP ? doc_get(b, a->pairs[i].key) : b->items[i];
        if (!other || !is_same(a->type == DOC_MAP ? a->pairs[i].value : a->items[i], other))
            return false;
    }
    return true;
}

static bool same_mark(struct diag_mark a, struct diag_mark b) { return a.line == b.line && a.column == b.column; }

static struct edit *edit_at(struct writer *w, enum edit_kind kind, const struct doc_node *at, const char *name)
{
    for (size_t i = 0; i < w->n_edits; i++)
        if (w->edits[i].kind == kind && same_mark(w->edits[i].at->mark, at->mark) &&
            strcmp(w->edits[i].name, name) == 0)
            return &w->edits[i];
    w->edits = arena_grow(w->a, w->edits, w->n_edits, &w->capacity, sizeof *w->edits);
    w->edits[w->n_edits] = (struct edit){.kind = kind, .at = at, .name = name};
    return &w->edits[w->n_edits++];
}

static void want(struct writer *w, struct edit *e, const struct doc_node *value, bool differs)
{
    e->wanted = arena_grow(w->a, e->wanted, e->n, &e->capacity, sizeof *e->wanted);
    e->wanted[e->n++] = value;
    e->differs |= differs;
}

/* A map of hosts is written as a whole. */
static bool by_host(const char *key) { return strcmp(key, "mounted") == 0 || strcmp(key, "vmknic") == 0; }

/* `all`: also values that stay, of places where another entry wants something else. */
static void compare(struct writer *w, const struct doc_node *before, const struct doc_node *after)
{
    if (before == after)
        return;
    for (size_t i = 0; i < after->count; i++) {
        const struct doc_pair *new = &after->pairs[i], *old = doc_get_pair(before, new->key);
        if (!old) {
            edit_at(w, EDIT_NEW, before, new->key)->differs = true;
        } else if (old->value->type == DOC_MAP && new->value->type == DOC_MAP && !by_host(new->key)) {
            compare(w, old->value, new->value);
        } else if (!is_same(old->value, new->value)) {
            struct edit *e = edit_at(w, EDIT_VALUE, old->value, new->key);
            e->key = old->mark;
            e->differs = true;
        }
    }
}

/* Every entry that stands at a place which changes says what it wants there. */
static void collect(struct writer *w, const struct doc_node *before, const struct doc_node *after)
{
    for (size_t i = 0; i < w->n_edits; i++)
        if (w->edits[i].kind == EDIT_NEW && same_mark(w->edits[i].at->mark, before->mark))
            want(w, &w->edits[i], doc_get(after, w->edits[i].name), true);
    for (size_t i = 0; i < before->count; i++) {
        const struct doc_pair *old = &before->pairs[i];
        const struct doc_node *new = doc_get(after, old->key);
        for (size_t k = 0; k < w->n_edits; k++)
            if (w->edits[k].kind == EDIT_VALUE && same_mark(w->edits[k].at->mark, old->value->mark) &&
                strcmp(w->edits[k].name, old->key) == 0)
                want(w, &w->edits[k], new, true);
        if (old->value->type == DOC_MAP && new &&new->type == DOC_MAP && !by_host(old->key))
            collect(w, old->value, new);
    }
}

/* ---- one value for several entries ---- */

static bool is_plain(const char *text)
{
    if (!isalnum((unsigned char)*text) && *text != '/')
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("./_-+", *text))
            return false;
    return true;
}

static const char *quoted(struct writer *w, const char *text)
{
    char *out, *p;
    if (is_plain(text))
        return text;
    out = p = arena_alloc(w->a, 2 * strlen(text) + 3);
    *p++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *p++ = '\\';
        *p++ = *text;
    }
    *p++ = '"';
    *p = '\0';
    return out;
}

/* "10.50.0.[102,104,104]" from texts that differ; NULL where a bracket can't hold what differs. */
static const char *as_range(struct writer *w, const struct edit *e)
{
    const char *first = e->wanted[0]->text;
    size_t shortest = strlen(first);
    size_t prefix = shortest, suffix = shortest;
    for (size_t i = 1; i < e->n; i++) {
        const char *text = e->wanted[i]->text;
        size_t n = strlen(text), p = 0, s = 0;
        while (p < prefix && text[p] == first[p])
            p++;
        while (s < suffix && s < n && text[n - 1 - s] == first[strlen(first) - 1 - s])
            s++;
        prefix = p;
        suffix = s;
        shortest = n < shortest ? n : shortest;
    }
    /* Whole numbers stand in the bracket. */
    while (prefix > 0 && isdigit((unsigned char)first[prefix - 1]))
        prefix--;
    while (suffix > 0 && isdigit((unsigned char)first[strlen(first) - suffix]))
        suffix--;
    if (prefix + suffix > shortest)
        suffix = shortest - prefix;
    const char *out = arena_printf(w->a, "%.*s[", (int)prefix, first);
    for (size_t i = 0; i < e->n; i++) {
        const char *text = e->wanted[i]->text;
        size_t n = strlen(text) - prefix - suffix;
        if (n == 0 || memchr(text + prefix, '-', n) || memchr(text + prefix, ',', n) || memchr(text + prefix, ':', n))
            return NULL;
        out = arena_printf(w->a, "%s%s%.*s", out, i ? "," : "", (int)n, text + prefix);
    }
    return arena_printf(w->a, "%s]%s", out, first + strlen(first) - suffix);
}

/* A value on one line. */
static const char *flow_text(struct writer *w, const struct doc_node *node)
{
    const char *out = node->type == DOC_MAP ? "{" : "[";
    if (node->type == DOC_SCALAR)
        return quoted(w, node->text);
    if (node->type == DOC_NULL)
        return "null";
    for (size_t i = 0; i < node->count; i++) {
        out = arena_printf(w->a, "%s%s", out, i ? ", " : "");
        if (node->type == DOC_MAP)
            out =
                arena_printf(w->a, "%s%s: %s", out, quoted(w, node->pairs[i].key), flow_text(w, node->pairs[i].value));
        else
            out = arena_printf(w->a, "%s%s", out, flow_text(w, node->items[i]));
    }
    return arena_printf(w->a, "%s%s", out, node->type == DOC_MAP ? "}" : "]");
}

/* The text of a place; NULL where one can't hold it. */
static const char *text_of(struct writer *w, const struct edit *e)
{
    const struct doc_node *first = e->wanted[0];
    bool same = true, scalars = first && first->type == DOC_SCALAR;
    for (size_t i = 1; i < e->n; i++) {
        same &= first && e->wanted[i] && is_same(first, e->wanted[i]);
        scalars &= e->wanted[i] && e->wanted[i]->type == DOC_SCALAR;
    }
    if (!first || (!same && !scalars))
        return NULL;
    if (same)
        return flow_text(w, first);
    const char *range = as_range(w, e);
    return range ? quoted(w, range) : NULL;
}

/* ---- places in the text ---- */

/* The byte of a mark: columns count characters. */
static size_t offset_of(const struct writer *w, struct diag_mark mark)
{
    size_t i = 0;
    for (int line = 1; line < mark.line && i < w->size; i++)
        line += w->source[i] == '\n';
    for (int column = 1; i < w->size && column < mark.column; column++)
        do
            i++;
        while (i < w->size && ((unsigned char)w->source[i] & 0xC0) == 0x80);
    return i;
}

static size_t behind_quotes(const struct writer *w, size_t at)
{
    for (char quote = w->source[at++]; at < w->size; at++) {
        if (quote == '"' && w->source[at] == '\\')
            at++;
        else if (w->source[at] == quote)
            return at + 1;
    }
    return at;
}

/* A plain value ends with its line, before a comment, and in a flow map at its comma or brace. */
static size_t behind_plain(const struct writer *w, size_t at)
{
    bool flow = false;
    size_t to = at;
    for (size_t k = at; k > 0 && w->source[k - 1] != '\n'; k--)
        flow |= w->source[k - 1] == '{';
    while (to < w->size && w->source[to] != '\n' && !(flow && strchr(",}", w->source[to])) &&
           !(w->source[to] == '#' && isspace((unsigned char)w->source[to - 1])))
        to++;
    while (to > at && isspace((unsigned char)w->source[to - 1]))
        to--;
    return to;
}

static size_t behind_braces(const struct writer *w, size_t at)
{
    int depth = 0;
    while (at < w->size) {
        char c = w->source[at];
        if (c == '"' || c == '\'') {
            at = behind_quotes(w, at);
            continue;
        }
        if (c == '#' && isspace((unsigned char)w->source[at - 1])) {
            while (at < w->size && w->source[at] != '\n')
                at++;
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        at++;
        if (depth == 0)
            break;
    }
    return at;
}

/* The end of a block map whose keys stand in this column: the end of its last line that is no comment. */
static size_t behind_block(const struct writer *w, size_t at, int column)
{
    size_t end = at;
    while (at < w->size) {
        size_t next = at, indent = 0;
        while (next < w->size && w->source[next] != '\n')
            next++;
        while (at + indent < next && w->source[at + indent] == ' ')
            indent++;
        bool blank = at + indent == next || w->source[at + indent] == '#';
        if (!blank && (int)indent + 1 < column && end != at)
            break;
        if (!blank)
            end = next;
        at = next + 1;
    }
    return end;
}

/* The bytes that an edit takes the place of, and what stands there then. */
static void place(struct writer *w, const struct edit *e, size_t *from, size_t *to, const char **text)
{
    const char *value = e->text;
    size_t at = offset_of(w, e->at->mark);
    /* The mark of a quoted value is behind the quote. */
    if (e->at->type == DOC_SCALAR && at > 0 && (w->source[at - 1] == '"' || w->source[at - 1] == '\''))
        at--;
    char c = at < w->size ? w->source[at] : 0;
    *from = at;
    *text = value;
    if (e->kind == EDIT_NEW) {
        *to = at;
        if (c == '{') {
            size_t k = *from = *to = at + 1;
            while (k < w->size && isspace((unsigned char)w->source[k]))
                k++;
            *text = arena_printf(w->a, "%s: %s%s", e->name, value, k < w->size && w->source[k] == '}' ? "" : ", ");
        } else {
            *text = arena_printf(w->a, "%s: %s\n%*s", e->name, value, e->at->mark.column - 1, "");
        }
        return;
    }
    if (e->at->type == DOC_SCALAR && (c == '"' || c == '\'')) {
        *to = behind_quotes(w, at);
    } else if (e->at->type == DOC_SCALAR) {
        *to = behind_plain(w, at);
    } else if (c == '{') {
        *to = behind_braces(w, at);
    } else {
        size_t line = at;
        while (line > 0 && w->source[line - 1] != '\n')
            line--;
        *to = behind_block(w, line, e->at->mark.column);
        *from = offset_of(w, e->key) + strlen(e->name) + 1;
        *text = arena_printf(w->a, " %s", value);
    }
}

/* ---- entries written out ---- */

enum { SPLIT_WEIGHT = 60 }; /* nodes of an entry that is written on a line; more hold comments that would go */

static bool holds(const struct doc_node *tree, const struct doc_node *at)
{
    if (same_mark(tree->mark, at->mark) && tree->type == at->type)
        return true;
    for (size_t i = 0; i < tree->count; i++) {
        const struct doc_node *inside = tree->type == DOC_MAP ? tree->pairs[i].value : tree->items[i];
        if ((tree->type == DOC_MAP || tree->type == DOC_LIST) && holds(inside, at))
            return true;
    }
    return false;
}

static bool of_one_range(const struct doc_pair *a, const struct doc_pair *b)
{
    return a->mark.line > 0 && same_mark(a->mark, b->mark) && same_mark(a->value->mark, b->value->mark);
}

/* The innermost entries of one range that hold a place, into *split. */
static bool find_split(const struct doc_node *before, const struct doc_node *after, const struct doc_node *at,
                       struct split *split)
{
    for (size_t i = 0; i < before->count && before->type == DOC_MAP; i++) {
        const struct doc_pair *pair = &before->pairs[i];
        const struct doc_node *then = doc_get(after, pair->key);
        if (!then || pair->value->type != DOC_MAP || !holds(pair->value, at))
            continue;
        if (then->type == DOC_MAP && find_split(pair->value, then, at, split))
            return true;
        if (i + 1 < before->count && of_one_range(pair, &before->pairs[i + 1]) && pair->value->weight <= SPLIT_WEIGHT) {
            *split = (struct split){.before = before, .after = after, .first = pair};
            return true;
        }
    }
    return false;
}

/* Whether this edit's place goes with a split that is there, or with a new one. */
static bool split_for(struct writer *w, const struct edit *e, const struct doc_node *before,
                      const struct doc_node *after)
{
    struct split new;
    if (!find_split(before, after, e->at, &new))
        return false;
    for (size_t i = 0; i < w->n_splits; i++)
        if (same_mark(w->splits[i].first->mark, new.first->mark))
            return true;
    size_t at = offset_of(w, new.first->value->mark), line = at;
    new.from = offset_of(w, new.first->mark);
    if (new.from > 0 && (w->source[new.from - 1] == '"' || w->source[new.from - 1] == '\''))
        new.from--;
    while (line > 0 && w->source[line - 1] != '\n')
        line--;
    new.to = at < w->size && w->source[at] == '{' ? behind_braces(w, at)
                                                  : behind_block(w, line, new.first->value->mark.column);
    w->splits = arena_grow(w->a, w->splits, w->n_splits, &w->splits_capacity, sizeof *w->splits);
    w->splits[w->n_splits++] = new;
    return true;
}

static const char *split_text(struct writer *w, const struct split *s)
{
    const char *out = "";
    bool flow = false, first = true;
    for (size_t k = s->from; k > 0 && w->source[k - 1] != '\n'; k--)
        flow |= w->source[k - 1] == '{';
    for (size_t i = 0; i < s->before->count; i++) {
        const struct doc_pair *pair = &s->before->pairs[i];
        if (!of_one_range(s->first, pair))
            continue;
        if (!first)
            out = flow ? arena_printf(w->a, "%s, ", out)
                       : arena_printf(w->a, "%s\n%*s", out,
                                      s->first->mark.column - 1 -
                                          (int)(w->source[s->from] == '"' || w->source[s->from] == '\''),
                                      "");
        out = arena_printf(w->a, "%s%s: %s", out, quoted(w, pair->key), flow_text(w, doc_get(s->after, pair->key)));
        first = false;
    }
    return out;
}

struct piece {
    size_t from, to;
    const char *text;
};

static int backwards(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    return (x->from < y->from) - (x->from > y->from);
}

/* The text of every place, or a split for it. */
static bool decide(struct writer *w, const struct doc_node *before, const struct doc_node *after)
{
    for (size_t i = 0; i < w->n_edits; i++) {
        struct edit *e = &w->edits[i];
        e->text = text_of(w, e);
        if (!e->text && !split_for(w, e, before, after))
            return refuse(w, e->at->mark,
                          "` wants different things for the entries of one range, which no bracket can hold",
                          arena_printf(w->a, "`%s", e->name));
    }
    return true;
}

static char *apply(struct writer *w)
{
    struct piece *pieces = arena_alloc(w->a, (w->n_edits + w->n_splits + 1) * sizeof *pieces);
    size_t more = 0, n = 0;
    for (size_t i = 0; i < w->n_splits; i++) {
        const struct split *s = &w->splits[i];
        pieces[n] = (struct piece){s->from, s->to, split_text(w, s)};
        more += strlen(pieces[n++].text);
    }
    for (size_t i = 0; i < w->n_edits; i++) {
        size_t at = offset_of(w, w->edits[i].at->mark);
        bool inside = false;
        for (size_t k = 0; k < w->n_splits; k++)
            inside |= at >= w->splits[k].from && at < w->splits[k].to;
        if (inside)
            continue;
        place(w, &w->edits[i], &pieces[n].from, &pieces[n].to, &pieces[n].text);
        more += strlen(pieces[n++].text);
    }
    qsort(pieces, n, sizeof *pieces, backwards);
    char *text = malloc(w->size + more + 1);
    if (!text)
        abort();
    size_t length = w->size;
    memcpy(text, w->source, w->size);
    for (size_t i = 0; i < n; i++) {
        size_t added = strlen(pieces[i].text);
        memmove(text + pieces[i].from + added, text + pieces[i].to, length - pieces[i].to);
        memcpy(text + pieces[i].from, pieces[i].text, added);
        length += added - (pieces[i].to - pieces[i].from);
    }
    text[length] = '\0';
    return text;
}

/* Reads the text again: it must say what was wanted. */
static bool reads_back(struct writer *w, const char *name, const char *text, const struct doc_node *wanted)
{
    struct diag unheard;
    diag_init(&unheard, name);
    struct topo_file *again = topo_file_parse(name, text, strlen(text), &unheard);
    bool same = again && is_same(again->root, wanted);
    topo_file_close(again);
    diag_free(&unheard);
    if (!same)
        refuse(w, (struct diag_mark){0}, "the file is laid out in a way that was not understood", "");
    return same;
}

/* What `after` has otherwise than `before`, as the `set` of a case says it. */
static struct doc_node *difference(struct writer *w, const struct doc_node *before, const struct doc_node *after)
{
    struct doc_node *out = doc_new(w->a, DOC_MAP, (struct diag_mark){0});
    for (size_t i = 0; i < after->count; i++) {
        const struct doc_pair *new = &after->pairs[i];
        const struct doc_node *old = doc_get(before, new->key);
        bool maps = old && old->type == DOC_MAP && new->value->type == DOC_MAP;
        if (old && is_same(old, new->value))
            continue;
        doc_put(w->a, out, new->key, (struct diag_mark){0}, maps ? difference(w, old, new->value) : new->value);
    }
    return out;
}

/* The tree of the file with the case's `set` such that the case means `wanted`. */
static const struct doc_node *into_case(struct writer *w, const struct doc_node *root, const char *name,
                                        const struct doc_node *merged, const struct doc_node *wanted)
{
    const struct doc_node *cases = doc_get(root, "cases"), *its = doc_get(cases, name), *set = doc_get(its, "set");
    struct doc_node *more = difference(w, merged, wanted);
    if (!its || its->type != DOC_MAP || (set && set->type != DOC_MAP)) {
        refuse(w, its ? its->mark : root->mark, " is no map", arena_printf(w->a, "case `%s`", name));
        return NULL;
    }
    if (set)
        more = doc_merge(w->a, set, more, w->d);
    return map_with(w, root, "cases", map_with(w, cases, name, map_with(w, its, "set", more)));
}

/* The case's tree; the file's where there is no case. NULL after an error. */
static const struct doc_node *merged_tree(struct writer *w, const struct topo_file *f, const char *case_name)
{
    const struct doc_node *its = case_name ? doc_get(f->cases, case_name) : NULL, *set = doc_get(its, "set");
    return set && set->type == DOC_MAP ? doc_merge(w->a, f->root, set, w->d) : f->root;
}

char *topo_file_write(const struct topo_file *f, const char *source, size_t size, const char *case_name,
                      const struct topo_change *changes, size_t n_changes, const struct topo_assignment *all, size_t n,
                      struct diag *d)
{
    struct topo_arena *a = arena_new();
    struct writer w = {.a = a, .source = source, .size = size, .d = d};
    const struct doc_node *merged = merged_tree(&w, f, case_name);
    struct topo_file changed = {.arena = a, .name = f->name, .root = (struct doc_node *)(uintptr_t)merged};
    char *text = NULL;
    bool ok = true;
    for (size_t i = 0; i < n_changes && ok; i++)
        ok = topo_file_change_words(&changed, &changes[i], d);
    const struct doc_node *wanted = ok ? wanted_tree(&w, changed.root, all, n) : NULL;
    if (wanted && case_name)
        wanted = into_case(&w, f->root, case_name, merged, wanted);
    if (wanted) {
        compare(&w, f->root, wanted);
        collect(&w, f->root, wanted);
        text = decide(&w, f->root, wanted) ? apply(&w) : NULL;
        if (text && !reads_back(&w, f->name, text, wanted)) {
            free(text);
            text = NULL;
        }
    }
    arena_free(a);
    return text;
}
