/* The part of the report for people that is about links: each cable's load, and how each team spread its flows. */
#ifndef EMU_REPORT_LINKS_TEXT_H
#define EMU_REPORT_LINKS_TEXT_H

#include <stdio.h>

struct result;

int links_text(const struct result *r, FILE *out); /* 0 or -ENOMEM */

#endif
