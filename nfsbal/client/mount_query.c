#include "nfsbal/client/mount_query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsbal/client/loop.h"

enum { PORTMAP_PORT = 111, MOUNT_PROGRAM = 100005, MOUNT_VERSION = 3 };

struct mount_query {
    struct loop *loop;
    struct conn_config to;
    uint16_t port;
    const char *path;
    struct conn *conn;
    bool finished, told;
    struct loop_task start;
    mount_query_done *done;
    void *context;
};

static void connect_to(void *context);

static void tell(struct mount_query *q, const struct nfs3_result *r, const char *problem)
{
    q->finished = true;
    q->done(q->context, r, problem);
}

static void fail(struct mount_query *q, enum nfs3_status status, const char *problem)
{
    struct nfs3_result r = {.procedure = q->path ? NFS3_MOUNT_MNT : NFS3_MOUNT_EXPORT, .status = status};

    tell(q, &r, problem);
}

static void answered(void *arg, const struct nfs3_result *r)
{
    struct mount_query *q = arg;
    char problem[200];

    if (r->status == NFS3_CONN_LOST || q->finished)
        return; /* the end of the connection says it */
    snprintf(problem, sizeof problem, "%s%s%s: %s", nfs3_procedure_name(r->procedure), q->path ? " " : "",
             q->path ? q->path : "", r->problem ? r->problem : nfs3_status_name(r->status));
    tell(q, r, r->status == NFS3_SUCCESS ? NULL : problem);
}

static void got_port(void *arg, const struct nfs3_result *r)
{
    struct mount_query *q = arg;

    if (r->status == NFS3_SUCCESS)
        q->port = (uint16_t)r->count;
    if (r->status != NFS3_CONN_LOST)
        conn_close(q->conn, q->port ? "done" : "the portmapper knows no mount service");
}

static void changed(void *context, struct conn *c, enum conn_state state)
{
    struct mount_query *q = context;
    struct nfs3_call getport = {.procedure = NFS3_GETPORT, .count = MOUNT_PROGRAM, .max_count = MOUNT_VERSION};
    struct nfs3_call ask = {.procedure = q->path ? NFS3_MOUNT_MNT : NFS3_MOUNT_EXPORT, .name = q->path};
    bool mapped = q->port != 0;
    char problem[200];

    if (state == CONN_UP) {
        if (conn_send(c, mapped ? &ask : &getport, mapped ? answered : got_port, q))
            conn_close(c, mapped ? "a path that can't be asked for" : "out of memory");
        return;
    }
    q->conn = NULL;
    if (q->finished)
        return;
    if (mapped && !q->told) { /* that was the portmapper; now the service */
        connect_to(q);
        return;
    }
    snprintf(problem, sizeof problem, "%s: %s", mapped ? "mount service" : "portmapper", conn_problem(c));
    fail(q, NFS3_CONN_LOST, problem);
}

static void connect_to(void *context)
{
    struct mount_query *q = context;
    char problem[160], text[64];

    q->told = q->port != 0;
    conn_parse_address(conn_print_address(&q->to.server, text, sizeof text), q->port ? q->port : PORTMAP_PORT,
                       &q->to.server);
    q->conn = conn_open(q->loop, &q->to, changed, q, problem, sizeof problem);
    if (!q->conn)
        fail(q, NFS3_CONN_LOST, problem);
}

struct mount_query *mount_query_new(struct loop *l, const struct conn_config *to, uint16_t mount_port, const char *path,
                                    mount_query_done *done, void *context)
{
    struct mount_query *q = calloc(1, sizeof *q);

    if (!q)
        return NULL;
    q->loop = l;
    q->to = *to;
    q->to.source_port = 0;
    q->port = mount_port;
    q->path = path;
    q->done = done;
    q->context = context;
    loop_task_queue(l, &q->start, connect_to, q);
    return q;
}

void mount_query_free(struct mount_query *q)
{
    if (!q)
        return;
    q->finished = true;
    loop_task_cancel(&q->start);
    conn_free(q->conn);
    free(q);
}

struct split {
    struct loop *loop;
    enum nfs3_status status;
    char *problem;
    size_t size;
};

static void split_answered(void *context, const struct nfs3_result *r, const char *problem)
{
    struct split *s = context;

    s->status = r->status;
    if (problem)
        snprintf(s->problem, s->size, "%s", problem);
    loop_stop(s->loop);
}

int mount_query_split(const struct conn_config *to, uint16_t mount_port, const char *path, char *export, char *rest,
                      char *problem, size_t size)
{
    struct split s = {.loop = loop_new(), .status = NFS3_NO_MEMORY, .problem = problem, .size = size};
    size_t n = strlen(path);

    snprintf(problem, size, "out of memory");
    memcpy(export, path, n + 1);
    while (n > 1 && export[n - 1] == '/')
        export[--n] = '\0';
    *rest = '\0';
    while (s.loop) {
        struct mount_query *q = mount_query_new(s.loop, to, mount_port, export, split_answered, &s);
        char *slash = strrchr(export, '/');

        if (!q)
            break;
        loop_run(s.loop);
        mount_query_free(q);
        if (s.status <= 0 || !slash || slash == export)
            break;
        memcpy(rest, path + (slash - export) + 1, strlen(path + (slash - export) + 1) + 1);
        *slash = '\0';
    }
    for (n = strlen(rest); n && rest[n - 1] == '/'; n--)
        rest[n - 1] = '\0';
    loop_free(s.loop);
    return s.status == NFS3_SUCCESS ? 0 : -1;
}
