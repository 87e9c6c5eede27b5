/* A topology file with something else in it, for "what if": a change in words, applied to the expanded tree.
 *
 *   add-host NAME ADDRESS   one more host like the last one of the file: its cables to free ports of the same switches, its LAGs,
 *                           its mounts
 *   uplinks N               every host's vSwitches and bonds have N uplinks, the first ones; more are cabled like the last one
 *   speed [NODE] RATE       every cable (of the node) has this speed
 *   fail PORT|NODE          the cable at this port is down ("esx1:vmnic3"), or all of the node
 */
#ifndef EMU_MODEL_TOPOLOGY_CHANGE_H
#define EMU_MODEL_TOPOLOGY_CHANGE_H

#include <stdbool.h>

struct diag;
struct topo_file;

/* Changes f in place. False, with an error in d, when the words mean nothing or can't be done here; f is then as it was. */
bool topo_file_change(struct topo_file *f, const char *change, struct diag *d);

#endif
