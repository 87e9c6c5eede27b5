/* The steps of a copy: a new export that is mounted by the plan's VIP, Storage vMotion, and the old datastore removed last. */
#include <string.h>

#include "nfsbal/cli/diff_text.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"
#include "nfsbal/plan/diff.h"

enum { NAME = 1024, ESXI_MAX_VOLUMES = 32 };

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

/* A name that nothing of the site has: "ds1-new", "ds1-new2" ... */
static void new_name(const struct diff *x, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s-new", name);
    for (int i = 2; topo_find_datastore(x->goal, out) >= 0 && i < 100; i++)
        snprintf(out, size, "%s-new%d", name, i);
}

static void new_path(const struct diff *x, const char *path, char *out, size_t size)
{
    bool taken = true;
    for (int i = 1; taken && i < 100; i++) {
        if (i == 1)
            snprintf(out, size, "%s-new", path);
        else
            snprintf(out, size, "%s-new%d", path, i);
        taken = false;
        for (size_t e = 0; e < x->goal->n_exports; e++)
            taken |= !strcmp(x->goal->exports[e].path, out);
    }
}

static const char *owner_of(const struct diff *x, const struct diff_step *s)
{
    const struct topo_export *e = &x->goal->exports[x->goal->datastores[s->datastore].export_];
    int box = e->owner >= 0 ? e->owner : -1;
    if (box < 0)
        return x->goal->nodes[e->node].name;
    return x->goal->boxes[box].part ? x->goal->boxes[box].part : x->goal->boxes[box].name;
}

/* The volumes that a host's release mounts of this version of NFS at most, and how many it has. */
static void print_volumes(const struct diff *x, const struct diff_step *s, FILE *out)
{
    const struct topo *t = x->goal;
    bool v3 = t->datastores[s->datastore].nfs == TOPO_NFS3;
    const char *name = v3 ? "NFS.MaxVolumes" : "NFS41.MaxVolumes";
    int64_t least = INT64_MAX, its_limit = 0;
    size_t its = 0;
    int where = -1;
    bool its_given = false;
    for (size_t i = 0; i < s->n_mounts; i++) {
        int host = s->mounts[i].goal->host;
        const struct topo_node *node = &t->nodes[t->boxes[host].node];
        int64_t limit = ESXI_MAX_VOLUMES;
        bool given = false;
        size_t n = 0;
        for (size_t l = 0; l < node->n_limits; l++)
            if (!strcmp(node->limits[l].name, name)) {
                limit = node->limits[l].value;
                given = true;
            }
        for (size_t m = 0; m < t->n_mounts; m++)
            n += t->mounts[m].host == host && (t->datastores[t->mounts[m].datastore].nfs == TOPO_NFS3) == v3;
        if (limit - (int64_t)n < least) {
            least = limit - (int64_t)n;
            where = host;
            its = n;
            its_limit = limit;
            its_given = given;
        }
    }
    fprintf(out, "      one more datastore for a while: %s has %zu of %s %lld%s%s\n", t->boxes[where].name, its, name,
            (long long)its_limit, its_given ? "" : " (its usual value; the file gives none)",
            least > 0 ? "" : ": raise it first, or copy after another datastore is gone");
}

static bool is_ontap(const struct topo_node *nas) { return nas->model && !strncmp(nas->model, "netapp", 6); }

static void print_export(const struct diff *x, const struct diff_step *s, const char *path, FILE *out)
{
    const struct topo *t = x->goal;
    const struct topo_export *e = &t->exports[t->datastores[s->datastore].export_];
    if (is_ontap(&t->nodes[e->node])) {
        fprintf(
            out,
            "   a  [0] volume create -vserver SVM -volume NEW -aggregate AGGREGATE-OF-%s -size SIZE -policy POLICY\n"
            "          -junction-path ",
            owner_of(x, s));
        quote_shell(out, path);
        fputc('\n', out);
        return;
    }
    fprintf(out, "   a  [0] a new export ");
    quote_shell(out, path);
    fprintf(out, " on %s, as large as the old one's data, with its export rules\n", owner_of(x, s));
}

/* The mount command of the new datastore: that of the goal under other names. */
static void print_mount(const struct diff *x, const struct topo_mount *goal, const char *name, const char *path,
                        FILE *out)
{
    struct topo t = *x->goal;
    struct topo_datastore ds = x->goal->datastores[goal->datastore];
    struct topo_mount m = *goal;
    ds.name = name;
    t.datastores = &ds;
    m.datastore = 0;
    m.path = path;
    emit_command(out, &t, &m);
}

void diff_copy(const struct diff *x, const struct diff_step *s, diff_hosts_fn *hosts, FILE *out)
{
    const struct topo *t = x->goal;
    const struct topo_datastore *ds = &t->datastores[s->datastore];
    char name[NAME], path[NAME];
    new_name(x, ds->name, name, sizeof name);
    new_path(x, t->exports[ds->export_].path, path, sizeof path);
    fprintf(out,
            "   pre-check, only reads\n"
            "      space: what %s holds fits once more behind %s",
            ds->name, owner_of(x, s));
    fputs(is_ontap(&t->nodes[t->exports[ds->export_].node]) ? " (df -h; storage aggregate show-space)\n"
                                                            : " (esxcli storage filesystem list: size less free)\n",
          out);
    print_volumes(x, s, out);
    fputs("      vCenter and a licence with Storage vMotion; no VM has an independent or shared disk that can't be "
          "moved\n"
          "      templates and ISO images there are moved by hand; a backup job, replication or datastore cluster that "
          "names it\n",
          out);
    print_export(x, s, path, out);
    for (size_t i = 0; i < s->n_mounts; i++) {
        if (!hosts(x, s, i, NULL))
            continue;
        fputs("   b  [0] on ", out);
        hosts(x, s, i, out);
        fputs(": ", out);
        print_mount(x, s->mounts[i].goal, name, path, out);
        fputc('\n', out);
    }
    fprintf(out, "   c  [2] Storage vMotion of its %u VM%s, a few at a time: Get-Datastore ", ds->vms, plural(ds->vms));
    quote_powershell(out, ds->name);
    fputs(" | Get-VM | Move-VM -Datastore ", out);
    quote_powershell(out, name);
    fprintf(
        out,
        "\n   d  check: nothing is left on %s: no VM, template, ISO or open file; backups and replication know %s\n"
        "   e  last: unmount %s on all hosts (nfsbal diff --with-unmount), then delete its export; in vCenter %s may\n"
        "      take its name\n"
        "   -- point of no return: e, when the old export is deleted\n"
        "   rollback  before e: Storage vMotion back, then remove %s\n",
        ds->name, name, ds->name, name, name);
    fprintf(out, "   the file  %s then has the export %s\n", ds->name, path);
}
