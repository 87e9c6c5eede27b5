/* The objects that the kernel knows: a number for each NFS handle, counted as the kernel counts its look-ups.
 *
 * A handle has one node however many names lead to it. A node lives while the kernel has looked it up (`lookups`) or we hold
 * it (`holds`: open files, requests under way, unwritten data). Numbers are never used twice, so a late one finds nothing.
 */
#ifndef NFSBAL_CLIENT_HANDLES_H
#define NFSBAL_CLIENT_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/attr_cache.h"
#include "nfsbal/client/locks.h"
#include "nfsbal/client/nfs3.h"
#include "nfsbal/client/writeback.h"

struct fs;
struct stable_file;

enum { NODE_ROOT = 1, NODE_KEYS = 3 };

struct node {
    struct fs *fs; /* whose it is; for callbacks that get a part of the node */
    uint64_t id, lookups;
    uint32_t holds, opens; /* each open is also a hold */
    struct nfs3_fh fh;
    struct attr_cache attr;

    /* Data. */
    struct wb_file wb;
    struct stable_file *stable; /* while something was written that may not be stable */
    bool closing;               /* `stable` is being synced to be closed */
    bool gone;                  /* its last name was removed */
    bool shown;                 /* the kernel may have pages that match `shown_*` */
    uint64_t shown_size;        /* of the file when it was last opened */
    struct nfs3_time shown_mtime, shown_ctime;

    struct lock_list locks, flocks; /* fcntl's and flock's */

    /* The name it was last seen under, NULL if none; what unlinking an open file goes by. */
    uint64_t parent;
    char *name;
    bool removed; /* `name` is one that we made up for an unlinked file that is still open, in */
    struct nfs3_fh removed_from;
    struct nfs3_credential removed_by;

    /* Private: chains by number, handle and name. */
    struct node *next[NODE_KEYS];
};

struct handles {
    struct node **slots[NODE_KEYS];
    size_t n_slots, count;
    uint64_t last_id;
    struct fs *fs; /* of new nodes */
};

bool handles_init(struct handles *h); /* false: no memory */
void handles_free(struct handles *h); /* frees all nodes as they are */

/* The node of a handle, made if need be with nothing but that. NULL: no memory. */
struct node *handles_get(struct handles *h, const struct nfs3_fh *fh);
struct node *handles_find(const struct handles *h, uint64_t id); /* NULL: no such number */

/* Frees the node when nobody needs it. Call after lowering `lookups` or `holds`. True: it is gone. */
bool handles_release(struct handles *h, struct node *n);

/* It is seen under this name now; the one it had is forgotten, and so is another node's claim to the new one. Without memory
 * it has no name. */
void handles_set_name(struct handles *h, struct node *n, uint64_t parent, const char *name);
void handles_drop_name(struct handles *h, struct node *n);
struct node *handles_named(const struct handles *h, uint64_t parent, const char *name); /* or NULL */

/* Calls `each` for every node; it may not free any. */
void handles_each(struct handles *h, void (*each)(void *context, struct node *n), void *context);

#endif
