/* The control socket of a mount: a request is one line of words, the answer "ok" or "error: why" on a line and then text.
 *
 * A mount's socket is called by its device number, as the kernel's table of mounts has it, so a mount whose servers are gone is
 * found without touching it. Sockets are in /run/nfsbal for root's mounts, in $XDG_RUNTIME_DIR/nfsbal (or
 * /tmp/nfsbal-UID) for others'.
 */
#ifndef NFSBAL_CLIENT_CONTROL_H
#define NFSBAL_CLIENT_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct control;
struct loop;

/* Handles a request; writes the text that follows "ok". False: `problem` says why not. */
typedef bool control_handler(void *context, char *request, FILE *out, char *problem, size_t size);

/* Listens. NULL with a sentence in `problem`. */
struct control *control_listen(struct loop *l, uint64_t device, control_handler *handle, void *context, char *problem,
                               size_t size);
void control_close(struct control *c); /* accepts NULL */

/* The other end: asks the mount at `directory` and copies the text to `out`. False with a sentence in `problem`. Waits at most
 * ten seconds for each piece of the answer. */
bool control_ask(const char *directory, const char *request, FILE *out, char *problem, size_t size);

/* The device of the mount at `directory` and its type ("fuse.nfsbal"), from the kernel's table. False: nothing is mounted
 * there. */
bool control_find(const char *directory, uint64_t *device, char *type, size_t type_size);

/* Waits until the mount's process has let go of its socket, which it does when everything is on the server. False: not within
 * `seconds`. */
bool control_wait_gone(uint64_t device, int64_t seconds);

#endif
