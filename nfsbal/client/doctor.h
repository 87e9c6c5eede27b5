/* What can be found out about servers that are to be used together: each is asked the same questions, one after the
 * other. It only reads, unless a directory for a test of writing is named.
 */
#ifndef NFSBAL_CLIENT_DOCTOR_H
#define NFSBAL_CLIENT_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/conn.h"
#include "nfsbal/client/local_link.h"
#include "nfsbal/client/nfs3.h"

struct doctor_config {
    const char *export;        /* NULL: the first of the export list */
    const char *write_test;    /* a directory below the export ("" is the export itself); NULL: only read */
    uint16_t port, mount_port; /* 0: 2049; 0: the portmapper's answer */
    union conn_address source; /* family 0: the kernel's choice */
    struct nfs3_credential credential;
    int64_t bound_ms; /* for each connection */
};

enum doctor_exports { DOCTOR_EXPORTS_NONE, DOCTOR_EXPORTS_LISTED, DOCTOR_EXPORTS_UNLISTED };

struct doctor_server {
    const char *name;
    union conn_address address;
    char problem[200]; /* what keeps it from being used; "" when nothing does */
    bool reached, mounted;
    int64_t connect_us, rtt_us; /* until connected; TCP's smoothed round trip */
    union conn_address source;  /* that connections had */
    uint16_t source_port;
    bool reserved_port;                    /* ours was below 1024 */
    bool unprivileged, tried_unprivileged; /* calls from a port above are taken; it was tried */
    enum doctor_exports exports;           /* of the list: closed or empty, has this export, has others */
    size_t n_exports;
    char mounted_path[NFS3_PATH_MAX + 1];
    struct nfs3_fh root;
    struct nfs3_attr attr;
    struct nfs3_fsinfo fsinfo;
    uint32_t access, root_access; /* ACCESS bits of the root for us, and for user 0 */
    bool have_root_access;
    uint64_t verifier;     /* of the test of writing */
    bool wrote, saw_first; /* it took the write; it saw what the first server wrote */
    struct local_link link;
    bool have_link;
    int member; /* of the bond, for this very connection; -1: not known */
};

struct loop;

/* Blocks. The results stand in `servers`, whose names and addresses the caller has set. */
void doctor_examine(struct loop *l, const struct doctor_config *config, struct doctor_server *servers, size_t n);

/* Why two servers can't be one mount's paths; NULL: they can, as far as was asked. */
const char *doctor_differ(const struct doctor_server *a, const struct doctor_server *b);

#endif
