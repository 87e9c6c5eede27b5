/* What TCP makes of the capacity, where that is not max-min fair.
 *
 * Flows that share one full link share it evenly, by max-min and by TCP. A flow that meets two full links, each of which it shares
 * with others, loses at both: TCP gives it less than max-min does, and the others more, so that all together get more. TCP's shares are
 * known to be those that maximise sum of x^(1-a) / (1-a) over all flows (Mo and Walrand, 2000), with some a for some TCP and
 * some queues. Here a = 0.35 + 1/n of a link with n flows, calibrated: fitted to runs in trains (CUBIC, queues with a vague limit) of 588
 * random sites, where the whole is met within 5 % on all but one (5.6 %) and max-min is up to 11 % below. Few flows are shared more
 * fairly than many. On sites that it was not fitted to: tests/unit/plan_run.c, docs/planning.md.
 */
#ifndef EMU_MODEL_PREDICT_TCP_H
#define EMU_MODEL_PREDICT_TCP_H

#include "emu/model/path_site.h"

/* Where such rates are shown. */
#define PREDICT_TCP_BASIS "calibrated: fitted to runs in trains of 588 random sites, tested on others"

/* All flows busy in one direction: rates[flow], bytes/s. *flows_between: those that meet two full links with different company.
 * 1 when the rates are an estimate of its own; 0 when they are max-min's, because no flow does, or because the site is too large, has
 * draws or storage that limits; -ENOMEM. */
int predict_tcp(struct path_site *s, enum flow_direction direction, double *rates, size_t *flows_between);

#endif
