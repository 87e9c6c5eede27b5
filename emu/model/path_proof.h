/* How to make an uncertain hop certain: a read-only command of the device that chose, for this very flow. */
#ifndef EMU_MODEL_PATH_PROOF_H
#define EMU_MODEL_PATH_PROOF_H

#include "emu/model/path.h"

/* Writes the command (or, where the device has none, what to compare) and returns true; false when the hop needs none: its
 * index is exact, or nothing is chosen. The device is known by its node's kind and `model:`; *box is where to ask. */
bool path_proof(const struct topo *t, const struct flow *flow, enum flow_direction direction,
                const struct path_hop *hop, int *box, char *out, size_t size);

#endif
