/* The commands of `nfsbal`: one function and one file each. */
#ifndef NFSBAL_CLI_COMMANDS_H
#define NFSBAL_CLI_COMMANDS_H

int command_anonymize(int argc, char **argv);
int command_ask(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_hash(int argc, char **argv);
int command_import(int argc, char **argv);
int command_plan(int argc, char **argv);
int command_tell(int argc, char **argv);
int command_verify(int argc, char **argv);

#endif
