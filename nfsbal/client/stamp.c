#include "nfsbal/client/stamp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/random.h"

enum { UNIT = 4096 };
#define MAGIC UINT64_C(0x6E66736C6F616431)

struct head {
    uint64_t magic, run, offset, number;
};

bool stamps_init(struct stamps *s, uint64_t run, uint64_t size, uint64_t block)
{
    *s = (struct stamps){.run = run, .unit = block % UNIT ? (uint32_t)block : UNIT};
    s->n = size / s->unit + 1;
    s->issued = calloc(s->n, sizeof *s->issued);
    s->answered = calloc(s->n, sizeof *s->answered);
    return s->issued && s->answered;
}

void stamps_free(struct stamps *s)
{
    free(s->issued);
    free(s->answered);
    *s = (struct stamps){0};
}

/* The rest of a unit is drawn from its head, so that a torn or shifted one shows. */
static uint64_t word(const struct head *h, size_t i) { return random_at(h->run ^ h->offset * 31 ^ h->number, i); }

static void fill(const struct head *h, uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t w = word(h, i);

        memcpy(data + i, &w, size - i < sizeof w ? size - i : sizeof w);
    }
    if (size >= sizeof *h)
        memcpy(data, h, sizeof *h);
}

void stamps_write(struct stamps *s, uint64_t offset, uint8_t *data, size_t size, uint32_t number)
{
    for (size_t at = 0; at < size; at += s->unit) {
        struct head h = {MAGIC, s->run, offset + at, number};
        uint64_t unit = (offset + at) / s->unit;

        fill(&h, data + at, size - at < s->unit ? size - at : s->unit);
        if (unit < s->n)
            s->issued[unit] = number;
    }
}

void stamps_answered(struct stamps *s, uint64_t offset, size_t size, uint32_t number)
{
    for (size_t at = 0; at < size; at += s->unit) {
        uint64_t unit = (offset + at) / s->unit;

        if (unit < s->n && number > s->answered[unit])
            s->answered[unit] = number;
    }
}

void stamps_floor(const struct stamps *s, uint64_t offset, size_t size, uint32_t *floor)
{
    for (size_t at = 0; at < size; at += s->unit) {
        uint64_t unit = (offset + at) / s->unit;

        floor[at / s->unit] = unit < s->n ? s->answered[unit] : 0;
    }
}

static bool all_zero(const uint8_t *data, size_t size)
{
    return size == 0 || (data[0] == 0 && memcmp(data, data + 1, size - 1) == 0);
}

/* NULL, or what is wrong with one unit. */
static const char *look(const struct stamps *s, uint64_t offset, const uint8_t *data, size_t size, uint32_t floor,
                        struct head *h)
{
    uint64_t unit = offset / s->unit;
    /* A read beside a write may see part of it: a Linux server copies page by page, without a lock around all. */
    bool settled = unit >= s->n || s->issued[unit] <= floor;

    memset(h, 0, sizeof *h);
    if (size < sizeof *h)
        return NULL;
    memcpy(h, data, sizeof *h);
    if (h->magic != MAGIC || h->run != s->run) { /* never written in this run */
        if (floor == 0)
            return NULL;
        h->number = 0;
        return all_zero(data, size) ? "is zero" : "is not what was written";
    }
    if (h->offset != offset)
        return "belongs elsewhere";
    for (size_t i = sizeof *h; settled && i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        uint64_t w = word(h, i);

        if (memcmp(data + i, &w, sizeof w) != 0)
            return "is torn";
    }
    if (h->number < floor)
        return "is older than what was acknowledged";
    return unit < s->n && h->number > s->issued[unit] ? "was never written" : NULL;
}

bool stamps_check(struct stamps *s, uint64_t offset, const uint8_t *data, size_t size, const uint32_t *floor)
{
    bool good = true;

    for (size_t at = 0; at < size; at += s->unit) {
        struct head h;
        const char *wrong =
            look(s, offset + at, data + at, size - at < s->unit ? size - at : s->unit, floor[at / s->unit], &h);

        if (!wrong)
            continue;
        good = false;
        if (s->wrong++ == 0)
            snprintf(s->problem, sizeof s->problem, "data at %" PRIu64 " %s (write %" PRIu64 ", acknowledged %u)",
                     offset + at, wrong, h.number, floor[at / s->unit]);
    }
    return good;
}
