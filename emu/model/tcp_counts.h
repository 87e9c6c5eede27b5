/* What the kernel's TCP_INFO says about what one end of a connection has sent again. */
#ifndef EMU_MODEL_TCP_COUNTS_H
#define EMU_MODEL_TCP_COUNTS_H

#include <stddef.h>
#include <stdint.h>

struct tcp_counts {
    uint64_t retransmitted; /* segments */
    int64_t timeouts;       /* of the retransmission timer; -1: this kernel doesn't count them (Linux 6.7 does) */
};

/* Room for TCP_INFO of kernels that are newer than the headers. */
enum { TCP_COUNTS_ROOM = 512 };

/* Of a struct tcp_info, of which the kernel gave `size` bytes. */
struct tcp_counts tcp_counts_of(const void *info, size_t size);
/* Adds what another connection says; what isn't known of one isn't known of the sum. */
void tcp_counts_add(struct tcp_counts *sum, struct tcp_counts c);

#endif
