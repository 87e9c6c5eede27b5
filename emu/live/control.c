/* The lab's side of the control socket.
 *
 * One struct control_connection per peer with two buffers. As long as something waits to be sent nothing is read, so a peer
 * that asks without listening holds up itself and nobody else. A connection is freed in one place, connection_free(), and
 * never while the handler runs on it.
 *
 * A Unix address holds 108 bytes and a lab's folder may lie deeper: the folder is opened and the socket named relative to it,
 * by way of /proc/self/fd.
 */
#define _GNU_SOURCE /* accept4() */
#include "emu/live/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <ev.h>

#include "emu/live/control_address.h"
#include "emu/report/json.h"

enum {
    REQUEST_MAX = 64 * 1024,
    STREAM_MAX = 8 * 1024 * 1024,
    CONNECTIONS_MAX = 64,
    BACKLOG = 16,
};

struct control_connection {
    struct control_connection *next, **link;
    struct control_server *server;
    ev_io readable, writable;
    int fd;
    char *in; /* REQUEST_MAX bytes */
    size_t n_in;
    char *out;
    size_t out_at, n_out, out_size; /* out[out_at .. n_out-1] waits */
    bool streaming;                 /* or about to be, once the answer is out */
    bool ending;                    /* closes when all is sent */
    void (*closed)(void *owner);
    void *owner;
};

struct control_server {
    struct ev_loop *loop;
    ev_io acceptable;
    int fd;
    char *path;
    control_handler *handler;
    void *context;
    struct control_connection *connections;
    unsigned n_connections;
};

static void connection_free(struct control_connection *c)
{
    struct control_server *s = c->server;

    ev_io_stop(s->loop, &c->readable);
    ev_io_stop(s->loop, &c->writable);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    if (s->n_connections-- == CONNECTIONS_MAX)
        ev_io_start(s->loop, &s->acceptable);
    close(c->fd);
    if (c->closed && !c->ending)
        c->closed(c->owner);
    free(c->in);
    free(c->out);
    free(c);
}

/* ---- sending ---- */

static bool append(struct control_connection *c, const void *bytes, size_t n)
{
    if (c->out_at == c->n_out) {
        c->out_at = c->n_out = 0;
    } else if (c->n_out + n > c->out_size && c->out_at >= c->n_out / 2) {
        memmove(c->out, c->out + c->out_at, c->n_out - c->out_at);
        c->n_out -= c->out_at;
        c->out_at = 0;
    }
    if (c->n_out + n > c->out_size) {
        size_t size = c->out_size ? c->out_size : 4096;
        char *out;

        while (size < c->n_out + n)
            size *= 2;
        out = realloc(c->out, size);
        if (!out)
            return false;
        c->out = out;
        c->out_size = size;
    }
    memcpy(c->out + c->n_out, bytes, n);
    c->n_out += n;
    return true;
}

/* Sends what the socket takes. False: the peer is gone. */
static bool flush(struct control_connection *c)
{
    while (c->out_at < c->n_out) {
        ssize_t n = send(c->fd, c->out + c->out_at, c->n_out - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK;
        c->out_at += (size_t)n;
    }
    return true;
}

/* Which of the two watchers is on follows from what waits. */
static void watch(struct control_connection *c)
{
    struct ev_loop *loop = c->server->loop;
    bool waits = c->out_at < c->n_out;

    if (waits)
        ev_io_start(loop, &c->writable);
    else
        ev_io_stop(loop, &c->writable);
    if (!c->ending && (!waits || c->streaming))
        ev_io_start(loop, &c->readable);
    else
        ev_io_stop(loop, &c->readable);
}

/* ---- answering ---- */

static void close_all(struct json_out *j)
{
    while (j->depth)
        json_out_end(j);
}

/* {"ok": false, "error": ...} */
static bool refuse(struct control_connection *c, const char *problem)
{
    char *text = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&text, &n);
    struct json_out j;
    bool ok;

    if (!file)
        return false;
    json_out_init(&j, file);
    json_out_object(&j, NULL, JSON_ON_ONE_LINE);
    json_out_bool(&j, "ok", false);
    json_out_string(&j, "error", problem);
    close_all(&j);
    ok = fclose(file) == 0 && append(c, text, n);
    free(text);
    return ok;
}

static bool answer_request(struct control_connection *c, const struct json_in *request)
{
    struct control_server *s = c->server;
    struct control_call call = {.request = request, .connection = c};
    struct json_out j;
    char *text = NULL;
    size_t n = 0;
    FILE *file;
    bool ok, done;

    call.what = json_in_text(json_in_member(request, "do"));
    if (!call.what)
        return refuse(c, "a request is one line with an object that has a text \"do\"");
    file = open_memstream(&text, &n);
    if (!file)
        return false;
    json_out_init(&j, file);
    json_out_object(&j, NULL, JSON_ON_ONE_LINE);
    json_out_bool(&j, "ok", true);
    call.reply = &j;
    snprintf(call.problem, sizeof call.problem, "%s failed", call.what);
    ok = s->handler(s->context, &call);
    close_all(&j);
    done = fclose(file) == 0;
    done = done && (ok ? append(c, text, n) : refuse(c, call.problem));
    free(text);
    return done;
}

/* Answers the request in line[0 .. n-1]. False: no memory. */
static bool answer(struct control_connection *c, const char *line, size_t n)
{
    char problem[256], sentence[300];
    struct json_in *request = json_in_parse(line, n, problem, sizeof problem);
    bool ok;

    if (request) {
        ok = answer_request(c, request);
    } else {
        snprintf(sentence, sizeof sentence, "no JSON: %s", problem);
        ok = refuse(c, sentence);
    }
    json_in_free(request);
    return ok;
}

/* Answers the requests that are in, one after the other, as long as the answers go out. False: close it. */
static bool serve(struct control_connection *c)
{
    while (c->out_at == c->n_out && !c->streaming) {
        char *end = memchr(c->in, '\n', c->n_in);
        size_t n;

        if (!end) {
            if (c->n_in < REQUEST_MAX)
                return true;
            c->ending = true; /* what follows can't be told from a request */
            return refuse(c, "a request is 64 KiB at most") && flush(c);
        }
        n = (size_t)(end - c->in);
        if (!answer(c, c->in, n))
            return false;
        c->n_in -= n + 1;
        memmove(c->in, end + 1, c->n_in);
        if (!flush(c))
            return false;
    }
    return true;
}

static void go_on(struct control_connection *c)
{
    if (!flush(c) || !serve(c) || (c->ending && c->out_at == c->n_out))
        connection_free(c);
    else
        watch(c);
}

static void on_readable(struct ev_loop *loop, ev_io *w, int events)
{
    struct control_connection *c = w->data;
    char dropped[4096];
    ssize_t n;

    (void)loop;
    (void)events;
    if (c->streaming)
        n = recv(c->fd, dropped, sizeof dropped, MSG_DONTWAIT);
    else
        n = recv(c->fd, c->in + c->n_in, REQUEST_MAX - c->n_in, MSG_DONTWAIT);
    if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
        return;
    if (n <= 0) {
        connection_free(c);
        return;
    }
    if (!c->streaming)
        c->n_in += (size_t)n;
    go_on(c);
}

static void on_writable(struct ev_loop *loop, ev_io *w, int events)
{
    (void)loop;
    (void)events;
    go_on(w->data);
}

/* ---- streams ---- */

void control_stream_begin(struct control_connection *c, void (*closed)(void *owner), void *owner)
{
    c->streaming = true;
    c->closed = closed;
    c->owner = owner;
}

size_t control_stream_room(const struct control_connection *c)
{
    size_t waits = c->n_out - c->out_at;

    return waits < STREAM_MAX ? STREAM_MAX - waits : 0;
}

bool control_stream_write(struct control_connection *c, const void *bytes, size_t n)
{
    bool idle = c->out_at == c->n_out;

    if (n > control_stream_room(c) || !append(c, bytes, n))
        return false;
    if (idle) /* the loop sends: once for all that is written until then */
        ev_io_start(c->server->loop, &c->writable);
    return true;
}

void control_stream_end(struct control_connection *c)
{
    c->ending = true;
    if (!flush(c) || c->out_at == c->n_out)
        connection_free(c);
    else
        watch(c);
}

/* ---- the socket ---- */

static void on_acceptable(struct ev_loop *loop, ev_io *w, int events)
{
    struct control_server *s = w->data;
    struct control_connection *c;
    int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    (void)events;
    if (fd < 0)
        return;
    c = calloc(1, sizeof *c);
    if (c)
        c->in = malloc(REQUEST_MAX);
    if (!c || !c->in) {
        free(c);
        close(fd);
        return;
    }
    c->fd = fd;
    c->server = s;
    c->next = s->connections;
    c->link = &s->connections;
    if (c->next)
        c->next->link = &c->next;
    s->connections = c;
    if (++s->n_connections == CONNECTIONS_MAX)
        ev_io_stop(loop, &s->acceptable);
    ev_io_init(&c->readable, on_readable, fd, EV_READ);
    ev_io_init(&c->writable, on_writable, fd, EV_WRITE);
    c->readable.data = c->writable.data = c;
    ev_io_start(loop, &c->readable);
}

/* Binds the socket to its name, in place of one on which nobody listens. */
static int bind_socket(int fd, const char *path)
{
    struct control_address a;
    int error = control_address(&a, path), other;

    if (error)
        return error;
    if (bind(fd, (const struct sockaddr *)&a.address, sizeof a.address) == 0)
        goto out;
    error = -errno;
    if (error != -EADDRINUSE)
        goto out;
    other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (other < 0) {
        error = -errno;
    } else if (connect(other, (const struct sockaddr *)&a.address, sizeof a.address) < 0 && errno == ECONNREFUSED) {
        error = 0;
        if (unlink(path) < 0 || bind(fd, (const struct sockaddr *)&a.address, sizeof a.address) < 0)
            error = -errno;
    }
    if (other >= 0)
        close(other);
out:
    control_address_close(&a);
    return error;
}

int control_server_new(struct control_server **out, struct ev_loop *loop, const char *path, control_handler *handler,
                       void *context)
{
    struct control_server *s = calloc(1, sizeof *s);
    int error = -ENOMEM;

    *out = NULL;
    if (!s)
        return error;
    s->loop = loop;
    s->handler = handler;
    s->context = context;
    s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    s->path = strdup(path);
    if (s->fd < 0) {
        error = -errno;
        goto fail;
    }
    if (!s->path)
        goto fail;
    if (fchmod(s->fd, S_IRUSR | S_IWUSR) < 0) { /* the name gets the socket's mode */
        error = -errno;
        goto fail;
    }
    error = bind_socket(s->fd, path);
    if (error)
        goto fail;
    if (listen(s->fd, BACKLOG) < 0) {
        error = -errno;
        unlink(path);
        goto fail;
    }
    ev_io_init(&s->acceptable, on_acceptable, s->fd, EV_READ);
    s->acceptable.data = s;
    ev_io_start(loop, &s->acceptable);
    *out = s;
    return 0;
fail:
    if (s->fd >= 0)
        close(s->fd);
    free(s->path);
    free(s);
    return error;
}

void control_server_free(struct control_server *s)
{
    if (!s)
        return;
    ev_io_stop(s->loop, &s->acceptable);
    unlink(s->path);
    for (struct control_connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        (void)flush(c);
        connection_free(c);
    }
    ev_io_stop(s->loop, &s->acceptable); /* a full server starts it again when it has room */
    close(s->fd);
    free(s->path);
    free(s);
}
