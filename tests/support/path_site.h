/* Sites read for tests of the path function, and what a path must be. All fail the running cmocka test. */
#ifndef TESTS_SUPPORT_PATH_SITE_H
#define TESTS_SUPPORT_PATH_SITE_H

#include "emu/model/path.h"

/* Both fail on an error in the site. Freed by topo_free(). */
struct topo *site_parse(const char *text, const char *case_name);
struct topo *site_load(const char *path, const char *case_name);

/* The flow of a datastore on a host. */
struct flow site_flow(const struct topo *t, const char *datastore, const char *host, int connection);
int site_linkdir(const struct topo *t, const char *name);

/* The path takes exactly these link directions ("-": a hop without index), and ends so. */
void expect_path(const struct topo *t, const struct path_state *state, const struct flow *flow, enum flow_direction d,
                 enum path_end end, const char *const *links, size_t n);
/* ... of connection 0 with everything as in the file. */
void expect_write(const struct topo *t, const char *datastore, const char *host, const char *const *links, size_t n);
void expect_read(const struct topo *t, const char *datastore, const char *host, const char *const *links, size_t n);

#define LINKS(...) (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *)

/* Label of a hop of a path. */
const char *label_of(const struct topo *t, const char *datastore, const char *host, enum flow_direction d, size_t hop);

#endif
