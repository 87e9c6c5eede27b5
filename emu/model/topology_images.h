/* A site in small: runs that take hours are played in minutes with a part of the amounts, and their times are multiplied again.
 *
 * What is copied (bytes of jobs that end by bytes) and what machines go through (operations and lengths of their phases) becomes
 * a part of itself, and so does what write caches hold, so that they fill as early in the run. Rates, latencies and how far the
 * heads have to go stay as they are: the disks hold the whole images.
 */
#ifndef EMU_MODEL_TOPOLOGY_IMAGES_H
#define EMU_MODEL_TOPOLOGY_IMAGES_H

struct result;
struct topo;

/* 0 < part <= 1. Once for a topology. */
void topo_images(struct topo *t, double part);

/* Write caches hold this part of what they do. Never less than what a disk group needs to write in visits of its size. */
void topo_caches(struct topo *t, double part);

/* Times and amounts of a finished run of such a topology as if all had been copied and lived through. */
void result_images(struct result *r);

#endif
