/* The event core under the hold model (Jones, "An empirical comparison of priority-queue and event-set implementations",
 * CACM 1986): a fixed population, each event queues itself again after an exponential delay. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "emu/fabric/eventq.h"
#include "tests/perf/hold.h"

static struct eventq *q;
static uint64_t draws = HOLD_SEED;

static void run(struct event *e, ps_t now) { eventq_set(q, e, now + (ps_t)hold_delay(&draws)); }

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void measure(unsigned population)
{
    struct event *events = calloc(population, sizeof *events);
    double best = 1e9;

    q = eventq_new();
    if (!events || !q)
        abort();
    for (unsigned i = 0; i < population; i++) {
        events[i].run = run;
        eventq_set(q, &events[i], (ps_t)hold_delay(&draws));
    }
    for (unsigned i = 0; i < 2 * population; i++)
        eventq_step(q);
    for (int round = 0; round < HOLD_ROUNDS; round++) {
        double start = seconds(), took;

        for (unsigned i = 0; i < HOLD_OPERATIONS; i++)
            eventq_step(q);
        took = seconds() - start;
        best = took < best ? took : best;
    }
    printf("bench: hold-%u %.0f events/s\n", population, HOLD_OPERATIONS / best);
    eventq_free(q);
    free(events);
}

int main(void)
{
    measure(100);
    measure(10000);
    measure(100000);
    return 0;
}
