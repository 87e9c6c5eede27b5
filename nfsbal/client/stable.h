/* Unstable writes, kept until they are stable.
 *
 * A WRITE that the server answered as unstable may be lost when that server restarts. Its data is kept here until a COMMIT
 * answers with the same write verifier; when the verifier is another, or nobody with that verifier can be asked any more,
 * it is written again, on any path. stable_sync() answers only then. Writes of one file that overlap an older, not yet
 * committed one take its place: what would be written again is always the newest data.
 *
 * The bytes kept are bounded by the pool that the buffers come from, and by `dirty_max`: above half of it a COMMIT starts
 * by itself.
 */
#ifndef NFSBAL_CLIENT_STABLE_H
#define NFSBAL_CLIENT_STABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsbal/client/nfs3.h"

struct buffer;
struct loop;
struct paths;
struct stable;
struct stable_file;

/* Of one path set. NULL: no memory. */
struct stable *stable_new(struct loop *l, struct paths *p, uint64_t dirty_max);
void stable_free(struct stable *s);           /* accepts NULL; files must be closed */
uint64_t stable_kept(const struct stable *s); /* bytes answered and not committed, of all files */

/* A file by its handle; `credential` is copied (NULL: the paths' own). One object per file, whoever writes. */
struct stable_file *stable_open(struct stable *s, const struct nfs3_fh *fh, const struct nfs3_credential *credential);
/* Forgets the file: what is out is answered no more, what was not committed is not written again. */
void stable_close(struct stable_file *f); /* accepts NULL */

/* `error`: 0 or a positive errno. `attr`: the file's attributes from the last answer, or NULL. */
typedef void stable_done(void *arg, int error, const struct nfs3_attr *attr);

/* Writes length bytes at buffer->data + start; takes a reference of its own. `how` NFS3_UNSTABLE or NFS3_FILE_SYNC.
 * `done` comes when the server answered (short writes are continued). -ENOMEM: nothing happened. */
int stable_write(struct stable_file *f, struct buffer *buffer, size_t start, uint64_t offset, uint32_t length,
                 enum nfs3_stable how, stable_done *done, void *arg);

/* `done` comes when all writes that were given before are stable, with the first error of any since the last sync. */
int stable_sync(struct stable_file *f, stable_done *done, void *arg);

/* Memory is short: COMMITs everything that waits for somebody to sync it, and from now on what is answered, until it is not short. */
void stable_press(struct stable *s, bool is_short);

/* The size was set: what is kept beyond it would bring it back. Call before the SETATTR is sent; writes must be drained. */
void stable_truncate(struct stable_file *f, uint64_t size);

uint64_t stable_file_kept(const struct stable_file *f);

#endif
