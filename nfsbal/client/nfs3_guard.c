/* Bounds for libnfs's decoder.
 *
 * libnfs 4.0.0 adds a length from the wire to its position in 32 bits and compares the sum: a length of 0x7ffffff0 passes.
 * One READDIRPLUS reply with such a handle ends the process; it also recurses once per entry, however many a server sends.
 * Its XDR routines call each other through the dynamic symbol table, so a definition in the program comes first. These
 * look at the length against what is left of the record and then let libnfs go on; a lie becomes an ordinary decoding
 * error. Later versions check for themselves and lose nothing by it.
 *
 * The head of a reply is looked at as a whole: libnfs takes one that says it is a call for an answer, with fields of a union that
 * it didn't read, and forgets without a word to the caller a call that was denied for an unknown reason. A reply to a call that
 * was never made it drops in silence, and then the call that it was the answer to has none for ever. It reads the number of each
 * record's call as the record's first integer, and the head once it has found that call: so both are counted.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include "nfsbal/client/nfs3_private.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include <nfsc/libnfs-zdr.h>

/* More nested pointers than the entries of a reply of NFS3_DIRECTORY_MAX bytes, of 24 bytes each at least. */
enum { GUARD_DEPTH = 4096 };

typedef bool_t bytes_fn(ZDR *z, char **bytes, uint32_t *size, uint32_t most);
typedef bool_t string_fn(ZDR *z, char **text, uint32_t most);
typedef bool_t array_fn(ZDR *z, char **items, uint32_t *n, uint32_t most, uint32_t size, zdrproc_t item);
typedef bool_t pointer_fn(ZDR *z, char **object, uint32_t size, zdrproc_t item);
typedef bool_t int_fn(ZDR *z, int32_t *value);
typedef bool_t reply_fn(struct rpc_context *rpc, ZDR *z, struct rpc_msg *message);
typedef bool_t opaque_fn(ZDR *z, char *bytes, uint32_t size);

static bytes_fn *next_bytes;
static string_fn *next_string;
static array_fn *next_array;
static pointer_fn *next_pointer;
static opaque_fn *next_opaque;
static reply_fn *next_reply;
static int_fn *next_int;
static _Thread_local unsigned records, answers; /* see nfs3_guard_unasked() */
static _Thread_local int depth;

/* ISO C has no conversion from dlsym's pointer to a function's. */
#define FIND(pointer, name)                           \
    do {                                              \
        void *symbol = dlsym(RTLD_NEXT, name);        \
        memcpy(&(pointer), &symbol, sizeof(pointer)); \
    } while (0)

bool nfs3_guard_init(void)
{
    if (next_bytes)
        return true;
    FIND(next_string, "libnfs_zdr_string");
    FIND(next_array, "libnfs_zdr_array");
    FIND(next_pointer, "libnfs_zdr_pointer");
    FIND(next_opaque, "libnfs_zdr_opaque");
    FIND(next_int, "libnfs_zdr_int");
    FIND(next_reply, "libnfs_zdr_replymsg");
    FIND(next_bytes, "libnfs_zdr_bytes");
    return next_bytes && next_string && next_array && next_pointer && next_opaque && next_reply && next_int;
}

bool nfs3_guard_unasked(void)
{
    bool unasked = records > answers;

    records = answers = 0;
    return unasked;
}

/* The length that comes next on the wire fits `most` and, times `each`, what is left behind it. */
static bool fits(const ZDR *z, uint32_t most, uint32_t each)
{
    const unsigned char *p = (const unsigned char *)z->buf + z->pos;
    uint32_t length;

    if (z->x_op != ZDR_DECODE)
        return true;
    if (z->pos < 0 || z->size < 4 || z->pos > z->size - 4)
        return false;
    length = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    return length <= most && length <= (uint32_t)(z->size - z->pos - 4) / each;
}

/* The word `i` from here on, or UINT32_MAX behind the end. */
static uint32_t word(const ZDR *z, uint32_t i)
{
    const unsigned char *p = (const unsigned char *)z->buf + z->pos + (size_t)4 * i;

    if (z->pos < 0 || z->size < z->pos || i >= (uint32_t)(z->size - z->pos) / 4)
        return UINT32_MAX;
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* RFC 5531: xid, REPLY, accepted with a verifier and one of six outcomes, or denied for one of two reasons. */
static bool is_reply(const ZDR *z)
{
    enum { TYPE_REPLY = 1, ACCEPTED = 0, DENIED = 1, REASONS = 2, OUTCOMES = 6, VERIFIER_MAX = 400 };
    uint32_t verifier = word(z, 4);

    if (word(z, 1) != TYPE_REPLY)
        return false;
    if (word(z, 2) == DENIED)
        return word(z, 3) < REASONS;
    return word(z, 2) == ACCEPTED && verifier <= VERIFIER_MAX && word(z, 5 + (verifier + 3) / 4) < OUTCOMES;
}

/* The parameters' names are libnfs's. */

bool_t libnfs_zdr_replymsg(struct rpc_context *rpc, ZDR *zdrs, struct rpc_msg *msg)
{
    answers++;
    return (zdrs->x_op != ZDR_DECODE || is_reply(zdrs)) && nfs3_guard_init() && next_reply(rpc, zdrs, msg);
}

bool_t libnfs_zdr_int(ZDR *zdrs, int32_t *i)
{
    if (zdrs->x_op == ZDR_DECODE && zdrs->pos == 0)
        records++;
    return nfs3_guard_init() && next_int(zdrs, i);
}

bool_t libnfs_zdr_bytes(ZDR *zdrs, char **bufp, uint32_t *size, uint32_t maxsize)
{
    return fits(zdrs, maxsize, 1) && nfs3_guard_init() && next_bytes(zdrs, bufp, size, maxsize);
}

bool_t libnfs_zdr_string(ZDR *zdrs, char **strp, uint32_t maxsize)
{
    return fits(zdrs, maxsize, 1) && nfs3_guard_init() && next_string(zdrs, strp, maxsize);
}

bool_t libnfs_zdr_array(ZDR *zdrs, char **arrp, uint32_t *size, uint32_t maxsize, uint32_t elsize, zdrproc_t proc)
{
    return fits(zdrs, maxsize, 4) && nfs3_guard_init() && next_array(zdrs, arrp, size, maxsize, elsize, proc);
}

bool_t libnfs_zdr_opaque(ZDR *zdrs, char *objp, uint32_t size)
{
    if (zdrs->x_op == ZDR_DECODE &&
        (zdrs->pos < 0 || zdrs->pos > zdrs->size || size > (uint32_t)(zdrs->size - zdrs->pos)))
        return 0;
    return nfs3_guard_init() && next_opaque(zdrs, objp, size);
}

bool_t libnfs_zdr_pointer(ZDR *zdrs, char **objp, uint32_t size, zdrproc_t proc)
{
    bool_t ok;

    if (depth >= GUARD_DEPTH || !nfs3_guard_init())
        return 0;
    depth++;
    ok = next_pointer(zdrs, objp, size, proc);
    depth--;
    return ok;
}
