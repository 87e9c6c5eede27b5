/* What verifying load writes: every unit of a file says where it belongs and which write it is from. */
#ifndef NFSBAL_CLIENT_STAMP_H
#define NFSBAL_CLIENT_STAMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stamps {
    uint64_t run;     /* tells this run's data from older ones */
    uint32_t unit;    /* bytes */
    uint64_t n;       /* units of the file */
    uint32_t *issued; /* number of the last write of a unit that was sent, 0: none */
    uint32_t *answered;
    uint64_t wrong;
    char problem[160]; /* the first that was wrong */
};

/* For operations of `block` bytes in a file of `size`. False: no memory. */
bool stamps_init(struct stamps *s, uint64_t run, uint64_t size, uint64_t block);
void stamps_free(struct stamps *s);

/* Fills data for a write and notes it as sent (number from 1, growing); notes it as answered. */
void stamps_write(struct stamps *s, uint64_t offset, uint8_t *data, size_t size, uint32_t number);
void stamps_answered(struct stamps *s, uint64_t offset, size_t size, uint32_t number);

/* Notes, before a read is sent, the oldest write that may be seen; afterwards checks. `floor` has a number per unit. */
void stamps_floor(const struct stamps *s, uint64_t offset, size_t size, uint32_t *floor);
bool stamps_check(struct stamps *s, uint64_t offset, const uint8_t *data, size_t size, const uint32_t *floor);

#endif
