/* What the files fuse*.c share; they alone know libfuse. */
#ifndef NFSBAL_CLIENT_FUSE_PRIVATE_H
#define NFSBAL_CLIENT_FUSE_PRIVATE_H

#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>

#include "nfsbal/client/attr_cache.h"
#include "nfsbal/client/fuse.h"
#include "nfsbal/client/handles.h"
#include "nfsbal/client/locks.h"
#include "nfsbal/client/loop.h"
#include "nfsbal/client/mount_options.h"
#include "nfsbal/client/nfs3.h"
#include "nfsbal/client/path.h"
#include "nfsbal/client/stable.h"
#include "nfsbal/client/writeback.h"

struct file;
struct directory;
struct op;

TAILQ_HEAD(op_list, op);
TAILQ_HEAD(file_list, file);
TAILQ_HEAD(directory_list, directory);

/* One request of the kernel, from its arrival to its answer; also our own errands (`req` NULL). */
struct op {
    struct fs *fs;
    fuse_req_t req;
    struct nfs3_credential credential;
    struct request nfs;        /* the call that is out; one at a time */
    bool submitted;            /* it is */
    int64_t sent;              /* when it was submitted */
    struct node *node, *node2; /* held */
    struct file *file;
    struct directory *directory;
    char name[NFS3_NAME_MAX + 1], name2[NFS3_NAME_MAX + 1];
    char hidden[48];                                       /* a made-up name for a file that is still open */
    void (*aside)(struct op *op, enum nfs3_status status); /* after it got that */
    char *target;                                          /* of a symbolic link, owned */
    struct nfs3_sattr attr;
    struct fuse_file_info open; /* create */
    bool creates, plus, through;
    uint64_t offset;
    uint32_t size, done;
    unsigned denials;     /* READ: answers that say there is no more, beside a size that says there is */
    uint8_t *data;        /* READ: what came so far; WRITE: a whole message of the kernel's; owned */
    const uint8_t *bytes; /* WRITE: of those */
    struct wb_wait wait;
    void (*waited)(struct op *op); /* after `wait`, and after stable_sync */
    struct lock lock;              /* asked for; FLUSH: `owner` gives back all it has */
    struct lock_wait lock_wait;
    bool whole, sleeps, locking, waits_for_lock; /* flock's; waits where it conflicts; it is about a lock; waits now */
    bool closes;                                 /* FLUSH */
    bool starves;                                /* waits in fs->starving */
    bool orphan;                                 /* was answered when its process was killed; ends when its wait does */
    bool interrupted;
    struct loop_task interrupt;
    TAILQ_ENTRY(op) link; /* of all ops */
    TAILQ_ENTRY(op) starving;
};

struct file {
    TAILQ_ENTRY(file) link; /* of all that are open */
    struct node *node;
    struct nfs3_credential credential; /* who opened it; reads and writes go out as that */
    int flags;                         /* of open(2) */
    bool through;                      /* writes are answered when the server answered; reads bypass our caches */
};

enum {
    FS_GROUPS = 64,
    FS_STARVING_MAX = 8 /* writes that wait for memory before no more requests are read; 1 MiB each */
};

struct fs_groups {
    pid_t pid;
    uid_t uid;
    gid_t gid;
    uint32_t n, list[NFS3_GROUPS_MAX];
    int64_t at;
};

struct fs {
    struct fs_config config;
    const struct mount_options *options;
    struct loop *loop;
    struct paths *paths;
    struct stable *stable;
    struct fuse_session *session;
    bool mounted, ending, forced, ended;
    int fd;
    char *target;
    uint64_t device;
    struct fuse_buf message;
    struct loop_io io;
    struct loop_timer timer; /* for wb.due */
    int64_t armed;
    struct loop_task failed, end, go_on;
    struct extent_list unsent; /* could not be given to `stable` */
    struct wb wb;
    struct pool_waiter room;
    struct op_list ops, starving;
    struct op_list idle; /* memory for the next */
    struct locks locks;
    size_t n_ops, n_starving, n_idle;
    /* What the kernel has open. A mount that is taken away under it never hears of the end. */
    struct file_list files;
    struct directory_list directories;
    struct fs_groups groups[FS_GROUPS];
    struct handles handles;
    struct attr_limits regular, directory;
    uint32_t read_max, write_max;
    uint64_t made_up; /* names of unlinked files so far */
    uint64_t requests, read_bytes, written_bytes, dropped_bytes, open_files;
};

/* Begins the answer to a request about `ino`: NULL, and ESTALE is answered, when there is no such node, or ENOMEM. */
struct op *op_new(fuse_req_t req, fuse_ino_t ino);
struct op *op_errand(struct fs *fs, struct node *node, const struct nfs3_credential *credential); /* NULL: no memory */
bool op_second(struct op *op, fuse_ino_t ino);           /* false: answered, op is gone */
bool op_name(struct op *op, char *to, const char *name); /* false: too long, answered, op is gone */
/* Submits op->nfs.call; op->nfs.arg is op. */
void op_send(struct op *op, enum nfs3_procedure procedure, request_done *done);
void op_free(struct op *op);            /* after it was answered */
void op_fail(struct op *op, int error); /* answers with a positive errno, or 0, and frees */
void op_fail_status(struct op *op, enum nfs3_status status);
struct op *op_answer(struct request *r); /* first in each request_done */

/* Calls op->waited once everything written to [offset, end) so far is answered: false, or true at once without the call. */
bool op_wait_written(struct op *op, uint64_t offset, uint64_t end, bool sync);
/* Likewise until all of it is stable. Always calls, from the loop or at once. */
void op_wait_stable(struct op *op);

bool op_lock_interrupted(struct op *op);  /* a lock's, whose process got a signal; true: answered, op is gone */
void op_starves(struct op *op, bool yes); /* joins or leaves fs->starving */

void node_hold(struct node *n);
void node_drop(struct fs *fs, struct node *n); /* may free it */
/* Called when nothing of its data is unwritten and when the last file is closed: lets go of `stable`. */
void node_rest(struct fs *fs, struct node *n);
bool node_writable(struct fs *fs, struct node *n, const struct nfs3_credential *credential); /* opens `stable` */
void node_remove_later(struct fs *fs, struct node *n); /* the last close of an unlinked file */

/* Attributes from an answer to a call that was sent at `sent`. */
void node_take(struct fs *fs, struct node *n, const struct nfs3_attr *attr, int64_t sent);
void node_stat(const struct node *n, struct stat *st, double *timeout);
/* The node of an answer as fuse_reply_entry() wants it; counts the look-up. False: no memory. */
struct node *node_entry(struct fs *fs, struct node *dir, const char *name, const struct nfs3_fh *fh,
                        const struct nfs3_attr *attr, int64_t sent, struct fuse_entry_param *e);

void node_unlock(struct fs *fs, struct node *n, uint64_t owner); /* fcntl's locks of a process that closes it */
void node_unlock_file(struct fs *fs, struct node *n, const struct file *f);

void attr_to_stat(const struct nfs3_attr *a, struct stat *st);
void file_close(struct fs *fs, struct file *file);
void files_free(struct fs *fs);       /* what is still open, when no more requests come */
void directories_free(struct fs *fs); /* the same */
bool file_open(struct op *op, struct node *n, const struct nfs3_credential *credential, struct fuse_file_info *fi);

void fs_arm(struct fs *fs);
void fs_listen(struct fs *fs); /* reads requests (again) */
void fs_ended(void *context);
void fs_reportf(const struct fs *fs, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline struct fs *fs_of(fuse_req_t req) { return fuse_req_userdata(req); }

static inline struct node *node_of(struct wb_file *f)
{
    return (struct node *)(void *)((char *)f - offsetof(struct node, wb));
}

/* The table's entries, by file. */
void fs_lookup(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_forget(fuse_req_t req, fuse_ino_t ino, uint64_t lookups);
void fs_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets);
void fs_mknod(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, dev_t device);
void fs_mkdir(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode);
void fs_symlink(fuse_req_t req, const char *target, fuse_ino_t parent, const char *name);
void fs_link(fuse_req_t req, fuse_ino_t ino, fuse_ino_t parent, const char *name);
void fs_create(fuse_req_t req, fuse_ino_t parent, const char *name, mode_t mode, struct fuse_file_info *fi);
void fs_unlink(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_rmdir(fuse_req_t req, fuse_ino_t parent, const char *name);
void fs_rename(fuse_req_t req, fuse_ino_t parent, const char *name, fuse_ino_t new_parent, const char *new_name,
               unsigned flags);

void fs_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *st, int to_set, struct fuse_file_info *fi);
void fs_access(fuse_req_t req, fuse_ino_t ino, int mask);
void fs_readlink(fuse_req_t req, fuse_ino_t ino);
void fs_statfs(fuse_req_t req, fuse_ino_t ino);

void fs_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void fs_write(fuse_req_t req, fuse_ino_t ino, const char *bytes, size_t size, off_t offset, struct fuse_file_info *fi);
void fs_flush(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_fsync(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi);
void fs_setlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock, int sleeps);
void fs_getlk(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, struct flock *lock);
void fs_flock(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi, int what);
void fs_send_extent(void *context, struct extent *e); /* wb_ops.write */
void fs_dropped(void *context, struct wb_file *f, uint64_t offset, uint32_t size, int error);
void fs_idle(void *context, struct wb_file *f);
void fs_failed(void *context);

void fs_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void fs_readdirplus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t offset, struct fuse_file_info *fi);
void fs_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi);
void fs_fsyncdir(fuse_req_t req, fuse_ino_t ino, int data_only, struct fuse_file_info *fi);

#endif
