#include "emu/cli/interrupt.h"

#include <stddef.h>

static volatile sig_atomic_t caught;

static void handler(int number) { caught = number; }

const volatile sig_atomic_t *interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &caught;
}
