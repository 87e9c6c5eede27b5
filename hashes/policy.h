/* The table of link-selection policies, and a selector: one policy with its parameters set.
 *
 * The table is constant data: what a policy is called, what it reads, which settings it has, how
 * sure its rule is and where the rule was published. Nothing here reads a frame; that is pick.h.
 */
#ifndef HASHES_POLICY_H
#define HASHES_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_key;
struct hash_members;
struct hash_selector;
struct hash_trace;

enum {
    HASH_PARAMS_MAX = 12,
    HASH_KEY_BYTES = 40, /* of a Toeplitz key */
    HASH_MEMBERS_MAX = 64,
};

/* How sure a rule is, best first: a comparison with < means "surer". */
enum hash_status {
    HASH_EXACT,              /* vendor text or the shipping source states it */
    HASH_REVERSE_ENGINEERED, /* published by a third party from observation */
    HASH_APPROXIMATE,        /* inputs documented, arithmetic not: a stand-in */
    HASH_STATUS_UNKNOWN,     /* not published: a range, never an index */
    HASH_STATUS_COUNT,
};

/* Fields that a policy can read. */
enum hash_field {
    HASH_READS_SRC_MAC = 1u << 0,
    HASH_READS_DST_MAC = 1u << 1,
    HASH_READS_ETHERTYPE = 1u << 2,
    HASH_READS_VLAN = 1u << 3,
    HASH_READS_SRC_IP = 1u << 4,
    HASH_READS_DST_IP = 1u << 5,
    HASH_READS_PROTO = 1u << 6,
    HASH_READS_SRC_PORT = 1u << 7,
    HASH_READS_DST_PORT = 1u << 8,
    HASH_READS_FLOW_LABEL = 1u << 9,
    HASH_READS_SPI = 1u << 10,
    HASH_READS_FRAGMENT_ID = 1u << 11,
    HASH_READS_PORT_ID = 1u << 12, /* virtual port */
    HASH_READS_INGRESS = 1u << 13, /* physical port or stack member where the frame came in */
    HASH_READS_WINDOW = 1u << 14,  /* bytes 26 to 33 of a non-IP frame */
    HASH_READS_ICMP = 1u << 15,    /* type, code and id */
};
enum { HASH_FIELD_COUNT = 16 };

/* How a value becomes a place in the list of usable members. */
enum hash_reduction {
    HASH_REDUCE_MOD,           /* value mod n */
    HASH_REDUCE_BUCKETS8,      /* low 3 bits, then the owner of that bucket (interleaved or contiguous
                                masks) */
    HASH_REDUCE_LOW3_MOD,      /* low 3 bits mod n */
    HASH_REDUCE_LOW6_MOD,      /* low 6 bits mod n */
    HASH_REDUCE_LOW8_MOD,      /* low byte mod n */
    HASH_REDUCE_RTAG7,         /* rotate, keep 10 or 8 bits, mod n */
    HASH_REDUCE_INDIRECTION,   /* table[value and size - 1], filled round-robin */
    HASH_REDUCE_SIGNED_MOD,    /* non-negative remainder of the value as a signed 32-bit number */
    HASH_REDUCE_BUCKETS_STATE, /* low byte is a bucket, bound on first use to the next member in turn */
    HASH_REDUCE_BUCKETS_BOUND, /* low byte is a bucket; its member depends on history: hash_members_bind() */
    HASH_REDUCE_ACTIVE,        /* no hash: the active member */
    HASH_REDUCE_NONE,          /* not published */
};

/* What happens to the member list when a member fails or returns. */
enum hash_failure {
    HASH_FAIL_COMPACT,      /* usable members in configured order: survivors are renumbered */
    HASH_FAIL_APPEND,       /* the gap closes; a returning member goes to the end */
    HASH_FAIL_SWAP_LAST,    /* the last member takes the hole; a returning member goes to the end */
    HASH_FAIL_WALK_NEXT,    /* index over all configured members, then on to the next usable one */
    HASH_FAIL_BUCKET_STATE, /* only the dead member's buckets are bound again */
    HASH_FAIL_ORDER,        /* the next in the failover order; failback is a parameter */
    HASH_FAIL_UNKNOWN,
};

enum hash_param_kind {
    HASH_PARAM_CHOICE, /* one of the named values */
    HASH_PARAM_SET,    /* one or more of the named values, separated by commas */
    HASH_PARAM_NUMBER, /* decimal or 0x hexadecimal between min and max */
    HASH_PARAM_POWER,  /* likewise, a power of two */
    HASH_PARAM_BYTES,  /* HASH_KEY_BYTES bytes in hexadecimal */
};

struct hash_param {
    const char *name;
    enum hash_param_kind kind;
    const char *const *values;   /* CHOICE: value i is stored as i; SET: as bit i. NULL-terminated; else NULL */
    uint64_t min, max;           /* NUMBER */
    uint64_t preset;             /* the default, as stored */
    const uint8_t *preset_bytes; /* BYTES */
    const char *help;
};

struct hash_params {
    uint64_t value[HASH_PARAMS_MAX]; /* by position in the policy's params */
    uint8_t bytes[HASH_KEY_BYTES];
};

/* A hash: up to 128 bits, because some rules take a MAC or an IPv6 address as a number. High word 0
 * otherwise. */
struct hash_word {
    uint64_t high, low;
};

struct hash_label {
    enum hash_status status;
    const char *reason; /* static text; NULL when exact */
};

struct hash_policy {
    const char *name;           /* canonical, as in "linux-layer3+4" */
    const char *const *aliases; /* NULL-terminated, may be NULL; compared as hash_policy_find() does */
    const char *prefix;         /* vendor prefix of the name: "linux" */
    const char *vendor;
    const char *summary; /* one line */
    const char *rule;    /* the arithmetic, one line */
    const char *source;  /* where it is published */
    const char *caveat;  /* why it is not exact, or NULL */
    uint32_t reads;      /* enum hash_field, of an IP frame and with every parameter that widens it; see hash_reads() */
    enum hash_status status;
    enum hash_reduction reduction;
    enum hash_failure failure;
    bool failure_assumed; /* no document says what happens to the list: the usual is taken */
    const struct hash_param *params;
    unsigned param_count;

    /* The rest is the implementation's own. */
    uint32_t variant; /* tells policies apart that share functions */
    struct hash_word (*value)(const struct hash_selector *sel, const struct hash_key *key, struct hash_trace *trace);
    /* Frames that need no hash: a member, a negative answer of hash_pick(), or HASH_GO_ON. May be NULL. */
    int (*shortcut)(const struct hash_selector *sel, const struct hash_key *key, const struct hash_members *members,
                    struct hash_trace *trace);
    uint32_t (*reads_now)(const struct hash_selector *sel);            /* NULL: `reads` */
    enum hash_failure (*failure_now)(const struct hash_selector *sel); /* NULL: `failure` */
    unsigned (*choose)(const struct hash_selector *sel,
                       const struct hash_members *members); /* HASH_FAIL_ORDER: the active member */
    struct hash_label (*label)(const struct hash_selector *sel, const struct hash_key *key,
                               unsigned n); /* NULL: status and caveat */
};

struct hash_selector {
    const struct hash_policy *policy;
    struct hash_params params;
};

const char *hash_status_name(enum hash_status status);          /* "exact", "reverse-engineered", ... */
const char *hash_failure_name(enum hash_failure failure);       /* one line for people */
const char *hash_field_name(enum hash_field field);             /* one bit: "src-ip", "dst-port", ... */
bool hash_field_find(const char *name, uint32_t *field);        /* also "vlan", "src-dst-ip", "l4": several bits */
void hash_fields_text(uint32_t fields, char *out, size_t size); /* "src-ip,dst-ip" */

/* The table, in the order in which it is shown. NULL when `index` is past the end. */
const struct hash_policy *hash_policy_at(unsigned index);

/* By canonical name or alias. Letter case, and the difference between space, hyphen and underscore,
 * do not matter. */
const struct hash_policy *hash_policy_find(const char *name);

/* As a user says it where the vendor is clear: prefix "esxi" and "ip-hash" give esxi-ip-hash. The
 * vendor's own names come first, then all others; the full name always works. `prefix` may be NULL.
 */
const struct hash_policy *hash_policy_find_for(const char *prefix, const char *name);

/* How a selector's list of members behaves at a failure, its parameters considered. */
enum hash_failure hash_failure_rule(const struct hash_selector *sel);

/* The nearest known name, for "did you mean"; NULL when nothing is near. */
const char *hash_policy_nearest(const char *prefix, const char *name);

/* The policy with its default parameters. */
void hash_selector_init(struct hash_selector *sel, const struct hash_policy *policy);

/* Sets one parameter. An unknown key or value is refused: false, and `error` says what would be
 * allowed. */
bool hash_selector_set(struct hash_selector *sel, const char *key, const char *value, char *error, size_t size);

/* "linux-layer3+4 gen=g3": the name and the parameters, all of them or only those that differ from
 * the default. */
void hash_selector_text(const struct hash_selector *sel, bool all, char *out, size_t size);

/* One parameter's value as text. */
void hash_param_text(const struct hash_selector *sel, unsigned index, char *out, size_t size);

/* Fields of an IP frame that this selector reads, its parameters considered. What it makes of other frames, as a rule
 * their MACs, is not in here. */
uint32_t hash_reads(const struct hash_selector *sel);

/* A policy of the unknown kind over these fields: "flows equal in these share a link" is all that
 * is known. */
void hash_selector_unknown(struct hash_selector *sel, uint32_t fields);

/* How sure an answer of this selector is over `n` members. `key` NULL: for IPv4 flows in general;
 * otherwise for that very frame (an ESXi IP hash over 3 uplinks is exact where both published
 * readings agree). */
struct hash_label hash_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n);

/* The `gen` value of the bonding driver in an upstream kernel: "6.8" gives "g6". NULL when
 * `version` is no version. *doubt (may be NULL) is set to a static text where stable or vendor
 * kernels of that version are known to differ. */
const char *hash_linux_gen_for_kernel(const char *version, const char **doubt);

#endif
