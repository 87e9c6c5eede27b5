#include "emu/live/changes.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/diag.h"
#include "emu/model/path.h"
#include "emu/report/json.h"

/* As in the topology file. */
#define RATE_MIN   UINT64_C(1000)
#define RATE_MAX   UINT64_C(1000000000000)
#define DELAY_MAX  (10 * PS_PER_S)
#define BUFFER_MIN UINT64_C(16384)
#define BUFFER_MAX UINT64_C(1073741824)

static const char *const state_names[] = {
    [TOPO_LINK_UP] = "up",
    [TOPO_LINK_DOWN] = "down",
    [TOPO_LINK_BLACKHOLE] = "blackhole",
    [TOPO_LINK_ONE_WAY] = "one-way",
};
enum { STATES = sizeof state_names / sizeof state_names[0] };
static_assert(STATES == TOPO_LINK_ONE_WAY + 1, "a name for every state");

const char *change_state_name(enum topo_link_state state) { return state_names[state]; }

/* ---- links ---- */

static const char *nearest_port(const struct topo *t, const char *word)
{
    const char **names = malloc((t->n_ports + 1) * sizeof *names), *near;
    size_t n = 0;

    if (!names)
        return NULL;
    for (size_t i = 0; i < t->n_ports; i++)
        if (t->ports[i].link >= 0)
            names[n++] = t->ports[i].full;
    near = diag_nearest(word, names, n);
    free(names);
    return near;
}

static bool no_port(const struct topo *t, const char *word, char *problem, size_t size)
{
    const char *near = nearest_port(t, word);

    if (near)
        snprintf(problem, size, "there is no port with a cable `%s`; did you mean `%s`?", word, near);
    else
        snprintf(problem, size, "there is no port with a cable `%s`", word);
    return false;
}

bool change_find_link(const struct topo *t, const char *text, struct change_link *out, char *problem, size_t size)
{
    const char *arrow = strchr(text, '>');
    char *from = arrow ? strndup(text, (size_t)(arrow - text)) : strdup(text);
    int port = from ? topo_find_port(t, from) : -1, link = port < 0 ? -1 : t->ports[port].link;
    bool ok = link >= 0;

    if (!ok) {
        no_port(t, from ? from : text, problem, size);
    } else if (arrow && strcmp(t->ports[t->links[link].port[!t->ports[port].end]].full, arrow + 1) != 0) {
        snprintf(problem, size, "the cable at `%s` leads to `%s`, not to `%s`", from,
                 t->ports[t->links[link].port[!t->ports[port].end]].full, arrow + 1);
        ok = false;
    }
    if (ok)
        *out = (struct change_link){link, t->ports[port].end, arrow != NULL};
    free(from);
    return ok;
}

/* ---- set ---- */

struct setting { /* being read */
    const struct topo *t;
    double scale;
    struct change_link link;
    struct change *out;
    char *problem;
    size_t size;
};

static struct topo_event *add(struct setting *s, enum topo_event_what what)
{
    struct topo_event *e = &s->out->events[s->out->n_events++];

    *e = (struct topo_event){
        .what = what, .link = s->link.link, .from_end = s->link.from_end, .vip = -1, .box = -1, .up = true};
    return e;
}

static bool wrong(const struct setting *s, const char *key, const char *value, const char *expected)
{
    snprintf(s->problem, s->size, "%s: `%s` is not %s", key, value, expected);
    return false;
}

static bool read_state(struct setting *s, const char *value)
{
    for (int i = 0; i < STATES; i++) {
        if (strcmp(value, state_names[i]) != 0)
            continue;
        add(s, TOPO_EV_LINK_STATE)->state = (enum topo_link_state)i;
        return true;
    }
    return wrong(s, "state", value, "up, down, blackhole or one-way");
}

static bool read_rate(struct setting *s, const char *value)
{
    bps_t rate;
    const char *expected = unit_parse_rate(value, &rate);

    if (expected)
        return wrong(s, "rate", value, expected);
    if (rate < RATE_MIN || rate > RATE_MAX)
        return wrong(s, "rate", value, "from 1 kbit/s to 1 Tbit/s");
    rate = (bps_t)llround((double)rate * s->scale);
    add(s, TOPO_EV_LINK_RATE)->rate = rate ? rate : 1;
    return true;
}

static bool read_delay(struct setting *s, const char *value)
{
    ps_t delay;
    const char *expected = unit_parse_time(value, &delay);

    if (expected)
        return wrong(s, "delay", value, expected);
    if (delay < 0 || delay > DELAY_MAX)
        return wrong(s, "delay", value, "from 0 to 10 s");
    add(s, TOPO_EV_LINK_DELAY)->delay = (ps_t)llround((double)delay / s->scale);
    return true;
}

static bool read_loss(struct setting *s, const char *value)
{
    double loss;
    const char *expected = unit_parse_percent(value, &loss);

    if (expected)
        return wrong(s, "loss", value, expected);
    if (!(loss >= 0 && loss <= 1))
        return wrong(s, "loss", value, "from 0% to 100%");
    add(s, TOPO_EV_LINK_LOSS)->loss = loss;
    return true;
}

static bool read_buffer(struct setting *s, const char *value)
{
    const char *expected = unit_parse_size(value, &s->out->buffer);

    if (expected)
        return wrong(s, "buffer", value, expected);
    if (s->out->buffer < BUFFER_MIN || s->out->buffer > BUFFER_MAX)
        return wrong(s, "buffer", value, "from 16 KiB to 1 GiB");
    s->out->has_buffer = true;
    return true;
}

static const char *const key_names[] = {"state", "rate", "delay", "loss", "buffer"};
static bool (*const key_readers[])(struct setting *, const char *) = {read_state, read_rate, read_delay, read_loss,
                                                                      read_buffer};
enum { KEYS = sizeof key_names / sizeof key_names[0] };
static_assert(KEYS == sizeof key_readers / sizeof key_readers[0], "a reader for every key");
static_assert(KEYS == CHANGE_EVENTS + 1, "an event for every key but the buffer");

/* One "key=value"; `seen` has a bit per key. */
static bool read_change(struct setting *s, const char *text, unsigned *seen)
{
    const char *equals = strchr(text, '='), *near;
    char key[32];

    if (!equals) {
        snprintf(s->problem, s->size, "`%s` is not KEY=VALUE; keys are state, rate, delay, loss, buffer", text);
        return false;
    }
    snprintf(key, sizeof key, "%.*s", (int)(equals - text < 31 ? equals - text : 31), text);
    for (int i = 0; i < KEYS; i++) {
        if (strcmp(key, key_names[i]) != 0)
            continue;
        if (*seen >> i & 1) {
            snprintf(s->problem, s->size, "%s: given twice, the second time with `%s`", key, equals + 1);
            return false;
        }
        *seen |= 1u << i;
        return key_readers[i](s, equals + 1);
    }
    near = diag_nearest(key, key_names, KEYS);
    if (near)
        snprintf(s->problem, s->size, "a link has no `%s`; did you mean `%s`?", key, near);
    else
        snprintf(s->problem, s->size, "a link has no `%s`; it has state, rate, delay, loss, buffer", key);
    return false;
}

bool change_set(const struct topo *t, double scale, const struct json_in *request, struct change *out, char *problem,
                size_t size)
{
    const char *link = json_in_text(json_in_member(request, "link"));
    const struct json_in *changes = json_in_member(request, "changes");
    struct setting s = {.t = t, .scale = scale, .out = out, .problem = problem, .size = size};
    unsigned seen = 0;

    *out = (struct change){.link = -1};
    if (!link || json_in_size(changes) == 0) {
        snprintf(problem, size, "`set` needs a \"link\" and \"changes\" to it");
        return false;
    }
    if (!change_find_link(t, link, &s.link, problem, size))
        return false;
    out->link = s.link.link;
    for (size_t i = 0; i < json_in_size(changes); i++) {
        const char *text = json_in_text(json_in_element(changes, i));

        if (!text) {
            snprintf(problem, size, "\"changes\" is a list of texts");
            return false;
        }
        if (!read_change(&s, text, &seen))
            return false;
    }
    return true;
}

/* ---- move ---- */

static int find_vip(const struct topo *t, const char *text, char *problem, size_t size)
{
    struct topo_addr addr;
    const char **names = malloc((2 * t->n_vips + 1) * sizeof *names), *near;
    size_t n = 0;
    int vip = topo_addr_parse(&addr, text) ? topo_find_vip(t, &addr) : -1;

    for (size_t v = 0; names && vip < 0 && v < t->n_vips; v++) {
        names[n++] = t->vips[v].text;
        if (t->vips[v].name)
            names[n++] = t->vips[v].name;
        if (t->vips[v].name && strcmp(t->vips[v].name, text) == 0)
            vip = (int)v;
    }
    near = vip < 0 && names ? diag_nearest(text, names, n) : NULL;
    if (vip < 0 && near)
        snprintf(problem, size, "there is no VIP `%s`; did you mean `%s`?", text, near);
    else if (vip < 0)
        snprintf(problem, size, "there is no VIP `%s`", text);
    free(names);
    return vip;
}

/* The controller of the VIP's NAS, by its full name or its part. */
static int find_controller(const struct topo *t, int vip, const char *text, char *problem, size_t size)
{
    const char **names = malloc((t->n_boxes + 1) * sizeof *names), *near;
    size_t n = 0;
    int box = -1;

    for (size_t b = 0; names && b < t->n_boxes; b++) {
        if (t->boxes[b].node != t->vips[vip].node)
            continue;
        if (strcmp(t->boxes[b].name, text) == 0 || (t->boxes[b].part && strcmp(t->boxes[b].part, text) == 0))
            box = (int)b;
        names[n++] = t->boxes[b].part ? t->boxes[b].part : t->boxes[b].name;
    }
    near = box < 0 && names ? diag_nearest(text, names, n) : NULL;
    if (box < 0 && near)
        snprintf(problem, size, "%s has no controller `%s`; did you mean `%s`?", t->nodes[t->vips[vip].node].name, text,
                 near);
    else if (box < 0)
        snprintf(problem, size, "%s has no controller `%s`", t->nodes[t->vips[vip].node].name, text);
    free(names);
    return box;
}

bool change_move(const struct topo *t, const struct json_in *request, struct change *out, char *problem, size_t size)
{
    const char *vip_text = json_in_text(json_in_member(request, "vip")),
               *to = json_in_text(json_in_member(request, "controller"));
    int vip, box;

    *out = (struct change){.link = -1, .n_events = 1};
    if (!vip_text || !to) {
        snprintf(problem, size, "`move` needs a \"vip\" and a \"controller\"");
        return false;
    }
    vip = find_vip(t, vip_text, problem, size);
    box = vip < 0 ? -1 : find_controller(t, vip, to, problem, size);
    if (box < 0)
        return false;
    if (path_vip_iface(t, vip, box) < 0) {
        snprintf(problem, size, "%s has no interface in the subnet of %s", t->boxes[box].name, t->vips[vip].text);
        return false;
    }
    out->events[0] = (struct topo_event){.what = TOPO_EV_VIP_MOVE,
                                         .link = -1,
                                         .vip = vip,
                                         .box = box,
                                         .garp = json_in_true(json_in_member(request, "garp")),
                                         .up = true};
    return true;
}
