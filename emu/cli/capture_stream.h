/* needs: full
 * A capture of a live lab into a file or pipe: `emu capture`, and a key of `emu top`.
 *
 * Only whole records are written, so what is there is a valid capture whenever it ends, be it in the middle of a frame.
 */
#ifndef EMU_CLI_CAPTURE_STREAM_H
#define EMU_CLI_CAPTURE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct control_client;

struct capture_stream {
    uint64_t frames, bytes; /* written; bytes as they were on the wire, without FCS */
    uint64_t limit;         /* of frames; 0: none. For the caller to set */
    /* private */
    struct control_client *client;
    uint64_t number;
    char *path;
    int fd;
    bool made, whole; /* the file is ours to cut and remove; its header is through */
    uint64_t length;  /* of the file */
    uint8_t *buffer;
    size_t n;
};

/* Opens the file ("-" is standard output) and asks the lab for the link's frames, of each at most `snap` bytes (0: all). The
 * client is the stream's from now on. False with a sentence; then nothing is left, and the client is still the caller's. */
bool capture_stream_begin(struct capture_stream *s, struct control_client *c, const char *link, uint64_t snap,
                          const char *path, char *problem, size_t size);
int capture_stream_fd(const struct capture_stream *s); /* readable: there is something to pump */

enum capture_going { CAPTURE_GOES_ON, CAPTURE_ENDED /* by the lab, or the limit */, CAPTURE_FAILED };
/* Takes what is there, after waiting for it for at most `timeout_ms` (-1: for ever; a signal ends the wait). */
enum capture_going capture_stream_pump(struct capture_stream *s, int timeout_ms, char *problem, size_t size);

/* How many frames were lost because we read too slowly: asked over another connection. 0 when the lab doesn't say. */
uint64_t capture_stream_lost(const struct capture_stream *s, struct control_client *other);

/* Closes all. False with a sentence when not all could be written; what the file has is whole. Accepts a zeroed one. */
bool capture_stream_end(struct capture_stream *s, char *problem, size_t size);

#endif
