/* Private to the topology reader: the long form of `storage:`, presets and devices included. */
#ifndef EMU_MODEL_STORAGE_READ_H
#define EMU_MODEL_STORAGE_READ_H

#include "emu/model/topology_build.h"

struct storage_model;

/* The model of a node's `storage` (NULL: it has none), in the topology's memory. The node's boxes must be known. NULL when
 * only the short form is said, and after an error, which is reported. */
const struct storage_model *storage_read(struct build *b, const struct topo_node *node, const struct doc_pair *storage);

#endif
