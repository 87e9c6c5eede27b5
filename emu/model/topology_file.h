/* Reading topology files: YAML text -> expanded tree -> struct topo, with diagnostics.
 *
 * A file is opened once (parsed, ranges expanded) and gives one topology per case: `set` of the case is merged over the
 * expanded tree, then the tree is read by tables into struct topo and all references are resolved. Errors and warnings
 * go to the diag; a NULL return always comes with at least one error there.
 */
#ifndef EMU_MODEL_TOPOLOGY_FILE_H
#define EMU_MODEL_TOPOLOGY_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/model/diag.h"

struct topo;
struct topo_file;

/* Reads `path` ("-" is standard input). d must be initialised; it receives the source text for carets. */
struct topo_file *topo_file_open(const char *path, struct diag *d);
/* The same from memory, for tests and fuzzing; `name` is used in messages. */
struct topo_file *topo_file_parse(const char *name, const char *text, size_t size, struct diag *d);
void topo_file_close(struct topo_file *f); /* accepts NULL; topologies made from it stay valid */

size_t topo_file_cases(const struct topo_file *f);
const char *topo_file_case(const struct topo_file *f, size_t i);

/* The topology of a case; NULL for the file as it stands (the base; what a file without cases means). */
struct topo *topo_load(const struct topo_file *f, const char *case_name, struct diag *d);
void topo_free(struct topo *t);

/* Where a host mounts a datastore from, in a plan: takes the place of what `mounted:` says for that host. */
struct topo_assignment {
    const char *datastore, *host;
    const char *server; /* the string exactly as mounted */
    const char *vip;    /* its address; where `server` is the datastore's own name (`server:`), what that resolves to */
};

/* The topology of a case with datastores mounted as the assignments say, as if the file said so; assignments that name no
 * datastore, VIP or host of the file are errors. */
struct topo *topo_load_assigned(const struct topo_file *f, const char *case_name, const struct topo_assignment *all,
                                size_t n, struct diag *d);

/* The same with changes in words (topology_change.h) made before, on the tree of the case. */
struct topo_change;
struct topo *topo_load_changed(const struct topo_file *f, const char *case_name, const struct topo_change *changes,
                               size_t n_changes, const struct topo_assignment *all, size_t n, struct diag *d);

/* Hashes of all that a plan depends on, part by part ("node esx1", "datastore ds01", "links"), in file order: equal for files
 * that differ in their order, their comments or in what only a run reads (workloads, events, expectations). False, with an
 * error in d, when there is no such case. */
bool topo_file_fingerprint(const struct topo_file *f, const char *case_name,
                           void (*part)(void *context, const char *name, uint64_t hash), void *context, struct diag *d);

/* Prints the expanded file as YAML that reads back to the same topology. 0, or -EIO. */
int topo_file_print_expanded(const struct topo_file *f, const char *case_name, FILE *out);

#endif
