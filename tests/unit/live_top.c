/* needs: full
 * A lab as watched from outside, and what emu top shows of it, without a lab and without a terminal.
 */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/cli/top_view.h"
#include "emu/live/metrics.h"
#include "emu/live/watch.h"
#include "emu/report/json.h"

enum { DIRECTIONS = 6 };
static const char *const names[DIRECTIONS] = {"esx1:vmnic2>sw:1", "sw:1>esx1:vmnic2", "esx1:vmnic3>sw:2",
                                              "sw:2>esx1:vmnic3", "nas:ctl1.e0>sw:5", "sw:5>nas:ctl1.e0"};

static struct json_in *json(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct json_in *json(const char *format, ...)
{
    static char text[20000];
    char problem[200];
    va_list args;
    struct json_in *j;
    int n;

    va_start(args, format);
    n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert_in_range(n, 0, sizeof text - 1);
    j = json_in_parse(text, (size_t)n, problem, sizeof problem);
    if (!j)
        fail_msg("%s: %s", problem, text);
    return j;
}

static struct json_in *status(void)
{
    return json(
        "{\"ok\": true, \"name\": \"lab1\", \"file\": \"a.yaml\", \"title\": \"Vier Stränge\", \"time\": 1, \"scale\": "
        "0.5, \"lateness\": {\"late_p50\": 4.2e-5, \"late_p99\": 0.0015, \"behind\": 0.02}}");
}

static struct watch *new_watch(void)
{
    char text[4000] = "", problem[200];
    struct watch *w;

    for (int i = 0; i < DIRECTIONS; i++) {
        char from[32];
        size_t at = strlen(text);

        snprintf(from, sizeof from, "%.*s", (int)strcspn(names[i], ":"), names[i]);
        snprintf(text + at, sizeof text - at,
                 "%s{\"name\": \"%s\", \"from\": \"%s\", \"to\": \"x\", \"team\": %s, \"policy\": %s}", i ? ", " : "",
                 names[i], from, i < 4 ? "\"vSwitch1\"" : "null", i < 4 ? "\"esxi-ip-hash\"" : "null");
    }
    w = watch_made(status(), json("{\"ok\": true, \"links\": [%s]}", text), problem, sizeof problem);
    if (!w)
        fail_msg("%s", problem);
    return w;
}

struct reading {
    unsigned long long bytes, dropped, queued;
    const char *state;
    bool no_carrier;
};

static struct json_in *counters(double time, const struct reading *r)
{
    char text[8000] = "";

    for (int i = 0; i < DIRECTIONS; i++) {
        size_t at = strlen(text);

        snprintf(
            text + at, sizeof text - at,
            "%s{\"frames\": %llu, \"bytes\": %llu, \"dropped\": %llu, \"lost\": 0, \"queued\": %llu, \"queue_peak\": "
            "9, "
            "\"rate\": 1000000000, \"delay\": 5e-06, \"loss\": 0, \"buffer\": %s, \"state\": \"%s\", \"carrier\": %s, "
            "\"flows\": %d}",
            i ? ", " : "", r[i].bytes / 1538, r[i].bytes, r[i].dropped, r[i].queued, i % 2 ? "524288" : "null",
            r[i].state ? r[i].state : "up", r[i].no_carrier ? "false" : "true", i ? 0 : 2);
    }
    return json("{\"ok\": true, \"time\": %.3f, \"links\": [%s], \"untold\": 3}", time, text);
}

#define FLOW                                                                                                          \
    "{\"link\": %d, \"src\": \"10.0.0.16\", \"dst\": \"10.0.0.%d\", \"from\": \"esx1\", \"to\": \"nas:ctl1\", "       \
    "\"ethertype\": 2048, \"proto\": 6, \"sport\": %d, \"dport\": 2049, \"frames\": 10, \"bytes\": %llu, \"idle\": "  \
    "0, "                                                                                                             \
    "\"policy\": \"esxi-ip-hash\", \"label\": \"exact\", \"why\": \"0x0A000010 xor 0x0A000065 = 0x00000075, mod 2 = " \
    "1\", "                                                                                                           \
    "\"agrees\": true}"

static struct json_in *flows(unsigned long long a, unsigned long long b)
{
    return json("{\"ok\": true, \"time\": 1, \"flows\": [" FLOW ", " FLOW "], \"untold\": 3}", 0, 101, 790, a, 0, 102,
                791, b);
}

/* One page. */
static struct json_in **page(struct json_in *list)
{
    struct json_in **pages = malloc(sizeof(struct json_in *));

    pages[0] = list;
    return pages;
}

static void take(struct watch *w, double time, const struct reading *r, unsigned long long a, unsigned long long b)
{
    char problem[200];

    if (!watch_take(w, status(), counters(time, r), page(flows(a, b)), 1, problem, sizeof problem))
        fail_msg("%s", problem);
}

/* Two seconds between two readings: 117.2 MB/s on the first direction, a quarter of a link on the fourth. */
static const struct reading first[DIRECTIONS] = {{1000, 0, 0, 0, false}};
static const struct reading second[DIRECTIONS] = {
    {234401000, 0, 30760, 0, false},  {200000, 0, 0, 0, false},    {0, 0, 0, "down", true},
    {62500000, 50, 400000, 0, false}, {0, 0, 0, "one-way", false}, {0, 0, 0, 0, false},
};

static struct watch *watched(void)
{
    struct watch *w = new_watch();

    take(w, 10, first, 1000, 0);
    take(w, 12, second, 200001000, 34400000);
    return w;
}

static void rates_are_differences(void **state)
{
    struct watch *w = watched();

    (void)state;
    assert_true(w->interval == 2 && w->scale == 0.5 && w->behind == 0.02);
    assert_string_equal(w->title, "Vier Stränge");
    assert_true(w->links[0].byte_rate == 117200000);
    assert_true(w->links[0].utilisation > 0.9375 && w->links[0].utilisation < 0.9377);
    assert_false(w->links[0].idle);
    assert_int_equal(w->links[0].flows, 2);
    assert_true(w->links[0].buffer == UINT64_MAX);
    assert_true(w->links[1].idle); /* 0.1 MB/s */
    assert_int_equal(w->links[1].buffer, 524288);
    assert_true(w->links[3].drop_rate == 25);
    assert_false(w->links[2].carrier);
    assert_string_equal(w->links[4].state, "one-way");
    assert_int_equal(w->n_flows, 2);
    assert_true(w->flows[0].byte_rate == 1e8);
    assert_true(w->flows[1].byte_rate == 17200000);
    assert_int_equal(w->untold, 3);
    watch_free(w);
}

/* A lab that was started anew under the watch: no negative rates. */
static void counters_may_begin_anew(void **state)
{
    struct watch *w = watched();
    struct reading less[DIRECTIONS] = {{0}};

    (void)state;
    less[0].bytes = 5;
    take(w, 13, less, 7, 8);
    assert_true(w->links[0].byte_rate == 0);
    assert_true(w->flows[0].byte_rate == 7);
    take(w, 14, less, 7, 8);
    assert_true(w->flows[0].byte_rate == 0);
    watch_free(w);
}

/* Flows that weren't asked for the last time: their rate isn't known yet, unless they have begun since. */
static void flows_may_be_asked_of_another_link(void **state)
{
    static const char two[] =
        "{\"flows\": [{\"link\": 3, \"src\": \"a\", \"dst\": \"b\", \"bytes\": 5000, \"age\": 100}, "
        "{\"link\": 3, \"src\": \"c\", \"dst\": \"d\", \"bytes\": 5000, \"age\": 0.5}]}";
    struct watch *w = watched();
    char problem[200];

    (void)state;
    assert_true(watch_take(w, status(), counters(13, second), page(json("%s", two)), 1, problem, sizeof problem));
    assert_int_equal(w->n_flows, 2);
    assert_true(w->flows[0].byte_rate == 0);
    assert_true(w->flows[1].byte_rate == 5000);
    watch_free(w);
}

static void nonsense_changes_nothing(void **state)
{
    struct watch *w = watched();
    char problem[200];

    (void)state;
    assert_false(
        watch_take(w, status(), json("{\"time\": 13, \"links\": []}"), page(flows(1, 1)), 1, problem, sizeof problem));
    assert_string_equal(problem, "the lab's answer about its counters makes no sense");
    assert_false(watch_take(w, status(), counters(11, second), page(flows(1, 1)), 1, problem,
                            sizeof problem)); /* back in time */
    assert_false(watch_take(w, status(), counters(13, second),
                            page(json("{\"flows\": [{\"link\": 6, \"src\": \"a\", \"dst\": \"b\"}]}")), 1, problem,
                            sizeof problem));
    assert_string_equal(problem, "the lab's answer about its flows makes no sense");
    assert_false(watch_take(w, status(), counters(13, second), page(json("{\"flows\": [{\"link\": 1}]}")), 1, problem,
                            sizeof problem));
    assert_true(w->time == 12);
    assert_null(watch_made(json("{}"), json("{\"links\": []}"), problem, sizeof problem));
    assert_null(watch_made(status(), json("{\"links\": [{}]}"), problem, sizeof problem));
    watch_free(w);
}

/* ---- the screen ---- */

struct screen {
    struct watch *w;
    struct top_view v;
    struct top_canvas c;
    char text[20000];
};

static void draw(struct screen *s, int rows, int columns)
{
    size_t at = 0;

    assert_true(top_canvas_size(&s->c, rows, columns));
    top_view_draw(&s->v, s->w, NULL, &s->c);
    for (int i = 0; i < rows; i++) {
        top_canvas_text(&s->c, i, s->text + at, sizeof s->text - at - 1);
        at += strlen(s->text + at);
        s->text[at++] = '\n';
    }
    s->text[at] = 0;
}

static struct screen *open_screen(void)
{
    struct screen *s = calloc(1, sizeof *s);

    s->w = watched();
    assert_true(top_view_init(&s->v, s->w));
    return s;
}

static void close_screen(struct screen *s)
{
    top_view_free(&s->v);
    top_canvas_free(&s->c);
    watch_free(s->w);
    free(s);
}

static void shows_all_at_a_usual_size(void **state)
{
    struct screen *s = open_screen();

    (void)state;
    draw(s, 24, 100);
    assert_string_equal(
        s->text,
        " emu top lab1: Vier Stränge                                                                 up 12 s\n"
        " 2 busy, 2 idle, 2 failed   25 frames/s dropped or lost   scale 0.5   late 42 us, p99 1.5 ms, behin~\n"
        " link direction     Mbit/s      % drops/s     queue flows\n"
        " esx1:vmnic2>sw:1    937.6   93.8       0    30 KiB     2 |||||||||||||||||||||||||||||||||||||\n"
        " sw:1>esx1:vmnic2      0.8    0.1       0       0 B     0 idle\n"
        " esx1:vmnic3>sw:2      0.0    0.0       0       0 B     0 down\n"
        " sw:2>esx1:vmnic3    250.0   25.0      25   390 KiB     0 ||||||||||\n"
        " nas:ctl1.e0>sw:5      0.0    0.0       0       0 B     0 one-way\n"
        " sw:5>nas:ctl1.e0      0.0    0.0       0       0 B     0 idle\n"
        " flows on esx1:vmnic2>sw:1, chosen by esx1 vSwitch1: esxi-ip-hash\n"
        "     800.0  10.0.0.16:790 > 10.0.0.101:2049  esx1 > nas:ctl1\n"
        "            esxi-ip-hash: 0x0A000010 xor 0x0A000065 = 0x00000075, mod 2 = 1  (exact)\n"
        "     137.6  10.0.0.16:791 > 10.0.0.102:2049  esx1 > nas:ctl1\n"
        "            esxi-ip-hash: 0x0A000010 xor 0x0A000065 = 0x00000075, mod 2 = 1  (exact)\n"
        "\n\n\n\n\n\n\n\n\n"
        " q quit  s sort: name  f fail  h heal  b blackhole  o one-way  c capture  i idle links: shown  ? he~\n");
    close_screen(s);
}

/* What the file expects, where it is known, stands beside what is there. */
static void shows_the_plan(void **state)
{
    struct screen *s = open_screen();

    (void)state;
    s->w->links[0].planned = 1.5;
    s->w->links[1].planned = 0;
    draw(s, 24, 100);
    assert_non_null(strstr(s->text, "queue flows  plan\n"));
    assert_non_null(strstr(s->text, "\n esx1:vmnic2>sw:1    937.6   93.8       0    30 KiB     2   1.5 ||||"));
    assert_non_null(strstr(s->text, "\n sw:1>esx1:vmnic2      0.8    0.1       0       0 B     0     0 idle"));
    assert_non_null(strstr(s->text, "\n esx1:vmnic3>sw:2      0.0    0.0       0       0 B     0       down"));
    close_screen(s);
}

/* Any size: nothing outside of the canvas (the sanitizers look), and something to read wherever there is room. */
static void fits_any_size(void **state)
{
    struct screen *s = open_screen();

    (void)state;
    for (int rows = 1; rows < 60; rows += rows < 20 ? 1 : 7) {
        for (int columns = 1; columns < 260; columns += columns < 130 ? 1 : 13) {
            draw(s, rows, columns);
            if (rows >= 5 && columns >= 30)
                assert_non_null(strstr(s->text, "esx1:vmnic2"));
            else if (columns >= 9)
                assert_non_null(strstr(s->text, "too small"));
        }
    }
    draw(s, 24, 50); /* numbers go before names do */
    assert_non_null(strstr(s->text, " esx1:vmnic2>sw:1    937.6   93.8"));
    assert_null(strstr(s->text, "queue"));
    close_screen(s);
}

static int row_of(const struct screen *s, const char *name)
{
    int row = 0;
    const char *at = strstr(s->text, name);

    if (!at)
        return -1;
    for (const char *c = s->text; c < at; c++)
        row += *c == '\n';
    return row;
}

static void sorts_as_told(void **state)
{
    struct screen *s = open_screen();

    (void)state;
    assert_int_equal(top_view_key(&s->v, s->w, 's'), TOP_NOTHING);
    assert_int_equal(s->v.sort, TOP_BY_RATE);
    draw(s, 24, 100);
    assert_int_equal(row_of(s, "\n esx1:vmnic2>sw:1") + 1, 3);
    assert_int_equal(row_of(s, "\n sw:2>esx1:vmnic3") + 1, 4);
    assert_int_equal(row_of(s, "\n sw:1>esx1:vmnic2") + 1, 5);
    assert_int_equal(row_of(s, "\n esx1:vmnic3>sw:2") + 1, 6); /* all at 0: as in the file */
    assert_int_equal(row_of(s, "\n nas:ctl1.e0>sw:5") + 1, 7);
    top_view_key(&s->v, s->w, 's');
    top_view_key(&s->v, s->w, 's');
    assert_int_equal(s->v.sort, TOP_BY_DROPS);
    draw(s, 24, 100);
    assert_int_equal(row_of(s, "\n sw:2>esx1:vmnic3") + 1, 3);
    assert_int_equal(row_of(s, "\n esx1:vmnic2>sw:1") + 1, 4);
    assert_int_equal(s->v.selected, 3); /* what is on top now */
    assert_int_equal(s->c.cells[3 * 100 + 50].style, TOP_SELECTED);
    /* The choice is one of a link, not of a row. */
    top_view_key(&s->v, s->w, TOP_KEY_DOWN);
    take(s->w, 13, first, 1, 1);
    top_view_arrange(&s->v, s->w);
    draw(s, 24, 100);
    assert_int_equal(s->v.selected, 0);
    assert_int_equal(s->c.cells[3 * 100 + 50].style, TOP_SELECTED);
    close_screen(s);
}

static void hides_idle_links(void **state)
{
    struct screen *s = open_screen();

    (void)state;
    top_view_key(&s->v, s->w, TOP_KEY_DOWN);
    assert_int_equal(s->v.selected, 1);
    top_view_key(&s->v, s->w, 'i');
    draw(s, 24, 100);
    assert_int_equal(s->v.n_order, 4); /* failed ones stay */
    assert_null(strstr(s->text, "\n sw:1>"));
    assert_int_not_equal(s->v.selected, 1); /* keys are never about what can't be seen */
    top_view_key(&s->v, s->w, 'i');
    draw(s, 24, 100);
    assert_non_null(strstr(s->text, "\n sw:1>"));
    close_screen(s);
}

static void moves_and_scrolls(void **state)
{
    struct screen *s = open_screen();

    (void)state;
    draw(s, 7, 100); /* three rows of links */
    assert_int_equal(s->v.page, 3);
    for (int i = 0; i < 9; i++)
        top_view_key(&s->v, s->w, TOP_KEY_DOWN);
    assert_int_equal(s->v.selected, 5);
    draw(s, 7, 100);
    assert_int_equal(row_of(s, "\n sw:5>nas:ctl1.e0") + 1, 5);
    assert_null(strstr(s->text, "\n esx1:vmnic2>"));
    top_view_key(&s->v, s->w, TOP_KEY_PAGE_UP);
    assert_int_equal(s->v.selected, 2);
    top_view_key(&s->v, s->w, TOP_KEY_HOME);
    assert_int_equal(s->v.selected, 0);
    top_view_key(&s->v, s->w, TOP_KEY_PAGE_DOWN);
    assert_int_equal(s->v.selected, 3);
    top_view_key(&s->v, s->w, TOP_KEY_END);
    assert_int_equal(s->v.selected, 5);
    draw(s, 40, 100); /* room again: the list begins on top */
    assert_int_equal(row_of(s, "\n esx1:vmnic2>sw:1") + 1, 3);
    close_screen(s);
}

static void asks_for_actions(void **state)
{
    static const struct {
        int key;
        enum top_action action;
    } keys[] = {{'f', TOP_FAIL}, {'h', TOP_HEAL},    {'b', TOP_BLACKHOLE}, {'o', TOP_ONE_WAY},
                {'q', TOP_QUIT}, {'c', TOP_CAPTURE}, {'x', TOP_NOTHING},   {TOP_KEY_UP, TOP_NOTHING}};
    struct screen *s = open_screen();

    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_int_equal(top_view_key(&s->v, s->w, keys[i].key), keys[i].action);
    top_view_key(&s->v, s->w, '?');
    draw(s, 24, 100);
    assert_non_null(strstr(s->text, "carrier stays, all frames get lost"));
    assert_int_equal(top_view_key(&s->v, s->w, 'f'), TOP_NOTHING); /* leaves the help and fails nothing */
    draw(s, 24, 100);
    assert_null(strstr(s->text, "carrier stays"));
    snprintf(s->v.message, sizeof s->v.message, "a failure");
    draw(s, 24, 100);
    assert_non_null(strstr(s->text, "\n a failure\n"));
    top_view_key(&s->v, s->w, 'x');
    draw(s, 24, 100);
    assert_null(strstr(s->text, "a failure"));
    close_screen(s);
}

/* A link without flows, one with more than there is room for, a flow that the rule no longer puts there. */
static void shows_flows(void **state)
{
    struct screen *s = open_screen();
    char problem[200], text[20000] = "";

    (void)state;
    top_view_key(&s->v, s->w, TOP_KEY_END);
    draw(s, 24, 100);
    assert_non_null(strstr(s->text, "flows on sw:5>nas:ctl1.e0\n            none in the last seconds\n"));
    for (int i = 0; i < 40; i++) {
        size_t at = strlen(text);

        snprintf(
            text + at, sizeof text - at,
            "%s{\"link\": 5, \"src\": \"fd00::1\", \"dst\": \"fd00::2\", \"proto\": 6, \"sport\": %d, \"dport\": 2049, "
            "\"bytes\": %d, \"why\": \"one port\", \"agrees\": %s}",
            i ? "," : "", 700 + i, i * 1000, i == 39 ? "false" : "true");
    }
    assert_true(watch_take(s->w, status(), counters(13, second), page(json("{\"flows\": [%s]}", text)), 1, problem,
                           sizeof problem));
    draw(s, 24, 100);
    assert_non_null(strstr(s->text,
                           "       0.3  [fd00::1]:739 > [fd00::2]:2049\n            one port  not by this rule as it "
                           "stands now\n"));
    assert_null(strstr(s->text, "]:700 "));
    for (int i = 0; i < 100; i++)
        top_view_key(&s->v, s->w, '>');
    draw(s, 24, 100);
    assert_non_null(strstr(s->text, "]:700 "));
    top_view_key(&s->v, s->w, '<');
    draw(s, 24, 100);
    assert_null(strstr(s->text, "]:700 "));
    close_screen(s);
}

/* ---- metrics ---- */

static void writes_metrics(void **state)
{
    struct watch *w = watched();
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    (void)state;
    metrics_write(w, out);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(text, "# TYPE emu_link_bytes_total counter\n"));
    assert_non_null(strstr(text, "\nemu_link_bytes_total{lab=\"lab1\",link=\"esx1:vmnic2>sw:1\"} 234401000\n"));
    assert_non_null(strstr(text, "\nemu_link_up{lab=\"lab1\",link=\"esx1:vmnic3>sw:2\"} 0\n"));
    assert_non_null(
        strstr(text, "\nemu_link_speed_bytes_per_second{lab=\"lab1\",link=\"sw:1>esx1:vmnic2\"} 125000000\n"));
    assert_non_null(strstr(text, "\nemu_lab_scale{lab=\"lab1\"} 0.5\n"));
    assert_non_null(strstr(text, "\nemu_lab_behind_ratio{lab=\"lab1\"} 0.02\n"));
    free(text);
    watch_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_differences),
        cmocka_unit_test(counters_may_begin_anew),
        cmocka_unit_test(flows_may_be_asked_of_another_link),
        cmocka_unit_test(nonsense_changes_nothing),
        cmocka_unit_test(shows_all_at_a_usual_size),
        cmocka_unit_test(shows_the_plan),
        cmocka_unit_test(fits_any_size),
        cmocka_unit_test(sorts_as_told),
        cmocka_unit_test(hides_idle_links),
        cmocka_unit_test(moves_and_scrolls),
        cmocka_unit_test(asks_for_actions),
        cmocka_unit_test(shows_flows),
        cmocka_unit_test(writes_metrics),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
