/* A topology file as a tree: maps, lists and scalars with their places in the file. The parser makes it, ranges are
 * expanded in it, the `set` of a case is merged into it, and the reader turns it into struct topo.
 *
 * Nodes are never changed after they have been made, so that trees can share parts: a thousand hosts of one range have
 * one list of uplinks. All memory is an arena's.
 */
#ifndef EMU_MODEL_DOC_H
#define EMU_MODEL_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/model/diag.h"
#include "emu/model/topology_arena.h"

enum doc_type { DOC_NULL, DOC_SCALAR, DOC_LIST, DOC_MAP };

struct doc_node {
    enum doc_type type;
    struct diag_mark mark;
    const char *text; /* of a scalar; "" of a null */
    size_t count, capacity;
    union {
        struct doc_node **items;
        struct doc_pair *pairs;
    };
    struct name_table *index;  /* of a large map: key -> place */
    size_t weight;             /* nodes of the tree from here on, shared ones counted wherever they stand */
    struct doc_node *expanded; /* cache of the expansion, where that depends on nothing outside the node */
};

struct doc_pair {
    const char *key;
    struct diag_mark mark; /* of the key */
    struct doc_node *value;
};

struct doc_node *doc_new(struct topo_arena *a, enum doc_type type, struct diag_mark mark);
struct doc_node *doc_scalar(struct topo_arena *a, const char *text, struct diag_mark mark); /* text is not copied */
void doc_append(struct topo_arena *a, struct doc_node *list, struct doc_node *item);
void doc_put(struct topo_arena *a, struct doc_node *map, const char *key, struct diag_mark mark,
             struct doc_node *value);

/* The value of a key, or NULL; also when `map` is NULL or no map. */
const struct doc_node *doc_get(const struct doc_node *map, const char *key);
const struct doc_pair *doc_get_pair(const struct doc_node *map, const char *key);
const char *doc_type_name(const struct doc_node *node); /* "a map", "a list", "one value", "nothing" */

/* `patch` merged over `base`: maps merge, scalars and lists replace, a null deletes. A null for a key that is not there
 * is an error in d. The result shares what it can with both. */
struct doc_node *doc_merge(struct topo_arena *a, const struct doc_node *base, const struct doc_node *patch,
                           struct diag *d);

/* Prints as YAML that reads back to the same tree: block style for maps, flow style for what is small. */
void doc_print(const struct doc_node *node, FILE *out);

#endif
