/* Loading a topology file for a live lab. */
#ifndef EMU_CLI_LIVE_TOPO_H
#define EMU_CLI_LIVE_TOPO_H

struct topo;

/* The topology of the file and case (NULL: as the file stands); NULL after printing what is wrong. topo_free() frees it. */
struct topo *live_topo_load(const char *command, const char *file, const char *case_name);

/* For OPTION_VALUE with a double: "--scale 0.25", above 0, at most 1000. */
const char *live_parse_scale(const char *text, void *member);

#endif
