/* Who is who in a topology, apart from names and order: numbers for the seeds of random draws.
 *
 * A draw that hangs on a node's name or place in the file would change when either does, and a run with it. So a box is
 * known by its addresses and by what it is cabled to: colours are refined along the cables, as graph isomorphism tests do
 * it (Weisfeiler and Lehman, 1968). Boxes that look alike from everywhere get the same number, which does no harm.
 */
#ifndef EMU_MODEL_IDENTITY_H
#define EMU_MODEL_IDENTITY_H

#include <stdint.h>

struct topo;

/* One number per box; free(). NULL on lack of memory. */
uint64_t *identity_of_boxes(const struct topo *t);

/* Of a link direction. */
uint64_t identity_of_linkdir(const struct topo *t, const uint64_t *boxes, int linkdir);

#endif
