/* Counters of a live run, read now and then, made into its result: rates over the same windows, phases and slices as a run in
 * virtual time has (emu/model/schedule.h).
 *
 * Counters only grow and are read at times of their own; between two readings they are taken to grow evenly. So readings
 * should come close to the ends of the windows, or often.
 *
 * With a scale R below 1 the network ran at R times its rates: what is put into the result is divided by R, so that it can
 * stand beside a run at full rate; times that an operation took are multiplied by R.
 */
#ifndef EMU_LIVE_TALLY_H
#define EMU_LIVE_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct result;
struct tally;

/* Of a link direction, since the start of the run. */
struct tally_link {
    uint64_t frames, bytes; /* on the wire, with preamble, FCS and gap */
    uint64_t dropped, lost; /* frames */
    uint64_t queue_peak;    /* bytes */
};

/* For a result whose windows schedule_make() has set, with SCHEDULE_SLICES slices. NULL on lack of memory. */
struct tally *tally_new(struct result *r, double scale);
void tally_free(struct tally *t); /* accepts NULL */

/* A job has read and written so many bytes up to `at`, served by the NAS box `box` of late. Times don't go back. */
void tally_job(struct tally *t, size_t job, int box, ps_t at, uint64_t read, uint64_t written);
/* All link directions at a time, in their order. */
void tally_links(struct tally *t, ps_t at, const struct tally_link *links);
/* TCP payload that a link direction carried in a phase, in the direction of the data. */
void tally_bulk(struct tally *t, unsigned phase, size_t linkdir, uint64_t bytes);
/* `n` operations of a job took this long each. */
void tally_latency(struct tally *t, size_t job, bool write, ps_t latency, uint32_t n);

/* The run has ended: the result is complete but for what the path function says. */
void tally_finish(struct tally *t, ps_t end);

#endif
