#include "nfsbal/client/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfsbal/client/loop.h"
#include "nfsbal/client/mount_query.h"

enum { NFS_PORT = 2049, ANSWER_S = 10 };

/* One connection, and the last answer on it. The loop runs until what is asked for is there. */
struct probe {
    struct loop *loop;
    struct conn *conn;
    bool up, over, answered;
    struct nfs3_result result;
    struct nfs3_attr attr;
    struct nfs3_fh fh;
    struct nfs3_fsinfo fsinfo;
    char problem[200];
};

static void say(struct doctor_server *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct doctor_server *s, const char *format, ...)
{
    va_list args;

    if (*s->problem)
        return;
    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vsnprintf(s->problem, sizeof s->problem, format, args);
    va_end(args);
}

static void changed(void *context, struct conn *c, enum conn_state state)
{
    struct probe *p = context;

    if (state == CONN_UP) {
        p->up = true;
    } else {
        p->over = true;
        p->up = false;
        p->conn = NULL;
        snprintf(p->problem, sizeof p->problem, "%s", conn_problem(c));
    }
    loop_stop(p->loop);
}

static void answered(void *arg, const struct nfs3_result *r)
{
    struct probe *p = arg;

    p->answered = true;
    p->result = *r;
    if (r->attr)
        p->attr = *r->attr;
    if (r->fh)
        p->fh = *r->fh;
    if (r->fsinfo)
        p->fsinfo = *r->fsinfo;
    loop_stop(p->loop);
}

static void too_late(void *context)
{
    struct probe *p = context;

    if (p->conn)
        conn_close(p->conn, "no answer");
}

static bool probe_open(struct probe *p, struct loop *l, const struct conn_config *config)
{
    memset(p, 0, sizeof *p);
    p->loop = l;
    p->conn = conn_open(l, config, changed, p, p->problem, sizeof p->problem);
    while (p->conn && !p->up && !p->over)
        loop_run(l);
    return p->up;
}

/* The status of a call, or NFS3_CONN_LOST. */
static enum nfs3_status probe_ask(struct probe *p, struct nfs3_call call)
{
    struct loop_timer timer = {.active = false};

    p->answered = false;
    if (!p->conn || conn_send(p->conn, &call, answered, p))
        return NFS3_CONN_LOST;
    loop_timer_start(p->loop, &timer, ANSWER_S * NS_PER_S, too_late, p);
    while (!p->answered)
        loop_run(p->loop);
    loop_timer_stop(&timer);
    return p->result.status;
}

static void probe_close(struct probe *p)
{
    conn_free(p->conn);
    p->conn = NULL;
}

static void config_of(const struct doctor_config *config, const struct doctor_server *s, bool reserved,
                      struct conn_config *k)
{
    char text[64];

    *k = (struct conn_config){
        .source = config->source, .reserved = reserved, .bound_ms = config->bound_ms, .credential = config->credential};
    conn_parse_address(conn_print_address(&s->address, text, sizeof text), config->port ? config->port : NFS_PORT,
                       &k->server);
}

/* --- the mount service --------------------------------------------------------------------------------------------- */

struct asking {
    struct loop *loop;
    struct doctor_server *server;
    const char *export;
    bool done;
    enum nfs3_status status;
    char problem[200];
};

static void got_exports(void *context, const struct nfs3_result *r, const char *problem)
{
    struct asking *a = context;
    struct doctor_server *s = a->server;

    (void)problem; /* a closed list is no failure */
    a->done = true;
    if (r->status == NFS3_SUCCESS) {
        s->n_exports = r->n_exports;
        s->exports = r->n_exports ? DOCTOR_EXPORTS_UNLISTED : DOCTOR_EXPORTS_NONE;
        for (size_t i = 0; i < r->n_exports; i++)
            if (a->export && strcmp(r->exports[i], a->export) == 0)
                s->exports = DOCTOR_EXPORTS_LISTED;
        if (!a->export && r->n_exports) {
            snprintf(s->mounted_path, sizeof s->mounted_path, "%s", r->exports[0]);
            s->exports = DOCTOR_EXPORTS_LISTED;
        }
    }
    loop_stop(a->loop);
}

static void got_mount(void *context, const struct nfs3_result *r, const char *problem)
{
    struct asking *a = context;

    a->done = true;
    if (problem)
        say(a->server, "%s", problem);
    else if (!r->auth_sys)
        say(a->server, "%s is not exported with sec=sys", a->server->mounted_path);
    else
        a->server->root = *r->fh;
    a->server->mounted = !problem && r->auth_sys;
    loop_stop(a->loop);
}

static void ask_mount_service(struct loop *l, const struct doctor_config *config, struct doctor_server *s,
                              const char *path)
{
    struct asking a = {.loop = l, .server = s, .export = config->export};
    struct mount_query *q;
    struct conn_config k;

    config_of(config, s, true, &k);
    q = mount_query_new(l, &k, config->mount_port, path, path ? got_mount : got_exports, &a);
    while (q && !a.done)
        loop_run(l);
    mount_query_free(q);
}

/* --- NFS ----------------------------------------------------------------------------------------------------------- */

static void look_at_root(struct probe *p, struct doctor_server *s)
{
    struct nfs3_credential user0 = {.uid = 0, .gid = 0};
    struct nfs3_call access = {.procedure = NFS3_ACCESS, .fh = s->root, .access = 0x3f};
    enum nfs3_status status = probe_ask(p, (struct nfs3_call){.procedure = NFS3_GETATTR, .fh = s->root});

    if (status != NFS3_SUCCESS) {
        say(s, "GETATTR: %s", p->result.problem ? p->problem : nfs3_status_name(status));
        return;
    }
    s->attr = p->attr;
    status = probe_ask(p, (struct nfs3_call){.procedure = NFS3_FSINFO, .fh = s->root});
    if (status != NFS3_SUCCESS) {
        say(s, "FSINFO: %s", nfs3_status_name(status));
        return;
    }
    s->fsinfo = p->fsinfo;
    if (probe_ask(p, access) == NFS3_SUCCESS)
        s->access = p->result.access;
    access.credential = &user0;
    s->have_root_access = probe_ask(p, access) == NFS3_SUCCESS;
    s->root_access = s->have_root_access ? p->result.access : 0;
}

/* The same from a port that anybody may have: an export without `insecure` refuses it. */
static void try_unprivileged(struct loop *l, const struct doctor_config *config, struct doctor_server *s)
{
    struct conn_config k;
    struct probe p;

    if (!s->reserved_port) { /* that is what we had anyway */
        s->tried_unprivileged = s->unprivileged = true;
        return;
    }
    config_of(config, s, false, &k);
    if (probe_open(&p, l, &k)) {
        s->tried_unprivileged = true;
        s->unprivileged = probe_ask(&p, (struct nfs3_call){.procedure = NFS3_GETATTR, .fh = s->root}) == NFS3_SUCCESS;
    }
    probe_close(&p);
}

static void find_link(const struct probe *p, const struct conn_config *k, struct doctor_server *s)
{
    s->source_port = conn_source_port(p->conn);
    s->reserved_port = s->source_port < 1024;
    s->source = k->source;
    if (!s->source.any.sa_family && !local_link_source(&k->server, &s->source))
        return;
    s->have_link = local_link_of(&s->source, &s->link);
    s->member = s->have_link ? local_link_member("", &s->link, &s->source, &k->server, s->source_port) : -1;
}

static void examine(struct loop *l, const struct doctor_config *config, struct doctor_server *s)
{
    struct conn_config k;
    struct probe p;
    int64_t began = loop_clock();

    s->member = -1;
    config_of(config, s, true, &k);
    if (!probe_open(&p, l, &k)) {
        say(s, "%s", p.problem);
        probe_close(&p);
        return;
    }
    s->reached = true;
    s->connect_us = (loop_clock() - began) / 1000;
    find_link(&p, &k, s);
    ask_mount_service(l, config, s, NULL);
    if (config->export)
        snprintf(s->mounted_path, sizeof s->mounted_path, "%s", config->export);
    if (!*s->mounted_path)
        say(s, "it lists no exports: say --export");
    else
        ask_mount_service(l, config, s, s->mounted_path);
    if (s->mounted) {
        look_at_root(&p, s);
        s->rtt_us = p.conn ? conn_rtt_us(p.conn) : 0;
        try_unprivileged(l, config, s);
    }
    probe_close(&p);
}

/* --- the test of writing ------------------------------------------------------------------------------------------- */

/* The handle of a path below the root. */
static enum nfs3_status walk(struct probe *p, const struct nfs3_fh *root, const char *path, struct nfs3_fh *out)
{
    char name[NFS3_NAME_MAX + 1];

    *out = *root;
    for (;;) {
        size_t n;
        enum nfs3_status status;

        path += strspn(path, "/");
        n = strcspn(path, "/");
        if (n == 0)
            return NFS3_SUCCESS;
        if (n >= sizeof name)
            return NFS3_ENAMETOOLONG;
        memcpy(name, path, n);
        name[n] = '\0';
        path += n;
        status = probe_ask(p, (struct nfs3_call){.procedure = NFS3_LOOKUP, .fh = *out, .name = name});
        if (status != NFS3_SUCCESS)
            return status;
        *out = p->fh;
    }
}

/* Each server writes a byte of its own into one file, all must read the first server's. */
static void write_test(struct loop *l, const struct doctor_config *config, struct doctor_server *servers, size_t n)
{
    struct nfs3_fh dir = {.size = 0}, file = {.size = 0};
    size_t maker = n;
    char name[64];

    snprintf(name, sizeof name, ".nfsbal-doctor-%d", (int)getpid());
    for (size_t i = 0; i < n; i++) {
        struct doctor_server *s = &servers[i];
        struct conn_config k;
        struct probe p;
        enum nfs3_status status = NFS3_SUCCESS;

        config_of(config, s, true, &k);
        if (!s->mounted || *s->problem || !probe_open(&p, l, &k))
            continue;
        if (maker == n) {
            status = walk(&p, &s->root, config->write_test, &dir);
            if (status == NFS3_SUCCESS)
                status = probe_ask(&p, (struct nfs3_call){.procedure = NFS3_CREATE,
                                                          .fh = dir,
                                                          .name = name,
                                                          .mode = NFS3_GUARDED,
                                                          .attr = {.set_mode = true, .mode = 0600}});
            if (status == NFS3_SUCCESS) {
                file = p.fh;
                maker = i;
            }
        }
        if (status == NFS3_SUCCESS)
            status = probe_ask(&p, (struct nfs3_call){.procedure = NFS3_WRITE,
                                                      .fh = file,
                                                      .offset = i,
                                                      .data = "x",
                                                      .count = 1,
                                                      .stable = NFS3_UNSTABLE});
        s->wrote = status == NFS3_SUCCESS;
        s->verifier = s->wrote ? p.result.verifier : 0;
        if (s->wrote) {
            char byte = 0;

            s->saw_first =
                probe_ask(&p,
                          (struct nfs3_call){
                              .procedure = NFS3_READ, .fh = file, .offset = maker, .count = 1, .data_out = &byte}) ==
                    NFS3_SUCCESS &&
                byte == 'x';
        } else {
            say(s, "test of writing: %s", nfs3_status_name(status));
        }
        probe_close(&p);
    }
    if (maker < n) {
        struct conn_config k;
        struct probe p;

        config_of(config, &servers[maker], true, &k);
        if (!probe_open(&p, l, &k) ||
            probe_ask(&p, (struct nfs3_call){.procedure = NFS3_REMOVE, .fh = dir, .name = name}) != NFS3_SUCCESS)
            say(&servers[maker], "test of writing: %s is left there", name);
        probe_close(&p);
    }
}

void doctor_examine(struct loop *l, const struct doctor_config *config, struct doctor_server *servers, size_t n)
{
    for (size_t i = 0; i < n; i++)
        examine(l, config, &servers[i]);
    if (config->write_test)
        write_test(l, config, servers, n);
}

const char *doctor_differ(const struct doctor_server *a, const struct doctor_server *b)
{
    if (!nfs3_fh_equal(&a->root, &b->root))
        return "another root handle";
    if (a->attr.fsid != b->attr.fsid)
        return "another fsid";
    if (a->attr.fileid != b->attr.fileid)
        return "another root directory";
    if (a->wrote && b->wrote && !b->saw_first)
        return "what is written elsewhere does not show there";
    return NULL;
}
