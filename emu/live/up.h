/* Bringing a lab up: `emu up`, and `emu live` for as long as it runs. */
#ifndef EMU_LIVE_UP_H
#define EMU_LIVE_UP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_file;
struct topo;

struct up_options {
    const char *name;      /* of the lab; NULL: by the topology's */
    const char *file;      /* the topology's, for `emu list` */
    const char *case_name; /* or NULL */
    double scale;          /* rates times this, delays divided by it; > 0 */
    uint64_t seed;
    bool frames;    /* --detail frame: no offloads */
    bool no_nas;    /* no NFS servers */
    bool no_events; /* the file's events don't happen by themselves, unless "begin" is asked of the lab: from then on */
    bool rootless;  /* in a user namespace of its own */
    bool storage;   /* that of the file is played, by store.h */
    bool storage_waits;             /* ... from "begin" on, which is asked of the lab; until then it answers at once */
    const struct store_file *files; /* ... of whose files this is known */
    size_t n_files;
    const char *exports; /* folder with the exports; NULL: one of the lab's own */
};

/* Makes namespaces and interfaces, starts datapath and servers in a process of their own, and returns when the lab is ready:
 * 0, or a negative errno with a sentence, and then nothing is left. -EINVAL and -EEXIST: what was asked for can't be. t stays the caller's.
 * `name` (LAB_NAME_MAX + 1 bytes) receives the lab's name. */
int up(const struct up_options *o, struct topo *t, char *name, char *problem, size_t size);

/* The rates and delays of a topology, and of its events, for a network R times as fast. */
void up_scale(struct topo *t, double scale);

/* The name of an interface's device in its namespace: its own where that can be one, at most 15 bytes. */
enum { UP_DEVICE_MAX = 16 };
void up_device_name(const struct topo *t, int iface, char name[UP_DEVICE_MAX]);

/* Puts the caller into a user, mount and network namespace of its own, as its root. 0 or -errno with a sentence. */
int up_rootless(char *problem, size_t size);

#endif
