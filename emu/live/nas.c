#include "emu/live/nas.h"

#include <errno.h>
#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/live/lab.h"
#include "emu/live/server.h"
#include "emu/model/topology.h"

enum { START_MS = 90000 }; /* of all of them, on a machine that has much else to do; 0.2 s on an idle one */

struct controller {
    ev_io watcher;
    struct nas *nas;
    struct server server;
    int box;
};

struct nas {
    struct nas_config config;
    struct controller *controllers;
    size_t n_controllers;
};

static bool is_controller(const struct topo *t, int box) { return t->nodes[t->boxes[box].node].kind == TOPO_NAS; }

/* A path that stays below the folder it is put behind. */
static bool stays_below(const char *path)
{
    for (const char *c = path; (c = strchr(c, '/')); c++)
        if (!strncmp(c, "/..", 3) && (c[3] == '/' || !c[3]))
            return false;
    return *path == '/';
}

const char *nas_refuses(const struct topo *t, char *problem, size_t size)
{
    const char *missing = server_missing();
    bool any = false;
    for (size_t b = 0; b < t->n_boxes; b++)
        any |= is_controller(t, (int)b);
    if (any && missing) {
        snprintf(problem, size, "%s", missing);
        return problem;
    }
    for (size_t i = 0; i < t->n_exports; i++) {
        const struct topo_export *e = &t->exports[i];
        if (!stays_below(e->path)) {
            snprintf(problem, size, "%s:%s: a path that leads upwards can't be a folder of the lab",
                     t->nodes[e->node].name, e->path);
            return problem;
        }
        for (size_t k = 0; k < i; k++) {
            if (t->exports[k].node != e->node || strcmp(t->exports[k].path, e->path))
                continue;
            snprintf(problem, size, "%s:%s: two exports of one path, and nfs-ganesha serves a path once",
                     t->nodes[e->node].name, e->path);
            return problem;
        }
    }
    return NULL;
}

char *nas_folder(const struct topo *t, int export_, const char *exports)
{
    const struct topo_export *e = &t->exports[export_];
    const char *name = t->nodes[e->node].name;
    size_t size = strlen(exports) + strlen(name) + strlen(e->path) + 2;
    char *folder = malloc(size);
    if (folder)
        snprintf(folder, size, "%s/%s%s", exports, name, e->path);
    return folder;
}

/* All folders of a path below the first `from` characters, which exist. */
static int make_folders(char *path, size_t from)
{
    for (char *c = path + from; c;) {
        c = strchr(c + 1, '/');
        if (c)
            *c = '\0';
        int rc = mkdir(path, 0777);
        int error = rc && errno != EEXIST ? errno : 0;
        if (c)
            *c = '/';
        if (error)
            return -error;
    }
    return 0;
}

static void exports_free(struct server_export *e, size_t n)
{
    for (size_t i = 0; e && i < n; i++)
        free(e[i].directory);
    free(e);
}

/* The exports of a node, in the order of the file: the same on each of its controllers. */
static int list_exports(const struct nas_config *c, int node, struct server_export **out, size_t *n, char *problem,
                        size_t size)
{
    const struct topo *t = c->topo;
    struct server_export *e = calloc(t->n_exports + 1, sizeof *e);
    bool sink = true;
    size_t count = 0;
    int error = e ? 0 : -ENOMEM;
    for (size_t i = 0; i < t->n_exports && !error; i++) {
        if (t->exports[i].node != node)
            continue;
        char *folder = nas_folder(t, (int)i, c->exports);
        error = folder ? make_folders(folder, strlen(c->exports)) : -ENOMEM;
        e[count++] = (struct server_export){.path = t->exports[i].path, .directory = folder};
        sink &= strcmp(t->exports[i].path, NAS_SINK) != 0;
        if (error)
            snprintf(problem, size, "%s: %s", folder ? folder : c->exports, strerror(-error));
    }
    if (error) {
        exports_free(e, count);
        if (!e)
            snprintf(problem, size, "%s", strerror(ENOMEM));
        return error;
    }
    if (sink)
        e[count++] = (struct server_export){.path = NAS_SINK};
    *out = e;
    *n = count;
    return 0;
}

static struct lab_node *node_of_box(struct lab *lab, int box)
{
    for (size_t i = 0; i < lab->n_nodes; i++)
        if (lab->nodes[i].box == box)
            return &lab->nodes[i];
    return NULL;
}

static int start(struct nas *n, struct controller *k, int box, char *problem, size_t size)
{
    const struct nas_config *c = &n->config;
    const struct topo *t = c->topo;
    struct lab_node *node = node_of_box(c->lab, box);
    struct server_config s = {
        .name = t->boxes[box].name, .netns_path = node->netns, .dir = node->folder, .lab = c->lab->name};
    struct server_export *exports = NULL;
    *k = (struct controller){.nas = n, .server = SERVER_NONE, .box = box};
    int error = list_exports(c, t->boxes[box].node, &exports, &s.n_exports, problem, size);
    if (error)
        return error;
    s.exports = exports;
    if (mkdir(node->folder, 0755) && errno != EEXIST) {
        error = -errno;
        snprintf(problem, size, "%s: %s", node->folder, strerror(errno));
    } else {
        error = server_start(&k->server, &s, problem, size);
    }
    exports_free(exports, s.n_exports);
    if (!error) {
        node->server = k->server.pid;
        node->server_start = lab_process_start(k->server.pid);
    }
    return error;
}

static void said_something(struct ev_loop *loop, ev_io *w, int events)
{
    struct controller *k = w->data;
    char problem[256];
    (void)events;
    if (server_check(&k->server, problem, sizeof problem) >= 0)
        return;
    ev_io_stop(loop, w);
    if (k->nas->config.ended)
        k->nas->config.ended(k->nas->config.context, k->box, problem);
}

int nas_start(struct nas **out, const struct nas_config *c, char *problem, size_t size)
{
    struct nas *n = calloc(1, sizeof *n);
    int error = 0;
    if (n)
        n->controllers = calloc(c->topo->n_boxes + 1, sizeof *n->controllers);
    if (!n || !n->controllers) {
        free(n);
        snprintf(problem, size, "%s", strerror(ENOMEM));
        return -ENOMEM;
    }
    n->config = *c;
    for (size_t b = 0; b < c->topo->n_boxes && !error; b++)
        if (is_controller(c->topo, (int)b))
            error = start(n, &n->controllers[n->n_controllers++], (int)b, problem, size);
    for (size_t i = 0; i < n->n_controllers && !error; i++) {
        struct controller *k = &n->controllers[i];
        int rc = server_wait(&k->server, START_MS, problem, size);
        if (rc < 0)
            error = rc;
    }
    for (size_t i = 0; i < n->n_controllers && !error && c->loop; i++) {
        struct controller *k = &n->controllers[i];
        ev_io_init(&k->watcher, said_something, k->server.status, EV_READ);
        k->watcher.data = k;
        ev_io_start(c->loop, &k->watcher);
    }
    if (error) {
        n->config.loop = NULL;
        nas_stop(n);
        return error;
    }
    *out = n;
    return 0;
}

void nas_stop(struct nas *n)
{
    if (!n)
        return;
    for (size_t i = 0; i < n->n_controllers; i++) {
        if (n->config.loop)
            ev_io_stop(n->config.loop, &n->controllers[i].watcher);
        server_stop_begin(&n->controllers[i].server);
    }
    for (size_t i = 0; i < n->n_controllers; i++)
        server_stop(&n->controllers[i].server);
    free(n->controllers);
    free(n);
}
