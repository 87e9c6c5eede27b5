/* The NFS servers of a live lab: one per NAS controller, all of a NAS over the same folders.
 *
 * The exports of a NAS are the folders EXPORTS/NAS/PATH. They are made where they are missing, and never removed: what a
 * lab made for itself goes with its own folder. Where a storage is to be played its process stands between servers and folders
 * (store.h), one for each NAS that has one. Beside them each controller serves NAS_SINK, a sink in memory, unless the file
 * has an export of that name.
 */
#ifndef EMU_LIVE_NAS_H
#define EMU_LIVE_NAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAS_SINK "/sink"

struct ev_loop;
struct lab;
struct store_file;
struct nas;
struct topo;

struct nas_config {
    const struct topo *topo;
    struct lab *lab;     /* its nodes get the servers' pids and starts */
    const char *exports; /* a folder that is there */
    bool storage;        /* that of the file is played, */
    double rate;         /* so many times as fast as the clock on the wall, */
    uint64_t seed;
    const struct store_file *files; /* ... and this is known of its files */
    size_t n_files;
    /* Optional: a server has ended by itself. Called from the loop, at most once per controller. */
    struct ev_loop *loop;
    void (*ended)(void *context, int box, const char *problem);
    void *context;
};

/* NULL when the exports can be served and everything is installed, else a sentence (in `problem`). Does nothing. */
const char *nas_refuses(const struct topo *t, char *problem, size_t size);

/* Starts all servers and waits until all serve. 0, or a negative errno with a sentence, and then none runs. */
int nas_start(struct nas **out, const struct nas_config *c, char *problem, size_t size);
/* A controller loses its power: its server is killed on the spot, and that is nobody's news. Or it gets it back: the server
 * starts again and serves a moment later; `ended` says when it can't. Doesn't wait. Accepts NULL, and boxes without a server. */
void nas_power(struct nas *n, int box, bool on);
/* Storages take their time from now on; see store_begin(). Accepts NULL. */
void nas_begin(struct nas *n);
/* Ends them, side by side. Accepts NULL. */
void nas_stop(struct nas *n);

/* The folder behind an export, in memory of the caller's; NULL on lack of memory. */
char *nas_folder(const struct topo *t, int export_, const char *exports);

#endif
