/* The join's frame: what the devices are, which addresses are VIPs, and which of a host's interfaces matter for them. */
#include "nfsbal/site/import_model.h"

#include <string.h>
#include <strings.h>

#include "emu/model/topology.h"

static const char head[] = "head"; /* the controller of a NAS that has only one */

bool import_is_node(const struct import_device *d) { return d->kind != IMPORT_UNKNOWN && d->used; }

bool import_is_host(const struct import_device *d) { return d->kind == IMPORT_ESXI || d->kind == IMPORT_LINUX; }

bool import_same_subnet(const char *cidr, const char *address)
{
    struct topo_addr a, b;

    return topo_addr_parse(&a, cidr) && topo_addr_parse(&b, address) && a.version == b.version &&
           topo_addr_same_subnet(&a, &b, a.prefix);
}

static bool same_address(const char *a, const char *b)
{
    struct topo_addr x, y;

    return topo_addr_parse(&x, a) && topo_addr_parse(&y, b) && topo_addr_equal(&x, &y);
}

struct import_iface *import_connected(const struct import_device *host, const char *address)
{
    for (struct import_iface *f = host->ifaces.first; f; f = f->next)
        for (size_t i = 0; i < f->addresses.n; i++)
            if (import_same_subnet(f->addresses.items[i], address))
                return f;
    return NULL;
}

const char *import_resolve(const struct import *m, const char *server)
{
    if (import_address(server))
        return server;
    for (const struct import_pair *p = m->names.first; p; p = p->next)
        if (strcasecmp(p->key, server) == 0)
            return p->value;
    return NULL;
}

struct import_vip *import_find_vip(const struct import *m, const char *address, struct import_device **nas)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
            if (v->address && same_address(v->address, address)) {
                if (nas)
                    *nas = d;
                return v;
            }
    return NULL;
}

/* ---- servers ---- */

/* Names whose address some input shows: Linux' mounts do. */
static void learn_names(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_mount *mount = d->mounts.first; mount; mount = mount->next)
            if (mount->server && mount->address && !import_resolve(m, mount->server)) {
                struct import_pair *p = IMPORT_ADD(m, &m->names, struct import_pair);

                p->key = mount->server;
                p->value = mount->address;
            }
}

const char *import_server(const struct import_mount *mount, size_t i)
{
    if (mount->servers.n)
        return i < mount->servers.n ? mount->servers.items[i] : NULL;
    return i == 0 ? mount->server : NULL;
}

static bool mounts_address(const struct import *m, const struct import_device *d, const char *address)
{
    for (const struct import_mount *mount = d->mounts.first; mount; mount = mount->next)
        for (size_t i = 0; import_server(mount, i); i++) {
            const char *a = import_resolve(m, import_server(mount, i));

            if (a && same_address(a, address))
                return true;
        }
    return false;
}

/* One name without an address, and one connection to an address that no mount explains: that is it. */
static void learn_by_connection(struct import *m, const struct import_device *d)
{
    const char *name = NULL, *address = NULL;

    for (const struct import_mount *mount = d->mounts.first; mount; mount = mount->next)
        if (mount->server && !import_resolve(m, mount->server)) {
            if (name && strcasecmp(name, mount->server) != 0)
                return;
            name = mount->server;
        }
    for (const struct import_connection *c = m->connections.first; c; c = c->next)
        if (c->device == d && !mounts_address(m, d, c->remote)) {
            if (address && !same_address(address, c->remote))
                return;
            address = c->remote;
        }
    if (name && address && import_address(address)) {
        struct import_pair *p = IMPORT_ADD(m, &m->names, struct import_pair);

        p->key = name;
        p->value = address;
    }
}

static bool is_mounted_by_others(const struct import *m, const struct import_device *d)
{
    for (const struct import_device *other = m->devices.first; other; other = other->next)
        for (const struct import_iface *f = other == d ? NULL : d->ifaces.first; f; f = f->next)
            for (size_t i = 0; i < f->addresses.n; i++)
                if (mounts_address(m, other, f->addresses.items[i]))
                    return true;
    return false;
}

/* A Linux box that serves others is a NAS. */
static void find_linux_servers(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        if (d->kind == IMPORT_LINUX && (d->exports.first || is_mounted_by_others(m, d)))
            d->kind = IMPORT_NAS;
}

/* Team and NIC beneath an interface: through VLANs and bridges. */
static void find_beneath(struct import_device *d, struct import_iface *f, const char *name, int depth)
{
    struct import_team *t = import_find_team(d, NULL, name);
    struct import_iface *next = import_find_iface(d, name);

    if (depth > 8)
        return;
    if (t && t->kind != IMPORT_BRIDGE && t->kind != IMPORT_CHANNEL) {
        f->team = t;
        return;
    }
    if (t && t->kind == IMPORT_BRIDGE) {
        if (t->members.n > 0)
            find_beneath(d, f, t->members.items[0], depth + 1);
        return;
    }
    f->nic = import_find_nic(d, NULL, name);
    if (!f->nic && next && next->parent && strcmp(next->parent, name) != 0) {
        if (!f->vlan && next->vlan)
            f->vlan = next->vlan;
        find_beneath(d, f, next->parent, depth + 1);
    }
}

static void find_all_beneath(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_iface *f = d->ifaces.first; f; f = f->next) {
            if (d->kind == IMPORT_ESXI)
                f->team = f->parent ? import_find_team(d, NULL, f->parent) : NULL;
            else
                find_beneath(d, f, f->parent && !import_find_team(d, NULL, f->name) ? f->parent : f->name, 0);
            if (d->kind == IMPORT_ESXI && f->portgroup && !f->distributed)
                for (struct import_portgroup *p = d->portgroups.first; p; p = p->next)
                    if (strcmp(p->name, f->portgroup) == 0) {
                        if (!f->team && p->vswitch)
                            f->team = import_find_team(d, NULL, p->vswitch);
                        f->vlan = p->vlan;
                        f->vlan_known = p->vlan_known;
                    }
        }
}

/* A NAS has LAGs here, and NICs; of a bond that uses one NIC at a time the first is taken. */
static void only_lags(struct import *m, struct import_device *d, struct import_vip *v)
{
    const struct import_team *t = v->team;

    if (!t || (t->kind == IMPORT_BOND && t->members.n &&
               (!t->mode || !strcmp(t->mode, "lacp") || !strcmp(t->mode, "static"))))
        return;
    v->team = NULL;
    if (t->members.n)
        v->nic = import_nic(m, d, t->owner, t->members.items[0]);
}

/* The addresses of a NAS that is described by its interfaces. */
static void vips_of_interfaces(struct import *m, struct import_device *d)
{
    import_word(m, &d->nodes, head);
    for (struct import_nic *n = d->nics.first; n; n = n->next)
        n->owner = n->owner ? n->owner : head;
    for (struct import_team *t = d->teams.first; t; t = t->next) {
        t->owner = t->owner ? t->owner : head;
        if (t->kind == IMPORT_BOND && t->mode && strcmp(t->mode, "802.3ad") == 0)
            t->mode = "lacp";
        else if (t->kind == IMPORT_BOND && t->mode && strcmp(t->mode, "balance-xor") == 0)
            t->mode = "static";
    }
    for (struct import_iface *f = d->ifaces.first; f; f = f->next)
        for (size_t i = 0; i < f->addresses.n; i++) {
            struct import_vip *v = IMPORT_ADD(m, &d->vips, struct import_vip);

            v->address = f->addresses.items[i];
            v->node = head;
            v->team = f->team;
            v->nic = f->nic;
            only_lags(m, d, v);
            v->vlan = f->vlan;
            v->mtu = f->mtu;
            if (f->gateway) {
                struct import_pair *p = IMPORT_ADD(m, &d->gateways, struct import_pair);

                p->key = "default";
                p->value = f->gateway;
            }
        }
}

/* "a0a-50": VLAN 50 on a0a. */
static void vips_of_lifs(struct import *m, struct import_device *d)
{
    for (struct import_vip *v = d->vips.first; v; v = v->next) {
        const char *dash = v->port ? strrchr(v->port, '-') : NULL;
        const char *base = dash ? import_copy(m, v->port, (size_t)(dash - v->port)) : v->port;
        const struct import_nic *port;

        if (!v->port || !v->node)
            continue;
        v->vlan = dash ? import_number(dash + 1) : 0;
        v->team = import_find_team(d, v->node, base);
        only_lags(m, d, v);
        if (!v->team && !v->nic)
            v->nic = import_nic(m, d, v->node, base);
        port = import_find_nic(d, v->node, v->port);
        v->mtu = port ? port->mtu : 0;
    }
    for (struct import_export *e = d->exports.first; e; e = e->next)
        for (const struct import_pair *p = e->owner || !e->aggregate ? NULL : d->aggregates.first; p; p = p->next)
            if (strcmp(p->key, e->aggregate) == 0)
                e->owner = p->value;
}

struct import_device *import_stand_in_nas(struct import *m, const char *name)
{
    struct import_device *d = import_device(m, name);

    d->kind = IMPORT_NAS;
    d->stand_in = true;
    d->used = true;
    d->node = import_name(m, d->name);
    import_word(m, &d->nodes, head);
    import_nic(m, d, head, "unknown-nic")->used = true;
    return d;
}

/* Every server that no device explains: VIPs of a NAS of which nothing is known. Two servers of one host with the same path can't
 * be one NAS. */
static struct import_device *stand_in_for(struct import *m, const struct import_device *host,
                                          const struct import_mount *mount)
{
    struct import_device *d;
    unsigned number = 0;

    for (d = m->devices.first; d; d = d->next) {
        bool taken = false;

        if (!d->stand_in || d->kind != IMPORT_NAS)
            continue;
        number++;
        for (const struct import_mount *other = host->mounts.first; other; other = other->next)
            if (other != mount && other->path && mount->path && strcmp(other->path, mount->path) == 0 &&
                other->server && strcmp(other->server, mount->server) != 0) {
                const char *a = import_resolve(m, other->server);
                struct import_device *nas = NULL;

                taken = taken || (a && import_find_vip(m, a, &nas) && nas == d);
            }
        if (!taken)
            return d;
    }
    return import_stand_in_nas(m, number ? arena_printf(m->arena, "unknown-nas-%u", number + 1) : "unknown-nas");
}

static const char *prefix_of(const struct import_iface *f, const char *address)
{
    for (size_t i = 0; f && i < f->addresses.n; i++)
        if (import_same_subnet(f->addresses.items[i], address))
            return strchr(f->addresses.items[i], '/');
    return NULL;
}

static void take_unknown_server(struct import *m, struct import_device *d, const struct import_mount *mount,
                                const char *server)
{
    const char *address = import_resolve(m, server);
    const struct import_iface *f = address ? import_connected(d, address) : NULL;
    struct import_device *nas;
    struct import_vip *v;

    if (!f || import_find_vip(m, address, NULL))
        return;
    nas = stand_in_for(m, d, mount);
    v = IMPORT_ADD(m, &nas->vips, struct import_vip);
    v->address = arena_printf(m->arena, "%s%s", address, prefix_of(f, address));
    v->node = head;
    v->nic = import_nic(m, nas, head, "unknown-nic");
    v->vlan = f->vlan;
    v->mtu = f->mtu;
    v->used = true;
}

static void find_unknown_servers(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_mount *mount = d->mounts.first; mount && import_is_host(d); mount = mount->next)
            for (size_t i = 0; mount->path && import_server(mount, i); i++)
                take_unknown_server(m, d, mount, import_server(mount, i));
}

void import_join_servers(struct import *m)
{
    learn_names(m);
    for (struct import_device *d = m->devices.first; d; d = d->next)
        learn_by_connection(m, d);
    find_linux_servers(m);
    find_all_beneath(m);
    for (struct import_device *d = m->devices.first; d; d = d->next)
        if (d->kind == IMPORT_NAS && d->ontap)
            vips_of_lifs(m, d);
        else if (d->kind == IMPORT_NAS)
            vips_of_interfaces(m, d);
    find_unknown_servers(m);
}

/* ---- what matters ---- */

static bool any_mounts(const struct import *m, const char *address)
{
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        if (mounts_address(m, d, address))
            return true;
    return false;
}

static bool any_hosts(const struct import *m)
{
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        if (import_is_host(d) && d->ifaces.first)
            return true;
    return false;
}

static bool reached(const struct import *m, const char *address)
{
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        if (import_is_host(d) && import_connected(d, address))
            return true;
    return false;
}

static bool svm_exports(const struct import_device *d, const char *svm)
{
    bool known = false;

    for (const struct import_export *e = d->exports.first; e; e = e->next) {
        known = true;
        if (!svm || !e->svm || strcmp(e->svm, svm) == 0)
            return true;
    }
    return !known;
}

/* Addresses for NFS: those mounted, and those that hosts reach in their own subnets and that could serve. */
static void use_vips(struct import *m)
{
    bool hosts = any_hosts(m);

    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next) {
            if (!v->address || (!v->team && !v->nic))
                continue;
            v->mounted = any_mounts(m, v->address);
            v->used =
                v->used || v->mounted || (!v->not_nfs && svm_exports(d, v->svm) && (!hosts || reached(m, v->address)));
        }
}

static void use_nic(struct import_device *d, const char *owner, const char *name)
{
    struct import_nic *n = import_find_nic(d, owner, name);

    if (n)
        n->used = true;
}

static void use_team(struct import *m, struct import_device *d, struct import_team *t)
{
    t->used = true;
    for (size_t i = 0; i < t->members.n; i++) {
        import_nic(m, d, t->owner, t->members.items[i]);
        use_nic(d, t->owner, t->members.items[i]);
    }
}

static bool serves_nfs(const struct import *m, const struct import_iface *f, bool any_vip)
{
    if (!any_vip)
        return f->addresses.n > 0;
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        for (const struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
            for (size_t i = 0; v->used && i < f->addresses.n; i++)
                if (import_same_subnet(f->addresses.items[i], v->address))
                    return true;
    return false;
}

static bool any_vips(const struct import *m)
{
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        for (const struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
            if (v->used)
                return true;
    return false;
}

static void use_interfaces(struct import *m)
{
    bool vips = any_vips(m);

    for (struct import_device *d = m->devices.first; d; d = d->next) {
        if (!import_is_host(d))
            continue;
        for (struct import_iface *f = d->ifaces.first; f; f = f->next) {
            if (!serves_nfs(m, f, vips) || (!f->team && !f->nic) || (f->team && f->team->members.n == 0))
                continue;
            f->used = true;
            d->used = true;
            if (f->team)
                use_team(m, d, f->team);
            else
                f->nic->used = true;
        }
        for (struct import_iface *f = d->ifaces.first; f; f = f->next) /* what rides along */
            f->used = f->used || (f->addresses.n > 0 && ((f->team && f->team->used) || (f->nic && f->nic->used)));
    }
}

/* Addresses of one controller and subnet are on one interface, which has one MTU: that of those whose MTU is known. Of a stand-in
 * nothing is known: it has what its hosts have. */
static void even_mtus(struct import *m, const struct import_device *d)
{
    for (struct import_vip *v = d->vips.first; v; v = v->next) {
        if (!v->used)
            continue;
        for (const struct import_vip *other = d->vips.first; other; other = other->next)
            if (other->used && other->mtu > v->mtu && strcmp(other->node, v->node) == 0 &&
                import_same_subnet(v->address, other->address))
                v->mtu = other->mtu;
        for (const struct import_device *host = d->stand_in ? m->devices.first : NULL; host; host = host->next) {
            const struct import_iface *f = import_is_host(host) ? import_connected(host, v->address) : NULL;

            if (f && f->mtu > v->mtu)
                v->mtu = f->mtu;
        }
    }
}

void import_join_used(struct import *m)
{
    use_vips(m);
    for (struct import_device *d = m->devices.first; d; d = d->next)
        if (d->kind == IMPORT_NAS)
            even_mtus(m, d);
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next) {
            if (!v->used)
                continue;
            d->used = true;
            if (v->team)
                use_team(m, d, v->team);
            else
                v->nic->used = true;
        }
    use_interfaces(m);
}

void import_join(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        d->node = import_name(m, d->name);
    import_join_servers(m);
    import_join_used(m);
    import_join_datastores(m);
    import_join_cables(m);
}
