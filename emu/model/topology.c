#include "emu/model/topology.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology_arena.h"
#include "emu/model/topology_file.h"

void topo_free(struct topo *t)
{
    if (t)
        arena_free(t->arena); /* t itself lies in it */
}

const char *topo_linkdir_name(const struct topo *t, int linkdir) { return t->linkdir_names[linkdir]; }

static int64_t limit_of(const struct topo_node *node, const char *name, bool *given)
{
    *given = false;
    for (size_t i = 0; i < node->n_limits; i++)
        if (strcmp(node->limits[i].name, name) == 0) {
            *given = true;
            return node->limits[i].value;
        }
    return 0;
}

/* Ten times the release and its first minor, 55 for "5.5"; 0: not known. */
static unsigned release_of(const struct topo_node *node)
{
    char *end;
    long major = node->version ? strtol(node->version, &end, 10) : 0;
    if (major <= 0 || major > 99)
        return 0;
    long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return (unsigned)(10 * major + (minor < 0 ? 0 : minor > 9 ? 9 : minor));
}

unsigned topo_max_volumes(const struct topo_node *node, bool nfs3, bool *given)
{
    unsigned release = release_of(node);
    int64_t value = limit_of(node, nfs3 ? "NFS.MaxVolumes" : "NFS41.MaxVolumes", given);
    if (*given)
        return (unsigned)value;
    return !nfs3 || release == 0 ? 0 : release < 60 ? 8 : 32;
}

uint64_t topo_heap(const struct topo_node *node, bool *given)
{
    unsigned release = release_of(node);
    int64_t value = limit_of(node, "Net.TcpipHeapMax", given);
    if (*given)
        return (uint64_t)value << 20;
    return release == 50 || release == 51 ? UINT64_C(64) << 20 : 0;
}

unsigned topo_connections_per_ip(const struct topo_node *node, bool *given)
{
    int64_t value = limit_of(node, "SunRPC.MaxConnPerIP", given);
    if (*given)
        return (unsigned)value;
    return node->version && strtol(node->version, NULL, 10) < 7 ? 4 : 32;
}

int topo_find_box(const struct topo *t, const char *name)
{
    for (size_t i = 0; i < t->n_boxes; i++)
        if (strcmp(t->boxes[i].name, name) == 0)
            return (int)i;
    return -1;
}

int topo_find_port(const struct topo *t, const char *full)
{
    for (size_t i = 0; i < t->n_ports; i++)
        if (strcmp(t->ports[i].full, full) == 0)
            return (int)i;
    return -1;
}

int topo_find_iface(const struct topo *t, int box, const char *name)
{
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].box == box && strcmp(t->ifaces[i].name, name) == 0)
            return (int)i;
    return -1;
}

int topo_bound_iface(const struct topo *t, int datastore, int host)
{
    const struct topo_datastore *ds = &t->datastores[datastore];
    for (size_t i = 0; ds->bound && i < ds->n_hosts; i++)
        if (ds->hosts[i] == host)
            return ds->bound[i];
    return -1;
}

int topo_find_datastore(const struct topo *t, const char *name)
{
    for (size_t i = 0; i < t->n_datastores; i++)
        if (strcmp(t->datastores[i].name, name) == 0)
            return (int)i;
    return -1;
}

int topo_find_vip(const struct topo *t, const struct topo_addr *addr)
{
    for (size_t i = 0; i < t->n_vips; i++)
        if (topo_addr_equal(&t->vips[i].addr, addr))
            return (int)i;
    return -1;
}

static size_t addr_bytes(const struct topo_addr *a) { return a->version == 4 ? 4 : a->version == 6 ? 16 : 0; }

bool topo_addr_parse(struct topo_addr *a, const char *text)
{
    char address[64];
    size_t length = strcspn(text, "/");
    const char *slash = text[length] ? text + length : NULL;
    if (*text == '[') { /* as mount(8) writes IPv6 */
        if (length < 2 || text[length - 1] != ']' || !memchr(text, ':', length))
            return false;
        text++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof(address))
        return false;
    memcpy(address, text, length);
    address[length] = '\0';

    struct topo_addr parsed = {0};
    if (inet_pton(AF_INET, address, parsed.bytes) == 1)
        parsed.version = 4;
    else if (inet_pton(AF_INET6, address, parsed.bytes) == 1)
        parsed.version = 6;
    else
        return false;
    if (slash) {
        unsigned prefix = 0;
        const char *p = slash + 1;
        if (strlen(p) < 1 || strlen(p) > 3)
            return false;
        for (; *p; p++) {
            if (*p < '0' || *p > '9')
                return false;
            prefix = prefix * 10 + (unsigned)(*p - '0');
        }
        if (prefix > 8 * addr_bytes(&parsed))
            return false;
        parsed.prefix = (uint8_t)prefix;
    }
    *a = parsed;
    return true;
}

char *topo_addr_print(char *buf, size_t size, const struct topo_addr *a, bool prefix)
{
    char address[INET6_ADDRSTRLEN];
    if (!a->version || !inet_ntop(a->version == 4 ? AF_INET : AF_INET6, a->bytes, address, sizeof(address)))
        snprintf(buf, size, "-");
    else if (prefix)
        snprintf(buf, size, "%s/%u", address, a->prefix);
    else
        snprintf(buf, size, "%s", address);
    return buf;
}

bool topo_addr_equal(const struct topo_addr *a, const struct topo_addr *b)
{
    return a->version == b->version && memcmp(a->bytes, b->bytes, addr_bytes(a)) == 0;
}

bool topo_addr_same_subnet(const struct topo_addr *a, const struct topo_addr *b, unsigned prefix)
{
    if (a->version != b->version || !a->version || prefix > 8 * addr_bytes(a))
        return false;
    if (memcmp(a->bytes, b->bytes, prefix / 8) != 0)
        return false;
    unsigned rest = prefix % 8;
    return !rest || (a->bytes[prefix / 8] ^ b->bytes[prefix / 8]) >> (8 - rest) == 0;
}

int topo_route(const struct topo *t, int first, int n, const struct topo_addr *to, bool *several, int *routed)
{
    int found = -1;
    *several = false;
    *routed = -1;
    for (int i = first; i < first + n; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        if (topo_addr_same_subnet(&f->addr, to, f->addr.prefix)) {
            *several |= found >= 0;
            if (found < 0 || f->weight < t->ifaces[found].weight)
                found = i;
        } else if (f->gateway.version == to->version && *routed < 0) {
            *routed = i;
        }
    }
    return found;
}
