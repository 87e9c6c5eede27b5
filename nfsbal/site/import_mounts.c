/* Datastores of the join: mounts of the hosts brought together by NAS and path. */
#include "nfsbal/site/import_model.h"

#include <string.h>
#include <strings.h>

/* Without a slash at its end. */
static const char *plain_path(struct import *m, const char *path)
{
    size_t n = strlen(path);

    while (n > 1 && path[n - 1] == '/')
        n--;
    return import_copy(m, path, n);
}

static struct import_export *find_export(struct import *m, struct import_device *nas, const char *svm, const char *path)
{
    for (struct import_export *e = nas->exports.first; e; e = e->next)
        if (e->path && strcmp(plain_path(m, e->path), path) == 0 && (!svm || !e->svm || strcmp(svm, e->svm) == 0))
            return e;
    return NULL;
}

/* The export that a path is beneath: its owner is the owner of all of it. */
static const struct import_export *export_above(const struct import_device *nas, const char *svm, const char *path)
{
    const struct import_export *best = NULL;
    size_t length = 0;

    for (const struct import_export *e = nas->exports.first; e; e = e->next) {
        size_t n = e->path ? strlen(e->path) : 0;

        if (n > length && strncmp(e->path, path, n) == 0 && path[n] == '/' &&
            (!svm || !e->svm || strcmp(svm, e->svm) == 0)) {
            best = e;
            length = n;
        }
    }
    return best;
}

/* ONTAP's plain `volume show` has no paths: most volumes are mounted at /NAME. */
static struct import_export *export_by_volume(struct import_device *nas, const char *svm, const char *path)
{
    for (struct import_export *e = nas->exports.first; e; e = e->next)
        if (!e->path && e->volume && path[0] == '/' && strcmp(e->volume, path + 1) == 0 &&
            (!svm || !e->svm || strcmp(svm, e->svm) == 0))
            return e;
    return NULL;
}

static void need_export(struct import *m, struct import_device *nas, const char *svm, const char *path)
{
    const struct import_export *above;
    struct import_export *e = find_export(m, nas, svm, path);

    if (e)
        return;
    e = export_by_volume(nas, svm, path);
    if (e) {
        e->path = path;
        return;
    }
    above = export_above(nas, svm, path);
    e = IMPORT_ADD(m, &nas->exports, struct import_export);
    e->path = path;
    e->svm = above ? above->svm : svm;
    e->owner = above ? above->owner : NULL;
}

/* Which NAS has this path, when the server's name doesn't tell: the only one, or a stand-in. */
static struct import_device *nas_by_path(struct import *m, const char *path)
{
    struct import_device *found = NULL, *only = NULL;
    size_t have = 0, all = 0;

    for (struct import_device *d = m->devices.first; d; d = d->next) {
        if (d->kind != IMPORT_NAS || !d->used)
            continue;
        all++;
        only = d;
        if (find_export(m, d, NULL, path) || export_by_volume(d, NULL, path)) {
            have++;
            found = d;
        }
    }
    return have == 1 ? found : all == 1 ? only : NULL;
}

static bool has_use(const struct import_datastore *s, const struct import_device *host)
{
    for (const struct import_use *u = s->uses.first; u; u = u->next)
        if (u->host == host)
            return true;
    return false;
}

static bool same_svm(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static const char *nfs_version(const char *text)
{
    if (!text || text[0] == '3')
        return "3";
    return strcmp(text, "4.2") == 0 ? "4.2" : "4.1";
}

static bool name_taken(const struct import *m, const char *name)
{
    for (const struct import_datastore *s = m->datastores.first; s; s = s->next)
        if (strcmp(s->name, name) == 0)
            return true;
    return false;
}

/* The datastore of this export, version and name; else one of this export that the host doesn't have yet; else a new one. */
static struct import_datastore *datastore_of(struct import *m, struct import_device *nas, const char *svm,
                                             const char *path, const struct import_mount *mount,
                                             const struct import_device *host)
{
    struct import_datastore *s, *other = NULL;
    const char *name = import_name(m, mount->name), *nfs = nfs_version(mount->version), *base = name;

    for (s = m->datastores.first; s; s = s->next)
        if (s->nas == nas && same_svm(s->svm, svm) && strcmp(s->path, path) == 0 && strcmp(s->nfs, nfs) == 0 &&
            !has_use(s, host)) {
            if (strcmp(s->name, name) == 0)
                return s;
            other = other ? other : s;
        }
    if (other)
        return other;
    if (name_taken(m, name))
        name = arena_printf(m->arena, "%s-%s", base,
                            strcmp(nfs, "3") == 0 ? nas->node : arena_printf(m->arena, "nfs%s", nfs));
    for (unsigned i = 2; name_taken(m, name); i++)
        name = arena_printf(m->arena, "%s-%u", base, i);
    s = IMPORT_ADD(m, &m->datastores, struct import_datastore);
    s->name = name;
    s->nas = nas;
    s->svm = svm;
    s->path = path;
    s->nfs = nfs;
    return s;
}

/* A mount that is only configured and is also seen: the configuration gives its name. */
static bool is_seen(struct import_device *d, const struct import_mount *configured)
{
    for (struct import_mount *m = d->mounts.first; m; m = m->next)
        if (!m->configured && m->server && strcasecmp(m->server, configured->server) == 0 &&
            strcmp(m->path, configured->path) == 0) {
            if (!strstr(configured->name, "/") && m->name != configured->name)
                m->name = configured->name;
            return true;
        }
    return false;
}

static void take_mount(struct import *m, struct import_device *host, const struct import_mount *mount)
{
    const char *address = import_resolve(m, mount->server);
    const char *path = plain_path(m, mount->path), *svm = NULL;
    struct import_device *nas = NULL;
    struct import_vip *vip = address ? import_find_vip(m, address, &nas) : NULL;
    struct import_datastore *s;
    struct import_use *u;

    if (vip && vip->used)
        svm = vip->svm;
    else
        vip = NULL;
    if (!nas)
        nas = nas_by_path(m, path);
    if (!nas) /* no address leads there either: nothing can be said but the path */
        nas = import_stand_in_nas(m, "unknown-nas");
    if (!svm) {
        const struct import_export *e = find_export(m, nas, NULL, path);

        if (!e)
            e = export_by_volume(nas, NULL, path);
        svm = e ? e->svm : NULL;
    }
    need_export(m, nas, svm, path);
    s = datastore_of(m, nas, svm, path, mount, host);
    u = IMPORT_ADD(m, &s->uses, struct import_use);
    u->host = host;
    u->mount = mount;
    u->vip = vip;
    u->routed = vip && !import_connected(host, vip->address);
    if (vip && !mount->servers.n && !import_address(mount->server))
        import_word(m, &vip->dns, mount->server);
}

void import_join_datastores(struct import *m)
{
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_mount *mount = import_is_host(d) ? d->mounts.first : NULL; mount; mount = mount->next)
            if (mount->configured && mount->name && mount->server && mount->path && is_seen(d, mount))
                mount->name = NULL;
    for (struct import_device *d = m->devices.first; d; d = d->next)
        for (struct import_mount *mount = import_is_host(d) && d->used ? d->mounts.first : NULL; mount;
             mount = mount->next)
            if (mount->name && mount->server && mount->path && *mount->path == '/')
                take_mount(m, d, mount);
}
