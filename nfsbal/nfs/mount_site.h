/* The datastores of a topology file, as mounts on this machine. */
#ifndef NFSBAL_NFS_MOUNT_SITE_H
#define NFSBAL_NFS_MOUNT_SITE_H

#include <stdbool.h>
#include <stddef.h>

#include "nfsbal/client/mount.h"

struct mount_site_config {
    const char *command, *file, *plan, *case_name;
    const char *host; /* NULL: the only one, or the one that is called like this machine */
    const char *at;
    const char *const *datastores; /* none: all */
    size_t n_datastores;
    bool make_directories;
};

struct mount_site {
    struct mount_wish *wishes;
    size_t n;
    char **texts;             /* two for each: servers, target */
    bool *made;               /* the directory was made by us */
    void *topo, *plan, *file; /* private: what the names point into */
};

/* An exit code; anything but CLI_OK was explained on standard error. The first VIP of each is the one it is mounted from, then
 * come the others that serve the export. */
int mount_site_open(struct mount_site *s, const struct mount_site_config *config, const struct mount_options *options);
void mount_site_close(struct mount_site *s, bool failed); /* failed: removes directories that it made */

#endif
