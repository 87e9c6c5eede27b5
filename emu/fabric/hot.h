/* For the dozen functions that every frame passes through: together in their own part of the program, each on a cache line of
 * its own. Where the linker happened to put them made a quarter of the frame path's speed. */
#ifndef EMU_FABRIC_HOT_H
#define EMU_FABRIC_HOT_H

#define FABRIC_HOT __attribute__((hot, aligned(64)))

#endif
