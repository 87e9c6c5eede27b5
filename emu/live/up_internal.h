/* Private to a lab's own process: up.c starts it, up_nodes.c makes namespaces and interfaces, up_run.c runs it. */
#ifndef EMU_LIVE_UP_INTERNAL_H
#define EMU_LIVE_UP_INTERNAL_H

#include <ev.h>

#include "emu/live/commands.h"
#include "emu/live/datapath.h"
#include "emu/live/lab.h"
#include "emu/live/nas.h"
#include "emu/live/netns.h"
#include "emu/live/shortage.h"
#include "emu/live/up.h"

struct up_event; /* of the file */

struct up_lab {
    const struct up_options *options;
    struct topo *topo;
    struct lab *lab;
    struct ev_loop *loop;
    struct datapath *datapath;
    struct netns **spaces; /* by box; NULL: none */
    struct nas *nas;
    struct commands *commands;
    struct control_server *control;
    struct datapath_watch watch;
    struct up_event *events;
    bool begun; /* the file's events happen */
    ev_signal terminate, interrupt;
    ev_timer second, look;
    ps_t behind_before; /* as of the last second */
    bool behind_said;
    struct shortage shortage;
    uint64_t unfetched; /* super-frames that devices have dropped, as of `asked` */
    ps_t asked;
    int ready; /* pipe to the process that started us */
};

/* up_nodes.c */
int up_nodes(struct up_lab *u, char *problem, size_t size);
/* Super-frames that the devices of all interfaces have dropped so far because nobody fetched them in time. */
uint64_t up_unfetched(const struct up_lab *u);
/* The VIP's address leaves the controller `from` and comes to `to` (-1: none). 0 or -errno. */
int up_move_address(struct up_lab *u, int vip, int from, int to);
/* A controller forgets the connections of its VIPs. 0 or -errno. */
int up_end_connections(struct up_lab *u, int box);

/* up_run.c: everything from the folder on; returns the exit code of the process. Says "ready" or a sentence in the pipe. */
int up_run(struct up_lab *u);

#endif
