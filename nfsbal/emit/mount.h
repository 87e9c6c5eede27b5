/* The command by which a host mounts a datastore. */
#ifndef NFSBAL_EMIT_MOUNT_H
#define NFSBAL_EMIT_MOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/model/topology.h"

bool emit_is_esxi(const struct topo *t, int host);

/* What stands before the path: the server as it is mounted; with session trunking all addresses, divided by commas. */
char *emit_server(const struct topo *t, const struct topo_mount *m, char *buf, size_t size);

/* The same of a mount that is bound to an interface, "10.0.0.101:vmk2". That esxcli's -I takes it so is not in a public document of
 * VMware's; NFS 4.1's form in the vSphere API is this one. */
char *emit_bound_server(const struct topo *t, const struct topo_mount *m, char *buf, size_t size);

/* Neither is bound, or both to interfaces of one name. */
bool emit_same_binding(const struct topo *t, const struct topo_mount *a, const struct topo_mount *b);

/* "nas1:/ds01", "[fd00::1]:/ds01": what Linux mounts. */
char *emit_source(const struct topo *t, const struct topo_mount *m, char *buf, size_t size);

/* "vers=3,nconnect=4" */
char *emit_options(const struct topo *t, const struct topo_mount *m, char *buf, size_t size);

/* Where Linux mounts it: /mnt/NAME. */
char *emit_target(const struct topo *t, const struct topo_mount *m, char *buf, size_t size);

/* esxcli or mount, quoted for a shell, without a newline. */
void emit_command(FILE *out, const struct topo *t, const struct topo_mount *m);

#endif
