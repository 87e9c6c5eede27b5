/* Mounts: what makes one datastore several, or several one. */
#include "emu/model/check_rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- one datastore, one string ---- */

/* The server string may have the path behind it, as `mounted: "filer:/vol1/"` writes it. */
static size_t server_length(const struct topo_mount *m)
{
    const char *path = strstr(m->server, ":/");
    return path ? (size_t)(path - m->server) : strlen(m->server);
}

static bool same_server(const struct topo_mount *a, const struct topo_mount *b)
{
    return a->server == b->server ||
           (server_length(a) == server_length(b) && strncmp(a->server, b->server, server_length(a)) == 0);
}

static bool same_source(const struct topo_mount *a, const struct topo_mount *b)
{
    return same_server(a, b) && (a->path == b->path || strcmp(a->path, b->path) == 0);
}

/* The string that most hosts use: its first mount. */
static int majority(const struct topo *t, const struct topo_datastore *ds)
{
    int best = ds->first_mount, best_n = 0;

    /* Strings are few, mounts many: each string is counted once, where it comes first. */
    for (int i = ds->first_mount; i < ds->first_mount + ds->n_mounts; i++) {
        int n = 0;
        if (i > ds->first_mount && same_source(&t->mounts[i], &t->mounts[i - 1]))
            continue;
        if (i > ds->first_mount && same_source(&t->mounts[i], &t->mounts[best]))
            continue;
        for (int k = ds->first_mount; k < ds->first_mount + ds->n_mounts; k++)
            n += same_source(&t->mounts[i], &t->mounts[k]);
        if (n > best_n) {
            best = i;
            best_n = n;
        }
        if (2 * best_n > ds->n_mounts)
            break;
    }
    return best;
}

static size_t without_slash(const char *path)
{
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

static bool is_address(const struct topo_mount *m)
{
    struct topo_addr address;
    char text[64];

    snprintf(text, sizeof text, "%.*s", (int)server_length(m), m->server);
    return topo_addr_parse(&address, text);
}

/* In what two mounts of one datastore differ, in words. */
static const char *difference(const struct topo_mount *a, const struct topo_mount *b)
{
    bool server = !same_server(a, b), path = strcmp(a->path, b->path) != 0;
    size_t n = without_slash(a->path), m = without_slash(b->path);

    if (server && server_length(a) == server_length(b) && strncasecmp(a->server, b->server, server_length(a)) == 0)
        return "letter case of the server";
    if (server && a->vip >= 0 && a->vip == b->vip)
        return is_address(a) != is_address(b) ? "name against address of the same VIP" : "two names of the same VIP";
    if (server)
        return "another server";
    if (path && n == m && memcmp(a->path, b->path, n) == 0)
        return "a slash at the end of the path";
    if (path && strcasecmp(a->path, b->path) == 0)
        return "letter case of the path";
    return "another path";
}

/* The hosts of one other string, the first of which is `odd`. */
static void drifted(struct check *c, const struct topo_datastore *ds, const struct topo_mount *most,
                    const struct topo_mount *odd)
{
    const struct topo *t = c->t;
    struct check_names hosts = {0};
    bool paths = strcmp(odd->path, most->path) != 0;
    size_t others = 0;

    for (int i = ds->first_mount; i < ds->first_mount + ds->n_mounts; i++) {
        if (same_source(&t->mounts[i], odd))
            check_names_add(c, &hosts, t->boxes[t->mounts[i].host].name);
        else
            others += same_source(&t->mounts[i], most);
    }
    check_add(c, odd->mark, ds->name,
              "these are two datastores to vCenter: vMotion, HA and DRS fail between the two groups of hosts",
              "%s mount%s %.*s%s%s, %s %.*s%s%s (%s)", check_names_text(c, &hosts), hosts.n == 1 ? "s" : "",
              (int)server_length(odd), odd->server, paths ? ":" : "", paths ? odd->path : "",
              others == 1 ? t->boxes[most->host].name : "the others", (int)server_length(most), most->server,
              paths ? ":" : "", paths ? most->path : "", difference(odd, most));
}

static void server_string_drift(struct check *c)
{
    const struct topo *t = c->t;

    for (size_t d = 0; d < t->n_datastores; d++) {
        const struct topo_datastore *ds = &t->datastores[d];
        const struct topo_mount *most;
        if (ds->per_host || ds->n_mounts < 2)
            continue;
        most = &t->mounts[majority(t, ds)];
        for (int i = ds->first_mount; i < ds->first_mount + ds->n_mounts; i++) {
            bool told = same_source(&t->mounts[i], most);
            for (int k = ds->first_mount; k < i && !told; k++)
                told = same_source(&t->mounts[i], &t->mounts[k]);
            if (!told)
                drifted(c, ds, most, &t->mounts[i]);
        }
    }
}

/* ---- several datastores on one export ---- */

/* Datastores in order of their export. */
struct by_export {
    int export_, datastore;
};

static int compare_exports(const void *a, const void *b)
{
    const struct by_export *x = a, *y = b;
    return x->export_ != y->export_ ? x->export_ - y->export_ : x->datastore - y->datastore;
}

static struct by_export *exports_sorted(struct check *c)
{
    const struct topo *t = c->t;
    struct by_export *all = check_alloc(c, t->n_datastores, sizeof *all);

    for (size_t i = 0; i < t->n_datastores; i++)
        all[i] = (struct by_export){t->datastores[i].export_, (int)i};
    qsort(all, t->n_datastores, sizeof *all, compare_exports);
    return all;
}

static size_t group_end(const struct by_export *all, size_t n, size_t first)
{
    size_t end = first + 1;
    while (end < n && all[end].export_ == all[first].export_)
        end++;
    return end;
}

static const char *export_name(struct check *c, int export_)
{
    const struct topo_export *e = &c->t->exports[export_];
    return check_text(c, "%s:%s", c->t->nodes[e->node].name, e->path);
}

static void nfs_version_mix(struct check *c)
{
    const struct topo *t = c->t;
    const struct by_export *all = exports_sorted(c);

    for (size_t i = 0, end; i < t->n_datastores; i = end) {
        struct check_names v3 = {0}, v4 = {0};
        end = group_end(all, t->n_datastores, i);
        for (size_t k = i; k < end; k++) {
            const struct topo_datastore *ds = &t->datastores[all[k].datastore];
            check_names_add(c, ds->nfs == TOPO_NFS3 ? &v3 : &v4, ds->name);
        }
        if (all[i].export_ >= 0 && v3.n && v4.n)
            check_add(
                c, t->datastores[all[end - 1].datastore].mark, NULL, "mount the export with one version everywhere",
                "%s is mounted with NFS 3 (%s) and NFS 4 (%s): they lock in different ways, and VMs get corrupted",
                export_name(c, all[i].export_), check_names_text(c, &v3), check_names_text(c, &v4));
    }
}

/* Whether some host has mounted both. */
static bool share_a_host(struct check *c, int a, int b, bool *has)
{
    const struct topo *t = c->t;
    const struct topo_datastore *x = &t->datastores[a], *y = &t->datastores[b];
    bool both = false;

    for (int i = x->first_mount; i < x->first_mount + x->n_mounts; i++)
        has[t->mounts[i].host] = true;
    for (int i = y->first_mount; i < y->first_mount + y->n_mounts; i++)
        both = both || has[t->mounts[i].host];
    for (int i = x->first_mount; i < x->first_mount + x->n_mounts; i++)
        has[t->mounts[i].host] = false;
    return both;
}

static void alias_mount(struct check *c)
{
    const struct topo *t = c->t;
    const struct by_export *all = exports_sorted(c);
    bool *has = check_alloc(c, t->n_boxes, sizeof *has);

    for (size_t i = 0, end; i < t->n_datastores; i = end) {
        struct check_names names = {0};
        end = group_end(all, t->n_datastores, i);
        if (all[i].export_ < 0)
            continue;
        for (size_t k = i; k < end; k++)
            if (k == i || share_a_host(c, all[i].datastore, all[k].datastore, has))
                check_names_add(c, &names, t->datastores[all[k].datastore].name);
        if (names.n > 1)
            check_add(c, t->datastores[all[i].datastore].mark, NULL,
                      "its free space is counted once for each, and a snapshot or a restore hits all of them",
                      "%s are %zu names of one export, %s", check_names_text(c, &names), names.n,
                      export_name(c, all[i].export_));
    }
}

/* ---- owner and home ---- */

static void indirect(struct check *c, bool impossible)
{
    const struct topo *t = c->t;

    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        const struct topo_datastore *ds = &t->datastores[m->datastore];
        const struct topo_export *e = ds->export_ < 0 ? NULL : &t->exports[ds->export_];
        const struct topo_node *nas;
        if (!e || m->vip < 0 || e->owner < 0 || t->vips[m->vip].home == e->owner)
            continue;
        nas = &t->nodes[e->node];
        if (nas->indirect == TOPO_INDIRECT_FREE || (nas->indirect == TOPO_INDIRECT_IMPOSSIBLE) != impossible)
            continue;
        check_add(c, ds->mark, ds->name, check_text(c, "mount it over a VIP whose home is %s", t->boxes[e->owner].name),
                  impossible
                      ? "its export belongs to %s, and VIP %s lives on %s, which cannot serve it"
                      : "its export belongs to %s, but VIP %s lives on %s: every byte takes the extra way between "
                        "the controllers",
                  t->boxes[e->owner].name, t->vips[m->vip].text, t->boxes[t->vips[m->vip].home].name);
    }
}

static void indirect_path(struct check *c) { indirect(c, false); }
static void indirect_impossible(struct check *c) { indirect(c, true); }

// clang-format off
const struct check_rule check_mount_rules[] = {
    {"server-string-drift", DIAG_ERROR, "hosts mount one datastore under different strings",
     "vCenter knows an NFS 3 datastore by its server string and path, letter by letter. `filer`,\n"
     "`filer.example.com`, an address, another VIP of the same filer, a capital letter or a slash at the\n"
     "end make another datastore of it: vMotion to that host fails, HA does not restart the VM there, and\n"
     "the second name appears as `ds11 (1)`. A name per VIP, used alike on every host, avoids it.\n"
     "\n"
     "Prove it, on every host (the volume names must agree too):\n"
     "\n"
     "    esxcli storage nfs list                      # Host and Share, compare letter by letter\n"
     "    esxcli storage filesystem list | grep NFS    # the UUID is made from the string\n"
     "\n"
     "To repair it the datastore must be unmounted on the odd host and mounted again under the string of\n"
     "the others.\n",
     server_string_drift},
    {"nfs-version-mix", DIAG_ERROR, "one export is mounted with NFS 3 and with NFS 4",
     "ESXi locks files by lock files under NFS 3 and by the server under NFS 4.1. A VM disk opened by one\n"
     "host in each way is not protected, and gets corrupted (VMware: never mount one volume with both).\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli storage nfs list ; esxcli storage nfs41 list\n"
     "    vserver nfs connected-clients show           # ONTAP: protocol of each client\n",
     nfs_version_mix},
    {"alias-mount", DIAG_WARNING, "one export is mounted as several datastores",
     "One export under several names, usually once for each VIP, gives one host several connections and IP\n"
     "hash something to spread. The price: vCenter counts its free space several times, a snapshot or\n"
     "restore of the volume hits all datastores, backups see VMs twice, and storage DRS moves VMs from a\n"
     "volume to itself. Better one export for each datastore where the NAS allows it. Acknowledge it with\n"
     "`allow: {alias-mount: REASON}` where it is wanted.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    esxcli storage nfs list                      # the same Share twice\n",
     alias_mount},
    {"indirect-path", DIAG_WARNING, "a datastore is mounted over a controller that does not own its export",
     "The NAS serves it, but each operation crosses the link between the controllers: more latency, and a\n"
     "share of their bandwidth. After a volume or a VIP was moved this stays until the datastore is\n"
     "mounted over the other VIP.\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    volume show -fields node ; network interface show -fields curr-node   # ONTAP\n"
     "    statistics show -object cluster_network\n",
     indirect_path},
    {"indirect-impossible", DIAG_ERROR, "a datastore is mounted over a controller that cannot serve its export",
     "This NAS serves an export only over VIPs of the controller that owns it (`indirect: impossible`).\n"
     "\n"
     "Prove it:\n"
     "\n"
     "    showmount -e 10.50.0.101                     # the export must be in the list of that very VIP\n",
     indirect_impossible},
    {NULL, DIAG_NOTE, NULL, NULL, NULL}};
// clang-format on
