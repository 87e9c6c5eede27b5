#include "emu/model/topology_build.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "emu/model/topology_file.h"

const char *build_string(struct build *b, const char *text) { return arena_intern(b->arena, text); }

const char *build_word(const struct doc_node *map, const char *key)
{
    const struct doc_node *node = doc_get(map, key);
    return node && node->type == DOC_SCALAR ? node->text : NULL;
}

const char *build_text(struct build *b, const struct doc_node *map, const char *key)
{
    return build_string(b, build_word(map, key));
}

bool build_bool(const struct doc_node *map, const char *key, bool missing)
{
    const char *word = build_word(map, key);
    return word ? strcmp(word, "true") == 0 : missing;
}

long long build_integer(const struct doc_node *map, const char *key, long long missing)
{
    const char *word = build_word(map, key);
    long long value = 0;
    if (!word)
        return missing;
    for (; *word >= '0' && *word <= '9' && value < INT64_MAX / 20; word++)
        value = value * 10 + (*word - '0');
    return value;
}

bps_t build_rate(const struct doc_node *map, const char *key, bps_t missing)
{
    const char *word = build_word(map, key);
    if (word)
        unit_parse_rate(word, &missing);
    return missing;
}

uint64_t build_size(const struct doc_node *map, const char *key, uint64_t missing)
{
    const char *word = build_word(map, key);
    if (word)
        unit_parse_size(word, &missing);
    return missing;
}

ps_t build_time(const struct doc_node *map, const char *key, ps_t missing)
{
    const char *word = build_word(map, key);
    if (word && strcmp(word, "off") == 0)
        return 0;
    if (word)
        unit_parse_time(word, &missing);
    return missing;
}

double build_real(const struct doc_node *map, const char *key, double missing)
{
    const char *word = build_word(map, key);
    ps_t time;
    if (word && unit_parse_count(word, &missing) && unit_parse_percent(word, &missing))
        if (unit_parse_byte_rate(word, &missing) && !unit_parse_time(word, &time))
            missing = (double)time / (double)PS_PER_S;
    return missing;
}

struct diag_mark build_mark(const struct doc_node *map, const char *key)
{
    const struct doc_pair *pair = doc_get_pair(map, key);
    if (!pair)
        return map->mark;
    bool inside = pair->value->type == DOC_LIST && pair->value->count && pair->value->items[0]->mark.line;
    return inside                                                      ? pair->value->items[0]->mark
           : pair->value->type == DOC_SCALAR && pair->value->mark.line ? pair->value->mark
                                                                       : pair->mark;
}

static bool unknown_fields(struct build *b, const struct doc_node *fields, struct hash_selector *out)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < fields->count; i++) {
        uint32_t field;
        if (!hash_field_find(fields->items[i]->text, &field)) {
            schema_error(b->report, fields->items[i]->mark,
                         "fields: src-mac, dst-mac, vlan, src-ip, dst-ip, src-port, dst-port", "unknown field `%s`",
                         fields->items[i]->text);
            return false;
        }
        mask |= field;
    }
    hash_selector_unknown(out, mask);
    return true;
}

static bool find_policy(struct build *b, const struct doc_node *name, const char *prefix, struct hash_selector *out)
{
    const struct hash_policy *policy = hash_policy_find_for(prefix, name->text);
    if (!policy) {
        const char *near = schema_is_new(b->report, name->mark) ? hash_policy_nearest(prefix, name->text) : NULL;
        schema_error(
            b->report, name->mark,
            near ? arena_printf(b->scratch, "did you mean `%s`?", near)
                 : "`nfsbal hash --list` shows all; {unknown: [src-ip, dst-ip]} where only the fields are known",
            "unknown policy `%s`", name->text);
        return false;
    }
    hash_selector_init(out, policy);
    return true;
}

bool build_hash(struct build *b, const struct doc_node *node, const char *prefix, struct hash_selector *out)
{
    if (node->type == DOC_SCALAR)
        return find_policy(b, node, prefix, out);
    const struct doc_node *unknown = doc_get(node, "unknown"), *policy = doc_get(node, "policy");
    if (!unknown == !policy || (unknown && node->count > 1)) {
        schema_error(b->report, node->mark, NULL, "either {policy: NAME, with its settings} or {unknown: [fields]}");
        return false;
    }
    if (unknown)
        return unknown_fields(b, unknown, out);
    if (!find_policy(b, policy, prefix, out))
        return false;
    for (size_t i = 0; i < node->count; i++) {
        char problem[160];
        const struct doc_pair *pair = &node->pairs[i];
        if (pair->value == policy)
            continue;
        if (!hash_selector_set(out, pair->key, pair->value->text, problem, sizeof(problem))) {
            schema_error(b->report, pair->mark, NULL, "%s", problem);
            return false;
        }
    }
    return true;
}

void build_any_hash(struct hash_selector *out)
{
    hash_selector_unknown(out, HASH_READS_SRC_MAC | HASH_READS_DST_MAC | HASH_READS_SRC_IP | HASH_READS_DST_IP |
                                   HASH_READS_SRC_PORT | HASH_READS_DST_PORT);
}

const char *build_vendor(struct build *b, const char *model)
{
    return model ? arena_copy(b->scratch, model, strcspn(model, "- ")) : NULL;
}

static void print_mac(const uint8_t mac[6], char out[18])
{
    snprintf(out, 18, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
}

static int hex(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

enum topo_origin build_mac(struct build *b, const char *written, const char *full_name, uint8_t mac[6])
{
    if (written) {
        for (int i = 0; i < 6; i++)
            mac[i] = (uint8_t)(hex(*written) << 4 | hex(written[1])), written += 3;
        return TOPO_GIVEN;
    }
    /* FNV-1a of the name, on to the next number where two names meet in one address. */
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *p = full_name; *p; p++)
        h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    char text[18];
    do {
        h = (h ^ h >> 31) * UINT64_C(0x9e3779b97f4a7c15);
        mac[0] = 0x02; /* locally administered, unicast */
        for (int i = 1; i < 6; i++)
            mac[i] = (uint8_t)(h >> (8 * i + 8));
        print_mac(mac, text);
    } while (name_table_find(&b->macs, text) >= 0);
    name_table_add(&b->macs, arena_copy(b->scratch, text, sizeof(text) - 1), 0);
    return TOPO_ASSUMED;
}

void build_dangling(struct build *b, struct diag_mark mark, const char *what, const char *name,
                    const struct name_table *table)
{
    enum { NAMES_MAX = 4096 };
    b->report->failed = true;
    if (!schema_is_new(b->report, mark))
        return;
    const char **names = arena_alloc(b->scratch, NAMES_MAX * sizeof(*names));
    size_t n = 0;
    for (size_t i = 0; i < table->size && n < NAMES_MAX; i++)
        if (table->slots[i].name && strcmp(table->slots[i].name, name) != 0) /* else it is there and of another kind */
            names[n++] = table->slots[i].name;
    const char *near = diag_nearest(name, names, n);
    schema_error(b->report, mark, near ? arena_printf(b->scratch, "did you mean `%s`?", near) : NULL,
                 "there is no %s `%s`", what, name);
}

int build_by_number(const void *left, const void *right)
{
    const int *p = left, *q = right;
    return (*p > *q) - (*p < *q);
}

int build_natural_order(const char *a, const char *b)
{
    const char *p = a, *q = b;
    while (*p && *q) {
        bool digits = *p >= '0' && *p <= '9' && *q >= '0' && *q <= '9';
        if (!digits) {
            if (*p != *q)
                return (unsigned char)*p < (unsigned char)*q ? -1 : 1;
            p++, q++;
            continue;
        }
        while (*p == '0')
            p++;
        while (*q == '0')
            q++;
        size_t m = strspn(p, "0123456789"), n = strspn(q, "0123456789");
        int order = m != n ? (m < n ? -1 : 1) : strncmp(p, q, m);
        if (order)
            return order;
        p += m, q += n;
    }
    if (*p || *q)
        return *p ? 1 : -1;
    return strcmp(a, b);
}

static void name_link_directions(struct build *b)
{
    struct topo *t = b->t;
    const char **names = arena_alloc(b->arena, (2 * t->n_links + 1) * sizeof(*names));
    for (int d = 0; d < (int)(2 * t->n_links); d++)
        names[d] = arena_printf(b->arena, "%s>%s", t->ports[topo_linkdir_from(t, d)].full,
                                t->ports[topo_linkdir_to(t, d)].full);
    t->linkdir_names = names;
}

const char *topo_file_stem(struct topo_arena *a, const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *dot = strrchr(base, '.');
    return arena_copy(a, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

struct topo *topo_build(const struct doc_node *root, const struct doc_node *case_, const char *file,
                        const char *case_name, struct schema_report *report)
{
    struct build b = {.arena = arena_new(), .scratch = report->arena, .report = report, .root = root, .case_ = case_};
    struct name_table *tables[] = {&b.nodes,     &b.boxes,   &b.ports,     &b.teams,      &b.vips,
                                   &b.vip_names, &b.exports, &b.ambiguous, &b.datastores, &b.macs};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        name_table_init(tables[i], b.scratch);
    struct topo *t = b.t = arena_alloc(b.arena, sizeof(*t));
    t->arena = b.arena;
    t->file = build_string(&b, file);
    t->name = build_text(&b, root, "name");
    if (!t->name)
        t->name = topo_file_stem(b.arena, file);
    t->title = build_text(&b, root, "title");
    t->case_name = build_string(&b, case_name);

    /* A step goes on after errors of the one before, so that more of them are found, except where everything would then
     * look wrong: no cable leads anywhere once the ports are missing. */
    static const struct {
        void (*run)(struct build *);
        bool needs_all_before;
    } steps[] = {{build_nodes, true},         {build_ports_and_links, true}, {build_teams, true},
                 {build_switches, false},     {build_interfaces, false},     {build_nas, false},
                 {build_storage_links, true}, {build_datastores, false},     {build_runs, false}};
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (report->failed && steps[i].needs_all_before)
            break;
        steps[i].run(&b);
    }
    if (report->failed) {
        topo_free(t);
        return NULL;
    }
    name_link_directions(&b);
    return t;
}
