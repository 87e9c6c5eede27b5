#include "tests/support/site.h"

#include <string.h>

#include "emu/model/topology_arena.h"

static void *copy(struct topo *t, const void *data, size_t size)
{
    return memcpy(arena_alloc(t->arena, size), data, size);
}

#define COPY(t, array) copy(t, array, sizeof(array))
#define COUNT(array)   (sizeof(array) / sizeof((array)[0]))

static void add_boxes(struct topo *t)
{
    const struct topo_node nodes[] = {
        {.name = "esx1", .kind = TOPO_ESXI, .first_box = 0, .n_boxes = 1},
        {.name = "sw1", .kind = TOPO_SWITCH, .first_box = 1, .n_boxes = 1},
        {.name = "nas", .kind = TOPO_NAS, .first_box = 2, .n_boxes = 1},
    };
    const struct topo_box boxes[] = {
        {.name = "esx1", .node = 0, .first_port = 0, .n_ports = 2, .takeover = -1},
        {.name = "sw1", .node = 1, .first_port = 2, .n_ports = 4, .takeover = -1},
        {.name = "nas:c1", .part = "c1", .node = 2, .first_port = 6, .n_ports = 2, .takeover = -1},
    };
    t->nodes = COPY(t, nodes);
    t->n_nodes = COUNT(nodes);
    t->boxes = COPY(t, boxes);
    t->n_boxes = COUNT(boxes);
}

static void add_links(struct topo *t)
{
    const struct topo_port ports[] = {
        {.name = "vmnic1", .full = "esx1:vmnic1", .box = 0, .link = 0, .end = 0, .team = -1},
        {.name = "vmnic2", .full = "esx1:vmnic2", .box = 0, .link = 1, .end = 0, .team = -1},
        {.name = "p1", .full = "sw1:p1", .box = 1, .link = 0, .end = 1, .team = -1},
        {.name = "p2", .full = "sw1:p2", .box = 1, .link = 1, .end = 1, .team = -1},
        {.name = "p3", .full = "sw1:p3", .box = 1, .link = 2, .end = 1, .team = -1},
        {.name = "p4", .full = "sw1:p4", .box = 1, .link = 3, .end = 1, .team = -1},
        {.name = "c1.eth0", .full = "nas:c1.eth0", .box = 2, .link = 2, .end = 0, .team = -1},
        {.name = "c1.eth1", .full = "nas:c1.eth1", .box = 2, .link = 3, .end = 0, .team = -1},
    };
    static const int ends[][2] = {{0, 2}, {1, 3}, {6, 4}, {7, 5}};
    t->ports = COPY(t, ports);
    t->n_ports = COUNT(ports);
    t->n_links = COUNT(ends);
    t->links = arena_alloc(t->arena, t->n_links * sizeof(*t->links));
    const char **names = arena_alloc(t->arena, 2 * t->n_links * sizeof(*names));
    for (size_t l = 0; l < t->n_links; l++) {
        t->links[l] = (struct topo_link){.port = {ends[l][0], ends[l][1]}, .rate = 1000000000, .delay = 5 * PS_PER_US};
        const char *a = ports[ends[l][0]].full, *b = ports[ends[l][1]].full;
        names[2 * l] = arena_printf(t->arena, "%s>%s", a, b);
        names[2 * l + 1] = arena_printf(t->arena, "%s>%s", b, a);
    }
    t->linkdir_names = names;
}

static void add_storage(struct topo *t, enum topo_op operation)
{
    const struct topo_vip vips[] = {
        {.text = "10.0.0.101", .node = 2, .svm = -1, .home = 2, .ordinal = 0, .up = true},
        {.text = "10.0.0.102", .node = 2, .svm = -1, .home = 2, .ordinal = 1, .up = true},
    };
    const struct topo_datastore datastores[] = {
        {.name = "ds1", .nconnect = 1, .pin = -1, .wish = -1, .first_mount = 0, .n_mounts = 1},
        {.name = "ds2", .nconnect = 1, .pin = -1, .wish = -1, .first_mount = 1, .n_mounts = 1},
    };
    const struct topo_mount mounts[] = {
        {.datastore = 0, .host = 0, .server = "10.0.0.101", .path = "/v", .vip = 0, .nconnect = 1, .shares_with = -1},
        {.datastore = 1, .host = 0, .server = "10.0.0.102", .path = "/v", .vip = 1, .nconnect = 1, .shares_with = -1},
    };
    static const int both[] = {0, 1};
    const struct topo_workload workloads[] = {
        {.name = "work", .mounts = both, .n_mounts = 2, .op = operation, .sequential = true, .block = 65536},
    };
    t->vips = COPY(t, vips);
    t->n_vips = COUNT(vips);
    t->datastores = COPY(t, datastores);
    t->n_datastores = COUNT(datastores);
    t->mounts = COPY(t, mounts);
    t->n_mounts = COUNT(mounts);
    t->workloads = COPY(t, workloads);
    t->n_workloads = COUNT(workloads);
}

struct topo *site_new(const char *case_name, enum topo_op operation)
{
    struct topo_arena *arena = arena_new();
    struct topo *t = arena_alloc(arena, sizeof(*t));
    t->arena = arena;
    t->file = "site.yaml";
    t->name = "site";
    t->title = "a little site";
    t->case_name = case_name;
    t->network_only = true;
    add_boxes(t);
    add_links(t);
    add_storage(t, operation);
    return t;
}
