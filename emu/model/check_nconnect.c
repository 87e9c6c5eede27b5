/* nconnect: several connections for one mount, where that exists and where it helps. */
#include "emu/model/check_rules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "5.3" or newer; true as well where nothing is known. */
static bool kernel_has_nconnect(const char *version)
{
    char *end;
    unsigned long major, minor;

    if (!version)
        return true;
    major = strtoul(version, &end, 10);
    if (end == version || *end != '.')
        return true;
    minor = strtoul(end + 1, NULL, 10);
    return major > 5 || (major == 5 && minor >= 3);
}

enum support { UNSUPPORTED, PREVIEW, SUPPORTED };

static enum support support(const struct topo_node *host, enum topo_nfs nfs)
{
    unsigned release = check_esxi_release(host->version);

    if (host->kind != TOPO_ESXI)
        return kernel_has_nconnect(host->version) ? SUPPORTED : UNSUPPORTED;
    if (release == 0)
        return SUPPORTED;
    if (nfs != TOPO_NFS3)
        return release >= CHECK_ESXI(8, 0, 3) ? SUPPORTED : UNSUPPORTED;
    if (release < CHECK_ESXI(8, 0, 1))
        return UNSUPPORTED;
    return release == CHECK_ESXI(8, 0, 1) ? PREVIEW : SUPPORTED;
}

static void by_support(struct check *c, enum support what)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        const struct topo_datastore *ds = &t->datastores[m->datastore];
        const struct topo_node *host = check_node(t, m->host);
        if (m->asked < 2 || support(host, ds->nfs) != what)
            continue;
        check_add_for(c, ds->mark, ds->name, t->boxes[m->host].name, NULL, "nconnect %u, and %s %s %s it for NFS %s%s",
                      m->asked, host->kind == TOPO_ESXI ? "ESXi" : "Linux", host->version,
                      what == PREVIEW ? "has" : "does not have", ds->nfs == TOPO_NFS3 ? "3" : "4",
                      what == PREVIEW ? " as a preview only (it can be raised, not lowered)" : "");
    }
}

static void nconnect_unsupported(struct check *c) { by_support(c, UNSUPPORTED); }
static void nconnect_preview(struct check *c) { by_support(c, PREVIEW); }

static void nconnect_too_many(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        const struct topo_datastore *ds = &t->datastores[m->datastore];
        const struct topo_node *host = check_node(t, m->host);
        const char *name = ds->nfs == TOPO_NFS3 ? "NFS.MaxConnectionsPerDatastore" : "NFS41.MaxNConnectConns";
        bool esxi = host->kind == TOPO_ESXI, given = false;
        int64_t limit = esxi ? check_limit(host, name, 4, &given) : 16;
        if (m->asked > (uint64_t)limit)
            check_add_for(c, ds->mark, ds->name, t->boxes[m->host].name,
                          esxi && limit < 8 ? check_text(c, "%s can be raised to 8", name) : NULL,
                          "nconnect %u, %s allows %" PRId64, m->asked, esxi ? name : "Linux", limit);
    }
}

static void nconnect_differs(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t d = 0; d < t->n_datastores; d++) {
        const struct topo_datastore *ds = &t->datastores[d];
        const struct topo_mount *first = &t->mounts[ds->first_mount];
        for (int i = 1; i < ds->n_mounts; i++)
            if (first[i].asked != first->asked)
                check_add_for(c, ds->mark, ds->name, t->boxes[first[i].host].name, "set the same number on every host",
                              "nconnect %u, on %s %u", first[i].asked, t->boxes[first->host].name, first->asked);
    }
}

static void nconnect_shared(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        const struct topo_mount *of = m->shares_with < 0 ? NULL : &t->mounts[m->shares_with];
        if (!of || check_node(t, m->host)->kind != TOPO_LINUX)
            continue;
        check_add_for(c, t->datastores[m->datastore].mark, t->datastores[m->datastore].name, t->boxes[m->host].name,
                      NULL, "uses the %u connection%s of %s to the same address: the first mount decides nconnect",
                      of->nconnect, of->nconnect == 1 ? "" : "s", t->datastores[of->datastore].name);
    }
}

#define PORTS (HASH_READS_SRC_PORT | HASH_READS_DST_PORT)

static void nconnect_no_spread(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        const struct topo_iface *f = m->iface < 0 ? NULL : &t->ifaces[m->iface];
        const struct topo_teaming *teaming;
        char fields[160];
        uint32_t reads;
        if (m->nconnect < 2 || !f || f->team < 0)
            continue;
        teaming = f->teaming ? f->teaming : &t->teams[f->team].teaming;
        reads = teaming->policy.policy ? hash_reads(&teaming->policy) : 0;
        if (teaming->n_active < 2 || (reads & PORTS))
            continue;
        hash_fields_text(reads, fields, sizeof fields);
        check_add_for(c, t->datastores[m->datastore].mark, t->datastores[m->datastore].name, t->boxes[m->host].name,
                      "more VIPs and datastores spread under an address hash; connections need a rule that reads ports",
                      "its %u connections leave by one uplink of %s: %s reads %s, in which they are equal", m->nconnect,
                      t->teams[f->team].name, teaming->policy.policy ? teaming->policy.policy->name : "the team",
                      reads ? fields : "nothing of a frame");
    }
}

// clang-format off
const struct check_rule check_nconnect_rules[] = {
    {"nconnect-unsupported", DIAG_ERROR, "this release has no nconnect for that protocol",
     "ESXi: NFS 3 since 8.0 U1 (a preview), generally since 8.0 U2; NFS 4.1 since 8.0 U3. Linux: since\n"
     "5.3.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system version get ; uname -r\n"
     "    esxcli storage nfs add --help | grep -- -c\n",
     nconnect_unsupported},
    {"nconnect-preview", DIAG_WARNING, "nconnect is a technical preview in this release",
     "ESXi 8.0 U1 has nconnect for NFS 3 as a preview: not for production, the number can be raised on a\n"
     "live mount but not lowered. 8.0 U2 is the first that supports it.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system version get\n"
     "    esxcli storage nfs param get -v ds1\n",
     nconnect_preview},
    {"nconnect-too-many", DIAG_ERROR, "nconnect is above what the host allows",
     "ESXi opens at most 4 connections for a datastore, 8 after NFS.MaxConnectionsPerDatastore (NFS 4.1:\n"
     "NFS41.MaxNConnectConns) was raised; Linux at most 16 for a mount.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli system settings advanced list -o /NFS/MaxConnectionsPerDatastore\n"
     "    grep nconnect /proc/mounts\n",
     nconnect_too_many},
    {"nconnect-differs", DIAG_WARNING, "hosts use different nconnect for one datastore",
     "VMware asks for the same number on all hosts of a datastore. A VM gets another throughput after\n"
     "vMotion.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli storage nfs param get -v ds1          # on every host\n",
     nconnect_differs},
    {"nconnect-no-spread", DIAG_WARNING, "the connections of nconnect cannot spread under the host's teaming",
     "All connections of a mount have the same two addresses. IP hash, port ID and MAC hash see no\n"
     "difference between them, so they leave by one uplink; nconnect then helps against limits of one\n"
     "connection, not of one link. A rule that reads ports spreads them: LACP on a distributed switch with\n"
     "a TCP port mode, layer3+4 on Linux.\n"
     "\n"
     "Prove it while the datastore is busy:\n"
     "\n"
     "    esxtop, then n                               # MbTX/s of each vmnic\n"
     "    grep -A2 'Slave Interface' /proc/net/bonding/bond0 ; ip -s link\n",
     nconnect_no_spread},
    {"nconnect-shared", DIAG_NOTE, "a mount uses the connections of another",
     "The Linux client keeps one set of connections to a server address and protocol version. Every\n"
     "further mount of that address joins it, whatever nconnect it asks for (nfs(5)).\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    ss -tn dst 10.50.0.201:2049                  # as many lines as the first mount has connections\n"
     "    grep -A1 xprt: /proc/self/mountstats\n",
     nconnect_shared},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
