/* The commands of `nfsbal` that speak NFS; a minimal build has none of them. */
#ifndef NFSBAL_NFS_COMMANDS_H
#define NFSBAL_NFS_COMMANDS_H

int command_copy(int argc, char **argv);
int command_doctor(int argc, char **argv);
int command_load(int argc, char **argv);
int command_mount(int argc, char **argv);
int command_mount_helper(int argc, char **argv); /* as mount(8) calls it */
int command_stat(int argc, char **argv);
int command_umount(int argc, char **argv);
int command_vip(int argc, char **argv);

#endif
