/* Private to result.c: its part about virtual machines. */
#ifndef EMU_MODEL_RESULT_VMS_H
#define EMU_MODEL_RESULT_VMS_H

#include <stdbool.h>

struct result;

bool result_vms_new(struct result *r); /* false on lack of memory */
void result_vms_free(struct result *r);

#endif
