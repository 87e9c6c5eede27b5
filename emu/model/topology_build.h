/* Private to the reader: from the expanded and checked tree to struct topo.
 *
 * Theory of operation. The steps run in this order, each over the whole tree, so that a reference always meets what it
 * refers to: nodes and boxes; ports (what hosts and NAS declare, and what cables name on switches), laid out box by box;
 * cables; teams of hosts and NAS; LAGs of switches with their peers; interfaces; VIPs and exports; datastores and mounts;
 * workloads, events and the rest. A wrong reference is reported and skipped, so that one pass finds several; struct topo
 * is given out only when nothing was wrong.
 *
 * The values have been held against the schema before, so the getters here don't report.
 */
#ifndef EMU_MODEL_TOPOLOGY_BUILD_H
#define EMU_MODEL_TOPOLOGY_BUILD_H

#include "emu/model/doc.h"
#include "emu/model/schema.h"
#include "emu/model/topology.h"

struct build_port {
    const char *name, *full; /* scratch memory until laid out */
    int box;
    struct diag_mark mark;
    const char *mac; /* as written, or NULL */
    int link, end;
    int place; /* index after the layout */
};

struct build {
    struct topo *t;
    struct topo_arena *arena;   /* the topology's */
    struct topo_arena *scratch; /* freed after the build */
    struct schema_report *report;
    const struct doc_node *root, *case_; /* case_: the entry of `cases`, or NULL */
    const struct doc_node **docs;        /* per node */
    const struct doc_node **part_docs;   /* per box: the controller's map, or NULL */
    struct build_port *raw_ports;
    size_t n_raw_ports, raw_capacity;
    struct name_table nodes, boxes, ports, teams, vips, vip_names, exports, ambiguous, datastores, macs;
    size_t nodes_capacity, boxes_capacity, teams_capacity, ifaces_capacity, vips_capacity, exports_capacity;
    int *only_team;                   /* per box of a NAS: the team VIPs ride on where they don't say, or -1 */
    bool *several_teams;              /* ... there are several to choose from */
    uint8_t known_vlans[512];         /* bits: of the switch that is being read */
    const struct doc_pair **vip_docs; /* per VIP */
    size_t vip_docs_capacity;
    size_t n_jobs; /* of all workloads */
};

/* topology_build.c: values */
const char *build_string(struct build *b, const char *text);                          /* in the topology's memory */
const char *build_text(struct build *b, const struct doc_node *map, const char *key); /* same, or NULL */
const char *build_word(const struct doc_node *map, const char *key);                  /* the tree's own, or NULL */
bool build_bool(const struct doc_node *map, const char *key, bool missing);
long long build_integer(const struct doc_node *map, const char *key, long long missing);
bps_t build_rate(const struct doc_node *map, const char *key, bps_t missing);
uint64_t build_size(const struct doc_node *map, const char *key, uint64_t missing);
ps_t build_time(const struct doc_node *map, const char *key, ps_t missing);
double build_real(const struct doc_node *map, const char *key,
                  double missing); /* a count, percentage, bytes/s, or time (as seconds) */
struct diag_mark build_mark(const struct doc_node *map, const char *key); /* of the value, else of the key */
/* A policy: name, {policy: NAME, SETTING: VALUE} or {unknown: [fields]}. False after an error. */
bool build_hash(struct build *b, const struct doc_node *node, const char *prefix, struct hash_selector *out);
/* The vendor that policy names are looked up with: the first word of the model. */
const char *build_vendor(struct build *b, const char *model);
void build_any_hash(struct hash_selector *out); /* nothing known: every field may count */
/* A MAC address: as written, or made up from the name. */
enum topo_origin build_mac(struct build *b, const char *written, const char *full_name, uint8_t mac[6]);
/* Reports a name that is not there, with the nearest of `table`; `what` is "port", "team" ... */
void build_dangling(struct build *b, struct diag_mark mark, const char *what, const char *name,
                    const struct name_table *table);
int build_by_number(const void *left, const void *right); /* of int, for qsort() and bsearch() */
int build_natural_order(const char *a, const char *b);    /* like strcmp, runs of digits as numbers */

/* The steps. */
void build_nodes(struct build *b);           /* topology_build_nodes.c */
void build_ports_and_links(struct build *b); /* topology_build_ports.c */
void build_teams(struct build *b);           /* topology_build_teams.c: hosts, routers, NAS */
void build_switches(struct build *b);        /* topology_build_switch.c: LAGs, VLANs, MLAG, observed */
void build_interfaces(struct build *b);      /* topology_build_ifaces.c: hosts and routers */
void build_nas(struct build *b);             /* topology_build_nas.c: VIPs, exports, their interfaces */
void build_storage_links(struct build *b);   /* topology_build_san.c: back ends that are drawn */
void build_datastores(struct build *b);      /* topology_build_mounts.c */
void build_runs(struct build *b);            /* topology_build_runs.c: workloads, events, expectations */

void build_vm_groups(struct build *b, const struct doc_node *groups); /* topology_build_vms.c; part of build_runs() */

/* topology_build_runs.c: the mounts that `host`, `hosts` and `datastores` of a workload or group name, in order of datastores,
 * then hosts. */
void build_workload_mounts(struct build *b, struct topo_workload *w, const struct doc_node *doc);

/* topology_build_ports.c: the device beneath a Linux interface. False after an error, which is reported once. */
struct build_lower {
    const char *name; /* of the bond or NIC */
    bool bond;
    uint16_t vlan;
    uint32_t mtu;
    const char *mac; /* as written on the way, or NULL */
};
bool build_lower(struct build *b, const struct doc_node *node, const char *name, struct diag_mark mark,
                 struct build_lower *out);

/* topology_build_teams.c: the team of a NAS controller that a VIP rides on, by `port:` or the only one. -1 when there is none;
 * reported when `mark` is given. */
int build_nas_team(struct build *b, int box, const char *on, const struct diag_mark *mark);

/* The teaming in force for a port group: its own over that of its switch, or the switch's. Teams must be complete. */
const struct topo_teaming *build_portgroup_teaming(struct build *b, int team, const struct doc_node *portgroup);

/* The name of a file that gives none: its own, without folder and ending. */
const char *topo_file_stem(struct topo_arena *a, const char *file);

/* The topology of the tree, or NULL with errors in the report. */
struct topo *topo_build(const struct doc_node *root, const struct doc_node *case_, const char *file,
                        const char *case_name, struct schema_report *report);

#endif
