/* A topology file with a plan written into it: the author's comments, order and layout stay, only the values that the plan changes
 * are others. */
#ifndef EMU_MODEL_TOPOLOGY_WRITE_H
#define EMU_MODEL_TOPOLOGY_WRITE_H

#include <stddef.h>

#include "emu/model/topology_change.h"
#include "emu/model/topology_file.h"

/* The text `source`, that f was read from, with the changes made and the datastores mounted as the assignments say; those of a case
 * (NULL: of the file as it stands) become part of its `set`. A value of a ranged entry becomes a list in its place where the
 * entries then differ; where no bracket can hold what they want, they are written out, one a line. The text is read again before it is given out. Allocated,
 * free(); NULL with errors in d, where a place can't hold what it should. */
char *topo_file_write(const struct topo_file *f, const char *source, size_t size, const char *case_name,
                      const struct topo_change *changes, size_t n_changes, const struct topo_assignment *all, size_t n,
                      struct diag *d);

#endif
