#include "emu/live/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "emu/live/watch.h"

/* A label's value: backslash, quote and line feed are escaped. */
static void label(FILE *out, const char *name, const char *value)
{
    fprintf(out, "%s=\"", name);
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            fputc('\\', out);
        if (*value == '\n')
            fputs("\\n", out);
        else
            fputc(*value, out);
    }
    fputc('"', out);
}

static void head(FILE *out, const char *name, const char *type, const char *help)
{
    fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void of_lab(const struct watch *w, FILE *out, const char *name, const char *help, double value)
{
    head(out, name, "gauge", help);
    fprintf(out, "%s{", name);
    label(out, "lab", w->name);
    fprintf(out, "} %.15g\n", value);
}

static double bytes(const struct watch_link *l) { return (double)l->bytes; }
static double frames(const struct watch_link *l) { return (double)l->frames; }
static double dropped(const struct watch_link *l) { return (double)l->dropped; }
static double lost(const struct watch_link *l) { return (double)l->lost; }
static double queued(const struct watch_link *l) { return (double)l->queued; }
static double queue_peak(const struct watch_link *l) { return (double)l->queue_peak; }
static double speed(const struct watch_link *l) { return (double)l->bit_per_s / 8; }
static double delay(const struct watch_link *l) { return l->delay; }
static double up(const struct watch_link *l) { return l->carrier && strcmp(l->state, "up") == 0; }

// clang-format off
static const struct {
    const char *name, *type;
    double (*value)(const struct watch_link *l);
    const char *help;
} table[] = {
    {"emu_link_bytes_total", "counter", bytes, "Bytes that arrived, with preamble, FCS and gap of each frame."},
    {"emu_link_frames_total", "counter", frames, "Frames that arrived."},
    {"emu_link_dropped_frames_total", "counter", dropped, "Frames that a full queue refused."},
    {"emu_link_lost_frames_total", "counter", lost, "Frames lost at random or by a fault."},
    {"emu_link_queue_bytes", "gauge", queued, "Bytes that wait before the link."},
    {"emu_link_queue_peak_bytes", "gauge", queue_peak, "The most that has ever waited."},
    {"emu_link_speed_bytes_per_second", "gauge", speed, "What the link can carry."},
    {"emu_link_delay_seconds", "gauge", delay, "One way."},
    {"emu_link_up", "gauge", up, "1: it carries frames; 0: down, blackhole, this direction failed, or no carrier."},
};
// clang-format on

static void of_losses(const struct watch *w, FILE *out)
{
    head(out, "emu_lab_unfetched_total", "counter",
         "Trains of frames that were lost because nobody fetched them in time.");
    fputs("emu_lab_unfetched_total{", out);
    label(out, "lab", w->name);
    fprintf(out, "} %" PRIu64 "\n", w->unfetched);
}

static void of_links(const struct watch *w, FILE *out, size_t row)
{
    head(out, table[row].name, table[row].type, table[row].help);
    for (size_t i = 0; i < w->n_links; i++) {
        fprintf(out, "%s{", table[row].name);
        label(out, "lab", w->name);
        fputc(',', out);
        label(out, "link", w->links[i].name);
        fprintf(out, "} %.15g\n", table[row].value(&w->links[i]));
    }
}

void metrics_write(const struct watch *w, FILE *out)
{
    of_lab(w, out, "emu_lab_uptime_seconds", "Since the lab came up.", w->time);
    of_lab(w, out, "emu_lab_scale", "Rates of the lab are those of the file times this.", w->scale);
    if (w->late_median >= 0) {
        of_lab(w, out, "emu_lab_late_median_seconds", "How late frames leave, median.", w->late_median);
        of_lab(w, out, "emu_lab_late_p99_seconds", "How late frames leave, 99th percentile.", w->late_p99);
        of_lab(w, out, "emu_lab_behind_ratio", "Share of the time that the machine was behind.", w->behind);
        of_losses(w, out);
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        of_links(w, out, i);
}
