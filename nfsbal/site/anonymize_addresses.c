#include "nfsbal/site/anonymize_private.h"

#include <string.h>

#include "emu/model/random.h"

enum { DRAWS = 20000, KEPT_BITS = 7 /* of the last byte */, PREFIX_UNKNOWN4 = 24, PREFIX_UNKNOWN6 = 64 };

static unsigned bytes_of(const struct topo_addr *a) { return a->version == 6 ? 16 : 4; }

/* The subnet that holds the address, the narrowest where several do; SIZE_MAX: none. */
static size_t find(const struct veil *v, const struct topo_addr *a)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < v->n_subnets; i++) {
        const struct topo_addr *net = &v->subnets[i].net;

        if (net->version == a->version && topo_addr_same_subnet(net, a, net->prefix) &&
            (best == SIZE_MAX || net->prefix > v->subnets[best].net.prefix))
            best = i;
    }
    return best;
}

static size_t root(const struct veil *v, size_t i)
{
    while (v->subnets[i].group != i)
        i = v->subnets[i].group;
    return i;
}

static size_t subnet_of(struct veil *v, const struct topo_addr *a)
{
    struct topo_addr net = *a;
    size_t i = find(v, a);

    if (i != SIZE_MAX && (net.prefix == 0 || net.prefix == v->subnets[i].net.prefix))
        return i;
    if (net.prefix == 0)
        net.prefix = net.version == 6 ? PREFIX_UNKNOWN6 : PREFIX_UNKNOWN4;
    v->subnets = arena_grow(v->arena, v->subnets, v->n_subnets, &v->subnets_capacity, sizeof *v->subnets);
    v->subnets[v->n_subnets] = (struct veil_subnet){.net = net, .group = v->n_subnets};
    return v->n_subnets++;
}

void veil_note(struct veil *v, const struct topo_addr *a)
{
    subnet_of(v, a);
    v->addresses = arena_grow(v->arena, v->addresses, v->n_addresses, &v->addresses_capacity, sizeof *v->addresses);
    v->addresses[v->n_addresses++] = *a;
}

void veil_join(struct veil *v, const struct topo_addr *a, const struct topo_addr *b)
{
    size_t x = root(v, subnet_of(v, a)), y = root(v, subnet_of(v, b));

    if (x < y)
        v->subnets[y].group = x;
    else
        v->subnets[x].group = y;
}

static void put_xor(struct topo_addr *a, const uint8_t *constant)
{
    for (unsigned i = 0; i < bytes_of(a); i++)
        a->bytes[i] ^= constant[i];
}

void veil_apply(const struct veil *v, struct topo_addr *a)
{
    size_t i = find(v, a);

    if (i != SIZE_MAX)
        put_xor(a, v->subnets[root(v, i)].constant);
}

/* True when a host can have this address: unicast, and neither the subnet's first nor its last. */
static bool usable(const struct topo_addr *a, unsigned prefix)
{
    unsigned bits = 8 * bytes_of(a);
    bool zeros = true, ones = true;

    if (a->version == 6 ? a->bytes[0] != 0xfd : (a->bytes[0] == 0 || a->bytes[0] == 127 || a->bytes[0] > 223))
        return false;
    if (a->version == 4 && a->bytes[0] == 169 && a->bytes[1] == 254)
        return false;
    for (unsigned i = prefix; i < bits; i++) {
        bool one = a->bytes[i / 8] >> (7 - i % 8) & 1;

        zeros &= !one;
        ones &= one;
    }
    return prefix + 2 > bits || (!zeros && !ones);
}

/* Whether the addresses under this group's constant are usable. */
static bool addresses_fit(const struct veil *v, size_t group)
{
    for (size_t i = 0; i < v->n_addresses; i++) {
        struct topo_addr a = v->addresses[i];
        size_t subnet = find(v, &a);

        if (root(v, subnet) != group)
            continue;
        put_xor(&a, v->subnets[group].constant);
        if (!usable(&a, v->subnets[subnet].net.prefix) && usable(&v->addresses[i], v->subnets[subnet].net.prefix))
            return false;
    }
    return true;
}

/* Whether the new subnets of this group overlap with others as little as the old ones did. `done`: groups with constants. */
static bool subnets_fit(const struct veil *v, size_t group)
{
    for (size_t i = 0; i < v->n_subnets; i++)
        for (size_t k = 0; root(v, i) == group && k < v->n_subnets; k++) {
            struct topo_addr a = v->subnets[i].net, b = v->subnets[k].net;
            unsigned prefix = a.prefix < b.prefix ? a.prefix : b.prefix;
            bool before = topo_addr_same_subnet(&a, &b, prefix);

            if (a.version != b.version || root(v, k) >= group)
                continue;
            put_xor(&a, v->subnets[group].constant);
            put_xor(&b, v->subnets[root(v, k)].constant);
            if (!before && topo_addr_same_subnet(&a, &b, prefix))
                return false;
        }
    return true;
}

static void draw(struct veil *v, size_t group, struct random *r)
{
    struct veil_subnet *s = &v->subnets[group];
    unsigned n = bytes_of(&s->net);

    for (unsigned i = 0; i < n; i++)
        s->constant[i] = (uint8_t)(random_next(r) >> 56);
    s->constant[0] = s->net.bytes[0] ^ (n == 4 ? 10 : 0xfd);
    s->constant[n - 1] &= (uint8_t)~KEPT_BITS;
    if (s->constant[n - 1] == 0) /* hosts would keep their numbers */
        s->constant[n - 1] = KEPT_BITS + 1;
}

bool veil_draw(struct veil *v, uint64_t seed)
{
    struct random r = random_stream(seed, "addresses"), m = random_stream(seed, "macs");

    for (size_t g = 0; g < v->n_subnets; g++) {
        int left = DRAWS;

        if (root(v, g) != g)
            continue;
        do
            draw(v, g, &r);
        while ((!addresses_fit(v, g) || !subnets_fit(v, g)) && --left > 0);
        if (left == 0)
            return false;
    }
    for (int i = 0; i < 6; i++)
        v->mac[i] = (uint8_t)(random_next(&m) >> 56);
    v->mac[0] = 0; /* which says whether it is a local or a group address */
    v->mac[5] &= (uint8_t)~KEPT_BITS;
    return true;
}
