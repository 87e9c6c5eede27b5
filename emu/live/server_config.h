/* The configuration file of a server. Internal to server*.c. */
#ifndef EMU_LIVE_SERVER_CONFIG_H
#define EMU_LIVE_SERVER_CONFIG_H

#include <stddef.h>

struct server_config;

/* Where things are in the server's own mount namespace. */
#define SERVER_RUN_DIR    "/run/emu-server"  /* server_config.dir */
#define SERVER_EXPORT_DIR "/run/emu-exports" /* exports by number, 1, 2, ... */
#define SERVER_LOG        SERVER_RUN_DIR "/ganesha.log"
#define SERVER_CONF       SERVER_RUN_DIR "/ganesha.conf"

/* Writes DIR/ganesha.conf. 0, or a negative errno with a sentence. */
int server_config_write(const struct server_config *c, char *problem, size_t size);

#endif
