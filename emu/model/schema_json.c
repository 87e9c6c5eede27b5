/* The schema as JSON schema, for editors. It says less than schema_check(): ranges and `{name}` may stand in most places, so
 * values with units are any text here, and which kinds of node may have a key is only told in words.
 *
 * Each table of keys is written once, as a definition named after the first key that uses it.
 */
#include "emu/model/schema.h"

#include <string.h>

#include "emu/model/topology.h"

enum { TABLES_MAX = 64 };

struct table {
    const struct schema_key *keys;
    const char *name;
};

struct writer {
    FILE *out;
    struct table tables[TABLES_MAX];
    size_t n;
};

static void collect(struct writer *w, const struct schema_key *keys, const char *name)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->tables[i].keys == keys)
            return;
    w->tables[w->n++] = (struct table){keys, name};
    for (; keys->name; keys++)
        if (keys->keys && !(keys->flags & SCHEMA_PARTIAL) && w->n < TABLES_MAX)
            collect(w, keys->keys, keys->name);
}

/* Two tables may be named after keys of one name (the `mtu` of this, the `lags` of that): the later ones get a number. */
static void print_table_name(struct writer *w, const struct schema_key *keys)
{
    size_t i = 0, same = 0;
    for (; w->tables[i].keys != keys; i++)
        continue;
    for (size_t k = 0; k < i; k++)
        same += strcmp(w->tables[k].name, w->tables[i].name) == 0;
    fprintf(w->out, same ? "%s-%zu" : "%s", w->tables[i].name, same + 1);
}

static void print_string(struct writer *w, const char *text)
{
    fputc('"', w->out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', w->out);
        fputc(*text, w->out);
    }
    fputc('"', w->out);
}

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789.") == strlen(word) && strchr(word, '.') == strrchr(word, '.');
}

/* One value of a kind. Numbers may be quoted, a range is a text, and YAML tools take some words for numbers or booleans. */
static void print_value(struct writer *w, const struct schema_key *row)
{
    switch (row->value) {
    case SCHEMA_BOOL:
        fputs("{\"type\": \"boolean\"}", w->out);
        return;
    case SCHEMA_CHOICE:
        fputs("{\"enum\": [", w->out);
        for (const char *const *word = row->words; *word; word++) {
            fputs(word == row->words ? "" : ", ", w->out);
            print_string(w, *word);
            if (is_number(*word))
                fprintf(w->out, ", %s", *word);
            else if (strcmp(*word, "on") == 0)
                fputs(", true", w->out);
        }
        fputs("]}", w->out);
        return;
    case SCHEMA_INTEGER:
        fputs("{\"type\": [\"integer\", \"string\"]", w->out);
        if (row->max != 0)
            fprintf(w->out, ", \"minimum\": %.0f, \"maximum\": %.0f", row->min, row->max);
        fputs("}", w->out);
        return;
    case SCHEMA_WORD:
    case SCHEMA_NAME:
    case SCHEMA_COUNT:
    case SCHEMA_WEIGHT:
    case SCHEMA_MEASURE:
    case SCHEMA_SIZE:
    case SCHEMA_VLAN_OR_TRUNK:
    case SCHEMA_TIME_OR_OFF:
    case SCHEMA_TIME:
        fputs("{\"type\": [\"string\", \"number\", \"boolean\"]}", w->out);
        return;
    case SCHEMA_RATE:
    case SCHEMA_BYTE_RATE:
    case SCHEMA_PERCENT:
    case SCHEMA_ADDRESS:
    case SCHEMA_ADDRESS_PREFIX:
    case SCHEMA_MAC:
    case SCHEMA_PATH:
        fputs("{\"type\": \"string\"}", w->out);
        return;
    }
}

static void print_reference(struct writer *w, const struct schema_key *keys)
{
    fputs("{\"$ref\": \"#/$defs/", w->out);
    print_table_name(w, keys);
    fputs("\"}", w->out);
}

/* An entry of a map of names. */
static void print_entry(struct writer *w, const struct schema_key *row)
{
    if (row->keys)
        print_reference(w, row->keys);
    else if (row->flags & SCHEMA_TEXT_ENTRIES)
        fputs("{\"type\": \"string\"}", w->out);
    else
        print_value(w, row);
}

static void print_shape(struct writer *w, const struct schema_key *row, enum schema_shape shape)
{
    switch (shape) {
    case SCHEMA_TEXT:
        fputs("{\"type\": [\"string\", \"number\"]}", w->out);
        return;
    case SCHEMA_ONE:
        print_value(w, row);
        return;
    case SCHEMA_LIST:
        fputs("{\"type\": \"array\", \"items\": ", w->out);
        print_value(w, row);
        fputs(row->flags & SCHEMA_PAIR ? ", \"minItems\": 2, \"maxItems\": 2}" : "}", w->out);
        if (!(row->flags & SCHEMA_PAIR) && !(row->shape & SCHEMA_ONE)) {
            fputs(", ", w->out); /* or a single one, or a range */
            print_value(w, row);
        }
        return;
    case SCHEMA_MAP:
        if (row->flags & SCHEMA_PARTIAL)
            fputs("{\"type\": \"object\"}", w->out);
        else
            print_reference(w, row->keys);
        return;
    case SCHEMA_NAMED:
        fputs("{\"type\": [\"object\", \"null\"], \"additionalProperties\": ", w->out);
        print_entry(w, row);
        fputs("}", w->out);
        return;
    case SCHEMA_ITEMS:
        fputs("{\"type\": \"array\", \"items\": ", w->out);
        print_reference(w, row->keys);
        fputs("}", w->out);
        return;
    }
}

static void print_row(struct writer *w, const struct schema_key *row)
{
    static const enum schema_shape shapes[] = {SCHEMA_TEXT, SCHEMA_ONE,   SCHEMA_LIST,
                                               SCHEMA_MAP,  SCHEMA_NAMED, SCHEMA_ITEMS};
    fputs("{\"description\": ", w->out);
    print_string(w, row->help);
    fputs(", \"anyOf\": [", w->out);
    bool first = true;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (!(row->shape & shapes[i]))
            continue;
        fputs(first ? "" : ", ", w->out);
        first = false;
        print_shape(w, row, shapes[i]);
    }
    fputs("]}", w->out);
}

static void print_table(struct writer *w, const struct schema_key *keys)
{
    bool first = true;
    fputs("      \"type\": \"object\",\n      \"properties\": {\n", w->out);
    const struct schema_key *any = NULL;
    for (const struct schema_key *row = keys; row->name; row++) {
        if (row->flags & SCHEMA_ANY_KEY) {
            any = row;
            continue;
        }
        fprintf(w->out, "%s        \"%s\": ", first ? "" : ",\n", row->name);
        print_row(w, row);
        first = false;
    }
    fputs("\n      },\n", w->out);
    first = true;
    for (const struct schema_key *row = keys; row->name; row++) {
        if (!(row->flags & SCHEMA_REQUIRED))
            continue;
        fprintf(w->out, first ? "      \"required\": [\"%s\"" : ", \"%s\"", row->name);
        first = false;
    }
    fputs(first ? "" : "],\n", w->out);
    fputs("      \"additionalProperties\": ", w->out);
    if (any)
        print_value(w, any);
    else
        fputs("false", w->out);
    fputc('\n', w->out);
}

void schema_print_json(FILE *out)
{
    struct writer w = {.out = out};
    collect(&w, schema_topology, "topology");
    fputs("{\n"
          "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          "  \"title\": \"Topology file, version 1\",\n"
          "  \"description\": \"Written from the table that the reader uses; docs/topology.md explains the format.\",\n"
          "  \"$ref\": \"#/$defs/topology\",\n"
          "  \"$defs\": {\n",
          out);
    for (size_t i = 0; i < w.n; i++) {
        fputs(i ? ",\n    \"" : "    \"", out);
        print_table_name(&w, w.tables[i].keys);
        fputs("\": {\n", out);
        print_table(&w, w.tables[i].keys);
        fputs("    }", out);
    }
    fputs("\n  }\n}\n", out);
}
