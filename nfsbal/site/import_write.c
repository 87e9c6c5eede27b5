/* The file that an import writes: its frame and the hosts. */
#include "nfsbal/site/import_write.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "hashes/policy.h"
#include "nfsbal/site/import.h"

/* ---- text ---- */

void import_gap(struct import_writer *w, int indent, const char *node, const char *command, const char *format, ...)
{
    char text[512];
    va_list list;

    va_start(list, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(w->out, "%*s# unknown: %s%s%s\n", indent, "", text, command ? "; ask: " : "", command ? command : "");
    if (w->gaps)
        fprintf(w->gaps, "%s%s%s%s%s\n", node, *node ? ": " : "", text, command ? "; ask: " : "",
                command ? command : "");
    w->n_gaps++;
}

static bool is_plain(const char *text)
{
    static const char *const words[] = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

    if (!isalpha((unsigned char)*text) && *text != '/' && strspn(text, "0123456789.") != strlen(text))
        return false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0)
            return false;
    if (strspn(text, "0123456789.") == strlen(text)) /* an address, not a number */
        return strchr(text, '.') && strchr(strchr(text, '.') + 1, '.');
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-")] == '\0';
}

/* "10.50.0.101/24" */
static bool is_cidr4(const char *text)
{
    return text[strspn(text, "0123456789./")] == '\0' && strchr(text, '/') && strchr(text, '.');
}

void import_scalar(struct import_writer *w, const char *text)
{
    if (is_plain(text) || is_cidr4(text)) {
        fputs(text, w->out);
        return;
    }
    fputc('"', w->out);
    for (const char *p = text; *p; p++) {
        if (*p == '"' || *p == '\\')
            fputc('\\', w->out);
        fputc(*p, w->out);
    }
    fputc('"', w->out);
}

bool import_can_write(const char *text) { return !strchr(text, '[') && !strchr(text, ']') && !strstr(text, "{name}"); }

const char *import_policy(struct import_writer *w, int indent, const char *node, const char *team, const char *policy)
{
    if (!policy || hash_policy_find(policy))
        return policy;
    import_gap(w, indent, node, NULL, "what the rule `%s` of %s computes", policy, team);
    return NULL;
}

void import_open(struct import_writer *w, int indent, const char *name)
{
    fprintf(w->out, "%*s", indent, "");
    if (name)
        import_scalar(w, name);
    else
        fputc('-', w->out);
    fputs(name ? ": {" : " {", w->out);
    w->first = true;
}

static void key(struct import_writer *w, const char *name)
{
    fputs(w->first ? "" : ", ", w->out);
    w->first = false;
    import_scalar(w, name);
    fputs(": ", w->out);
}

void import_member(struct import_writer *w, const char *name, const char *value)
{
    if (!value)
        return;
    key(w, name);
    import_scalar(w, value);
}

void import_member_number(struct import_writer *w, const char *name, unsigned value)
{
    if (!value)
        return;
    key(w, name);
    fprintf(w->out, "%u", value);
}

void import_member_mtu(struct import_writer *w, unsigned mtu)
{
    import_member_number(w, "mtu", mtu >= 576 && mtu <= 65520 ? mtu : 0);
}

void import_member_words(struct import_writer *w, const char *name, const struct import_words *words)
{
    if (!words->n)
        return;
    key(w, name);
    for (size_t i = 0; i < words->n; i++) {
        fputs(i ? ", " : "[", w->out);
        import_scalar(w, import_name(w->m, words->items[i]));
    }
    fputc(']', w->out);
}

void import_close(struct import_writer *w) { fputs("}\n", w->out); }

/* ---- hosts ---- */

static bool any_used(const struct import_device *d, enum import_team_kind kind)
{
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        if (t->used && t->kind == kind)
            return true;
    return false;
}

static void write_vswitch(struct import_writer *w, const struct import_device *d, const struct import_team *t)
{
    const char *name = import_name(w->m, t->name);

    if (!t->policy)
        import_gap(w, 6, d->node,
                   arena_printf(w->m->arena, "esxcli network vswitch standard policy failover get -v %s", t->name),
                   "the teaming of %s (without it: port-id) and which uplinks are standby", name);
    import_open(w, 6, name);
    import_member_words(w, "uplinks", &t->members);
    import_member(w, "teaming", t->policy);
    import_member_words(w, "standby", &t->standby);
    import_member_words(w, "unused", &t->unused);
    import_member(w, "detection", t->detection);
    import_member(w, "failback", t->failback && strcasecmp(t->failback, "false") == 0 ? "no" : NULL);
    import_member_mtu(w, t->mtu);
    import_close(w);
}

static void write_dvswitch(struct import_writer *w, const struct import_device *d, const struct import_team *t)
{
    const char *name = import_name(w->m, t->name);

    if (!t->mode)
        import_gap(
            w, 6, d->node, NULL,
            "the teaming of %s (without it: port-id), which vCenter keeps: Get-VDUplinkTeamingPolicy, per port group",
            name);
    else if (!t->policy)
        import_gap(w, 6, d->node, "esxcli network vswitch dvs vmware lacp config get",
                   "the load balancing of the LAG of %s", name);
    import_open(w, 6, name);
    import_member_words(w, "uplinks", &t->members);
    import_member_mtu(w, t->mtu);
    if (t->mode) {
        fputs(", lag: {", w->out);
        w->first = true;
        import_member(w, "name", import_name(w->m, t->lag));
        import_member_words(w, "members", &t->members);
        import_member(w, "mode", "lacp");
        import_member(w, "hash", t->policy);
        import_member(w, "lacp-rate", t->lacp_rate);
        fputc('}', w->out);
    } else {
        import_member(w, "teaming", t->policy);
    }
    import_close(w);
}

static const struct import_portgroup *portgroup_of(const struct import_device *d, const struct import_iface *f)
{
    for (const struct import_portgroup *p = d->portgroups.first; p; p = p->next)
        if (f->portgroup && !f->distributed && strcmp(p->name, f->portgroup) == 0 && p->vswitch)
            return p;
    return NULL;
}

static bool portgroup_used(const struct import_device *d, const struct import_portgroup *p)
{
    for (const struct import_iface *f = d->ifaces.first; f; f = f->next)
        if (f->used && portgroup_of(d, f) == p)
            return true;
    return false;
}

static void write_portgroups(struct import_writer *w, const struct import_device *d)
{
    bool any = false;

    for (const struct import_portgroup *p = d->portgroups.first; p; p = p->next) {
        const char *name = import_name(w->m, p->name);

        if (!portgroup_used(d, p))
            continue;
        if (!any)
            fputs("    portgroups:\n", w->out);
        any = true;
        if (!p->vlan_known)
            import_gap(w, 6, d->node, "esxcli network vswitch standard portgroup list", "the VLAN of port group %s",
                       p->name);
        if (strcmp(name, p->name) != 0)
            fprintf(w->out, "      # %s is called \"%s\" there\n", name, p->name);
        import_open(w, 6, name);
        import_member(w, "vswitch", import_name(w->m, p->vswitch));
        import_member_number(w, "vlan", p->vlan <= 4094 ? p->vlan : 0);
        import_member(w, "teaming", p->policy);
        if (p->own_order) {
            import_member_words(w, "active", &p->active);
            import_member_words(w, "standby", &p->standby);
            import_member_words(w, "unused", &p->unused);
        }
        import_close(w);
    }
}

static const char *mac_of(const char *mac)
{
    size_t n = mac ? strlen(mac) : 0;

    if (n != 17 || strcmp(mac, "00:00:00:00:00:00") == 0)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (i % 3 == 2 ? mac[i] != ':' : !isxdigit((unsigned char)mac[i]))
            return NULL;
    return mac;
}

/* The first address; the others are a comment, since an interface has one here. */
static void write_address(struct import_writer *w, const struct import_iface *f)
{
    import_member(w, "address", f->addresses.items[0]);
    if (f->gateway && import_same_subnet(f->addresses.items[0], f->gateway)) /* ESXi repeats it for all interfaces */
        import_member(w, "gateway", f->gateway);
}

static void other_addresses(struct import_writer *w, const struct import_iface *f)
{
    for (size_t i = 1; i < f->addresses.n; i++)
        fprintf(w->out, "      # %s has %s as well: an interface has one address here\n", f->name,
                f->addresses.items[i]);
}

static void write_vmknic(struct import_writer *w, const struct import_device *d, const struct import_iface *f)
{
    const struct import_portgroup *p = portgroup_of(d, f);

    other_addresses(w, f);
    if (f->distributed && !f->vlan_known)
        import_gap(w, 6, d->node, NULL, "the VLAN of %s%s, which vCenter keeps: Get-VDPortgroup", f->name,
                   f->vlan ? " (that of others in its subnet is assumed)" : "");
    if (!f->management_known && strcmp(f->name, "vmk0") == 0)
        import_gap(w, 6, d->node, "esxcli network ip interface tag get -i vmk0", "whether vmk0 carries management");
    import_open(w, 6, import_name(w->m, f->name));
    if (p)
        import_member(w, "portgroup", import_name(w->m, p->name));
    else
        import_member(w, "vswitch", import_name(w->m, f->team->name));
    write_address(w, f);
    if (!p)
        import_member_number(w, "vlan", f->vlan <= 4094 ? f->vlan : 0);
    import_member_mtu(w, f->mtu);
    import_member(w, "mac", mac_of(f->mac));
    if (f->management)
        import_member(w, "management", "yes");
    import_close(w);
}

/* Only NICs with a MAC address of their own need an entry; ESXi's and Linux' teams name the others. */
static void write_nics(struct import_writer *w, const struct import_device *d)
{
    bool any = false;

    for (const struct import_nic *n = d->nics.first; n; n = n->next) {
        if (!n->used || !mac_of(n->mac))
            continue;
        if (!any)
            fputs("    nics:\n", w->out);
        any = true;
        import_open(w, 6, import_name(w->m, n->name));
        import_member(w, "mac", mac_of(n->mac));
        import_close(w);
    }
}

static void write_left_out(struct import_writer *w, const struct import_device *d)
{
    for (const struct import_iface *f = d->ifaces.first; f; f = f->next)
        if (!f->used && f->addresses.n > 0)
            fprintf(w->out, "    # left out: %s (%s) reaches no address for NFS\n", f->name, f->addresses.items[0]);
}

static void write_esxi(struct import_writer *w, const struct import_device *d)
{
    fputs("    kind: esxi\n", w->out);
    if (d->version)
        fprintf(w->out, "    version: \"%s\"\n", d->version);
    else
        import_gap(w, 4, d->node, "esxcli system version get", "the release");
    if (any_used(d, IMPORT_VSWITCH))
        fputs("    vswitches:\n", w->out);
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        if (t->used && t->kind == IMPORT_VSWITCH)
            write_vswitch(w, d, t);
    if (any_used(d, IMPORT_DVSWITCH))
        fputs("    dvswitches:\n", w->out);
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        if (t->used && t->kind == IMPORT_DVSWITCH)
            write_dvswitch(w, d, t);
    write_portgroups(w, d);
    fputs("    vmknics:\n", w->out);
    for (const struct import_iface *f = d->ifaces.first; f; f = f->next)
        if (f->used)
            write_vmknic(w, d, f);
    write_nics(w, d);
    if (d->limits.first) {
        import_open(w, 4, "limits");
        for (const struct import_pair *p = d->limits.first; p; p = p->next)
            import_member_number(w, p->key, import_number(p->value));
        import_close(w);
    } else {
        import_gap(w, 4, d->node, "esxcli system settings advanced list -o /SunRPC/MaxConnPerIP",
                   "limits, such as SunRPC.MaxConnPerIP");
    }
    write_left_out(w, d);
}

static unsigned highest_mtu(const struct import_device *d, const struct import_team *t)
{
    const struct import_iface *own = import_find_iface(d, t->name);
    unsigned mtu = own && own->mtu > t->mtu ? own->mtu : t->mtu;

    for (const struct import_iface *f = d->ifaces.first; f; f = f->next)
        if (f->used && f->team == t && f->mtu > mtu)
            mtu = f->mtu;
    return mtu;
}

static void write_bond(struct import_writer *w, const struct import_device *d, const struct import_team *t)
{
    const char *name = import_name(w->m, t->name);
    bool hashes = t->mode && (strcmp(t->mode, "802.3ad") == 0 || strcmp(t->mode, "balance-xor") == 0);
    const char *policy = hashes ? import_policy(w, 6, d->node, name, t->policy) : NULL;

    if (!t->mode)
        import_gap(w, 6, d->node, arena_printf(w->m->arena, "cat /proc/net/bonding/%s", name),
                   "the mode of %s: active-backup stands in", name);
    else if (hashes && !t->policy)
        import_gap(w, 6, d->node, arena_printf(w->m->arena, "cat /proc/net/bonding/%s", name),
                   "the hash of %s (without it: layer2, the driver's default)", name);
    import_open(w, 6, name);
    import_member_words(w, "members", &t->members);
    import_member(w, "mode", t->mode ? t->mode : "active-backup");
    import_member(w, "hash", policy);
    import_member(w, "primary", t->mode && strcmp(t->mode, "active-backup") == 0 ? t->primary : NULL);
    import_member(w, "lacp-rate", t->mode && strcmp(t->mode, "802.3ad") == 0 ? t->lacp_rate : NULL);
    import_member(w, "mac", mac_of(t->mac));
    import_member_mtu(w, highest_mtu(d, t));
    import_close(w);
}

static void write_linux(struct import_writer *w, const struct import_device *d)
{
    fputs("    kind: linux\n", w->out);
    if (d->version)
        fprintf(w->out, "    kernel: \"%s\"\n", d->version);
    else
        import_gap(w, 4, d->node, "uname -r", "the kernel, which decides how a bond hashes");
    if (any_used(d, IMPORT_BOND))
        fputs("    bonds:\n", w->out);
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        if (t->used && t->kind == IMPORT_BOND)
            write_bond(w, d, t);
    fputs("    interfaces: # bridges are left out: what is beneath them sends\n", w->out);
    for (const struct import_iface *f = d->ifaces.first; f; f = f->next) {
        const char *beneath = f->team ? f->team->name : f->nic ? f->nic->name : NULL;

        if (!f->used || !beneath)
            continue;
        other_addresses(w, f);
        import_open(w, 6, import_name(w->m, f->name));
        if (strcmp(f->name, beneath) != 0)
            import_member(w, "parent", import_name(w->m, beneath));
        import_member_number(w, "vlan", f->vlan <= 4094 ? f->vlan : 0);
        write_address(w, f);
        import_member_mtu(w, f->mtu);
        import_member(w, "mac",
                      f->team && f->team->mac && f->mac && strcmp(f->team->mac, f->mac) == 0 ? NULL : mac_of(f->mac));
        import_close(w);
    }
    write_nics(w, d);
    write_left_out(w, d);
}

/* ---- the frame ---- */

static void write_node(struct import_writer *w, const struct import_device *d)
{
    fputs("  ", w->out);
    import_scalar(w, d->node);
    fputs(":\n", w->out);
    switch (d->kind) {
    case IMPORT_ESXI:
        write_esxi(w, d);
        break;
    case IMPORT_LINUX:
        write_linux(w, d);
        break;
    case IMPORT_SWITCH:
        import_write_switch(w, d);
        break;
    case IMPORT_NAS:
        import_write_nas(w, d);
        break;
    case IMPORT_UNKNOWN:
        break;
    }
}

static bool any_node(const struct import *m)
{
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        if (import_is_node(d))
            return true;
    return false;
}

bool import_write(struct import *m, const char *name, FILE *out, FILE *gaps, size_t *n_gaps)
{
    static const enum import_kind order[] = {IMPORT_ESXI, IMPORT_LINUX, IMPORT_SWITCH, IMPORT_NAS};
    struct import_writer w = {.m = m, .out = out, .gaps = gaps};

    import_join(m);
    *n_gaps = 0;
    if (!any_node(m))
        return false;
    fputs("# Made by nfsbal import from what the devices print. What they don't tell is a comment at its place, with "
          "the command\n"
          "# that does; stand-ins are called unknown-...: put the right name in their place.\n"
          "version: 1\n"
          "name: ",
          out);
    import_scalar(&w, import_name(m, name));
    fputs("\nnodes:\n", out);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (const struct import_device *d = m->devices.first; d; d = d->next)
            if (import_is_node(d) && d->kind == order[i])
                write_node(&w, d);
    for (const struct import_device *d = m->devices.first; d; d = d->next)
        if (!import_is_node(d) && d->has_folder)
            import_gap(&w, 2, d->node, NULL,
                       "what %s has to do with NFS: nothing in its folder says it, so it is left out", d->node);
    import_write_links(&w);
    import_write_datastores(&w);
    *n_gaps = w.n_gaps;
    return true;
}
