/* What libnfs 6 and later declare (LIBNFS_API_V2) on top of version 4: calls are spelled _task, return their PDU or NULL, and a READ
 * brings its data into the caller's memory. Included before a source of the client, so that it is compiled, and tried, as
 * it would be there. Facts from the public header include/nfsc/libnfs-raw.h of libnfs 6.
 */
#ifndef TESTS_SUPPORT_LIBNFS_V2_H
#define TESTS_SUPPORT_LIBNFS_V2_H

#include "nfsbal/client/nfs3_private.h" /* first: the names that it has become macros of libnfs */

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <nfsc/libnfs.h>

#include <nfsc/libnfs-raw.h>

#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>

#define LIBNFS_API_V2

struct rpc_pdu; /* nobody looks into it */

static inline struct rpc_pdu *v2_pdu(struct rpc_context *rpc, int rc)
{
    return rc ? NULL : (struct rpc_pdu *)(void *)rpc;
}

#define V2_CALL(NAME, ARGS)                                                                              \
    static inline struct rpc_pdu *rpc_nfs3_##NAME##_task(struct rpc_context *rpc, rpc_cb cb, ARGS *args, \
                                                         void *private_data)                             \
    {                                                                                                    \
        return v2_pdu(rpc, rpc_nfs3_##NAME##_async(rpc, cb, args, private_data));                        \
    }
V2_CALL(getattr, struct GETATTR3args)
V2_CALL(setattr, struct SETATTR3args)
V2_CALL(lookup, struct LOOKUP3args)
V2_CALL(access, struct ACCESS3args)
V2_CALL(readlink, struct READLINK3args)
V2_CALL(write, struct WRITE3args)
V2_CALL(create, struct CREATE3args)
V2_CALL(mkdir, struct MKDIR3args)
V2_CALL(symlink, struct SYMLINK3args)
V2_CALL(mknod, struct MKNOD3args)
V2_CALL(remove, struct REMOVE3args)
V2_CALL(rmdir, struct RMDIR3args)
V2_CALL(rename, struct RENAME3args)
V2_CALL(link, struct LINK3args)
V2_CALL(readdir, struct READDIR3args)
V2_CALL(readdirplus, struct READDIRPLUS3args)
V2_CALL(fsstat, struct FSSTAT3args)
V2_CALL(fsinfo, struct FSINFO3args)
V2_CALL(pathconf, struct PATHCONF3args)
V2_CALL(commit, struct COMMIT3args)
#undef V2_CALL

static inline struct rpc_pdu *rpc_nfs3_null_task(struct rpc_context *rpc, rpc_cb cb, void *private_data)
{
    return v2_pdu(rpc, rpc_nfs3_null_async(rpc, cb, private_data));
}

static inline struct rpc_pdu *rpc_mount3_mnt_task(struct rpc_context *rpc, rpc_cb cb, char *name, void *private_data)
{
    return v2_pdu(rpc, rpc_mount3_mnt_async(rpc, cb, name, private_data));
}

static inline struct rpc_pdu *rpc_mount3_umnt_task(struct rpc_context *rpc, rpc_cb cb, char *name, void *private_data)
{
    return v2_pdu(rpc, rpc_mount3_umnt_async(rpc, cb, name, private_data));
}

static inline struct rpc_pdu *rpc_mount3_export_task(struct rpc_context *rpc, rpc_cb cb, void *private_data)
{
    return v2_pdu(rpc, rpc_mount3_export_async(rpc, cb, private_data));
}

static inline struct rpc_pdu *rpc_pmap2_getport_task(struct rpc_context *rpc, int program, int version, int protocol,
                                                     rpc_cb cb, void *private_data)
{
    return v2_pdu(rpc, rpc_pmap2_getport_async(rpc, program, version, protocol, cb, private_data));
}

struct v2_read {
    rpc_cb cb;
    void *private_data, *buf;
    size_t count;
};

/* The data goes where the caller wants it and nowhere else. */
static inline void v2_have_read(struct rpc_context *rpc, int status, void *data, void *private_data)
{
    struct v2_read *v = private_data;
    struct READ3res *r = data;

    if (status == RPC_STATUS_SUCCESS && r->status == NFS3_OK) {
        struct READ3resok *ok = &r->READ3res_u.resok;

        if (ok->data.data_len <= v->count)
            memcpy(v->buf, ok->data.data_val, ok->data.data_len);
        ok->data.data_val = NULL;
    }
    v->cb(rpc, status, data, v->private_data);
    free(v);
}

static inline struct rpc_pdu *rpc_nfs3_read_task(struct rpc_context *rpc, rpc_cb cb, void *buf, size_t count,
                                                 struct READ3args *args, void *private_data)
{
    struct v2_read *v = malloc(sizeof *v);

    if (!v)
        return NULL;
    *v = (struct v2_read){cb, private_data, buf, count};
    if (rpc_nfs3_read_async(rpc, v2_have_read, args, v) == 0)
        return v2_pdu(rpc, 0);
    free(v);
    return NULL;
}

#endif
