/* Datastores and their mounts: which host mounts what from where, by which VIP and which interface, and which mounts share
 * their TCP connections. */
#include "emu/model/topology_build.h"

#include <stdlib.h>
#include <string.h>

enum { MOUNTS_MAX = 1000000 };

/* Mounts of one host at one VIP with one NFS version (and bound to one interface): they share what connections there may be. */
struct peers {
    unsigned connections; /* so far */
    int *owners;          /* mounts with connections of their own */
    size_t n_owners, capacity, turn;
};

struct host {
    int first_iface, n_ifaces;
    unsigned connections_per_ip;          /* to one server address; 0 = no limit */
    bool shares;                          /* mounts of one address share the first's connections */
    unsigned volumes_most[2], volumes[2]; /* of NFS 3, of 4.1: how many it mounts, 0 = no limit; so far */
    uint64_t heap, heap_used;             /* bytes of socket buffers; 0 = no limit */
};

struct mounting {
    struct build *b;
    struct host *hosts;        /* per box; those that are no hosts stay empty */
    struct name_table routers; /* address of a router -> its interface */
    struct peers *peers;
    size_t n_peers, peers_capacity;
    struct name_table peers_of; /* "HOST VIP NFS" -> place in peers */
    int *all_hosts;             /* boxes that mount what names no hosts */
    size_t n_all_hosts;
};

/* The VIP of a server string as mounted; the path behind ":/" is cut off into *path where there is one. */
static int resolve(struct build *b, const char *server, const struct topo_export *export_,
                   const struct topo_datastore *ds, struct diag_mark mark, const char **path)
{
    const struct topo *t = b->t;
    const char *colon = strstr(server, ":/");
    if (colon && path)
        *path = build_string(b, colon + 1);
    char *host = arena_copy(b->scratch, server, colon ? (size_t)(colon - server) : strlen(server));
    struct topo_addr addr;
    int vip = -1;
    if (topo_addr_parse(&addr, host) && !strchr(host, '/')) {
        char text[64];
        topo_addr_print(text, sizeof(text), &addr, false);
        vip = name_table_find(&b->vips, text);
        if (vip < 0)
            build_dangling(b, mark, "VIP", text, &b->vips);
    } else {
        if (ds->server && strcmp(ds->server, host) == 0)
            vip = ds->pin >= 0 ? ds->pin : ds->wish;
        for (char *p = host; *p; p++)
            if (*p >= 'A' && *p <= 'Z')
                *p = (char)(*p | 0x20);
        if (vip < 0)
            vip = name_table_find(&b->vip_names, host);
        if (vip < 0)
            build_dangling(b, mark, "VIP with the name", host, &b->vip_names);
    }
    if (vip >= 0 && (t->vips[vip].node != export_->node || t->vips[vip].svm != export_->svm)) {
        schema_error(b->report, mark, NULL, "VIP %s does not belong to the NAS or svm that exports %s",
                     t->vips[vip].text, export_->path);
        return -1;
    }
    return vip;
}

/* The interface of a host towards a VIP: by topo_route(), where that is a gateway if a router has its address. */
static void route(struct mounting *m, struct topo_mount *mount)
{
    const struct topo *t = m->b->t;
    const struct topo_addr *to = &t->vips[mount->vip].addr;
    const struct host *host = &m->hosts[mount->host];
    bool several;
    int routed, found = topo_route(t, host->first_iface, host->n_ifaces, to, &several, &routed);
    mount->iface = found;
    mount->iface_origin = several ? TOPO_ASSUMED : TOPO_DERIVED;
    if (found < 0 && routed >= 0) {
        char router[64];
        topo_addr_print(router, sizeof(router), &t->ifaces[routed].gateway, false);
        mount->gateway_iface = name_table_find(&m->routers, router);
        if (mount->gateway_iface >= 0)
            mount->iface = routed;
    }
    if (mount->iface < 0)
        schema_error(m->b->report, mount->mark,
                     "an interface in its subnet, or a `gateway:` that is the address of a router",
                     "`%s` has no route to %s", t->boxes[mount->host].name, t->vips[mount->vip].text);
}

/* A mount that is bound to an interface talks over that one alone, or over a gateway that is there. */
static void take_binding(struct mounting *m, struct topo_mount *mount, int bound)
{
    const struct topo *t = m->b->t;
    const struct topo_iface *f = &t->ifaces[bound];
    const struct topo_addr *to = &t->vips[mount->vip].addr;
    mount->bound = true;
    mount->iface_origin = TOPO_GIVEN;
    mount->iface = bound;
    if (f->addr.version == to->version && topo_addr_same_subnet(&f->addr, to, f->addr.prefix))
        return;
    if (f->gateway.version == to->version) {
        char router[64];
        topo_addr_print(router, sizeof(router), &f->gateway, false);
        mount->gateway_iface = name_table_find(&m->routers, router);
    }
    if (mount->gateway_iface >= 0)
        return;
    mount->iface = -1;
    schema_error(m->b->report, mount->mark, "an interface in the subnet of the VIP",
                 "`%s` binds it to %s, which has no way to %s", t->boxes[mount->host].name, f->name,
                 t->vips[mount->vip].text);
}

/* Whom a mount may share connections with: one that is bound has the others of its interface only. */
static struct peers *peers_of(struct mounting *m, const struct topo_mount *mount, enum topo_nfs nfs)
{
    struct topo_arena *a = m->b->scratch;
    const char *key =
        arena_printf(a, "%d %d %d %d", mount->host, mount->vip, (int)nfs, mount->bound ? mount->iface : -1);
    int place = name_table_add(&m->peers_of, key, (int)m->n_peers);
    if (place >= 0)
        return &m->peers[place];
    m->peers = arena_grow(a, m->peers, m->n_peers, &m->peers_capacity, sizeof(*m->peers));
    m->peers[m->n_peers] = (struct peers){0};
    return &m->peers[m->n_peers++];
}

/* What a connection takes of the TCP/IP heap: its two buffers (assumed). */
static uint64_t buffers_of(const struct build *b, const struct topo_mount *mount)
{
    const struct topo_stack *s = &b->t->stacks[mount->host];
    return s->send_buffer + s->receive_buffer;
}

/* How many connections a mount has of its own, and with whom it shares when it has none. Linux: mounts of one address use
 * the transport of the first. ESXi: connections to one address are limited, further mounts are dealt to those that exist,
 * in turn (an assumption: no source says to which). */
static void connect_mount(struct mounting *m, int index, unsigned wanted, enum topo_nfs nfs)
{
    struct topo_mount *mount = &m->b->t->mounts[index];
    struct host *host = &m->hosts[mount->host];
    unsigned own = wanted, kind = nfs == TOPO_NFS3 ? 0 : 1;
    mount->shares_with = -1;
    if (host->volumes_most[kind] && host->volumes[kind] == host->volumes_most[kind]) {
        mount->refused = TOPO_OVER_VOLUMES;
        return;
    }
    struct peers *p = peers_of(m, mount, nfs);
    if (host->shares && p->n_owners)
        own = 0;
    else if (host->connections_per_ip && p->connections + wanted > host->connections_per_ip)
        own = host->connections_per_ip > p->connections ? host->connections_per_ip - p->connections : 0;
    if (host->heap && own && host->heap_used + own * buffers_of(m->b, mount) > host->heap)
        own = (unsigned)((host->heap - host->heap_used) / buffers_of(m->b, mount));
    if (!own && !p->n_owners) {
        mount->refused = TOPO_OVER_HEAP;
        return;
    }
    host->heap_used += own * buffers_of(m->b, mount);
    host->volumes[kind]++;
    mount->nconnect = own;
    if (!own && p->n_owners) {
        mount->shares_with = p->owners[p->turn++ % p->n_owners];
        return;
    }
    p->connections += own;
    p->owners = arena_grow(m->b->scratch, p->owners, p->n_owners, &p->capacity, sizeof(*p->owners));
    p->owners[p->n_owners++] = index;
}

/* A server string and what it resolves to. */
struct server {
    const char *string, *path;
    int vip;
    struct diag_mark mark;
};

static struct server read_server(struct build *b, const struct topo_datastore *ds, const char *string,
                                 struct diag_mark mark)
{
    const struct topo_export *e = &b->t->exports[ds->export_];
    struct server s = {build_string(b, string), e->path, -1, mark};
    s.vip = resolve(b, string, e, ds, mark, &s.path);
    return s;
}

/* Where hosts without a string of their own mount it from. */
static struct server default_server(struct build *b, const struct topo_datastore *ds, const struct doc_node *doc)
{
    const struct doc_node *mounted = doc_get(doc, "mounted");
    if (mounted && mounted->type == DOC_SCALAR)
        return read_server(b, ds, mounted->text, mounted->mark);
    if (build_word(mounted, "default"))
        return read_server(b, ds, build_word(mounted, "default"), build_mark(mounted, "default"));
    struct server s = {ds->server, b->t->exports[ds->export_].path, ds->pin >= 0 ? ds->pin : ds->wish, ds->mark};
    if (!s.string && s.vip >= 0)
        s.string = b->t->vips[s.vip].text;
    return s;
}

/* NFS 4.1 or iSCSI with several addresses: all of them must be VIPs of the export's NAS. */
static void take_servers(struct build *b, const struct topo_datastore *ds, const struct doc_node *doc, const int **vips,
                         size_t *n)
{
    const struct doc_node *servers = doc_get(doc, "servers");
    if (!servers)
        return;
    if (ds->nfs == TOPO_NFS3 && !ds->iscsi)
        schema_error(b->report, build_mark(doc, "servers"), "nfs: 4.1",
                     "`servers:` is for NFS 4.1; NFS 3 mounts one address");
    int *all = arena_alloc(b->arena, (servers->count + 1) * sizeof(*all));
    for (size_t i = 0; i < servers->count; i++) {
        int vip = resolve(b, servers->items[i]->text, &b->t->exports[ds->export_], ds, servers->items[i]->mark, NULL);
        if (vip >= 0)
            all[(*n)++] = vip;
    }
    *vips = all;
}

static bool is_host(const struct topo *t, int box)
{
    enum topo_kind kind = t->nodes[t->boxes[box].node].kind;
    return kind == TOPO_ESXI || kind == TOPO_LINUX;
}

/* The hosts that mount a datastore, in order. */
static const int *hosts_of(struct mounting *m, const struct doc_node *list, size_t *n)
{
    struct build *b = m->b;
    *n = m->n_all_hosts;
    if (!list)
        return m->all_hosts;
    int *hosts = arena_alloc(b->arena, (list->count + 1) * sizeof(*hosts));
    *n = 0;
    for (size_t i = 0; i < list->count; i++) {
        int box = name_table_find(&b->boxes, list->items[i]->text);
        if (box >= 0 && is_host(b->t, box))
            hosts[(*n)++] = box;
        else
            build_dangling(b, list->items[i]->mark, "host", list->items[i]->text, &b->boxes);
    }
    qsort(hosts, *n, sizeof(*hosts), build_by_number);
    return hosts;
}

/* A map by host names only hosts that mount the datastore. */
static void check_hosts_of_map(struct build *b, const struct doc_node *map, const int *hosts, size_t n)
{
    for (size_t i = 0; map && map->type == DOC_MAP && i < map->count; i++) {
        const struct doc_pair *pair = &map->pairs[i];
        int box = name_table_find(&b->boxes, pair->key);
        if (strcmp(pair->key, "default") != 0 && (box < 0 || !bsearch(&box, hosts, n, sizeof(*hosts), build_by_number)))
            build_dangling(b, pair->mark, "host that mounts this", pair->key, &b->boxes);
    }
}

/* `nconnect:` is a number, or a map of hosts with a default. */
static unsigned connections_asked(const struct doc_node *datastore, const char *host, unsigned usual)
{
    const struct doc_node *map = doc_get(datastore, "nconnect");
    return map && map->type == DOC_MAP ? (unsigned)build_integer(map, host, usual) : usual;
}

/* `vmknic:` is an interface of ESXi hosts, or a map of hosts with a default. Sets ds->bound. */
static void take_bindings(struct mounting *m, struct topo_datastore *ds, const struct doc_node *doc)
{
    const struct doc_node *vmknic = doc_get(doc, "vmknic");
    struct build *b = m->b;
    const struct topo *t = b->t;
    if (!vmknic)
        return;
    bool map = vmknic->type == DOC_MAP;
    int *bound = arena_alloc(b->arena, (ds->n_hosts + 1) * sizeof(*bound));
    for (size_t i = 0; i < ds->n_hosts; i++) {
        const struct topo_box *host = &t->boxes[ds->hosts[i]];
        const char *own = map ? build_word(vmknic, host->name) : NULL, *name = own   ? own
                                                                               : map ? build_word(vmknic, "default")
                                                                                     : vmknic->text;
        bool esxi = t->nodes[host->node].kind == TOPO_ESXI;
        struct diag_mark mark = map ? build_mark(vmknic, own ? host->name : "default") : build_mark(doc, "vmknic");
        const struct host *ifaces = &m->hosts[ds->hosts[i]];
        bound[i] = -1;
        for (int k = ifaces->first_iface; name && esxi && k < ifaces->first_iface + ifaces->n_ifaces; k++)
            if (!strcmp(t->ifaces[k].name, name))
                bound[i] = k;
        if (!name || (map && !own && !esxi))
            continue;
        if (!esxi)
            schema_error(b->report, mark, "{HOST: VMKNIC} for the ESXi hosts",
                         "`%s` is no ESXi host: it can't bind a mount to an interface", host->name);
        else if (bound[i] < 0)
            schema_error(b->report, mark, NULL, "`%s` has no VMkernel interface `%s`", host->name, name);
    }
    ds->bound = bound;
}

static void add_mounts(struct mounting *m, int index, const struct doc_node *doc)
{
    struct build *b = m->b;
    struct topo *t = b->t;
    struct topo_datastore *ds = &t->datastores[index];
    const struct doc_node *mounted = doc_get(doc, "mounted");
    size_t n;
    const int *hosts = hosts_of(m, doc_get(doc, "hosts"), &n);
    ds->hosts = hosts;
    ds->n_hosts = n;
    check_hosts_of_map(b, mounted, hosts, n);
    check_hosts_of_map(b, doc_get(doc, "nconnect"), hosts, n);
    check_hosts_of_map(b, doc_get(doc, "vmknic"), hosts, n);
    take_bindings(m, ds, doc);
    struct server usual = default_server(b, ds, doc);
    const int *vips = NULL;
    size_t n_vips = 0;
    take_servers(b, ds, doc, &vips, &n_vips);
    if (n_vips && usual.vip < 0) {
        usual.vip = vips[0];
        usual.string = t->vips[vips[0]].text;
    }
    ds->first_mount = (int)t->n_mounts;
    for (size_t i = 0; i < n; i++) {
        const char *host = t->boxes[hosts[i]].name;
        struct server s = usual;
        const char *own = mounted && mounted->type == DOC_MAP ? build_word(mounted, host) : NULL;
        if (own)
            s = read_server(b, ds, own, build_mark(mounted, host));
        if (!s.string && mounted)
            schema_error(b->report, mounted->mark.line ? mounted->mark : ds->mark, "default: S",
                         "`%s` has no server for host `%s`", ds->name, t->boxes[i].name);
        if (!s.string)
            continue; /* a new site: nothing is mounted until a plan says where */
        struct topo_mount *mount = &t->mounts[t->n_mounts++];
        *mount = (struct topo_mount){.datastore = index,
                                     .host = hosts[i],
                                     .server = s.string,
                                     .path = s.path,
                                     .vip = s.vip,
                                     .iface = -1,
                                     .gateway_iface = -1,
                                     .shares_with = -1,
                                     .vips = vips,
                                     .n_vips = n_vips,
                                     .mark = s.mark};
        if (s.vip < 0)
            continue;
        if (ds->bound && ds->bound[i] >= 0)
            take_binding(m, mount, ds->bound[i]);
        else
            route(m, mount);
        mount->asked = connections_asked(doc, host, ds->nconnect);
        if (ds->iscsi)
            mount->nconnect = mount->asked; /* no limit of NFS holds for a volume */
        else
            connect_mount(m, (int)t->n_mounts - 1, mount->asked, ds->nfs);
        ds->n_mounts++;
    }
}

/* A VIP that `pin:` or `vip:` names, or -1. */
static int wished_vip(struct build *b, const struct topo_datastore *ds, const struct doc_node *doc, const char *key)
{
    const char *word = build_word(doc, key);
    return word ? resolve(b, word, &b->t->exports[ds->export_], ds, build_mark(doc, key), NULL) : -1;
}

static void take_weight(struct topo_datastore *ds, const struct doc_node *doc)
{
    const struct doc_node *weight = doc_get(doc, "weight");
    ds->weight_read = ds->weight_write = 1;
    if (!weight)
        return;
    ds->weight_given = true;
    bool map = weight->type == DOC_MAP;
    const char *read = map ? build_word(weight, "read") : weight->text,
               *write = map ? build_word(weight, "write") : weight->text;
    ds->weight_is_rate = (read && strstr(read, "B/s")) || (write && strstr(write, "B/s"));
    ds->weight_read = map ? build_real(weight, "read", ds->weight_is_rate ? 0 : 1) : build_real(doc, "weight", 1);
    ds->weight_write = map ? build_real(weight, "write", ds->weight_is_rate ? 0 : 1) : ds->weight_read;
}

static bool find_export(struct build *b, struct topo_datastore *ds, const struct doc_node *doc)
{
    const char *name = build_word(doc, "export");
    ds->export_ = name_table_find(&b->exports, name);
    if (ds->export_ < 0)
        build_dangling(b, build_mark(doc, "export"), "export", name, &b->exports);
    else if (name_table_find(&b->ambiguous, name) >= 0)
        schema_error(b->report, build_mark(doc, "export"), "\"NAS:SVM:/path\"", "two svms export `%s`", name);
    return ds->export_ >= 0;
}

static void take_protocol(struct build *b, struct topo_datastore *ds, const struct doc_node *doc)
{
    static const char *const of_nfs[] = {"nfs", "nconnect", "vmknic"};
    const char *protocol = build_word(doc, "protocol");
    ds->iscsi = protocol && strcmp(protocol, "iscsi") == 0;
    for (size_t i = 0; i < sizeof(of_nfs) / sizeof(of_nfs[0]) && ds->iscsi; i++)
        if (doc_get(doc, of_nfs[i]))
            schema_error(b->report, build_mark(doc, of_nfs[i]), NULL, "`%s` is of NFS, and this is a volume over iSCSI",
                         of_nfs[i]);
    if (ds->iscsi && doc_get(doc, "servers"))
        ds->nfs = TOPO_NFS41; /* several addresses, one connection each */
}

static void add_datastore(struct mounting *m, const struct doc_pair *pair)
{
    struct build *b = m->b;
    struct topo *t = b->t;
    const struct doc_node *doc = pair->value, *holds = doc_get(doc, "holds"), *nconnect = doc_get(doc, "nconnect");
    const char *nfs = build_word(doc, "nfs"), *identity = build_word(doc, "identity");
    struct topo_datastore *ds = &t->datastores[t->n_datastores];
    *ds = (struct topo_datastore){.name = build_string(b, pair->key),
                                  .nfs = !nfs || strcmp(nfs, "3") == 0 ? TOPO_NFS3
                                         : strcmp(nfs, "4.1") == 0     ? TOPO_NFS41
                                                                       : TOPO_NFS42,
                                  .server = build_text(b, doc, "server"),
                                  .nconnect = nconnect && nconnect->type == DOC_MAP
                                                  ? (unsigned)build_integer(nconnect, "default", 1)
                                                  : (unsigned)build_integer(doc, "nconnect", 1),
                                  .per_host = identity && strcmp(identity, "per-host") == 0,
                                  .exclusive = build_bool(doc, "exclusive", false),
                                  .apart = build_text(b, doc, "apart"),
                                  .vms = (unsigned)build_integer(doc, "vms", 0),
                                  .pin = -1,
                                  .wish = -1,
                                  .mark = pair->mark};
    name_table_add(&b->datastores, ds->name, (int)t->n_datastores);
    take_weight(ds, doc);
    take_protocol(b, ds, doc);
    if (holds && holds->count) {
        const char **all = arena_alloc(b->arena, holds->count * sizeof(*all));
        for (size_t i = 0; i < holds->count; i++)
            all[i] = build_string(b, holds->items[i]->text);
        ds->holds = all;
        ds->n_holds = holds->count;
    }
    t->n_datastores++;
    if (!find_export(b, ds, doc))
        return;
    ds->pin = wished_vip(b, ds, doc, "pin");
    ds->wish = wished_vip(b, ds, doc, "vip");
    add_mounts(m, (int)t->n_datastores - 1, doc);
}

static void know_hosts(struct mounting *m)
{
    const struct topo *t = m->b->t;
    m->all_hosts = arena_alloc(m->b->arena, (t->n_boxes + 1) * sizeof(*m->all_hosts));
    for (size_t i = 0; i < t->n_boxes; i++) {
        if (is_host(t, (int)i))
            m->all_hosts[m->n_all_hosts++] = (int)i;
        const struct topo_node *node = &t->nodes[t->boxes[i].node];
        bool given;
        m->hosts[i].shares = node->kind == TOPO_LINUX;
        if (node->kind == TOPO_ESXI) {
            m->hosts[i].connections_per_ip = topo_connections_per_ip(node, &given);
            m->hosts[i].heap = topo_heap(node, &given);
            for (int k = 0; k < 2; k++)
                m->hosts[i].volumes_most[k] = topo_max_volumes(node, k == 0, &given);
        }
    }
    for (size_t i = 0; i < t->n_ifaces; i++) {
        struct host *host = &m->hosts[t->ifaces[i].box];
        if (!host->n_ifaces++)
            host->first_iface = (int)i;
        if (t->nodes[t->boxes[t->ifaces[i].box].node].kind != TOPO_ROUTER)
            continue;
        char address[64];
        topo_addr_print(address, sizeof(address), &t->ifaces[i].addr, false);
        name_table_add(&m->routers, arena_copy(m->b->scratch, address, strlen(address)), (int)i);
    }
}

/* How many mounts there will be at most; false, with an error, when that is too many to hold. */
static bool count_mounts(struct mounting *m, const struct doc_node *datastores, size_t *total)
{
    *total = 0;
    for (size_t i = 0; i < datastores->count; i++) {
        const struct doc_node *list = doc_get(datastores->pairs[i].value, "hosts");
        *total += list ? list->count : m->n_all_hosts;
        if (*total > MOUNTS_MAX) {
            schema_error(m->b->report, datastores->pairs[i].mark, NULL, "more than %d mounts", MOUNTS_MAX);
            return false;
        }
    }
    return true;
}

void build_datastores(struct build *b)
{
    struct topo *t = b->t;
    const struct doc_node *datastores = doc_get(b->root, "datastores");
    size_t n = datastores ? datastores->count : 0, total = 0;
    struct mounting m = {.b = b, .hosts = arena_alloc(b->scratch, (t->n_boxes + 1) * sizeof(*m.hosts))};
    name_table_init(&m.routers, b->scratch);
    name_table_init(&m.peers_of, b->scratch);
    know_hosts(&m);
    if (n && !count_mounts(&m, datastores, &total))
        return;
    t->datastores = arena_alloc(b->arena, (n + 1) * sizeof(*t->datastores));
    t->mounts = arena_alloc(b->arena, (total + 1) * sizeof(*t->mounts));
    for (size_t i = 0; i < n; i++)
        add_datastore(&m, &datastores->pairs[i]);
}
