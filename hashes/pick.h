/* From a key to a member: three separate things, and all three belong to the policy.
 *
 *   hash       hash_value()   key -> number
 *   reduction  hash_reduce()  number -> place in a list
 *   members    hash_pick()    place -> member; failures change the list's order
 *
 * hash_pick() is the three in a row. hash_explain() runs the same code and writes each step down.
 */
#ifndef HASHES_PICK_H
#define HASHES_PICK_H

#include "hashes/policy.h"

/* Negative answers of hash_pick(). */
enum {
    HASH_NO_MEMBER = 1, /* no member is up */
    HASH_UNKNOWN = 2,   /* the rule is not published: see range.h */
    HASH_UNBOUND = 3,   /* the index is known, its member depends on load history that the caller has
                         to supply */
};

/* The members of a team, bond or LAG: ids 0 .. count-1 in configured order. Read the fields freely,
 * change them only through the functions. Fits in the caller's struct; nothing is allocated. */
struct hash_members {
    uint64_t up;    /* bit i: member i is usable */
    uint8_t count;  /* configured members */
    uint8_t usable; /* how many are up */
    uint8_t active; /* the one in use where only one is: HASH_REDUCE_ACTIVE, broadcasts of balance-alb */
    uint8_t order[HASH_MEMBERS_MAX]; /* usable members in the policy's order */
    uint8_t bucket[256];             /* bound member + 1 under HASH_REDUCE_BUCKETS_STATE; 0: unbound */
};

/* n members, 1 to HASH_MEMBERS_MAX, all up. A member that is not up from the start is taken down next. */
void hash_members_init(struct hash_members *members, unsigned n);

/* Member `id` fails or returns. Asking for the state that it has changes nothing. */
void hash_members_down(const struct hash_selector *sel, struct hash_members *members, unsigned id);
void hash_members_up(const struct hash_selector *sel, struct hash_members *members, unsigned id);

static inline bool hash_members_is_up(const struct hash_members *members, unsigned id)
{
    return id < members->count && (members->up >> id & 1);
}

/* Binds bucket or table entry `bucket` to a usable member, as a rebalancer or balance-alb's history
 * does. */
void hash_members_bind(struct hash_members *members, unsigned bucket, unsigned id);

/* Unbinds all buckets (balance-alb does so every 10 s). */
void hash_members_unbind(struct hash_members *members);

/* The hash alone. 0 where the rule is unknown. */
struct hash_word hash_value(const struct hash_selector *sel, const struct hash_key *key);

/* Place in a list of n usable members, 0 .. n-1, for rules without state; -HASH_UNKNOWN, or
 * -HASH_UNBOUND for rules whose bucket is state. n is 1 to HASH_MEMBERS_MAX. */
int hash_reduce(const struct hash_selector *sel, struct hash_word value, unsigned n);

/* The bucket or table entry behind a value: 0..7, 0..255 or the indirection entry; -1 for rules
 * without buckets. */
int hash_bucket(const struct hash_selector *sel, struct hash_word value);

/* The member that carries this frame, or a negative answer from above. Binds a bucket on first use
 * where the policy does so (Open vSwitch); changes nothing else. */
int hash_pick(const struct hash_selector *sel, const struct hash_key *key, struct hash_members *members);

/* As hash_pick(), and writes every step into `out`: "0x0A0A050B xor 0x0A0A0565 = 0x0000006E, mod 4 = 2". Steps are
 * separated by ", " and contain none. Always terminated; cut at `size`. Works on a copy of the members: binds nothing. */
int hash_explain(const struct hash_selector *sel, const struct hash_key *key, const struct hash_members *members,
                 char *out, size_t size);

/* "0x0000006E": eight digits, or as many as the value needs. 35 bytes always suffice. */
void hash_word_text(struct hash_word value, char *out, size_t size);

#endif
