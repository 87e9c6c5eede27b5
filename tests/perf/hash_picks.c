/* How many frames a second are parsed, and how many picks a second each policy makes: 4096 keys of NFS flows, four
 * members, in turn. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "hashes/key.h"
#include "hashes/pick.h"
#include "hashes/policy.h"

enum { KEYS = 4096, FRAME = 66, MEMBERS = 4 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A TCP segment from one of many clients to one of a few servers. */
static void make_frame(uint8_t frame[FRAME], unsigned i)
{
    static const uint8_t head[] = {0x00, 0x50, 0x56, 0x6b, 0x22, 0x02, 0x00, 0x50, 0x56, 0x6a,
                                   0x11, 0x01, 0x08, 0x00, 0x45, 0x00, 0x05, 0xdc, 0x00, 0x00,
                                   0x40, 0x00, 0x40, 0x06, 0x00, 0x00, 0x0a, 0x0a, 0x05, 0x0b};

    memset(frame, 0, FRAME);
    memcpy(frame, head, sizeof head);
    frame[11] = frame[29] = (uint8_t)i;
    frame[30] = frame[31] = 10;
    frame[32] = 5;
    frame[33] = (uint8_t)(101 + i / 256 % 8);
    frame[34] = (uint8_t)(i >> 8);
    frame[35] = (uint8_t)(i * 7);
    frame[36] = 0x08;
    frame[37] = 0x01;
}

static void measure_parsing(struct hash_key *keys)
{
    static uint8_t frames[KEYS][FRAME];
    const double start = now();
    unsigned long rounds = 0;
    double seconds;

    for (unsigned i = 0; i < KEYS; i++)
        make_frame(frames[i], i);
    do {
        for (unsigned i = 0; i < KEYS; i++)
            hash_key_from_frame(&keys[i], frames[i], FRAME, HASH_NO_TCI);
        rounds++;
        seconds = now() - start;
    } while (seconds < 0.2);
    printf("bench: parse %.6g frames/s\n", (double)rounds * KEYS / seconds);
}

/* The sum keeps the compiler from dropping the work, and says that the members were really used. */
static void measure_policy(const struct hash_policy *policy, const struct hash_key *keys)
{
    struct hash_members members;
    struct hash_selector sel;
    unsigned long rounds = 0, sum = 0;
    double start, seconds;

    hash_selector_init(&sel, policy);
    hash_members_init(&members, MEMBERS);
    for (unsigned bucket = 0; bucket < 256; bucket++)
        hash_members_bind(&members, bucket, bucket % MEMBERS);
    start = now();
    do {
        for (unsigned i = 0; i < KEYS; i++)
            sum += (unsigned long)hash_pick(&sel, &keys[i], &members);
        rounds++;
        seconds = now() - start;
    } while (seconds < 0.05);
    printf("bench: %s %.6g picks/s\n", policy->name, (double)rounds * KEYS / seconds);
    if (sum > rounds * KEYS * (MEMBERS - 1))
        printf("%s gave a member that there is not\n", policy->name);
}

int main(void)
{
    static struct hash_key keys[KEYS];
    const struct hash_policy *policy;

    measure_parsing(keys);
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++)
        if (policy->status != HASH_STATUS_UNKNOWN && strncmp(policy->name, "esxi-lacp", 9) != 0)
            measure_policy(policy, keys);
    return 0;
}
