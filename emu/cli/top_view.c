/* needs: full */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* wcwidth() */
#endif
#include "emu/cli/top_view.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/live/watch.h"
#include "emu/report/path_words.h"

/* ---- the canvas ---- */

bool top_canvas_size(struct top_canvas *c, int rows, int columns)
{
    struct top_cell *cells;

    if (rows < 1 || columns < 1)
        rows = columns = 1;
    cells = realloc(c->cells, (size_t)rows * (size_t)columns * sizeof *cells);
    if (!cells)
        return false;
    *c = (struct top_canvas){rows, columns, cells};
    return true;
}

void top_canvas_free(struct top_canvas *c)
{
    free(c->cells);
    c->cells = NULL;
}

void top_canvas_text(const struct top_canvas *c, int row, char *out, size_t size)
{
    size_t at = 0, end = 0;

    for (int i = 0; i < c->columns; i++) {
        wchar_t character = c->cells[row * c->columns + i].character;
        char bytes[MB_LEN_MAX + 1];
        mbstate_t state = {0};
        size_t n = wcrtomb(bytes, character, &state);

        if (n == (size_t)-1) {
            bytes[0] = '?';
            n = 1;
        }
        if (at + n >= size)
            break;
        memcpy(out + at, bytes, n);
        at += n;
        end = character != L' ' ? at : end;
    }
    out[end] = '\0';
}

static void clear(struct top_canvas *c)
{
    for (int i = 0; i < c->rows * c->columns; i++)
        c->cells[i] = (struct top_cell){L' ', TOP_PLAIN};
}

/* Writes text from a column on, at most `width` wide; what doesn't fit ends in '~'. Returns the column behind it. Characters
 * that don't take one column become '?'. */
static int put(struct top_canvas *c, int row, int column, int width, enum top_style style, const char *text)
{
    mbstate_t state = {0};
    int end = column + width < c->columns ? column + width : c->columns;

    if (row < 0 || row >= c->rows || column < 0)
        return column;
    while (*text && column < end) {
        wchar_t character;
        size_t n = mbrtowc(&character, text, strlen(text), &state);

        if (n == (size_t)-1 || n == (size_t)-2) {
            character = L'?';
            n = 1;
            state = (mbstate_t){0};
        }
        if (character < 0x20 || character == 0x7F || wcwidth(character) != 1)
            character = L'?';
        text += n;
        c->cells[row * c->columns + column++] = (struct top_cell){character, style};
    }
    if (*text && end > 0 && column == end)
        c->cells[row * c->columns + end - 1].character = L'~';
    return column;
}

static int putf(struct top_canvas *c, int row, int column, int width, enum top_style style, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
static int putf(struct top_canvas *c, int row, int column, int width, enum top_style style, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return put(c, row, column, width, style, text);
}

/* The style of a whole row, what stands there stays. */
static void restyle(struct top_canvas *c, int row, enum top_style style)
{
    for (int i = 0; row >= 0 && row < c->rows && i < c->columns; i++)
        c->cells[row * c->columns + i].style = style;
}

/* ---- numbers ---- */

static double megabits(double byte_rate) { return byte_rate * 8 / 1e6; }

/* "12 KiB" in at most seven columns. */
static void size_text(uint64_t bytes, char *out, size_t size)
{
    if (bytes < 10000)
        snprintf(out, size, "%llu B", (unsigned long long)bytes);
    else if (bytes < UINT64_C(10000) * 1024)
        snprintf(out, size, "%llu KiB", (unsigned long long)(bytes / 1024));
    else
        snprintf(out, size, "%llu MiB", (unsigned long long)(bytes / 1048576));
}

static void seconds_text(double s, char *out, size_t size)
{
    if (s < 0.0009995)
        snprintf(out, size, "%.0f us", s * 1e6);
    else if (s < 0.9995)
        snprintf(out, size, "%.1f ms", s * 1e3);
    else
        snprintf(out, size, "%.1f s", s);
}

static bool is_up(const struct watch_link *l) { return l->carrier && strcmp(l->state, "up") == 0; }

/* ---- which links, in which order ---- */

const char *const top_sort_names[] = {"name", "rate", "load", "drops", "queue", NULL};
static_assert(sizeof top_sort_names / sizeof top_sort_names[0] == TOP_SORT_COUNT + 1, "a name for every order");

bool top_view_init(struct top_view *v, const struct watch *w)
{
    *v = (struct top_view){.page = 1};
    v->order = calloc(w->n_links + 1, sizeof *v->order);
    if (!v->order)
        return false;
    top_view_arrange(v, w);
    return true;
}

void top_view_free(struct top_view *v)
{
    free(v->order);
    v->order = NULL;
}

static double sort_value(const struct top_view *v, const struct watch_link *l)
{
    switch (v->sort) {
    case TOP_BY_RATE:
        return l->byte_rate;
    case TOP_BY_LOAD:
        return l->utilisation;
    case TOP_BY_DROPS:
        return l->drop_rate + l->loss_rate;
    case TOP_BY_QUEUE:
        return (double)l->queued;
    case TOP_BY_NAME:
    case TOP_SORT_COUNT:
        break;
    }
    return 0;
}

/* By insertion: stable, and from one second to the next little changes. */
static void sort(struct top_view *v, const struct watch *w)
{
    for (int i = 1; i < v->n_order; i++) {
        int d = v->order[i], k = i;
        double value = sort_value(v, &w->links[d]);

        for (; k > 0 && (sort_value(v, &w->links[v->order[k - 1]]) < value ||
                         (sort_value(v, &w->links[v->order[k - 1]]) == value && v->order[k - 1] > d));
             k--)
            v->order[k] = v->order[k - 1];
        v->order[k] = d;
    }
}

/* Where the selected link stands; -1: it isn't shown. */
static int place(const struct top_view *v)
{
    for (int i = 0; i < v->n_order; i++)
        if (v->order[i] == v->selected)
            return i;
    return -1;
}

void top_view_arrange(struct top_view *v, const struct watch *w)
{
    int at;

    v->n_order = 0;
    for (int d = 0; d < (int)w->n_links; d++) {
        const struct watch_link *l = &w->links[d];

        if (!v->hide_idle || !l->idle || !is_up(l) || l->drop_rate > 0 || l->loss_rate > 0)
            v->order[v->n_order++] = d;
    }
    sort(v, w);
    at = place(v);
    if (at < 0 && v->n_order > 0) {
        at = v->first < v->n_order ? v->first : v->n_order - 1;
        v->selected = v->order[at];
        v->first_flow = 0;
    }
    if (at >= 0 && at < v->first)
        v->first = at;
    if (at >= v->first + v->page)
        v->first = at - v->page + 1;
    if (v->first > 0 && v->first + v->page > v->n_order)
        v->first = v->n_order > v->page ? v->n_order - v->page : 0;
}

/* ---- keys ---- */

static void go(struct top_view *v, int rows)
{
    int at = place(v) + rows;

    at = at >= v->n_order ? v->n_order - 1 : at;
    at = at < 0 ? 0 : at;
    if (v->n_order > 0 && v->order[at] != v->selected) {
        v->selected = v->order[at];
        v->first_flow = 0;
    }
}

static enum top_action action_of(int key)
{
    switch (key) {
    case 'q':
        return TOP_QUIT;
    case 'f':
        return TOP_FAIL;
    case 'b':
        return TOP_BLACKHOLE;
    case 'o':
        return TOP_ONE_WAY;
    case 'h':
        return TOP_HEAL;
    case 'c':
        return TOP_CAPTURE;
    default:
        return TOP_NOTHING;
    }
}

enum top_action top_view_key(struct top_view *v, const struct watch *w, int key)
{
    enum top_action action = v->help || v->n_order > 0 ? action_of(key) : key == 'q' ? TOP_QUIT : TOP_NOTHING;

    if (v->help) { /* any key leaves it */
        v->help = false;
        return key == 'q' ? TOP_QUIT : TOP_NOTHING;
    }
    v->message[0] = '\0';
    switch (key) {
    case TOP_KEY_UP:
    case 'k':
        go(v, -1);
        break;
    case TOP_KEY_DOWN:
    case 'j':
        go(v, 1);
        break;
    case TOP_KEY_PAGE_UP:
        go(v, -v->page);
        break;
    case TOP_KEY_PAGE_DOWN:
        go(v, v->page);
        break;
    case TOP_KEY_HOME:
        go(v, -v->n_order);
        break;
    case TOP_KEY_END:
        go(v, v->n_order);
        break;
    case '>':
    case '.':
        v->first_flow++;
        break;
    case '<':
    case ',':
        v->first_flow -= v->first_flow > 0;
        break;
    case 's':
        v->sort = (enum top_sort)((v->sort + 1) % TOP_SORT_COUNT);
        top_view_arrange(v, w);
        go(v, -v->n_order); /* to what is on top now */
        break;
    case 'i':
        v->hide_idle = !v->hide_idle;
        break;
    case '?':
        v->help = true;
        break;
    default:
        break;
    }
    top_view_arrange(v, w);
    return action;
}

/* ---- drawing ---- */

enum {
    RATE_WIDTH = 9,
    LOAD_WIDTH = 7,
    DROPS_WIDTH = 8,
    QUEUE_WIDTH = 10,
    FLOWS_WIDTH = 6,
    PLAN_WIDTH = 6,
    BAR_MIN = 10, /* has room for "blackhole" */
    BAR_MAX = 40,
    NAME_MIN = 12,
    FLOW_ROWS_MIN = 3,
};

struct layout {
    int name, bar; /* widths; the bar is last, so that names and numbers stand still when the window grows */
    bool load, drops, queue, flows, plan;
    int list, list_rows; /* first row of the list, and how many */
    int flow_head, flow_rows;
};

/* What there is room for: names in full if possible, then the numbers one after the other. */
static struct layout lay_out(const struct top_view *v, const struct watch *w, const struct top_canvas *c)
{
    struct layout l = {.name = NAME_MIN, .list = 3};
    int left, n_flows = 0;
    bool planned = false;

    for (size_t i = 0; i < w->n_links; i++)
        planned |= w->links[i].planned >= 0;
    for (size_t i = 0; i < w->n_links; i++)
        l.name = (int)strlen(w->links[i].name) > l.name ? (int)strlen(w->links[i].name) : l.name;
    left = c->columns - RATE_WIDTH - BAR_MIN - 1;
    if (l.name > left - LOAD_WIDTH)
        l.name = left - LOAD_WIDTH > NAME_MIN ? left - LOAD_WIDTH : NAME_MIN;
    left -= l.name;
    l.load = left >= LOAD_WIDTH;
    left -= l.load ? LOAD_WIDTH : 0;
    l.drops = left >= DROPS_WIDTH;
    left -= l.drops ? DROPS_WIDTH : 0;
    l.queue = left >= QUEUE_WIDTH;
    left -= l.queue ? QUEUE_WIDTH : 0;
    l.flows = left >= FLOWS_WIDTH;
    left -= l.flows ? FLOWS_WIDTH : 0;
    l.plan = planned && left >= PLAN_WIDTH;
    left -= l.plan ? PLAN_WIDTH : 0;
    l.bar = BAR_MIN + (left > 0 ? left : 0);
    l.bar = l.bar > BAR_MAX ? BAR_MAX : l.bar;

    l.list_rows = c->rows - l.list - 1; /* the last row has the keys */
    for (size_t i = 0; i < w->n_flows; i++)
        n_flows += w->flows[i].link == v->selected;
    if (l.list_rows >= 2 * FLOW_ROWS_MIN + 1) {
        l.flow_rows = l.list_rows / 3 > FLOW_ROWS_MIN ? l.list_rows / 3 : FLOW_ROWS_MIN;
        if (l.flow_rows > 2 * n_flows && n_flows > 0) /* two rows a flow */
            l.flow_rows = 2 * n_flows > FLOW_ROWS_MIN ? 2 * n_flows : FLOW_ROWS_MIN;
        /* A short list leaves its room to the flows. */
        if (v->n_order + 1 + l.flow_rows < l.list_rows)
            l.flow_rows = l.list_rows - v->n_order - 1;
        l.list_rows -= l.flow_rows + 1;
        l.flow_head = l.list + l.list_rows;
    }
    return l;
}

static void draw_title(const struct watch *w, const char *capturing, struct top_canvas *c)
{
    char right[128] = "";
    int n, width;

    restyle(c, 0, TOP_TITLE);
    if (capturing)
        n = snprintf(right, sizeof right, "capturing %.60s   up %.0f s", capturing, w->time);
    else
        n = snprintf(right, sizeof right, "up %.0f s", w->time);
    width = c->columns - n - 2;
    if (width < 20) {
        width = c->columns - 1;
        n = 0;
    }
    if (w->title && *w->title)
        putf(c, 0, 1, width - 1, TOP_TITLE, "emu top %s: %s", w->name, w->title);
    else
        putf(c, 0, 1, width - 1, TOP_TITLE, "emu top %s", w->name);
    if (n)
        put(c, 0, c->columns - n - 1, n, TOP_TITLE, right);
}

static void draw_summary(const struct watch *w, struct top_canvas *c)
{
    unsigned busy = 0, idle = 0, bad = 0;
    double drops = 0;
    int at;

    for (size_t i = 0; i < w->n_links; i++) {
        const struct watch_link *l = &w->links[i];

        drops += l->drop_rate + l->loss_rate;
        if (!is_up(l))
            bad++;
        else if (l->idle)
            idle++;
        else
            busy++;
    }
    at = putf(c, 1, 1, c->columns, TOP_PLAIN, "%u busy, %u idle", busy, idle);
    if (bad)
        at = putf(c, 1, at, c->columns, TOP_BAD, ", %u failed", bad);
    at = putf(c, 1, at + 3, c->columns, drops > 0 ? TOP_BAD : TOP_PLAIN, "%.0f frames/s dropped or lost", drops);
    if (w->scale > 0 && (w->scale < 1 || w->scale > 1))
        at = putf(c, 1, at + 3, c->columns, TOP_PLAIN, "scale %g", w->scale);
    if (w->late_median >= 0) {
        char median[32], p99[32];

        seconds_text(w->late_median, median, sizeof median);
        seconds_text(w->late_p99, p99, sizeof p99);
        at = putf(c, 1, at + 3, c->columns, w->behind >= 0.01 ? TOP_BAD : TOP_PLAIN, "late %s, p99 %s, behind %.1f %%",
                  median, p99, 100 * w->behind);
        if (w->unfetched)
            putf(c, 1, at + 3, c->columns, TOP_BAD, "%llu not fetched", (unsigned long long)w->unfetched);
    }
}

static void draw_heading(const struct layout *l, struct top_canvas *c)
{
    int at = l->name + 1;

    put(c, 2, 1, l->name, TOP_HEAD, "link direction");
    putf(c, 2, at, RATE_WIDTH, TOP_HEAD, "%*s", RATE_WIDTH, "Mbit/s");
    at += RATE_WIDTH;
    if (l->load)
        putf(c, 2, at, LOAD_WIDTH, TOP_HEAD, "%*s", LOAD_WIDTH, "%");
    at += l->load ? LOAD_WIDTH : 0;
    if (l->drops)
        putf(c, 2, at, DROPS_WIDTH, TOP_HEAD, "%*s", DROPS_WIDTH, "drops/s");
    at += l->drops ? DROPS_WIDTH : 0;
    if (l->queue)
        putf(c, 2, at, QUEUE_WIDTH, TOP_HEAD, "%*s", QUEUE_WIDTH, "queue");
    at += l->queue ? QUEUE_WIDTH : 0;
    if (l->flows)
        putf(c, 2, at, FLOWS_WIDTH, TOP_HEAD, "%*s", FLOWS_WIDTH, "flows");
    at += l->flows ? FLOWS_WIDTH : 0;
    if (l->plan)
        putf(c, 2, at, PLAN_WIDTH, TOP_HEAD, "%*s", PLAN_WIDTH, "plan");
    restyle(c, 2, TOP_HEAD);
}

static const char *word_for(const struct watch_link *l)
{
    if (!l->carrier)
        return strcmp(l->state, "up") == 0 ? "no carrier" : l->state;
    if (strcmp(l->state, "up") != 0)
        return l->state;
    return l->idle ? "idle" : NULL;
}

static void draw_bar(struct top_canvas *c, int row, int at, int width, double load)
{
    int full = (int)(load * width + 0.5);
    enum top_style style = load >= 0.9 ? TOP_HIGH : load >= 0.6 ? TOP_MEDIUM : TOP_LOW;

    full = full > width ? width : full;
    for (int i = 0; i < full && at + i < c->columns; i++)
        c->cells[row * c->columns + at + i] = (struct top_cell){L'|', style};
}

static void draw_link(const struct watch_link *l, const struct layout *lay, struct top_canvas *c, int row)
{
    const char *word = word_for(l);
    enum top_style style = !is_up(l) ? TOP_BAD : l->idle ? TOP_DIM : TOP_PLAIN;
    double drops = l->drop_rate + l->loss_rate;
    int at = lay->name + 1;
    char queue[32], plan[32];

    put(c, row, 1, lay->name, style, l->name);
    putf(c, row, at, RATE_WIDTH, style, "%*.1f", RATE_WIDTH, megabits(l->byte_rate));
    at += RATE_WIDTH;
    if (lay->load)
        putf(c, row, at, LOAD_WIDTH, style, "%*.1f", LOAD_WIDTH, 100 * l->utilisation);
    at += lay->load ? LOAD_WIDTH : 0;
    if (lay->drops)
        putf(c, row, at, DROPS_WIDTH, drops > 0 ? TOP_BAD : style, "%*.0f", DROPS_WIDTH, drops);
    at += lay->drops ? DROPS_WIDTH : 0;
    size_text(l->queued, queue, sizeof queue);
    if (lay->queue)
        putf(c, row, at, QUEUE_WIDTH, style, "%*s", QUEUE_WIDTH, queue);
    at += lay->queue ? QUEUE_WIDTH : 0;
    if (lay->flows)
        putf(c, row, at, FLOWS_WIDTH, style, "%*u", FLOWS_WIDTH, l->flows);
    at += lay->flows ? FLOWS_WIDTH : 0;
    if (lay->plan && l->planned >= 0) {
        path_words_count(l->planned, plan, sizeof plan);
        putf(c, row, at, PLAN_WIDTH, style, "%*s", PLAN_WIDTH, plan);
    }
    at += lay->plan ? PLAN_WIDTH : 0;
    if (word)
        put(c, row, at + 1, lay->bar, style, word);
    else
        draw_bar(c, row, at + 1, lay->bar - 1, l->utilisation);
}

/* The flows of the selected link by rate, the busiest first; their number. */
static int flows_of(const struct top_view *v, const struct watch *w, const struct watch_flow **out, int size)
{
    int n = 0;

    for (size_t i = 0; i < w->n_flows; i++) {
        int k;

        if (w->flows[i].link != v->selected)
            continue;
        if (n == size && out[n - 1]->byte_rate >= w->flows[i].byte_rate)
            continue;
        for (k = n < size ? n++ : n - 1; k > 0 && out[k - 1]->byte_rate < w->flows[i].byte_rate; k--)
            out[k] = out[k - 1];
        out[k] = &w->flows[i];
    }
    return n;
}

static void draw_flow(const struct watch_flow *f, struct top_canvas *c, int row, int last)
{
    enum top_style style = f->byte_rate > 0 ? TOP_PLAIN : TOP_DIM;
    char text[160];
    int at;

    watch_flow_text(f, text, sizeof text);
    putf(c, row, 1, RATE_WIDTH, style, "%*.1f", RATE_WIDTH, megabits(f->byte_rate));
    at = put(c, row, RATE_WIDTH + 3, c->columns, style, text);
    if (f->from && f->to)
        putf(c, row, at + 2, c->columns, style, "%s > %s", f->from, f->to);
    if (row + 1 > last)
        return;
    at = putf(c, row + 1, RATE_WIDTH + 3, c->columns, TOP_DIM, "%s%s%s", f->policy ? f->policy : "",
              f->policy ? ": " : "", f->why);
    if (f->policy && f->label)
        at = putf(c, row + 1, at + 2, c->columns, TOP_DIM, "(%s)", f->label);
    if (!f->agrees)
        put(c, row + 1, at + 2, c->columns, TOP_BAD, "not by this rule as it stands now");
}

enum { FLOWS_SHOWN = 256 };

static void draw_flows(struct top_view *v, const struct watch *w, const struct layout *l, struct top_canvas *c)
{
    const struct watch_flow *flows[FLOWS_SHOWN];
    int n = flows_of(v, w, flows, FLOWS_SHOWN), room = l->flow_rows / 2 > 0 ? l->flow_rows / 2 : 1,
        last = l->flow_head + l->flow_rows;
    const struct watch_link *link = &w->links[v->selected];

    if (l->flow_rows == 0)
        return;
    if (v->first_flow > n - room)
        v->first_flow = n > room ? n - room : 0;
    if (link->team && link->policy)
        putf(c, l->flow_head, 1, c->columns - 2, TOP_HEAD, "flows on %s, chosen by %s %s: %s", link->name, link->from,
             link->team, link->policy);
    else
        putf(c, l->flow_head, 1, c->columns - 2, TOP_HEAD, "flows on %s", link->name);
    restyle(c, l->flow_head, TOP_HEAD);
    if (n == 0)
        put(c, l->flow_head + 1, RATE_WIDTH + 3, c->columns, TOP_DIM, "none in the last seconds");
    for (int i = v->first_flow, row = l->flow_head + 1; i < n && i < v->first_flow + room; i++, row += 2)
        draw_flow(flows[i], c, row, last);
}

static void draw_keys(const struct top_view *v, struct top_canvas *c)
{
    int row = c->rows - 1;

    if (v->message[0])
        put(c, row, 1, c->columns - 1, TOP_BAD, v->message);
    else
        putf(c, row, 1, c->columns - 1, TOP_HEAD,
             "q quit  s sort: %s  f fail  h heal  b blackhole  o one-way  c capture  i idle links: %s  ? help",
             top_sort_names[v->sort], v->hide_idle ? "hidden" : "shown");
}

static void draw_help(struct top_canvas *c)
{
    static const char *const lines[] = {
        "Link directions with what arrived on them, measured since the last look.",
        "",
        "up, down, page up, page down, home, end   choose a link",
        "s    sort by name, rate, load, drops, queue",
        "i    hide idle links, or show them",
        "< >  move through the flows of the chosen link",
        "",
        "f    fail it: both directions lose carrier, teams notice",
        "b    blackhole: carrier stays, all frames get lost",
        "o    one-way: frames of the chosen direction get lost",
        "h    heal it",
        "c    capture it into a file of the current folder, or stop",
        "",
        "%        of the link's rate, with preamble, FCS and gap",
        "drops    frames that a full queue refused or a fault took, each second",
        "queue    bytes that wait before it now",
        "flows    that carried something",
        "plan     flows of the file's mounts that its rules put there, writing or reading",
        "idle     below 0.1 %",
        "",
        "NFS servers of a lab are nfs-ganesha: they say nothing of how fast your NAS is.",
        "",
        "Any key goes back, q quits.",
    };

    for (int i = 0; i < (int)(sizeof lines / sizeof lines[0]); i++)
        put(c, i + 1, 2, c->columns - 3, TOP_PLAIN, lines[i]);
}

void top_view_draw(struct top_view *v, const struct watch *w, const char *capturing, struct top_canvas *c)
{
    struct layout l;

    clear(c);
    if (c->rows < 5 || c->columns < 30) {
        put(c, 0, 0, c->columns, TOP_PLAIN, "too small");
        return;
    }
    if (v->help) {
        draw_help(c);
        return;
    }
    l = lay_out(v, w, c);
    v->page = l.list_rows > 0 ? l.list_rows : 1;
    top_view_arrange(v, w);
    draw_title(w, capturing, c);
    draw_summary(w, c);
    draw_heading(&l, c);
    for (int i = 0; i < l.list_rows && v->first + i < v->n_order; i++) {
        int d = v->order[v->first + i];

        draw_link(&w->links[d], &l, c, l.list + i);
        if (d == v->selected)
            restyle(c, l.list + i, TOP_SELECTED);
    }
    if (v->n_order > 0)
        draw_flows(v, w, &l, c);
    else
        put(c, l.list, 1, c->columns, TOP_DIM, "all links are idle");
    draw_keys(v, c);
}
