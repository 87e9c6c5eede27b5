/* Answers of `nfsbal hash` for pairs of addresses. */
#ifndef NFSBAL_CLI_HASH_PAIRS_H
#define NFSBAL_CLI_HASH_PAIRS_H

#include "hashes/range.h"
#include "nfsbal/cli/hash.h"

struct hash_pair {
    const char *src, *dst; /* as written, one name of the ranges */
    unsigned links;        /* of how many */
    struct hash_key key;
    struct hash_label label;
    bool drawn; /* the source port was not given and the policy reads it: no index, a distribution */
    int member; /* the answer, or negative: hash_pick()'s, or drawn */
    int bucket; /* bucket or table entry, -1: the policy has none */
};

/* The distribution of `flows` flows where an answer is drawn or its rule unknown. */
bool hash_pair_range(const struct hash_command *c, unsigned links, unsigned flows, struct hash_range *out);

#endif
