/* needs: full. Whatever a lab answers: a watch takes it or refuses it, and what it has taken can be drawn at any size and written
 * as metrics. And any request line that a scraper may send. Input: rows, columns, a key, then lines: status, links, counters,
 * two pages of flows, and again counters and pages. */
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/top_view.h"
#include "emu/live/metrics.h"
#include "emu/live/metrics_http.h"
#include "emu/live/watch.h"
#include "emu/report/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The next line as JSON; NULL: it is none. */
static struct json_in *next(const uint8_t **data, size_t *size)
{
    const uint8_t *end = memchr(*data, '\n', *size);
    size_t n = end ? (size_t)(end - *data) : *size;
    char problem[256];
    struct json_in *j = json_in_parse((const char *)*data, n, problem, sizeof problem);

    *data += n + (end != NULL);
    *size -= n + (end != NULL);
    return j;
}

static void show(struct watch *w, int rows, int columns, int key)
{
    struct top_canvas canvas = {0};
    struct top_view view;
    char *text = NULL, line[4096];
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    if (!out || !top_view_init(&view, w) || !top_canvas_size(&canvas, rows, columns))
        abort();
    top_view_draw(&view, w, NULL, &canvas);
    top_view_key(&view, w, key);
    top_view_draw(&view, w, "a link", &canvas);
    for (int i = 0; i < canvas.rows; i++)
        top_canvas_text(&canvas, i, line, sizeof line);
    metrics_write(w, out);
    fclose(out);
    free(text);
    top_canvas_free(&canvas);
    top_view_free(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct json_in *status, *links, *counters, *flows, **pages;
    char problem[256];
    struct watch *w;
    bool head;
    int rows, columns, key;

    setlocale(LC_CTYPE, "C.UTF-8");
    metrics_request((const char *)data, size, &head);
    if (size < 3)
        return 0;
    rows = data[0];
    columns = data[1];
    key = data[2] < 128 ? data[2] : TOP_KEY_UP + data[2] % 6;
    data += 3;
    size -= 3;
    status = next(&data, &size);
    links = next(&data, &size);
    w = watch_made(status, links, problem, sizeof problem);
    while (w && size > 0) {
        /* The status is what it was. */
        counters = next(&data, &size);
        flows = next(&data, &size);
        status = json_in_parse("{\"name\": \"lab\"}", 15, problem, sizeof problem);
        pages = malloc(2 * sizeof(struct json_in *));
        if (!pages)
            abort();
        pages[0] = flows;
        pages[1] = next(&data, &size);
        if (watch_take(w, status, counters, pages, 2, problem, sizeof problem))
            show(w, rows, columns, key);
    }
    watch_free(w);
    return 0;
}
