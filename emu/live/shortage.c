#include "emu/live/shortage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "emu/fabric/fabric.h"
#include "emu/model/topology.h"

/* Below this share of the processor time nothing is left; above that share of its rate a link is full, below this one nothing
 * to speak of is asked of it. */
#define IDLE_LEAST  0.05
#define OWN_MOST    0.95
#define LINK_FULL   0.95
#define LINK_IN_USE 0.1

bool shortage_is(const struct shortage_look *l)
{
    return (l->idle < IDLE_LEAST || l->own > OWN_MOST) && l->fullest > LINK_IN_USE && l->fullest < LINK_FULL;
}

/* Idle and all ticks of the processors since the machine started, the first line of /proc/stat: "cpu", then user, nice, system,
 * idle, waiting for a disk, and three more kinds of work. */
static bool machine(uint64_t *idle, uint64_t *all)
{
    enum { KINDS = 8, IDLE = 3, DISK = 4 };
    FILE *f = fopen("/proc/stat", "re");
    char line[512], *at = line + 3, *end;
    bool there = f && fgets(line, sizeof line, f) && strncmp(line, "cpu ", 4) == 0;

    if (f)
        fclose(f);
    *idle = *all = 0;
    for (int kind = 0; there && kind < KINDS; kind++, at = end) {
        uint64_t ticks = strtoull(at, &end, 10);

        there = end > at;
        *all += ticks;
        *idle += kind == IDLE || kind == DISK ? ticks : 0;
    }
    return there;
}

static ps_t own_time(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (ps_t)t.tv_sec * PS_PER_S + (ps_t)t.tv_nsec * PS_PER_NS;
}

bool shortage_init(struct shortage *s, const struct topo *t)
{
    *s = (struct shortage){.bytes = calloc(2 * t->n_links + 1, sizeof *s->bytes), .own = own_time()};
    machine(&s->idle, &s->all);
    return s->bytes != NULL;
}

void shortage_free(struct shortage *s) { free(s->bytes); }

static double fullest(struct shortage *s, const struct topo *t, const struct fabric *f, ps_t now)
{
    double most = 0, seconds = (double)(now - s->at) / (double)PS_PER_S;

    for (int d = 0; d < 2 * (int)t->n_links; d++) {
        struct fabric_counters n;
        struct fabric_link link;
        double share;

        fabric_counters(f, d, &n);
        fabric_link(f, d, now, &link);
        share = link.rate ? 8 * (double)(n.bytes_out - s->bytes[d]) / seconds / (double)link.rate : 0;
        s->bytes[d] = n.bytes_out;
        most = share > most ? share : most;
    }
    return most;
}

void shortage_look(struct shortage *s, const struct topo *t, const struct fabric *f, ps_t now)
{
    struct shortage_look look = {.idle = 1};
    ps_t own = own_time();
    uint64_t idle, all;
    bool in_use;

    if (now <= s->at)
        return;
    if (machine(&idle, &all) && all > s->all) {
        look.idle = (double)(idle - s->idle) / (double)(all - s->all);
        s->idle = idle;
        s->all = all;
    }
    look.own = (double)(own - s->own) / (double)(now - s->at);
    look.fullest = fullest(s, t, f, now);
    in_use = look.fullest > LINK_IN_USE;
    /* What has frames on both sides is no begin and no end, in which a link isn't full because it was idle for a part. */
    if (in_use)
        s->time += s->pending;
    s->pending = s->in_use && shortage_is(&look) ? now - s->at : 0;
    s->in_use = in_use;
    s->own = own;
    s->at = now;
}
