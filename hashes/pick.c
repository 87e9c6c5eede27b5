/* Hash, reduction, members: the three steps of every choice, and the same steps in words. */
#include "hashes/pick.h"

#include <stdio.h>
#include <string.h>

#include "hashes/key.h"
#include "hashes/rtag7.h"
#include "hashes/trace.h"
#include "hashes/vendors.h"

enum { BUCKETS8 = 8, TABLE = 256 };

/* The remainder of a 128-bit number. Nearly all values have 32 bits, where the division is cheap. */
static unsigned remainder_of(struct hash_word value, unsigned n)
{
    uint64_t high_part;

    if (value.high == 0 && value.low <= UINT32_MAX)
        return (uint32_t)value.low % n;
    if (value.high == 0)
        return (unsigned)(value.low % n);
    /* 2^64 mod n, times the high word; all factors are below n <= 64 */
    high_part = (UINT64_MAX % n + 1) % n * (value.high % n);
    return (unsigned)((high_part + value.low % n) % n);
}

static unsigned signed_remainder(uint32_t value, unsigned n)
{
    if (value >> 31) {
        const unsigned rest = (0u - value) % n; /* of the magnitude */

        return rest ? n - rest : 0;
    }
    return value % n;
}

/* Who has a bucket. Contiguous: the first members have one more when eight is not a multiple. */
static unsigned bucket_owner(bool contiguous, unsigned bucket, unsigned n)
{
    const unsigned each = BUCKETS8 / n, extra = BUCKETS8 % n;

    if (!contiguous)
        return bucket % n;
    if (bucket < extra * (each + 1))
        return bucket / (each + 1);
    return extra + (bucket - extra * (each + 1)) / each;
}

static bool is_contiguous(const struct hash_selector *sel) { return sel->params.value[0] == HASH_MAP_CONTIGUOUS; }

static unsigned indirection_entry(const struct hash_selector *sel, struct hash_word value)
{
    return (unsigned)(value.low & (sel->params.value[0] - 1));
}

static unsigned mod_step(unsigned value, unsigned n, struct hash_trace *trace)
{
    hash_trace_step(trace, "mod %u = %u", n, value % n);
    return value % n;
}

static unsigned low_bits_step(struct hash_word value, unsigned bits, unsigned n, struct hash_trace *trace)
{
    const unsigned low = (unsigned)value.low & ((1u << bits) - 1);

    hash_trace_step(trace, "low %u bits %u", bits, low);
    return mod_step(low, n, trace);
}

static int reduce(const struct hash_selector *sel, struct hash_word value, unsigned n, struct hash_trace *trace)
{
    unsigned place, bucket;

    switch (sel->policy->reduction) {
    case HASH_REDUCE_MOD:
        place = remainder_of(value, n);
        hash_trace_step(trace, "mod %u = %u", n, place);
        return (int)place;
    case HASH_REDUCE_BUCKETS8:
        bucket = (unsigned)value.low % BUCKETS8;
        place = bucket_owner(is_contiguous(sel), bucket, n);
        hash_trace_step(trace, "%u links: bucket %u -> %u", n, bucket, place);
        return (int)place;
    case HASH_REDUCE_LOW3_MOD:
        return (int)low_bits_step(value, 3, n, trace);
    case HASH_REDUCE_LOW6_MOD:
        return (int)low_bits_step(value, 6, n, trace);
    case HASH_REDUCE_LOW8_MOD:
        return (int)mod_step((unsigned)value.low & 0xff, n, trace);
    case HASH_REDUCE_RTAG7:
        return (int)mod_step(hash_rtag7_place(value, hash_rtag7_offset(sel), trace), n, trace);
    case HASH_REDUCE_INDIRECTION:
        bucket = indirection_entry(sel, value);
        hash_trace_step(trace, "entry %u of %u", bucket, (unsigned)sel->params.value[0]);
        return (int)mod_step(bucket, n, trace);
    case HASH_REDUCE_SIGNED_MOD:
        place = sel->params.value[0] == HASH_SHIFT_SIGNED ? signed_remainder((uint32_t)value.low, n)
                                                          : (unsigned)value.low % n;
        hash_trace_step(trace, "mod %u = %u", n, place);
        return (int)place;
    case HASH_REDUCE_BUCKETS_STATE:
    case HASH_REDUCE_BUCKETS_BOUND:
        return -HASH_UNBOUND;
    case HASH_REDUCE_ACTIVE:
        return 0;
    case HASH_REDUCE_NONE:
        break;
    }
    return -HASH_UNKNOWN;
}

struct hash_word hash_value(const struct hash_selector *sel, const struct hash_key *key)
{
    return sel->policy->value ? sel->policy->value(sel, key, NULL) : hash_word(0);
}

int hash_reduce(const struct hash_selector *sel, struct hash_word value, unsigned n)
{
    return reduce(sel, value, n, NULL);
}

int hash_bucket(const struct hash_selector *sel, struct hash_word value)
{
    switch (sel->policy->reduction) {
    case HASH_REDUCE_BUCKETS8:
        return (int)(value.low % BUCKETS8);
    case HASH_REDUCE_INDIRECTION:
        return (int)indirection_entry(sel, value);
    case HASH_REDUCE_BUCKETS_STATE:
    case HASH_REDUCE_BUCKETS_BOUND:
        return (int)(value.low % TABLE);
    case HASH_REDUCE_MOD:
    case HASH_REDUCE_LOW3_MOD:
    case HASH_REDUCE_LOW6_MOD:
    case HASH_REDUCE_LOW8_MOD:
    case HASH_REDUCE_RTAG7:
    case HASH_REDUCE_SIGNED_MOD:
    case HASH_REDUCE_ACTIVE:
    case HASH_REDUCE_NONE:
        break;
    }
    return -1;
}

/* The first of the list is served and goes to its end. */
static unsigned next_in_turn(struct hash_members *members)
{
    const uint8_t id = members->order[0];

    memmove(members->order, members->order + 1, (size_t)members->usable - 1);
    members->order[members->usable - 1] = id;
    return id;
}

static int pick_bucket(const struct hash_selector *sel, struct hash_word value, struct hash_members *members,
                       struct hash_trace *trace)
{
    const unsigned bucket = (unsigned)(value.low % TABLE);
    const unsigned bound = members->bucket[bucket];

    hash_trace_step(trace, "low byte: bucket %u", bucket);
    if (bound && hash_members_is_up(members, bound - 1)) {
        hash_trace_step(trace, "bound to member %u", bound - 1);
        return (int)bound - 1;
    }
    if (sel->policy->reduction == HASH_REDUCE_BUCKETS_BOUND) {
        hash_trace_step(trace, "not bound: depends on history");
        return -HASH_UNBOUND;
    }
    hash_members_bind(members, bucket, next_in_turn(members));
    hash_trace_step(trace, "not bound yet: takes the next member in turn");
    return members->bucket[bucket] - 1;
}

/* From the place that the dead member would have, on to the next that is up. */
static unsigned walk_on(const struct hash_members *members, unsigned id, struct hash_trace *trace)
{
    while (!hash_members_is_up(members, id)) {
        const unsigned next = id + 1 == members->count ? 0 : id + 1;

        hash_trace_step(trace, "member %u is down: on to %u", id, next);
        id = next;
    }
    return id;
}

static int pick(const struct hash_selector *sel, const struct hash_key *key, struct hash_members *members,
                struct hash_trace *trace)
{
    const struct hash_policy *policy = sel->policy;
    struct hash_word value;
    int place;

    if (policy->reduction == HASH_REDUCE_NONE) {
        hash_trace_step(trace, "the rule is not published");
        return -HASH_UNKNOWN;
    }
    if (members->usable == 0) {
        hash_trace_step(trace, "no member is up");
        return -HASH_NO_MEMBER;
    }
    if (policy->reduction == HASH_REDUCE_ACTIVE) {
        hash_trace_step(trace, "the active member");
        return (int)policy->choose(sel, members);
    }
    if (policy->shortcut) {
        place = policy->shortcut(sel, key, members, trace);
        if (place != HASH_GO_ON)
            return place;
    }
    value = policy->value(sel, key, trace);
    if (policy->reduction == HASH_REDUCE_BUCKETS_STATE || policy->reduction == HASH_REDUCE_BUCKETS_BOUND)
        return pick_bucket(sel, value, members, trace);
    if (members->usable == members->count || hash_failure_rule(sel) != HASH_FAIL_WALK_NEXT)
        return members->order[reduce(sel, value, members->usable, trace)];
    return (int)walk_on(members, (unsigned)reduce(sel, value, members->count, trace), trace);
}

int hash_pick(const struct hash_selector *sel, const struct hash_key *key, struct hash_members *members)
{
    return pick(sel, key, members, NULL);
}

int hash_explain(const struct hash_selector *sel, const struct hash_key *key, const struct hash_members *members,
                 char *out, size_t size)
{
    struct hash_trace trace = {out, size, 0};
    struct hash_members copy = *members;

    if (size)
        out[0] = 0;
    return pick(sel, key, &copy, &trace);
}

void hash_word_text(struct hash_word value, char *out, size_t size)
{
    if (value.high)
        (void)snprintf(out, size, "0x%llX%016llX", (unsigned long long)value.high, (unsigned long long)value.low);
    else
        (void)snprintf(out, size, "0x%08llX", (unsigned long long)value.low);
}
