/* The keys of the topology file, from the leaves to the root. docs/topology.md explains each; a test holds the two
 * together. */
#include "emu/model/schema.h"

#include <assert.h>

#include "emu/model/storage_schema.h"
#include "emu/model/topology.h"

#define ESXI   (1u << TOPO_ESXI)
#define LINUX  (1u << TOPO_LINUX)
#define SWITCH (1u << TOPO_SWITCH)
#define NAS    (1u << TOPO_NAS)
#define ROUTER (1u << TOPO_ROUTER)

/* Rows are one line each, laid out by hand. */
// clang-format off
#define END {.name = NULL}

const char *const schema_kinds[] = {"esxi", "linux", "switch", "nas", "router", NULL};
static_assert(sizeof(schema_kinds) / sizeof(schema_kinds[0]) == TOPO_ROUTER + 2, "a name per kind, and NULL");

static const char *const lag_modes[] = {"static", "on", "lacp", NULL};
static const char *const lacp_rates[] = {"fast", "slow", NULL};
static const char *const bond_modes[] = {"802.3ad", "balance-xor", "active-backup", "balance-tlb", "balance-alb", NULL};
static const char *const detections[] = {"link-status", "beacon", NULL};
static const char *const up_down[] = {"up", "down", NULL};
static const char *const receive_rules[] = {"vip", NULL};
static const char *const indirect_rules[] = {"impossible", "hop", "free", NULL};
static const char *const protocols[] = {"nfs", "iscsi", NULL};
static const char *const nfs_versions[] = {"3", "4.1", "4.2", NULL};
static const char *const identities[] = {"cluster", "per-host", NULL};
static const char *const operations[] = {"read", "write", "mixed", "clone", NULL};
static const char *const arrivals[] = {"even", "random", NULL};
static const char *const patterns[] = {"sequential", "random", NULL};
static const char *const event_states[] = {"up", "down", "blackhole", "one-way", NULL};
static const char *const congestions[] = {"cubic", "reno", NULL};
static const char *const bases[] = {"stated", "axis", "inferred", "derived", NULL};
static const char *const input_bases[] = {"assumed", "datasheet", "calibrated", NULL};
static const char *const details[] = {"fluid", "train", "frame", "call", NULL};

static const struct schema_key hash_keys[] = {
    {.name = "policy", .shape = SCHEMA_ONE, .help = "name of a policy; its settings stand beside it, as `nfsbal hash --list` shows them"},
    {.name = "unknown", .shape = SCHEMA_LIST, .help = "only these fields are known to be read: flows equal in them share a link, others are draws"},
    {.name = "*", .shape = SCHEMA_ONE, .flags = SCHEMA_ANY_KEY, .help = "a setting of the policy"},
    END};

#define HASH .shape = SCHEMA_ONE | SCHEMA_MAP, .keys = hash_keys

/* What a vSwitch and a port group can both say. */
#define TEAMING                                                                                                            \
    {.name = "teaming", HASH, .help = "load-balancing policy: port-id, mac-hash, ip-hash, explicit, lbt"},                 \
    {.name = "active", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "active uplinks in order; all that are neither standby nor unused"}, \
    {.name = "standby", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "standby uplinks in order"},                   \
    {.name = "unused", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "uplinks that this team never uses"},           \
    {.name = "failback", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "return to an uplink that is up again; true"}, \
    {.name = "notify", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "notify switches after a failover; true"},       \
    {.name = "detection", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = detections, .help = "network failure detection; link-status"}

#define MTU_IP .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 576, .max = 65520
#define VLAN_TAG .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 0, .max = 4094
#define MAC_KEY .name = "mac", .shape = SCHEMA_ONE, .value = SCHEMA_MAC

static const struct schema_key lag_of_host_keys[] = {
    {.name = "name", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "name that `to:` of a switch refers to"},
    {.name = "members", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "NICs in order; all of them"},
    {.name = "mode", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = lag_modes, .flags = SCHEMA_REQUIRED, .help = "static (also `on`) or lacp"},
    {.name = "hash", HASH, .help = "policy for frames sent"},
    {.name = "lacp-rate", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = lacp_rates, .help = "slow"},
    {MAC_KEY, .help = "the one MAC address of the LAG; made up and marked assumed where missing"},
    END};

static const struct schema_key vswitch_keys[] = {
    {.name = "uplinks", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "physical NICs in team order"},
    TEAMING,
    {.name = "mtu", MTU_IP, .help = "IP MTU of the virtual switch"},
    END};

static const struct schema_key dvswitch_keys[] = {
    {.name = "uplinks", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "physical NICs in team order"},
    TEAMING,
    {.name = "lag", .shape = SCHEMA_MAP, .keys = lag_of_host_keys, .help = "an LACP LAG as the only active uplink, instead of teaming"},
    {.name = "mtu", MTU_IP, .help = "IP MTU of the virtual switch"},
    END};

static const struct schema_key portgroup_keys[] = {
    {.name = "vswitch", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "standard or distributed switch of this host"},
    {.name = "vlan", VLAN_TAG, .help = "VLAN tag on the wire; untagged"},
    TEAMING,
    END};

static const struct schema_key vmknic_keys[] = {
    {.name = "vswitch", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "switch it sits on, where there is no port group"},
    {.name = "portgroup", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "port group it sits on"},
    {.name = "address", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS_PREFIX, .flags = SCHEMA_REQUIRED, .help = "address and prefix, 10.10.5.11/24"},
    {.name = "gateway", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS, .help = "router for everything that is not in a connected subnet"},
    {.name = "vlan", VLAN_TAG, .help = "VLAN tag, where there is no port group"},
    {.name = "mtu", MTU_IP, .help = "1500"},
    {MAC_KEY, .help = "made up and marked assumed where missing"},
    {.name = "port-id", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 0, .max = 4294967295.0, .help = "virtual port; order of creation, marked assumed, where missing"},
    {.name = "management", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "carries the host's management; false"},
    END};

static const struct schema_key nic_keys[] = {
    {MAC_KEY, .help = "made up and marked assumed where missing"},
    END};

static const struct schema_key bond_keys[] = {
    {.name = "members", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "NICs in order"},
    {.name = "mode", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = bond_modes, .flags = SCHEMA_REQUIRED, .help = "as in /proc/net/bonding"},
    {.name = "hash", HASH, .help = "transmit hash of balance-xor and 802.3ad; layer2"},
    {.name = "gen", .shape = SCHEMA_ONE, .help = "generation g1 .. g6 of the bonding driver; from `kernel:` of the node"},
    {.name = "primary", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "active-backup: the member that is used while it is up; the first"},
    {.name = "lacp-rate", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = lacp_rates, .help = "slow"},
    {MAC_KEY, .help = "made up and marked assumed where missing"},
    {.name = "mtu", MTU_IP, .help = "1500"},
    END};

static const struct schema_key bridge_keys[] = {
    {.name = "ports", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "the bond or NIC beneath; guests are not listed"},
    {.name = "mtu", MTU_IP, .help = "that of its port"},
    END};

static const struct schema_key interface_keys[] = {
    {.name = "address", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS_PREFIX, .help = "address and prefix"},
    {.name = "gateway", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS, .help = "router for everything that is not in a connected subnet"},
    {.name = "vlan", VLAN_TAG, .help = "VLAN tag on the wire; untagged"},
    {.name = "parent", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "NIC, bond or bridge beneath; the name before the dot, else the interface's own name"},
    {.name = "mtu", MTU_IP, .help = "that of its parent"},
    {MAC_KEY, .help = "that of its parent"},
    {.name = "management", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "carries the host's management; false"},
    END};

static const struct schema_key trunk_keys[] = {
    {.name = "trunk", .shape = SCHEMA_LIST, .value = SCHEMA_INTEGER, .min = 1, .max = 4094, .help = "VLANs passed with their tag; all of the switch's `vlans`"},
    {.name = "native", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 4094, .help = "VLAN of untagged frames"},
    END};

#define VLAN_OF_PORT .name = "vlan", .shape = SCHEMA_ONE | SCHEMA_MAP, .value = SCHEMA_VLAN_OR_TRUNK, .keys = trunk_keys

static const struct schema_key switch_lag_keys[] = {
    {.name = "to", .shape = SCHEMA_ONE, .help = "team at the other end: \"esx1:vSwitch1\", \"pve1:bond0\", \"fas:n1.a0a\", \"sw2:po1\""},
    {.name = "members", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "ports in order; the cables to that team in this side's port order"},
    {.name = "mode", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = lag_modes, .flags = SCHEMA_REQUIRED, .help = "static (also `on`) or lacp"},
    {.name = "hash", HASH, .help = "instead of the switch's"},
    {.name = "lacp-rate", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = lacp_rates, .help = "slow"},
    {VLAN_OF_PORT, .help = "access VLAN, `trunk`, or {trunk: [..], native: N}"},
    END};

static const struct schema_key switch_port_keys[] = {
    {VLAN_OF_PORT, .help = "access VLAN, `trunk`, or {trunk: [..], native: N}"},
    {MAC_KEY, .help = "made up and marked assumed where missing"},
    END};

static const struct schema_key mlag_keys[] = {
    {.name = "peers", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "the two switches of the pair"},
    {.name = "peer-link", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "LAG between them, of the same name on both"},
    END};

static const struct schema_key observed_keys[] = {
    {.name = "src", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS, .flags = SCHEMA_REQUIRED, .help = "sender's address"},
    {.name = "dst", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS, .flags = SCHEMA_REQUIRED, .help = "receiver's address"},
    {.name = "sport", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 0, .max = 65535, .help = "any"},
    {.name = "dport", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 0, .max = 65535, .help = "any"},
    {.name = "lag", .shape = SCHEMA_ONE, .flags = SCHEMA_REQUIRED, .help = "LAG or team of this node that chose"},
    {.name = "port", .shape = SCHEMA_ONE, .flags = SCHEMA_REQUIRED, .help = "member that it chose"},
    {.name = "date", .shape = SCHEMA_TEXT, .flags = SCHEMA_REQUIRED, .help = "day of the observation"},
    END};

static const struct schema_key nas_team_keys[] = {
    {.name = "receive", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = receive_rules, .flags = SCHEMA_REQUIRED, .help = "vip: frames for a VIP arrive on the NIC whose MAC its ARP reply gave, VIPs dealt to the NICs in turn"},
    {.name = "transmit", HASH, .flags = SCHEMA_REQUIRED, .help = "policy for frames sent; xor-dst-ip sends by the client's address"},
    {.name = "learning", .shape = SCHEMA_ONE, .value = SCHEMA_TIME_OR_OFF, .min = 0.001, .max = 3600, .help = "each NIC sends a learning frame this often; 1s"},
    {.name = "members", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "NICs in order; all of the controller's"},
    END};

static const struct schema_key controller_keys[] = {
    {.name = "nics", .shape = SCHEMA_LIST | SCHEMA_NAMED, .value = SCHEMA_NAME, .keys = nic_keys, .flags = SCHEMA_REQUIRED, .help = "client-side NICs, or a map of them with their mac"},
    {.name = "lag", .shape = SCHEMA_MAP, .keys = lag_of_host_keys, .help = "the one LAG"},
    {.name = "lags", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = lag_of_host_keys, .help = "several LAGs by name"},
    {.name = "team", .shape = SCHEMA_MAP, .keys = nas_team_keys, .help = "balancing without help from the switch"},
    {.name = "vlan", VLAN_TAG, .help = "VLAN tag of the VIPs; untagged"},
    {.name = "mtu", MTU_IP, .help = "1500"},
    {.name = "gateway", .shape = SCHEMA_ONE, .value = SCHEMA_ADDRESS, .help = "router towards clients in other subnets"},
    {.name = "takeover", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "controller that takes the VIPs over"},
    END};

static const struct schema_key vip_keys[] = {
    {.name = "home", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "controller, or round-robin (in the order of the addresses)"},
    {.name = "name", .shape = SCHEMA_LIST, .help = "DNS names"},
    {.name = "port", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "LAG or NIC of the controller, where it has several"},
    {.name = "vlan", VLAN_TAG, .help = "that of the controller"},
    {.name = "mtu", MTU_IP, .help = "that of the controller"},
    {MAC_KEY, .help = "an address of its own; that of the LAG or NIC"},
    {.name = "state", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = up_down, .help = "up"},
    END};

static const struct schema_key export_keys[] = {
    {.name = "owner", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "controller that serves it directly; any"},
    END};

#define VIPS {.name = "vips", .shape = SCHEMA_NAMED, .names = SCHEMA_ADDRESS_PREFIX, .keys = vip_keys, .kinds = NAS, .help = "virtual addresses, 10.10.5.101/24"}
#define EXPORTS {.name = "exports", .shape = SCHEMA_NAMED, .names = SCHEMA_PATH, .keys = export_keys, .kinds = NAS, .help = "exported paths"}

static const struct schema_key svm_keys[] = {VIPS, EXPORTS, END};

static const struct schema_key tcp_keys[] = {
    {.name = "congestion", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = congestions, .help = "congestion control"},
    {.name = "timestamps", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "TCP timestamps, 12 bytes a segment"},
    {.name = "send-buffer", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 4096, .max = 1073741824, .help = "bytes in flight at most"},
    {.name = "receive-buffer", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 4096, .max = 1073741824, .help = "window that is offered at most"},
    END};

static const struct schema_key nfs_keys[] = {
    {.name = "rsize", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 4096, .max = 4194304, .help = "bytes of a READ at most"},
    {.name = "wsize", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 4096, .max = 4194304, .help = "bytes of a WRITE at most"},
    {.name = "stable", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "true: file-sync writes; false: unstable writes and COMMIT"},
    END};

static const struct schema_key limit_keys[] = {
    {.name = "NFS.MaxVolumes", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 256, .help = "NFS 3 datastores that can be mounted"},
    {.name = "NFS41.MaxVolumes", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 256, .help = "NFS 4.1 datastores that can be mounted"},
    {.name = "SunRPC.MaxConnPerIP", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 128, .help = "TCP connections to one server address; further mounts share them"},
    {.name = "Net.TcpipHeapSize", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 0, .max = 64, .help = "MB that the TCP/IP stack's heap begins with"},
    {.name = "Net.TcpipHeapMax", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 1536, .help = "MB that it grows to at most: socket buffers; 64 in 5.0 and 5.1"},
    {.name = "NFS.MaxConnectionsPerDatastore", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 8, .help = "highest nconnect of an NFS 3 datastore; 4"},
    {.name = "NFS41.MaxNConnectConns", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 8, .help = "highest nconnect of an NFS 4.1 datastore; 4"},
    {.name = "NFS.SendBufferSize", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 32, .max = 2048, .help = "KiB of the socket's send buffer"},
    {.name = "NFS.ReceiveBufferSize", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 64, .max = 2048, .help = "KiB of the socket's receive buffer"},
    END};

static const struct schema_key node_keys[] = {
    {.name = "kind", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = schema_kinds, .flags = SCHEMA_REQUIRED, .help = "what it is"},
    {.name = "model", .shape = SCHEMA_TEXT, .help = "product, as people know it; its first word is the vendor that policy names are looked up with"},
    {.name = "version", .shape = SCHEMA_TEXT, .kinds = ESXI, .help = "release, \"7.0u3\""},
    {.name = "kernel", .shape = SCHEMA_TEXT, .kinds = LINUX | NAS | ROUTER, .help = "Linux version, \"6.8\": decides the generation of the bonding driver"},
    {.name = "nics", .shape = SCHEMA_LIST | SCHEMA_NAMED, .value = SCHEMA_NAME, .keys = nic_keys, .kinds = ESXI | LINUX | ROUTER, .help = "physical NICs that no team names, or a map of them with their mac"},
    {.name = "vswitches", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = vswitch_keys, .kinds = ESXI, .help = "standard switches"},
    {.name = "dvswitches", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = dvswitch_keys, .kinds = ESXI, .help = "distributed switches, as this host has them"},
    {.name = "portgroups", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = portgroup_keys, .kinds = ESXI, .help = "port groups"},
    {.name = "vmknics", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = vmknic_keys, .kinds = ESXI, .help = "VMkernel interfaces"},
    {.name = "limits", .shape = SCHEMA_MAP, .keys = limit_keys, .kinds = ESXI, .help = "advanced settings by their real names"},
    {.name = "bonds", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = bond_keys, .kinds = LINUX | ROUTER, .help = "bonding devices"},
    {.name = "bridges", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = bridge_keys, .kinds = LINUX, .help = "bridges over a bond or a NIC"},
    {.name = "interfaces", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = interface_keys, .kinds = LINUX | ROUTER, .help = "interfaces with their addresses"},
    {.name = "mtu", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 576, .max = 65535, .kinds = SWITCH, .help = "largest frame it passes, in bytes, as the switch is configured"},
    {.name = "hash", HASH, .kinds = SWITCH, .help = "policy of the whole box"},
    {.name = "members", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 16, .kinds = SWITCH, .help = "switches in the stack; 1"},
    {.name = "local-bias", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .kinds = SWITCH, .help = "a stack that prefers links of the member where the frame came in; false"},
    {.name = "vlans", .shape = SCHEMA_LIST, .value = SCHEMA_INTEGER, .min = 1, .max = 4094, .kinds = SWITCH, .help = "VLANs it knows; one untagged network"},
    {.name = "lags", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = switch_lag_keys, .kinds = SWITCH, .help = "port channels"},
    {.name = "ports", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = switch_port_keys, .kinds = SWITCH, .help = "settings of single ports"},
    {.name = "mlag", .shape = SCHEMA_MAP, .keys = mlag_keys, .kinds = SWITCH, .help = "pair of switches that act as one towards LAGs (vPC, MLAG)"},
    {.name = "mac-ageing", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 1, .max = 1000000, .kinds = SWITCH, .help = "300s"},
    {.name = "controllers", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = controller_keys, .kinds = NAS, .help = "heads, nodes, controllers"},
    VIPS,
    EXPORTS,
    {.name = "svms", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = svm_keys, .kinds = NAS, .help = "groups of VIPs and exports"},
    {.name = "zones", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = svm_keys, .kinds = NAS, .help = "the same under its other name"},
    {.name = "indirect", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = indirect_rules, .kinds = NAS, .help = "an export over a VIP of another controller than its owner's: impossible, hop (works over an extra hop inside the NAS), free"},
    {.name = "storage", .shape = SCHEMA_MAP, .keys = storage_schema_keys, .kinds = NAS, .help = "what stands behind the NAS; without it the network is the only limit"},
    {.name = "observed", .shape = SCHEMA_ITEMS, .keys = observed_keys, .help = "choices that the real box was seen to make; they beat every policy"},
    {.name = "link-down-delay", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 600, .help = "from the loss of a link until its team leaves it; 0"},
    {.name = "tcp", .shape = SCHEMA_MAP, .keys = tcp_keys, .kinds = ESXI | LINUX | NAS, .help = "TCP of this node"},
    {.name = "nfs", .shape = SCHEMA_MAP, .keys = nfs_keys, .kinds = ESXI | LINUX, .help = "NFS client of this node"},
    END};

static const struct schema_key link_keys[] = {
    {.name = "ends", .shape = SCHEMA_LIST, .flags = SCHEMA_REQUIRED | SCHEMA_PAIR, .help = "two ports, \"esx1:vmnic2\" and \"sw1:gi1/0/1\"; ranges pair by position"},
    {.name = "speed", .shape = SCHEMA_ONE, .value = SCHEMA_RATE, .min = 1e3, .max = 1e12, .flags = SCHEMA_REQUIRED, .help = "1G, 10G, 25G"},
    {.name = "delay", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 10, .help = "one way; 5us"},
    {.name = "buffer", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 16384, .max = 1073741824, .help = "bytes that wait before each direction at most; 512KiB"},
    {.name = "loss", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .help = "frames lost at random; 0%"},
    {.name = "state", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = up_down, .help = "from the start; up"},
    END};

static const struct schema_key weight_keys[] = {
    {.name = "read", .shape = SCHEMA_ONE, .value = SCHEMA_WEIGHT, .help = "share, or bytes per second"},
    {.name = "write", .shape = SCHEMA_ONE, .value = SCHEMA_WEIGHT, .help = "share, or bytes per second"},
    END};

static const struct schema_key datastore_keys[] = {
    {.name = "export", .shape = SCHEMA_ONE, .flags = SCHEMA_REQUIRED, .help = "\"NAS:/path\", or \"NAS:SVM:/path\" where two svms export the same path"},
    {.name = "mounted", .shape = SCHEMA_ONE | SCHEMA_NAMED, .names = SCHEMA_NAME, .help = "server string exactly as mounted today, with :/path where that differs; or {default: S, HOST: S}"},
    {.name = "hosts", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "hosts that mount it; all of kind esxi and linux"},
    {.name = "server", .shape = SCHEMA_ONE, .help = "a DNS name of its own"},
    {.name = "servers", .shape = SCHEMA_LIST, .help = "NFS 4.1: addresses of one mount (session trunking); iSCSI: portals, used in turn"},
    {.name = "pin", .shape = SCHEMA_ONE, .help = "VIP that a plan must keep"},
    {.name = "vip", .shape = SCHEMA_ONE, .help = "VIP that a new site wants"},
    {.name = "protocol", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = protocols, .help = "nfs; iscsi: a volume, for runs in whole calls"},
    {.name = "nfs", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = nfs_versions, .help = "3"},
    {.name = "nconnect", .shape = SCHEMA_ONE | SCHEMA_NAMED, .names = SCHEMA_NAME, .value = SCHEMA_INTEGER, .min = 1, .max = 16, .help = "TCP connections; 1; or {default: N, HOST: N}"},
    {.name = "vmknic", .shape = SCHEMA_ONE | SCHEMA_NAMED, .names = SCHEMA_NAME, .value = SCHEMA_NAME, .help = "VMkernel interface that ESXi hosts bind the mount to; or {default: V, HOST: V}; routing picks it"},
    {.name = "identity", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = identities, .help = "cluster: one server string on all hosts; per-host: each its own"},
    {.name = "weight", .shape = SCHEMA_ONE | SCHEMA_MAP, .value = SCHEMA_WEIGHT, .keys = weight_keys, .help = "share of the load, or bytes per second; 1"},
    {.name = "exclusive", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "shares no link with another datastore; false"},
    {.name = "apart", .shape = SCHEMA_ONE, .help = "group of datastores that share no link with each other"},
    {.name = "vms", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 0, .max = 100000, .help = "virtual machines on it"},
    {.name = "holds", .shape = SCHEMA_LIST, .help = "what must not stop: vcenter, dns"},
    END};

static const struct schema_key workload_keys[] = {
    {.name = "host", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "hosts that issue it; all that mount the datastores"},
    {.name = "hosts", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "the same"},
    {.name = "datastores", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "all"},
    {.name = "op", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = operations, .flags = SCHEMA_REQUIRED, .help = "read, write, mixed, or clone (read from `datastores`, write to `to`)"},
    {.name = "to", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "clone: datastores that are written, paired with `datastores` in the order of the file"},
    {.name = "window", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 512, .max = 1073741824, .help = "bytes of a sequential stream that its storage sees asked for at a time; outstanding x block"},
    {.name = "arrival", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = arrivals, .help = "of a rate: even gaps, or random ones (exponentially distributed); even"},
    {.name = "read-share", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .help = "of the operations when mixed; 50%"},
    {.name = "pattern", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = patterns, .help = "sequential"},
    {.name = "block", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 512, .max = 67108864, .help = "bytes of an operation; 64KiB"},
    {.name = "outstanding", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 4096, .help = "operations in flight per mount; 16"},
    {.name = "rate", .shape = SCHEMA_ONE, .value = SCHEMA_BYTE_RATE, .min = 1, .max = 1e12, .help = "per mount at most"},
    {.name = "iops", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 0.001, .max = 1e9, .help = "per mount at most"},
    {.name = "start", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 864000, .help = "0"},
    {.name = "for", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0.000001, .max = 864000, .help = "how long; 30s where `bytes` is not given"},
    {.name = "bytes", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 1, .max = 1e18, .help = "per mount, instead of `for`"},
    {.name = "stable", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "file-sync writes; as the host's `nfs:` says"},
    END};

static const struct schema_key vm_start_keys[] = {
    {.name = "at", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 864000, .help = "the first one; 0"},
    {.name = "rate", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 1e-6, .max = 1e9, .help = "machines a second; all at once"},
    {.name = "at-most", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 1000000, .help = "started and not through at a time: launchers that wait, or a throttle"},
    {.name = "until", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "phase with which a machine is through, for `at-most`; the last"},
    END};

static const struct schema_key vm_phase_keys[] = {
    {.name = "name", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .flags = SCHEMA_REQUIRED, .help = "boot, login, steady ..."},
    {.name = "share", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .help = "of the machines that go through it; 100%"},
    {.name = "iops", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 0.0001, .max = 1e9, .help = "per machine, whether earlier ones have ended or not"},
    {.name = "operations", .shape = SCHEMA_ONE, .value = SCHEMA_COUNT, .min = 1, .max = 1e12, .help = "per machine; the phase ends when all have ended"},
    {.name = "for", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0.000001, .max = 864000, .help = "how long"},
    {.name = "think", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 864000, .help = "pause after each burst, without `iops`"},
    {.name = "burst", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 1000000, .help = "operations between two pauses; as many as are outstanding"},
    {.name = "outstanding", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 4096, .help = "at a time; without `iops` 1, with it no limit"},
    {.name = "read-share", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .help = "of the operations; 50%"},
    {.name = "block", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 512, .max = 67108864, .help = "bytes of an operation; 4KiB"},
    {.name = "read-block", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 512, .max = 67108864, .help = "of a read, where it differs"},
    {.name = "write-block", .shape = SCHEMA_ONE, .value = SCHEMA_SIZE, .min = 512, .max = 67108864, .help = "of a write"},
    {.name = "even", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "constant times between operations, else exponential ones; false"},
    END};

static const struct schema_key vm_group_keys[] = {
    {.name = "host", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "hosts that they run on; all that mount the datastores"},
    {.name = "hosts", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "the same"},
    {.name = "datastores", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "all; the machines of a host are dealt to them in turn"},
    {.name = "count", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 100000, .help = "machines per host; 1"},
    {.name = "total", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 1000000, .help = "machines on all hosts together, dealt in turn, instead of `count`"},
    {.name = "start", .shape = SCHEMA_MAP, .keys = vm_start_keys, .help = "when they start; all at 0"},
    {.name = "for", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0.000001, .max = 864000, .help = "how long the group works; until all machines are through"},
    {.name = "phases", .shape = SCHEMA_ITEMS, .keys = vm_phase_keys, .flags = SCHEMA_REQUIRED, .help = "what each machine does, in order"},
    END};

static const struct schema_key event_keys[] = {
    {.name = "at", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 864000, .flags = SCHEMA_REQUIRED, .help = "time from the start"},
    {.name = "link", .shape = SCHEMA_LIST, .help = "cable, by one of its ports"},
    {.name = "vip", .shape = SCHEMA_LIST, .help = "address of a VIP"},
    {.name = "node", .shape = SCHEMA_LIST, .help = "host, switch, router, or one controller (\"fas:n1\")"},
    {.name = "state", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = event_states, .help = "up, down; of a link also blackhole (stays up, passes nothing) and one-way (what the named port sends is lost)"},
    {.name = "speed", .shape = SCHEMA_ONE, .value = SCHEMA_RATE, .min = 1e3, .max = 1e12, .help = "of a link"},
    {.name = "delay", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0, .max = 10, .help = "of a link"},
    {.name = "loss", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .help = "of a link"},
    {.name = "to", .shape = SCHEMA_ONE, .value = SCHEMA_NAME, .help = "controller that a VIP moves to"},
    {.name = "gratuitous-arp", .shape = SCHEMA_ONE, .value = SCHEMA_BOOL, .help = "the new home announces the VIP; true"},
    END};

static const struct schema_key background_keys[] = {
    {.name = "link", .shape = SCHEMA_LIST, .flags = SCHEMA_REQUIRED, .help = "direction \"esx1:vmnic2>sw1:ge1\", or a port: what it sends"},
    {.name = "load", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .flags = SCHEMA_REQUIRED, .help = "share of the link's rate that other traffic takes"},
    END};

static const struct schema_key case_keys[] = {
    {.name = "set", .shape = SCHEMA_MAP, .keys = schema_topology, .flags = SCHEMA_PARTIAL, .help = "part of a topology, merged over the file: maps merge, scalars and lists replace, null deletes"},
    {.name = "allow", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .flags = SCHEMA_TEXT_ENTRIES, .help = "rules acknowledged in this case"},
    END};

static const struct schema_key expect_keys[] = {
    {.name = "figure", .shape = SCHEMA_TEXT, .help = "where the number comes from"},
    {.name = "value", .shape = SCHEMA_TEXT, .flags = SCHEMA_REQUIRED, .help = "numbers, CASE.METRIC[selector], + - * / ( )"},
    {.name = "near", .shape = SCHEMA_ONE, .value = SCHEMA_MEASURE, .help = "the value; exact where `within` is not given"},
    {.name = "within", .shape = SCHEMA_ONE, .value = SCHEMA_PERCENT, .min = 0, .max = 1, .help = "how far from `near` it may be"},
    {.name = "exact", .shape = SCHEMA_ONE, .value = SCHEMA_MEASURE, .help = "the value, to the digit"},
    {.name = "min", .shape = SCHEMA_ONE, .value = SCHEMA_MEASURE, .help = "at least"},
    {.name = "max", .shape = SCHEMA_ONE, .value = SCHEMA_MEASURE, .help = "at most"},
    {.name = "basis", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = bases, .flags = SCHEMA_REQUIRED, .help = "stated in the document, read from an axis, inferred from it, or derived by arithmetic of ours"},
    {.name = "calibrated", .shape = SCHEMA_LIST, .value = SCHEMA_NAME, .help = "inputs that were fitted to this number: it shows the fit, and predicts nothing"},
    {.name = "not-claimed", .shape = SCHEMA_TEXT, .help = "why the model does not claim this number: shown, never judged"},
    {.name = "note", .shape = SCHEMA_TEXT, .help = "what a reader should know"},
    END};

static const struct schema_key input_keys[] = {
    {.name = "at", .shape = SCHEMA_LIST, .flags = SCHEMA_REQUIRED, .help = "where the number stands: keys from the top, divided by /, places in lists from 0"},
    {.name = "basis", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = input_bases, .flags = SCHEMA_REQUIRED, .help = "assumed, from a datasheet, or calibrated"},
    {.name = "fitted-to", .shape = SCHEMA_TEXT, .help = "the figure that a calibrated one was fitted to"},
    {.name = "note", .shape = SCHEMA_TEXT, .help = "source, or reason"},
    END};

static const struct schema_key raise_keys[] = {
    {.name = "until", .shape = SCHEMA_ONE, .value = SCHEMA_TIME, .min = 0.000001, .max = 1000, .flags = SCHEMA_REQUIRED, .help = "mean response, of reads or of writes, whichever is longer"},
    END};

const struct schema_key schema_topology[] = {
    {.name = "version", .shape = SCHEMA_ONE, .value = SCHEMA_INTEGER, .min = 1, .max = 1, .flags = SCHEMA_REQUIRED | SCHEMA_NOT_IN_CASE, .help = "of the format: 1"},
    {.name = "name", .shape = SCHEMA_TEXT, .help = "short name; that of the file"},
    {.name = "title", .shape = SCHEMA_TEXT, .help = "one line for people"},
    {.name = "nodes", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = node_keys, .flags = SCHEMA_REQUIRED, .help = "hosts, switches, NAS, routers"},
    {.name = "links", .shape = SCHEMA_ITEMS, .keys = link_keys, .help = "cables"},
    {.name = "datastores", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = datastore_keys, .help = "datastores and who mounts them how"},
    {.name = "workloads", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = workload_keys, .help = "what the hosts do; every datastore busy, writes then reads"},
    {.name = "events", .shape = SCHEMA_ITEMS, .keys = event_keys, .help = "faults and changes"},
    {.name = "background", .shape = SCHEMA_ITEMS, .keys = background_keys, .help = "other traffic on links"},
    {.name = "allow", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .flags = SCHEMA_TEXT_ENTRIES, .help = "rules of `emu check` acknowledged, each with the reason"},
    {.name = "cases", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = case_keys, .flags = SCHEMA_NOT_IN_CASE, .help = "variants of the file, one run each"},
    {.name = "expect", .shape = SCHEMA_ITEMS, .keys = expect_keys, .flags = SCHEMA_NOT_IN_CASE, .help = "numbers that `emu run --check` compares"},
    {.name = "inputs", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = input_keys, .flags = SCHEMA_NOT_IN_CASE, .help = "numbers of this file that no document states, for `emu reproduce`"},
    {.name = "raise", .shape = SCHEMA_MAP, .keys = raise_keys, .help = "the load of all workloads is raised, or lowered, in proportion, as far as the response allows"},
    {.name = "detail", .shape = SCHEMA_ONE, .value = SCHEMA_CHOICE, .words = details, .help = "what moves in a run where the command does not say: fluid, train or frame; train"},
    {.name = "vm-groups", .shape = SCHEMA_NAMED, .names = SCHEMA_NAME, .keys = vm_group_keys, .help = "virtual machines: how many on which hosts, how they start, what they do phase by phase"},
    END};

const struct schema_key schema_root = {.name = "the file", .shape = SCHEMA_MAP, .keys = schema_topology};
