/* Taking labs down, from outside. */
#ifndef EMU_LIVE_DOWN_H
#define EMU_LIVE_DOWN_H

#include <stdbool.h>
#include <stddef.h>

struct lab;

/* How well the lab kept up, as it says itself (seconds). */
struct down_report {
    bool known, kept_up;
    double frames, p50, p99, p999, most, behind, running;
    double shortage;  /* share of the time in which processor time was short (struct shortage) */
    double unfetched; /* super-frames that were lost because the datapath did not fetch them in time */
};
/* Asks a running lab. */
void down_ask(const struct lab *lab, struct down_report *r);

/* Ends the lab's process and takes away what it leaves; a lab that has ended already as well. 0 or -errno with a
 * sentence. */
int down(struct lab *lab, char *problem, size_t size);

#endif
