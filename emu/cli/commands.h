/* The commands of `emu`: one function and one file each. nfsbal offers some of them under the same
 * names. */
#ifndef EMU_CLI_COMMANDS_H
#define EMU_CLI_COMMANDS_H

int cmd_check(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_size(int argc, char **argv);
/* live labs; not in a minimal build */
int cmd_capture(int argc, char **argv);
int cmd_clean(int argc, char **argv);
int cmd_down(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_live(int argc, char **argv);
int cmd_metrics(int argc, char **argv);
int cmd_move(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_shell(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_up(int argc, char **argv);

#endif
