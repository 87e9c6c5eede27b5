/* Captures of a run: one classic pcap file per cable, both directions,
 * nanoseconds of virtual time since the run began.
 *
 * A frame's time is when its last bit is in at the far end. Frames that a fault
 * or random loss takes away stand in the capture (they were sent); frames that
 * a full queue refused do not.
 */
#ifndef EMU_REPORT_PCAP_H
#define EMU_REPORT_PCAP_H

#include <stddef.h>

struct capture;
struct topo;
struct train;

/* Captures go to FOLDER/A--B.pcap, A and B being the ports' full names with `:`
 * and `/` replaced; the folder is made when it is missing. Files are made as
 * their first frame comes. NULL with a sentence in `problem`. */
struct capture *capture_new(const char *folder, const struct topo *t, char *problem, size_t size);
/* Takes a train as the fabric's tap gives it: in the order in which trains
 * arrive. A failure is kept for capture_close(). */
void capture_train(struct capture *c, int linkdir, const struct train *t);
/* Writes the rest and gives the files their names. 0, or a negative errno with
 * a sentence; then no file is left. Frees c. */
int capture_close(struct capture *c, char *problem, size_t size);
/* Leaves no file behind. Frees c; accepts NULL. */
void capture_abandon(struct capture *c);

#endif
