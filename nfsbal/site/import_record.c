/* Theory of operation. esxcli prints a list either as a table, or as blocks of indented "Key: value" lines, or as JSON; ONTAP as a
 * table with a heading of one or two lines, or as blocks. All become records of (key, value): nested values are laid flat in
 * their order, so that a key may come several times. A cell of a table begins where the line of dashes begins; text that is longer
 * than its column pushes the others to the next line (ONTAP), which then has blanks in the columns already given.
 */
#include "nfsbal/site/import_model.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emu/report/json.h"

enum { COLUMNS = 32, DEPTH = 12 };

struct column {
    size_t start, end; /* in characters; end is that of the dashes */
    char key[128];
};

/* ---- fields ---- */

static void plain_key(char *out, size_t size, const char *text, size_t length)
{
    size_t n = strlen(out);

    for (size_t i = 0; i < length && n + 1 < size; i++)
        if (isalnum((unsigned char)text[i]))
            out[n++] = (char)tolower((unsigned char)text[i]);
    out[n] = '\0';
}

static void add_field(const struct import_input *in, struct import_record *r, const char *key, size_t key_length,
                      const char *value, size_t length)
{
    struct import_field *f = arena_alloc(in->m->arena, sizeof *f);
    char plain[128] = "";

    while (length > 0 && isspace((unsigned char)*value)) {
        value++;
        length--;
    }
    while (length > 0 && isspace((unsigned char)value[length - 1]))
        length--;
    plain_key(plain, sizeof plain, key, key_length);
    f->key = import_copy(in->m, plain, strlen(plain));
    f->value = import_copy(in->m, value, length);
    *r->end = f;
    r->end = &f->next;
}

static struct import_record *new_record(const struct import_input *in, struct import_record ***end)
{
    struct import_record *r = arena_alloc(in->m->arena, sizeof *r);

    r->end = &r->fields;
    **end = r;
    *end = &r->next;
    return r;
}

static bool key_is(const char *key, const char *keys)
{
    size_t n = strlen(key);

    for (const char *p = keys; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL)
        if (strcspn(p, "|") == n && memcmp(p, key, n) == 0)
            return true;
    return false;
}

static bool says_nothing(const char *value)
{
    return !*value || strcmp(value, "-") == 0 || strcmp(value, "N/A") == 0 || strcmp(value, "n/a") == 0;
}

const char *import_get(const struct import_record *r, const char *keys)
{
    for (const struct import_field *f = r->fields; f; f = f->next)
        if (key_is(f->key, keys) && !says_nothing(f->value))
            return f->value;
    return NULL;
}

const struct import_field *import_next(const struct import_field *from, const char *key)
{
    for (; from; from = from->next)
        if (key_is(from->key, key))
            return from;
    return NULL;
}

/* ---- JSON ---- */

static void flatten(const struct import_input *in, struct import_record *r, const char *key, const struct json_in *v,
                    int depth);

static void flatten_object(const struct import_input *in, struct import_record *r, const struct json_in *v, int depth)
{
    for (const char *k = NULL; (k = json_in_next_key(v, k));)
        flatten(in, r, k, json_in_member(v, k), depth + 1);
}

/* An array of plain values is one value, with commas. */
static void flatten_array(const struct import_input *in, struct import_record *r, const char *key,
                          const struct json_in *v, int depth)
{
    const char *list = "";

    for (size_t i = 0; i < json_in_size(v); i++) {
        const struct json_in *item = json_in_element(v, i);
        const char *text = json_in_text(item);

        if (text)
            list = arena_printf(in->m->arena, "%s%s%s", list, *list ? "," : "", text);
        else
            flatten(in, r, key, item, depth + 1);
    }
    add_field(in, r, key, strlen(key), list, strlen(list));
}

static void flatten(const struct import_input *in, struct import_record *r, const char *key, const struct json_in *v,
                    int depth)
{
    const char *text = json_in_text(v);
    double number;
    char digits[40];

    if (depth > DEPTH)
        return;
    if (json_in_number(v, &number)) {
        snprintf(digits, sizeof digits, "%.0f", fabs(number) < 1e18 ? number : 0);
        text = digits;
    } else if (json_in_bool(v) >= 0) {
        text = json_in_bool(v) ? "true" : "false";
    }
    if (text)
        add_field(in, r, key, strlen(key), text, strlen(text));
    else if (json_in_is_array(v))
        flatten_array(in, r, key, v, depth);
    else
        flatten_object(in, r, v, depth);
}

static struct import_record *read_json(const struct import_input *in)
{
    struct import_record *first = NULL, **end = &first;
    char problem[256];
    struct json_in *root = json_in_parse(in->text, (size_t)(in->end - in->text), problem, sizeof problem);

    if (!root) {
        import_error(in, "%s", problem);
        return NULL;
    }
    for (size_t i = 0; i < json_in_size(root); i++)
        flatten_object(in, new_record(in, &end), json_in_element(root, i), 0);
    if (!json_in_is_array(root))
        flatten_object(in, new_record(in, &end), root, 0);
    json_in_free(root);
    return first;
}

/* ---- tables ---- */

static const char *line_end(const char *p)
{
    const char *end = strchr(p, '\n');

    return end ? end : p + strlen(p);
}

static const char *next_line(const char *p)
{
    p = line_end(p);
    return *p ? p + 1 : NULL;
}

/* "----- ----  ------": at least two columns, or one that is all. */
static bool is_rule(const char *p)
{
    size_t dashes = 0;

    for (const char *end = line_end(p); p < end; p++)
        if (*p == '-' || *p == '+')
            dashes++;
        else if (*p != ' ' && *p != '\r')
            return false;
    return dashes >= 4;
}

static bool continues(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

/* The byte at which the character `column` of a line stands. */
static const char *at_column(const char *p, const char *end, size_t column)
{
    for (; p < end && column > 0; column--)
        for (p++; p < end && continues(*p);)
            p++;
    return p;
}

static size_t read_rule(const char *rule, struct column *columns)
{
    const char *end = line_end(rule);
    size_t n = 0;

    for (const char *p = rule; p < end && n < COLUMNS;) {
        if (*p != '-') {
            p++;
            continue;
        }
        columns[n] = (struct column){.start = (size_t)(p - rule)};
        while (p < end && *p == '-')
            p++;
        columns[n++].end = (size_t)(p - rule);
    }
    return n;
}

/* The words of a heading go to the columns that they stand over. */
static void read_heading(const char *line, struct column *columns, size_t n)
{
    const char *end = line_end(line);

    for (size_t c = 0; c < n; c++) {
        const char *from = at_column(line, end, columns[c].start);
        const char *to = c + 1 < n ? at_column(line, end, columns[c + 1].start) : end;

        plain_key(columns[c].key, sizeof columns[c].key, from, (size_t)(to - from));
    }
}

/* The cells of a line; *length 0 where there is nothing. A text that is too long for its column takes those that it covers. */
static void read_row(const char *line, const struct column *columns, size_t n, const char **cells, size_t *lengths)
{
    const char *end = line_end(line), *done = line;

    for (size_t c = 0; c < n; c++) {
        const char *from = at_column(line, end, columns[c].start);
        const char *to = c + 1 < n ? at_column(line, end, columns[c + 1].start) : end;

        lengths[c] = 0;
        if (from < done)
            from = done;
        while (to > from && to < end && !isspace((unsigned char)to[-1]))
            to++; /* it runs over */
        if (to < from)
            to = from;
        done = to;
        while (from < to && isspace((unsigned char)*from))
            from++;
        while (to > from && isspace((unsigned char)to[-1]))
            to--;
        cells[c] = from;
        lengths[c] = (size_t)(to - from);
    }
}

static bool is_blank_line(const char *p) { return p[strspn(p, " \t\r")] == '\n' || p[strspn(p, " \t\r")] == '\0'; }

static bool starts_with_prompt(const char *line)
{
    const char *end = line_end(line), *mark = strstr(line, "::");

    return mark && mark < end && memchr(mark, '>', (size_t)(end - mark));
}

/* What ends a table: a blank line, ONTAP's count of entries, a prompt. */
static bool ends_table(const char *line)
{
    const char *end = line_end(line);
    static const char *const counts[] = {"entries were displayed", "entry was displayed"};

    for (size_t i = 0; i < 2; i++) {
        const char *found = strstr(line, counts[i]);

        if (found && found < end)
            return true;
    }
    return is_blank_line(line) || starts_with_prompt(line);
}

/* A row that may not be complete yet. */
struct row {
    const char *cells[COLUMNS];
    size_t lengths[COLUMNS];
    size_t last; /* its last column that has something */
    bool open;
};

static void flush_row(const struct import_input *in, struct row *row, const struct column *columns, size_t n,
                      const struct import_field *about, struct import_record ***end)
{
    struct import_record *r;

    if (!row->open)
        return;
    r = new_record(in, end);
    for (const struct import_field *f = about; f; f = f->next)
        add_field(in, r, f->key, strlen(f->key), f->value, strlen(f->value));
    for (size_t c = 0; c < n; c++)
        if (row->lengths[c])
            add_field(in, r, columns[c].key, strlen(columns[c].key), row->cells[c], row->lengths[c]);
    row->open = false;
}

/* Takes one line. It goes on with the open row when its cells are behind those that the row has, or when it only has more of the
 * last column; else it is a row of its own, to which a blank first column means the same as above. */
static void take_row(const struct import_input *in, const char *line, struct row *row, const struct column *columns,
                     size_t n, const struct import_field *about, struct import_record ***end)
{
    const char *cells[COLUMNS], *above = row->cells[0];
    size_t lengths[COLUMNS], first = n, above_length = row->lengths[0];

    read_row(line, columns, n, cells, lengths);
    for (size_t c = n; c-- > 0;)
        if (lengths[c])
            first = c;
    if (row->open && first > 0 && first == row->last && first == n - 1 && n > 2) {
        row->cells[first] = arena_printf(in->m->arena, "%.*s %.*s", (int)row->lengths[first], row->cells[first],
                                         (int)lengths[first], cells[first]);
        row->lengths[first] = strlen(row->cells[first]);
        return;
    }
    if (!row->open || first <= row->last) {
        flush_row(in, row, columns, n, about, end);
        memset(row->lengths, 0, sizeof row->lengths);
        if (first > 0) {
            row->cells[0] = above;
            row->lengths[0] = above_length;
        }
        row->open = true;
    }
    for (size_t c = 0; c < n; c++)
        if (lengths[c]) {
            row->cells[c] = cells[c];
            row->lengths[c] = lengths[c];
            row->last = c;
        }
}

/* Reads the rows below a rule; gives back where it stopped. */
static const char *read_table(const struct import_input *in, const char *rule, const char *const *heading,
                              size_t n_heading, const struct import_field *about, struct import_record ***end)
{
    struct column columns[COLUMNS];
    struct row row = {.open = false};
    size_t n = read_rule(rule, columns);
    const char *line = next_line(rule);

    for (size_t h = 0; h < n_heading; h++)
        read_heading(heading[h], columns, n);
    for (; line && !ends_table(line); line = next_line(line))
        take_row(in, line, &row, columns, n, about, end);
    flush_row(in, &row, columns, n, about, end);
    return line;
}

/* ---- "Key: value" ---- */

/* The colon that ends a key: followed by a blank or the line's end, as a MAC address's is not. */
static const char *colon_of(const char *line, const char *end)
{
    for (const char *p = line; p < end; p++)
        if (*p == ':' && (p + 1 >= end || p[1] == ' ' || p[1] == '\r' || p[1] == '\t'))
            return p;
    return NULL;
}

static size_t indent_of(const char *line) { return strspn(line, " \t"); }

static bool is_prompt(const char *line)
{
    const char *mark = strstr(line, "~] ");

    return starts_with_prompt(line) || (mark && mark < line_end(line));
}

/* A reader of blocks: lines of one indentation, until a blank line or one further left. */
struct blocks {
    struct import_record *first, **end, *open;
    size_t indent; /* of the open block */
    const char *heading[2];
    size_t n_heading;
    const struct import_field *about; /* "Node: n1" above a table */
};

static void take_block_line(const struct import_input *in, struct blocks *b, const char *line)
{
    const char *stop = line_end(line), *colon = colon_of(line, stop);
    size_t indent = indent_of(line);

    if (is_blank_line(line) || is_prompt(line)) {
        b->open = NULL;
        b->n_heading = 0;
        return;
    }
    if (b->n_heading == 2)
        b->heading[0] = b->heading[1];
    else
        b->n_heading++;
    b->heading[b->n_heading - 1] = line;
    if (b->open && indent < b->indent)
        b->open = NULL;
    if (!colon) {
        if (indent == 0)
            b->open = NULL;
        return;
    }
    if (!b->open) {
        b->open = new_record(in, &b->end);
        b->indent = indent;
    }
    add_field(in, b->open, line + indent, (size_t)(colon - line) - indent, colon + 1,
              colon < stop ? (size_t)(stop - colon - 1) : 0);
    if (indent == 0 && !b->open->fields->next)
        b->about = b->open->fields;
}

static struct import_record *read_blocks(const struct import_input *in)
{
    struct blocks b = {.end = &b.first};

    for (const char *line = in->text; line && *line;) {
        if (!is_rule(line)) {
            take_block_line(in, &b, line);
            line = next_line(line);
            continue;
        }
        b.open = NULL;
        line = read_table(in, line, b.heading, b.n_heading, b.about, &b.end);
        b.n_heading = 0;
    }
    return b.first;
}

struct import_record *import_records(const struct import_input *in)
{
    const char *p = in->text + strspn(in->text, " \t\r\n");

    if (*p == '[' || *p == '{')
        return read_json(in);
    return read_blocks(in);
}
