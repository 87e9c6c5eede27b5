#include "nfsbal/client/nfs3.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

static const char *const procedures[] = {
    "NULL",   "GETATTR", "SETATTR",  "LOOKUP", "ACCESS", "READLINK", "READ",   "WRITE",   "CREATE",
    "MKDIR",  "SYMLINK", "MKNOD",    "REMOVE", "RMDIR",  "RENAME",   "LINK",   "READDIR", "READDIRPLUS",
    "FSSTAT", "FSINFO",  "PATHCONF", "COMMIT", "MNT",    "UMNT",     "EXPORT", "GETPORT",
};
static_assert(sizeof procedures / sizeof procedures[0] == NFS3_CALLS, "a name for each procedure");

static const struct {
    enum nfs3_status status;
    int error;
    const char *name;
} statuses[] = {
    {NFS3_SUCCESS, 0, "NFS3_OK"},
    {NFS3_EPERM, EPERM, "NFS3ERR_PERM"},
    {NFS3_ENOENT, ENOENT, "NFS3ERR_NOENT"},
    {NFS3_EIO, EIO, "NFS3ERR_IO"},
    {NFS3_ENXIO, ENXIO, "NFS3ERR_NXIO"},
    {NFS3_EACCES, EACCES, "NFS3ERR_ACCES"},
    {NFS3_EEXIST, EEXIST, "NFS3ERR_EXIST"},
    {NFS3_EXDEV, EXDEV, "NFS3ERR_XDEV"},
    {NFS3_ENODEV, ENODEV, "NFS3ERR_NODEV"},
    {NFS3_ENOTDIR, ENOTDIR, "NFS3ERR_NOTDIR"},
    {NFS3_EISDIR, EISDIR, "NFS3ERR_ISDIR"},
    {NFS3_EINVAL, EINVAL, "NFS3ERR_INVAL"},
    {NFS3_EFBIG, EFBIG, "NFS3ERR_FBIG"},
    {NFS3_ENOSPC, ENOSPC, "NFS3ERR_NOSPC"},
    {NFS3_EROFS, EROFS, "NFS3ERR_ROFS"},
    {NFS3_EMLINK, EMLINK, "NFS3ERR_MLINK"},
    {NFS3_ENAMETOOLONG, ENAMETOOLONG, "NFS3ERR_NAMETOOLONG"},
    {NFS3_ENOTEMPTY, ENOTEMPTY, "NFS3ERR_NOTEMPTY"},
    {NFS3_EDQUOT, EDQUOT, "NFS3ERR_DQUOT"},
    {NFS3_ESTALE, ESTALE, "NFS3ERR_STALE"},
    {NFS3_EREMOTE, EREMOTE, "NFS3ERR_REMOTE"},
    {NFS3_EBADHANDLE, ESTALE, "NFS3ERR_BADHANDLE"},
    {NFS3_ENOT_SYNC, EAGAIN, "NFS3ERR_NOT_SYNC"},
    {NFS3_EBAD_COOKIE, EAGAIN, "NFS3ERR_BAD_COOKIE"},
    {NFS3_ENOTSUPP, EOPNOTSUPP, "NFS3ERR_NOTSUPP"},
    {NFS3_ETOOSMALL, EINVAL, "NFS3ERR_TOOSMALL"},
    {NFS3_ESERVERFAULT, EIO, "NFS3ERR_SERVERFAULT"},
    {NFS3_EBADTYPE, EINVAL, "NFS3ERR_BADTYPE"},
    {NFS3_EJUKEBOX, EAGAIN, "NFS3ERR_JUKEBOX"},
    {NFS3_CONN_LOST, EIO, "connection lost"},
    {NFS3_BAD_REPLY, EIO, "bad reply"},
    {NFS3_REJECTED, EACCES, "call rejected"},
    {NFS3_TIMED_OUT, EIO, "timed out"},
    {NFS3_NO_MEMORY, ENOMEM, "out of memory"},
    {NFS3_CANCELLED, EIO, "cancelled"},
};

const char *nfs3_procedure_name(enum nfs3_procedure p) { return p < NFS3_CALLS ? procedures[p] : "?"; }

const char *nfs3_status_name(enum nfs3_status s)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == s)
            return statuses[i].name;
    return "an unknown NFS error";
}

int nfs3_status_errno(enum nfs3_status s)
{
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (statuses[i].status == s)
            return statuses[i].error;
    return EIO;
}

bool nfs3_idempotent(const struct nfs3_call *call)
{
    switch (call->procedure) {
    case NFS3_CREATE:
        return call->mode != NFS3_GUARDED; /* EXCLUSIVE is known to the server by its verifier */
    case NFS3_SETATTR:
        return !call->guard;
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
    case NFS3_MKNOD:
    case NFS3_REMOVE:
    case NFS3_RMDIR:
    case NFS3_RENAME:
    case NFS3_LINK:
        return false;
    default:
        return true;
    }
}
