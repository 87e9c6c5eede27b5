/* needs: full */
#include "emu/cli/capture_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/live/control.h"
#include "emu/report/json.h"

enum { TIMEOUT_MS = 10000, BUFFER = 1 << 20, FILE_HEADER = 24, RECORD_HEADER = 16, RECORD_MAX = 1 << 19 };

bool capture_stream_begin(struct capture_stream *s, struct control_client *c, const char *link, uint64_t snap,
                          const char *path, char *problem, size_t size)
{
    struct json_out *request;
    struct json_in *reply = NULL;
    struct stat st;

    *s = (struct capture_stream){.fd = -1, .path = strdup(path), .buffer = malloc(BUFFER)};
    snprintf(problem, size, "out of memory");
    if (!s->path || !s->buffer)
        goto fail;
    request = control_begin(c, "capture");
    json_out_string(request, "link", link);
    if (snap)
        json_out_count(request, "snap", snap);
    reply = control_ask(c, TIMEOUT_MS, problem, size);
    if (!reply)
        goto fail;
    json_in_count(json_in_member(reply, "capture"), &s->number);
    json_in_free(reply);
    if (strcmp(path, "-") == 0) {
        s->fd = STDOUT_FILENO;
    } else {
        s->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        s->made = s->fd >= 0;
        if (s->fd < 0 && errno == EEXIST) {
            s->fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
            s->made = s->fd >= 0 && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode); /* as good as new */
        }
        if (s->fd < 0) {
            snprintf(problem, size, "%s: %s", path, strerror(errno));
            goto fail;
        }
    }
    s->client = c;
    return true;
fail:
    free(s->path);
    free(s->buffer);
    *s = (struct capture_stream){.fd = -1};
    return false;
}

int capture_stream_fd(const struct capture_stream *s) { return control_fd(s->client); }

static bool write_all(struct capture_stream *s, size_t n, char *problem, size_t size)
{
    size_t at = 0;

    while (at < n) {
        ssize_t w = write(s->fd, s->buffer + at, n - at);

        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0) {
            snprintf(problem, size, "%s: %s", s->fd == STDOUT_FILENO ? "writing standard output" : s->path,
                     strerror(errno));
            if (s->made && ftruncate(s->fd, (off_t)s->length) < 0) /* whole records only */
                snprintf(problem, size, "%s: %s; its last frame is cut off", s->path, strerror(errno));
            return false;
        }
        at += (size_t)w;
    }
    s->length += n;
    memmove(s->buffer, s->buffer + n, s->n - n);
    s->n -= n;
    return true;
}

/* Bytes of whole records at the start of the buffer, counted; SIZE_MAX: these are none. */
static size_t whole_records(struct capture_stream *s)
{
    size_t at = 0;

    if (!s->whole) {
        if (s->n < FILE_HEADER)
            return 0;
        at = FILE_HEADER;
        s->whole = true;
    }
    while (s->n - at >= RECORD_HEADER && (s->limit == 0 || s->frames < s->limit)) {
        uint32_t header[4];

        memcpy(header, s->buffer + at, sizeof header);
        if (header[2] > RECORD_MAX)
            return SIZE_MAX;
        if (s->n - at - RECORD_HEADER < header[2])
            break;
        at += RECORD_HEADER + header[2];
        s->frames++;
        s->bytes += header[3];
    }
    return at;
}

enum capture_going capture_stream_pump(struct capture_stream *s, int timeout_ms, char *problem, size_t size)
{
    ssize_t got = control_read(s->client, s->buffer + s->n, BUFFER - s->n, timeout_ms);
    size_t n;

    if (got == -EAGAIN || got == -EINTR)
        return CAPTURE_GOES_ON;
    if (got == 0)
        return CAPTURE_ENDED;
    if (got < 0) {
        snprintf(problem, size, "reading from the lab: %s", strerror((int)-got));
        return CAPTURE_FAILED;
    }
    s->n += (size_t)got;
    n = whole_records(s);
    if (n == SIZE_MAX) {
        snprintf(problem, size, "what the lab sends is no capture");
        return CAPTURE_FAILED;
    }
    if (!write_all(s, n, problem, size))
        return CAPTURE_FAILED;
    return s->limit && s->frames >= s->limit ? CAPTURE_ENDED : CAPTURE_GOES_ON;
}

uint64_t capture_stream_lost(const struct capture_stream *s, struct control_client *other)
{
    char problem[256];
    struct json_in *reply;
    uint64_t lost = 0;

    json_out_count(control_begin(other, "captured"), "capture", s->number);
    reply = control_ask(other, TIMEOUT_MS, problem, sizeof problem);
    json_in_count(json_in_member(reply, "lost"), &lost);
    json_in_free(reply);
    return lost;
}

bool capture_stream_end(struct capture_stream *s, char *problem, size_t size)
{
    bool ok = true;

    if (s->path && s->fd != STDOUT_FILENO) {
        ok = close(s->fd) == 0;
        if (!ok)
            snprintf(problem, size, "%s: %s", s->path, strerror(errno));
        if (s->made && s->length == 0)
            unlink(s->path);
    }
    if (s->path)
        control_disconnect(s->client);
    free(s->path);
    free(s->buffer);
    *s = (struct capture_stream){.fd = -1};
    return ok;
}
