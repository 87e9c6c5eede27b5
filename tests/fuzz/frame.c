/* Any bytes as a frame: the parser stays inside, its key is consistent, and every policy gives a legal answer that
 * its explanation repeats. Input: one byte that chooses offloaded tag and policy to explain, then the frame. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/policy.h"
#include "hashes/range.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void check_key(const struct hash_key *key, size_t length)
{
    demand(key->ip_version == 0 || key->ip_version == 4 || key->ip_version == 6);
    demand(!key->has_ports || (key->l4_bytes == 4 && key->fragment != HASH_FRAGMENT_LATER && !key->has_icmp));
    demand(!key->has_ports || hash_proto_has_ports(key->proto));
    demand(!(key->ip_version && key->arp_op));
    demand(key->window_bytes <= HASH_WINDOW_BYTES);
    demand(length >= 34 + 4u * key->inline_tags || key->window_bytes < HASH_WINDOW_BYTES);
    demand(key->quoted.ip_version == 0 || (key->has_icmp && key->quoted.ip_version == key->ip_version));
    demand(key->walk <= HASH_WALK_BROKEN);
    demand(key->ip_version != 4 || length >= 34);
    demand(key->ip_version != 6 || length >= 54);
}

static void check_policy(const struct hash_policy *policy, const struct hash_key *key, unsigned n, bool explain)
{
    struct hash_members members;
    struct hash_selector sel;
    char text[1024];
    int explained, picked;

    hash_selector_init(&sel, policy);
    hash_members_init(&members, n);
    explained = explain ? hash_explain(&sel, key, &members, text, sizeof text) : 0;
    picked = hash_pick(&sel, key, &members);
    demand(picked < (int)n && picked >= -HASH_UNBOUND);
    demand(!explain || (explained == picked && strlen(text) < sizeof text));
    demand(hash_same_fields(&sel, key, key));
    demand(hash_draw(&sel, key, 7, &members) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned choice = size ? data[0] : 0;
    const struct hash_policy *policy;
    struct hash_key key;
    bool whole;

    if (size == 0)
        return 0;
    whole = hash_key_from_frame(&key, data + 1, size - 1, choice & 1 ? (int32_t)choice * 257 : HASH_NO_TCI);
    demand(whole == (size - 1 >= 14));
    check_key(&key, size - 1);
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++)
        check_policy(policy, &key, 1 + (choice + i) % HASH_MEMBERS_MAX, i % 16 == choice >> 4);
    return 0;
}
