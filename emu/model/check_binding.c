/* `vmknic:` - mounts that are bound to an interface, where that exists and what it asks for. */
#include "emu/model/check_rules.h"

#include <string.h>

bool topo_can_bind(const struct topo_node *host, enum topo_nfs nfs)
{
    unsigned release = check_esxi_release(host->version);
    return host->kind == TOPO_ESXI &&
           (release == 0 || release >= (nfs == TOPO_NFS3 ? CHECK_ESXI(8, 0, 1) : CHECK_ESXI(8, 0, 3)));
}

static void binding_unsupported(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        const struct topo_datastore *ds = &t->datastores[m->datastore];
        const struct topo_node *host = check_node(t, m->host);
        if (m->bound && !topo_can_bind(host, ds->nfs))
            check_add_for(c, ds->mark, ds->name, t->boxes[m->host].name, NULL,
                          "bound to %s, and ESXi %s can't bind mounts of NFS %s", t->ifaces[m->iface].name,
                          host->version, ds->nfs == TOPO_NFS3 ? "3" : "4.1");
    }
}

static void binding_partial(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i], *other = NULL;
        const struct topo_datastore *ds = &t->datastores[m->datastore];
        if (!m->bound)
            continue;
        for (int k = c->host_first[m->host]; k < (int)c->host_first[m->host + 1] && !other; k++) {
            const struct topo_mount *o = &t->mounts[c->host_mounts[k]];
            const struct topo_addr *a = &t->ifaces[m->iface].addr;
            if (!o->bound && o->iface_origin == TOPO_ASSUMED &&
                topo_addr_same_subnet(a, &t->ifaces[o->iface].addr, a->prefix))
                other = o;
        }
        if (other)
            check_add_for(c, ds->mark, ds->name, t->boxes[m->host].name, "bind all datastores of the host or none",
                          "bound to %s, which may carry those that are not bound too (%s): routing picks theirs",
                          t->ifaces[m->iface].name, t->datastores[other->datastore].name);
    }
}

// clang-format off
const struct check_rule check_binding_rules[] = {
    {"binding-unsupported", DIAG_ERROR, "this release can't bind a mount to a VMkernel interface",
     "A datastore can be bound to a VMkernel interface of the host since 8.0 U1 with NFS 3 (vSphere Web\n"
     "Services API, HostNasVolumeSpec.vmknicToBind, since 8.0.1.0; vSphere Storage 8.0, \"Configure VMkernel\n"
     "Binding for NFS 3 Datastore\") and since 8.0 U3 with NFS 4.1. Before that the routing table alone\n"
     "picks the interface.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system version get\n"
     "    esxcli storage nfs add --help | grep -i vmknic\n",
     binding_unsupported},
    {"binding-partial", DIAG_NOTE, "only some datastores of a host are bound to interfaces",
     "A datastore that is not bound goes where the routing table says, which with several interfaces in one\n"
     "subnet is assumed to be the first created: it may share an interface that was meant for another.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli network ip connection list | grep 2049   # the local address in use\n",
     binding_partial},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
