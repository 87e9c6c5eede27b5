/* What a file system over libnfs looks like when it is written the short way, as fuse-nfs is: libfuse's high-level interface, one
 * libnfs context for everything and one lock around it, every call a path, nothing remembered beyond what the kernel remembers by
 * default. Benchmarks hold `nfsbal mount` against it. No more than they need.
 *
 *     fuse_standin nfs://SERVER/EXPORT?nfsport=2049 DIR
 */
#define FUSE_USE_VERSION 312
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <fuse3/fuse.h>
#include <nfsc/libnfs.h>

enum { IO_MAX = 1 << 20 };

static struct nfs_context *nfs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* One call of libnfs at a time; it gives a negative errno, as libfuse wants it. */
#define LOCKED(call)                 \
    __extension__({                  \
        pthread_mutex_lock(&lock);   \
        int rc_ = (call);            \
        pthread_mutex_unlock(&lock); \
        rc_;                         \
    })

#ifdef LIBNFS_API_V2
#define PREAD(fh, buf, size, offset)  nfs_pread(nfs, fh, buf, size, offset)
#define PWRITE(fh, buf, size, offset) nfs_pwrite(nfs, fh, buf, size, offset)
#else
#define PREAD(fh, buf, size, offset)  nfs_pread(nfs, fh, offset, size, buf)
#define PWRITE(fh, buf, size, offset) nfs_pwrite(nfs, fh, offset, size, buf)
#endif

static struct nfsfh *file_of(const struct fuse_file_info *fi) { return (struct nfsfh *)(uintptr_t)fi->fh; }

static void *start(struct fuse_conn_info *conn, struct fuse_config *config)
{
    (void)config;
    conn->max_read = IO_MAX;
    conn->max_write = IO_MAX;
    return NULL;
}

static int get_attributes(const char *path, struct stat *out, struct fuse_file_info *fi)
{
    struct nfs_stat_64 st;
    int rc = fi ? LOCKED(nfs_fstat64(nfs, file_of(fi), &st)) : LOCKED(nfs_lstat64(nfs, path, &st));

    if (rc < 0)
        return rc;
    *out = (struct stat){.st_ino = st.nfs_ino,
                         .st_mode = (mode_t)st.nfs_mode,
                         .st_nlink = st.nfs_nlink,
                         .st_uid = (uid_t)st.nfs_uid,
                         .st_gid = (gid_t)st.nfs_gid,
                         .st_size = (off_t)st.nfs_size,
                         .st_blocks = (blkcnt_t)st.nfs_blocks,
                         .st_mtim = {.tv_sec = (time_t)st.nfs_mtime, .tv_nsec = (long)st.nfs_mtime_nsec},
                         .st_ctim = {.tv_sec = (time_t)st.nfs_ctime, .tv_nsec = (long)st.nfs_ctime_nsec}};
    return 0;
}

static int read_directory(const char *path, void *buf, fuse_fill_dir_t fill, off_t offset, struct fuse_file_info *fi,
                          enum fuse_readdir_flags flags)
{
    struct nfsdir *dir;
    const struct nfsdirent *e;
    int rc = LOCKED(nfs_opendir(nfs, path, &dir));

    (void)offset;
    (void)fi;
    (void)flags;
    if (rc < 0)
        return rc;
    while ((e = nfs_readdir(nfs, dir)) != NULL)
        fill(buf, e->name, NULL, 0, 0);
    nfs_closedir(nfs, dir);
    return 0;
}

static int open_file(const char *path, struct fuse_file_info *fi)
{
    struct nfsfh *fh = NULL;
    int rc = LOCKED(nfs_open(nfs, path, fi->flags, &fh));

    fi->fh = (uintptr_t)fh;
    return rc < 0 ? rc : 0;
}

static int create_file(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    struct nfsfh *fh = NULL;
    int rc = LOCKED(nfs_create(nfs, path, fi->flags, (int)mode, &fh));

    fi->fh = (uintptr_t)fh;
    return rc < 0 ? rc : 0;
}

static int release_file(const char *path, struct fuse_file_info *fi)
{
    (void)path;
    return LOCKED(nfs_close(nfs, file_of(fi)));
}

static int read_file(const char *path, char *buf, size_t size, off_t offset, struct fuse_file_info *fi)
{
    (void)path;
    return LOCKED(PREAD(file_of(fi), buf, size, (uint64_t)offset));
}

/* libnfs's parameter is not const, it only reads. */
static char *unconst(const char *p) { return (char *)(uintptr_t)p; }

static int write_file(const char *path, const char *buf, size_t size, off_t offset, struct fuse_file_info *fi)
{
    (void)path;
    return LOCKED(PWRITE(file_of(fi), unconst(buf), size, (uint64_t)offset));
}

static int sync_file(const char *path, int data_only, struct fuse_file_info *fi)
{
    (void)path;
    (void)data_only;
    return LOCKED(nfs_fsync(nfs, file_of(fi)));
}

static int set_size(const char *path, off_t size, struct fuse_file_info *fi)
{
    return fi ? LOCKED(nfs_ftruncate(nfs, file_of(fi), (uint64_t)size))
              : LOCKED(nfs_truncate(nfs, path, (uint64_t)size));
}

static int set_mode(const char *path, mode_t mode, struct fuse_file_info *fi)
{
    (void)fi;
    return LOCKED(nfs_chmod(nfs, path, (int)mode));
}

static int set_owner(const char *path, uid_t uid, gid_t gid, struct fuse_file_info *fi)
{
    (void)fi;
    return LOCKED(nfs_lchown(nfs, path, (int)uid, (int)gid));
}

static int set_times(const char *path, const struct timespec times[2], struct fuse_file_info *fi)
{
    struct timeval tv[2];

    (void)fi;
    for (int i = 0; i < 2; i++)
        if (times[i].tv_nsec == UTIME_NOW || times[i].tv_nsec == UTIME_OMIT)
            gettimeofday(&tv[i], NULL);
        else
            tv[i] = (struct timeval){.tv_sec = times[i].tv_sec, .tv_usec = times[i].tv_nsec / 1000};
    return LOCKED(nfs_lutimes(nfs, path, tv));
}

static int make_directory(const char *path, mode_t mode) { return LOCKED(nfs_mkdir2(nfs, path, (int)mode)); }
static int remove_directory(const char *path) { return LOCKED(nfs_rmdir(nfs, path)); }
static int remove_file(const char *path) { return LOCKED(nfs_unlink(nfs, path)); }

static const struct fuse_operations table = {
    .init = start,
    .getattr = get_attributes,
    .readdir = read_directory,
    .open = open_file,
    .create = create_file,
    .release = release_file,
    .read = read_file,
    .write = write_file,
    .fsync = sync_file,
    .truncate = set_size,
    .chmod = set_mode,
    .chown = set_owner,
    .utimens = set_times,
    .mkdir = make_directory,
    .rmdir = remove_directory,
    .unlink = remove_file,
};

int main(int argc, char **argv)
{
    char options[] = "max_read=1048576,allow_other,fsname=standin";
    char flag[] = "-o", foreground[] = "-f";
    struct nfs_url *url;

    if (argc != 3) {
        fprintf(stderr, "usage: fuse_standin nfs://SERVER/EXPORT DIR\n");
        return 2;
    }
    nfs = nfs_init_context();
    url = nfs ? nfs_parse_url_dir(nfs, argv[1]) : NULL;
    if (!url || nfs_mount(nfs, url->server, url->path)) {
        fprintf(stderr, "fuse_standin: %s\n", nfs ? nfs_get_error(nfs) : "no memory");
        return 1;
    }
    nfs_destroy_url(url);
    {
        char *arguments[] = {argv[0], foreground, flag, options, argv[2], NULL};

        return fuse_main(5, arguments, &table, NULL);
    }
}
