/* The commands of `nfsbal` that speak NFS; a minimal build has none of them. */
#ifndef NFSBAL_NFS_COMMANDS_H
#define NFSBAL_NFS_COMMANDS_H

int command_load(int argc, char **argv);

#endif
