/* Any bytes as the reply to any call: decoded or refused, within bounds, and what is told keeps what nfs3.h promises.
 * Input: a byte that chooses the procedure (its top bit: the bytes begin with RPC's header), then the reply.
 * needs: full */
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nfsbal/client/nfs3.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ASKED = 4096, XID = 7 };

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static volatile unsigned sink;

static void touch(const void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sink += ((const uint8_t *)p)[i];
}

static void touch_entries(const struct nfs3_result *r)
{
    for (size_t i = 0; i < r->n_entries; i++) {
        const struct nfs3_entry *e = &r->entries[i];
        size_t n = strlen(e->name);

        demand(n >= 1 && n <= NFS3_NAME_MAX && !strchr(e->name, '/'));
        if (e->fh)
            demand(e->fh->size >= 1 && e->fh->size <= NFS3_HANDLE_MAX);
        if (e->attr)
            demand(e->attr->type >= NFS3_REG && e->attr->type <= NFS3_FIFO);
    }
}

static void done(void *arg, const struct nfs3_result *r)
{
    unsigned *answers = arg;

    (*answers)++;
    if (r->problem)
        touch(r->problem, strlen(r->problem));
    if (r->status != NFS3_SUCCESS)
        return;
    if (r->procedure == NFS3_READ || r->procedure == NFS3_WRITE)
        demand(r->count <= ASKED);
    if (r->procedure == NFS3_READ)
        touch(r->data, r->count);
    if (r->fh) {
        demand(r->fh->size >= 1 && r->fh->size <= NFS3_HANDLE_MAX);
        touch(r->fh, sizeof *r->fh);
    }
    if (r->attr)
        touch(r->attr, sizeof *r->attr);
    if (r->target)
        touch(r->target, strlen(r->target));
    touch_entries(r);
    for (size_t i = 0; i < r->n_exports; i++)
        touch(r->exports[i], strlen(r->exports[i]));
}

/* The record as the server would send it. */
static size_t make_record(uint8_t *out, const uint8_t *data, size_t size, bool whole)
{
    static const uint8_t head[24] = {[3] = XID, [7] = 1};
    size_t n = 4 + (whole ? 4 : sizeof head) + size, body = n - 4;

    out[0] = 0x80;
    out[1] = (uint8_t)(body >> 16);
    out[2] = (uint8_t)(body >> 8);
    out[3] = (uint8_t)body;
    memcpy(out + 4, head, whole ? 4 : sizeof head);
    memcpy(out + n - size, data, size);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct nfs3_credential nobody = {.uid = 65534, .gid = 65534};
    static uint8_t record[70000];
    struct nfs3_call call = {.fh = {.size = 4},
                             .fh2 = {.size = 4},
                             .name = "n",
                             .name2 = "m",
                             .target = "t",
                             .count = ASKED,
                             .max_count = ASKED,
                             .data = record,
                             .type = NFS3_FIFO};
    unsigned answers = 0;
    int fds[2];
    struct nfs3 *n;

    if (size < 1 || size > 60000)
        return 0;
    call.procedure = (enum nfs3_procedure)((data[0] & 0x7f) % NFS3_CALLS);
    demand(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    n = nfs3_new(fds[0], &nobody, XID);
    demand(n != NULL);
    if (nfs3_send(n, &call, done, &answers) == 0) {
        size_t length = make_record(record, data + 1, size - 1, data[0] & 0x80);

        nfs3_service(n, POLLOUT);
        demand(write(fds[1], record, length) == (ssize_t)length);
        nfs3_service(n, POLLIN);
        nfs3_free(n);
        demand(answers == 1);
    } else {
        nfs3_free(n);
    }
    close(fds[1]);
    return 0;
}
