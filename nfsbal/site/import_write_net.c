/* The file that an import writes: switches, NAS, cables and datastores. */
#include "nfsbal/site/import_write.h"

#include <string.h>
#include <strings.h>

enum { VLANS = 64, DEFAULT_VLAN = 1 };

/* ---- VLANs of a port ---- */

/* What an end sends: tagged VLANs, and whether untagged frames in which VLAN. */
struct tags {
    unsigned tagged[VLANS];
    size_t n;
    unsigned native; /* 0: sends nothing untagged */
};

static bool has_tag(const struct tags *t, unsigned vlan)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->tagged[i] == vlan)
            return true;
    return false;
}

static void add_tag(struct tags *t, unsigned vlan)
{
    if (!has_tag(t, vlan) && t->n < VLANS)
        t->tagged[t->n++] = vlan;
}

static void add_address(const struct import *m, struct tags *t, unsigned vlan, const char *cidr)
{
    unsigned known = vlan ? 0 : import_vlan_of(m, cidr);

    if (vlan && vlan <= 4094)
        add_tag(t, vlan);
    else if (!t->native || t->native == DEFAULT_VLAN)
        t->native = known ? known : DEFAULT_VLAN;
}

/* Of a team, or of a NIC without one. */
static struct tags tags_of(const struct import *m, const struct import_device *d, const struct import_team *team,
                           const struct import_nic *nic)
{
    struct tags t = {.n = 0};

    for (const struct import_iface *f = import_is_host(d) ? d->ifaces.first : NULL; f; f = f->next)
        if (f->used && (team ? f->team == team : !f->team && f->nic == nic))
            for (size_t i = 0; i < f->addresses.n; i++)
                add_address(m, &t, f->vlan, f->addresses.items[i]);
    for (const struct import_vip *v = d->kind == IMPORT_NAS ? d->vips.first : NULL; v; v = v->next)
        if (v->used && (team ? v->team == team : !v->team && v->nic == nic))
            add_address(m, &t, v->vlan, v->address);
    return t;
}

/* Ends `key: ` of a port or LAG, where VLANs are in use. */
static void write_vlan(struct import_writer *w, const struct tags *t)
{
    if (!w->m->vlans || (t->n == 0 && t->native == 0))
        return;
    fputs(w->first ? "vlan: " : ", vlan: ", w->out);
    w->first = false;
    if (t->n == 0) {
        fprintf(w->out, "%u", t->native);
    } else if (t->native == 0) {
        fputs("trunk", w->out);
    } else {
        for (size_t i = 0; i < t->n; i++)
            fprintf(w->out, "%s%u", i ? ", " : "{trunk: [", t->tagged[i]);
        if (!has_tag(t, t->native))
            fprintf(w->out, ", %u", t->native);
        fprintf(w->out, "], native: %u}", t->native);
    }
}

static void collect(struct tags *all, const struct tags *t)
{
    for (size_t i = 0; i < t->n; i++)
        add_tag(all, t->tagged[i]);
    if (t->native)
        add_tag(all, t->native);
}

/* All that anybody sends: a trunk whose list nobody has printed passes it. */
static struct tags all_tags(const struct import *m)
{
    struct tags all = {.n = 0};

    for (const struct import_device *d = m->devices.first; d; d = d->next) {
        for (const struct import_team *t = d->teams.first; t; t = t->next)
            if (t->used) {
                struct tags tags = tags_of(m, d, t, NULL);

                collect(&all, &tags);
            }
        for (const struct import_nic *n = d->nics.first; n; n = n->next)
            if (n->used) {
                struct tags tags = tags_of(m, d, NULL, n);

                collect(&all, &tags);
            }
    }
    return all;
}

/* ---- switches ---- */

static const char *team_end(struct import *m, const struct import_device *d, const struct import_team *t)
{
    const char *name = import_name(m, t->kind == IMPORT_DVSWITCH && t->mode && t->lag ? t->lag : t->name);

    return t->owner ? arena_printf(m->arena, "%s:%s.%s", d->node, import_name(m, t->owner), name)
                    : arena_printf(m->arena, "%s:%s", d->node, name);
}

static void write_channel(struct import_writer *w, const struct import_device *d, const struct import_team *c)
{
    struct tags tags;

    if (!c->to_team) {
        import_gap(w, 6, d->node, NULL,
                   "what is at the other end of %s, whose ports no neighbour names: cdp or lldp there", c->name);
        fprintf(w->out, "      # %s: {to: \"NODE:TEAM\", mode: %s}\n", c->name, c->mode);
        return;
    }
    if (c->derived)
        import_gap(w, 6, d->node, "show etherchannel summary",
                   "the name and mode of the LAG towards %s: its teaming needs one",
                   team_end(w->m, c->to_device, c->to_team));
    else if (c->to_assumed)
        import_gap(w, 6, d->node, NULL, "where %s leads: %s is the only team left that fits", c->name,
                   team_end(w->m, c->to_device, c->to_team));
    tags = tags_of(w->m, c->to_device, c->to_team, NULL);
    import_open(w, 6, import_name(w->m, c->name));
    import_member(w, "to", team_end(w->m, c->to_device, c->to_team));
    import_member(w, "mode", c->mode);
    write_vlan(w, &tags);
    import_close(w);
}

static const struct import_team *team_of_nic(const struct import_device *d, const struct import_nic *n)
{
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        if (t->used && t->kind != IMPORT_CHANNEL && import_has(&t->members, n->name) &&
            (t->owner == n->owner || (t->owner && n->owner && strcmp(t->owner, n->owner) == 0)))
            return t;
    return NULL;
}

static bool in_channel(const struct import_device *s, const struct import_device *d, const struct import_nic *n)
{
    const struct import_team *t = team_of_nic(d, n);

    for (const struct import_team *c = s->teams.first; c && t; c = c->next)
        if (c->kind == IMPORT_CHANNEL && c->to_team == t)
            return true;
    return false;
}

static void write_ports(struct import_writer *w, const struct import_device *s)
{
    bool any = false;

    if (!w->m->vlans)
        return;
    for (const struct import_device *d = w->m->devices.first; d; d = d->next)
        for (const struct import_nic *n = import_is_node(d) ? d->nics.first : NULL; n; n = n->next) {
            struct tags tags;

            if (!n->used || n->far != s || in_channel(s, d, n))
                continue;
            tags = tags_of(w->m, d, team_of_nic(d, n), n);
            if (tags.n == 0 && tags.native == 0)
                continue;
            if (!any)
                fputs("    ports:\n", w->out);
            any = true;
            import_open(w, 6, n->far_port);
            write_vlan(w, &tags);
            import_close(w);
        }
    for (const struct import_trunk *t = w->m->trunks.first; t; t = t->next) {
        if (t->peer_link || (t->a != s && t->b != s))
            continue;
        if (!any)
            fputs("    ports:\n", w->out);
        any = true;
        import_open(w, 6, t->a == s ? t->a_port : t->b_port);
        fputs("vlan: trunk}\n", w->out);
    }
}

static void write_mlag(struct import_writer *w, const struct import_device *d)
{
    if (!d->mlag_first || !d->mlag)
        return;
    import_gap(w, 4, d->node, NULL, "the peer link of the pair %s, %s, on which LAGs end together", d->node,
               d->mlag->node);
    fprintf(w->out, "    mlag: {peers: [%s, %s], peer-link: unknown-peer-link}\n", d->node, d->mlag->node);
}

void import_write_switch(struct import_writer *w, const struct import_device *d)
{
    struct tags all = all_tags(w->m);
    bool lags = d->mlag != NULL;

    fputs("    kind: switch\n", w->out);
    if (d->stand_in)
        import_gap(w, 4, d->node, NULL, "the switch or switches between hosts and NAS: this stands in");
    if (d->model)
        fprintf(w->out, "    model: %s\n", d->model);
    if (d->members > 1)
        fprintf(w->out, "    members: %u\n", d->members);
    if (d->hash)
        fprintf(w->out, "    hash: %s\n", d->hash);
    else
        import_gap(w, 4, d->node, "show etherchannel load-balance", "the hash of its LAGs");
    if (d->mtu >= 576 && d->mtu <= 65535)
        fprintf(w->out, "    mtu: %u\n", d->mtu);
    else
        import_gap(w, 4, d->node, "show system mtu", "the largest frame it passes (mtu)");
    if (w->m->vlans) {
        fputs("    vlans: ", w->out);
        for (size_t i = 0; i < all.n; i++)
            fprintf(w->out, "%s%u", i ? ", " : "[", all.tagged[i]);
        fputs("] # those that hosts and NAS use\n", w->out);
    }
    write_mlag(w, d);
    for (const struct import_team *c = d->teams.first; c; c = c->next)
        lags = lags || (c->kind == IMPORT_CHANNEL && c->to_team);
    if (lags)
        fputs("    lags:\n", w->out);
    for (const struct import_team *c = d->teams.first; c; c = c->next)
        if (c->kind == IMPORT_CHANNEL)
            write_channel(w, d, c);
    if (d->mlag)
        fprintf(w->out, "      unknown-peer-link: {to: \"%s:unknown-peer-link\", mode: lacp%s}\n", d->mlag->node,
                w->m->vlans ? ", vlan: trunk" : "");
    write_ports(w, d);
}

/* ---- NAS ---- */

static size_t count_ports(const struct import_device *d, const char *node)
{
    size_t n = 0;

    for (const struct import_team *t = d->teams.first; t; t = t->next)
        n += t->used && t->kind != IMPORT_CHANNEL && t->owner && strcmp(t->owner, node) == 0;
    for (const struct import_nic *nic = d->nics.first; nic; nic = nic->next)
        n += nic->used && nic->owner && strcmp(nic->owner, node) == 0 && !team_of_nic(d, nic);
    return n;
}

static void write_nas_team(struct import_writer *w, const struct import_device *d, const struct import_team *t)
{
    const char *policy;

    if (t->mode_assumed)
        import_gap(w, 10, d->node, "network port ifgrp show -fields mode", "the mode of %s: lacp stands in", t->name);
    if (!t->policy)
        import_gap(w, 10, d->node, d->ontap ? "network port ifgrp show" : "cat /proc/net/bonding/*", "the hash of %s",
                   t->name);
    policy = import_policy(w, 10, d->node, t->name, t->policy);
    import_open(w, 10, import_name(w->m, t->name));
    import_member_words(w, "members", &t->members);
    import_member(w, "mode", t->mode);
    import_member(w, "hash", policy);
    import_member(w, "lacp-rate", strcmp(t->mode, "lacp") == 0 ? t->lacp_rate : NULL);
    import_member(w, "mac", t->mac && strlen(t->mac) == 17 ? t->mac : NULL);
    import_close(w);
}

static void write_controller(struct import_writer *w, const struct import_device *d, const char *node)
{
    bool lags = false;
    struct import_words nics = {0};

    for (const struct import_nic *n = d->nics.first; n; n = n->next)
        if (n->used && n->owner && strcmp(n->owner, node) == 0)
            import_word(w->m, &nics, n->name);
    for (const struct import_team *t = d->teams.first; t; t = t->next)
        if (!t->used && t->kind == IMPORT_BOND && t->mode && t->members.n && import_has(&nics, t->members.items[0]))
            import_gap(w, 6, d->node, NULL, "how to describe %s, which is %s: only its first NIC is here", t->name,
                       t->mode);
    if (nics.n == 0) {
        fprintf(w->out, "      # left out: %s, which has no address for NFS\n", node);
        return;
    }
    fputs("      ", w->out);
    import_scalar(w, import_name(w->m, node));
    fputs(":\n        nics: ", w->out);
    for (size_t i = 0; i < nics.n; i++) {
        fputs(i ? ", " : "[", w->out);
        import_scalar(w, import_name(w->m, nics.items[i]));
    }
    fputs("]\n", w->out);
    for (const struct import_team *t = d->teams.first; t; t = t->next) {
        if (!t->used || t->kind == IMPORT_CHANNEL || !t->owner || strcmp(t->owner, node) != 0)
            continue;
        if (!lags)
            fputs("        lags:\n", w->out);
        lags = true;
        write_nas_team(w, d, t);
    }
    if (d->gateways.first)
        fprintf(w->out, "        gateway: %s\n", d->gateways.first->value);
    for (const struct import_pair *p = d->partners.first; p; p = p->next)
        if (strcmp(p->key, node) == 0) {
            fputs("        takeover: ", w->out);
            import_scalar(w, import_name(w->m, p->value));
            fputc('\n', w->out);
        }
}

static void write_vips(struct import_writer *w, const struct import_device *d, const char *svm, int indent)
{
    bool any = false;

    for (const struct import_vip *v = d->vips.first; v; v = v->next) {
        if (!v->used || (svm && (!v->svm || strcmp(v->svm, svm) != 0)))
            continue;
        if (!any)
            fprintf(w->out, "%*svips:\n", indent, "");
        any = true;
        import_open(w, indent + 2, v->address);
        if (v->dns.n == 1)
            import_member(w, "name", v->dns.items[0]);
        else
            import_member_words(w, "name", &v->dns);
        if (d->nodes.n > 1)
            import_member(w, "home", import_name(w->m, v->node));
        if (count_ports(d, v->node) > 1)
            import_member(w, "port", import_name(w->m, v->team ? v->team->name : v->nic->name));
        import_member_number(w, "vlan", v->vlan <= 4094 ? v->vlan : 0);
        import_member_mtu(w, v->mtu);
        import_member(w, "state", v->down ? "down" : NULL);
        fputs(v->name ? "} # " : "}", w->out);
        fprintf(w->out, "%s\n", v->name ? v->name : "");
    }
}

static void write_exports(struct import_writer *w, const struct import_device *d, const char *svm, int indent)
{
    bool any = false;
    size_t pathless = 0;
    const char *last = NULL;

    for (const struct import_export *e = d->exports.first; e; e = e->next) {
        if ((svm && (!e->svm || strcmp(e->svm, svm) != 0)) || (!e->path && !e->volume) ||
            (e->path && strcmp(e->path, "/") == 0))
            continue;
        if (!e->path) {
            pathless++;
            last = e->volume;
            continue;
        }
        if (!import_can_write(e->path)) {
            import_gap(w, indent, d->node, NULL, "how to name the export %s here: brackets are ranges", e->path);
            continue;
        }
        if (d->nodes.n > 1 && !e->owner)
            import_gap(w, indent, d->node, "volume show -fields node,junction-path", "the owner of %s", e->path);
        if (!any)
            fprintf(w->out, "%*sexports:\n", indent, "");
        any = true;
        import_open(w, indent + 2, e->path);
        if (d->nodes.n > 1 && e->owner)
            import_member(w, "owner", import_name(w->m, e->owner));
        import_close(w);
    }
    if (pathless)
        import_gap(w, indent + 2 * any, d->node, "volume show -fields junction-path,node",
                   "where %s%s%s mounted in the name space", last,
                   pathless > 1 ? arena_printf(w->m->arena, " and %zu other volumes", pathless - 1) : "",
                   pathless > 1 ? " are" : " is");
}

static void write_svms(struct import_writer *w, const struct import_device *d)
{
    struct import_words svms = {0};

    for (const struct import_vip *v = d->vips.first; v; v = v->next)
        if (v->used && v->svm)
            import_word(w->m, &svms, v->svm);
    fputs("    svms:\n", w->out);
    for (size_t i = 0; i < svms.n; i++) {
        fputs("      ", w->out);
        import_scalar(w, import_name(w->m, svms.items[i]));
        fputs(":\n", w->out);
        write_vips(w, d, svms.items[i], 8);
        write_exports(w, d, svms.items[i], 8);
    }
}

void import_write_nas(struct import_writer *w, const struct import_device *d)
{
    fputs("    kind: nas\n", w->out);
    if (d->model)
        fprintf(w->out, "    model: %s\n", d->model);
    if (!d->ontap && d->version)
        fprintf(w->out, "    kernel: \"%s\"\n", d->version);
    else if (!d->ontap && !d->stand_in)
        import_gap(w, 4, d->node, "uname -r", "the kernel, which decides how a bond hashes");
    if (d->stand_in)
        import_gap(w, 4, d->node, NULL,
                   "the NAS: its NICs, LAG, further addresses and what serves which export; nfsbal import --script "
                   "ontap|linux helps");
    fputs("    controllers:\n", w->out);
    for (size_t i = 0; i < d->nodes.n; i++)
        write_controller(w, d, d->nodes.items[i]);
    if (d->ontap) {
        write_svms(w, d);
    } else {
        write_vips(w, d, NULL, 4);
        write_exports(w, d, NULL, 4);
    }
}

/* ---- links ---- */

/* What the name of a port says about its speed, in Mbit/s; 0: nothing. */
static unsigned long speed_by_name(const char *port)
{
    static const struct {
        const char *begin;
        unsigned long mbps;
    } names[] = {{"twe", 25000}, {"gi", 1000}, {"te", 10000}, {"fo", 40000},
                 {"hu", 100000}, {"fa", 100},  {"ge-", 1000}, {"xe-", 10000}};

    for (size_t i = 0; port && i < sizeof names / sizeof *names; i++)
        if (strncmp(port, names[i].begin, strlen(names[i].begin)) == 0)
            return names[i].mbps;
    return 0;
}

static void write_link(struct import_writer *w, const struct import_device *d, const struct import_nic *n)
{
    unsigned long mbps = n->mbps ? n->mbps : speed_by_name(n->far_port);
    const char *name = import_name(w->m, n->name);
    const char *near = n->owner ? arena_printf(w->m->arena, "%s:%s.%s", d->node, import_name(w->m, n->owner), name)
                                : arena_printf(w->m->arena, "%s:%s", d->node, name);

    if (n->far_assumed && !d->stand_in)
        import_gap(w, 2, d->node,
                   d->kind == IMPORT_ESXI
                       ? arena_printf(w->m->arena, "vim-cmd hostsvc/net/query_networkhint --pnic-name=%s", n->name)
                   : d->ontap ? "network device-discovery show"
                              : "lldpctl -f json",
                   "the switch and port at the other end of %s", name);
    if (!mbps && d->stand_in) {
        mbps = 100000;
        fputs("  # 100G stands for all that the NAS has: it limits nothing\n", w->out);
    } else if (!mbps) {
        mbps = 1000;
        import_gap(w, 2, d->node,
                   d->kind == IMPORT_ESXI ? "esxcli network nic list"
                   : d->ontap             ? "network port show"
                                          : "cat /sys/class/net/*/speed",
                   "the speed of %s: 1G stands in", name);
    }
    fprintf(w->out, "  - {ends: [\"%s\", \"%s:%s\"], speed: %lu%c}\n", near, n->far->node, n->far_port,
            mbps % 1000 ? mbps : mbps / 1000, mbps % 1000 ? 'M' : 'G');
}

void import_write_links(struct import_writer *w)
{
    bool any = false;

    for (const struct import_device *d = w->m->devices.first; d; d = d->next)
        for (const struct import_nic *n = import_is_node(d) ? d->nics.first : NULL; n; n = n->next)
            if (n->used && n->far && !n->from_far) {
                if (!any)
                    fputs("links:\n", w->out);
                any = true;
                write_link(w, d, n);
            }
    for (const struct import_trunk *t = w->m->trunks.first; t; t = t->next) {
        import_gap(w, 2, t->a->node, "show cdp neighbors",
                   "how %s and %s are connected: 100G, which limits nothing, stands in", t->a->node, t->b->node);
        fprintf(w->out, "  - {ends: [\"%s:%s\", \"%s:%s\"], speed: 100G}\n", t->a->node, t->a_port, t->b->node,
                t->b_port);
    }
}

/* ---- datastores ---- */

/* The server string as mounted, with its path where that isn't written as the export. */
static const char *string_of(struct import *m, const struct import_datastore *s, const struct import_use *u)
{
    const char *server = u->mount->server;
    const char *text = strchr(server, ':') ? arena_printf(m->arena, "[%s]", server) : server;

    return strcmp(u->mount->path, s->path) == 0 ? (strchr(server, ':') ? text : server)
                                                : arena_printf(m->arena, "%s:%s", text, u->mount->path);
}

static size_t count_same(struct import *m, const struct import_datastore *s, const char *string)
{
    size_t n = 0;

    for (const struct import_use *u = s->uses.first; u; u = u->next)
        n += strcmp(string_of(m, s, u), string) == 0;
    return n;
}

static const char *most_common(struct import *m, const struct import_datastore *s)
{
    const char *best = NULL;
    size_t most = 0;

    for (const struct import_use *u = s->uses.first; u; u = u->next) {
        const char *string = string_of(m, s, u);
        size_t n = count_same(m, s, string);

        if (n > most) {
            most = n;
            best = string;
        }
    }
    return best;
}

static void write_mounted(struct import_writer *w, const struct import_datastore *s)
{
    const char *common = most_common(w->m, s);

    if (count_same(w->m, s, common) == count_same(w->m, s, string_of(w->m, s, s->uses.first)) &&
        strcmp(common, string_of(w->m, s, s->uses.first)) == 0) {
        bool all = true;

        for (const struct import_use *u = s->uses.first; u; u = u->next)
            all = all && strcmp(string_of(w->m, s, u), common) == 0;
        if (all) {
            import_member(w, "mounted", common);
            return;
        }
    }
    fputs(", mounted: {default: ", w->out);
    import_scalar(w, common);
    for (const struct import_use *u = s->uses.first; u; u = u->next)
        if (strcmp(string_of(w->m, s, u), common) != 0) {
            fputs(", ", w->out);
            import_scalar(w, u->host->node);
            fputs(": ", w->out);
            import_scalar(w, string_of(w->m, s, u));
        }
    fputc('}', w->out);
}

/* NULL, or why today's mounts can't stand in the file. */
static const char *mount_gap(struct import_writer *w, const struct import_datastore *s)
{
    for (const struct import_use *u = s->uses.first; u; u = u->next) {
        for (size_t i = 1; import_server(u->mount, i); i++) {
            const char *address = import_resolve(w->m, import_server(u->mount, i));
            const struct import_vip *v = address ? import_find_vip(w->m, address, NULL) : NULL;

            if (!v || !v->used)
                return arena_printf(w->m->arena, "which NAS has %s, a further server of its mount on %s",
                                    import_server(u->mount, i), u->host->node);
        }
        if (!u->vip)
            return arena_printf(w->m->arena, "which address %s is: `nslookup %s` on %s", u->mount->server,
                                u->mount->server, u->host->node);
        if (u->routed)
            return arena_printf(w->m->arena, "the router between %s and %s: describe it (kind: router)", u->host->node,
                                u->mount->server);
    }
    return NULL;
}

static size_t mounting_hosts(const struct import *m)
{
    size_t n = 0;

    for (const struct import_device *d = m->devices.first; d; d = d->next)
        n += import_is_node(d) && import_is_host(d);
    return n;
}

static void write_hosts(struct import_writer *w, const struct import_datastore *s)
{
    struct import_words hosts = {0};
    size_t n = 0;

    for (const struct import_use *u = s->uses.first; u; u = u->next, n++)
        import_word(w->m, &hosts, u->host->node);
    if (hosts.n < mounting_hosts(w->m))
        import_member_words(w, "hosts", &hosts);
}

static void write_nconnect(struct import_writer *w, const struct import_datastore *s)
{
    unsigned first = s->uses.first->mount->nconnect;
    bool same = true;

    for (const struct import_use *u = s->uses.first; u; u = u->next)
        same = same && (u->mount->nconnect ? u->mount->nconnect : 1) == (first ? first : 1);
    if (same) {
        import_member_number(w, "nconnect", first > 1 && first <= 16 ? first : 0);
        return;
    }
    fputs(", nconnect: {default: 1", w->out);
    for (const struct import_use *u = s->uses.first; u; u = u->next)
        if (u->mount->nconnect > 1 && u->mount->nconnect <= 16) {
            fputs(", ", w->out);
            import_scalar(w, u->host->node);
            fprintf(w->out, ": %u", u->mount->nconnect);
        }
    fputc('}', w->out);
}

static bool all_linux(const struct import_datastore *s)
{
    for (const struct import_use *u = s->uses.first; u; u = u->next)
        if (u->host->kind != IMPORT_LINUX)
            return false;
    return true;
}

static void write_datastore(struct import_writer *w, const struct import_datastore *s)
{
    const struct import_use *first = s->uses.first;
    const char *gap = first ? mount_gap(w, s) : NULL;
    bool several = false;
    size_t n = 0;

    if (!first)
        return;
    for (const struct import_use *u = first; u; u = u->next)
        n++;
    for (const struct import_datastore *other = w->m->datastores.first; other; other = other->next)
        several = several || (other->nas == s->nas && other->svm && s->svm && strcmp(other->svm, s->svm) != 0 &&
                              strcmp(other->path, s->path) == 0);
    if (!import_can_write(s->path)) {
        import_gap(w, 2, s->name, NULL, "how to name %s here: brackets are ranges", s->path);
        return;
    }
    if (strcmp(s->name, import_name(w->m, first->mount->name)) != 0 || strcmp(s->name, first->mount->name) != 0)
        fprintf(w->out, "  # %s is called \"%s\" on %s\n", s->name, first->mount->name, first->host->node);
    if (gap)
        import_gap(w, 2, s->name, NULL, "%s; then add `mounted: %s`", gap, first->mount->server);
    if (first->mount->version && first->mount->version[0] == '4' &&
        (strcmp(first->mount->version, "4") == 0 || strcmp(first->mount->version, "4.0") == 0))
        fprintf(w->out, "  # %s is mounted with NFS %s: it is described as 4.1\n", s->name, first->mount->version);
    import_open(w, 2, s->name);
    import_member(w, "export",
                  several ? arena_printf(w->m->arena, "%s:%s:%s", s->nas->node, import_name(w->m, s->svm), s->path)
                          : arena_printf(w->m->arena, "%s:%s", s->nas->node, s->path));
    if (!gap && first->mount->servers.n > 1)
        import_member_words(w, "servers", &first->mount->servers);
    else if (!gap)
        write_mounted(w, s);
    write_hosts(w, s);
    import_member(w, "nfs", strcmp(s->nfs, "3") == 0 ? NULL : s->nfs);
    write_nconnect(w, s);
    if (all_linux(s) && count_same(w->m, s, string_of(w->m, s, first)) < n)
        import_member(w, "identity", "per-host");
    import_close(w);
}

void import_write_datastores(struct import_writer *w)
{
    if (!w->m->datastores.first) {
        import_gap(w, 0, "", "esxcli storage nfs list, or cat /proc/mounts", "datastores: no host shows an NFS mount");
        return;
    }
    fputs("datastores:\n", w->out);
    for (const struct import_datastore *s = w->m->datastores.first; s; s = s->next)
        write_datastore(w, s);
    for (const struct import_connection *c = w->m->connections.first; c; c = c->next)
        fprintf(w->out, "# seen on %s: %s:%u to %s, for emu path --sport until it connects again\n", c->device->node,
                c->local, c->sport, c->remote);
}
