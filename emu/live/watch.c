#include "emu/live/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/live/control.h"
#include "emu/report/json.h"

/* What is there when a lab doesn't say it, as a later or former one may not. */
static double real(const struct json_in *object, const char *key, double otherwise)
{
    double n;

    return json_in_number(json_in_member(object, key), &n) ? n : otherwise;
}

static uint64_t count(const struct json_in *object, const char *key, uint64_t otherwise)
{
    uint64_t n;

    return json_in_count(json_in_member(object, key), &n) ? n : otherwise;
}

static const char *text(const struct json_in *object, const char *key)
{
    return json_in_text(json_in_member(object, key));
}

static bool fits_not(const char *what, char *problem, size_t size)
{
    snprintf(problem, size, "the lab's answer about its %s makes no sense", what);
    return false;
}

/* ---- what stays ---- */

static void read_status(struct watch *w)
{
    const struct json_in *late = json_in_member(w->about, "lateness");

    w->name = text(w->about, "name");
    w->file = text(w->about, "file");
    w->title = text(w->about, "title");
    w->scale = real(w->about, "scale", 1);
    w->late_median = real(late, "late_p50", -1);
    w->late_p99 = real(late, "late_p99", -1);
    w->behind = real(late, "behind", -1);
    w->unfetched = count(late, "unfetched", 0);
}

struct watch *watch_made(struct json_in *status, struct json_in *links, char *problem, size_t size)
{
    struct watch *w = calloc(1, sizeof *w);
    const struct json_in *list = json_in_member(links, "links");

    if (!w) {
        json_in_free(status);
        json_in_free(links);
        snprintf(problem, size, "out of memory");
        return NULL;
    }
    w->about = status;
    w->names = links;
    w->n_links = json_in_size(list);
    w->links = calloc(w->n_links + 1, sizeof *w->links);
    read_status(w);
    if (!w->links || !w->name) {
        fits_not("name", problem, size);
        watch_free(w);
        return NULL;
    }
    for (size_t i = 0; i < w->n_links; i++) {
        const struct json_in *l = json_in_element(list, i);

        w->links[i] = (struct watch_link){.name = text(l, "name"),
                                          .from = text(l, "from"),
                                          .to = text(l, "to"),
                                          .team = text(l, "team"),
                                          .policy = text(l, "policy"),
                                          .state = "up",
                                          .planned = -1,
                                          .idle = true};
        if (!w->links[i].name || !w->links[i].from || !w->links[i].to) {
            fits_not("links", problem, size);
            watch_free(w);
            return NULL;
        }
    }
    return w;
}

static void free_pages(struct json_in **pages, size_t n)
{
    for (size_t i = 0; i < n; i++)
        json_in_free(pages[i]);
    free(pages);
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    json_in_free(w->about);
    json_in_free(w->names);
    json_in_free(w->counters);
    free_pages(w->pages, w->n_pages);
    free(w->links);
    free(w->flows);
    free(w);
}

/* ---- what moves ---- */

/* A rate from two readings of a counter; one that went back has begun anew. */
static double rate(uint64_t now, uint64_t before, double interval)
{
    return interval > 0 && now >= before ? (double)(now - before) / interval : 0;
}

static void take_link(struct watch_link *l, const struct json_in *c, double interval)
{
    const struct watch_link old = *l;

    l->frames = count(c, "frames", 0);
    l->bytes = count(c, "bytes", 0);
    l->dropped = count(c, "dropped", 0);
    l->lost = count(c, "lost", 0);
    l->queued = count(c, "queued", 0);
    l->queue_peak = count(c, "queue_peak", 0);
    l->buffer = count(c, "buffer", UINT64_MAX);
    l->bit_per_s = count(c, "rate", 0);
    l->delay = real(c, "delay", 0);
    l->loss = real(c, "loss", 0);
    l->state = text(c, "state") ? text(c, "state") : "up";
    l->carrier = json_in_true(json_in_member(c, "carrier"));
    l->byte_rate = rate(l->bytes, old.bytes, interval);
    l->frame_rate = rate(l->frames, old.frames, interval);
    l->drop_rate = rate(l->dropped, old.dropped, interval);
    l->loss_rate = rate(l->lost, old.lost, interval);
    l->utilisation = l->bit_per_s ? l->byte_rate * 8 / (double)l->bit_per_s : 0;
    l->idle = l->utilisation < WATCH_IDLE;
    l->flows = (unsigned)count(c, "flows", 0);
}

static int by_name(const void *a, const void *b)
{
    const struct watch_flow *x = a, *y = b;
    int order;

    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    if ((order = strcmp(x->src, y->src)) != 0 || (order = strcmp(x->dst, y->dst)) != 0)
        return order;
    if (x->proto != y->proto)
        return x->proto < y->proto ? -1 : 1;
    if (x->sport != y->sport)
        return x->sport < y->sport ? -1 : 1;
    return (x->dport > y->dport) - (x->dport < y->dport);
}

static bool read_flow(const struct watch *w, const struct json_in *j, struct watch_flow *f)
{
    uint64_t link = count(j, "link", UINT64_MAX);

    *f = (struct watch_flow){
        .src = text(j, "src"),
        .dst = text(j, "dst"),
        .from = text(j, "from"),
        .to = text(j, "to"),
        .policy = text(j, "policy"),
        .label = text(j, "label"),
        .why = text(j, "why") ? text(j, "why") : "",
        .agrees = json_in_true(json_in_member(j, "agrees")),
        .proto = (unsigned)count(j, "proto", 0),
        .sport = (unsigned)count(j, "sport", 0),
        .dport = (unsigned)count(j, "dport", 0),
        .frames = count(j, "frames", 0),
        .bytes = count(j, "bytes", 0),
        .idle = real(j, "idle", 0),
    };
    f->link = link < w->n_links ? (int)link : -1;
    return f->link >= 0 && f->src && f->dst;
}

static size_t count_flows(struct json_in *const *pages, size_t n)
{
    size_t flows = 0;

    for (size_t i = 0; i < n; i++)
        flows += json_in_size(json_in_member(pages[i], "flows"));
    return flows;
}

/* What it sends a second. One that wasn't asked for the last time isn't known, unless it has begun since. */
static double flow_rate(const struct watch *w, const struct watch_flow *f, double age, double interval)
{
    const struct watch_flow *old = w->n_flows ? bsearch(f, w->flows, w->n_flows, sizeof *f, by_name) : NULL;

    if (old && f->bytes >= old->bytes)
        return rate(f->bytes, old->bytes, interval);
    return old || age <= interval ? rate(f->bytes, 0, interval) : 0;
}

/* The flows of the answers with their rates since the last ones. */
static struct watch_flow *read_flows(const struct watch *w, struct json_in *const *pages, size_t n_pages,
                                     double interval)
{
    size_t n = 0;
    struct watch_flow *flows = calloc(count_flows(pages, n_pages) + 1, sizeof *flows);

    for (size_t p = 0; flows && p < n_pages; p++) {
        const struct json_in *list = json_in_member(pages[p], "flows");

        for (size_t i = 0; i < json_in_size(list); i++, n++) {
            const struct json_in *j = json_in_element(list, i);

            if (!read_flow(w, j, &flows[n])) {
                free(flows);
                return NULL;
            }
            flows[n].byte_rate = flow_rate(w, &flows[n], real(j, "age", 0), interval);
        }
    }
    if (flows)
        qsort(flows, n, sizeof *flows, by_name);
    return flows;
}

bool watch_take(struct watch *w, struct json_in *status, struct json_in *counters, struct json_in **pages, size_t n,
                char *problem, size_t size)
{
    const struct json_in *links = json_in_member(counters, "links");
    double time = real(counters, "time", -1), interval = w->counters ? time - w->time : 0;
    struct watch_flow *fresh = NULL;

    if (json_in_size(links) != w->n_links || time < 0 || interval < 0 || !text(status, "name"))
        fits_not("counters", problem, size);
    else if (!(fresh = read_flows(w, pages, n, interval)))
        fits_not("flows", problem, size);
    if (!fresh) {
        json_in_free(status);
        json_in_free(counters);
        free_pages(pages, n);
        return false;
    }
    for (size_t i = 0; i < w->n_links; i++)
        take_link(&w->links[i], json_in_element(links, i), interval);
    free(w->flows);
    w->flows = fresh;
    w->n_flows = count_flows(pages, n);
    w->untold = count(counters, "untold", 0);
    json_in_free(w->about);
    json_in_free(w->counters);
    free_pages(w->pages, w->n_pages);
    w->about = status;
    w->counters = counters;
    w->pages = pages;
    w->n_pages = n;
    w->time = time;
    w->interval = interval;
    read_status(w);
    return true;
}

/* ---- over the socket ---- */

enum { FLOWS_A_PAGE = 200 };

static struct json_in *ask(struct control_client *c, const char *what, char *problem, size_t size)
{
    control_begin(c, what);
    return control_ask(c, WATCH_TIMEOUT_MS, problem, size);
}

/* One page of flows: of one link direction, or of all (-1). */
static struct json_in *ask_page(const struct watch *w, struct control_client *c, int link, uint64_t after,
                                char *problem, size_t size)
{
    struct json_out *request = control_begin(c, "flows");

    json_out_count(request, "max", FLOWS_A_PAGE);
    json_out_count(request, "after", after);
    if (link >= 0)
        json_out_string(request, "link", w->links[link].name);
    return control_ask(c, WATCH_TIMEOUT_MS, problem, size);
}

/* All pages. NULL with a sentence. */
static struct json_in **ask_flows(const struct watch *w, struct control_client *c, int link, size_t *n, char *problem,
                                  size_t size)
{
    struct json_in **pages = calloc(1, sizeof(struct json_in *)), **grown;
    uint64_t next = 0;
    bool more = link != WATCH_NO_FLOWS;

    *n = 0;
    snprintf(problem, size, "out of memory");
    if (!pages)
        return NULL;
    while (more) {
        grown = realloc(pages, (*n + 1) * sizeof(struct json_in *));
        if (grown) {
            pages = grown;
            pages[*n] = ask_page(w, c, link, next, problem, size);
        }
        if (!grown || !pages[*n]) {
            free_pages(pages, *n);
            return NULL;
        }
        more = json_in_count(json_in_member(pages[(*n)++], "next"), &next);
    }
    return pages;
}

bool watch_update(struct watch *w, struct control_client *c, int link, char *problem, size_t size)
{
    struct json_in *status = ask(c, "status", problem, size);
    struct json_in *counters = status ? ask(c, "counters", problem, size) : NULL;
    size_t n;
    struct json_in **pages = counters ? ask_flows(w, c, link, &n, problem, size) : NULL;

    if (pages)
        return watch_take(w, status, counters, pages, n, problem, size);
    json_in_free(status);
    json_in_free(counters);
    return false;
}

struct watch *watch_new(struct control_client *c, char *problem, size_t size)
{
    struct json_in *status = ask(c, "status", problem, size), *links = status ? ask(c, "links", problem, size) : NULL;
    struct watch *w;

    if (!links) {
        json_in_free(status);
        return NULL;
    }
    w = watch_made(status, links, problem, size);
    if (w && !watch_update(w, c, WATCH_ALL_FLOWS, problem, size)) {
        watch_free(w);
        return NULL;
    }
    return w;
}

void watch_flow_text(const struct watch_flow *f, char *out, size_t size)
{
    bool six = strchr(f->src, ':') && f->sport; /* as in a URL: [fd00::1]:790 */

    if (f->sport)
        snprintf(out, size, six ? "[%s]:%u > [%s]:%u" : "%s:%u > %s:%u", f->src, f->sport, f->dst, f->dport);
    else
        snprintf(out, size, "%s > %s", f->src, f->dst);
}
