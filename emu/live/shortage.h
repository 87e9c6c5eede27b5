/* Whether programs in a lab get the processor time that the rates of its links need. The datapath may be on time and its links still
 * carry less than they could, because those who send and receive can't do more.
 *
 * Time is short when no processor time was left in it, on the machine or for the datapath's one thread, while frames flowed and no
 * link was full. A link that is full has got what it is due, however busy the machine.
 */
#ifndef EMU_LIVE_SHORTAGE_H
#define EMU_LIVE_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/units.h"

struct fabric;
struct topo;

/* Of the time between two looks, shares of 1. */
struct shortage_look {
    double idle;    /* of the machine's processor time */
    double own;     /* the datapath's thread, of one processor */
    double fullest; /* link direction, of its rate */
};
bool shortage_is(const struct shortage_look *l);

struct shortage {
    uint64_t *bytes;    /* per link direction, at the last look */
    uint64_t idle, all; /* ticks of the machine */
    ps_t own, at;       /* times at the last look, */
    bool in_use;        /* at which frames flowed */
    ps_t pending;       /* was short, if frames flow at the next one too */
    ps_t time;          /* readable: what was short, added up */
};

bool shortage_init(struct shortage *s, const struct topo *t); /* false: no memory */
/* To be called every SHORTAGE_EVERY seconds or so. */
#define SHORTAGE_EVERY 0.25
void shortage_look(struct shortage *s, const struct topo *t, const struct fabric *f, ps_t now);
void shortage_free(struct shortage *s);

#endif
