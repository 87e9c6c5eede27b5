/* The control socket of a running lab: a Unix socket on which one line of JSON asks and one line answers.
 *
 *     {"do": "set", "link": "esx1:vmnic2", "state": "down"}
 *     {"ok": true}                       or  {"ok": false, "error": "there is no port `esx1:vmnic9`; ..."}
 *
 * Several requests may follow one another on a connection; they are answered in order. A request may turn its connection
 * into a stream: after the line of the answer come bytes (a capture) until one side closes it. The lab reads nothing from
 * the connection of a stream but its end.
 *
 * The server lives in the datapath's loop and never blocks it: a peer that doesn't read is not read from, and a stream that
 * doesn't drain loses what comes (its owner counts). The client blocks, with a time-out.
 */
#ifndef EMU_LIVE_CONTROL_H
#define EMU_LIVE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ev_loop;
struct json_in;
struct json_out;

/* ---- the lab's side ---- */

struct control_server;
struct control_connection;

struct control_call {
    const char *what;              /* the request's "do" */
    const struct json_in *request; /* gone after the handler's return, with all its texts */
    struct json_out *reply;        /* an open object that has "ok": true: members go here; left open */
    char problem[512];             /* a sentence, when the handler returns false */
    struct control_connection *connection;
};
/* Answers one request. False: it is refused with the sentence in call->problem, and what stands in the reply is dropped. */
typedef bool control_handler(void *context, struct control_call *call);

/* Listens at `path`, for the user of the process alone (mode 0600). A socket there on which nobody listens is replaced; one
 * that is alive gives -EADDRINUSE. Other failures: -errno. `path` may be longer than a socket address. */
int control_server_new(struct control_server **out, struct ev_loop *loop, const char *path, control_handler *handler,
                       void *context);
/* Sends what it can without waiting, closes every connection and removes the socket. Accepts NULL. */
void control_server_free(struct control_server *s);

/* From within a handler that returns true: the connection becomes a stream once the answer is sent. `closed` is called when
 * the peer is gone, or the server is freed; the stream must not be used afterwards. */
void control_stream_begin(struct control_connection *c, void (*closed)(void *owner), void *owner);
/* Bytes that may be written now without growing beyond the stream's limit (8 MiB). */
size_t control_stream_room(const struct control_connection *c);
/* Appends to the stream. False, and nothing is written, when there is no room. */
bool control_stream_write(struct control_connection *c, const void *bytes, size_t n);
/* Sends what is left, then closes; `closed` isn't called. */
void control_stream_end(struct control_connection *c);

/* ---- the other side: `emu top`, `emu set` ... ---- */

struct control_client;

/* 0 or -errno: -ENOENT and -ECONNREFUSED mean that no lab is listening. */
int control_connect(struct control_client **out, const char *path);
void control_disconnect(struct control_client *c); /* accepts NULL */

/* Starts a request: an open object with its "do", to which members may be added. Belongs to the client. */
struct json_out *control_begin(struct control_client *c, const char *what);
/* Sends it and waits up to `timeout_ms` for the answer: the whole reply, which the caller frees with json_in_free(). NULL with
 * a sentence in `problem` when the lab refuses, does not answer in time or is gone. */
struct json_in *control_ask(struct control_client *c, int timeout_ms, char *problem, size_t size);
bool control_refused(const struct control_client *c); /* the last NULL was the lab's own answer */

/* Of a stream: up to `size` bytes, 0 at its end, -EAGAIN after `timeout_ms` without any (-1: waits for ever), -EINTR after a
 * signal, else -errno. */
ssize_t control_read(struct control_client *c, void *bytes, size_t size, int timeout_ms);
int control_fd(const struct control_client *c); /* for poll() */

#endif
