#include "emu/model/tcp_counts.h"

#include <linux/tcp.h>
#include <string.h>

/* Headers before Linux 6.7 end with tcpi_snd_wnd; then come tcpi_rcv_wnd, tcpi_rehash and tcpi_total_rto. */
enum {
    RETRANSMITTED_AT = offsetof(struct tcp_info, tcpi_total_retrans),
    TIMEOUTS_AT = offsetof(struct tcp_info, tcpi_snd_wnd) + 12,
};

struct tcp_counts tcp_counts_of(const void *info, size_t size)
{
    struct tcp_counts c = {.timeouts = -1};
    uint32_t retransmitted;
    uint16_t timeouts;

    if (size >= RETRANSMITTED_AT + sizeof retransmitted) {
        memcpy(&retransmitted, (const char *)info + RETRANSMITTED_AT, sizeof retransmitted);
        c.retransmitted = retransmitted;
    }
    if (size >= TIMEOUTS_AT + sizeof timeouts) {
        memcpy(&timeouts, (const char *)info + TIMEOUTS_AT, sizeof timeouts);
        c.timeouts = timeouts;
    }
    return c;
}

void tcp_counts_add(struct tcp_counts *sum, struct tcp_counts c)
{
    sum->retransmitted += c.retransmitted;
    sum->timeouts = sum->timeouts < 0 || c.timeouts < 0 ? -1 : sum->timeouts + c.timeouts;
}
