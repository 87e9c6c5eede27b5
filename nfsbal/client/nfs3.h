/* NFS version 3 (RFC 1813) and MOUNT version 3 over one connected socket: typed calls out, typed and checked results in.
 *
 * One `struct nfs3` is one connection's life. It sends calls, matches replies to them and checks every reply: counts against
 * what was asked, lengths of handles, names without '/' or NUL, cookies that move on. It knows nothing of reconnecting or
 * of other servers; conn.h and path.h are built on it. This is the only door to libnfs.
 *
 * Callbacks come from nfs3_service() and nfs3_free() only, never from nfs3_send(). What a result points to is valid during
 * the callback.
 */
#ifndef NFSBAL_CLIENT_NFS3_H
#define NFSBAL_CLIENT_NFS3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nfs3;

/* Numbers of the protocol; the calls to MOUNT follow behind. */
enum nfs3_procedure {
    NFS3_NULL,
    NFS3_GETATTR,
    NFS3_SETATTR,
    NFS3_LOOKUP,
    NFS3_ACCESS,
    NFS3_READLINK,
    NFS3_READ,
    NFS3_WRITE,
    NFS3_CREATE,
    NFS3_MKDIR,
    NFS3_SYMLINK,
    NFS3_MKNOD,
    NFS3_REMOVE,
    NFS3_RMDIR,
    NFS3_RENAME,
    NFS3_LINK,
    NFS3_READDIR,
    NFS3_READDIRPLUS,
    NFS3_FSSTAT,
    NFS3_FSINFO,
    NFS3_PATHCONF,
    NFS3_COMMIT,
    NFS3_PROCEDURES, /* how many of them */
    NFS3_MOUNT_MNT = NFS3_PROCEDURES,
    NFS3_MOUNT_UMNT,
    NFS3_MOUNT_EXPORT,
    NFS3_GETPORT,
    NFS3_CALLS,
};

/* The server's answer (numbers of the protocol), or, negative, what happened instead of one. */
enum nfs3_status {
    NFS3_SUCCESS = 0,
    NFS3_EPERM = 1,
    NFS3_ENOENT = 2,
    NFS3_EIO = 5,
    NFS3_ENXIO = 6,
    NFS3_EACCES = 13,
    NFS3_EEXIST = 17,
    NFS3_EXDEV = 18,
    NFS3_ENODEV = 19,
    NFS3_ENOTDIR = 20,
    NFS3_EISDIR = 21,
    NFS3_EINVAL = 22,
    NFS3_EFBIG = 27,
    NFS3_ENOSPC = 28,
    NFS3_EROFS = 30,
    NFS3_EMLINK = 31,
    NFS3_ENAMETOOLONG = 63,
    NFS3_ENOTEMPTY = 66,
    NFS3_EDQUOT = 69,
    NFS3_ESTALE = 70,
    NFS3_EREMOTE = 71,
    NFS3_EBADHANDLE = 10001,
    NFS3_ENOT_SYNC = 10002,
    NFS3_EBAD_COOKIE = 10003,
    NFS3_ENOTSUPP = 10004,
    NFS3_ETOOSMALL = 10005,
    NFS3_ESERVERFAULT = 10006,
    NFS3_EBADTYPE = 10007,
    NFS3_EJUKEBOX = 10008,

    NFS3_CONN_LOST = -1, /* the connection ended before the reply; the server may or may not have done it */
    NFS3_BAD_REPLY = -2, /* a reply that no correct server sends */
    NFS3_REJECTED = -3,  /* RPC refused the call: credentials, program or version */
    NFS3_TIMED_OUT = -4, /* given up by the caller's limit (soft mounts) */
    NFS3_NO_MEMORY = -5,
    NFS3_CANCELLED = -6, /* the path set was freed */
};

enum nfs3_type { NFS3_REG = 1, NFS3_DIR, NFS3_BLK, NFS3_CHR, NFS3_LNK, NFS3_SOCK, NFS3_FIFO };
enum nfs3_stable { NFS3_UNSTABLE, NFS3_DATA_SYNC, NFS3_FILE_SYNC };
enum nfs3_create_mode { NFS3_UNCHECKED, NFS3_GUARDED, NFS3_EXCLUSIVE };
enum {
    NFS3_ACCESS_READ = 1,
    NFS3_ACCESS_LOOKUP = 2,
    NFS3_ACCESS_MODIFY = 4,
    NFS3_ACCESS_EXTEND = 8,
    NFS3_ACCESS_DELETE = 16,
    NFS3_ACCESS_EXECUTE = 32
};

enum {
    NFS3_HANDLE_MAX = 64,
    NFS3_NAME_MAX = 255,
    NFS3_PATH_MAX = 1024,
    NFS3_GROUPS_MAX = 16,
    NFS3_IO_MAX = 1 << 20,          /* bytes of one READ or WRITE, ours to choose */
    NFS3_DIRECTORY_MAX = 64 * 1024, /* bytes of one READDIR(PLUS) reply: libnfs decodes it recursively */
};

struct nfs3_fh {
    uint8_t size; /* 1 to 64; 0: none */
    uint8_t bytes[NFS3_HANDLE_MAX];
};

struct nfs3_time {
    uint32_t seconds, nanoseconds;
};

struct nfs3_attr {
    enum nfs3_type type;
    uint32_t mode, nlink, uid, gid;
    uint64_t size, used, fsid, fileid;
    uint32_t major, minor; /* of devices */
    struct nfs3_time atime, mtime, ctime;
};

/* Attributes before the operation (weak cache consistency). */
struct nfs3_before {
    uint64_t size;
    struct nfs3_time mtime, ctime;
};

enum nfs3_set_time { NFS3_TIME_KEEP, NFS3_TIME_SERVER, NFS3_TIME_CLIENT };

/* What to set; fields that are not named by a set_ flag are left alone. */
struct nfs3_sattr {
    bool set_mode, set_uid, set_gid, set_size;
    enum nfs3_set_time set_atime, set_mtime;
    uint32_t mode, uid, gid;
    uint64_t size;
    struct nfs3_time atime, mtime;
};

/* Who calls. The machine name of AUTH_SYS is this host's. */
struct nfs3_credential {
    uint32_t uid, gid;
    uint32_t n_groups; /* at most 16 */
    uint32_t groups[NFS3_GROUPS_MAX];
};

/* One call, as data, so that it can be sent again on another connection. What it points to (names, data, credential) belongs
 * to the caller and must live until its callback. Fields that a procedure does not name are ignored.
 *
 *   GETATTR READLINK FSSTAT FSINFO PATHCONF   fh
 *   SETATTR      fh attr, and ctime when guard
 *   LOOKUP REMOVE RMDIR   fh (directory) name
 *   ACCESS       fh access
 *   READ         fh offset count, data_out or NULL
 *   WRITE        fh offset count stable data
 *   CREATE       fh name mode, attr (verifier when EXCLUSIVE)
 *   MKDIR        fh name attr
 *   SYMLINK      fh name attr target
 *   MKNOD        fh name type attr major minor
 *   RENAME       fh name -> fh2 name2
 *   LINK         fh (the object) -> fh2 (directory) name2
 *   READDIR      fh offset (cookie) verifier count
 *   READDIRPLUS  fh offset verifier count (of names) max_count (of the reply)
 *   COMMIT       fh offset count (0 0: all)
 *   MNT UMNT     name (the export's path); EXPORT takes nothing
 *   GETPORT      count (program) max_count (version): the port is the result's count, 0: not registered
 */
struct nfs3_call {
    enum nfs3_procedure procedure;
    const struct nfs3_credential *credential; /* NULL: that of the connection */
    struct nfs3_fh fh, fh2;
    const char *name, *name2, *target;
    uint64_t offset;
    uint32_t count, max_count;
    uint32_t access;
    uint64_t verifier;
    const void *data;
    void *data_out; /* READ: the data is copied there; NULL: it is only in the result */
    enum nfs3_stable stable;
    enum nfs3_create_mode mode;
    struct nfs3_sattr attr;
    bool guard;
    struct nfs3_time ctime;
    enum nfs3_type type;
    uint32_t major, minor;
};

struct nfs3_entry {
    uint64_t fileid, cookie;
    const char *name;
    const struct nfs3_attr *attr; /* READDIRPLUS; NULL: not given */
    const struct nfs3_fh *fh;     /* likewise */
};

struct nfs3_fsinfo {
    uint32_t rtmax, rtpref, rtmult, wtmax, wtpref, wtmult, dtpref;
    uint64_t maxfilesize;
    struct nfs3_time time_delta;
    uint32_t properties;
};

struct nfs3_fsstat {
    uint64_t tbytes, fbytes, abytes, tfiles, ffiles, afiles;
    uint32_t invarsec;
};

struct nfs3_pathconf {
    uint32_t linkmax, name_max;
    bool no_trunc, chown_restricted, case_insensitive, case_preserving;
};

/* A result. Attributes come with errors as well. Pointers are NULL where the server gave nothing. */
struct nfs3_result {
    enum nfs3_procedure procedure;
    enum nfs3_status status;
    const char *problem;                /* BAD_REPLY, CONN_LOST, REJECTED: what it was, in words; else NULL */
    const struct nfs3_attr *attr;       /* of the object after the call */
    const struct nfs3_attr *dir, *dir2; /* of `fh` as a directory, of `fh2`, after the call */
    const struct nfs3_before *before;   /* SETATTR WRITE COMMIT: of the object before the call */
    const struct nfs3_before *dir_before, *dir2_before;
    const struct nfs3_fh *fh;         /* LOOKUP CREATE MKDIR SYMLINK MKNOD MNT */
    uint32_t access;                  /* ACCESS */
    uint32_t count;                   /* READ WRITE: bytes done */
    bool eof;                         /* READ READDIR READDIRPLUS */
    const void *data;                 /* READ: in the receive buffer */
    enum nfs3_stable committed;       /* WRITE */
    uint64_t verifier;                /* WRITE COMMIT: write verifier; READDIR(PLUS): cookie verifier (opaque) */
    const char *target;               /* READLINK */
    const struct nfs3_entry *entries; /* READDIR READDIRPLUS */
    size_t n_entries;
    const struct nfs3_fsinfo *fsinfo;
    const struct nfs3_fsstat *fsstat;
    const struct nfs3_pathconf *pathconf;
    const char *const *exports; /* EXPORT: paths */
    size_t n_exports;
    bool auth_sys; /* MNT: the server takes AUTH_SYS (or names no flavour at all) */
};

typedef void nfs3_done(void *arg, const struct nfs3_result *result);

/* A connection over `fd`, connected and non-blocking; takes it over, also on failure (NULL: no memory). Calls without
 * a credential go out as `credential`. `first_xid` tells connections apart. */
struct nfs3 *nfs3_new(int fd, const struct nfs3_credential *credential, uint32_t first_xid);

/* Queues a call; nfs3_service() sends it. 0, -ENOMEM, or -EINVAL for a call that can't be encoded (name too long). */
int nfs3_send(struct nfs3 *n, const struct nfs3_call *call, nfs3_done *done, void *arg);

/* What to poll for: POLLIN, POLLIN | POLLOUT. */
int nfs3_events(struct nfs3 *n);
/* Handles `revents` of poll: sends, receives, calls back. False when the connection is over: `nfs3_problem` says why,
 * and all that is left to do is nfs3_free(), outside of its callbacks. */
bool nfs3_service(struct nfs3 *n, int revents);
const char *nfs3_problem(const struct nfs3 *n);
int nfs3_errno(const struct nfs3 *n); /* the socket's error that ended it; 0: it was something else */
int nfs3_fd(const struct nfs3 *n);
size_t nfs3_outstanding(const struct nfs3 *n);         /* calls */
uint64_t nfs3_outstanding_bytes(const struct nfs3 *n); /* that READs asked for and WRITEs hold */

/* Closes with a reset, then calls back what is outstanding with NFS3_CONN_LOST. Accepts NULL. Not within a callback. */
void nfs3_free(struct nfs3 *n);

const char *nfs3_procedure_name(enum nfs3_procedure p);
const char *nfs3_status_name(enum nfs3_status s); /* "NFS3_ESTALE", "connection lost" */
/* The errno for a user of files: NFS3_EX -> EX, what is no answer -> EIO. Positive; 0 for NFS3_SUCCESS. */
int nfs3_status_errno(enum nfs3_status s);

static inline bool nfs3_fh_equal(const struct nfs3_fh *a, const struct nfs3_fh *b)
{
    return a->size == b->size && __builtin_memcmp(a->bytes, b->bytes, a->size) == 0;
}
/* May the call be sent twice without doing anything twice? (READ and WRITE may, REMOVE may not.) */
bool nfs3_idempotent(const struct nfs3_call *call);

#endif
