/* Limits of the hosts: how many datastores, how many connections. */
#include "emu/model/check_rules.h"

#include <inttypes.h>
#include <strings.h>

static struct diag_mark limit_mark(const struct topo_node *node, const char *name)
{
    for (size_t i = 0; i < node->n_limits; i++)
        if (strcasecmp(node->limits[i].name, name) == 0)
            return node->limits[i].mark;
    return node->mark;
}

/* A host's mounts with that protocol; the connections that it opens for them are added to *connections. */
static size_t count_mounts(const struct check *c, size_t box, bool nfs3, unsigned *connections)
{
    const struct topo *t = c->t;
    size_t n = 0;

    *connections = 0;
    for (size_t i = c->host_first[box]; i < c->host_first[box + 1]; i++) {
        const struct topo_datastore *ds = &t->datastores[t->mounts[c->host_mounts[i]].datastore];
        if ((ds->nfs == TOPO_NFS3) != nfs3)
            continue;
        n++;
        *connections += t->mounts[c->host_mounts[i]].nconnect;
    }
    return n;
}

static void too_many_volumes(struct check *c, size_t box, bool nfs3)
{
    const struct topo_node *node = check_node(c->t, (int)box);
    const char *name = nfs3 ? "NFS.MaxVolumes" : "NFS41.MaxVolumes";
    unsigned connections;
    bool given;
    int64_t limit = topo_max_volumes(node, nfs3, &given);
    size_t n = count_mounts(c, box, nfs3, &connections);

    if (limit > 0 && n > (uint64_t)limit)
        check_add(
            c, limit_mark(node, name), c->t->boxes[box].name,
            check_text(c, "raise %s (up to 256), with it Net.TcpipHeapSize and Net.TcpipHeapMax, and reboot", name),
            "%zu NFS %s datastores, %s is %" PRId64 "%s", n, nfs3 ? "3" : "4.1", name, limit,
            given ? "" : check_text(c, " (the default of %s)", node->version));
}

static void max_volumes(struct check *c)
{
    for (size_t b = 0; b < c->t->n_boxes; b++)
        if (check_node(c->t, (int)b)->kind == TOPO_ESXI) {
            too_many_volumes(c, b, true);
            too_many_volumes(c, b, false);
        }
}

/* MaxVolumes was raised, what it takes of memory was not. */
static void heap_not_raised(struct check *c)
{
    for (size_t b = 0; b < c->t->n_boxes; b++) {
        const struct topo_node *node = check_node(c->t, (int)b);
        bool volumes, heap, begin;
        if (node->kind != TOPO_ESXI)
            continue;
        unsigned n = topo_max_volumes(node, true, &volumes);
        unsigned usual = check_esxi_release(node->version) < CHECK_ESXI(6, 0, 0) ? 8 : 32;
        int64_t most = check_limit(node, "Net.TcpipHeapMax", 0, &heap);
        int64_t first = check_limit(node, "Net.TcpipHeapSize", 0, &begin);
        if (heap && first > most)
            check_add(c, limit_mark(node, "Net.TcpipHeapSize"), c->t->boxes[b].name, "raise Net.TcpipHeapMax with it",
                      "Net.TcpipHeapSize %" PRId64 " is more than Net.TcpipHeapMax %" PRId64, first, most);
        if (volumes && n > usual && usual == 8 && node->version && !(heap && begin))
            check_add(c, limit_mark(node, "NFS.MaxVolumes"), c->t->boxes[b].name,
                      "set Net.TcpipHeapSize to 30 and Net.TcpipHeapMax to 120 or more, and reboot",
                      "NFS.MaxVolumes is raised to %u, %s not", n,
                      heap || begin ? (heap ? "Net.TcpipHeapSize is" : "Net.TcpipHeapMax is")
                                    : "Net.TcpipHeapSize and Net.TcpipHeapMax are");
    }
}

/* Connections that find no room in the heap. */
static void heap_full(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t b = 0; b < t->n_boxes; b++) {
        const struct topo_node *node = check_node(t, (int)b);
        size_t wanted = 0, refused = 0;
        bool given;
        if (node->kind != TOPO_ESXI || !topo_heap(node, &given))
            continue;
        uint64_t each = t->stacks[b].send_buffer + t->stacks[b].receive_buffer;
        for (size_t i = c->host_first[b]; i < c->host_first[b + 1]; i++) {
            const struct topo_mount *m = &t->mounts[c->host_mounts[i]];
            wanted += m->nconnect + (m->refused == TOPO_OVER_HEAP ? m->asked : 0);
            refused += m->refused == TOPO_OVER_HEAP;
        }
        if (refused)
            check_add(c, limit_mark(node, "Net.TcpipHeapMax"), t->boxes[b].name,
                      "raise Net.TcpipHeapMax, or lower the NFS socket buffers",
                      "%zu of the datastores do not mount: %zu connections with buffers of %" PRIu64
                      " KiB do not fit into Net.TcpipHeapMax, %" PRIu64 " MB%s",
                      refused, wanted, each / 1024, topo_heap(node, &given) >> 20,
                      given ? "" : check_text(c, " (the default of %s)", node->version));
    }
}

static void max_connections(struct check *c)
{
    for (size_t b = 0; b < c->t->n_boxes; b++) {
        const struct topo_node *node = check_node(c->t, (int)b);
        unsigned three, four;
        if (node->kind != TOPO_ESXI)
            continue;
        count_mounts(c, b, true, &three);
        count_mounts(c, b, false, &four);
        if (three > 256 || four > 256)
            check_add(c, node->mark, c->t->boxes[b].name, "lower nconnect: the sum over all datastores counts",
                      "%u connections to NFS %s servers, a host opens at most 256", three > 256 ? three : four,
                      three > 256 ? "3" : "4.1");
    }
}

/* ---- connections per server address ---- */

/* How many datastores a host has on each VIP, and what they want. */
struct per_vip {
    unsigned mounts, connections;
};

/* Reports the host's VIPs that want more than `limit`, those with equal numbers together. */
static void report_shared(struct check *c, size_t box, int64_t limit, bool given, struct per_vip *vip,
                          struct diag_mark mark)
{
    const struct topo *t = c->t;
    size_t first = c->host_first[box], end = c->host_first[box + 1];

    for (size_t i = first; i < end; i++) {
        int v = t->mounts[c->host_mounts[i]].vip;
        struct check_names names = {0};
        struct per_vip of;
        if (v < 0)
            continue;
        of = vip[v];
        if (of.connections <= (uint64_t)limit)
            continue;
        for (size_t k = i; k < end; k++) {
            int w = t->mounts[c->host_mounts[k]].vip;
            if (w < 0 || vip[w].mounts != of.mounts || vip[w].connections != of.connections)
                continue;
            check_names_add(c, &names, t->vips[w].text);
            vip[w] = (struct per_vip){0};
        }
        check_add(c, mark, t->boxes[box].name, "raise SunRPC.MaxConnPerIP (reboot), or spread over more VIPs",
                  "%u datastores%s over %s%s, SunRPC.MaxConnPerIP is %" PRId64
                  "%s: %u of the %u have no %s of their own",
                  of.mounts, of.connections > of.mounts ? check_text(c, " with %u connections", of.connections) : "",
                  names.n > 1 ? "each of " : "", check_names_text(c, &names), limit,
                  given ? "" : " by default of the release", of.connections - (unsigned)limit, of.connections,
                  of.connections > of.mounts ? "place" : "connection");
    }
}

static void connections_shared(struct check *c)
{
    const struct topo *t = c->t;
    struct per_vip *vip = check_alloc(c, t->n_vips, sizeof *vip);
    struct diag_mark mark = {0};

    for (size_t b = 0; b < t->n_boxes; b++) {
        const struct topo_node *node = check_node(t, (int)b);
        bool given, over = false;
        int64_t limit;
        if (node->kind != TOPO_ESXI || c->host_first[b] == c->host_first[b + 1])
            continue;
        limit = topo_connections_per_ip(node, &given);
        for (size_t i = c->host_first[b]; i < c->host_first[b + 1]; i++) {
            const struct topo_mount *m = &t->mounts[c->host_mounts[i]];
            const struct topo_datastore *ds = &t->datastores[m->datastore];
            if (m->vip < 0 || ds->nfs != TOPO_NFS3)
                continue;
            vip[m->vip].mounts++;
            vip[m->vip].connections += m->asked;
            over = over || vip[m->vip].connections > (uint64_t)limit;
        }
        if (over && !mark.line)
            mark =
                limit_mark(node, "SunRPC.MaxConnPerIP"); /* one finding for all hosts alike: it stands at the first */
        if (over)
            report_shared(c, b, limit, given, vip, mark);
        for (size_t i = c->host_first[b]; i < c->host_first[b + 1]; i++)
            if (t->mounts[c->host_mounts[i]].vip >= 0)
                vip[t->mounts[c->host_mounts[i]].vip] = (struct per_vip){0};
    }
}

// clang-format off
const struct check_rule check_limit_rules[] = {
    {"max-volumes", DIAG_ERROR, "a host mounts more datastores than NFS.MaxVolumes",
     "ESXi refuses the mounts above NFS.MaxVolumes: 8 by default up to 5.5, 32 since 6.0, at most 256.\n"
     "Raising it wants more heap for the TCP/IP stack and a reboot. Say the real value in the file:\n"
     "`limits: {NFS.MaxVolumes: 64}`.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system settings advanced list -o /NFS/MaxVolumes\n"
     "    esxcli system settings advanced list -o /Net/TcpipHeapMax\n"
     "    esxcli storage nfs list | wc -l\n",
     max_volumes},
    {"heap-full", DIAG_ERROR, "connections do not fit into the TCP/IP heap",
     "Each NFS connection takes its send and receive buffer from the heap of the TCP/IP stack, which grows to\n"
     "Net.TcpipHeapMax (64 MB by default in 5.0 and 5.1). That both buffers are taken in full is assumed. A datastore\n"
     "without room shares a connection to its VIP where there is one, else it does not mount.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system settings advanced list -o /Net/TcpipHeapMax\n"
     "    grep -i heap /var/log/vmkernel.log\n",
     heap_full},
    {"heap-not-raised", DIAG_WARNING, "NFS.MaxVolumes is raised without the TCP/IP heap",
     "VMware's article on the number of NFS mounts (KB 2239) raises three settings together: NFS.MaxVolumes,\n"
     "Net.TcpipHeapSize and Net.TcpipHeapMax. With the heap of the default, mounts or connections may fail\n"
     "later, when all are busy.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system settings advanced list -o /Net/TcpipHeapSize\n"
     "    esxcli system settings advanced list -o /Net/TcpipHeapMax\n",
     heap_not_raised},
    {"connections-shared", DIAG_WARNING, "datastores on one VIP share TCP connections",
     "ESXi opens at most SunRPC.MaxConnPerIP connections to one server address (4 in older builds, 32 in\n"
     "newer). Datastores above that share the connections of others: one slow or stalled datastore then\n"
     "holds up its neighbours, and a connection is still one path. Mounts times nconnect count.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system settings advanced list -o /SunRPC/MaxConnPerIP\n"
     "    esxcli network ip connection list | grep :2049   # one line for each connection\n",
     connections_shared},
    {"max-connections", DIAG_ERROR, "a host opens more than 256 NFS connections",
     "With nconnect the sum over all NFS 3 datastores of a host is limited to 256, and the same for NFS\n"
     "4.1. The mounts that come last fail, after a reboot perhaps others than before.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli storage nfs param get -n all          # connections of every datastore\n"
     "    esxcli network ip connection list | grep -c :2049\n",
     max_connections},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
