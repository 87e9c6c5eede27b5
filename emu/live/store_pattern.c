#include "emu/live/store_pattern.h"

enum { SEQUENTIAL = 4 }; /* operations in a row; four random ones within reach of each other are rare */

bool store_pattern_begin(struct store_pattern *p, uint64_t offset, uint64_t bytes)
{
    uint64_t reach = 2 * (p->most > bytes ? p->most : bytes), end = offset + bytes;
    bool near = offset <= p->front + reach && end + reach >= p->front;
    p->out += bytes;
    if (p->out > p->most)
        p->most = p->out;
    if (!near || p->front == 0) {
        p->run = near; /* a file's begin is near to nothing yet */
        p->front = end;
        return false;
    }
    if (end > p->front)
        p->front = end;
    p->run += p->run < SEQUENTIAL;
    return p->run == SEQUENTIAL;
}

void store_pattern_end(struct store_pattern *p, uint64_t bytes) { p->out -= bytes < p->out ? bytes : p->out; }
