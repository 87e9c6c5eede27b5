/* The list of members and what failures do to it.
 *
 * Theory of operation. `order` holds the usable members in the order that a reduction counts in. Compacting policies
 * keep it sorted by configured position; the others carry history in it: a returning member goes to the end, and on a
 * failure the gap closes or the last member moves in. Buckets of a dead member stay noted and are bound again when
 * next used, since a bucket whose member is up is all that a pick asks for. `active` is kept for every policy,
 * because some send their broadcasts there; it is settled at the first change, since the list is made without knowing
 * the policy.
 */
#include "hashes/pick.h"

#include <assert.h>
#include <string.h>

#include "hashes/vendors.h"

void hash_members_init(struct hash_members *members, unsigned n)
{
    assert(n >= 1 && n <= HASH_MEMBERS_MAX);
    memset(members, 0, sizeof *members);
    members->up = n == HASH_MEMBERS_MAX ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    members->count = members->usable = (uint8_t)n;
    members->active = HASH_MEMBERS_MAX;
    for (unsigned i = 0; i < n; i++)
        members->order[i] = (uint8_t)i;
}

static unsigned lowest_up(const struct hash_members *members)
{
    unsigned id = 0;

    while (id < members->count && !hash_members_is_up(members, id))
        id++;
    return id;
}

static void settle_active(const struct hash_selector *sel, struct hash_members *members)
{
    if (sel->policy->choose)
        members->active = (uint8_t)sel->policy->choose(sel, members);
    else if (!hash_members_is_up(members, members->active))
        members->active = (uint8_t)lowest_up(members);
}

static void sort_order(struct hash_members *members)
{
    unsigned place = 0;

    for (unsigned id = 0; id < members->count; id++)
        if (hash_members_is_up(members, id))
            members->order[place++] = (uint8_t)id;
}

static bool keeps_history(enum hash_failure rule)
{
    return rule == HASH_FAIL_APPEND || rule == HASH_FAIL_SWAP_LAST || rule == HASH_FAIL_BUCKET_STATE;
}

void hash_members_down(const struct hash_selector *sel, struct hash_members *members, unsigned id)
{
    const enum hash_failure rule = hash_failure_rule(sel);
    unsigned place = 0;

    if (!hash_members_is_up(members, id))
        return;
    members->up &= ~(UINT64_C(1) << id);
    if (keeps_history(rule)) {
        while (members->order[place] != id)
            place++;
        if (rule == HASH_FAIL_SWAP_LAST)
            members->order[place] = members->order[members->usable - 1];
        else
            memmove(members->order + place, members->order + place + 1, members->usable - place - 1u);
    }
    members->usable--;
    if (!keeps_history(rule))
        sort_order(members);
    settle_active(sel, members);
}

void hash_members_up(const struct hash_selector *sel, struct hash_members *members, unsigned id)
{
    if (id >= members->count || hash_members_is_up(members, id))
        return;
    members->up |= UINT64_C(1) << id;
    members->order[members->usable++] = (uint8_t)id;
    if (!keeps_history(hash_failure_rule(sel)))
        sort_order(members);
    settle_active(sel, members);
}

void hash_members_bind(struct hash_members *members, unsigned bucket, unsigned id)
{
    if (bucket < sizeof members->bucket && id < members->count)
        members->bucket[bucket] = (uint8_t)(id + 1);
}

void hash_members_unbind(struct hash_members *members) { memset(members->bucket, 0, sizeof members->bucket); }
