/* The address of a Unix socket whose path may be longer than an address holds. */
#ifndef EMU_LIVE_CONTROL_ADDRESS_H
#define EMU_LIVE_CONTROL_ADDRESS_H

#include <sys/un.h>

struct control_address {
    struct sockaddr_un address; /* good for bind() and connect() until it is closed */
    int folder;                 /* private: held open as long as the address names it */
};

/* 0 or -errno; -ENAMETOOLONG where not even the name in its folder fits. */
int control_address(struct control_address *a, const char *path);
void control_address_close(struct control_address *a);

#endif
