/* The schema of the topology file: which keys there are, what shape and kind of value each takes, what is allowed.
 *
 * One table drives everything that is not meaning: how ranges expand (one value pairs with the entry's key, a list is a
 * set), what is refused with which message, and the JSON schema in docs/. What a file *means* is in topology_build*.c.
 */
#ifndef EMU_MODEL_SCHEMA_H
#define EMU_MODEL_SCHEMA_H

#include "emu/model/doc.h"

/* Shapes that a value may take; several may be allowed. */
enum schema_shape {
    SCHEMA_ONE = 1,    /* one value; a range in it pairs with a ranged key around it */
    SCHEMA_LIST = 2,   /* a list of values, or one; a range in it is a set */
    SCHEMA_MAP = 4,    /* a map of the keys of `keys` */
    SCHEMA_NAMED = 8,  /* a map of entries by name; the names may be ranges. Each is a map of `keys`, or one value */
    SCHEMA_ITEMS = 16, /* a list of maps of `keys` */
    SCHEMA_TEXT = 32,  /* free text, never expanded */
};

enum schema_flag {
    SCHEMA_REQUIRED = 1,
    SCHEMA_PAIR = 2,          /* exactly two values, whose ranges multiply the item and pair by position: `ends` */
    SCHEMA_NOT_IN_CASE = 4,   /* can't be changed by a case */
    SCHEMA_ANY_KEY = 8,       /* this row stands for every key that no other row names */
    SCHEMA_TEXT_ENTRIES = 32, /* the entries of SCHEMA_NAMED are free text */
    SCHEMA_PARTIAL = 64,      /* part of a tree: nothing is required, a null deletes */
};

enum schema_value {
    SCHEMA_WORD, /* anything */
    SCHEMA_NAME, /* a name of ours: no blanks, none of : > , [ ] { } */
    SCHEMA_BOOL,
    SCHEMA_INTEGER,
    SCHEMA_RATE,      /* bit/s */
    SCHEMA_BYTE_RATE, /* bytes/s */
    SCHEMA_SIZE,      /* bytes */
    SCHEMA_TIME,      /* min and max in seconds */
    SCHEMA_TIME_OR_OFF,
    SCHEMA_COUNT,
    SCHEMA_PERCENT,
    SCHEMA_WEIGHT,  /* a share, or bytes/s */
    SCHEMA_MEASURE, /* a number, bytes/s, or a time (as seconds) */
    SCHEMA_CHOICE,  /* one of `words` */
    SCHEMA_ADDRESS,
    SCHEMA_ADDRESS_PREFIX, /* 10.1.2.3/24 */
    SCHEMA_MAC,
    SCHEMA_PATH,         /* begins with / */
    SCHEMA_VLAN_OR_TRUNK /* 1..4094 or "trunk" */
};

struct schema_key {
    const char *name;
    unsigned shape; /* enum schema_shape */
    enum schema_value value;
    double min, max;               /* in base units; max 0: no limits */
    const char *const *words;      /* SCHEMA_CHOICE, NULL-terminated */
    const struct schema_key *keys; /* of a map, ends with name NULL; NULL: entries are one value */
    enum schema_value names;       /* SCHEMA_NAMED: what the names must be */
    unsigned kinds;                /* of nodes that may have it, bits of enum topo_kind; 0: all */
    unsigned flags;
    const char *help;
};

extern const char *const schema_kinds[];          /* names of enum topo_kind, NULL-terminated */
extern const struct schema_key schema_topology[]; /* the keys of the file */
extern const struct schema_key schema_root;       /* the file itself: a map of them */

/* The row for a key: by name, else the SCHEMA_ANY_KEY row, else NULL. */
const struct schema_key *schema_find(const struct schema_key *keys, const char *name);

/* Reports to d, once per place. */
struct schema_report {
    struct diag *d;
    struct topo_arena *arena;
    struct name_table seen; /* places that have an error already */
    size_t errors;          /* shown */
    bool failed;
};
void schema_report_init(struct schema_report *r, struct topo_arena *a, struct diag *d);
/* False when an error at this place would not be shown any more: no need to look for a suggestion. */
bool schema_is_new(struct schema_report *r, struct diag_mark mark);
void schema_error(struct schema_report *r, struct diag_mark mark, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Ranges: the tree with every range expanded and every list-shaped value a list. Unknown keys and wrong shapes are
 * passed through for schema_check(). *names counts what ranges made, against the limit of a file. */
struct doc_node *schema_expand(struct doc_node *tree, const struct schema_key *row, struct schema_report *r,
                               size_t *names);

/* Keys, shapes, values of an expanded tree against the table. `partial`: the `set` of a case, where nothing is required
 * and a null deletes. */
void schema_check(const struct doc_node *tree, const struct schema_key *row, bool partial, struct schema_report *r);

/* The table as a JSON schema (draft 2020-12), for editors and for docs/topology.schema.json. */
void schema_print_json(FILE *out);

#endif
