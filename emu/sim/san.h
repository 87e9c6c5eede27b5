/* The network between a NAS and its arrays where the file draws it (struct topo_san).
 *
 * Each controller has an iSCSI session from each of its addresses in the SAN to each address of each array, and takes those to one
 * array in turn, as round-robin multipath (MPIO) does. The ways of a session are those of the path function: teams, LAGs and
 * hashes are the file's. Commands, data and responses are whole messages (calls_wire.h) with the bytes of iSCSI over TCP that
 * queue at each link in the order in which they come: a storage network has flow control, so nothing is lost there. Internal to
 * emu/sim.
 */
#ifndef EMU_SIM_SAN_H
#define EMU_SIM_SAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct calls_link;
struct eventq;
struct path_state;
struct san;
struct storage;
struct topo;

/* For a node with `san`. NULL on lack of memory or where a session has no way, which `problem` says. `links` may be NULL: then
 * only san_uses() may be called. */
struct san *san_new(const struct topo *t, int node, uint64_t seed, struct calls_link *links, char *problem,
                    size_t size);
void san_free(struct san *n); /* accepts NULL */
void san_connect(struct san *n, struct storage *s, struct eventq *q);

/* What a byte between this controller and the disks takes of each link direction, in messages of `unit` bytes, on average over
 * arrays and sessions: bytes on the wire and frames. Called more than once for a direction: shares add up. */
typedef void san_use(void *context, int linkdir, double wire, double frames);
void san_uses(const struct san *n, const struct path_state *state, unsigned controller, bool write, double unit,
              san_use *use, void *context);

/* The link directions that its sessions may take: marks[] per direction. */
void san_mark(const struct san *n, bool *marks);

#endif
