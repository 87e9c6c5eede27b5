/* Captures of a running lab: a link's frames as a stream of classic pcap with nanoseconds, over the connection that asked.
 *
 * A super-frame appears as the real frames that it stands for, at the times at which their last bits are in at the far end,
 * by the clock on the wall. Both directions of a cable, or one. Frames that a fault takes away are there (they were sent),
 * what a full queue refused is not. A reader that is too slow loses frames, and the lab nothing: how many, it can ask.
 */
#ifndef EMU_LIVE_CAPTURE_H
#define EMU_LIVE_CAPTURE_H

#include <stdbool.h>

#include "emu/fabric/train.h"

struct commands_lab;
struct control_call;
struct captures;

enum { CAPTURE_SNAP_MIN = 64, CAPTURE_SNAP_MAX = 262144 };

struct captures *captures_new(const struct commands_lab *lab); /* which must outlive it; NULL on lack of memory */
void captures_free(struct captures *c);                        /* ends all streams; accepts NULL */

/* {"link": "esx1:vmnic2", "snap": 128}: the answer has the capture's number. */
bool captures_begin(struct captures *c, struct control_call *call);
/* {"capture": 3}: frames and bytes in the stream, frames lost for want of room. */
bool captures_told(struct captures *c, struct control_call *call);

/* A train as the fabric's tap gives it. */
void captures_train(struct captures *c, int linkdir, const struct train *t);

#endif
