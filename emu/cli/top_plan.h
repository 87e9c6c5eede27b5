/* needs: full
 * What the topology file of a lab expects on each link: for `emu top`, beside what is measured.
 */
#ifndef EMU_CLI_TOP_PLAN_H
#define EMU_CLI_TOP_PLAN_H

struct watch;

/* How many flows of the file's mounts the path function puts on each link direction in the direction of their bulk data, writing
 * and reading: link->planned, an expectation where a hop is drawn or unknown. Left -1 when the file can't be read any more, or
 * has no mounts. */
void top_plan(struct watch *w, const char *name);

#endif
