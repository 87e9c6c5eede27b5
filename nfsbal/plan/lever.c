#include "nfsbal/plan/lever.h"

#include <assert.h>
#include <string.h>

static const char *const names[] = {"vip",          "vmk-address", "vmk-binding", "lif-home",
                                    "volume-owner", "switch-hash", "names"};
static_assert(sizeof names / sizeof names[0] == PLAN_LEVERS, "a name for each lever");

const char *plan_lever_name(enum plan_lever lever) { return names[lever]; }

int plan_lever_find(const char *name)
{
    for (int i = 0; i < PLAN_LEVERS; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

enum plan_cost plan_lever_cost(enum plan_lever lever)
{
    switch (lever) {
    case PLAN_LEVER_VMK_ADDRESS:
    case PLAN_LEVER_VMK_BINDING:
    case PLAN_LEVER_SWITCH_HASH:
        return PLAN_ROLLING;
    case PLAN_LEVER_LIF_HOME:
    case PLAN_LEVER_VOLUME_OWNER:
        return PLAN_NOTHING_STOPS;
    case PLAN_LEVER_VIP:
    case PLAN_LEVER_NAMES:
    case PLAN_LEVERS:
        break;
    }
    return PLAN_OUTAGE;
}

bool plan_levers_parse(const char *text, unsigned *levers, const char **bad, size_t *length)
{
    *levers = 0;
    for (;;) {
        size_t n = strcspn(text, ","), i = 0;
        while (i < PLAN_LEVERS && (strlen(names[i]) != n || memcmp(names[i], text, n) != 0))
            i++;
        *bad = text;
        *length = n;
        if (i == PLAN_LEVERS)
            return false;
        *levers |= 1u << i;
        if (!text[n])
            return true;
        text += n + 1;
    }
}

void plan_change_print(const struct plan_change *c, FILE *out)
{
    const char *const *w = c->words.words;
    bool two = c->lever == PLAN_LEVER_VMK_ADDRESS || c->lever == PLAN_LEVER_VMK_BINDING;
    fprintf(out, "%s%s%s %s%s%s", w[1],
            !two                                 ? ""
            : c->lever == PLAN_LEVER_VMK_BINDING ? " on "
                                                 : " ",
            two ? w[2] : "", c->from ? c->from : "", c->from ? " -> " : "", two ? w[3] : w[2]);
}

static const char *const supports[] = {"supported", "preview", "tolerated", "unsupported"};
static_assert(sizeof supports / sizeof supports[0] == PLAN_UNSUPPORTED + 1, "a name for each support");

const char *plan_support_name(enum plan_support support) { return supports[support]; }

/* VMware KB 1001938 and 1007371, "NFS Storage Guidelines" of vSphere Storage, the release notes of 8.0 U1 to U3, ONTAP's TR-4597. */
static const struct plan_way_facts ways[] = {
    [PLAN_WAY_VIPS] = {"vips", PLAN_SUPPORTED, "any release",
                       "several addresses per NAS node, one per datastore for all hosts"},
    [PLAN_WAY_IP_HASH] = {"ip-hash", PLAN_SUPPORTED, "any release",
                          "IP hash needs a static EtherChannel on one switch, stack or MLAG pair, all uplinks active "
                          "(KB 1001938)"},
    [PLAN_WAY_SUBNETS] = {"subnets", PLAN_SUPPORTED, "any release",
                          "one VMkernel interface per subnet; routing picks the interface (vSphere Storage guide)"},
    [PLAN_WAY_VMK_BINDING] = {"vmk-binding", PLAN_SUPPORTED, "vSphere 8.0 U3",
                              "NFS 4.1 datastores bound to a VMkernel interface (core.vmware.com, NFS in 8.0 U3)"},
    [PLAN_WAY_VMK_BINDING_3] =
        {"vmk-binding-nfs3", PLAN_SUPPORTED, "vSphere 8.0 U1",
         "NFS 3 datastores bound to a VMkernel interface (vSphere Storage 8.0, \"Configure VMkernel Binding for NFS 3 "
         "Datastore\"; vSphere API, HostNasVolumeSpec.vmknicToBind, since 8.0.1.0)"},
    [PLAN_WAY_NCONNECT] =
        {"nconnect", PLAN_SUPPORTED, "vSphere 8.0 U2",
         "several connections per NFS 3 datastore; all share the addresses, so only a hash over ports "
         "spreads them"},
    [PLAN_WAY_NCONNECT_PREVIEW] = {"nconnect-preview", PLAN_PREVIEW, "vSphere 8.0 U1",
                                   "several connections per NFS 3 datastore are a technical preview before 8.0 U2"},
    [PLAN_WAY_LACP] =
        {"lacp", PLAN_SUPPORTED, "vSphere 5.5",
         "LACP with a layer-4 hash needs a distributed switch and a LAG on one switch, stack or MLAG pair"},
    [PLAN_WAY_NO_HASH] = {"two-fast-links", PLAN_SUPPORTED, "any release",
                          "two fast uplinks in explicit order or port ID: nothing has to be spread"},
    [PLAN_WAY_ALIAS] = {"alias-mount", PLAN_TOLERATED, "any release",
                        "one export under several names: free space counts twice, snapshots and backups see it twice"},
    [PLAN_WAY_INDIRECT] = {"indirect", PLAN_TOLERATED, "any release",
                           "data crosses from one NAS controller to another: works, but costs an extra hop"},
    [PLAN_WAY_READDRESS] = {"vmk-address", PLAN_SUPPORTED, "any release",
                            "another address for a VMkernel interface, host by host in maintenance mode"},
    [PLAN_WAY_LIF_HOME] = {"lif-home", PLAN_SUPPORTED, "any release",
                           "a NAS address to another controller, while clients stay connected"},
    [PLAN_WAY_VOLUME_OWNER] = {"volume-owner", PLAN_SUPPORTED, "ONTAP 8.1",
                               "a volume to another controller, while it is in use"},
    [PLAN_WAY_SWITCH_HASH] = {"switch-hash", PLAN_SUPPORTED, "any release",
                              "another hash for the whole switch: every port channel of it chooses anew"},
    [PLAN_WAY_NAMES] = {"names", PLAN_SUPPORTED, "any release",
                        "a DNS name per datastore, the same on all hosts; hosts must resolve it before they mount"},
};
static_assert(sizeof ways / sizeof ways[0] == PLAN_WAYS, "facts for each way");

const struct plan_way_facts *plan_way(enum plan_way way) { return &ways[way]; }

const struct plan_way_facts *plan_way_find(const char *id)
{
    for (size_t i = 0; i < PLAN_WAYS; i++)
        if (strcmp(ways[i].id, id) == 0)
            return &ways[i];
    return NULL;
}

enum plan_way plan_lever_way(enum plan_lever lever)
{
    static const enum plan_way all[] = {[PLAN_LEVER_VIP] = PLAN_WAY_VIPS,
                                        [PLAN_LEVER_VMK_ADDRESS] = PLAN_WAY_READDRESS,
                                        [PLAN_LEVER_VMK_BINDING] = PLAN_WAY_VMK_BINDING,
                                        [PLAN_LEVER_LIF_HOME] = PLAN_WAY_LIF_HOME,
                                        [PLAN_LEVER_VOLUME_OWNER] = PLAN_WAY_VOLUME_OWNER,
                                        [PLAN_LEVER_SWITCH_HASH] = PLAN_WAY_SWITCH_HASH,
                                        [PLAN_LEVER_NAMES] = PLAN_WAY_NAMES};
    static_assert(sizeof all / sizeof all[0] == PLAN_LEVERS, "a way for each lever");
    return all[lever];
}

enum plan_way plan_change_way(const struct topo *t, const struct plan_change *c)
{
    int datastore = c->lever == PLAN_LEVER_VMK_BINDING ? topo_find_datastore(t, c->words.words[1]) : -1;
    return datastore >= 0 && t->datastores[datastore].nfs == TOPO_NFS3 ? PLAN_WAY_VMK_BINDING_3
                                                                       : plan_lever_way(c->lever);
}
