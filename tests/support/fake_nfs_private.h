/* Between the files of fake_nfs.h. */
#ifndef TESTS_SUPPORT_FAKE_NFS_PRIVATE_H
#define TESTS_SUPPORT_FAKE_NFS_PRIVATE_H

#include "nfsbal/client/loop.h"
#include "tests/support/fake_nfs.h"

enum { INODES_MAX = 64, ENTRIES_MAX = 128, RECORD_MAX = 2 << 20, FSID = 77, ROOT = 1 };

struct inode {
    unsigned id; /* 0: free */
    enum nfs3_type type;
    uint32_t mode, nlink;
    uint8_t *data, *stable;
    uint64_t size, stable_size;
    char target[256];
    uint64_t create_verifier;
};

struct entry {
    unsigned dir, id; /* id 0: free */
    char name[256];
};

struct peer {
    struct peer *next;
    struct fake_nfs *fake;
    unsigned vip;
    int fd; /* -1: reset */
    struct loop_io io;
    uint8_t *in;
    size_t have;
    uint8_t *out;
    size_t out_size;
};

/* Something that happens later. */
struct later {
    struct later *next;
    struct fake_nfs *fake;
    struct peer *peer; /* to answer; NULL: nobody */
    struct loop_timer timer;
    uint8_t *record;
    size_t size;
};

struct vip {
    struct fake_nfs *fake;
    unsigned number;
    int fd;
    struct loop_io io;
    bool other_fsid, other_handle;
};

struct fake_nfs {
    struct loop *loop;
    struct fake_hooks hooks;
    unsigned n_vips, calls;
    uint16_t port;
    struct vip vips[FAKE_VIPS_MAX];
    struct peer *peers;
    struct later *laters;
    struct inode inodes[INODES_MAX];
    struct entry entries[ENTRIES_MAX];
    unsigned next_id, executed[32];
    uint64_t verifier;
    uint32_t write_told, write_done; /* bytes of one WRITE: as FSINFO has it, and those that are written */
};

/* XDR that is read. */
struct in {
    const uint8_t *p, *end;
};

uint32_t fake_get32(struct in *x);
uint64_t fake_get64(struct in *x);
const uint8_t *fake_get_opaque(struct in *x, uint32_t *size);
void fake_get_name(struct in *x, char *name);

/* XDR that is written, into room for a whole record. */
struct out {
    uint8_t *bytes;
    size_t n;
};

void fake_put32(struct out *o, uint32_t v);
void fake_put64(struct out *o, uint64_t v);

void fake_fs_init(struct fake_nfs *f);
void fake_fs_free(struct fake_nfs *f);
void fake_fs_lose_unstable(struct fake_nfs *f);
/* Does a call and puts its results behind the RPC header. */
void fake_execute(struct fake_nfs *f, unsigned vip, bool mount, uint32_t procedure, struct in *x, struct out *o);

#endif
