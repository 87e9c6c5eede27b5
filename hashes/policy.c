/* The table of policies and how names find them. */
#include "hashes/policy.h"

#include <assert.h>
#include <string.h>

#include "hashes/fields.h"
#include "hashes/vendors.h"

static const struct hash_policy_group *const groups[] = {
    &hash_group_esxi,    &hash_group_linux, &hash_group_team, &hash_group_ovs,     &hash_group_cisco,
    &hash_group_dell,    &hash_group_rtag7, &hash_group_hp,   &hash_group_netapp,  &hash_group_illumos,
    &hash_group_freebsd, &hash_group_rss,   &hash_group_xor,  &hash_group_unknown,
};
enum { GROUPS = sizeof groups / sizeof *groups, NAME_MAX_LENGTH = 64 };

const char *const hash_no_yes[] = {"no", "yes", NULL};

const char *hash_status_name(enum hash_status status)
{
    static const char *const names[] = {"exact", "reverse-engineered", "approximate", "unknown"};
    static_assert(sizeof names / sizeof *names == HASH_STATUS_COUNT, "a name per status");

    return (unsigned)status < HASH_STATUS_COUNT ? names[status] : "unknown";
}

const char *hash_failure_name(enum hash_failure failure)
{
    switch (failure) {
    case HASH_FAIL_COMPACT:
        return "the survivors are renumbered in configured order: their flows move too";
    case HASH_FAIL_APPEND:
        return "the gap closes, a returning member goes to the end";
    case HASH_FAIL_SWAP_LAST:
        return "the last member takes the place of the dead one, a returning member goes to the end";
    case HASH_FAIL_WALK_NEXT:
        return "flows of a dead member go to the next one that is up, all others stay";
    case HASH_FAIL_BUCKET_STATE:
        return "only the dead member's buckets are bound again";
    case HASH_FAIL_ORDER:
        return "the next in the failover order takes over";
    case HASH_FAIL_UNKNOWN:
        break;
    }
    return "not published";
}

const char *hash_field_name(enum hash_field field)
{
    for (unsigned i = 0; i < HASH_FIELD_COUNT; i++)
        if (1u << i == (unsigned)field)
            return hash_field_names[i];
    return "none";
}

/* Letter case, and the difference between space, hyphen and underscore, do not count in names. */
static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == ' ' || c == '_' ? '-' : c;
}

static bool same_name(const char *a, const char *b)
{
    while (*a && plain(*a) == plain(*b))
        a++, b++;
    return *a == *b;
}

/* Whether `name` is `prefix`, a hyphen and `rest`. */
static bool same_with_prefix(const char *name, const char *prefix, const char *rest)
{
    while (*prefix && plain(*prefix) == plain(*name))
        prefix++, name++;
    return *prefix == 0 && *name == '-' && same_name(name + 1, rest);
}

bool hash_field_find(const char *name, uint32_t *field)
{
    for (unsigned i = 0; hash_field_names[i]; i++) {
        if (same_name(hash_field_names[i], name)) {
            *field = hash_fields_expand(UINT64_C(1) << i);
            return true;
        }
    }
    return false;
}

const struct hash_policy *hash_policy_at(unsigned index)
{
    for (unsigned g = 0; g < GROUPS; g++) {
        if (index < groups[g]->count)
            return &groups[g]->policies[index];
        index -= groups[g]->count;
    }
    return NULL;
}

static bool has_alias(const struct hash_policy *policy, const char *name)
{
    for (const char *const *alias = policy->aliases; alias && *alias; alias++)
        if (same_name(*alias, name))
            return true;
    return false;
}

const struct hash_policy *hash_policy_find(const char *name)
{
    const struct hash_policy *policy;

    for (unsigned i = 0; (policy = hash_policy_at(i)); i++)
        if (same_name(policy->name, name))
            return policy;
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++)
        if (has_alias(policy, name))
            return policy;
    return NULL;
}

const struct hash_policy *hash_policy_find_for(const char *prefix, const char *name)
{
    const struct hash_policy *policy;

    if (!prefix || !*prefix)
        return hash_policy_find(name);
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++)
        if (same_with_prefix(policy->name, prefix, name))
            return policy;
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++)
        if (same_name(policy->prefix, prefix) && has_alias(policy, name))
            return policy;
    return hash_policy_find(name);
}

/* Edit distance, two neighbours swapped counting one. Names beyond NAME_MAX_LENGTH are near nothing. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[3][NAME_MAX_LENGTH + 1];
    const size_t la = strlen(a), lb = strlen(b);

    if (la > NAME_MAX_LENGTH || lb > NAME_MAX_LENGTH)
        return NAME_MAX_LENGTH;
    for (unsigned j = 0; j <= lb; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= la; i++) {
        unsigned *now = row[i % 3];
        const unsigned *before = row[(i + 2) % 3], *earlier = row[(i + 1) % 3];

        now[0] = i;
        for (unsigned j = 1; j <= lb; j++) {
            const char ca = plain(a[i - 1]), cb = plain(b[j - 1]);
            unsigned best = before[j - 1] + (ca != cb);

            if (before[j] + 1 < best)
                best = before[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && ca == plain(b[j - 2]) && plain(a[i - 2]) == cb && earlier[j - 2] + 1 < best)
                best = earlier[j - 2] + 1;
            now[j] = best;
        }
    }
    return row[la % 3][lb];
}

static void consider(const char *name, const char *candidate, unsigned *least, const char **nearest)
{
    const unsigned d = distance(name, candidate);

    if (d < *least) {
        *least = d;
        *nearest = candidate;
    }
}

const char *hash_policy_nearest(const char *prefix, const char *name)
{
    /* A third of the letters wrong is another name. */
    unsigned least = (unsigned)strlen(name) / 3 + 1;
    const struct hash_policy *policy;
    const char *nearest = NULL;

    for (int pass = prefix && *prefix ? 0 : 1; pass < 2; pass++) {
        for (unsigned i = 0; (policy = hash_policy_at(i)); i++) {
            const size_t skip = strlen(policy->prefix);

            if (pass == 0 && !same_name(policy->prefix, prefix))
                continue;
            consider(name, policy->name, &least, &nearest);
            if (pass == 0 && strncmp(policy->name, policy->prefix, skip) == 0 && policy->name[skip] == '-')
                consider(name, policy->name + skip + 1, &least, &nearest);
            for (const char *const *alias = policy->aliases; alias && *alias; alias++)
                consider(name, *alias, &least, &nearest);
        }
    }
    return nearest;
}
