/* What happens in a run: workloads, events, background traffic; and what is acknowledged and expected. */
#include "emu/model/topology_build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DURATION_DEFAULT (30 * PS_PER_S)
enum { BLOCK_DEFAULT = 65536, OUTSTANDING_DEFAULT = 16, JOBS_MAX = 4000000 };

static void all_mounts(struct build *b, struct topo_workload *w)
{
    const struct topo *t = b->t;
    int *mounts = arena_alloc(b->arena, (t->n_mounts + 1) * sizeof(*mounts));
    for (size_t i = 0; i < t->n_mounts; i++)
        mounts[i] = (int)i;
    w->mounts = mounts;
    w->n_mounts = t->n_mounts;
}

/* The places of the names of a list in a table, in order; all of n where there is no list. */
static int *places(struct build *b, const struct doc_node *list, const struct name_table *table, const char *what,
                   size_t *n)
{
    size_t count = list ? list->count : *n;
    int *all = arena_alloc(b->scratch, (count + 1) * sizeof(*all));
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        int place = list ? name_table_find(table, list->items[i]->text) : (int)i;
        if (place < 0)
            build_dangling(b, list->items[i]->mark, what, list->items[i]->text, table);
        else
            all[(*n)++] = place;
    }
    qsort(all, *n, sizeof(*all), build_by_number);
    return all;
}

/* The mount of a host among those of a datastore, which are in order of hosts; -1 when it has none. */
static int find_mount(const struct topo *t, const struct topo_datastore *ds, int host)
{
    int low = ds->first_mount, high = ds->first_mount + ds->n_mounts;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (t->mounts[middle].host < host)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ds->first_mount + ds->n_mounts && t->mounts[low].host == host ? low : -1;
}

void build_workload_mounts(struct build *b, struct topo_workload *w, const struct doc_node *doc)
{
    const struct topo *t = b->t;
    const struct doc_node *hosts = doc_get(doc, "host") ? doc_get(doc, "host") : doc_get(doc, "hosts");
    size_t n_on = t->n_boxes, n_of = t->n_datastores, capacity = 0;
    int *on = hosts ? places(b, hosts, &b->boxes, "host", &n_on) : NULL;
    int *of = places(b, doc_get(doc, "datastores"), &b->datastores, "datastore", &n_of), *mounts = NULL;
    if (doc_get(doc, "host") && doc_get(doc, "hosts"))
        schema_error(b->report, build_mark(doc, "hosts"), NULL, "`host` and `hosts` are the same key");
    for (size_t i = 0; i < n_of; i++) {
        const struct topo_datastore *ds = &t->datastores[of[i]];
        size_t n = hosts ? n_on : (size_t)ds->n_mounts;
        for (size_t k = 0; k < n; k++) {
            int mount = hosts ? find_mount(t, ds, on[k]) : ds->first_mount + (int)k;
            if (mount < 0)
                continue;
            mounts = arena_grow(b->arena, mounts, w->n_mounts, &capacity, sizeof(*mounts));
            mounts[w->n_mounts++] = mount;
        }
        if (w->n_mounts + b->n_jobs > JOBS_MAX)
            break;
    }
    w->mounts = mounts;
    b->n_jobs += w->n_mounts;
    if (b->n_jobs > JOBS_MAX)
        schema_error(b->report, w->mark, NULL, "the workloads are more than %d jobs", JOBS_MAX);
    else if (!w->n_mounts && !b->report->failed)
        schema_error(b->report, w->mark, NULL, "workload `%s` has nothing to do: no such host mounts such a datastore",
                     w->name);
}

/* The datastores of a list as places, in the list's order; NULL after an error. */
static int *in_list_order(struct build *b, const struct doc_node *list, size_t *n)
{
    int *all = arena_alloc(b->scratch, (list->count + 1) * sizeof(*all));
    bool ok = true;
    for (size_t i = 0; i < list->count; i++)
        if ((all[i] = name_table_find(&b->datastores, list->items[i]->text)) < 0) {
            build_dangling(b, list->items[i]->mark, "datastore", list->items[i]->text, &b->datastores);
            ok = false;
        }
    *n = list->count;
    return ok ? all : NULL;
}

/* Pairs of mounts: source and target of each clone. */
static void clone_mounts(struct build *b, struct topo_workload *w, const struct doc_node *doc)
{
    const struct doc_node *hosts = doc_get(doc, "host") ? doc_get(doc, "host") : doc_get(doc, "hosts"),
                          *from = doc_get(doc, "datastores"), *to = doc_get(doc, "to");
    if (!hosts || !from || !to || !w->bytes) {
        schema_error(b->report, w->mark, NULL, "a clone needs `host`, `datastores` (to read), `to` and `bytes`");
        return;
    }
    size_t n_on = 0, n_from = 0, n_to = 0, capacity = 0;
    int *on = places(b, hosts, &b->boxes, "host", &n_on), *sources = in_list_order(b, from, &n_from),
        *targets = in_list_order(b, to, &n_to), *mounts = NULL;
    if (!sources || !targets)
        return;
    size_t n = n_from > n_to ? n_from : n_to;
    if (n_from != n && n_from != 1)
        schema_error(b->report, build_mark(doc, "datastores"), NULL, "%zu datastores to read for %zu to write", n_from,
                     n_to);
    else if (n_to != n && n_to != 1)
        schema_error(b->report, build_mark(doc, "to"), NULL, "%zu datastores to write for %zu to read", n_to, n_from);
    for (size_t h = 0; h < n_on && !b->report->failed; h++)
        for (size_t i = 0; i < n && b->n_jobs < JOBS_MAX; i++) {
            const struct topo_datastore *source = &b->t->datastores[sources[n_from == 1 ? 0 : i]],
                                        *target = &b->t->datastores[targets[n_to == 1 ? 0 : i]];
            int reads = find_mount(b->t, source, on[h]), writes = find_mount(b->t, target, on[h]);
            if (reads < 0 || writes < 0) {
                schema_error(b->report, w->mark, NULL, "`%s` does not mount `%s`", b->t->boxes[on[h]].name,
                             reads < 0 ? source->name : target->name);
                return;
            }
            mounts = arena_grow(b->arena, mounts, w->n_mounts, &capacity, sizeof(*mounts));
            mounts[w->n_mounts++] = reads;
            mounts = arena_grow(b->arena, mounts, w->n_mounts, &capacity, sizeof(*mounts));
            mounts[w->n_mounts++] = writes;
            b->n_jobs += 2;
        }
    w->mounts = mounts;
}

static void add_workload(struct build *b, const struct doc_pair *pair)
{
    const struct doc_node *doc = pair->value;
    const char *op = build_word(doc, "op"), *pattern = build_word(doc, "pattern");
    struct topo_workload *w = &b->t->workloads[b->t->n_workloads++];
    *w = (struct topo_workload){
        .name = build_string(b, pair->key),
        .op = strcmp(op, "read") == 0    ? TOPO_READ
              : strcmp(op, "write") == 0 ? TOPO_WRITE
              : strcmp(op, "clone") == 0 ? TOPO_CLONE
                                         : TOPO_MIXED,
        .read_share = build_real(doc, "read-share", 0.5),
        .sequential = !pattern || strcmp(pattern, "sequential") == 0,
        .block = build_size(doc, "block", BLOCK_DEFAULT),
        .outstanding = (unsigned)build_integer(doc, "outstanding", OUTSTANDING_DEFAULT),
        .rate = build_real(doc, "rate", 0),
        .iops = build_real(doc, "iops", 0),
        .start = build_time(doc, "start", 0),
        .bytes = build_size(doc, "bytes", 0),
        .vm_group = -1,
        .mark = pair->mark,
    };
    /* Of a clone, `bytes` is also what lies on the disks. */
    if (doc_get(doc, "bytes") && doc_get(doc, "for") && w->op != TOPO_CLONE)
        schema_error(b->report, build_mark(doc, "bytes"), NULL, "`for` and `bytes` are two ways to end: one of them");
    if (!w->bytes || doc_get(doc, "for"))
        w->duration = build_time(doc, "for", DURATION_DEFAULT);
    if (doc_get(doc, "read-share") && w->op != TOPO_MIXED)
        schema_error(b->report, build_mark(doc, "read-share"), "op: mixed", "`read-share` belongs to `op: mixed`");
    const char *arrival = build_word(doc, "arrival");
    w->window = build_size(doc, "window", w->block * w->outstanding);
    w->by_chance = arrival && strcmp(arrival, "random") == 0;
    if (w->by_chance && !(w->rate > 0) && !(w->iops > 0))
        schema_error(b->report, build_mark(doc, "arrival"), NULL, "`arrival` belongs to `rate` or `iops`");
    if (w->op == TOPO_CLONE)
        clone_mounts(b, w, doc);
    else
        build_workload_mounts(b, w, doc);
    if (doc_get(doc, "to") && w->op != TOPO_CLONE)
        schema_error(b->report, build_mark(doc, "to"), "op: clone", "`to` belongs to `op: clone`");
    w->stable_given = doc_get(doc, "stable") != NULL;
    w->stable = build_bool(doc, "stable", false);
}

/* A file without workloads: every datastore busy, writes, then reads. */
static void default_workloads(struct build *b)
{
    static const char *const names[] = {"writes", "reads"};
    b->t->workloads = arena_alloc(b->arena, 2 * sizeof(*b->t->workloads));
    for (int i = 0; i < 2 && b->t->n_mounts; i++) {
        struct topo_workload *w = &b->t->workloads[b->t->n_workloads++];
        *w = (struct topo_workload){.name = names[i],
                                    .op = i ? TOPO_READ : TOPO_WRITE,
                                    .sequential = true,
                                    .block = BLOCK_DEFAULT,
                                    .outstanding = OUTSTANDING_DEFAULT,
                                    .start = i * DURATION_DEFAULT,
                                    .duration = DURATION_DEFAULT,
                                    .synthetic = true,
                                    .vm_group = -1};
        all_mounts(b, w);
    }
}

static struct topo_event *new_event(struct build *b, size_t *capacity, const struct topo_event *like)
{
    struct topo *t = b->t;
    t->events = arena_grow(b->arena, t->events, t->n_events, capacity, sizeof(*t->events));
    t->events[t->n_events] = *like;
    return &t->events[t->n_events++];
}

static enum topo_link_state link_state(const char *word)
{
    return strcmp(word, "up") == 0          ? TOPO_LINK_UP
           : strcmp(word, "down") == 0      ? TOPO_LINK_DOWN
           : strcmp(word, "blackhole") == 0 ? TOPO_LINK_BLACKHOLE
                                            : TOPO_LINK_ONE_WAY;
}

static void link_event(struct build *b, size_t *capacity, const struct doc_node *item, struct topo_event e)
{
    const struct doc_node *links = doc_get(item, "link");
    const char *state = build_word(item, "state");
    if (!state && !doc_get(item, "speed") && !doc_get(item, "delay") && !doc_get(item, "loss"))
        schema_error(b->report, e.mark, NULL, "this event changes nothing: say state, speed, delay or loss");
    if (doc_get(item, "to") || doc_get(item, "gratuitous-arp"))
        schema_error(b->report, e.mark, NULL, "`to` and `gratuitous-arp` are for events of a VIP");
    for (size_t i = 0; i < links->count; i++) {
        int port = name_table_find(&b->ports, links->items[i]->text);
        if (port < 0 || b->t->ports[port].link < 0) {
            build_dangling(b, links->items[i]->mark, "port with a cable", links->items[i]->text, &b->ports);
            continue;
        }
        e.link = b->t->ports[port].link;
        e.from_end = b->t->ports[port].end;
        e.what = TOPO_EV_LINK_STATE;
        if (state)
            new_event(b, capacity, &e)->state = link_state(state);
        e.what = TOPO_EV_LINK_RATE;
        if (doc_get(item, "speed"))
            new_event(b, capacity, &e)->rate = build_rate(item, "speed", 0);
        e.what = TOPO_EV_LINK_DELAY;
        if (doc_get(item, "delay"))
            new_event(b, capacity, &e)->delay = build_time(item, "delay", 0);
        e.what = TOPO_EV_LINK_LOSS;
        if (doc_get(item, "loss"))
            new_event(b, capacity, &e)->loss = build_real(item, "loss", 0);
    }
}

static void vip_event(struct build *b, size_t *capacity, const struct doc_node *item, struct topo_event e)
{
    const struct topo *t = b->t;
    const struct doc_node *vips = doc_get(item, "vip");
    const char *state = build_word(item, "state"), *to = build_word(item, "to");
    if (!state == !to)
        schema_error(b->report, e.mark, NULL, "an event of a VIP says either `to: CONTROLLER` or `state: up|down`");
    for (size_t i = 0; i < vips->count; i++) {
        struct topo_addr addr;
        char text[64] = "";
        if (topo_addr_parse(&addr, vips->items[i]->text))
            topo_addr_print(text, sizeof(text), &addr, false);
        e.vip = *text ? name_table_find(&b->vips, text) : name_table_find(&b->vip_names, vips->items[i]->text);
        if (e.vip < 0) {
            build_dangling(b, vips->items[i]->mark, "VIP", vips->items[i]->text, &b->vips);
            continue;
        }
        if (to) {
            const char *full = arena_printf(b->scratch, "%s:%s", t->nodes[t->vips[e.vip].node].name, to);
            e.what = TOPO_EV_VIP_MOVE;
            e.box = name_table_find(&b->boxes, full);
            e.garp = build_bool(item, "gratuitous-arp", true);
            if (e.box < 0)
                build_dangling(b, build_mark(item, "to"), "controller", full, &b->boxes);
        } else if (state) {
            e.what = TOPO_EV_VIP_STATE;
            e.up = strcmp(state, "up") == 0;
        }
        new_event(b, capacity, &e);
    }
}

static void node_event(struct build *b, size_t *capacity, const struct doc_node *item, struct topo_event e)
{
    const struct doc_node *names = doc_get(item, "node");
    const char *state = build_word(item, "state");
    if (!state)
        schema_error(b->report, e.mark, NULL, "an event of a node says `state: up|down`");
    for (size_t i = 0; state && i < names->count; i++) {
        e.what = TOPO_EV_BOX_STATE;
        e.box = name_table_find(&b->boxes, names->items[i]->text);
        e.up = strcmp(state, "up") == 0;
        if (e.box < 0)
            build_dangling(b, names->items[i]->mark, "node or controller", names->items[i]->text, &b->boxes);
        else
            new_event(b, capacity, &e);
    }
}

static void add_event(struct build *b, size_t *capacity, const struct doc_node *item)
{
    struct topo_event e = {
        .at = build_time(item, "at", 0), .link = -1, .vip = -1, .box = -1, .mark = build_mark(item, "at")};
    bool link = doc_get(item, "link"), vip = doc_get(item, "vip"), node = doc_get(item, "node");
    const char *state = build_word(item, "state");
    if (link + vip + node != 1) {
        schema_error(b->report, e.mark, NULL, "an event is of a `link`, a `vip` or a `node`: one of them");
        return;
    }
    if (!link && state && strcmp(state, "up") != 0 && strcmp(state, "down") != 0)
        schema_error(b->report, build_mark(item, "state"), NULL, "`%s` is a state of links only", state);
    if (!link && (doc_get(item, "speed") || doc_get(item, "delay") || doc_get(item, "loss")))
        schema_error(b->report, e.mark, NULL, "speed, delay and loss are for events of a link");
    if (link)
        link_event(b, capacity, item, e);
    else if (vip)
        vip_event(b, capacity, item, e);
    else
        node_event(b, capacity, item, e);
}

struct timed {
    struct topo_event event;
    size_t order;
};

static int by_time(const void *left, const void *right)
{
    const struct timed *p = left, *q = right;
    if (p->event.at != q->event.at)
        return p->event.at < q->event.at ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

/* In order of time; events of one moment stay in the order of the file. */
static void sort_events(struct build *b)
{
    struct topo *t = b->t;
    struct timed *all = arena_alloc(b->scratch, (t->n_events + 1) * sizeof(*all));
    for (size_t i = 0; i < t->n_events; i++)
        all[i] = (struct timed){t->events[i], i};
    qsort(all, t->n_events, sizeof(*all), by_time);
    for (size_t i = 0; i < t->n_events; i++)
        t->events[i] = all[i].event;
}

static void add_background(struct build *b, size_t *capacity, const struct doc_node *item)
{
    struct topo *t = b->t;
    const struct doc_node *links = doc_get(item, "link");
    for (size_t i = 0; i < links->count; i++) {
        const char *text = links->items[i]->text, *arrow = strchr(text, '>');
        const char *from = arrow ? arena_copy(b->scratch, text, (size_t)(arrow - text)) : text;
        int port = name_table_find(&b->ports, from);
        int direction = port < 0 ? -1 : topo_port_out(t, port);
        if (direction < 0 || (arrow && strcmp(t->ports[topo_linkdir_to(t, direction)].full, arrow + 1) != 0)) {
            build_dangling(b, links->items[i]->mark, "link direction", text, &b->ports);
            continue;
        }
        t->background = arena_grow(b->arena, t->background, t->n_background, capacity, sizeof(*t->background));
        t->background[t->n_background++] =
            (struct topo_background){direction, build_real(item, "load", 0), links->items[i]->mark};
    }
}

static void add_allows(struct build *b, const struct doc_node *allow)
{
    struct topo *t = b->t;
    for (size_t i = 0; allow && i < allow->count; i++) {
        const struct doc_pair *pair = &allow->pairs[i];
        struct topo_allow *a = &t->allows[t->n_allows++];
        *a = (struct topo_allow){build_string(b, pair->key), build_string(b, pair->value->text), pair->mark};
        if (!*a->reason)
            schema_error(b->report, pair->mark, NULL, "`%s` is allowed for which reason?", pair->key);
    }
}

/* The inputs that an expectation was used to fit. */
static void add_calibrated(struct build *b, struct topo_expect *e, const struct doc_node *list)
{
    int *inputs = arena_alloc(b->arena, ((list ? list->count : 0) + 1) * sizeof(*inputs));
    for (size_t i = 0; list && i < list->count; i++) {
        const char *name = list->items[i]->text;
        size_t k = 0;
        while (k < b->t->n_inputs && strcmp(b->t->inputs[k].name, name) != 0)
            k++;
        if (k == b->t->n_inputs)
            schema_error(b->report, list->items[i]->mark, NULL, "there is no input `%s`", name);
        else if (strcmp(b->t->inputs[k].basis, "calibrated") != 0)
            schema_error(b->report, list->items[i]->mark, NULL, "the input `%s` is %s, not calibrated", name,
                         b->t->inputs[k].basis);
        else
            inputs[e->n_calibrated++] = (int)k;
    }
    e->calibrated = inputs;
}

static void add_input(struct build *b, const struct doc_pair *pair)
{
    struct topo_input *in = &b->t->inputs[b->t->n_inputs++];
    const struct doc_node *at = doc_get(pair->value, "at");
    size_t n = at ? at->count : 0;
    const char **places = arena_alloc(b->arena, (n + 1) * sizeof(*places));
    for (size_t i = 0; i < n; i++)
        places[i] = arena_copy(b->arena, at->items[i]->text, strlen(at->items[i]->text));
    *in = (struct topo_input){
        .name = arena_copy(b->arena, pair->key, strlen(pair->key)),
        .at = places,
        .n_at = n,
        .basis = build_text(b, pair->value, "basis"),
        .fitted_to = build_text(b, pair->value, "fitted-to"),
        .note = build_text(b, pair->value, "note"),
        .mark = pair->mark,
    };
    bool calibrated = in->basis && strcmp(in->basis, "calibrated") == 0;
    if (calibrated != (in->fitted_to != NULL))
        schema_error(b->report, pair->mark, NULL,
                     calibrated ? "a calibrated input says what it was `fitted-to`"
                                : "`fitted-to` belongs to a calibrated input");
}

static void add_expect(struct build *b, const struct doc_node *item)
{
    struct topo_expect *e = &b->t->expects[b->t->n_expects++];
    bool near = doc_get(item, "near"), exact = doc_get(item, "exact"), within = doc_get(item, "within"),
         bounds = doc_get(item, "min") || doc_get(item, "max");
    *e = (struct topo_expect){
        .figure = build_text(b, item, "figure"),
        .value = build_text(b, item, "value"),
        .near = build_real(item, near ? "near" : "exact", (double)NAN),
        .within = build_real(item, "within", 0),
        .exact = exact || (near && !within),
        .min = build_real(item, "min", (double)NAN),
        .max = build_real(item, "max", (double)NAN),
        .basis = build_text(b, item, "basis"),
        .note = build_text(b, item, "note"),
        .not_claimed = build_text(b, item, "not-claimed"),
        .mark = build_mark(item, "value"),
    };
    add_calibrated(b, e, doc_get(item, "calibrated"));
    if (near + exact + bounds != 1)
        schema_error(b->report, e->mark, NULL,
                     "an expectation has `near` (with `within`), `exact`, or `min` and `max`: one of these");
    if (within && !near)
        schema_error(b->report, build_mark(item, "within"), NULL, "`within` belongs to `near`");
}

void build_runs(struct build *b)
{
    struct topo *t = b->t;
    const struct doc_node *workloads = doc_get(b->root, "workloads"), *events = doc_get(b->root, "events"),
                          *background = doc_get(b->root, "background"), *expect = doc_get(b->root, "expect"),
                          *inputs = doc_get(b->root, "inputs"), *groups = doc_get(b->root, "vm-groups"),
                          *allow = doc_get(b->root, "allow"), *case_allow = doc_get(b->case_, "allow");
    size_t events_capacity = 0, background_capacity = 0;
    size_t n_workloads = workloads ? workloads->count : 0, n_groups = groups ? groups->count : 0;
    if (n_workloads || n_groups) {
        t->workloads = arena_alloc(b->arena, (n_workloads + n_groups) * sizeof(*t->workloads));
        for (size_t i = 0; i < n_workloads; i++)
            add_workload(b, &workloads->pairs[i]);
        build_vm_groups(b, groups);
    } else {
        default_workloads(b);
    }
    for (size_t i = 0; events && i < events->count; i++)
        add_event(b, &events_capacity, events->items[i]);
    sort_events(b);
    for (size_t i = 0; background && i < background->count; i++)
        add_background(b, &background_capacity, background->items[i]);
    t->allows = arena_alloc(b->arena, ((allow ? allow->count : 0) + (case_allow ? case_allow->count : 0) + 1) *
                                          sizeof(*t->allows));
    add_allows(b, allow);
    add_allows(b, case_allow);
    t->detail = build_text(b, b->root, "detail");
    t->raise_until = build_time(doc_get(b->root, "raise"), "until", 0);
    t->inputs = arena_alloc(b->arena, ((inputs ? inputs->count : 0) + 1) * sizeof(*t->inputs));
    for (size_t i = 0; inputs && i < inputs->count; i++)
        add_input(b, &inputs->pairs[i]);
    t->expects = arena_alloc(b->arena, ((expect ? expect->count : 0) + 1) * sizeof(*t->expects));
    for (size_t i = 0; expect && i < expect->count; i++)
        add_expect(b, expect->items[i]);
}
