/* What can be said where the answer is a draw: the rule is not published, or an input is drawn anew
 * at every connection.
 */
#ifndef HASHES_RANGE_H
#define HASHES_RANGE_H

#include "hashes/policy.h"

struct hash_members;

/* `flows` distinct flows fall on n members. "used" counts members with at least one flow, "busiest"
 * the flows of the fullest one. */
struct hash_range {
    unsigned n, flows;
    unsigned best_used, worst_used;
    unsigned best_busiest, worst_busiest;
    double expected_used;    /* sum over members of 1 - (1 - share)^flows */
    double expected_busiest; /* exact while busiest_exact; else members are taken as independent, a
                                lower bound */
    bool busiest_exact;
    double chance_idle; /* at least one member carries nothing; an upper bound (<= 1) where not
                           exact */
};

/* The part of all flows that place `place` of n gets when the hash value is uniform: 1/n, but 3/8,
 * 3/8, 2/8 for three links under eight buckets. Unknown rules: 1/n, which is an assumption. */
double hash_share(const struct hash_selector *sel, unsigned n, unsigned place);

/* The distribution when each of `flows` flows is an independent uniform draw. False if n is 0 or
 * over HASH_MEMBERS_MAX. */
bool hash_range(const struct hash_selector *sel, unsigned n, unsigned flows, struct hash_range *out);

/* True when two frames are equal in every field that the selector reads, so that they must share a
 * link: a fact, whatever the rule is. False says nothing. */
bool hash_same_fields(const struct hash_selector *sel, const struct hash_key *a, const struct hash_key *b);

/* One possible world for a run that needs a link under an unknown rule: a draw that depends on the
 * seed and on the fields that the selector reads, so that flows equal in these share a member. A
 * draw, never an answer. -HASH_NO_MEMBER when none is up. */
int hash_draw(const struct hash_selector *sel, const struct hash_key *key, uint64_t seed,
              const struct hash_members *members);

#endif
