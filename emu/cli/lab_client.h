/* needs: full
 * A running lab by its name, as the commands about it begin: `emu top`, `metrics`, `set`, `move`, `capture`.
 */
#ifndef EMU_CLI_LAB_CLIENT_H
#define EMU_CLI_LAB_CLIENT_H

struct control_client;

/* Connects to its control socket. NULL, with a message, when there is no such lab or it is dead; *rc is then the exit code. */
struct control_client *lab_client(const char *command, const char *name, int *rc);

/* Prints why a request failed: exit code 2 when the lab has refused it (wrong input), else 1. */
int lab_client_failed(const char *command, const struct control_client *c, const char *problem);

#endif
