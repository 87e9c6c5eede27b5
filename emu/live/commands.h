/* What can be asked of a running lab over its control socket: the handler that its datapath registers.
 *
 *     links     the link directions by number, with names, rates, teams
 *     counters  of all link directions, cumulative, with the time
 *     flows     that a link direction has carried, with the rule that put them there
 *     set       state, rate, delay, loss, buffer of a link
 *     move      a VIP to another controller
 *     capture   a link's frames as a stream of pcap
 *     captured  how a capture is going
 *     status    name, file, time, scale
 *
 * The requests and answers, member by member: docs/live.md. What is here runs in the datapath's loop and never waits.
 */
#ifndef EMU_LIVE_COMMANDS_H
#define EMU_LIVE_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/live/control.h"
#include "emu/model/units.h"

struct fabric;
struct topo;
struct topo_event;
struct train;
struct train_pool;

/* What the commands need of the datapath. It outlives them. */
struct commands_lab {
    const char *name;        /* of the lab */
    const struct topo *topo; /* as the fabric was built of it: rates and delays of the lab, scaled already */
    struct fabric *fabric;
    struct train_pool *pool; /* the fabric's: captures hold trains until their last frame is written */
    struct ev_loop *loop;    /* for captures */
    double scale;            /* rates of the lab are those of the file times this, delays are divided by it */
    /* Runs the fabric up to the present moment and returns it. Called first for every request. */
    ps_t (*now)(void *context);
    /* Does what the event says, now: in the fabric, and with the addresses in the namespaces. False with a sentence. */
    bool (*apply)(void *context, const struct topo_event *event, char *problem, size_t size);
    /* Real frame `i` of a train of kind TRAIN_DATA, with its present addresses and without tag: its length without FCS; at
     * most `size` of its bytes are in `out`. */
    size_t (*frame)(const struct train *t, uint32_t i, uint8_t *out, size_t size);
    void (*status)(void *context, struct json_out *reply); /* adds members to `status`; may be NULL */
    void *context;
};

struct commands;

struct commands *commands_new(const struct commands_lab *lab); /* copies *lab; NULL on lack of memory */
void commands_free(struct commands *c); /* before the control server's connections; accepts NULL */

/* For control_server_new(), with the struct commands as context. A datapath that has commands of its own asks this for
 * all others. */
bool commands_handle(void *context, struct control_call *call);

/* For fabric_config.tap (every_copy false): counts flows per link direction and feeds the captures. */
void commands_tap(struct commands *c, int linkdir, const struct train *t, ps_t start);

#endif
