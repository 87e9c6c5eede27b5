/* Private to topology_file.c, topology_change.c and topology_scale.c: what an opened file is. */
#ifndef EMU_MODEL_TOPOLOGY_FILE_INTERNAL_H
#define EMU_MODEL_TOPOLOGY_FILE_INTERNAL_H

#include "emu/model/doc.h"
#include "emu/model/schema.h"

struct topo_file {
    struct topo_arena *arena;
    const char *name;
    struct doc_node *root;        /* expanded */
    const struct doc_node *cases; /* of root, or NULL */
};

/* The file's tree with the case's `set` merged over it, in the memory of `report`; *case_out is the case, NULL without one.
 * NULL after an error. */
const struct doc_node *topo_file_tree(const struct topo_file *f, const char *case_name, struct schema_report *report,
                                      const struct doc_node **case_out);

#endif
