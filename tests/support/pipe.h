/* Wires for tests of the TCP model without the fabric: rate, delay, a buffer that drops the tail, and frames to lose. */
#ifndef TESTS_SUPPORT_PIPE_H
#define TESTS_SUPPORT_PIPE_H

#include "emu/fabric/eventq.h"
#include "emu/fabric/train.h"

struct pipe {
    struct event event; /* the first train's head arrives */
    struct eventq *queue;
    struct train_pool *trains;
    bps_t rate;
    ps_t delay, busy;
    uint64_t buffer; /* bytes, 0 = endless */
    struct train *first, *last;
    void (*out)(void *context, struct train *n, ps_t now);
    void *context;
    /* Data frames are counted from 0; one is lost where this says so. NULL: none. */
    bool (*lose)(void *context, uint64_t data_frame);
    void *lose_context;
    uint64_t data_frames, lost, dropped; /* frames: seen, lost by `lose`, by a full buffer */
};

void pipe_init(struct pipe *p, struct eventq *queue, struct train_pool *trains, bps_t rate, ps_t delay,
               uint64_t buffer);
void pipe_in(struct pipe *p, struct train *n, ps_t now);

#endif
