/* Sizes of NFS 3 messages over TCP: what one RPC puts into the byte stream, record mark included.
 *
 * Added up from the XDR of RFC 5531 (RPC; its section 11: record marking) and RFC 1813 (NFS 3), all in units of four bytes.
 * Two lengths are not fixed by the protocols and stand here as typical: the machine name in the AUTH_SYS credential
 * (8 characters, one supplementary group) and the file handle (32 bytes; Linux gives 28 and up, ONTAP 44 at most 64).
 */
#ifndef EMU_MODEL_NFS_H
#define EMU_MODEL_NFS_H

#include <stdint.h>

enum nfs_call { NFS_READ, NFS_WRITE, NFS_COMMIT, NFS_GETATTR };

enum {
    NFS_RECORD_MARK = 4,
    NFS_MACHINE_NAME = 8,
    NFS_HANDLE = 4 + 32, /* length, handle */
    /* xid, CALL, RPC version, program, version, procedure */
    NFS_CALL_FIXED = 6 * 4,
    /* flavor, length; stamp, name length, name, uid, gid, number of groups, one group */
    NFS_CREDENTIAL = 2 * 4 + 4 + 4 + NFS_MACHINE_NAME + 4 + 4 + 4 + 4,
    NFS_VERIFIER = 2 * 4, /* AUTH_NONE, length 0 */
    NFS_CALL_HEADER = NFS_RECORD_MARK + NFS_CALL_FIXED + NFS_CREDENTIAL + NFS_VERIFIER,
    /* xid, REPLY, accepted; verifier; success */
    NFS_REPLY_HEADER = NFS_RECORD_MARK + 3 * 4 + NFS_VERIFIER + 4,
    /* type, mode, nlink, uid, gid; size, used, rdev, fsid, fileid; atime, mtime, ctime */
    NFS_ATTRIBUTES = 5 * 4 + 5 * 8 + 3 * 8,
    NFS_POST_OP = 4 + NFS_ATTRIBUTES,
    NFS_WCC = 4 + 3 * 8 + NFS_POST_OP, /* present, size, mtime, ctime */

    NFS_READ_ARGS = NFS_HANDLE + 8 + 4,          /* offset, count */
    NFS_WRITE_ARGS = NFS_HANDLE + 8 + 4 + 4 + 4, /* offset, count, stable, length of the data */
    NFS_COMMIT_ARGS = NFS_HANDLE + 8 + 4,        /* offset, count */
    NFS_GETATTR_ARGS = NFS_HANDLE,

    NFS_READ_RESULT = 4 + NFS_POST_OP + 4 + 4 + 4, /* status, count, eof, length of the data */
    NFS_WRITE_RESULT = 4 + NFS_WCC + 4 + 4 + 8,    /* status, count, committed, verifier */
    NFS_COMMIT_RESULT = 4 + NFS_WCC + 8,           /* status, verifier */
    NFS_GETATTR_RESULT = 4 + NFS_ATTRIBUTES,
};

/* XDR opaque data is padded to four bytes. */
static inline uint64_t nfs_padded(uint64_t bytes) { return (bytes + 3) & ~UINT64_C(3); }

/* Bytes of the stream from client to server for one call that reads or writes `data` bytes. */
static inline uint64_t nfs_call_bytes(enum nfs_call call, uint64_t data)
{
    static const uint16_t args[] = {NFS_READ_ARGS, NFS_WRITE_ARGS, NFS_COMMIT_ARGS, NFS_GETATTR_ARGS};
    return NFS_CALL_HEADER + args[call] + (call == NFS_WRITE ? nfs_padded(data) : 0);
}

/* ... and from server to client. */
static inline uint64_t nfs_reply_bytes(enum nfs_call call, uint64_t data)
{
    static const uint16_t result[] = {NFS_READ_RESULT, NFS_WRITE_RESULT, NFS_COMMIT_RESULT, NFS_GETATTR_RESULT};
    return NFS_REPLY_HEADER + result[call] + (call == NFS_READ ? nfs_padded(data) : 0);
}

#endif
