#include "tests/support/seed.h"

#include <stdio.h>
#include <stdlib.h>

uint64_t test_seed(void)
{
    static uint64_t seed;
    const char *text = getenv("TEST_SEED");

    if (seed == 0) {
        seed = text ? strtoull(text, NULL, 0) : 1;
        seed += seed == 0;
        printf("TEST_SEED=%llu\n", (unsigned long long)seed);
    }
    return seed;
}
