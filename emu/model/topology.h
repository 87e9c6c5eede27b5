/* The topology: hosts, switches, NAS, cables, VIPs, exports, datastores, mounts, as plain structs after reading.
 *
 * Everything is normalised so that the users of it (checks, path, fabric, planner) meet few kinds of things:
 *
 *   node    an entry of `nodes:` in the file
 *   box     what forwards or answers by itself: a host, a switch (a stack is one box), a router, one NAS *controller*
 *   port    a physical port of a box; a link joins two of them
 *   link    one cable; its two directions are numbered 2*link (end 0 to end 1) and 2*link+1
 *   team    an ordered group of ports of one box with a rule that picks one of them for each frame: a vSwitch's uplinks,
 *           a bond, a switch LAG, a NAS LAG or switch-independent NAS team. A NIC that carries addresses without any
 *           team gets a team of its own (TOPO_TEAM_SINGLE), so that every interface rides on exactly one team
 *   iface   a layer-3 interface of a box: vmknic, Linux interface, NAS controller interface (one per controller and
 *           subnet, where VIPs of that subnet live), router interface
 *   vip     an address of the NAS; it lives on an iface of its home controller (or of the partner after a takeover)
 *   mount   one host's mount of one datastore, resolved: which VIP, which iface of the host
 *
 * Things refer to each other by index (-1 = none) into the arrays of struct topo, which are in file order after
 * expansion. All memory hangs on the topology and is freed with it. Reading is in topology_file.h.
 */
#ifndef EMU_MODEL_TOPOLOGY_H
#define EMU_MODEL_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/diag.h"
#include "emu/model/units.h"
#include "hashes/policy.h"

/* An IP address: version 0 (none), 4 (first 4 bytes) or 6, network order; `prefix` where one was written. */
struct topo_addr {
    uint8_t version;
    uint8_t prefix;
    uint8_t bytes[16];
};

enum topo_kind { TOPO_ESXI, TOPO_LINUX, TOPO_SWITCH, TOPO_NAS, TOPO_ROUTER };

/* Where a value comes from; the weaker end decides the label of an answer that rests on it. */
enum topo_origin { TOPO_GIVEN, TOPO_DERIVED, TOPO_ASSUMED, TOPO_DRAWN };

/* The VLANs a switch port or LAG passes. NONE: nothing said, one untagged network. */
enum topo_vlan_mode { TOPO_VLAN_NONE, TOPO_VLAN_ACCESS, TOPO_VLAN_TRUNK };
struct topo_vlan {
    enum topo_vlan_mode mode;
    uint16_t access;         /* ACCESS */
    uint16_t native;         /* TRUNK: untagged frames belong to it; 0 = none */
    const uint16_t *allowed; /* TRUNK: those passed */
    size_t n_allowed;
};

struct topo_limit { /* an advanced setting by its real name, e.g. NFS.MaxVolumes */
    const char *name;
    int64_t value;
    struct diag_mark mark;
};

/* One answer of the real box: this flow leaves by this member. Beats every policy. */
struct topo_observed {
    struct topo_addr src, dst;
    uint16_t sport, dport; /* 0 = any */
    int team, port;
    const char *date;
    struct diag_mark mark;
};

/* A NAS that reaches its disks over the file's own links: it opens iSCSI sessions from the addresses that its controllers have
 * in the SAN to every address of each array. */
struct topo_san {
    int svm;            /* the NAS's zone of these addresses, its VIPs */
    const int *members; /* nodes: the arrays, each with an equal part of every group's disks */
    size_t n_members;
};

/* Hosts whose cards cache an array: by the interface through which they reach each other. */
struct topo_host_cache {
    const int *ifaces;
    size_t n;
};

struct topo_node {
    const char *name;
    enum topo_kind kind;
    struct diag_mark mark;
    const char *model;   /* as written, or NULL */
    const char *version; /* ESXi release or Linux kernel, or NULL */
    int first_box, n_boxes;
    const struct topo_limit *limits;
    size_t n_limits;
    /* switch */
    uint32_t mtu;              /* largest frame passed, bytes without FCS; 0 = not said */
    struct hash_selector hash; /* of the whole box; hash.policy NULL = not said */
    int members;               /* chassis in the stack, 1 = a single switch */
    bool local_bias;           /* a stack that prefers members of the ingress chassis */
    const uint16_t *vlans;
    size_t n_vlans;
    int mlag_peer;      /* node, or -1 */
    int mlag_peer_link; /* team of this box towards the peer, or -1 */
    ps_t mac_ageing;    /* 300 s unless said */
    const struct topo_observed *observed;
    size_t n_observed;
    /* nas */
    enum {
        TOPO_INDIRECT_IMPOSSIBLE,
        TOPO_INDIRECT_HOP,
        TOPO_INDIRECT_FREE
    } indirect;                               /* serving over a foreign controller */
    const struct storage_model *storage;      /* long form, or NULL */
    const struct topo_san *san;               /* its back end as links of this file, or NULL */
    const struct topo_host_cache *host_cache; /* hosts with cards before it, or NULL */
};

struct topo_box {
    const char *name; /* "esx1", "stack1", "fs7500:ctl1" */
    const char *part; /* controller name, or NULL */
    int node;
    struct diag_mark mark;
    int first_port, n_ports;
    int takeover; /* partner box that takes the VIPs over, or -1 */
    /* storage behind a NAS (short form), on the first box of the node; 0 = never limiting */
    double limit_read, limit_write; /* bytes/s */
    double limit_iops;
};

struct topo_port {
    const char *name; /* as in `links` after the node: "vmnic2", "ctl1.eth0", "gi1/0/1" */
    const char *full; /* "esx1:vmnic2" */
    int box;
    struct diag_mark mark;
    int link, end;         /* the cable and which end of it, or link -1 */
    int team;              /* team it is a member of, or -1 */
    int chassis;           /* stack member it sits in, from the first number of gi2/0/1; 1 otherwise */
    struct topo_vlan vlan; /* a switch port outside LAGs */
    uint8_t mac[6];
    enum topo_origin mac_origin; /* TOPO_GIVEN, or TOPO_ASSUMED: made up, unique and stable for the name */
};

struct topo_link {
    int port[2];
    struct diag_mark mark;
    bps_t rate;
    ps_t delay;      /* one way */
    uint64_t buffer; /* bytes of queue before each direction; a default stands in the reader, documented */
    double loss;     /* share of frames lost at random, 0 */
    bool down;       /* from the start */
};

enum topo_team_kind {
    TOPO_TEAM_VSWITCH,
    TOPO_TEAM_DVSWITCH,
    TOPO_TEAM_BOND,
    TOPO_TEAM_SWITCH_LAG,
    TOPO_TEAM_NAS_LAG,
    TOPO_TEAM_NAS_TEAM, /* switch-independent: receive by VIP, transmit by policy */
    TOPO_TEAM_SINGLE
};
enum topo_lag_mode { TOPO_LAG_NONE, TOPO_LAG_STATIC, TOPO_LAG_LACP };
enum topo_detect { TOPO_DETECT_LINK, TOPO_DETECT_BEACON };

/* How a frame's port is chosen. A port group may have its own; else it is the team's. */
struct topo_teaming {
    /* esxi-port-id, linux-layer2+3, netapp-ip ...; policy.policy NULL: one port, no choice */
    struct hash_selector policy;
    enum topo_origin policy_origin;       /* ASSUMED: the default of this kind of box stands in */
    const int *active, *standby, *unused; /* port indices, in order */
    size_t n_active, n_standby, n_unused;
    bool failback, notify;
    enum topo_detect detect;
    struct diag_mark mark;
};

struct topo_team {
    const char *name;
    enum topo_team_kind kind;
    int box;
    struct diag_mark mark;
    const int *ports; /* members in order; for a switch LAG this side's port order unless `members:` says otherwise */
    size_t n_ports;
    struct topo_teaming teaming;
    enum topo_lag_mode mode;
    bool lacp_fast;
    uint32_t mtu;          /* IP MTU of the virtual switch; 0 = not said */
    int peer_team;         /* the team at the other end of the same cables, or -1 */
    struct topo_vlan vlan; /* switch LAG */
    uint8_t mac[6];        /* bonds and NAS LAGs: one MAC for all */
    enum topo_origin mac_origin;
    ps_t link_down_delay; /* from loss of link to leaving it */
    ps_t learning;        /* NAS team: each NIC sends a learning frame this often; 0 = off */
};

struct topo_iface {
    const char *name; /* vmk1, vmbr0.50, eth0 */
    int box, team;
    const struct topo_teaming *teaming; /* the one in force: port group's or team's */
    const char *portgroup;              /* or NULL */
    struct diag_mark mark;
    uint16_t vlan;         /* tag on the wire of the host side, 0 = untagged */
    uint32_t mtu;          /* IP MTU */
    struct topo_addr addr; /* version 0 for a NAS controller's iface: its addresses are the VIPs */
    struct topo_addr gateway;
    uint8_t mac[6];
    enum topo_origin mac_origin;
    uint32_t port_id; /* virtual port of a vmknic */
    enum topo_origin port_id_origin;
    bool management; /* carries the host's management address */
    unsigned weight; /* order of creation, first = 0 */
};

struct topo_vip {
    const char *name; /* DNS name, or NULL */
    const char *text; /* the address as text without prefix */
    struct topo_addr addr;
    int node, svm;        /* svm: ordinal within the node, -1 when VIPs stand on the NAS itself */
    const char *svm_name; /* NULL there */
    int home;             /* box */
    int iface;            /* iface of the home box */
    int ordinal; /* 0, 1, ... among the VIPs of its home controller: NIC = ordinal mod NICs where receive is per VIP */
    bool up;
    uint8_t mac[6]; /* only where given or owned by the VIP (mac_origin GIVEN); else that of iface/NIC */
    enum topo_origin mac_origin;
    struct diag_mark mark;
};

struct topo_export {
    const char *path;
    int node, svm;
    int owner; /* box, or -1: any controller serves it directly */
    struct diag_mark mark;
};

enum topo_nfs { TOPO_NFS3, TOPO_NFS41, TOPO_NFS42 };

struct topo_datastore {
    const char *name;
    int export_;
    enum topo_nfs nfs;
    bool iscsi;                       /* `protocol: iscsi`: a volume of an array; `nfs` is then of no meaning */
    const char *server;               /* `server:` a name of its own, or NULL */
    unsigned nconnect;                /* 1; of hosts that say nothing else */
    bool per_host;                    /* identity: per-host */
    double weight_read, weight_write; /* shares (1), or bytes/s when weight_is_rate */
    bool weight_given, weight_is_rate;
    bool exclusive;
    const char *apart; /* group name, or NULL */
    unsigned vms;
    const char *const *holds; /* vcenter, dns */
    size_t n_holds;
    int pin, wish; /* VIP or -1: `pin:` must, `vip:` what a new site wants */
    struct diag_mark mark;
    const int
        *hosts; /* boxes that mount it, or will: without `mounted`, `pin` and `vip` (a new site) it has no mounts */
    size_t n_hosts;
    const int *bound; /* for each of hosts[] the interface that its mount is bound to, or -1; NULL: none is bound */
    int first_mount, n_mounts;
};

/* What an ESXi host does not mount, in the order of the file: more than its NFS.MaxVolumes, or one whose connection finds no room in the
 * TCP/IP heap and no other to share. */
enum topo_refusal { TOPO_MOUNTED, TOPO_OVER_VOLUMES, TOPO_OVER_HEAP };

/* One host's mount of a datastore. Mounts of one datastore are contiguous, in order of hosts. */
struct topo_mount {
    int datastore, host;           /* host: box */
    const char *server;            /* the string exactly as mounted, or the VIP's text for a new site */
    const char *path;              /* the path exactly as mounted */
    int vip;                       /* -1: cannot be resolved (an error was reported) */
    int iface;                     /* of the host; -1: no route */
    enum topo_origin iface_origin; /* GIVEN: bound to it; ASSUMED: several interfaces in that subnet */
    bool bound;                    /* `vmknic:`; else routing picks the interface */
    int gateway_iface;             /* router's iface on the host's side for a routed VIP, or -1 */
    unsigned asked;                /* nconnect as this host asks for it */
    unsigned nconnect;             /* connections of its own; 0: shares those of an earlier mount */
    int shares_with;               /* mount whose connections it uses, or -1 */
    enum topo_refusal refused;     /* then it has no connections at all */
    const int *vips;               /* NFS 4.1 `servers:`, session trunking; NULL otherwise */
    size_t n_vips;
    struct diag_mark mark;
};

enum topo_op { TOPO_READ, TOPO_WRITE, TOPO_MIXED, TOPO_CLONE };
struct topo_workload {
    const char *name;
    const int *mounts; /* one job each; of a clone in pairs: where it reads, where it writes */
    size_t n_mounts;
    enum topo_op op;
    double read_share; /* TOPO_MIXED */
    bool sequential;
    uint64_t block;            /* bytes */
    unsigned outstanding;      /* per mount */
    uint64_t window;           /* bytes of a stream that the storage sees asked for at a time */
    bool by_chance;            /* the gaps of a rate are drawn, exponentially distributed; else they are equal */
    double rate;               /* bytes/s per mount, 0 = as fast as it goes */
    double iops;               /* per mount, 0 = as fast as it goes */
    ps_t start, duration;      /* duration 0: by bytes */
    uint64_t bytes;            /* per mount, 0: by duration */
    bool stable_given, stable; /* file-sync writes, else unstable + COMMIT; not given: see topo_stable() */
    bool synthetic;            /* made by default because the file has none */
    int vm_group;              /* it stands for these machines: block, outstanding and pattern say nothing; -1: none */
    struct diag_mark mark;
};

/* A phase in the life of a virtual machine: vm.h says what comes of it. */
struct topo_vm_phase {
    const char *name;
    double share;         /* of the machines that go through it */
    double iops;          /* > 0: open; per machine */
    uint64_t operations;  /* ends when so many have ended; 0: by length */
    ps_t length;          /* 0: by operations, or endless */
    ps_t think;           /* closed: after each burst */
    uint32_t burst;       /* closed: operations between two pauses; UINT32_MAX: there are none */
    uint32_t outstanding; /* at a time; closed: at least 1; open: 0 = no limit; 0 and no iops: idle */
    double read_share;
    uint32_t read_block, write_block; /* bytes */
    bool even;                        /* times between operations are constant, else exponential */
};

/* Virtual machines of one kind: their operations go to their mounts as a workload of the same name. */
struct topo_vm_group {
    const char *name;
    int workload;      /* that stands for it: its mounts are those of all machines */
    const int *mounts; /* per machine: the place of its mount among the workload's; machines in turn over hosts */
    uint32_t n_vms;
    ps_t start, length; /* length 0: until all machines are through */
    double rate;        /* starts a second; 0: all at once */
    uint32_t at_most;   /* machines that have started and are not through with phase `until` at a time; 0: no limit */
    unsigned until;     /* phase */
    const struct topo_vm_phase *phases;
    size_t n_phases;
};

enum topo_event_what {
    TOPO_EV_LINK_STATE, /* up, down, blackhole, one-way */
    TOPO_EV_LINK_RATE,
    TOPO_EV_LINK_DELAY,
    TOPO_EV_LINK_LOSS,
    TOPO_EV_VIP_MOVE, /* to box, with or without gratuitous ARP */
    TOPO_EV_VIP_STATE,
    TOPO_EV_BOX_STATE
};
enum topo_link_state { TOPO_LINK_UP, TOPO_LINK_DOWN, TOPO_LINK_BLACKHOLE, TOPO_LINK_ONE_WAY };
struct topo_event {
    ps_t at;
    enum topo_event_what what;
    int link, from_end; /* from_end: the port named in the event: one-way loses what that end sends */
    enum topo_link_state state;
    bps_t rate;
    ps_t delay;
    double loss;
    int vip, box;
    bool garp, up;
    struct diag_mark mark;
};

struct topo_background {
    int linkdir;
    double share; /* of the link's rate */
    struct diag_mark mark;
};

struct topo_allow {
    const char *id, *reason;
    struct diag_mark mark;
};

struct topo_expect {
    const char *figure, *value; /* value: CASE.METRIC[selector] arithmetic, see expect.h */
    double near, within;        /* within as a fraction; 0 with `exact` */
    bool exact;
    double min, max;   /* instead of near: NaN = none */
    const char *basis; /* stated, axis, inferred, derived */
    const char *note;
    const char *not_claimed; /* why it is not judged; NULL: it is */
    const int *calibrated;   /* inputs (below) that were fitted to it */
    size_t n_calibrated;
    struct diag_mark mark;
};

/* A number of the file that no document states, by its places in the expanded tree. */
struct topo_input {
    const char *name;
    const char *const *at; /* "workloads/clone/bytes" */
    size_t n_at;
    const char *basis;     /* assumed, datasheet, calibrated */
    const char *fitted_to; /* where calibrated */
    const char *note;      /* or NULL */
    struct diag_mark mark;
};

/* TCP and NFS knobs of a host kind; from `tcp:`/`nfs:` of a node where given. */
struct topo_stack {
    const char *congestion; /* "cubic" or "reno" */
    bool timestamps;
    uint64_t send_buffer, receive_buffer; /* bytes */
    uint64_t rsize, wsize;
    bool stable; /* writes are file-sync */
};

struct topo {
    const char *file, *name, *title;
    const char *case_name; /* NULL: the file without any case */
    // clang-format off
    struct topo_node *nodes;           size_t n_nodes;
    struct topo_box *boxes;            size_t n_boxes;
    struct topo_port *ports;           size_t n_ports;
    struct topo_link *links;           size_t n_links;
    struct topo_team *teams;           size_t n_teams;
    struct topo_iface *ifaces;         size_t n_ifaces;
    struct topo_vip *vips;             size_t n_vips;
    struct topo_export *exports;       size_t n_exports;
    struct topo_datastore *datastores; size_t n_datastores;
    struct topo_mount *mounts;         size_t n_mounts;
    struct topo_workload *workloads;   size_t n_workloads;
    struct topo_event *events;         size_t n_events;
    struct topo_background *background; size_t n_background;
    struct topo_allow *allows;         size_t n_allows;
    struct topo_expect *expects;       size_t n_expects; /* of the whole file: they may compare cases */
    struct topo_vm_group *vm_groups;   size_t n_vm_groups;
    struct topo_input *inputs;         size_t n_inputs;
    // clang-format on
    struct topo_stack *stacks;        /* one per box */
    const char *detail;               /* what the file wants moved: fluid, train, frame; NULL: it does not say */
    ps_t raise_until;                 /* the load is raised until the mean response is this; 0: it is as it is */
    double images;                    /* of the file's amounts, see topology_images.h; 0: all */
    bool network_only;                /* no `storage:` anywhere: storage never limits */
    const char *const *linkdir_names; /* private: see topo_linkdir_name() */
    struct topo_arena *arena;         /* private: owns all of the above */
};

/* Name of a link direction, "esx1:vmnic2>pc7048:ge1", in the topology's memory. linkdir = 2*link + sending end. */
const char *topo_linkdir_name(const struct topo *t, int linkdir);
static inline int topo_linkdir_from(const struct topo *t, int linkdir)
{
    return t->links[linkdir / 2].port[linkdir & 1];
}
static inline int topo_linkdir_to(const struct topo *t, int linkdir)
{
    return t->links[linkdir / 2].port[!(linkdir & 1)];
}
/* The direction that leaves by this port, or -1 when it has no cable. */
static inline int topo_port_out(const struct topo *t, int port)
{
    return t->ports[port].link < 0 ? -1 : 2 * t->ports[port].link + t->ports[port].end;
}

/* NFS.MaxVolumes or NFS41.MaxVolumes of an ESXi host; where the file gives none, of NFS 3 8 up to release 5.5 and 32 from then on, else 0:
 * not known. */
unsigned topo_max_volumes(const struct topo_node *node, bool nfs3, bool *given);

/* Bytes that Net.TcpipHeapMax leaves the TCP/IP stack of an ESXi host; where the file gives none, 64 MB in 5.0 and 5.1, else 0: no limit
 * known. */
uint64_t topo_heap(const struct topo_node *node, bool *given);

/* SunRPC.MaxConnPerIP of an ESXi host; where the file gives none, 4 in releases before 7.0, 32 from then on. */
unsigned topo_connections_per_ip(const struct topo_node *node, bool *given);

/* Whether a host's writes of a workload are file-sync: as the workload says, else as the host does. */
static inline bool topo_stable(const struct topo *t, const struct topo_workload *w, int host)
{
    return w->stable_given ? w->stable : t->stacks[host].stable;
}

int topo_find_box(const struct topo *t, const char *name);  /* "esx1", "fs7500:ctl1"; -1 */
int topo_find_port(const struct topo *t, const char *full); /* "esx1:vmnic2"; -1 */
int topo_find_datastore(const struct topo *t, const char *name);
int topo_find_vip(const struct topo *t, const struct topo_addr *addr); /* by address; -1 */
int topo_find_iface(const struct topo *t, int box, const char *name);  /* "vmk1" of a host; -1 */

/* Whether a host can bind mounts of this version to an interface: ESXi does with NFS 3 since 8.0 U1, with NFS 4.1 since 8.0 U3. One
 * that gives no release can. */
bool topo_can_bind(const struct topo_node *host, enum topo_nfs nfs);

/* The interface that a datastore's mount on a host (box) is bound to, or -1. */
int topo_bound_iface(const struct topo *t, int datastore, int host);

/* How a host with the interfaces first, first + 1 .. first + n - 1 reaches an address: by the connected route, the first created
 * where several are in the subnet (*several), else -1; then *routed is its first interface with a gateway of that version, or -1. */
int topo_route(const struct topo *t, int first, int n, const struct topo_addr *to, bool *several, int *routed);

bool topo_addr_parse(struct topo_addr *a, const char *text); /* "10.1.2.3/24", "fd00::1"; false if it is none */
char *topo_addr_print(char *buf, size_t size, const struct topo_addr *a, bool prefix);
bool topo_addr_equal(const struct topo_addr *a, const struct topo_addr *b); /* prefix does not count */
bool topo_addr_same_subnet(const struct topo_addr *a, const struct topo_addr *b, unsigned prefix);

#endif
