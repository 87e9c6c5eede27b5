/* What the frame path's benchmark and its peer share: n constant-rate senders of full frames, each on a 10 Gbit/s cable of its own,
 * through one switch, one shared 10 Gbit/s link and a second switch to one receiver. Together they send 12 Gbit/s, so the
 * shared link's queue, 1,000 frames, is full and every sixth frame is dropped. Sender i starts i steps late. */
#ifndef TESTS_PERF_FRAMES_WORK_H
#define TESTS_PERF_FRAMES_WORK_H

#include <stdint.h>
#include <time.h>

enum {
    FRAMES_WIRE_BYTES = 1538, /* MTU 1500 with preamble, gap and FCS */
    FRAMES_QUEUE = 1000,
    FRAMES_STEP_PS = 1025333, /* between two frames of all senders: 12 Gbit/s */
    FRAMES_EACH_8 = 25000,
    FRAMES_EACH_1000 = 50,
};
#define FRAMES_RATE  UINT64_C(10000000000)
#define FRAMES_DELAY INT64_C(1000000) /* ps, each cable */

static inline double frames_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
