/* Private to topology_file.c and topology_change.c: what an opened file is. */
#ifndef EMU_MODEL_TOPOLOGY_FILE_INTERNAL_H
#define EMU_MODEL_TOPOLOGY_FILE_INTERNAL_H

#include "emu/model/doc.h"

struct topo_file {
    struct topo_arena *arena;
    const char *name;
    struct doc_node *root;        /* expanded */
    const struct doc_node *cases; /* of root, or NULL */
};

#endif
