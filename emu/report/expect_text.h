/* An expectation and its outcome in words: values with units, what the document says. */
#ifndef EMU_REPORT_EXPECT_TEXT_H
#define EMU_REPORT_EXPECT_TEXT_H

#include <stddef.h>

#include "emu/model/expect.h"

/* Each writes at most `size` bytes including the NUL and returns `buf`. */
char *expect_print_value(char *buf, size_t size, double value, enum expect_unit unit); /* "117.4 MB/s"; NaN: "-" */
char *expect_print_document(char *buf, size_t size, const struct expect_outcome *o);   /* "4 +- 8 %", "at most 20 ms" */
char *expect_print_error(char *buf, size_t size, const struct expect_outcome *o);      /* "+1.2 %", "-" without one */

#endif
