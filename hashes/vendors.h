/* What the files of the vendors give to the policy table, and what they share.
 */
#ifndef HASHES_VENDORS_H
#define HASHES_VENDORS_H

#include "hashes/policy.h"

struct hash_policy_group {
    const struct hash_policy *policies;
    unsigned count;
};

extern const struct hash_policy_group hash_group_esxi;
extern const struct hash_policy_group hash_group_linux;
extern const struct hash_policy_group hash_group_team;
extern const struct hash_policy_group hash_group_ovs;
extern const struct hash_policy_group hash_group_cisco;
extern const struct hash_policy_group hash_group_dell;
extern const struct hash_policy_group hash_group_rtag7;
extern const struct hash_policy_group hash_group_hp;
extern const struct hash_policy_group hash_group_netapp;
extern const struct hash_policy_group hash_group_illumos;
extern const struct hash_policy_group hash_group_freebsd;
extern const struct hash_policy_group hash_group_rss;
extern const struct hash_policy_group hash_group_xor;
extern const struct hash_policy_group hash_group_unknown;

#define HASH_GROUP(name, table) const struct hash_policy_group name = {table, sizeof(table) / sizeof((table)[0])}
#define HASH_NAMES(...)         ((const char *const[]){__VA_ARGS__, NULL})
#define HASH_PARAMS(table)      .params = (table), .param_count = sizeof(table) / sizeof((table)[0])

/* hash_policy.shortcut: nothing short about this frame, hash it. */
enum { HASH_GO_ON = -100 };

static inline struct hash_word hash_word(uint64_t value) { return (struct hash_word){0, value}; }

/* Which eight-bucket map: the first parameter of every policy with HASH_REDUCE_BUCKETS8. */
enum { HASH_MAP_INTERLEAVED, HASH_MAP_CONTIGUOUS };
extern const char *const hash_map_names[];

/* Whether a signed remainder is taken: the first parameter of every policy with HASH_REDUCE_SIGNED_MOD. */
enum { HASH_SHIFT_SIGNED, HASH_SHIFT_UNSIGNED };

extern const char *const hash_no_yes[];

#endif
