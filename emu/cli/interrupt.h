/* Ctrl-C and SIGTERM as a flag that a long run polls, so that it ends in order: what is known is printed, files are whole. */
#ifndef EMU_CLI_INTERRUPT_H
#define EMU_CLI_INTERRUPT_H

#include <signal.h>

/* From now on the signals only set the flag, which holds the signal's number. */
const volatile sig_atomic_t *interrupt_catch(void);

#endif
