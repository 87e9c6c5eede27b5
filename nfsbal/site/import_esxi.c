/* ESXi: esxcli (JSON and plain), vim-cmd's network hints. Sources: ESXCLI reference of vSphere 8.0; vSphere Web Services API
 * (PhysicalNicHintInfo).
 */
#include "nfsbal/site/import_model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hashes/policy.h"

static void set(const char **member, const char *value)
{
    if (value)
        *member = value;
}

static bool yes(const char *value) { return value && strcasecmp(value, "true") == 0; }

static struct import_device *esxi(const struct import_input *in)
{
    in->device->kind = IMPORT_ESXI;
    return in->device;
}

/* The argument of an option in the command ("-v vSwitch1", "--vswitch-name=vSwitch1"), or what stands behind the last word of
 * the command in a file's name ("failover-get-vSwitch1.txt"). NULL: none. */
static const char *argument(const struct import_input *in, const char *letter, const char *option, const char *last)
{
    const char *p = strstr(in->command, letter), *end;

    if (p && (p[strlen(letter)] == ' ' || p[strlen(letter)] == '_')) {
        p += strlen(letter) + 1;
    } else if ((p = strstr(in->command, option))) {
        p += strlen(option);
        p += *p == '=' || *p == ' ';
    } else {
        for (const char *q = in->command; (q = strstr(q, last)); q += strlen(last))
            p = q + strlen(last);
        if (!p)
            return NULL;
        p += strspn(p, "-_. ");
    }
    p += strspn(p, " ");
    if (*p == '"' || *p == '\'')
        return import_copy(in->m, p + 1, strcspn(p + 1, *p == '"' ? "\"" : "'"));
    end = strrchr(p, '.');
    if (!end || (strcmp(end, ".txt") != 0 && strcmp(end, ".json") != 0 && strcmp(end, ".out") != 0))
        end = p + strlen(p);
    return end > p ? import_copy(in->m, p, (size_t)(end - p)) : NULL;
}

/* ---- mounts ---- */

static void read_mounts(const struct import_input *in, const char *version)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "volumename"), *hosts = import_get(r, "host|hosts|remotehost");
        const char *share = import_get(r, "share|remoteshare"), *n = import_get(r, "connections|numconnections");
        struct import_mount *mount;

        if (!name || !hosts || !share)
            continue;
        mount = IMPORT_ADD(in->m, &d->mounts, struct import_mount);
        mount->name = name;
        mount->server = hosts;
        if (strchr(hosts, ',')) {
            import_split(in->m, &mount->servers, hosts);
            mount->server = mount->servers.n ? mount->servers.items[0] : hosts;
        }
        mount->path = share;
        mount->version = version;
        mount->nconnect = n ? import_number(n) : 0;
        if (import_get(r, "accessible") && !yes(import_get(r, "accessible")))
            import_warn(in, "datastore `%s` is not accessible now", name);
    }
}

static void read_nfs(const struct import_input *in) { read_mounts(in, "3"); }
static void read_nfs41(const struct import_input *in) { read_mounts(in, "4.1"); }

static void read_nfs_param(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "volumename"), *n = import_get(r, "connections|numconnections");

        for (struct import_mount *m = d->mounts.first; m && name && n; m = m->next)
            if (strcmp(m->name, name) == 0)
                m->nconnect = import_number(n);
    }
}

/* ---- interfaces ---- */

static void read_ipv4(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "name|interface"), *gateway = import_get(r, "gateway");
        const char *address = import_cidr(in->m, import_get(r, "ipv4address"), import_get(r, "ipv4netmask"));
        struct import_iface *f;

        if (!name)
            continue;
        f = import_iface(in->m, d, name);
        if (address)
            import_word(in->m, &f->addresses, address);
        if (gateway && import_address(gateway) && strcmp(gateway, "0.0.0.0") != 0)
            f->gateway = gateway;
    }
}

static void read_interfaces(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "name"), *vds = import_get(r, "vdsname"), *mtu = import_get(r, "mtu");
        struct import_iface *f;

        if (!name)
            continue;
        f = import_iface(in->m, d, name);
        set(&f->mac, import_get(r, "macaddress"));
        set(&f->portgroup, import_get(r, "portgroup"));
        set(&f->parent, vds ? vds : import_get(r, "portset"));
        f->distributed = vds != NULL;
        if (mtu)
            f->mtu = import_number(mtu);
    }
}

static void read_tags(const struct import_input *in)
{
    const char *name = argument(in, "-i", "--interface-name", "get");
    const struct import_record *r = import_records(in);
    struct import_iface *f;

    esxi(in);
    if (!name) {
        import_warn(in, "whose tags? the name should end with that of the interface: ...tag-get-vmk0");
        return;
    }
    f = import_iface(in->m, in->device, name);
    f->management_known = true;
    for (; r; r = r->next)
        if (import_get(r, "tags") && strstr(import_get(r, "tags"), "Management"))
            f->management = true;
}

static void read_connections(const struct import_input *in)
{
    esxi(in);
    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *local = import_get(r, "localaddress"), *remote = import_get(r, "foreignaddress");
        const char *a = local ? strrchr(local, ':') : NULL, *b = remote ? strrchr(remote, ':') : NULL;
        struct import_connection *c;

        if (!a || !b || strcmp(b, ":2049") != 0)
            continue;
        c = IMPORT_ADD(in->m, &in->m->connections, struct import_connection);
        c->device = in->device;
        c->local = import_copy(in->m, local, (size_t)(a - local));
        c->remote = import_copy(in->m, remote, (size_t)(b - remote));
        c->sport = import_number(a + 1);
    }
}

/* ---- switches and NICs ---- */

static void read_vswitches(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "name"), *mtu = import_get(r, "mtu"), *groups = import_get(r, "portgroups");
        struct import_team *t;

        if (!name)
            continue;
        t = import_team(in->m, d, NULL, name, IMPORT_VSWITCH);
        if (mtu)
            t->mtu = import_number(mtu);
        /* The policy's order counts, where it was read before. */
        import_split(in->m, &t->members, import_get(r, "uplinks"));
        /* Names of port groups may have commas and blanks in them: which is which only the list of port groups says. */
        if (groups && !strchr(groups, ','))
            import_portgroup(in->m, d, groups)->vswitch = name;
    }
}

static void read_portgroups(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "name"), *vlan = import_get(r, "vlanid");
        struct import_portgroup *p;

        if (!name)
            continue;
        p = import_portgroup(in->m, d, name);
        set(&p->vswitch, import_get(r, "virtualswitch"));
        p->vlan_known = vlan != NULL;
        p->vlan = vlan ? import_number(vlan) : 0;
    }
}

static const char *teaming_of(const struct import_input *in, const char *text)
{
    static const char *const names[][2] = {
        {"srcport", "port-id"}, {"portid", "port-id"},    {"srcmac", "mac-hash"}, {"mac", "mac-hash"},
        {"iphash", "ip-hash"},  {"explicit", "explicit"}, {"loadbased", "lbt"},   {"failover_explicit", "explicit"}};

    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++)
        if (strcasecmp(text, names[i][0]) == 0)
            return names[i][1];
    if (text)
        import_warn(in, "load balancing `%s` is not known", text);
    return NULL;
}

/* Members in the order of the policy, active ones first; those that only the list of uplinks has come behind. */
static void put_order(const struct import_input *in, struct import_team *t, const struct import_record *r)
{
    struct import_words had = t->members;

    t->members = (struct import_words){0};
    import_split(in->m, &t->members, import_get(r, "activeadapters"));
    import_split(in->m, &t->standby, import_get(r, "standbyadapters"));
    import_split(in->m, &t->unused, import_get(r, "unusedadapters"));
    for (size_t i = 0; i < t->standby.n; i++)
        import_word(in->m, &t->members, t->standby.items[i]);
    for (size_t i = 0; i < t->unused.n; i++)
        import_word(in->m, &t->members, t->unused.items[i]);
    for (size_t i = 0; i < had.n; i++)
        import_word(in->m, &t->members, had.items[i]);
}

static void read_failover(const struct import_input *in)
{
    const char *name = argument(in, "-v", "--vswitch-name", "get"), *detection;
    const struct import_record *r = import_records(in);
    struct import_team *t;

    esxi(in);
    if (!name) {
        import_warn(in, "whose policy? the name should end with that of the vSwitch: ...failover-get-vSwitch0");
        return;
    }
    if (!r)
        return;
    t = import_team(in->m, in->device, NULL, name, IMPORT_VSWITCH);
    set(&t->policy, teaming_of(in, import_get(r, "loadbalancing")));
    put_order(in, t, r);
    detection = import_get(r, "networkfailuredetection");
    t->detection = detection && strcasecmp(detection, "beacon") == 0 ? "beacon" : NULL;
    set(&t->failback, import_get(r, "failback"));
    set(&t->notify, import_get(r, "notifyswitches"));
}

static void read_portgroup_failover(const struct import_input *in)
{
    const char *name = argument(in, "-p", "--portgroup-name", "get");
    const struct import_record *r = import_records(in);
    struct import_portgroup *p;

    esxi(in);
    if (!name || !r) {
        import_warn(in, "whose policy? the name should end with that of the port group");
        return;
    }
    p = import_portgroup(in->m, in->device, name);
    if (yes(import_get(r, "overridevswitchloadbalancing")))
        set(&p->policy, teaming_of(in, import_get(r, "loadbalancing")));
    if (yes(import_get(r, "overridevswitchuplinks"))) {
        p->own_order = true;
        import_split(in->m, &p->active, import_get(r, "activeadapters"));
        import_split(in->m, &p->standby, import_get(r, "standbyadapters"));
        import_split(in->m, &p->unused, import_get(r, "unusedadapters"));
    }
}

static void read_dvs(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "name"), *mtu = import_get(r, "mtu");
        struct import_team *t;

        if (!name)
            continue;
        t = import_team(in->m, d, NULL, name, IMPORT_DVSWITCH);
        if (mtu)
            t->mtu = import_number(mtu);
        import_split(in->m, &t->members, import_get(r, "uplinks"));
    }
}

/* Members of a LAG stand in the order of the port numbers that the host gives them. */
static void read_lacp(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "dvswitch|dvsname|vdsname"), *mode = import_get(r, "mode");
        const char *own = NULL;
        struct import_words had;
        struct import_team *t;

        if (!name)
            continue;
        t = import_team(in->m, d, NULL, name, IMPORT_DVSWITCH);
        t->mode = "lacp";
        if (!t->lag)
            t->lag = "lag1";
        if (mode && strcasecmp(mode, "Passive") == 0)
            import_warn(in, "LACP of %s is passive: the switch has to be active", name);
        had = t->members; /* the LAG's order counts */
        t->members = (struct import_words){0};
        for (const struct import_field *f = r->fields; f; f = f->next) {
            if (strcmp(f->key, "nic") == 0)
                import_word(in->m, &t->members, f->value);
            if (strcmp(f->key, "flags") == 0 && !own && strlen(f->value) <= 2)
                own = f->value;
        }
        for (size_t i = 0; i < had.n; i++)
            import_word(in->m, &t->members, had.items[i]);
        if (own)
            t->lacp_rate = strchr(own, 'F') ? "fast" : "slow";
    }
}

/* "Src and dst IP, TCP/UDP port and VLAN": the fields of one of the 20 modes. */
static const char *lacp_policy(struct import *m, const char *text)
{
    char *lower = arena_copy(m->arena, text, strlen(text));
    const char *name;
    bool src, dst;

    if (hash_policy_find(text))
        return text;
    for (char *p = lower; *p; p++)
        *p = (char)tolower((unsigned char)*p);
    src = strstr(lower, "src") || strstr(lower, "source");
    dst = strstr(lower, "dst") || strstr(lower, "dest");
    name = arena_printf(m->arena, "esxi-lacp-%s%s%s%s%s",
                        src && dst ? "src-dst"
                        : src      ? "src"
                        : dst      ? "dst"
                                   : "",
                        strstr(lower, "mac") ? "-mac" : "", strstr(lower, "ip") ? "-ip" : "",
                        strstr(lower, "port") ? "-port" : "", strstr(lower, "vlan") ? "-vlan" : "");
    return hash_policy_find(name) ? name : NULL;
}

static void read_lacp_config(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "dvsname|vdsname|dvswitch"), *lag = import_get(r, "lagname");
        const char *hash = import_get(r, "loadbalance|loadbalancing");
        struct import_team *t;

        if (!name || !lag || (import_get(r, "enabled") && !yes(import_get(r, "enabled"))))
            continue;
        t = import_team(in->m, d, NULL, name, IMPORT_DVSWITCH);
        t->mode = "lacp";
        t->lag = lag;
        import_split(in->m, &t->members, import_get(r, "nics"));
        if (hash)
            set(&t->policy, lacp_policy(in->m, hash));
    }
}

static void read_nics(const struct import_input *in)
{
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "name"), *speed = import_get(r, "speed");
        struct import_nic *n;

        if (!name)
            continue;
        n = import_nic(in->m, d, NULL, name);
        set(&n->mac, import_get(r, "macaddress"));
        if (speed && import_number(speed) > 0)
            n->mbps = import_number(speed);
    }
}

/* ---- network hints ---- */

/* `key = "value",` of vim-cmd, or NULL. */
static const char *hint_value(const struct import_input *in, const char *line, const char *key)
{
    size_t n = strlen(key);
    const char *quote;

    line += strspn(line, " \t");
    if (strncmp(line, key, n) != 0)
        return NULL;
    line += n + strspn(line + n, " ");
    if (*line != '=')
        return NULL;
    quote = line + 1 + strspn(line + 1, " ");
    return *quote == '"' ? import_copy(in->m, quote + 1, strcspn(quote + 1, "\"\n")) : NULL;
}

static void read_hints(const struct import_input *in)
{
    struct import_nic *n = NULL;
    const char *key = NULL, *value;

    esxi(in);
    for (const char *line = in->text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if ((value = hint_value(in, line, "device"))) {
            n = import_nic(in->m, in->device, NULL, value);
            continue;
        }
        if (!n)
            continue;
        if ((value = hint_value(in, line, "devId")) && *value)
            n->peer = value;
        else if ((value = hint_value(in, line, "systemName")) && *value && !n->peer)
            n->peer = value;
        else if ((value = hint_value(in, line, "portId")) && *value && !n->peer_port)
            n->peer_port = value;
        else if ((value = hint_value(in, line, "hardwarePlatform")) && *value)
            n->peer_type = value;
        else if ((value = hint_value(in, line, "key")))
            key = value;
        else if ((value = hint_value(in, line, "value")) && key && strcmp(key, "System Name") == 0 && !n->peer)
            n->peer = value;
    }
}

/* ---- release and limits ---- */

static void read_version(const struct import_input *in)
{
    const struct import_record *r = import_records(in);
    const char *version = r ? import_get(r, "version") : NULL, *update = r ? import_get(r, "update") : NULL;
    const char *dot = version ? strchr(version, '.') : NULL;

    esxi(in);
    if (!dot)
        return;
    dot += 1 + strspn(dot + 1, "0123456789");
    in->device->version =
        arena_printf(in->m->arena, "%.*s%s%s", (int)(dot - version), version,
                     update && import_number(update) ? "u" : "", update && import_number(update) ? update : "");
}

static void read_settings(const struct import_input *in)
{
    static const char *const known[][2] = {
        {"/NFS/MaxVolumes", "NFS.MaxVolumes"},
        {"/NFS41/MaxVolumes", "NFS41.MaxVolumes"},
        {"/SunRPC/MaxConnPerIP", "SunRPC.MaxConnPerIP"},
        {"/NFS/SendBufferSize", "NFS.SendBufferSize"},
        {"/NFS/ReceiveBufferSize", "NFS.ReceiveBufferSize"},
        {"/NFS/MaxConnectionsPerDatastore", "NFS.MaxConnectionsPerDatastore"},
        {"/NFS41/MaxNConnectConns", "NFS41.MaxNConnectConns"},
    };
    struct import_device *d = esxi(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *path = import_get(r, "path"), *value = import_get(r, "intvalue");

        for (size_t i = 0; path && value && i < sizeof known / sizeof *known; i++)
            if (strcasecmp(path, known[i][0]) == 0) {
                struct import_pair *p = IMPORT_ADD(in->m, &d->limits, struct import_pair);

                p->key = known[i][1];
                p->value = arena_printf(in->m->arena, "%u", import_number(value));
            }
    }
}

const struct import_row import_esxi_rows[] = {
    {"storage-nfs-param-get", NULL, read_nfs_param},
    {"storage-nfs-list", NULL, read_nfs},
    {"storage-nfs41-list", NULL, read_nfs41},
    {"ip-interface-ipv4-get", NULL, read_ipv4},
    {"ip-interface-ipv4-address-list", NULL, read_ipv4},
    {"ip-interface-tag-get", NULL, read_tags},
    {"ip-interface-list", NULL, read_interfaces},
    {"ip-connection-list", NULL, read_connections},
    {"vswitch-standard-portgroup-policy-failover-get", NULL, read_portgroup_failover},
    {"portgroup-policy-failover-get", NULL, read_portgroup_failover},
    {"vswitch-standard-policy-failover-get", NULL, read_failover},
    {"policy-failover-get", NULL, read_failover},
    {"vswitch-standard-portgroup-list", NULL, read_portgroups},
    {"vswitch-standard-list", NULL, read_vswitches},
    {"dvs-vmware-lacp-config-get", NULL, read_lacp_config},
    {"lacp-config-get", NULL, read_lacp_config},
    {"lacp-status-get", NULL, read_lacp},
    {"dvs-vmware-list", NULL, read_dvs},
    {"network-nic-list", NULL, read_nics},
    {"system-version-get", NULL, read_version},
    {"settings-advanced-list", NULL, read_settings},
    {"query-networkhint", "vim.host.PhysicalNic.NetworkHint", read_hints},
    {"networkhint", NULL, read_hints},
    {"network-hints", NULL, read_hints},
    {NULL, NULL, NULL},
};
