/* What the formats share: private to nfsbal/emit. */
#ifndef NFSBAL_EMIT_EMIT_PRIVATE_H
#define NFSBAL_EMIT_EMIT_PRIVATE_H

#include "nfsbal/emit/emit.h"

enum { EMIT_TEXT = 1024 };

/* The next mount from *at on that the format is for, or NULL; *at is then behind it. */
const struct topo_mount *emit_next(const struct emit *e, size_t *at);

/* The hosts of two mounts are written the same: server, path, options. */
bool emit_same(const struct topo *t, const struct topo_mount *a, const struct topo_mount *b);

/* Printers. Called when everything can be written. */
void emit_esxcli(const struct emit *e, FILE *out);
void emit_powercli(const struct emit *e, FILE *out);
void emit_fstab(const struct emit *e, FILE *out);
void emit_systemd(const struct emit *e, FILE *out);
void emit_nfsbal_fstab(const struct emit *e, FILE *out);
void emit_nfsbal_systemd(const struct emit *e, FILE *out);
void emit_proxmox(const struct emit *e, FILE *out);
void emit_ansible(const struct emit *e, FILE *out);
void emit_hosts(const struct emit *e, FILE *out);
void emit_zone(const struct emit *e, FILE *out);
void emit_govc(const struct emit *e, FILE *out);
void emit_terraform(const struct emit *e, FILE *out);
void emit_autofs(const struct emit *e, FILE *out);
void emit_libvirt(const struct emit *e, FILE *out);
void emit_kubernetes(const struct emit *e, FILE *out);
void emit_switch(const struct emit *e, FILE *out);
void emit_nas(const struct emit *e, FILE *out);

/* These two are not about mounts: true, or false with the reason why they can't be printed. */
bool emit_switch_possible(const struct emit *e, char *problem, size_t size);
bool emit_nas_possible(const struct emit *e, char *problem, size_t size);

/* A shell function for ESXi: find_state KIND SERVER PATH NAME sets state to missing, same, or other where the name is taken. */
void emit_find_state(FILE *out);

/* The name by which a mount is mounted, or NULL where that is an address. */
const char *emit_name(const struct topo_mount *m);

#endif
