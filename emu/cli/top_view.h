/* needs: full
 * What `emu top` shows, without a terminal: which rows, in which order, in which columns. Keys change it, a watch fills it, a
 * canvas of cells takes it. So it can be tested, and ncurses stays in top.c.
 */
#ifndef EMU_CLI_TOP_VIEW_H
#define EMU_CLI_TOP_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

struct watch;

enum top_style {
    TOP_PLAIN,
    TOP_TITLE, /* reversed */
    TOP_HEAD,  /* headings */
    TOP_DIM,   /* idle */
    TOP_LOW,   /* bars, by how full */
    TOP_MEDIUM,
    TOP_HIGH,
    TOP_BAD,      /* down, drops */
    TOP_SELECTED, /* reversed: the link that keys are about */
    TOP_STYLE_COUNT
};

struct top_cell {
    wchar_t character;
    enum top_style style;
};
struct top_canvas {
    int rows, columns;
    struct top_cell *cells; /* rows * columns */
};
bool top_canvas_size(struct top_canvas *c, int rows, int columns); /* false: no memory, the canvas is as it was */
void top_canvas_free(struct top_canvas *c);
/* Row `row` as UTF-8, without blanks at its end. */
void top_canvas_text(const struct top_canvas *c, int row, char *out, size_t size);

enum top_sort { TOP_BY_NAME, TOP_BY_RATE, TOP_BY_LOAD, TOP_BY_DROPS, TOP_BY_QUEUE, TOP_SORT_COUNT };
extern const char *const top_sort_names[TOP_SORT_COUNT + 1]; /* as for --sort; the last is NULL */

struct top_view {
    enum top_sort sort;
    bool hide_idle, help;
    int selected;   /* link direction */
    int first;      /* row of the list on top of the screen */
    int first_flow; /* the same of the flows */
    int page;       /* rows of the list that the last drawing had room for */
    int *order;     /* directions as shown */
    int n_order;
    char message[512]; /* instead of the keys, while not empty */
};

bool top_view_init(struct top_view *v, const struct watch *w); /* false: no memory */
void top_view_free(struct top_view *v);

/* Sorts what is shown and keeps the selection in sight; after each update of the watch and each key. Links that are equal in
 * what is sorted by stand in the order of the file. */
void top_view_arrange(struct top_view *v, const struct watch *w);

/* What a key asks of the lab, about the selected link. */
enum top_action {
    TOP_NOTHING,
    TOP_QUIT,
    TOP_FAIL,
    TOP_BLACKHOLE,
    TOP_ONE_WAY,
    TOP_HEAL,
    TOP_CAPTURE,
};
enum { TOP_KEY_UP = 0x10000, TOP_KEY_DOWN, TOP_KEY_PAGE_UP, TOP_KEY_PAGE_DOWN, TOP_KEY_HOME, TOP_KEY_END };
enum top_action top_view_key(struct top_view *v, const struct watch *w, int key);

/* `capturing`: the name of the link being captured, or NULL. */
void top_view_draw(struct top_view *v, const struct watch *w, const char *capturing, struct top_canvas *c);

#endif
