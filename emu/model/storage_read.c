/* From the tree to struct storage_model.
 *
 * A preset is a tree of the same keys. The file's keys are merged over it, as the `set` of a case is over a file, and so are
 * a group's over its device. Before that the preset's nodes get the place in the file where it is named, so that whatever
 * does not fit together is reported there. */
#include "emu/model/storage_read.h"

#include <stdlib.h>
#include <string.h>

#include "emu/model/storage_forms.h"
#include "emu/model/storage_schema.h"
#include "emu/model/topology_yaml.h"

extern const unsigned char storage_presets[]; /* emu/model/storage_presets.yaml */
extern const size_t storage_presets_size;

#define VISIT_DEFAULT   UINT64_C(262144)
#define DESTAGE_DEFAULT UINT64_C(1048576)
#define AHEAD_DEFAULT   UINT64_C(16777216)
#define DIRTY_DEFAULT   UINT64_C(1073741824)
#define DELAY_DEFAULT   (5 * PS_PER_US)
#define SPREAD_DEFAULT  0.5

enum { GROUPS_MAX = 64 };

struct reader {
    struct build *b;
    const struct doc_node *presets; /* read when the first is named */
};

static const struct doc_node *read_presets(struct reader *r)
{
    struct diag unheard;
    struct schema_report report;
    size_t names = 0;
    if (r->presets)
        return r->presets;
    diag_init(&unheard, "presets");
    schema_report_init(&report, r->b->scratch, &unheard);
    struct doc_node *tree =
        topology_yaml_read(r->b->scratch, (const char *)storage_presets, storage_presets_size, &unheard);
    r->presets = tree ? schema_expand(tree, &storage_schema_presets, &report, &names) : NULL;
    diag_free(&unheard);
    return r->presets;
}

/* A copy whose every place is `mark`. */
static struct doc_node *copy_at(struct topo_arena *a, const struct doc_node *node, struct diag_mark mark)
{
    struct doc_node *copy = doc_new(a, node->type, mark);
    if (node->type == DOC_SCALAR)
        copy->text = node->text;
    for (size_t i = 0; node->type == DOC_LIST && i < node->count; i++)
        doc_append(a, copy, copy_at(a, node->items[i], mark));
    for (size_t i = 0; node->type == DOC_MAP && i < node->count; i++)
        doc_put(a, copy, node->pairs[i].key, mark, copy_at(a, node->pairs[i].value, mark));
    return copy;
}

/* `own` over what it names by `key` among the presets' `kind`; `own` where it names nothing, NULL after an error. */
static const struct doc_node *over_preset(struct reader *r, const struct doc_node *own, const char *key,
                                          const char *kind)
{
    const char *name = build_word(own, key);
    struct build *b = r->b;
    if (!name)
        return own;
    const struct doc_node *all = doc_get(read_presets(r), kind), *base = doc_get(all, name);
    if (!base) {
        struct name_table known;
        name_table_init(&known, b->scratch);
        for (size_t i = 0; all && i < all->count; i++)
            name_table_add(&known, all->pairs[i].key, (int)i);
        build_dangling(b, build_mark(own, key), key, name, &known);
        return NULL;
    }
    return doc_merge(b->scratch, copy_at(b->scratch, base, build_mark(own, key)), own, b->report->d);
}

static size_t word_place(const char *const *words, const char *word, size_t missing)
{
    for (size_t i = 0; word && words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return missing;
}

#define REFUSE(r, map, key, ...) schema_error((r)->b->report, build_mark(map, key), NULL, __VA_ARGS__)

static bool needs(struct reader *r, const struct doc_node *map, const char *key, const char *what)
{
    if (doc_get(map, key))
        return true;
    schema_error(r->b->report, map->mark, NULL, "`%s` is missing: %s needs it", key, what);
    return false;
}

/* `table` scaled to the mean 1. */
static void read_table(struct reader *r, const struct doc_node *doc, struct distribution *d)
{
    const struct doc_node *list = doc_get(doc, "table");
    if (!list || list->type != DOC_LIST || list->count < 2) {
        schema_error(r->b->report, list ? build_mark(doc, "table") : build_mark(doc, "service"),
                     "table: [0.5, 0.8, 1, 3]", "`service: table` needs a `table` of two or more values");
        return;
    }
    double *table = arena_alloc(r->b->arena, list->count * sizeof(*table)), before = -1;
    for (size_t i = 0; i < list->count; i++) {
        if (unit_parse_count(list->items[i]->text, &table[i]) || table[i] <= before) {
            schema_error(r->b->report, list->items[i]->mark, NULL, "`%s`: the values of a table ascend",
                         list->items[i]->text);
            return;
        }
        before = table[i];
    }
    *d = (struct distribution){.kind = DISTRIBUTION_TABLE, .mean = 1, .table = table, .n = list->count};
    double mean = distribution_mean(d);
    for (size_t i = 0; i < list->count; i++)
        table[i] /= mean;
}

static struct distribution read_service(struct reader *r, const struct doc_node *doc)
{
    struct distribution d = {.kind = DISTRIBUTION_CONSTANT, .mean = 1};
    d.kind = (enum distribution_kind)word_place(distribution_names, build_word(doc, "service"), DISTRIBUTION_CONSTANT);
    bool spreads = d.kind == DISTRIBUTION_UNIFORM || d.kind == DISTRIBUTION_LOG_NORMAL;
    d.spread = spreads ? build_real(doc, "spread", SPREAD_DEFAULT) : 0;
    if (doc_get(doc, "spread") && !spreads)
        REFUSE(r, doc, "spread", "`spread` belongs to `service: uniform` and `log-normal`");
    else if (d.kind == DISTRIBUTION_UNIFORM && d.spread > 1)
        REFUSE(r, doc, "spread", "`%s`: a uniform time has a spread of at most 1, or it would be negative",
               build_word(doc, "spread"));
    if (d.kind == DISTRIBUTION_TABLE)
        read_table(r, doc, &d);
    else if (doc_get(doc, "table"))
        REFUSE(r, doc, "table", "`table` belongs to `service: table`");
    return d;
}

static void refuse_all(struct reader *r, const struct doc_node *doc, const char *const *keys, const char *medium)
{
    for (; *keys; keys++)
        if (doc_get(doc, *keys))
            REFUSE(r, doc, *keys, "`%s` is nothing that an %s has", *keys, medium);
}

static void read_disk(struct reader *r, const struct doc_node *doc, struct storage_disk *d)
{
    static const char *const of_hdd[] = {"rpm", "seek", "seek-write", "seek-least", NULL}, *const of_ssd[] = {
                                                                                               "read", "write",
                                                                                               "parallel", NULL};
    if (!needs(r, doc, "medium", "a disk") || !needs(r, doc, "size", "a disk"))
        return;
    const char *service = build_word(doc, "service");
    d->medium = (enum storage_medium)word_place(storage_media, build_word(doc, "medium"), STORAGE_HDD);
    d->size = build_size(doc, "size", 0);
    d->rate = build_real(doc, "rate", 0);
    d->service = read_service(r, doc);
    d->parallel = 1;
    if (d->medium == STORAGE_SSD) {
        refuse_all(r, doc, of_hdd, "ssd");
        if (!needs(r, doc, "read", "an ssd") || !needs(r, doc, "write", "an ssd"))
            return;
        d->read = build_time(doc, "read", 0);
        d->write = build_time(doc, "write", 0);
        d->parallel = (unsigned)build_integer(doc, "parallel", 1);
        if (service && strcmp(service, "physical") == 0)
            REFUSE(r, doc, "service", "`physical` is seeks and turns, which an ssd has not");
        return;
    }
    refuse_all(r, doc, of_ssd, "hdd");
    if (!needs(r, doc, "rpm", "an hdd") || !needs(r, doc, "seek", "an hdd") || !needs(r, doc, "rate", "an hdd"))
        return;
    d->turn = 60 * PS_PER_S / build_integer(doc, "rpm", 1);
    d->seek_least = build_time(doc, "seek-least", 0);
    d->seek_read = build_time(doc, "seek", 0);
    d->seek_write = build_time(doc, "seek-write", d->seek_read);
    d->physical = !service || strcmp(service, "physical") == 0;
    if (d->seek_read < d->seek_least || d->seek_write < d->seek_least)
        REFUSE(r, doc, "seek-least", "`seek-least` is longer than the average seek");
}

/* RAID: set, penalty, and whether the disks come out even. */
static void read_raid(struct reader *r, const struct doc_node *doc, struct storage_group *g, unsigned disks)
{
    static const unsigned penalty[] = {1, 4, 6, 2, 4};
    bool parity = storage_parities(g->raid) > 0;
    unsigned missing = g->raid == STORAGE_RAID_10 ? 2 : g->raid == STORAGE_RAID_50 ? 6 : parity ? disks : 1;
    g->set = (unsigned)build_integer(doc, "set", missing);
    g->penalty = (unsigned)build_integer(doc, "penalty", penalty[g->raid]);
    g->full_stripe = build_bool(doc, "full-stripe", true);
    const char *at = doc_get(doc, "set") ? "set" : "disks", *level = storage_raids[g->raid];
    if (doc_get(doc, "set") && !parity && g->set != missing)
        REFUSE(r, doc, "set", "`%s`: %s has no parity sets", build_word(doc, "set"), level);
    else if (parity && g->set < storage_parities(g->raid) + 2)
        REFUSE(r, doc, at, "%u disks are too few for a set of %s", g->set, level);
    else if (g->raid == STORAGE_RAID_10 && disks < 2)
        REFUSE(r, doc, "disks", "raid-10 needs two disks or more"); /* an odd number: arrays mirror block by block */
    else if (parity && disks % g->set)
        REFUSE(r, doc, at, "%u disks are not whole sets of %u, as %s needs", disks, g->set, level);
}

static void read_group(struct reader *r, const struct doc_node *doc, struct storage_group *g)
{
    doc = over_preset(r, doc, "device", "devices");
    if (!doc || !needs(r, doc, "disks", "a group") || !needs(r, doc, "raid", "a group"))
        return;
    read_disk(r, doc, &g->disk);
    unsigned disks = (unsigned)build_integer(doc, "disks", 1), arrays = (unsigned)build_integer(doc, "arrays", 1);
    g->disks = disks * arrays;
    g->spares = (unsigned)build_integer(doc, "spares", 0) * arrays;
    g->raid = (enum storage_raid)word_place(storage_raids, build_word(doc, "raid"), STORAGE_RAID_0);
    g->merge = build_real(doc, "merge", 1);
    g->order = (enum storage_order)word_place(storage_orders, build_word(doc, "order"), STORAGE_FIFO);
    g->placed_said = doc_get(doc, "placed") != NULL;
    g->placed = build_size(doc, "placed", 0);
    g->visit = build_size(doc, "visit", VISIT_DEFAULT);
    g->destage = build_size(doc, "destage-visit", DESTAGE_DEFAULT);
    g->read_ahead = build_size(doc, "read-ahead", AHEAD_DEFAULT);
    g->share = build_real(doc, "share", -1);
    read_raid(r, doc, g, disks);
    if (g->disks > 65536)
        REFUSE(r, doc, "arrays", "%u disks: a group has at most 65536", g->disks);
    if (g->set && (double)g->placed > storage_usable(g))
        REFUSE(r, doc, "placed", "`%s` is more than the group's usable %.0f GB", build_word(doc, "placed"),
               storage_usable(g) / 1e9);
    if (g->disk.medium == STORAGE_SSD && g->order == STORAGE_ELEVATOR)
        REFUSE(r, doc, "order", "`elevator` sorts by place, which an ssd has not");
}

/* What the groups don't say of the operations goes to the others by their number of disks. */
static void read_groups(struct reader *r, const struct doc_node *doc, struct storage_model *m)
{
    struct storage_group *groups = arena_alloc(r->b->arena, (doc->count + 1) * sizeof(*groups));
    if (doc->count > GROUPS_MAX) {
        schema_error(r->b->report, doc->mark, NULL, "%zu groups are more than %d", doc->count, GROUPS_MAX);
        return;
    }
    double said = 0, silent = 0;
    for (size_t i = 0; i < doc->count; i++) {
        groups[i].name = build_string(r->b, doc->pairs[i].key);
        if (doc->pairs[i].value->type != DOC_MAP) {
            schema_error(r->b->report, doc->pairs[i].mark, NULL, "`%s` says nothing", doc->pairs[i].key);
            continue;
        }
        read_group(r, doc->pairs[i].value, &groups[i]);
        if (groups[i].share >= 0)
            said += groups[i].share;
        else
            silent += groups[i].disks;
    }
    if (r->b->report->failed)
        return;
    if (said > 1 + 1e-9 || (silent <= 0 && said < 1 - 1e-9))
        schema_error(r->b->report, doc->mark, NULL, "the shares of the groups are %g%% together", said * 100);
    for (size_t i = 0; i < doc->count; i++)
        if (groups[i].share < 0)
            groups[i].share = silent > 0 ? (1 - said) * groups[i].disks / silent : 0;
    m->groups = groups;
    m->n_groups = doc->count;
}

static void read_controller(struct reader *r, const struct doc_node *doc, struct storage_model *m)
{
    m->controller.service = (struct distribution){.kind = DISTRIBUTION_CONSTANT, .mean = 1};
    if (!doc || !needs(r, doc, "cores", "a controller"))
        return;
    m->controller.cores = (unsigned)build_integer(doc, "cores", 1);
    m->controller.per_operation = build_time(doc, "per-operation", 0);
    m->controller.rate = build_real(doc, "rate", 0);
    m->controller.service = read_service(r, doc);
}

static void read_cache(struct reader *r, const struct doc_node *doc, struct storage_model *m)
{
    if (!doc)
        return;
    bool ratio = doc_get(doc, "read-hit"), set = doc_get(doc, "working-set");
    m->cache.size = build_size(doc, "size", 0);
    m->cache.read_hit = build_real(doc, "read-hit", 0);
    if (set) {
        double hit = (double)m->cache.size / (double)build_size(doc, "working-set", 1);
        m->cache.read_hit = hit < 1 ? hit : 1;
    }
    if (set && ratio)
        REFUSE(r, doc, "working-set", "`read-hit` and `working-set` say the same: one of them");
    else if (set && !doc_get(doc, "size"))
        REFUSE(r, doc, "working-set", "`working-set` needs the `size` of the cache");
    m->cache.hit = build_time(doc, "hit", 0);
    m->cache.write_back = build_bool(doc, "write-back", true);
    m->cache.write = build_time(doc, "write", 0);
    m->cache.mirror = build_time(doc, "mirror", 0);
    m->cache.mirror_rate = build_real(doc, "mirror-rate", 0);
    m->cache.alone = (enum storage_alone)word_place(storage_alones, build_word(doc, "alone"), STORAGE_WRITE_THROUGH);
    m->cache.failover = build_time(doc, "failover", 0);
    static const char *const of_mirror[] = {"alone", "failover"};
    for (size_t i = 0; i < sizeof(of_mirror) / sizeof(of_mirror[0]); i++)
        if (doc_get(doc, of_mirror[i]) && !doc_get(doc, "mirror") && !doc_get(doc, "mirror-rate"))
            REFUSE(r, doc, of_mirror[i],
                   "`%s` is of controllers that mirror writes: `mirror` or `mirror-rate` is missing", of_mirror[i]);
    m->cache.dirty = build_size(doc, "dirty", DIRTY_DEFAULT);
    if (doc_get(doc, "dirty") && !m->cache.write_back)
        REFUSE(r, doc, "dirty", "`dirty` belongs to `write-back: true`");
}

static void read_back_end(struct reader *r, const struct doc_node *doc, struct storage_model *m)
{
    if (!doc || doc_get(doc, "zone") || doc_get(doc, "members")) /* drawn in the file: topology_build_san.c */
        return;
    if (!needs(r, doc, "links", "a back-end network") || !needs(r, doc, "speed", "a back-end network"))
        return;
    m->back_end.links = (unsigned)build_integer(doc, "links", 1);
    m->back_end.speed = build_rate(doc, "speed", 0);
    m->back_end.mtu = (unsigned)build_integer(doc, "mtu", 1500);
    m->back_end.protocol =
        (enum storage_protocol)word_place(storage_protocols, build_word(doc, "protocol"), STORAGE_ISCSI);
    m->back_end.delay = build_time(doc, "delay", DELAY_DEFAULT);
}

static const struct storage_host_cache *read_host_cache(struct reader *r, const struct doc_node *doc)
{
    if (!doc)
        return NULL;
    doc = over_preset(r, doc, "device", "devices");
    if (!doc || !needs(r, doc, "hosts", "a cache in hosts") || !needs(r, doc, "interface", "a cache in hosts"))
        return NULL;
    struct storage_host_cache *c = arena_alloc(r->b->arena, sizeof(*c));
    read_disk(r, doc, &c->card);
    if (c->card.medium != STORAGE_SSD)
        REFUSE(r, doc, "medium", "a card is an ssd");
    c->read_hit = build_real(doc, "read-hit", 0);
    c->path = build_time(doc, "path", 0);
    c->destage = build_size(doc, "destage", 262144);
    c->destages = (unsigned)build_integer(doc, "destages", 8);
    c->dirty = build_size(doc, "dirty", c->card.size / 2);
    if (c->dirty > c->card.size)
        REFUSE(r, doc, "dirty", "`%s` is more than a card holds", build_word(doc, "dirty"));
    return c;
}

struct named {
    const char *name;
    int box;
};

static int by_name(const void *a, const void *b)
{
    return build_natural_order(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Which system each controller belongs to: equal parts of the controllers in the order of their names. */
static const uint8_t *deal_systems(struct build *b, const struct topo_node *node, unsigned systems)
{
    size_t n = (size_t)node->n_boxes;
    struct named *order = arena_alloc(b->scratch, n * sizeof(*order));
    uint8_t *of = arena_alloc(b->arena, n);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct named){b->t->boxes[node->first_box + (int)i].part, (int)i};
    qsort(order, n, sizeof(*order), by_name);
    for (size_t i = 0; i < n; i++)
        of[order[i].box] = (uint8_t)(i * systems / n);
    return of;
}

const struct storage_model *storage_read(struct build *b, const struct topo_node *node, const struct doc_pair *storage)
{
    struct reader r = {.b = b};
    if (!storage || storage->value->type != DOC_MAP)
        return NULL;
    const struct doc_node *doc = over_preset(&r, storage->value, "preset", "storages");
    if (!doc)
        return NULL;
    size_t others = doc->count - (doc_get(doc, "limit") != NULL);
    if (others == 0) {
        if (!doc_get(doc, "limit"))
            schema_error(b->report, storage->mark, "storage: {limit: {read: 600MB/s}}", "`storage` says nothing");
        return NULL;
    }
    if (doc_get(doc, "limit"))
        REFUSE(&r, doc, "limit", "`limit` is the short form of all that stands beside it: one of them");
    const struct doc_node *groups = doc_get(doc, "groups");
    if (!groups || groups->type != DOC_MAP || !groups->count) {
        schema_error(b->report, storage->mark, "groups: {pool: {device: savvio-10k-600, disks: 22, raid: raid-10}}",
                     "`groups` is missing: a storage has disks");
        return NULL;
    }
    struct storage_model *m = arena_alloc(b->arena, sizeof(*m));
    m->preset = build_text(b, doc, "preset");
    m->systems = (unsigned)build_integer(doc, "systems", 1);
    m->concurrency = (unsigned)build_integer(doc, "concurrency", 0);
    if (m->systems > (unsigned)node->n_boxes || (unsigned)node->n_boxes % m->systems)
        REFUSE(&r, doc, "systems", "%d controllers are not %u equal systems", node->n_boxes, m->systems);
    else
        m->system_of = deal_systems(b, node, m->systems);
    read_controller(&r, doc_get(doc, "controller"), m);
    read_cache(&r, doc_get(doc, "cache"), m);
    read_back_end(&r, doc_get(doc, "back-end"), m);
    read_groups(&r, groups, m);
    m->host_cache = read_host_cache(&r, doc_get(doc, "host-cache"));
    return m;
}
