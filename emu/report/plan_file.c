#include "emu/report/plan_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/report/json.h"

void plan_parts_free(struct plan_part *parts, size_t n)
{
    for (size_t i = 0; parts && i < n; i++)
        free(parts[i].name);
    free(parts);
}

struct collect {
    struct plan_part *parts;
    size_t n, size;
    bool failed;
};

static void take_part(void *context, const char *name, uint64_t hash)
{
    struct collect *c = context;
    if (c->n == c->size) {
        size_t size = c->size ? 2 * c->size : 64;
        struct plan_part *grown = realloc(c->parts, size * sizeof *grown);
        if (!grown) {
            c->failed = true;
            return;
        }
        c->parts = grown;
        c->size = size;
    }
    struct plan_part *part = &c->parts[c->n];
    part->name = strdup(name);
    part->hash = hash;
    if (part->name)
        c->n++;
    else
        c->failed = true;
}

long plan_parts(const struct topo_file *f, const char *case_name, struct plan_part **parts, struct diag *d)
{
    struct collect c = {0};
    bool ok = topo_file_fingerprint(f, case_name, take_part, &c, d);
    if (ok && c.failed)
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "out of memory");
    if (!ok || c.failed) {
        plan_parts_free(c.parts, c.n);
        return -1;
    }
    *parts = c.parts;
    return (long)c.n;
}

/* The text of a member, or NULL with the problem written down. */
static const char *word(const struct json_in *object, const char *key, const char *what, char *problem, size_t size)
{
    const char *text = json_in_text(json_in_member(object, key));
    if (!text && !problem[0])
        snprintf(problem, size, "%s has no `%s`", what, key);
    return text;
}

static bool read_assignments(struct plan_file *p, const struct json_in *list, char *problem, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < json_in_size(list); i++)
        n += json_in_size(json_in_member(json_in_element(list, i), "hosts"));
    p->assignments = calloc(n + 1, sizeof *p->assignments);
    for (size_t i = 0; p->assignments && i < json_in_size(list); i++) {
        const struct json_in *row = json_in_element(list, i), *hosts = json_in_member(row, "hosts");
        struct topo_assignment a = {
            .datastore = word(row, "datastore", "an assignment", problem, size),
            .server = word(row, "server", "an assignment", problem, size),
            .vip = word(row, "vip", "an assignment", problem, size),
        };
        for (size_t h = 0; h < json_in_size(hosts); h++) {
            a.host = json_in_text(json_in_element(hosts, h));
            if (!a.host && !problem[0])
                snprintf(problem, size, "`hosts` of an assignment holds something that is no name");
            p->assignments[p->n_assignments++] = a;
        }
    }
    return p->assignments && !problem[0];
}

/* Changes of the site; a plan without any may leave the list out. */
static bool read_changes(struct plan_file *p, const struct json_in *list, char *problem, size_t size)
{
    size_t n = json_in_size(list);
    p->changes = calloc(n + 1, sizeof *p->changes);
    p->levers = calloc(n + 1, sizeof *p->levers);
    p->from = calloc(n + 1, sizeof *p->from);
    for (size_t i = 0; p->changes && p->levers && p->from && i < n; i++) {
        const struct json_in *row = json_in_element(list, i), *words = json_in_member(row, "do");
        if (json_in_size(words) < 1 || json_in_size(words) > TOPO_CHANGE_WORDS) {
            snprintf(problem, size, "a change of the site has no `do` of one to %d words", TOPO_CHANGE_WORDS);
            return false;
        }
        for (size_t k = 0; k < json_in_size(words); k++)
            if (!(p->changes[i].words[k] = json_in_text(json_in_element(words, k)))) {
                snprintf(problem, size, "`do` of a change of the site holds something that is no word");
                return false;
            }
        p->levers[i] = word(row, "lever", "a change of the site", problem, size);
        p->from[i] = json_in_text(json_in_member(row, "from"));
        p->n_changes++;
    }
    return p->changes && p->levers && p->from && !problem[0];
}

static bool read_parts(struct plan_file *p, const struct json_in *list, char *problem, size_t size)
{
    p->parts = calloc(json_in_size(list) + 1, sizeof *p->parts);
    for (size_t i = 0; p->parts && i < json_in_size(list); i++) {
        const struct json_in *row = json_in_element(list, i);
        const char *name = word(row, "part", "the fingerprint", problem, size);
        const char *hash = word(row, "hash", "the fingerprint", problem, size);
        char *end = NULL;
        if (!name || !hash)
            return false;
        p->parts[p->n_parts] = (struct plan_part){strdup(name), strtoull(hash, &end, 16)};
        if (!p->parts[p->n_parts].name)
            return false;
        p->n_parts++;
        if (*end || end == hash) {
            snprintf(problem, size, "the fingerprint of %s is `%s`: expected 16 hexadecimal digits", name, hash);
            return false;
        }
    }
    return p->parts != NULL;
}

struct plan_file *plan_file_load(const char *path, char *problem, size_t size)
{
    char why[256] = "";
    struct json_in *root = json_in_load(path, problem, size);
    if (!root)
        return NULL;
    const char *schema = json_in_text(json_in_member(root, "schema"));
    const char *case_name = json_in_text(json_in_member(root, "case"));
    const struct json_in *assignments = json_in_member(root, "assignments");
    struct plan_file *p = calloc(1, sizeof *p);
    bool ok = p != NULL;
    if (ok) {
        *p = (struct plan_file){.path = path, .memory = root};
        p->case_name = case_name ? strdup(case_name) : NULL;
        ok = !case_name || p->case_name;
    }
    if (ok && (!schema || strcmp(schema, PLAN_SCHEMA) != 0)) {
        snprintf(why, sizeof why, "%s%s%s: no plan (a plan has \"schema\": \"%s\")",
                 schema ? "its schema is `" : "it has no schema", schema ? schema : "", schema ? "`" : "", PLAN_SCHEMA);
        ok = false;
    }
    if (ok && !assignments) {
        snprintf(why, sizeof why, "it has no assignments");
        ok = false;
    }
    ok = ok && read_assignments(p, assignments, why, sizeof why) &&
         read_changes(p, json_in_member(root, "site_changes"), why, sizeof why) &&
         read_parts(p, json_in_member(root, "fingerprint"), why, sizeof why);
    if (ok)
        return p;
    snprintf(problem, size, "%s: %s", path, why[0] ? why : "out of memory");
    if (!p)
        json_in_free(root);
    plan_file_free(p);
    return NULL;
}

void plan_file_free(struct plan_file *p)
{
    if (!p)
        return;
    plan_parts_free(p->parts, p->n_parts);
    free(p->assignments);
    free(p->changes);
    free(p->levers);
    free(p->from);
    free(p->case_name);
    json_in_free(p->memory);
    free(p);
}

static int by_name(const void *a, const void *b)
{
    const struct plan_part *x = a, *y = b;
    return strcmp(x->name, y->name);
}

/* Parts of `a` that `b`, sorted, has not, or has with another hash. */
static size_t differences(const struct plan_part *a, size_t n, const struct plan_part *b, size_t n_b, bool now,
                          const char *plan, struct diag *d)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const struct plan_part *other = bsearch(&a[i], b, n_b, sizeof *b, by_name);
        if (other && (!now || other->hash == a[i].hash))
            continue;
        found++;
        diag_add(d, DIAG_ERROR, NULL, (struct diag_mark){0}, "make the plan anew: nfsbal plan",
                 "%s does not fit: %s %s since it was made", plan, a[i].name,
                 other ? "has changed"
                 : now ? "has been added"
                       : "has been removed");
    }
    return found;
}

bool plan_file_fits(const struct plan_file *p, const struct topo_file *f, const char *case_name, struct diag *d)
{
    struct plan_part *now = NULL, *then = NULL;
    long n = plan_parts(f, case_name, &now, d);
    if (n < 0)
        return false;
    then = malloc((p->n_parts + 1) * sizeof *then);
    bool fits = then != NULL;
    if (fits) {
        memcpy(then, p->parts, p->n_parts * sizeof *then);
        qsort(then, p->n_parts, sizeof *then, by_name);
        fits = differences(now, (size_t)n, then, p->n_parts, true, p->path, d) == 0;
        qsort(now, (size_t)n, sizeof *now, by_name);
        fits &= differences(p->parts, p->n_parts, now, (size_t)n, false, p->path, d) == 0;
    }
    free(then);
    plan_parts_free(now, (size_t)n);
    return fits;
}

struct topo *plan_file_topo(const struct plan_file *p, const struct topo_file *f, const char *case_name, struct diag *d)
{
    if (!plan_file_fits(p, f, case_name, d))
        return NULL;
    return plan_file_step(p, f, case_name, p->n_changes, p->n_assignments, d);
}

struct topo *plan_file_step(const struct plan_file *p, const struct topo_file *f, const char *case_name,
                            size_t n_changes, size_t n_assignments, struct diag *d)
{
    return topo_load_changed(f, case_name, p->changes, n_changes, p->assignments, n_assignments, d);
}
