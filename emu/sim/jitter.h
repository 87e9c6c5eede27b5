/* The jitter of sends, as host.c draws it and as the fluid solver expects it on average. Internal to emu/sim. */
#ifndef EMU_SIM_JITTER_H
#define EMU_SIM_JITTER_H

/* A send waits for up to this part of its first frame's time on the interface's slowest cable: below one frame time, enough
 * to keep the phases of equal flows from locking, little against the latency of an operation. docs/sim.md, "Jitter". */
#define JITTER_PART 4

static inline double jitter_mean(double first_frame_bytes) { return first_frame_bytes / JITTER_PART / 2; }

#endif
