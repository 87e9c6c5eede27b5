/* The file system of a storage (store.h): FUSE requests over a folder, reads and writes by a store_clock. One thread, nothing waits
 * but for the folder itself, which is in memory as a rule. */
#ifndef EMU_LIVE_STORE_FS_H
#define EMU_LIVE_STORE_FS_H

#include <stdbool.h>
#include <stddef.h>

struct store_clock;
struct store_config;
struct store_fs;

/* Mounts it over the folder, in the caller's mount namespace. 0 or a negative errno with a sentence. */
int store_fs_new(struct store_fs **out, const struct store_config *c, struct store_clock *k, char *problem,
                 size_t size);
int store_fs_fd(const struct store_fs *fs); /* readable: requests wait */
/* Takes requests, as many as there are within reason. False: the file system is gone. */
bool store_fs_serve(struct store_fs *fs);

#endif
