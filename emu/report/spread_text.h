/* The part of the report for people that says who chose the links: how each team spread its flows, and by which sum. */
#ifndef EMU_REPORT_SPREAD_TEXT_H
#define EMU_REPORT_SPREAD_TEXT_H

#include <stdio.h>

struct result;

/* A blank line and a table; nothing when there was nothing to choose. 0 or -ENOMEM. */
int spread_text(const struct result *r, FILE *out);

#endif
