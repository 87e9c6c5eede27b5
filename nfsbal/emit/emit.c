#include "nfsbal/emit/emit.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "nfsbal/emit/emit_private.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"

const char *const emit_format_names[] = {
    [EMIT_ESXCLI] = "esxcli",
    [EMIT_POWERCLI] = "powercli",
    [EMIT_FSTAB] = "fstab",
    [EMIT_SYSTEMD] = "systemd",
    [EMIT_NFSBAL_FSTAB] = "nfsbal-fstab",
    [EMIT_NFSBAL_SYSTEMD] = "nfsbal-systemd",
    [EMIT_PROXMOX] = "proxmox",
    [EMIT_ANSIBLE] = "ansible",
    [EMIT_HOSTS] = "hosts",
    [EMIT_ZONE] = "zone",
    [EMIT_GOVC] = "govc",
    [EMIT_TERRAFORM] = "terraform",
    [EMIT_AUTOFS] = "autofs",
    [EMIT_LIBVIRT] = "libvirt",
    [EMIT_KUBERNETES] = "kubernetes",
    [EMIT_SWITCH] = "switch",
    [EMIT_NAS] = "nas",
    [EMIT_FORMATS] = NULL,
};
static_assert(sizeof emit_format_names / sizeof emit_format_names[0] == EMIT_FORMATS + 1, "a name for each format");

static bool is_for(const struct emit *e, const struct topo_mount *m)
{
    bool esxi = emit_is_esxi(e->t, m->host);
    if (e->host >= 0 && m->host != e->host)
        return false;
    switch (e->format) {
    case EMIT_ESXCLI:
    case EMIT_POWERCLI:
    case EMIT_GOVC:
    case EMIT_TERRAFORM:
        return esxi;
    case EMIT_FSTAB:
    case EMIT_SYSTEMD:
    case EMIT_NFSBAL_FSTAB:
    case EMIT_NFSBAL_SYSTEMD:
    case EMIT_PROXMOX:
    case EMIT_AUTOFS:
    case EMIT_LIBVIRT:
    case EMIT_KUBERNETES:
        return !esxi;
    case EMIT_HOSTS:
    case EMIT_ZONE:
        /* The hosts of a datastore mostly agree: one of them is enough. */
        return emit_name(m) && (e->host >= 0 || m == e->t->mounts || m[-1].datastore != m->datastore ||
                                m[-1].vip != m->vip || strcmp(m[-1].server, m->server) != 0);
    case EMIT_ANSIBLE:
    case EMIT_SWITCH:
    case EMIT_NAS:
    case EMIT_FORMATS:
        break;
    }
    return true;
}

const struct topo_mount *emit_next(const struct emit *e, size_t *at)
{
    while (*at < e->t->n_mounts) {
        const struct topo_mount *m = &e->t->mounts[(*at)++];
        if (is_for(e, m))
            return m;
    }
    return NULL;
}

const char *emit_name(const struct topo_mount *m)
{
    struct topo_addr a;
    return m->n_vips > 1 || topo_addr_parse(&a, m->server) ? NULL : m->server;
}

bool emit_same(const struct topo *t, const struct topo_mount *a, const struct topo_mount *b)
{
    char x[EMIT_TEXT], y[EMIT_TEXT];
    return !strcmp(emit_server(t, a, x, sizeof x), emit_server(t, b, y, sizeof y)) && !strcmp(a->path, b->path) &&
           a->asked == b->asked && emit_same_binding(t, a, b);
}

/* ---- what a format can't hold ---- */

static bool blank_at_an_end(const char *text)
{
    size_t n = strlen(text);
    return n > 0 && (text[0] == ' ' || text[n - 1] == ' ' || text[n - 1] == '\\');
}

/* Proxmox' storage IDs: a letter, then letters, digits, "-", "_" and ".", a letter or digit at the end. */
static bool is_storage_id(const char *name)
{
    size_t n = strlen(name);
    if (n < 2 || !isalpha((unsigned char)name[0]) || !isalnum((unsigned char)name[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] >= 0x80 || (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i])))
            return false;
    return true;
}

/* A name as DNS has it (RFC 1123), which Kubernetes wants. */
static bool is_dns_name(const char *name)
{
    size_t n = strlen(name);
    if (n == 0 || n > 253 || !isalnum((unsigned char)name[0]) || !isalnum((unsigned char)name[n - 1]))
        return false;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)name[i] >= 0x80 ||
            !(islower((unsigned char)name[i]) || isdigit((unsigned char)name[i]) || strchr("-.", name[i])) ||
            (name[i] == '.' && !isalnum((unsigned char)name[i + 1])))
            return false;
    return true;
}

static bool is_host_name(const char *name)
{
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c >= 0x80 || (!isalnum((unsigned char)*c) && !strchr("-_.", *c)))
            return false;
    return *name != '\0';
}

static bool is_nfsbal(const struct emit *e)
{
    return e->format == EMIT_NFSBAL_FSTAB || e->format == EMIT_NFSBAL_SYSTEMD;
}

/* NULL, or what is wrong with a mount in this format; its datastore's name is said by the caller. */
static const char *mount_problem(const struct emit *e, const struct topo_mount *m)
{
    const char *name = e->t->datastores[m->datastore].name;
    char server[EMIT_TEXT], source[EMIT_TEXT];
    if (!quote_possible(name) || !quote_possible(m->server) || !quote_possible(m->path))
        return "a name, server or path with a control character";
    if (strlen(emit_source(e->t, m, source, sizeof source)) + 1 >= sizeof source ||
        strlen(emit_server(e->t, m, server, sizeof server)) + 1 >= sizeof server || strlen(name) + 6 > EMIT_TEXT)
        return "a server and path too long to be written";
    if (m->bound && (e->format == EMIT_GOVC || e->format == EMIT_TERRAFORM || e->format == EMIT_ANSIBLE))
        return "the format has no word for the interface that it is bound to; esxcli and powercli have";
    if (e->format == EMIT_POWERCLI && strpbrk(name, "/\\%"))
        return "PowerCLI takes no /, \\ or % in a name";
    if (e->format == EMIT_GOVC && strpbrk(name, "/\\%*?"))
        return "govc takes no /, \\, %, * or ? in a name";
    if (e->format == EMIT_GOVC && m->n_vips > 1)
        return "govc has no word for several servers";
    if (e->format == EMIT_TERRAFORM && strpbrk(name, "/\\%"))
        return "vCenter writes /, \\ and % in a name otherwise";
    if (e->format == EMIT_AUTOFS && strchr(name, '"'))
        return "a key of autofs has no double quotes in it";
    if (e->format == EMIT_LIBVIRT && strchr(name, '/'))
        return "a storage pool has no / in its name";
    if (e->format == EMIT_KUBERNETES && !is_dns_name(name))
        return "a persistent volume is called by small letters, digits, - and .";
    if (e->format == EMIT_PROXMOX && !is_storage_id(name))
        return "a storage ID of Proxmox is a letter, then letters, digits, - _ and .";
    if (is_nfsbal(e) && (e->t->datastores[m->datastore].nfs != TOPO_NFS3 || m->n_vips > 0))
        return "nfsbal mount speaks NFS 3";
    if (is_nfsbal(e) && m->vip < 0)
        return "its server is no VIP of the file";
    if (is_nfsbal(e) && m->asked > 16)
        return "nfsbal mount makes at most 16 connections to a VIP";
    if ((e->format == EMIT_PROXMOX || e->format == EMIT_SYSTEMD || e->format == EMIT_NFSBAL_SYSTEMD) &&
        (blank_at_an_end(m->path) || blank_at_an_end(name)))
        return "a blank or backslash at an end is lost in this file";
    if ((e->format == EMIT_HOSTS || e->format == EMIT_ZONE) && !is_host_name(m->server))
        return "its server is no host name";
    return NULL;
}

/* NULL, or why a mount can't stand in one file with those before it. */
static const char *pair_problem(const struct emit *e, const struct topo_mount *m)
{
    bool one_for_all = e->format == EMIT_PROXMOX || e->format == EMIT_TERRAFORM || e->format == EMIT_KUBERNETES;
    size_t at = one_for_all ? (size_t)e->t->datastores[m->datastore].first_mount : 0;
    if (e->format == EMIT_FSTAB || e->format == EMIT_SYSTEMD || is_nfsbal(e) || e->format == EMIT_AUTOFS ||
        e->format == EMIT_LIBVIRT) {
        if (emit_next(e, &at)->host != m->host)
            return "each Linux host has a file of its own: --host says which";
    } else if (one_for_all) {
        if (!emit_same(e->t, emit_next(e, &at), m))
            return e->format == EMIT_PROXMOX ? "storage.cfg is one for all nodes, which mount this differently"
                   : e->format == EMIT_TERRAFORM
                       ? "a resource is one for all hosts, which mount this differently"
                       : "a persistent volume is one for all nodes, which mount this differently";
    } else if (e->format == EMIT_HOSTS || e->format == EMIT_ZONE) {
        for (const struct topo_mount *other; (other = emit_next(e, &at)) && other != m;)
            if (!strcmp(other->server, m->server) && other->vip != m->vip)
                return "its server's name would mean two addresses";
    }
    return NULL;
}

static bool check(const struct emit *e, char *problem, size_t size)
{
    size_t at = 0, found = 0;
    if (e->format == EMIT_SWITCH)
        return emit_switch_possible(e, problem, size);
    if (e->format == EMIT_NAS)
        return emit_nas_possible(e, problem, size);
    for (const struct topo_mount *m; (m = emit_next(e, &at)); found++) {
        const char *wrong = mount_problem(e, m);
        if (!wrong)
            wrong = pair_problem(e, m);
        if (wrong) {
            snprintf(problem, size, "%s: datastore `%s` on %s: %s", emit_format_names[e->format],
                     e->t->datastores[m->datastore].name, e->t->boxes[m->host].name, wrong);
            return false;
        }
    }
    if (found == 0)
        snprintf(problem, size, "%s: there is no mount that it is for%s%s", emit_format_names[e->format],
                 e->host < 0 ? "" : " on ", e->host < 0 ? "" : e->t->boxes[e->host].name);
    return found > 0;
}

bool emit_print(const struct emit *e, FILE *out, char *problem, size_t size)
{
    if (!check(e, problem, size))
        return false;
    switch (e->format) {
    case EMIT_ESXCLI:
        emit_esxcli(e, out);
        break;
    case EMIT_POWERCLI:
        emit_powercli(e, out);
        break;
    case EMIT_FSTAB:
        emit_fstab(e, out);
        break;
    case EMIT_SYSTEMD:
        emit_systemd(e, out);
        break;
    case EMIT_NFSBAL_FSTAB:
        emit_nfsbal_fstab(e, out);
        break;
    case EMIT_NFSBAL_SYSTEMD:
        emit_nfsbal_systemd(e, out);
        break;
    case EMIT_PROXMOX:
        emit_proxmox(e, out);
        break;
    case EMIT_ANSIBLE:
        emit_ansible(e, out);
        break;
    case EMIT_HOSTS:
        emit_hosts(e, out);
        break;
    case EMIT_ZONE:
        emit_zone(e, out);
        break;
    case EMIT_GOVC:
        emit_govc(e, out);
        break;
    case EMIT_TERRAFORM:
        emit_terraform(e, out);
        break;
    case EMIT_AUTOFS:
        emit_autofs(e, out);
        break;
    case EMIT_LIBVIRT:
        emit_libvirt(e, out);
        break;
    case EMIT_KUBERNETES:
        emit_kubernetes(e, out);
        break;
    case EMIT_SWITCH:
        emit_switch(e, out);
        break;
    case EMIT_NAS:
        emit_nas(e, out);
        break;
    case EMIT_FORMATS:
        break;
    }
    return true;
}
