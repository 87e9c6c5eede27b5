/* The largest storms of the documents: how far below their limits of time and memory. Each number is limit / ours, so 1 is enough. Some twenty
 * seconds in all. */
#include <sys/resource.h>

#include "tests/perf/run_load.h"

static void storm(const char *what, const char *file, const char *case_name, double limit)
{
    double seconds;
    struct result *r = run_load(file, NULL, case_name, SIM_CALL, &seconds);
    printf("%s: %llu events, %.1f s of CPU, at most %.0f\n", what, (unsigned long long)r->events, seconds, limit);
    printf("bench: %s %.6g of-its-limit\n", what, limit / seconds);
    result_free(r);
}

int main(void)
{
    storm("boot-1270", "topologies/xendesktop/two-arrays.yaml", "boot", 20);
    storm("boot-800", "topologies/fluidcache/800-desktops.yaml", "boot", 60);
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) == 0)
        printf("bench: memory %.6g of-1-GiB\n", 1048576.0 / (double)u.ru_maxrss);
    return 0;
}
