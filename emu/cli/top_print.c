/* needs: full */
#include "emu/cli/top_print.h"

#include <string.h>

#include "emu/live/watch.h"
#include "emu/report/json.h"
#include "emu/report/path_words.h"
#include "emu/report/table.h"
#include "emu/model/units.h"

static double megabits(double byte_rate) { return byte_rate * 8 / 1e6; }

/* What is the matter with it, or that it is idle; "" else. */
static const char *word_for(const struct watch_link *l)
{
    if (strcmp(l->state, "up") != 0)
        return l->state;
    return !l->carrier ? "no carrier" : l->idle ? "idle" : "";
}

static int print_links(const struct watch *w, const int *order, int n, FILE *out)
{
    static const struct table_column columns[] = {
        {"link direction", TABLE_LEFT}, {"Mbit/s", TABLE_RIGHT}, {"%", TABLE_RIGHT},
        {"drops/s", TABLE_RIGHT},       {"lost/s", TABLE_RIGHT}, {"queue", TABLE_RIGHT},
        {"flows", TABLE_RIGHT},         {"plan", TABLE_RIGHT},   {"", TABLE_LEFT},
    };
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    int rc;

    for (int i = 0; i < n; i++) {
        const struct watch_link *l = &w->links[order[i]];
        struct table_row *row = table_row(t, NULL);
        char queue[32], plan[32] = "";

        table_cell(t, row, 0, l->name);
        table_cellf(t, row, 1, "%.1f", megabits(l->byte_rate));
        table_cellf(t, row, 2, "%.1f", 100 * l->utilisation);
        table_cellf(t, row, 3, "%.0f", l->drop_rate);
        table_cellf(t, row, 4, "%.0f", l->loss_rate);
        table_cell(t, row, 5, unit_print_size(queue, sizeof queue, l->queued));
        table_cellf(t, row, 6, "%u", l->flows);
        if (l->planned >= 0)
            path_words_count(l->planned, plan, sizeof plan);
        table_cell(t, row, 7, plan);
        table_cell(t, row, 8, word_for(l));
    }
    rc = table_print(t, out, TABLE_TEXT, 0);
    table_free(t);
    return rc;
}

static int print_flows(const struct watch *w, const int *order, int n, FILE *out)
{
    static const struct table_column columns[] = {
        {"flow", TABLE_LEFT}, {"Mbit/s", TABLE_RIGHT}, {"rule", TABLE_LEFT}, {"why", TABLE_LEFT}, {"label", TABLE_LEFT},
    };
    struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
    int rc;

    for (int i = 0; i < n; i++) {
        struct table_row *row = NULL;

        for (size_t k = 0; k < w->n_flows; k++) {
            const struct watch_flow *f = &w->flows[k];
            char text[160];

            if (f->link != order[i] || f->byte_rate <= 0)
                continue;
            if (!row) {
                row = table_row(t, NULL);
                table_cell(t, row, 0, w->links[order[i]].name);
            }
            watch_flow_text(f, text, sizeof text);
            row = table_row(t, NULL);
            table_cellf(t, row, 0, "  %s", text);
            table_cellf(t, row, 1, "%.1f", megabits(f->byte_rate));
            table_cell(t, row, 2, f->policy ? f->policy : "");
            table_cell(t, row, 3, f->why);
            table_cell(t, row, 4, !f->agrees ? "not by this rule now" : f->policy && f->label ? f->label : "");
        }
    }
    rc = table_print(t, out, TABLE_TEXT, 0);
    table_free(t);
    return rc;
}

int top_print_text(const struct watch *w, const int *order, int n, FILE *out)
{
    int rc;

    fprintf(out, "%s%s%s   up %.0f s, over %.1f s", w->name, w->title ? ": " : "", w->title ? w->title : "", w->time,
            w->interval);
    if (w->scale < 1 || w->scale > 1)
        fprintf(out, ", scale %g", w->scale);
    if (w->late_median >= 0)
        fprintf(out, "; frames late %.0f us (p99 %.0f us), behind %.2f %% of the time", 1e6 * w->late_median,
                1e6 * w->late_p99, 100 * w->behind);
    if (w->unfetched)
        fprintf(out, "; %llu trains of frames lost, not fetched in time", (unsigned long long)w->unfetched);
    fputs("\n\n", out);
    rc = print_links(w, order, n, out);
    if (rc == 0 && w->n_flows > 0) {
        fputc('\n', out);
        rc = print_flows(w, order, n, out);
    }
    return rc;
}

/* ---- JSON ---- */

static void json_link(const struct watch_link *l, struct json_out *j)
{
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "name", l->name);
    json_out_string(j, "team", l->team);
    json_out_string(j, "policy", l->policy);
    json_out_string(j, "state", l->state);
    json_out_bool(j, "carrier", l->carrier);
    json_out_count(j, "bit_per_s", l->bit_per_s);
    json_out_real(j, "delay", l->delay);
    json_out_real(j, "loss", l->loss);
    if (l->buffer == UINT64_MAX)
        json_out_null(j, "buffer");
    else
        json_out_count(j, "buffer", l->buffer);
    json_out_real(j, "rate", l->byte_rate);
    json_out_real(j, "frames_per_s", l->frame_rate);
    json_out_real(j, "utilisation", l->utilisation);
    json_out_real(j, "dropped_per_s", l->drop_rate);
    json_out_real(j, "lost_per_s", l->loss_rate);
    json_out_count(j, "queued", l->queued);
    json_out_count(j, "queue_peak", l->queue_peak);
    json_out_integer(j, "flows", l->flows);
    if (l->planned >= 0)
        json_out_real(j, "planned", l->planned);
    else
        json_out_null(j, "planned");
    json_out_bool(j, "idle", l->idle);
    json_out_count(j, "bytes", l->bytes);
    json_out_count(j, "frames", l->frames);
    json_out_count(j, "dropped", l->dropped);
    json_out_count(j, "lost", l->lost);
    json_out_end(j);
}

static void json_flow(const struct watch *w, const struct watch_flow *f, struct json_out *j)
{
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "link", w->links[f->link].name);
    json_out_string(j, "src", f->src);
    json_out_string(j, "dst", f->dst);
    json_out_integer(j, "proto", f->proto);
    json_out_integer(j, "sport", f->sport);
    json_out_integer(j, "dport", f->dport);
    json_out_string(j, "from", f->from);
    json_out_string(j, "to", f->to);
    json_out_real(j, "rate", f->byte_rate);
    json_out_count(j, "bytes", f->bytes);
    json_out_count(j, "frames", f->frames);
    json_out_real(j, "silent", f->idle);
    json_out_string(j, "policy", f->policy);
    json_out_string(j, "why", f->why);
    json_out_string(j, "label", f->label);
    json_out_bool(j, "agrees", f->agrees);
    json_out_end(j);
}

void top_print_json(const struct watch *w, const int *order, int n, FILE *out)
{
    struct json_out j;

    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "emu-top/1");
    json_out_string(&j, "name", w->name);
    json_out_string(&j, "file", w->file);
    json_out_string(&j, "title", w->title);
    json_out_real(&j, "scale", w->scale);
    json_out_real(&j, "time", w->time);
    json_out_real(&j, "interval", w->interval);
    if (w->late_median >= 0) {
        json_out_object(&j, "lateness", JSON_ON_ONE_LINE);
        json_out_real(&j, "median", w->late_median);
        json_out_real(&j, "p99", w->late_p99);
        json_out_real(&j, "behind", w->behind);
        json_out_count(&j, "unfetched", w->unfetched);
        json_out_end(&j);
    }
    json_out_array(&j, "links", JSON_ON_LINES);
    for (int i = 0; i < n; i++)
        json_link(&w->links[order[i]], &j);
    json_out_end(&j);
    json_out_array(&j, "flows", JSON_ON_LINES);
    for (size_t i = 0; i < w->n_flows; i++)
        json_flow(w, &w->flows[i], &j);
    json_out_end(&j);
    json_out_count(&j, "untold", w->untold);
    json_out_end(&j);
}
