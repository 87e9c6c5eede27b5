/* A running lab as seen from outside: its link directions with their rates, and the flows on each with the rule that put them
 * there. Made of what the control socket answers; rates are differences between two answers, by the lab's own clock.
 */
#ifndef EMU_LIVE_WATCH_H
#define EMU_LIVE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_client;
struct json_in;

/* Below this share of its rate a link direction counts as idle: ARP, learning frames, a ping. */
#define WATCH_IDLE 0.001

struct watch_link { /* a direction, by its number; texts belong to the watch, NULL where there is none */
    const char *name, *from, *to, *team, *policy;
    const char *state;                              /* "up", "down", "blackhole", "one-way" */
    bool carrier;                                   /* the cable isn't down and both boxes have power */
    uint64_t frames, bytes, dropped, lost;          /* since the lab came up; bytes on the wire */
    uint64_t queued, queue_peak, buffer, bit_per_s; /* buffer UINT64_MAX: the sender is held back */
    double delay, loss;                             /* s, share */
    /* Over the interval. */
    double byte_rate, frame_rate, drop_rate, loss_rate; /* per second */
    double utilisation;                                 /* of bit_per_s */
    unsigned flows;                                     /* that carried something in the last second */
    bool idle;
    double planned; /* flows that the topology file expects there, -1: not known; whoever watches may set it */
};

struct watch_flow {
    int link; /* direction */
    const char *src, *dst, *from, *to;
    const char *policy, *label, *why; /* policy NULL: nothing to choose by a rule */
    bool agrees;                      /* the rule, as it stands now, gives this link */
    unsigned proto, sport, dport;     /* ports 0: none */
    uint64_t frames, bytes;
    double idle; /* s since its last train */
    double byte_rate;
};

struct watch {
    const char *name, *file, *title;
    double scale, time, interval;         /* interval 0: no rates yet */
    double late_median, late_p99, behind; /* s, s, share of time; -1: not told */
    uint64_t unfetched; /* super-frames that a device lost because the datapath did not fetch them in time */
    struct watch_link *links;
    size_t n_links;
    struct watch_flow *flows; /* those asked for, seen of late; by link, then as they are named */
    size_t n_flows;
    uint64_t untold;                                   /* trains that found no room in the table of flows */
    struct json_in *about, *names, *counters, **pages; /* private: hold the texts; pages of flows */
    size_t n_pages;
};

enum { WATCH_TIMEOUT_MS = 5000 };

/* Asks what doesn't change, and the counters once. NULL with a sentence. */
struct watch *watch_new(struct control_client *c, char *problem, size_t size);
/* Asks again: rates are those since the last time. Flows of all link directions, of one, or of none. False with a sentence; the
 * watch then is as it was. */
enum { WATCH_ALL_FLOWS = -1, WATCH_NO_FLOWS = -2 };
bool watch_update(struct watch *w, struct control_client *c, int link, char *problem, size_t size);
void watch_free(struct watch *w); /* accepts NULL */

/* The same from answers at hand, which it takes: `status`, `links`; then `counters` and the pages of `flows` (an array that it
 * takes as well), again and again. False with a sentence when they don't fit. */
struct watch *watch_made(struct json_in *status, struct json_in *links, char *problem, size_t size);
bool watch_take(struct watch *w, struct json_in *status, struct json_in *counters, struct json_in **pages, size_t n,
                char *problem, size_t size);

/* A flow in words: "10.10.5.11:790 > 10.10.5.101:2049". */
void watch_flow_text(const struct watch_flow *f, char *out, size_t size);

#endif
