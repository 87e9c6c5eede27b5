/* A bar on the terminal while something takes longer than a second. */
#ifndef EMU_CLI_PROGRESS_H
#define EMU_CLI_PROGRESS_H

#include <stdbool.h>
#include <time.h>

struct progress {
    bool wanted, shown;
    struct timespec began, last;
    int width; /* of what stands on the line now */
};

/* `wanted` false, or a stderr that is no terminal: nothing is ever shown. */
void progress_begin(struct progress *p, bool wanted);
/* `share` of the whole, 0..1; `what` stands behind the bar. Draws at most ten times a second. */
void progress_show(struct progress *p, double share, const char *what);
void progress_end(struct progress *p); /* clears the line */

#endif
