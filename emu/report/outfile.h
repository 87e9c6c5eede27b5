/* A file that appears whole or not at all: written beside its place, then renamed. What is no ordinary file (standard
 * output "-", /dev/null, a pipe) is written as it is.
 */
#ifndef EMU_REPORT_OUTFILE_H
#define EMU_REPORT_OUTFILE_H

#include <stdio.h>

struct outfile {
    FILE *file;             /* to write to; NULL once another has closed it (outfile_commit() then only renames) */
    char *path, *temporary; /* private */
};

int outfile_open(struct outfile *o, const char *path); /* 0 or -errno */
/* Makes sure that everything is written, closes and renames. On failure (-errno) nothing is left behind. */
int outfile_commit(struct outfile *o);
void outfile_abandon(struct outfile *o); /* leaves nothing behind; also after commit or a failed open */

#endif
