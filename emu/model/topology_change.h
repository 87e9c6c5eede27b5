/* A topology file with something else in it, for "what if": a change in words, applied to the expanded tree.
 *
 *   add-host NAME ADDRESS   one more host like the last one of the file: its cables to free ports of the same switches, its LAGs,
 *                           its mounts
 *   uplinks N               every host's vSwitches and bonds have N uplinks, the first ones; more are cabled like the last one
 *   speed [NODE] RATE       every cable (of the node) has this speed
 *   fail PORT|NODE          the cable at this port is down ("esx1:vmnic3"), or all of the node
 *   address HOST IFACE A    the interface has another address, in the subnet that it is in
 *   home VIP CONTROLLER     the VIP lives on this controller ("10.50.0.103 n2")
 *   owner EXPORT CONTROLLER the volume behind the export ("fas:/ds01") belongs to this controller
 *   hash SWITCH POLICY      the switch, and its LAGs that have a hash of their own, choose by this policy
 *   name DATASTORE NAME     the datastore has a DNS name of its own (`server:`)
 *   bind DATASTORE HOST VMK the host's mount of the datastore is bound to this VMkernel interface (`vmknic:`)
 *
 * Where a name holds a blank the words are given one by one.
 */
#ifndef EMU_MODEL_TOPOLOGY_CHANGE_H
#define EMU_MODEL_TOPOLOGY_CHANGE_H

#include <stdbool.h>

#include <stddef.h>

struct diag;
struct topo_file;

enum { TOPO_CHANGE_WORDS = 4 };

/* A change word by word; the rest are NULL. */
struct topo_change {
    const char *words[TOPO_CHANGE_WORDS];
};

/* Changes f in place. False, with an error in d, when the words mean nothing or can't be done here; f is then as it was. */
bool topo_file_change(struct topo_file *f, const char *change, struct diag *d);
bool topo_file_change_words(struct topo_file *f, const struct topo_change *change, struct diag *d);

#endif
