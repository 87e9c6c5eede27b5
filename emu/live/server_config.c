#include "emu/live/server_config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/live/server.h"

enum { SERVER_THREADS = 1024 };

/* What nfs-ganesha's parser takes in a quoted string as it stands. */
static bool is_plain(const char *path)
{
    for (const char *c = path; *c; c++)
        if ((unsigned char)*c < ' ' || *c == '"' || *c == '\\')
            return false;
    return *path == '/';
}

static int check_exports(const struct server_config *c, char *problem, size_t size)
{
    if (c->n_exports > SERVER_EXPORTS_MAX) {
        snprintf(problem, size, "%s: %zu exports, at most %d are possible", c->name, c->n_exports, SERVER_EXPORTS_MAX);
        return -EINVAL;
    }
    for (size_t i = 0; i < c->n_exports; i++) {
        if (!is_plain(c->exports[i].path)) {
            snprintf(problem, size,
                     "%s: nfs-ganesha can't export `%s`: a path begins with / and has no quotes, "
                     "backslashes or control characters",
                     c->name, c->exports[i].path);
            return -EINVAL;
        }
    }
    return 0;
}

/* Clients mount by the pseudo path in all versions (mount_path_pseudo), so a path is the same on every machine, wherever
 * its directory is. fsid_device and equal numbers make handles equal on all controllers. Attributes and directories are
 * not cached, since another controller may change them; the kernel below caches as well. Graceless: nobody has locks to
 * reclaim after a start. */
static void write_fixed(FILE *f)
{
    fprintf(
        f,
        "NFS_CORE_PARAM { Protocols = 3, 4; NFS_Port = %d; MNT_Port = %d; Enable_NLM = false; Enable_RQUOTA = false;\n"
        "    Enable_UDP = false; fsid_device = true; mount_path_pseudo = true; }\n"
        "NFSV4 { Graceless = true; Minor_Versions = 0, 1, 2; RecoveryBackend = fs; RecoveryRoot = \"/run/ganesha\"; }\n"
        "MDCACHE { Dir_Chunk = 0; }\n"
        "MEM { Inode_Size = 0; }\n"
        "LOG { Default_Log_Level = EVENT; }\n",
        SERVER_PORT, SERVER_MOUNT_PORT);
}

/* A request that waits for a storage holds one of nfs-ganesha's threads. */
static void write_threads(FILE *f, const struct server_config *c)
{
    bool storage = false;
    for (size_t i = 0; i < c->n_exports; i++)
        storage |= c->exports[i].tree > 0;
    if (storage)
        fprintf(f, "RPC { Ioq_ThrdMax = %d; }\n", SERVER_THREADS);
}

static void write_export(FILE *f, size_t i, const struct server_export *e)
{
    fprintf(f, "EXPORT { Export_Id = %zu; ", i + 1);
    if (e->directory)
        fprintf(f, "Path = \"%s/%zu\"; ", SERVER_EXPORT_DIR, i + 1);
    else
        fprintf(f, "Path = \"%s\"; ", e->path);
    fprintf(f,
            "Pseudo = \"%s\";\n"
            "    Protocols = 3, 4; Transports = TCP; Access_Type = RW; Squash = none; SecType = sys;\n"
            "    MaxRead = 1048576; MaxWrite = 1048576; PrefRead = 1048576; PrefWrite = 1048576;\n"
            "    Attr_Expiration_Time = 0; FSAL { Name = %s; } }\n",
            e->path, e->directory ? "VFS" : "MEM");
}

int server_config_write(const struct server_config *c, char *problem, size_t size)
{
    char path[4096];
    int error = check_exports(c, problem, size);
    if (error)
        return error;
    if ((size_t)snprintf(path, sizeof path, "%s/ganesha.conf", c->dir) >= sizeof path) {
        snprintf(problem, size, "%s: %s", c->dir, strerror(ENAMETOOLONG));
        return -ENAMETOOLONG;
    }
    FILE *f = fopen(path, "we");
    if (f) {
        write_fixed(f);
        write_threads(f, c);
        for (size_t i = 0; i < c->n_exports; i++)
            write_export(f, i, &c->exports[i]);
        bool lost = ferror(f);
        errno = 0;
        if (!fclose(f) && !lost)
            return 0;
    }
    error = errno ? errno : EIO;
    snprintf(problem, size, "%s: %s", path, strerror(error));
    return -error;
}
