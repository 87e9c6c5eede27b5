/* needs: full
 * A lab as watched over one interval, printed: emu top --once and --json. Link directions in the order given.
 */
#ifndef EMU_CLI_TOP_PRINT_H
#define EMU_CLI_TOP_PRINT_H

#include <stdio.h>

struct watch;

int top_print_text(const struct watch *w, const int *order, int n, FILE *out);  /* 0 or -ENOMEM */
void top_print_json(const struct watch *w, const int *order, int n, FILE *out); /* "emu-top/1" */

#endif
