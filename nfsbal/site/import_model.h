/* The facts of an import, between its readers (import_*.c), the join and the writer. Private to nfsbal/site/import*.c.
 *
 * Everything lives in one arena and hangs in lists in the order of appearance. Texts are as the devices print them; NULL and 0
 * mean that no input has said it.
 */
#ifndef NFSBAL_SITE_IMPORT_MODEL_H
#define NFSBAL_SITE_IMPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "emu/model/diag.h"
#include "emu/model/topology_arena.h"

struct import_words {
    const char **items;
    size_t n, room;
};

/* A list that remembers its end. */
#define IMPORT_LIST(type) \
    struct {              \
        type *first;      \
        type **end;       \
    }

struct import_nic {
    struct import_nic *next;
    const char *name, *mac, *owner;           /* owner: node of a NAS, or NULL */
    const char *peer, *peer_port, *peer_type; /* neighbour's name, its port, its product */
    unsigned long mbps;
    unsigned mtu;
    /* join: */
    bool used;                 /* it carries an address of interest */
    struct import_device *far; /* what is at the other end, and which port */
    const char *far_port;      /* as the file calls it, on a NAS with the controller */
    bool far_assumed;          /* nothing said it */
    bool from_far;             /* the other end prints the cable */
};

enum import_team_kind { IMPORT_VSWITCH, IMPORT_DVSWITCH, IMPORT_BOND, IMPORT_BRIDGE, IMPORT_CHANNEL };

struct import_team {
    struct import_team *next;
    enum import_team_kind kind;
    const char *name, *owner;
    struct import_words members; /* uplinks, slaves, ports; in order */
    struct import_words standby, unused;
    const char *policy; /* teaming or hash, as the topology file calls it */
    const char *mode;   /* bonds: as the file calls it; LAGs and channels: static or lacp */
    const char *lag;    /* name of the LACP LAG of a distributed switch */
    const char *primary, *lacp_rate, *mac, *detection, *failback, *notify;
    unsigned mtu;
    /* join: */
    bool used;
    const struct import_device *to_device; /* channels: the team at the other end */
    const struct import_team *to_team;
    bool derived;      /* channels: no input has it, its other end needs it */
    bool to_assumed;   /* channels: paired by mode and number of ports */
    bool mode_assumed; /* of a NAS */
};

struct import_portgroup {
    struct import_portgroup *next;
    const char *name, *vswitch;
    bool vlan_known;
    unsigned vlan;
    const char *policy; /* its own, over the switch's */
    bool own_order;
    struct import_words active, standby, unused;
};

struct import_iface {
    struct import_iface *next;
    const char *name, *owner, *parent; /* vSwitch, bond, bridge, NIC or interface beneath */
    const char *portgroup, *mac;
    const char *bare;              /* an address that waits for its netmask */
    struct import_words addresses; /* with prefix */
    const char *gateway;
    bool vlan_known, management, management_known;
    unsigned vlan, mtu;
    bool distributed; /* on a distributed switch */
    /* join: */
    bool used;
    struct import_team *team; /* beneath, or NULL */
    struct import_nic *nic;   /* beneath, where there is no team */
};

struct import_mount {
    struct import_mount *next;
    const char *name, *server, *path, *version;
    const char *address; /* what the server's name meant, where the input says it */
    unsigned nconnect;
    struct import_words servers; /* NFS 4.1 with several: all of them, `server` is the first */
    bool configured;             /* storage.cfg, fstab: not seen mounted */
};

struct import_vip {
    struct import_vip *next;
    const char *name, *address, *node, *port, *svm; /* address with prefix */
    bool down, nfs, not_nfs;
    /* join: */
    bool used;
    struct import_team *team; /* of its home */
    struct import_nic *nic;
    unsigned vlan, mtu;
    struct import_words dns; /* names by which it is mounted */
    bool mounted;
};

struct import_export {
    struct import_export *next;
    const char *path, *owner, *svm, *volume, *aggregate;
};

struct import_pair { /* of texts: advanced settings, aggregates and their nodes, takeover partners */
    struct import_pair *next;
    const char *key, *value;
};

enum import_kind { IMPORT_UNKNOWN, IMPORT_ESXI, IMPORT_LINUX, IMPORT_SWITCH, IMPORT_NAS };

struct import_device {
    struct import_device *next;
    const char *name; /* of the folder, or the neighbour's */
    const char *node; /* join: name in the file */
    enum import_kind kind;
    bool ontap, truenas, has_folder, stand_in;
    const char *model, *version;
    const char *hash; /* switch */
    unsigned mtu;     /* switch */
    unsigned members; /* switch: of the stack, as ports tell */
    bool channels_known;
    IMPORT_LIST(struct import_nic) nics;
    IMPORT_LIST(struct import_team) teams;
    IMPORT_LIST(struct import_portgroup) portgroups;
    IMPORT_LIST(struct import_iface) ifaces;
    IMPORT_LIST(struct import_mount) mounts;
    IMPORT_LIST(struct import_vip) vips;
    IMPORT_LIST(struct import_export) exports;
    IMPORT_LIST(struct import_pair) limits, aggregates, partners, gateways;
    struct import_words nodes; /* of a NAS */
    /* join: */
    struct import_device *mlag;  /* the other of a pair */
    struct import_device *reach; /* a switch that this one is connected with, towards the first */
    bool mlag_first, used;
    unsigned vlans[64]; /* of a switch */
    size_t n_vlans;
};

struct import_connection {
    struct import_connection *next;
    const struct import_device *device;
    const char *local, *remote; /* addresses; the remote port is 2049 */
    unsigned sport;
};

/* A cable between switches that no input tells of. */
struct import_trunk {
    struct import_trunk *next;
    struct import_device *a, *b;
    const char *a_port, *b_port;
    bool peer_link;
};

/* How one host mounts a datastore. */
struct import_use {
    struct import_use *next;
    const struct import_device *host;
    const struct import_mount *mount;
    struct import_vip *vip; /* NULL: the server's address isn't known */
    bool routed;            /* the host has no interface in the VIP's subnet */
};

struct import_datastore {
    struct import_datastore *next;
    const char *name;
    struct import_device *nas;
    const char *svm, *path; /* of the export */
    const char *nfs;        /* 3, 4.1 or 4.2 */
    IMPORT_LIST(struct import_use) uses;
};

struct import {
    struct topo_arena *arena;
    IMPORT_LIST(struct import_device) devices;
    IMPORT_LIST(struct import_pair) names; /* host name, address */
    IMPORT_LIST(struct import_connection) connections;
    size_t understood; /* outputs */
    /* join: */
    IMPORT_LIST(struct import_trunk) trunks;
    IMPORT_LIST(struct import_datastore) datastores;
    bool vlans; /* somebody tags */
};

/* What a reader is given. */
struct import_input {
    struct import *m;
    struct import_device *device;
    const char *command;    /* what printed it, or the file's name */
    const char *text, *end; /* text is NUL-terminated */
    struct diag *d;
    int line; /* of the file, before the text */
};

/* Adds an element to a list; it is zeroed. */
void *import_add(struct import *m, void *list, size_t size);
#define IMPORT_ADD(m, list, type) ((type *)import_add((m), (list), sizeof(type)))

struct import_device *import_device(struct import *m, const char *name); /* found, or made */
struct import_nic *import_nic(struct import *m, struct import_device *d, const char *owner, const char *name);
struct import_nic *import_find_nic(const struct import_device *d, const char *owner, const char *name); /* or NULL */
struct import_team *import_team(struct import *m, struct import_device *d, const char *owner, const char *name,
                                enum import_team_kind kind);
struct import_team *import_find_team(const struct import_device *d, const char *owner, const char *name);
struct import_portgroup *import_portgroup(struct import *m, struct import_device *d, const char *name);
struct import_iface *import_iface(struct import *m, struct import_device *d, const char *name);
struct import_iface *import_find_iface(const struct import_device *d, const char *name);

void import_word(struct import *m, struct import_words *w, const char *text); /* once */
bool import_has(const struct import_words *w, const char *text);
/* Words between commas and blanks. */
void import_split(struct import *m, struct import_words *w, const char *text);
const char *import_copy(struct import *m, const char *text, size_t length);
bool import_address(const char *text);                                               /* without prefix */
const char *import_cidr(struct import *m, const char *address, const char *netmask); /* NULL: no address */
unsigned import_number(const char *text);                                            /* 0 where there is none */
void import_warn(const struct import_input *in, const char *format, ...) __attribute__((format(printf, 2, 3)));
void import_error(const struct import_input *in, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- records: the same for JSON, tables and "Key: value" ---- */

struct import_record {
    struct import_record *next;
    struct import_field {
        struct import_field *next;
        const char *key; /* letters and digits, lower case */
        const char *value;
    } * fields, **end;
};

/* All records of an output; NULL when there is none, with an error when it is broken. */
struct import_record *import_records(const struct import_input *in);
/* The value of the first of these keys ("host|hosts") that has one, or NULL: not there, empty, "-" or N/A. */
const char *import_get(const struct import_record *r, const char *keys);
/* The value of a key behind a field, for those that come several times. */
const struct import_field *import_next(const struct import_field *from, const char *key);

/* ---- readers ---- */

typedef void import_reader(const struct import_input *in);

struct import_row {
    const char *name;    /* words of the command or file, joined by "-"; NULL ends the table */
    const char *content; /* or what such an output has in it, where its name tells nothing; may be NULL */
    import_reader *read;
};

extern const struct import_row import_esxi_rows[], import_linux_rows[], import_nas_rows[], import_switch_rows[];

/* ---- join: import_join.c (the whole), import_cables.c, import_mounts.c ---- */

void import_join(struct import *m);

/* A NAS of which only the paths, or the addresses, are known. */
struct import_device *import_stand_in_nas(struct import *m, const char *name);
/* Devices that are no node of the file: nothing that matters is known of them. */
bool import_is_node(const struct import_device *d);
bool import_is_host(const struct import_device *d);

/* The servers of a mount, mostly one: i = 0, 1, ... until NULL. */
const char *import_server(const struct import_mount *mount, size_t i);
/* The address that a server's name means, itself when it is one, or NULL. */
const char *import_resolve(const struct import *m, const char *server);
struct import_vip *import_find_vip(const struct import *m, const char *address, struct import_device **nas);
/* The interface of a host in the subnet of an address, or NULL. */
struct import_iface *import_connected(const struct import_device *host, const char *address);
bool import_same_subnet(const char *cidr, const char *address);

void import_join_servers(struct import *m);    /* which addresses are VIPs, of what */
void import_join_used(struct import *m);       /* which interfaces, teams and NICs matter */
void import_join_cables(struct import *m);     /* neighbours, port channels, what is between switches */
void import_join_datastores(struct import *m); /* who mounts what from where */

/* A LAG that this team needs at the switch: static, lacp, or NULL. */
const char *import_needs_lag(const struct import_device *d, const struct import_team *t);
/* The untagged VLAN of a subnet, 0: unknown. */
unsigned import_vlan_of(const struct import *m, const char *cidr);

/* ---- names, shared by join and write ---- */

/* "GigabitEthernet1/0/1" as the file calls it, "gi1/0/1". */
const char *import_port_name(struct import *m, const char *text);
/* A name that the file can hold: blanks and what it can't have become "_". */
const char *import_name(struct import *m, const char *text);
/* A neighbour's name: without domain and serial number, lower case kept as it is. */
const char *import_host_name(struct import *m, const char *text);

#endif
