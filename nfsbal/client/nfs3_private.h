/* Between the files of nfs3.h. */
#ifndef NFSBAL_CLIENT_NFS3_PRIVATE_H
#define NFSBAL_CLIENT_NFS3_PRIVATE_H

#include "nfsbal/client/nfs3.h"

/* A call that is out. */
struct nfs3_pending {
    struct nfs3_pending *next, **link; /* in out or lost of its connection */
    struct nfs3 *nfs3;
    nfs3_done *done;
    void *arg;
    enum nfs3_procedure procedure;
    uint64_t cookie; /* READDIR(PLUS): that was asked for */
    uint32_t count;  /* READ, WRITE: bytes asked for */
    void *data_out;
    void *data_owned; /* where libnfs's later versions put what is read */
};

/* Storage for what a result points to. */
struct nfs3_scratch {
    struct nfs3_attr attr, dir, dir2;
    struct nfs3_before before, dir_before, dir2_before;
    struct nfs3_fh fh;
    struct nfs3_fsinfo fsinfo;
    struct nfs3_fsstat fsstat;
    struct nfs3_pathconf pathconf;
    struct nfs3_entry *entries; /* these grow and stay */
    struct nfs3_attr *attrs;
    struct nfs3_fh *fhs;
    const char **exports;
    size_t entries_size, exports_size;
};

/* Fills `r` out of libnfs's decoded reply. NULL, or what is wrong with the reply. */
const char *nfs3_take_reply(const struct nfs3_pending *p, void *reply, struct nfs3_scratch *s, struct nfs3_result *r);
void nfs3_scratch_free(struct nfs3_scratch *s);

/* False: the library in use can't be guarded. */
bool nfs3_guard_init(void);
/* Whether a reply has come since this was last asked that belongs to no call. */
bool nfs3_guard_unasked(void);

#endif
