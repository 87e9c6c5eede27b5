#include "emu/cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#define BAR 40

static double since(const struct timespec *then, const struct timespec *now)
{
    return (double)(now->tv_sec - then->tv_sec) + (double)(now->tv_nsec - then->tv_nsec) / 1e9;
}

void progress_begin(struct progress *p, bool wanted)
{
    *p = (struct progress){.wanted = wanted && isatty(STDERR_FILENO)};
    clock_gettime(CLOCK_MONOTONIC, &p->began);
    p->last = p->began;
}

void progress_show(struct progress *p, double share, const char *what)
{
    struct timespec now;
    char bar[BAR + 1];
    if (!p->wanted)
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (since(&p->began, &now) < 1 || since(&p->last, &now) < 0.1)
        return;
    p->last = now;
    share = share < 0 ? 0 : share > 1 ? 1 : share;
    for (int i = 0; i < BAR; i++)
        bar[i] = i < share * BAR ? '#' : '.';
    bar[BAR] = 0;
    int width = fprintf(stderr, "\r[%s] %3.0f %%  %s", bar, share * 100, what);
    if (width < p->width)
        fprintf(stderr, "%*s", p->width - width, "");
    p->width = width;
    p->shown = true;
    fflush(stderr);
}

void progress_end(struct progress *p)
{
    if (p->shown)
        fprintf(stderr, "\r%*s\r", p->width, "");
    p->shown = false;
}
