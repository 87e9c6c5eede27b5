/* The table of what the disks of a storage did. Internal to emu/report. */
#ifndef EMU_REPORT_DISKS_TEXT_H
#define EMU_REPORT_DISKS_TEXT_H

#include <stdio.h>

struct result;

/* Nothing where there is none. 0 or a negative errno. */
int disks_text_print(const struct result *r, FILE *out);

#endif
