/* NAS: ONTAP's command line, TrueNAS' middleware. Sources: ONTAP 9 command reference (network interface show, network port show,
 * network port ifgrp show, network device-discovery show, volume show, storage failover show), TrueNAS API reference
 * (interface.query, sharing.nfs.query).
 */
#include "nfsbal/site/import_model.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emu/report/json.h"

/* ---- ONTAP ---- */

static struct import_device *ontap(const struct import_input *in)
{
    in->device->kind = IMPORT_NAS;
    in->device->ontap = true;
    return in->device;
}

static struct import_vip *vip_of(struct import *m, struct import_device *d, const char *svm, const char *name)
{
    struct import_vip *v;

    for (v = d->vips.first; v; v = v->next)
        if (v->name && strcmp(v->name, name) == 0 && v->svm && strcmp(v->svm, svm) == 0)
            return v;
    v = IMPORT_ADD(m, &d->vips, struct import_vip);
    v->name = name;
    v->svm = svm;
    return v;
}

static void read_lifs(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *svm = import_get(r, "vserver|vservername"),
                   *name = import_get(r, "logicalinterface|lif|logicalinterfacename");
        const char *netmask = import_get(r, "netmask|bitsinthenetmask|netmasklength");
        const char *address = import_cidr(in->m, import_get(r, "networkaddressmask|address|networkaddress"), netmask);
        const char *home = import_get(r, "homenode"), *port = import_get(r, "homeport");
        const char *state = import_get(r, "statusadminoper|operationalstatus|statusoper");
        const char *protocols = import_get(r, "dataprotocol|services|servicelist|role");
        struct import_vip *v;

        if (!svm || !name || (!address && !home && !protocols))
            continue;
        v = vip_of(in->m, d, svm, name);
        if (address)
            v->address = address;
        if (home || (import_get(r, "ishome") && strcmp(import_get(r, "ishome"), "true") == 0)) {
            v->node = home ? home : import_get(r, "currentnode|currnode");
            v->port = port ? port : import_get(r, "currentport|currport");
        } else if (!v->node) {
            import_warn(
                in,
                "%s of %s is not at home now; `network interface show -fields home-node,home-port` says where that is",
                name, svm);
            v->node = import_get(r, "currentnode|currnode");
            v->port = import_get(r, "currentport|currport");
        }
        if (v->node)
            import_word(in->m, &d->nodes, v->node);
        if (state)
            v->down = strstr(state, "down") != NULL;
        if (protocols) {
            v->nfs = strstr(protocols, "nfs") != NULL;
            v->not_nfs = !v->nfs &&
                         (!strcmp(protocols, "cluster") || strstr(protocols, "mgmt") || strstr(protocols, "iscsi") ||
                          strstr(protocols, "cifs") || strstr(protocols, "intercluster") || strstr(protocols, "none"));
        }
    }
}

static void read_ports(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *node = import_get(r, "node"), *port = import_get(r, "port"), *mtu = import_get(r, "mtu");
        const char *speed = import_get(r, "speedmbpsadminoper|speedoper|speedoperational|adminoper");
        struct import_nic *n;

        if (!node || !port)
            continue;
        import_word(in->m, &d->nodes, node);
        n = import_nic(in->m, d, node, port);
        if (mtu)
            n->mtu = import_number(mtu);
        if (speed && strchr(speed, '/'))
            speed = strchr(speed, '/') + 1;
        if (speed && import_number(speed))
            n->mbps = import_number(speed);
    }
}

static void read_ifgrps(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *node = import_get(r, "node"),
                   *name = import_get(r, "ifgrp|portifgrp|interfacegroupname|interfacegroup");
        const char *hash = import_get(r, "distributionfunction|distrfunc"), *mode = import_get(r, "mode|createpolicy");
        const char *mac = import_get(r, "macaddress|mac");
        struct import_team *t;

        if (!node || !name)
            continue;
        import_word(in->m, &d->nodes, node);
        t = import_team(in->m, d, node, name, IMPORT_BOND);
        import_split(in->m, &t->members, import_get(r, "ports|networkport"));
        if (hash && strcmp(hash, "ip") == 0)
            t->policy = "netapp-ip";
        else if (hash)
            t->policy = arena_printf(in->m->arena, "netapp-%s", hash);
        if (mac)
            t->mac = mac;
        if (mode && strcmp(mode, "multimode_lacp") == 0)
            t->mode = "lacp";
        else if (mode && strcmp(mode, "multimode") == 0)
            t->mode = "static";
        else if (mode)
            import_warn(in, "%s of %s is `%s`, of which only one port works at a time: describe it by hand", name, node,
                        mode);
    }
}

static void read_volumes(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *svm = import_get(r, "vserver|vservername"), *volume = import_get(r, "volume|volumename");
        const char *path = import_get(r, "junctionpath"), *node = import_get(r, "node|nameofnode");
        const char *aggregate = import_get(r, "aggregate|aggregatename");
        struct import_export *e;

        if (!svm || !volume)
            continue;
        for (e = d->exports.first; e; e = e->next)
            if (strcmp(e->volume, volume) == 0 && strcmp(e->svm, svm) == 0)
                break;
        if (!e) {
            e = IMPORT_ADD(in->m, &d->exports, struct import_export);
            e->volume = volume;
            e->svm = svm;
        }
        if (path)
            e->path = path;
        if (node) {
            e->owner = node;
            import_word(in->m, &d->nodes, node);
        }
        if (aggregate)
            e->aggregate = aggregate;
    }
}

static void pair(const struct import_input *in, void *list, const char *key, const char *value)
{
    struct import_pair *p = IMPORT_ADD(in->m, list, struct import_pair);

    p->key = key;
    p->value = value;
}

static void read_aggregates(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *name = import_get(r, "aggregate"), *nodes = import_get(r, "nodes|node|owner|ownername");

        if (name && nodes)
            pair(in, &d->aggregates, name, import_copy(in->m, nodes, strcspn(nodes, ", ")));
    }
}

static void read_failover(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *node = import_get(r, "node"), *partner = import_get(r, "partner|partnername");

        if (!node || !partner)
            continue;
        import_word(in->m, &d->nodes, node);
        pair(in, &d->partners, node, partner);
    }
}

static void read_discovery(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *node = import_get(r, "nodeprotocol|node"), *port = import_get(r, "localport|port");
        const char *device = import_get(r, "discovereddevicelldpchassisid|discovereddevice|device");
        const char *interface = import_get(r, "interface"), *platform = import_get(r, "platform");
        struct import_nic *n;

        if (!node || !port || !device || !interface)
            continue;
        node = import_copy(in->m, node, strcspn(node, "/ "));
        import_word(in->m, &d->nodes, node);
        n = import_nic(in->m, d, node, port);
        if (n->peer_port)
            continue; /* CDP and LLDP both: the first */
        n->peer = import_copy(in->m, device, strcspn(device, " ("));
        n->peer_port = interface;
        n->peer_type = platform;
    }
}

static void read_routes(const struct import_input *in)
{
    struct import_device *d = ontap(in);

    for (const struct import_record *r = import_records(in); r; r = r->next) {
        const char *to = import_get(r, "destination"), *gateway = import_get(r, "gateway");

        if (to && gateway && (strcmp(to, "0.0.0.0/0") == 0 || strcmp(to, "default") == 0) && import_address(gateway))
            pair(in, &d->gateways, to, gateway);
    }
}

static void read_ontap_version(const struct import_input *in)
{
    const char *release = strstr(in->text, "Release ");

    ontap(in);
    if (release)
        in->device->model =
            arena_printf(in->m->arena, "netapp-ontap-%.*s", (int)strspn(release + 8, "0123456789."), release + 8);
}

/* ---- TrueNAS ---- */

static const char *text_of(struct import *m, const struct json_in *v, const char *key)
{
    const char *text = json_in_text(json_in_member(v, key));

    return text && *text ? import_copy(m, text, strlen(text)) : NULL;
}

static unsigned number_of(const struct json_in *v, const char *key)
{
    double number = 0;

    return json_in_number(json_in_member(v, key), &number) && number > 0 && number < 1e9 ? (unsigned)number : 0;
}

/* Addresses as configured, or those in force where the first list is empty (DHCP). */
static void take_aliases(struct import *m, struct import_iface *f, const struct json_in *v)
{
    const struct json_in *lists[] = {json_in_member(v, "aliases"),
                                     json_in_member(json_in_member(v, "state"), "aliases")};

    for (size_t l = 0; l < 2 && f->addresses.n == 0; l++)
        for (size_t i = 0; i < json_in_size(lists[l]); i++) {
            const struct json_in *a = json_in_element(lists[l], i);
            const char *type = text_of(m, a, "type");
            const char *cidr =
                import_cidr(m, text_of(m, a, "address"), arena_printf(m->arena, "%u", number_of(a, "netmask")));

            if (cidr && (!type || strncmp(type, "INET", 4) == 0) && strncasecmp(cidr, "fe80", 4) != 0)
                import_word(m, &f->addresses, cidr);
        }
}

static void take_lag(const struct import_input *in, const struct json_in *v, const char *name)
{
    struct import_team *t = import_team(in->m, in->device, NULL, name, IMPORT_BOND);
    const struct json_in *state = json_in_member(v, "state"), *ports = json_in_member(v, "lag_ports");
    const char *protocol = text_of(in->m, v, "lag_protocol"), *hash = text_of(in->m, v, "xmit_hash_policy");
    const char *rate = text_of(in->m, v, "lacpdu_rate"), *mac = text_of(in->m, state, "link_address");

    for (size_t i = 0; i < json_in_size(ports); i++)
        if (json_in_text(json_in_element(ports, i)))
            import_word(in->m, &t->members, json_in_text(json_in_element(ports, i)));
    if (protocol && strcmp(protocol, "LACP") == 0)
        t->mode = "lacp";
    else if (protocol && strcmp(protocol, "LOADBALANCE") == 0)
        t->mode = "static";
    else if (protocol)
        import_warn(in, "%s is `%s`, which uses one port at a time: describe it by hand", name, protocol);
    if (hash) {
        char *lower = arena_printf(in->m->arena, "linux-%s", hash);

        for (char *p = lower; *p; p++)
            *p = *p >= 'A' && *p <= 'Z' ? (char)(*p - 'A' + 'a') : *p;
        t->policy = lower;
    }
    t->lacp_rate = rate && strcmp(rate, "FAST") == 0 ? "fast" : rate ? "slow" : NULL;
    t->mac = mac;
}

/* "10Gb/s Twisted Pair", "1000Mb/s". */
static unsigned long speed_of(const char *text)
{
    const char *unit = text ? text + strspn(text, "0123456789") : NULL;

    if (!unit || unit == text)
        return 0;
    return import_number(text) * (*unit == 'G' ? 1000ul : 1ul);
}

static void take_truenas(const struct import_input *in, const struct json_in *v)
{
    struct import_device *d = in->device;
    const struct json_in *state = json_in_member(v, "state");
    const char *name = text_of(in->m, v, "name"), *type = text_of(in->m, v, "type");
    struct import_iface *f;

    if (!name)
        return;
    f = import_iface(in->m, d, name);
    f->mtu = number_of(v, "mtu") ? number_of(v, "mtu") : number_of(state, "mtu");
    take_aliases(in->m, f, v);
    if (type && strcmp(type, "LINK_AGGREGATION") == 0) {
        take_lag(in, v, name);
    } else if (type && strcmp(type, "VLAN") == 0) {
        f->vlan_known = true;
        f->vlan = number_of(v, "vlan_tag");
        f->parent = text_of(in->m, v, "vlan_parent_interface");
    } else if (type && strcmp(type, "BRIDGE") == 0) {
        struct import_team *t = import_team(in->m, d, NULL, name, IMPORT_BRIDGE);
        const struct json_in *members = json_in_member(v, "bridge_members");

        for (size_t i = 0; i < json_in_size(members); i++)
            if (json_in_text(json_in_element(members, i)))
                import_word(in->m, &t->members, json_in_text(json_in_element(members, i)));
    } else {
        struct import_nic *n = import_nic(in->m, d, NULL, name);
        const char *mac = text_of(in->m, state, "permanent_link_address");

        n->mac = mac ? mac : text_of(in->m, state, "link_address");
        n->mbps = speed_of(text_of(in->m, state, "active_media_subtype"));
    }
}

static struct json_in *truenas_json(const struct import_input *in)
{
    char problem[256];
    struct json_in *root = json_in_parse(in->text, (size_t)(in->end - in->text), problem, sizeof problem);

    if (!root)
        import_error(in, "%s", problem);
    in->device->kind = IMPORT_NAS;
    in->device->truenas = true;
    if (!in->device->model)
        in->device->model = "truenas";
    return root;
}

static void read_truenas(const struct import_input *in)
{
    struct json_in *root = truenas_json(in);

    for (size_t i = 0; i < json_in_size(root); i++)
        take_truenas(in, json_in_element(root, i));
    json_in_free(root);
}

static void read_shares(const struct import_input *in)
{
    struct json_in *root = truenas_json(in);

    for (size_t i = 0; i < json_in_size(root); i++) {
        const struct json_in *v = json_in_element(root, i), *paths = json_in_member(v, "paths");
        const char *path = text_of(in->m, v, "path");

        if (json_in_bool(json_in_member(v, "enabled")) == 0)
            continue;
        if (path)
            IMPORT_ADD(in->m, &in->device->exports, struct import_export)->path = path;
        for (size_t p = 0; !path && p < json_in_size(paths); p++)
            if (json_in_text(json_in_element(paths, p)))
                IMPORT_ADD(in->m, &in->device->exports, struct import_export)->path = import_copy(
                    in->m, json_in_text(json_in_element(paths, p)), strlen(json_in_text(json_in_element(paths, p))));
    }
    json_in_free(root);
}

const struct import_row import_nas_rows[] = {
    {"network-interface-show", NULL, read_lifs},
    {"net-int-show", NULL, read_lifs},
    {"ifgrp-show", NULL, read_ifgrps},
    {"network-port-show", NULL, read_ports},
    {"volume-show", NULL, read_volumes},
    {"vol-show", NULL, read_volumes},
    {"aggregate-show", NULL, read_aggregates},
    {"aggr-show", NULL, read_aggregates},
    {"storage-failover-show", NULL, read_failover},
    {"device-discovery-show", NULL, read_discovery},
    {"network-route-show", NULL, read_routes},
    {NULL, "NetApp Release", read_ontap_version},
    {"interface-query", NULL, read_truenas},
    {"nfs-query", NULL, read_shares},
    {NULL, NULL, NULL},
};
