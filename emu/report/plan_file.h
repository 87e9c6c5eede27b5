/* A plan as `nfsbal plan -o` writes it ("schema": "nfsbal-plan/1"), as far as others need it: which datastore is mounted from
 * where, and the fingerprint of the file that it was made for.
 */
#ifndef EMU_REPORT_PLAN_FILE_H
#define EMU_REPORT_PLAN_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/diag.h"
#include "emu/model/topology_change.h"
#include "emu/model/topology_file.h"

#define PLAN_SCHEMA "nfsbal-plan/1"

struct plan_part { /* of the fingerprint */
    char *name;    /* "node esx1", "datastore ds01", "links" */
    uint64_t hash;
};

struct plan_file {
    const char *path;                    /* as given to plan_file_load(); not owned */
    char *case_name;                     /* NULL: the file as it stands */
    struct topo_assignment *assignments; /* one per datastore and host, in the order of the plan */
    size_t n_assignments;
    struct topo_change *changes; /* of the site, made before: topology_change.h */
    const char **levers, **from; /* what each is called, and what was there before or NULL */
    size_t n_changes;
    struct plan_part *parts;
    size_t n_parts;
    void *memory; /* private */
};

/* NULL, with a sentence in `problem` (the place and what is wrong), when it is no plan. */
struct plan_file *plan_file_load(const char *path, char *problem, size_t size);
void plan_file_free(struct plan_file *p); /* accepts NULL */

/* True when the plan was made for this file and case as they are now; else an error in d for each part that has changed, is new
 * or is gone, by its name. */
bool plan_file_fits(const struct plan_file *p, const struct topo_file *f, const char *case_name, struct diag *d);

/* plan_file_fits(), then the topology as the plan wants it. NULL, with errors in d, when it doesn't fit. */
struct topo *plan_file_topo(const struct plan_file *p, const struct topo_file *f, const char *case_name,
                            struct diag *d);

/* The topology of the file with the first n_changes of a plan's changes and the first n_assignments of its mounts. */
struct topo *plan_file_step(const struct plan_file *p, const struct topo_file *f, const char *case_name,
                            size_t n_changes, size_t n_assignments, struct diag *d);

/* The parts of the fingerprint of a file and case: *parts and their names are allocated, plan_parts_free(). -1 with errors in d. */
long plan_parts(const struct topo_file *f, const char *case_name, struct plan_part **parts, struct diag *d);
void plan_parts_free(struct plan_part *parts, size_t n);

#endif
