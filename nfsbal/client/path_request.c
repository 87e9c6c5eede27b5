/* The life of a request: submitted -> (held by an overlapping write) -> (waiting for a path) -> under way -> answered,
 * and back to waiting when its connection was lost. `link` says that it is in a list (held, waiting, failed or delayed);
 * `pending` that it is on a connection; `replay` that its answer is being looked into. It is never in two of these.
 *
 * A pending outlives its request when the caller no longer wants the answer: the server may still do the write. */
#include "nfsbal/client/path_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    BAD_REPLIES_MAX = 3, /* of one request before it is the caller's problem */
    JUKEBOX_FIRST_MS = 100,
    JUKEBOX_LONGEST_MS = 5000,
};

static void list_init(struct request_list *l)
{
    l->first = NULL;
    l->last = &l->first;
}

static void list_push(struct request_list *l, struct request *r, int where)
{
    r->where = where;
    r->next = NULL;
    r->link = l->last;
    *l->last = r;
    l->last = &r->next;
}

static void list_remove(struct request_list *l, struct request *r)
{
    r->where = REQUEST_FREE;
    *r->link = r->next;
    if (r->next)
        r->next->link = r->link;
    else
        l->last = r->link;
    r->link = NULL;
}

static void run_waiting(void *context) { requests_run(context); }

static void wait_for_path(struct request *r)
{
    struct paths *p = r->paths;

    list_push(&p->waiting, r, REQUEST_WAITING);
    if (!p->freeing)
        loop_task_queue(p->loop, &p->run, run_waiting, p);
}

void requests_init(struct paths *p)
{
    list_init(&p->waiting);
    list_init(&p->failed);
    list_init(&p->delayed);
}

/* Leaves all lists of the set; afterwards the memory is the caller's again. */
static void detach(struct request *r)
{
    struct paths *p = r->paths;

    *r->all_link = r->all_next;
    if (r->all_next)
        r->all_next->all_link = r->all_link;
    r->paths = NULL;
    if (r->order) {
        struct order_entry *e = r->order;

        r->order = NULL;
        order_leave(p->order, e);
    }
}

void request_answer(struct request *r, const struct nfs3_result *result)
{
    detach(r);
    r->done(r, result);
}

/* Takes a request off wherever it is. A write on a connection leaves its place in the order to the pending. */
static void pull(struct request *r)
{
    struct paths *p = r->paths;

    replay_cancel(r);
    if (r->pending) {
        r->pending->request = NULL;
        r->pending = NULL;
        r->order = NULL;
    }
    switch (r->where) {
    case REQUEST_FREE:
        break;
    case REQUEST_HELD:
        order_cancel(p->order, r);
        break;
    case REQUEST_WAITING:
        list_remove(&p->waiting, r);
        break;
    case REQUEST_DELAYED:
        list_remove(&p->delayed, r);
        break;
    case REQUEST_FAILED:
        list_remove(&p->failed, r);
        break;
    }
}

static void tell_failed(void *context)
{
    struct paths *p = context;
    struct request *r;

    while ((r = p->failed.first)) {
        struct nfs3_result result = {.procedure = r->call.procedure, .status = r->failed};

        list_remove(&p->failed, r);
        request_answer(r, &result);
    }
}

/* Answers from the loop. */
static void fail_later(struct request *r, enum nfs3_status status)
{
    struct paths *p = r->paths;

    r->failed = status;
    list_push(&p->failed, r, REQUEST_FAILED);
    loop_task_queue(p->loop, &p->tell, tell_failed, p);
}

static void retry_delayed(void *context)
{
    struct paths *p = context;
    int64_t now = loop_clock(), next = INT64_MAX;

    for (struct request *r = p->delayed.first, *after; r; r = after) {
        after = r->next;
        if (r->due > now) {
            next = r->due < next ? r->due : next;
            continue;
        }
        list_remove(&p->delayed, r);
        wait_for_path(r);
    }
    if (p->delayed.first)
        loop_timer_start(p->loop, &p->delay, next - now, retry_delayed, p);
}

static void delay(struct request *r)
{
    struct paths *p = r->paths;
    int64_t ms = JUKEBOX_FIRST_MS << (r->jukebox < 10 ? r->jukebox : 10);

    if (ms > JUKEBOX_LONGEST_MS)
        ms = JUKEBOX_LONGEST_MS;
    r->jukebox++;
    r->due = loop_clock() + ms * NS_PER_MS;
    list_push(&p->delayed, r, REQUEST_DELAYED);
    loop_timer_start(p->loop, &p->delay, 0, retry_delayed, p); /* finds the next due time */
}

static struct pending *pending_new(struct paths *p)
{
    struct pending *q = p->free_pending;

    if (!q)
        return calloc(1, sizeof *q);
    p->free_pending = q->next;
    return q;
}

static void pending_free(struct paths *p, struct pending *q)
{
    q->next = p->free_pending;
    p->free_pending = q;
}

static void count(struct path *path, const struct nfs3_result *result, int64_t ns)
{
    path->stats.operations++;
    if (result->status != NFS3_SUCCESS)
        path->stats.errors++;
    else if (result->procedure == NFS3_READ)
        path->stats.read += result->count;
    else if (result->procedure == NFS3_WRITE)
        path->stats.written += result->count;
    stats_latency_add(&path->stats.latency, ns);
}

static bool is_lost(enum nfs3_status s) { return s == NFS3_CONN_LOST || s == NFS3_BAD_REPLY; }

static void answered(void *arg, const struct nfs3_result *result)
{
    struct pending *q = arg;
    struct paths *p = q->set;
    struct path *path = q->path;
    struct request *r = q->request;
    struct order_entry *order = q->order;
    int64_t ns = loop_clock() - q->sent;

    pending_free(p, q);
    if (order && is_lost(result->status))
        order_fence(p->order, order);
    if (!is_lost(result->status))
        count(path, result, ns);
    if (!r) { /* nobody waits, but the range is free now */
        order_leave(p->order, order);
        return;
    }
    r->pending = NULL;
    if (result->status == NFS3_BAD_REPLY)
        r->bad++;
    if (is_lost(result->status) && !p->freeing && !r->must && r->bad < BAD_REPLIES_MAX) {
        r->lost++;
        path->lost++;
        wait_for_path(r);
    } else if (result->status == NFS3_EJUKEBOX) {
        path->stats.retries++;
        delay(r);
    } else if (!replay_settle(r, result)) {
        request_answer(r, result);
    }
}

static void issue(struct request *r, struct path_conn *on)
{
    struct paths *p = r->paths;
    struct pending *q = pending_new(p);
    int rc = -ENOMEM;

    if (q) {
        q->request = r;
        q->set = p;
        q->path = on->path;
        q->order = r->order;
        q->sent = loop_clock();
        rc = conn_send(on->conn, &r->call, answered, q);
        if (rc)
            pending_free(p, q);
    }
    if (rc == 0) {
        r->pending = q;
        r->path = (int)on->path->index;
        r->epoch = on->path->epoch;
    } else if (rc == -ENOTCONN) {
        wait_for_path(r);
    } else {
        fail_later(r, rc == -EINVAL ? NFS3_EINVAL : NFS3_NO_MEMORY);
    }
}

void requests_run(struct paths *p)
{
    struct request *r = p->waiting.first, *next;

    if (!p->have_root)
        return;
    for (; r; r = next) {
        struct path_conn *on = paths_choose(p, r);

        next = r->next;
        if (on) {
            list_remove(&p->waiting, r);
            issue(r, on);
        } else if (r->must) {
            list_remove(&p->waiting, r);
            fail_later(r, NFS3_CONN_LOST);
        }
    }
}

static void start(struct request *r)
{
    struct paths *p = r->paths;
    struct path_conn *on = p->have_root && !p->freeing && !p->waiting.first ? paths_choose(p, r) : NULL;

    if (on)
        issue(r, on);
    else
        wait_for_path(r);
}

void paths_submit(struct paths *p, struct request *r)
{
    int rc = 1;

    r->paths = p;
    r->link = NULL;
    r->pending = NULL;
    r->order = NULL;
    r->replay = NULL;
    r->submitted = loop_clock();
    r->where = REQUEST_FREE;
    r->lost = r->jukebox = r->bad = 0;
    r->path = REQUEST_ANY_PATH;
    r->all_next = p->all;
    r->all_link = &p->all;
    if (p->all)
        p->all->all_link = &r->all_next;
    p->all = r;
    if (!p->order)
        p->order = order_new(p->loop, p->config.quarantine_ms, start);
    if (order_needed(&r->call))
        rc = p->order ? order_enter(p->order, r) : -ENOMEM;
    if (rc == 1)
        start(r);
    else if (rc < 0)
        fail_later(r, NFS3_NO_MEMORY);
}

void paths_forget(struct request *r)
{
    if (!r->paths)
        return;
    pull(r);
    detach(r);
}

/* Soft: gives up on what has waited too long. */
void requests_expire(struct paths *p, int64_t now)
{
    int64_t limit = p->config.timeo_ms * ((int64_t)p->config.retrans + 1) * NS_PER_MS;

    for (struct request *r = p->all, *next; r; r = next) {
        next = r->all_next;
        if (now - r->submitted < limit || r->where == REQUEST_FAILED || r->replay)
            continue;
        pull(r);
        fail_later(r, NFS3_TIMED_OUT);
    }
}

void requests_cancel(struct paths *p)
{
    while (p->all) {
        struct request *r = p->all;
        struct nfs3_result result = {.procedure = r->call.procedure, .status = NFS3_CANCELLED};

        pull(r);
        request_answer(r, &result);
    }
}

void requests_free(struct paths *p)
{
    struct pending *q;

    order_free(p->order);
    while ((q = p->free_pending)) {
        p->free_pending = q->next;
        free(q);
    }
    loop_timer_stop(&p->delay);
    loop_task_cancel(&p->run);
    loop_task_cancel(&p->tell);
}
