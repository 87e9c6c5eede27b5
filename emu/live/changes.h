/* Changes of a running lab, read from requests: `set` and `move`.
 *
 * All of a request is read before anything is done, so that one wrong word leaves the lab as it is. Values are written as in
 * the topology file and mean what they mean there: at a scale R the lab gets R times the rate and the delay divided by R.
 */
#ifndef EMU_LIVE_CHANGES_H
#define EMU_LIVE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/topology.h"

struct json_in;

/* A link, as people name it: by one of its ports ("esx1:vmnic2"), or by a direction ("esx1:vmnic2>sw1:ge3"). */
struct change_link {
    int link;
    int from_end; /* of the port named, or the sender of the direction */
    bool directed;
};
/* False with a sentence that names the nearest. */
bool change_find_link(const struct topo *t, const char *text, struct change_link *out, char *problem, size_t size);

enum { CHANGE_EVENTS = 4 };

struct change {
    struct topo_event events[CHANGE_EVENTS]; /* state, rate, delay, loss, where asked for; `at` is left 0 */
    int n_events;
    int link; /* of `buffer` */
    bool has_buffer;
    uint64_t buffer;
};

/* {"link": "esx1:vmnic2", "changes": ["state=down", "rate=500M", "delay=1ms", "loss=0.1%", "buffer=64KiB"]} */
bool change_set(const struct topo *t, double scale, const struct json_in *request, struct change *out, char *problem,
                size_t size);
/* {"vip": "10.10.5.101", "controller": "ctl2", "garp": true} */
bool change_move(const struct topo *t, const struct json_in *request, struct change *out, char *problem, size_t size);

/* "up", "down", "blackhole", "one-way" */
const char *change_state_name(enum topo_link_state state);

#endif
