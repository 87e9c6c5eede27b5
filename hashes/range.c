/* Occupancy of members by independent draws.
 *
 * Theory of operation. Members have shares w1 .. wn of the draws. Let B_i(m) be the probability that, of m flows that
 * fell on the first i members, none of these has more than k (or fewer than a least number). Given m, the part on
 * member i is binomial with p = w_i / (w_1 + .. + w_i), so B_i follows from B_i-1 by one sum over that binomial;
 * everything stays between 0 and 1, nothing overflows. B_n(flows) is P(busiest <= k), and the expectation of the
 * busiest is the sum of 1 - P over k. The cost grows as n * flows * k per k, so beyond EXACT_FLOWS members are taken
 * as independent Poisson numbers instead: the largest of these exceeds its mean as the largest of the true ones does,
 * because the common part that makes them too noisy shifts all of them alike. The tests hold the two against each
 * other. No function of <math.h> is needed.
 */
#include "hashes/range.h"

#include <assert.h>
#include <string.h>

#include "hashes/fields.h"
#include "hashes/key.h"
#include "hashes/mix.h"
#include "hashes/pick.h"
#include "hashes/vendors.h"

enum { EXACT_FLOWS = 256 };

/* Part of the values 0 .. count-1 that leave remainder `place`. */
static double share_of_values(unsigned count, unsigned n, unsigned place)
{
    const unsigned whole = count / n + (place < count % n);

    return (double)whole / count;
}

static double share_of_buckets(const struct hash_selector *sel, unsigned n, unsigned place)
{
    unsigned owned = 0;

    for (uint64_t bucket = 0; bucket < 8; bucket++)
        owned += hash_reduce(sel, hash_word(bucket), n) == (int)place;
    return owned / 8.0;
}

double hash_share(const struct hash_selector *sel, unsigned n, unsigned place)
{
    if (place >= n)
        return 0;
    switch (sel->policy->reduction) {
    case HASH_REDUCE_BUCKETS8:
        return share_of_buckets(sel, n, place);
    case HASH_REDUCE_LOW3_MOD:
        return share_of_values(8, n, place);
    case HASH_REDUCE_LOW6_MOD:
        return share_of_values(64, n, place);
    case HASH_REDUCE_LOW8_MOD:
        return share_of_values(256, n, place);
    case HASH_REDUCE_RTAG7:
        return share_of_values(1024, n, place);
    case HASH_REDUCE_INDIRECTION:
        return share_of_values((unsigned)sel->params.value[0], n, place);
    case HASH_REDUCE_ACTIVE:
        return place == 0;
    case HASH_REDUCE_MOD:
    case HASH_REDUCE_SIGNED_MOD:
    case HASH_REDUCE_BUCKETS_STATE:
    case HASH_REDUCE_BUCKETS_BOUND:
    case HASH_REDUCE_NONE:
        break;
    }
    return 1.0 / n;
}

static double power(double base, unsigned exponent)
{
    double result = 1;

    while (exponent) {
        if (exponent & 1)
            result *= base;
        base *= base;
        exponent >>= 1;
    }
    return result;
}

/* Members that can get anything at all. */
struct shares {
    unsigned n;
    double w[HASH_MEMBERS_MAX];
};

/* Probability that every member has between `least` and `most` of the flows. */
static double all_between(const struct shares *s, unsigned flows, unsigned least, unsigned most)
{
    double now[EXACT_FLOWS + 1], before[EXACT_FLOWS + 1], sum_w = 0;

    for (unsigned m = 0; m <= flows; m++)
        now[m] = m == 0;
    for (unsigned i = 0; i < s->n; i++) {
        double p, odds;

        sum_w += s->w[i];
        p = i == 0 ? 1 : s->w[i] / sum_w;
        odds = i == 0 ? 0 : p / (1 - p);
        memcpy(before, now, sizeof before);
        for (unsigned m = i + 1 == s->n ? flows : 0; m <= flows; m++) {
            double pmf = i == 0 ? 1 : power(1 - p, m); /* that member i got 0 of m, then 1, ... */
            double sum = 0;

            if (i == 0) {
                now[m] = m >= least && m <= most;
                continue;
            }
            for (unsigned j = 0; j <= m && j <= most; j++) {
                if (j >= least)
                    sum += pmf * before[m - j];
                pmf *= odds * (m - j) / (j + 1);
            }
            now[m] = sum;
        }
    }
    return now[flows];
}

static double busiest_exactly(const struct shares *s, unsigned flows)
{
    double expected = 0;

    for (unsigned k = 0; k < flows; k++) {
        const double within = (uint64_t)k * s->n < flows ? 0 : all_between(s, flows, 0, k);

        if (within > 1 - 1e-14)
            break;
        expected += 1 - within;
    }
    return expected;
}

/* A Poisson distribution that is stepped through from its lowest noticeable value. */
struct poisson {
    double mean;
    double pmf, cdf;
    unsigned k;
};

static void poisson_start(struct poisson *p, double mean)
{
    const double tiny = 1e-18;
    const unsigned mode = (unsigned)mean;
    double u = 1, sum = 1, lowest;
    unsigned k;

    for (k = mode; u > tiny; k++) {
        u *= mean / (k + 1);
        sum += u;
    }
    u = lowest = 1;
    for (k = mode; k > 0 && u > tiny; k--) {
        u *= k / mean;
        sum += u;
        lowest = u;
    }
    *p = (struct poisson){mean, lowest / sum, lowest / sum, k};
}

static void poisson_step(struct poisson *p)
{
    p->k++;
    p->pmf *= p->mean / p->k;
    p->cdf += p->pmf;
}

static double busiest_by_poisson(const struct shares *s, unsigned flows)
{
    struct poisson p[HASH_MEMBERS_MAX];
    unsigned k = 0;
    double expected;

    if (s->n == 1)
        return flows;
    for (unsigned i = 0; i < s->n; i++) {
        poisson_start(&p[i], flows * s->w[i]);
        if (p[i].k > k)
            k = p[i].k;
    }
    for (expected = k; k < flows; k++) {
        double within = 1;

        for (unsigned i = 0; i < s->n; i++) {
            while (p[i].k < k)
                poisson_step(&p[i]);
            within *= p[i].cdf < 1 ? p[i].cdf : 1;
        }
        if (within > 1 - 1e-12)
            break;
        expected += 1 - within;
    }
    return expected;
}

bool hash_range(const struct hash_selector *sel, unsigned n, unsigned flows, struct hash_range *out)
{
    struct shares s = {0};

    memset(out, 0, sizeof *out);
    if (n == 0 || n > HASH_MEMBERS_MAX)
        return false;
    out->n = n;
    out->flows = flows;
    out->busiest_exact = flows <= EXACT_FLOWS;
    if (flows == 0) {
        out->chance_idle = 1;
        return true;
    }
    for (unsigned i = 0; i < n; i++) {
        const double w = hash_share(sel, n, i);

        if (w > 0)
            s.w[s.n++] = w;
        out->expected_used += 1 - power(1 - w, flows);
        out->chance_idle += power(1 - w, flows);
    }
    assert(s.n > 0); /* the shares sum up to 1 */
    out->worst_used = 1;
    out->best_used = flows < s.n ? flows : s.n;
    out->worst_busiest = flows;
    out->best_busiest = (flows + s.n - 1) / s.n;
    if (out->busiest_exact) {
        out->expected_busiest = busiest_exactly(&s, flows);
        out->chance_idle = s.n < n ? 1 : 1 - all_between(&s, flows, 1, flows);
    } else {
        out->expected_busiest = busiest_by_poisson(&s, flows);
        if (out->chance_idle > 1)
            out->chance_idle = 1;
    }
    return true;
}

bool hash_same_fields(const struct hash_selector *sel, const struct hash_key *a, const struct hash_key *b)
{
    const uint32_t fields = hash_reads(sel);

    if (sel->policy->value) {
        const struct hash_word va = hash_value(sel, a), vb = hash_value(sel, b);

        return va.low == vb.low && va.high == vb.high && a->ip_version == b->ip_version;
    }
    for (unsigned i = 0; i < HASH_FIELD_COUNT; i++) {
        struct hash_word va, vb;

        if (!(fields >> i & 1))
            continue;
        va = hash_field_value(a, 1u << i);
        vb = hash_field_value(b, 1u << i);
        if (va.low != vb.low || va.high != vb.high)
            return false;
    }
    return true;
}

int hash_draw(const struct hash_selector *sel, const struct hash_key *key, uint64_t seed,
              const struct hash_members *members)
{
    uint64_t draw;

    if (members->usable == 0)
        return -HASH_NO_MEMBER;
    if (sel->policy->value) {
        const struct hash_word value = hash_value(sel, key);
        const int bucket = hash_bucket(sel, value);

        draw = hash_mix64(seed ^ hash_mix64(bucket >= 0 ? (uint64_t)bucket : value.low));
    } else {
        draw = hash_fields_digest(key, hash_reads(sel), seed);
    }
    return members->order[draw % members->usable];
}
