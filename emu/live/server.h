/* One NFS server (nfs-ganesha, NFS 3 and 4) in a network namespace that exists: a controller of a live lab.
 *
 * Several servers may export the same directory: with the same number and order of exports their file handles are the
 * same, and each has its own write verifier, as two controllers of a NAS have. A client that follows a VIP from one to the
 * other keeps its handles and learns that what was not committed is gone.
 *
 * A server is a process tree with a process-ID and a mount namespace of its own; killing its first process (`pid`) takes
 * all of it, and so does the end of the process that started it. It leaves nothing but the files in `dir`.
 */
#ifndef EMU_LIVE_SERVER_H
#define EMU_LIVE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { SERVER_PORT = 2049, SERVER_MOUNT_PORT = 20048, SERVER_EXPORTS_MAX = 1000 };

struct server_export {
    const char *path; /* as clients mount it: "/vol1" */
    char *directory;  /* behind it; NULL: a sink in memory, which forgets what is written and reads as 'a' bytes */
    int tree;         /* > 0: a detached mount that is attached instead of the directory; the caller's, to close */
};

struct server_config {
    const char *name;       /* for messages: "fs7500:ctl1" */
    const char *netns_path; /* "/run/netns/emu-lab-fs7500.ctl1", "/proc/1234/ns/net" */
    const char *dir;        /* exists; gets ganesha.conf and ganesha.log */
    const char *lab;        /* value of EMU_LAB in the environment, or NULL */
    const struct server_export *exports;
    size_t n_exports;
};

struct server {
    pid_t pid;  /* of its first process; 0: none */
    int pidfd;  /* readable once it has ended; -1: none */
    int status; /* pipe of what it says, for poll(): server_check() reads it; -1: none */
    bool ready;
    const char *name;
    char said[256]; /* private */
    size_t n_said;
};
#define SERVER_NONE ((struct server){.pidfd = -1, .status = -1})

/* NULL when nfs-ganesha and rpcbind are installed, else a sentence that says what is missing. */
const char *server_missing(void);

/* Writes the configuration and starts; ready is what server_check() or server_wait() say. 0, or a negative errno with a
 * sentence in `problem`, and then nothing runs. `c->name` must outlive the server. */
int server_start(struct server *s, const struct server_config *c, char *problem, size_t size);

/* 1: it serves. 0: not yet. Negative errno, with a sentence: it could not, or it has ended since. Never blocks. */
int server_check(struct server *s, char *problem, size_t size);
/* The same, but waits; -ETIMEDOUT after so many milliseconds. */
int server_wait(struct server *s, int milliseconds, char *problem, size_t size);

/* Ends it as a loss of power does, and returns at once: pidfd is readable when all of it is gone. Then server_stop(). Accepts a
 * server that doesn't run. */
void server_kill(struct server *s);
/* Asks it to end, and returns at once; several can end side by side. Accepts a server that doesn't run. */
void server_stop_begin(struct server *s);
/* Waits for its end, a second, then kills it. Afterwards *s is SERVER_NONE. */
void server_stop(struct server *s);

#endif
