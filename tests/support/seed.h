/* The seed of everything random in the tests: the environment's TEST_SEED, else 1. scripts/test takes it from the commit, so
 * that each commit is tested on other input and everybody who runs it on the same. */
#ifndef TESTS_SUPPORT_SEED_H
#define TESTS_SUPPORT_SEED_H

#include <stdint.h>

/* Printed the first time, so that a failure can be repeated. */
uint64_t test_seed(void);

#endif
