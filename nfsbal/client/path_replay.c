/* Calls that may have been done by a server whose answer was lost.
 *
 * NFS 3 servers remember answers of the last calls, but not across two controllers or a restart. So when a call that was
 * lost with its connection and issued again is answered with an error that its own first copy would cause, it is told
 * from a real error by these rules:
 *
 *   REMOVE, RMDIR      NOENT: done.
 *   RENAME             NOENT: done when the new name exists and, if the caller knew the object's file id, is that object.
 *   LINK               EXIST: done when the name is the same object (file id).
 *   MKDIR              EXIST: done when the name is a directory.
 *   MKNOD              EXIST: done when the name is of the type asked for.
 *   CREATE, guarded    EXIST: done when the name is an empty regular file. (O_EXCL is better made with EXCLUSIVE, whose
 *                      verifier lets the server itself know its own copy.)
 *   SYMLINK            EXIST: done when the name is a link with the same target.
 *
 * They can take another client's doing for ours, in the moment of a failure; the kernel's client has the same rules. A
 * guarded SETATTR is answered as it is: NOT_SYNC.
 */
#include "nfsbal/client/path_private.h"

#include <stdlib.h>
#include <string.h>

struct replay {
    struct request question, *answers; /* the second may be NULL: its caller forgot it */
    enum nfs3_status error;            /* that is in doubt */
    struct nfs3_fh fh;
    struct nfs3_attr attr;
    bool have_attr;
};

/* The answer as if the first copy's had arrived. */
static void settle(struct replay *p, bool done)
{
    struct request *r = p->answers;
    struct nfs3_result result = {.procedure = r->call.procedure, .status = done ? NFS3_SUCCESS : p->error};

    if (done && r->call.procedure != NFS3_RENAME) {
        result.fh = &p->fh;
        result.attr = p->have_attr ? &p->attr : NULL;
    }
    r->replay = NULL;
    request_answer(r, &result);
    free(p);
}

static void read_link(struct request *q, const struct nfs3_result *result)
{
    struct replay *p = q->arg;

    settle(p, result->status == NFS3_SUCCESS && strcmp(result->target, p->answers->call.target) == 0);
}

/* Whether what stands under the name now is what the call would have made. */
static bool is_ours(const struct request *r, const struct nfs3_result *found)
{
    const struct nfs3_attr *a = found->attr;

    switch (r->call.procedure) {
    case NFS3_RENAME:
        return !r->fileid || (a && a->fileid == r->fileid);
    case NFS3_LINK:
        return nfs3_fh_equal(found->fh, &r->call.fh) || (a && r->fileid && a->fileid == r->fileid);
    case NFS3_MKDIR:
        return a && a->type == NFS3_DIR;
    case NFS3_MKNOD:
        return a && a->type == r->call.type;
    case NFS3_CREATE:
        return a && a->type == NFS3_REG && a->size == 0;
    case NFS3_SYMLINK:
        return a && a->type == NFS3_LNK;
    default:
        return false;
    }
}

static void looked_up(struct request *q, const struct nfs3_result *result)
{
    struct replay *p = q->arg;
    bool ours = result->status == NFS3_SUCCESS && is_ours(p->answers, result);

    if (ours) {
        p->fh = *result->fh;
        p->have_attr = result->attr != NULL;
        if (p->have_attr)
            p->attr = *result->attr;
    }
    if (ours && p->answers->call.procedure == NFS3_SYMLINK) {
        struct paths *set = p->answers->paths;

        q->call =
            (struct nfs3_call){.procedure = NFS3_READLINK, .credential = p->answers->call.credential, .fh = p->fh};
        q->done = read_link;
        paths_submit(set, q);
        return;
    }
    settle(p, ours);
}

static bool look_up(struct request *r, enum nfs3_status error, const struct nfs3_fh *dir, const char *name)
{
    struct replay *p = calloc(1, sizeof *p);

    if (!p)
        return false;
    p->answers = r;
    p->error = error;
    p->question.call =
        (struct nfs3_call){.procedure = NFS3_LOOKUP, .credential = r->call.credential, .fh = *dir, .name = name};
    p->question.done = looked_up;
    p->question.arg = p;
    p->question.want = REQUEST_ANY_PATH;
    r->replay = p;
    paths_submit(r->paths, &p->question);
    return true;
}

bool replay_settle(struct request *r, const struct nfs3_result *result)
{
    const struct nfs3_call *c = &r->call;
    struct nfs3_result done = {.procedure = c->procedure, .status = NFS3_SUCCESS};

    if (!r->lost || nfs3_idempotent(c))
        return false;
    switch (c->procedure) {
    case NFS3_REMOVE:
    case NFS3_RMDIR:
        if (result->status != NFS3_ENOENT)
            return false;
        done.dir = result->dir;
        request_answer(r, &done);
        return true;
    case NFS3_RENAME:
        return result->status == NFS3_ENOENT && look_up(r, result->status, &c->fh2, c->name2);
    case NFS3_LINK:
        return result->status == NFS3_EEXIST && look_up(r, result->status, &c->fh2, c->name2);
    case NFS3_CREATE:
    case NFS3_MKDIR:
    case NFS3_SYMLINK:
    case NFS3_MKNOD:
        return result->status == NFS3_EEXIST && look_up(r, result->status, &c->fh, c->name);
    default:
        return false;
    }
}

void replay_cancel(struct request *r)
{
    if (!r->replay)
        return;
    paths_forget(&r->replay->question);
    free(r->replay);
    r->replay = NULL;
}
