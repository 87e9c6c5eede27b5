/* emu top: a live lab's links and flows on the whole screen; once, as text or JSON. needs: full
 *
 * What is shown, and what keys do to it, is top_view.c's; here are the terminal and the lab.
 */
#define NCURSES_WIDECHAR 1
#include "emu/cli/commands.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ncurses.h>

#include "emu/cli/capture_stream.h"
#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/lab_client.h"
#include "emu/cli/options.h"
#include "emu/cli/top_plan.h"
#include "emu/cli/top_print.h"
#include "emu/cli/top_view.h"
#include "emu/live/control.h"
#include "emu/live/watch.h"
#include "emu/model/units.h"
#include "emu/report/json.h"

struct top_options {
    bool once, json;
    int sort;
    ps_t interval;
};

static const char *parse_interval(const char *text, void *member)
{
    ps_t time;
    const char *expected = unit_parse_time(text, &time);

    if (!expected && (time < 100 * PS_PER_MS || time > 3600 * PS_PER_S))
        expected = "a time from 100ms to 1h";
    if (!expected)
        *(ps_t *)member = time;
    return expected;
}

static const struct option_spec rows[] = {
    OPTION_FLAG(struct top_options, once, "once", '1', "print a table of one interval and end"),
    OPTION_FLAG(struct top_options, json, "json", 0, "the same as JSON (emu-top/1)"),
    OPTION_ENUM(struct top_options, sort, "sort", 's', "BY", top_sort_names, "name, rate, load, drops or queue"),
    OPTION_VALUE(struct top_options, interval, "interval", 'i', "TIME", parse_interval,
                 "between two looks; 1s by default"),
};

static const struct option_table table = {
    .operands = "LAB",
    .min_operands = 1,
    .max_operands = 1,
    .about =
        "Shows the link directions of a live lab with rate, load, drops and queue, idle ones marked, and the flows\n"
        "of the chosen link with the rule that put them there. Keys sort, fail and heal links, capture: ? tells.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct top {
    const char *command, *lab;
    struct control_client *client;
    struct watch *watch;
    struct top_view view;
    struct top_canvas canvas;
    struct capture_stream capture;
    char capture_link[128]; /* "": none */
    int64_t interval_ms, next_ms;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- the terminal ---- */

static const struct {
    short colour;
    attr_t attributes;
} styles[] = {
    [TOP_PLAIN] = {-1, A_NORMAL},        [TOP_TITLE] = {-1, A_REVERSE | A_BOLD},
    [TOP_HEAD] = {COLOR_CYAN, A_NORMAL}, [TOP_DIM] = {-1, A_DIM},
    [TOP_LOW] = {COLOR_GREEN, A_NORMAL}, [TOP_MEDIUM] = {COLOR_YELLOW, A_NORMAL},
    [TOP_HIGH] = {COLOR_RED, A_NORMAL},  [TOP_BAD] = {COLOR_RED, A_BOLD},
    [TOP_SELECTED] = {-1, A_REVERSE},
};
static_assert(sizeof styles / sizeof styles[0] == TOP_STYLE_COUNT, "a look for every style");

static bool open_terminal(void)
{
    if (!newterm(NULL, stdout, stdin))
        return false;
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, TRUE);
    set_escdelay(50);
    nodelay(stdscr, TRUE);
    if (has_colors()) {
        start_color();
        use_default_colors();
        for (int i = 0; i < TOP_STYLE_COUNT; i++)
            init_pair((short)(i + 1), styles[i].colour, -1);
    }
    return true;
}

static void paint(struct top *t)
{
    const struct top_canvas *c = &t->canvas;

    if (!top_canvas_size(&t->canvas, LINES, COLS))
        return;
    top_view_draw(&t->view, t->watch, t->capture_link[0] ? t->capture_link : NULL, &t->canvas);
    erase();
    for (int i = 0; i < c->rows * c->columns; i++) {
        const struct top_cell *cell = &c->cells[i];
        wchar_t text[2] = {cell->character, 0};
        cchar_t out;

        if (cell->character == L' ' && cell->style == TOP_PLAIN)
            continue;
        setcchar(&out, text, styles[cell->style].attributes, (short)(has_colors() ? cell->style + 1 : 0), NULL);
        mvadd_wch(i / c->columns, i % c->columns, &out);
    }
    refresh();
}

static int translate(int key)
{
    switch (key) {
    case KEY_UP:
        return TOP_KEY_UP;
    case KEY_DOWN:
        return TOP_KEY_DOWN;
    case KEY_PPAGE:
        return TOP_KEY_PAGE_UP;
    case KEY_NPAGE:
        return TOP_KEY_PAGE_DOWN;
    case KEY_HOME:
        return TOP_KEY_HOME;
    case KEY_END:
        return TOP_KEY_END;
    case KEY_LEFT:
        return '<';
    case KEY_RIGHT:
        return '>';
    default:
        return key;
    }
}

/* ---- what keys ask of the lab ---- */

#define SAY(t, ...) snprintf((t)->view.message, sizeof(t)->view.message, __VA_ARGS__)

static void set_state(struct top *t, const char *state)
{
    const char *link = t->watch->links[t->view.selected].name;
    struct json_out *request = control_begin(t->client, "set");
    struct json_in *reply;
    char problem[256], change[32];

    snprintf(change, sizeof change, "state=%s", state);
    json_out_string(request, "link", link);
    json_out_array(request, "changes", JSON_ON_ONE_LINE);
    json_out_string(request, NULL, change);
    json_out_end(request);
    reply = control_ask(t->client, WATCH_TIMEOUT_MS, problem, sizeof problem);
    if (reply)
        SAY(t, "%s is %s now", link, state);
    else
        SAY(t, "%s", problem);
    json_in_free(reply);
    t->next_ms = now_ms(); /* show it */
}

/* A file name of the link's port that isn't taken: "lab-esx1.vmnic2.pcap", "lab-esx1.vmnic2.1.pcap" ... */
static void capture_name(const struct top *t, const char *link, char *out, size_t size)
{
    char port[100];

    snprintf(port, sizeof port, "%.*s", (int)strcspn(link, ">"), link);
    for (char *c = port; *c; c++)
        if (strchr(":/ ", *c))
            *c = *c == ':' ? '.' : '_';
    snprintf(out, size, "%s-%s.pcap", t->lab, port);
    for (int i = 1; i < 1000 && access(out, F_OK) == 0; i++)
        snprintf(out, size, "%s-%s.%d.pcap", t->lab, port, i);
}

enum { CAPTURE_SNAP = 256 }; /* headers, of NFS too */

static void begin_capture(struct top *t)
{
    const char *link = t->watch->links[t->view.selected].name;
    char problem[300], path[200], port[128];
    struct control_client *c;
    int rc;

    snprintf(port, sizeof port, "%.*s", (int)strcspn(link, ">"), link);
    capture_name(t, link, path, sizeof path);
    c = lab_client(t->command, t->lab, &rc);
    if (c && capture_stream_begin(&t->capture, c, port, CAPTURE_SNAP, path, problem, sizeof problem)) {
        snprintf(t->capture_link, sizeof t->capture_link, "%s", port);
        SAY(t, "capturing %.60s into %.60s, %d bytes of each frame; c ends it", port, path, CAPTURE_SNAP);
        return;
    }
    if (c)
        SAY(t, "%s", problem);
    else
        SAY(t, "the lab doesn't answer");
    control_disconnect(c);
}

static void end_capture(struct top *t)
{
    char problem[300];
    unsigned long long frames = t->capture.frames;

    if (capture_stream_end(&t->capture, problem, sizeof problem))
        SAY(t, "%llu frames captured of %.100s", frames, t->capture_link);
    else
        SAY(t, "%s", problem);
    t->capture_link[0] = '\0';
}

static void pump_capture(struct top *t)
{
    char problem[300];

    switch (capture_stream_pump(&t->capture, 0, problem, sizeof problem)) {
    case CAPTURE_GOES_ON:
        return;
    case CAPTURE_ENDED:
        end_capture(t);
        return;
    case CAPTURE_FAILED:
        end_capture(t);
        SAY(t, "%s", problem);
        return;
    }
}

/* False: it is time to leave. */
static bool act(struct top *t, enum top_action action)
{
    switch (action) {
    case TOP_QUIT:
        return false;
    case TOP_FAIL:
        set_state(t, "down");
        break;
    case TOP_BLACKHOLE:
        set_state(t, "blackhole");
        break;
    case TOP_ONE_WAY:
        set_state(t, "one-way");
        break;
    case TOP_HEAL:
        set_state(t, "up");
        break;
    case TOP_CAPTURE:
        if (t->capture_link[0])
            end_capture(t);
        else
            begin_capture(t);
        break;
    case TOP_NOTHING:
        break;
    }
    return true;
}

/* ---- the loop ---- */

/* All keys that are there. False: it is time to leave. */
static bool take_keys(struct top *t)
{
    int key;

    while ((key = getch()) != ERR)
        if (key != KEY_RESIZE && !act(t, top_view_key(&t->view, t->watch, translate(key))))
            return false;
    return true;
}

enum { FLOWS_AT_ONCE = 800 };

/* Of all links as long as there are few, so that they are there when another link is chosen. */
static int flows_wanted(const struct top *t)
{
    unsigned flows = 0;

    for (size_t i = 0; i < t->watch->n_links; i++)
        flows += t->watch->links[i].flows;
    return flows <= FLOWS_AT_ONCE ? WATCH_ALL_FLOWS : t->view.selected;
}

static int watch_lab(struct top *t)
{
    const volatile sig_atomic_t *interrupted = interrupt_catch();
    char problem[256];

    t->next_ms = now_ms() + t->interval_ms;
    while (!*interrupted) {
        struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = -1, .events = POLLIN}};
        int64_t left;

        paint(t);
        do { /* a capture that runs doesn't paint anew for every frame */
            p[1].fd = t->capture_link[0] ? capture_stream_fd(&t->capture) : -1;
            left = t->next_ms - now_ms();
            if (poll(p, 2, left > 0 ? (int)left : 0) < 0)
                break; /* a new size of the window, or the end */
            if (p[1].fd >= 0 && p[1].revents)
                pump_capture(t);
        } while (!p[0].revents && t->next_ms > now_ms());
        if (p[0].revents & (POLLHUP | POLLERR | POLLNVAL))
            return CLI_OK; /* the terminal is gone */
        if (!take_keys(t))
            return CLI_OK;
        if (now_ms() < t->next_ms)
            continue;
        if (!watch_update(t->watch, t->client, flows_wanted(t), problem, sizeof problem)) {
            SAY(t, "%s: %s", t->lab, problem); /* once the terminal is what it was */
            return CLI_FAILED;
        }
        top_view_arrange(&t->view, t->watch);
        t->next_ms = now_ms() + t->interval_ms;
    }
    return CLI_OK;
}

static int run_screen(struct top *t)
{
    char last_words[sizeof t->view.message];
    int rc;

    if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
        return cli_error(CLI_USAGE, t->command, "this is no terminal; --once prints a table, --json values");
    if (!open_terminal())
        return cli_error(CLI_FAILED, t->command, "there is no terminal of kind `%s`",
                         getenv("TERM") ? getenv("TERM") : "");
    rc = watch_lab(t);
    snprintf(last_words, sizeof last_words, "%s", t->view.message);
    if (t->capture_link[0])
        end_capture(t);
    endwin();
    return rc == CLI_OK ? rc : cli_error(rc, t->command, "%s", last_words);
}

static int run_once(struct top *t, const struct top_options *o)
{
    const volatile sig_atomic_t *interrupted = interrupt_catch();
    int64_t end = now_ms() + t->interval_ms;
    char problem[256];

    while (!*interrupted && now_ms() < end)
        poll(NULL, 0, (int)(end - now_ms()));
    if (!watch_update(t->watch, t->client, WATCH_ALL_FLOWS, problem, sizeof problem))
        return lab_client_failed(t->command, t->client, problem);
    top_view_arrange(&t->view, t->watch);
    if (o->json)
        top_print_json(t->watch, t->view.order, t->view.n_order, stdout);
    else if (top_print_text(t->watch, t->view.order, t->view.n_order, stdout) < 0)
        return cli_error(CLI_FAILED, t->command, "out of memory");
    return CLI_OK;
}

static int run(const char *command, const struct top_options *o, const char *lab)
{
    struct top t = {.command = command, .lab = lab, .interval_ms = o->interval / PS_PER_MS};
    char problem[512];
    int rc;

    t.client = lab_client(command, lab, &rc);
    if (!t.client)
        return rc;
    t.watch = watch_new(t.client, problem, sizeof problem);
    if (!t.watch) {
        rc = lab_client_failed(command, t.client, problem);
    } else if (!top_view_init(&t.view, t.watch)) {
        rc = cli_error(CLI_FAILED, command, "out of memory");
    } else {
        top_plan(t.watch, lab);
        t.view.sort = (enum top_sort)o->sort;
        rc = o->once || o->json ? run_once(&t, o) : run_screen(&t);
    }
    top_canvas_free(&t.canvas);
    top_view_free(&t.view);
    watch_free(t.watch);
    control_disconnect(t.client);
    return rc;
}

int cmd_top(int argc, char **argv)
{
    struct top_options options = {.interval = PS_PER_S};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
