/* The machines of a result as a table for people. */
#ifndef EMU_REPORT_VMS_TEXT_H
#define EMU_REPORT_VMS_TEXT_H

#include <stdio.h>

struct result;

/* Nothing where there are none. 0 or -ENOMEM. */
int vms_text_print(const struct result *r, FILE *out);

#endif
