/* The asking side of the control socket. */
#include "emu/live/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "emu/live/control_address.h"
#include "emu/report/json.h"

enum { REPLY_MAX = 256 * 1024 * 1024 };

struct control_client {
    int fd;
    struct json_out json;
    FILE *file; /* of the request being written, or NULL */
    char *text;
    size_t n_text;
    char *in; /* of the stream, beyond the last answer */
    size_t in_at, n_in, in_size;
    bool refused;
};

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int control_connect(struct control_client **out, const char *path)
{
    struct control_address a;
    struct control_client *c = calloc(1, sizeof *c);
    int error;

    *out = NULL;
    if (!c)
        return -ENOMEM;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        error = -errno;
        free(c);
        return error;
    }
    error = control_address(&a, path);
    if (!error && connect(c->fd, (const struct sockaddr *)&a.address, sizeof a.address) < 0)
        error = -errno;
    control_address_close(&a);
    if (!error && fcntl(c->fd, F_SETFL, O_NONBLOCK) < 0)
        error = -errno;
    if (error) {
        control_disconnect(c);
        return error;
    }
    *out = c;
    return 0;
}

void control_disconnect(struct control_client *c)
{
    if (!c)
        return;
    if (c->file)
        fclose(c->file);
    close(c->fd);
    free(c->text);
    free(c->in);
    free(c);
}

struct json_out *control_begin(struct control_client *c, const char *what)
{
    if (c->file)
        fclose(c->file);
    free(c->text);
    c->text = NULL;
    c->n_text = 0;
    c->file = open_memstream(&c->text, &c->n_text);
    if (!c->file)
        abort(); /* 8 KiB are gone: as everywhere that a message can't be told */
    json_out_init(&c->json, c->file);
    json_out_object(&c->json, NULL, JSON_ON_ONE_LINE);
    json_out_string(&c->json, "do", what);
    return &c->json;
}

/* 0 when the socket is ready, -EAGAIN when the time is over (deadline < 0: never), -EINTR, or another -errno. */
static int wait_for(struct control_client *c, short events, int64_t deadline)
{
    struct pollfd p = {.fd = c->fd, .events = events};
    int64_t left = deadline < 0 ? -1 : deadline - now_ms();
    int n;

    if (deadline >= 0 && left < 0)
        left = 0;
    n = poll(&p, 1, (int)left);
    return n < 0 ? -errno : n == 0 ? -EAGAIN : 0;
}

static int send_all(struct control_client *c, int64_t deadline)
{
    size_t at = 0;

    while (at < c->n_text) {
        ssize_t n = send(c->fd, c->text + at, c->n_text - at, MSG_NOSIGNAL);
        int error = n < 0 ? -errno : 0;

        if (error == -EAGAIN)
            error = wait_for(c, POLLOUT, deadline);
        else if (n > 0)
            at += (size_t)n;
        if (error && error != -EINTR)
            return error;
    }
    return 0;
}

/* More bytes into `in`: their number, 0 at the end, or -errno. */
static ssize_t fill(struct control_client *c)
{
    ssize_t n;

    if (c->in_at) {
        memmove(c->in, c->in + c->in_at, c->n_in - c->in_at);
        c->n_in -= c->in_at;
        c->in_at = 0;
    }
    if (c->n_in == c->in_size) {
        size_t size = c->in_size ? 2 * c->in_size : 64 * 1024;
        char *in = size <= REPLY_MAX ? realloc(c->in, size) : NULL;

        if (!in)
            return size <= REPLY_MAX ? -ENOMEM : -EMSGSIZE;
        c->in = in;
        c->in_size = size;
    }
    n = recv(c->fd, c->in + c->n_in, c->in_size - c->n_in, 0);
    if (n < 0)
        return -errno;
    c->n_in += (size_t)n;
    return n;
}

/* The next line: its length, from in_at on; or -errno, -ECONNRESET at the end. */
static ssize_t read_line(struct control_client *c, int64_t deadline)
{
    size_t looked = 0;

    for (;;) {
        const char *end = NULL;
        ssize_t n;

        if (c->n_in - c->in_at > looked)
            end = memchr(c->in + c->in_at + looked, '\n', c->n_in - c->in_at - looked);
        if (end)
            return end - (c->in + c->in_at);
        looked = c->n_in - c->in_at;
        n = fill(c);
        if (n == 0)
            return -ECONNRESET;
        if (n == -EAGAIN)
            n = wait_for(c, POLLIN, deadline);
        if (n < 0 && n != -EINTR)
            return n;
    }
}

static const char *reason(int error)
{
    switch (error) {
    case -EAGAIN:
        return "the lab doesn't answer";
    case -EPIPE:
    case -ECONNRESET:
        return "the lab has gone away";
    default:
        return strerror(-error);
    }
}

struct json_in *control_ask(struct control_client *c, int timeout_ms, char *problem, size_t size)
{
    int64_t deadline = now_ms() + timeout_ms;
    struct json_in *reply = NULL;
    const char *error;
    ssize_t n;

    c->refused = false;
    while (c->json.depth)
        json_out_end(&c->json);
    n = fclose(c->file) == 0 ? send_all(c, deadline) : -ENOMEM;
    c->file = NULL;
    if (n == 0)
        n = read_line(c, deadline);
    if (n < 0) {
        snprintf(problem, size, "%s", reason((int)n));
        return NULL;
    }
    reply = json_in_parse(c->in + c->in_at, (size_t)n, problem, size);
    c->in_at += (size_t)n + 1;
    if (!reply)
        return NULL;
    if (json_in_true(json_in_member(reply, "ok")))
        return reply;
    error = json_in_text(json_in_member(reply, "error"));
    snprintf(problem, size, "%s", error ? error : "the lab refuses without a reason");
    c->refused = true;
    json_in_free(reply);
    return NULL;
}

bool control_refused(const struct control_client *c) { return c->refused; }

ssize_t control_read(struct control_client *c, void *bytes, size_t size, int timeout_ms)
{
    ssize_t n;

    if (c->in_at < c->n_in) {
        size_t had = c->n_in - c->in_at < size ? c->n_in - c->in_at : size;

        memcpy(bytes, c->in + c->in_at, had);
        c->in_at += had;
        return (ssize_t)had;
    }
    n = recv(c->fd, bytes, size, 0);
    if (n < 0 && errno == EAGAIN) {
        int error = wait_for(c, POLLIN, timeout_ms < 0 ? -1 : now_ms() + timeout_ms);

        if (error)
            return error;
        n = recv(c->fd, bytes, size, 0);
    }
    return n < 0 ? -errno : n;
}

int control_fd(const struct control_client *c) { return c->fd; }
