#include "emu/live/nas.h"

#include <errno.h>
#include <ev.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/live/lab.h"
#include "emu/live/server.h"
#include "emu/live/store.h"
#include "emu/model/topology.h"

enum { START_MS = 90000 }; /* of all of them, on a machine that has much else to do; 0.2 s on an idle one */

struct controller {
    ev_io watcher;
    struct nas *nas;
    struct server server;
    int box;
    bool off, wanted; /* it is to have no server; it is, but the old one is still on its way out */
};

struct nas {
    struct nas_config config;
    char *exports; /* config.exports is this */
    struct controller *controllers;
    size_t n_controllers;
    struct store *stores; /* by node */
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
    for (size_t i = 0; e && i < n; i++) {
        free(e[i].directory);
        if (e[i].tree > 0)
            close(e[i].tree);
    }
    free(e);
}

/* What servers see of the storage instead of the folders. */
static int take_trees(struct store *store, struct server_export *e, size_t n, char *problem, size_t size)
{
    for (size_t i = 0; i < n; i++) {
        e[i].tree = store_tree(store, e[i].path);
        if (e[i].tree >= 0)
            continue;
        snprintf(problem, size, "%s:%s: a mount of its storage: %s", store->name, e[i].path, strerror(-e[i].tree));
        return e[i].tree;
    }
    return 0;
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

/* Its exports that are folders stand first among them. */
static size_t n_folders(const struct topo *t, int node)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_exports; i++)
        n += t->exports[i].node == node;
    return n;
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
    if (n->stores[t->boxes[box].node].pid > 0)
        error = take_trees(&n->stores[t->boxes[box].node], exports, n_folders(t, t->boxes[box].node), problem, size);
    if (error) {
        exports_free(exports, s.n_exports);
        return error;
    }
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

/* The storage of a node, once the folders of its exports are there. */
static int start_store(struct nas *n, int node, char *problem, size_t size)
{
    const struct nas_config *c = &n->config;
    const struct topo *t = c->topo;
    const struct topo_node *of = &t->nodes[node];
    struct server_export *exports = NULL;
    size_t n_exports = 0, length = strlen(c->exports) + strlen(of->name) + 2;
    char *folder = malloc(length);
    const char **netns = calloc((size_t)of->n_boxes + 1, sizeof *netns);
    int rc = folder && netns ? list_exports(c, node, &exports, &n_exports, problem, size) : -ENOMEM;
    if (!rc) {
        snprintf(folder, length, "%s/%s", c->exports, of->name);
        for (int b = 0; b < of->n_boxes; b++)
            netns[b] = node_of_box(c->lab, of->first_box + b)->netns;
        const struct store_config s = {.topo = t,
                                       .node = node,
                                       .name = of->name,
                                       .folder = folder,
                                       .netns = netns,
                                       .n_controllers = (size_t)of->n_boxes,
                                       .rate = c->rate,
                                       .seed = c->seed,
                                       .files = c->files,
                                       .n_files = c->n_files};
        if (n_folders(t, node))
            rc = store_start(&n->stores[node], &s, problem, size);
        exports_free(exports, n_exports);
    } else if (!folder || !netns) {
        snprintf(problem, size, "%s", strerror(ENOMEM));
    }
    free(folder);
    free(netns);
    return rc;
}

static void watch(struct ev_loop *loop, struct controller *k, int fd,
                  void (*callback)(struct ev_loop *loop, ev_io *w, int events))
{
    if (!loop)
        return;
    ev_io_init(&k->watcher, callback, fd, EV_READ);
    k->watcher.data = k;
    ev_io_start(loop, &k->watcher);
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
    if (n) {
        n->controllers = calloc(c->topo->n_boxes + 1, sizeof *n->controllers);
        n->stores = calloc(c->topo->n_nodes + 1, sizeof *n->stores);
        n->exports = strdup(c->exports);
    }
    if (!n || !n->controllers || !n->stores || !n->exports) {
        if (n) {
            free(n->controllers);
            free(n->stores);
            free(n->exports);
        }
        free(n);
        snprintf(problem, size, "%s", strerror(ENOMEM));
        return -ENOMEM;
    }
    n->config = *c;
    n->config.exports = n->exports;
    for (size_t i = 0; i < c->topo->n_nodes; i++)
        n->stores[i] = STORE_NONE;
    for (size_t i = 0; i < c->topo->n_nodes && !error && c->storage; i++)
        if (store_wanted(c->topo, (int)i))
            error = start_store(n, (int)i, problem, size);
    for (size_t b = 0; b < c->topo->n_boxes && !error; b++)
        if (is_controller(c->topo, (int)b))
            error = start(n, &n->controllers[n->n_controllers++], (int)b, problem, size);
    for (size_t i = 0; i < n->n_controllers && !error; i++) {
        struct controller *k = &n->controllers[i];
        int rc = server_wait(&k->server, START_MS, problem, size);
        if (rc < 0)
            error = rc;
    }
    for (size_t i = 0; i < n->n_controllers && !error; i++)
        watch(c->loop, &n->controllers[i], n->controllers[i].server.status, said_something);
    if (error) {
        n->config.loop = NULL;
        nas_stop(n);
        return error;
    }
    *out = n;
    return 0;
}

/* ---- power ---- */

static void turn_on(struct controller *k)
{
    struct nas *n = k->nas;
    char problem[256];
    int rc = start(n, k, k->box, problem, sizeof problem);
    if (rc == 0 && (rc = lab_write(n->config.lab)) < 0)
        snprintf(problem, sizeof problem, "%s/lab.json: %s", n->config.lab->folder, strerror(-rc));
    if (k->server.pid > 0)
        watch(n->config.loop, k, k->server.status, said_something);
    if (rc < 0 && n->config.ended)
        n->config.ended(n->config.context, k->box, problem);
}

/* All of a server's processes are gone. */
static void died(struct ev_loop *loop, ev_io *w, int events)
{
    struct controller *k = w->data;
    (void)events;
    ev_io_stop(loop, w);
    server_stop(&k->server);
    if (k->wanted)
        turn_on(k);
}

void nas_power(struct nas *n, int box, bool on)
{
    struct controller *k = NULL;
    for (size_t i = 0; n && i < n->n_controllers; i++)
        if (n->controllers[i].box == box)
            k = &n->controllers[i];
    if (!k || !n->config.loop || k->off == !on)
        return;
    k->off = !on;
    k->wanted = on && k->server.pid > 0;
    if (on && !k->wanted) {
        turn_on(k);
    } else if (!on && k->server.pid > 0) {
        ev_io_stop(n->config.loop, &k->watcher);
        server_kill(&k->server);
        watch(n->config.loop, k, k->server.pidfd, died);
    }
}

void nas_begin(struct nas *n)
{
    for (size_t i = 0; n && i < n->config.topo->n_nodes; i++)
        store_begin(&n->stores[i]);
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
    for (size_t i = 0; i < n->config.topo->n_nodes; i++)
        store_stop(&n->stores[i]);
    free(n->stores);
    free(n->controllers);
    free(n->exports);
    free(n);
}
