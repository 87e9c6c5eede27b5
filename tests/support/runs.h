/* Runs for tests: topologies from text or files, with their workloads replaced. All fail the running cmocka test when the
 * topology does not read or the run does not come to an end. */
#ifndef TESTS_SUPPORT_RUNS_H
#define TESTS_SUPPORT_RUNS_H

#include "emu/model/result.h"
#include "emu/sim/run.h"

/* The text with everything from "workloads:" up to the next line that begins without a space replaced by `workloads` (which
 * must bring the key itself). free(). */
char *runs_with(const char *text, const char *workloads);
char *runs_read(const char *path); /* a file as text; free() */
/* The text with every `from` replaced by `to`; there must be one. free(). */
char *runs_replace(const char *text, const char *from, const char *to);

/* result_free(). case_name may be NULL. */
struct result *runs_text(const char *text, const char *case_name, enum sim_detail detail, uint64_t seed);
struct result *runs_options(const char *text, const char *case_name, const struct sim_options *o);

const struct result_link *runs_link(const struct result *r, const char *name);
const struct result_entity *runs_datastore(const struct result *r, const char *name);
/* Median latency of all operations of the kind that the run has. */
ps_t runs_median(const struct result *r);

/* Hops of the longest path there and back, times the longest frame on the slowest link. */
ps_t runs_frame_time_per_hop(const struct result *r);

/* Fails unless |a / b - 1| <= within. */
void runs_near(double a, double b, double within, const char *what);

#endif
