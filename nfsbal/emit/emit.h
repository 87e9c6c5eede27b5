/* Mounts of a topology in the formats of the tools that mount them, and what switches and NAS need for them.
 *
 * What is printed adds and never removes: no format unmounts, replaces or deletes. Each format takes the mounts of its own kind
 * of hosts (ESXi or Linux) and leaves the others out.
 */
#ifndef NFSBAL_EMIT_EMIT_H
#define NFSBAL_EMIT_EMIT_H

#include <stddef.h>
#include <stdio.h>

#include "emu/model/topology.h"

enum emit_format {
    EMIT_ESXCLI,         /* a script for ESXi hosts */
    EMIT_POWERCLI,       /* a script for vCenter */
    EMIT_FSTAB,          /* lines for one Linux host */
    EMIT_SYSTEMD,        /* units for one Linux host */
    EMIT_NFSBAL_FSTAB,   /* lines for one Linux host that mounts with `nfsbal mount` */
    EMIT_NFSBAL_SYSTEMD, /* units for it */
    EMIT_PROXMOX,        /* entries of storage.cfg */
    EMIT_ANSIBLE,        /* a playbook */
    EMIT_HOSTS,          /* lines of a hosts file */
    EMIT_ZONE,           /* records of a DNS zone */
    EMIT_GOVC,           /* a script for vCenter or one ESXi host */
    EMIT_TERRAFORM,      /* resources of the vSphere provider */
    EMIT_AUTOFS,         /* a direct map for one Linux host */
    EMIT_LIBVIRT,        /* storage pools for one Linux host */
    EMIT_KUBERNETES,     /* persistent volumes */
    EMIT_SWITCH,         /* ports and LAGs towards the hosts, for the switches */
    EMIT_NAS,            /* VIPs, for the NAS */
    EMIT_FORMATS
};
extern const char *const emit_format_names[EMIT_FORMATS + 1]; /* NULL at the end, as option choices want it */

struct emit {
    const struct topo *t;
    enum emit_format format;
    int host; /* only this box; -1: all */
};

/* Prints everything, or nothing and says why in `problem` (false): no such mounts, a name that the format can't hold, hosts that
 * one file can't serve. */
bool emit_print(const struct emit *e, FILE *out, char *problem, size_t size);

/* A script that unmounts one datastore from ESXi hosts, where it is mounted as `mounts` say (all of that datastore), no VM is
 * registered on it and no file open; else it does nothing. What is in `mounts` can be quoted (quote_possible()). */
void emit_unmount(FILE *out, const struct topo *t, const struct topo_mount *const *mounts, size_t n);

#endif
