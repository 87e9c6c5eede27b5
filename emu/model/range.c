#include "emu/model/range.h"

#include <string.h>

/* One alternative of a bracket: a run of numbers or letters, or a word (a run of one). */
struct run {
    enum { RUN_NUMBERS, RUN_LETTERS, RUN_WORD } kind;
    unsigned long first, last; /* numbers, or letters as their codes */
    int width;                 /* numbers: digits to pad to */
    const char *word;
};

/* A piece of the text as it stands, or a bracket. */
struct range_part {
    const char *literal;
    struct run *runs;
    size_t n_runs, capacity;
    size_t count;
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* A number of at most 9 digits that fills the whole text. */
static bool read_number(const char *text, unsigned long *out)
{
    size_t length = strlen(text);
    unsigned long value = 0;
    if (length == 0 || length > 9)
        return false;
    for (; *text; text++) {
        if (!is_digit(*text))
            return false;
        value = value * 10 + (unsigned long)(*text - '0');
    }
    *out = value;
    return true;
}

static size_t run_length(const struct run *r) { return r->kind == RUN_WORD ? 1 : (size_t)(r->last - r->first) + 1; }

static bool same_case(char a, char b) { return (a >= 'a') == (b >= 'a'); }

/* "2-5", "c-f", "07" or "left". */
static bool read_run(struct topo_arena *a, const char *item, struct run *out, const char **problem)
{
    const char *dash = strchr(item, '-');
    *out = (struct run){.kind = RUN_WORD, .word = item};
    if (!*item) {
        *problem = "an empty place between brackets or commas";
        return false;
    }
    if (!dash)
        return true;
    char *first = arena_copy(a, item, (size_t)(dash - item));
    const char *last = dash + 1;
    if (read_number(first, &out->first) && read_number(last, &out->last)) {
        out->kind = RUN_NUMBERS;
        out->width = *first == '0' ? (int)strlen(first) : 1;
    } else if (is_letter(*first) && !first[1] && is_letter(*last) && !last[1] && same_case(*first, *last)) {
        out->kind = RUN_LETTERS;
        out->first = (unsigned char)*first;
        out->last = (unsigned char)*last;
    } else {
        *problem = arena_printf(a, "`%s`: a range runs between two numbers or two letters, as in [2-5] or [c-f]", item);
        return false;
    }
    if (out->first > out->last) {
        *problem = arena_printf(a, "`%s` runs backwards; another order is written out: [3,2,1]", item);
        return false;
    }
    if (run_length(out) > RANGE_NAMES_MAX) {
        *problem = arena_printf(a, "`%s` is %zu names; a file may have %d", item, run_length(out), RANGE_NAMES_MAX);
        return false;
    }
    return true;
}

static struct range_part *new_part(struct topo_arena *a, struct range *r)
{
    r->parts = arena_grow(a, r->parts, r->n_parts, &r->capacity, sizeof(*r->parts));
    struct range_part *part = &r->parts[r->n_parts++];
    memset(part, 0, sizeof(*part));
    part->count = 1;
    return part;
}

static bool read_bracket(struct topo_arena *a, const char *begin, const char *end, struct range *r,
                         const char **problem)
{
    struct range_part *part = new_part(a, r);
    part->count = 0;
    for (const char *p = begin; p <= end; p++) {
        const char *stop = p;
        while (stop < end && *stop != ',')
            stop++;
        while (p < stop && *p == ' ')
            p++;
        const char *last = stop;
        while (last > p && last[-1] == ' ')
            last--;
        part->runs = arena_grow(a, part->runs, part->n_runs, &part->capacity, sizeof(*part->runs));
        struct run *run = &part->runs[part->n_runs++];
        if (!read_run(a, arena_copy(a, p, (size_t)(last - p)), run, problem))
            return false;
        part->count += run_length(run);
        p = stop;
    }
    r->count *= part->count;
    r->ranged = true;
    if (r->count > RANGE_NAMES_MAX || part->count > RANGE_NAMES_MAX) {
        *problem = arena_printf(a, "more than %d names", RANGE_NAMES_MAX);
        return false;
    }
    return true;
}

static void add_literal(struct topo_arena *a, const char *begin, const char *end, struct range *r)
{
    if (end > begin)
        new_part(a, r)->literal = arena_copy(a, begin, (size_t)(end - begin));
}

bool range_parse(struct topo_arena *a, const char *text, struct range *out, const char **problem)
{
    *out = (struct range){.count = 1};
    const char *literal = text, *p = text;
    while (*p) {
        if (*p == ']') {
            *problem = "a `]` without its `[`";
            return false;
        }
        if (*p != '[') {
            p++;
            continue;
        }
        const char *end = p + 1 + strcspn(p + 1, "[]");
        if (*end != ']') {
            *problem = *end ? "a `[` within brackets" : "a `[` without its `]`";
            return false;
        }
        if (!memchr(p, ':', (size_t)(end - p))) { /* else an IPv6 address, which stays as it is */
            add_literal(a, literal, p, out);
            if (!read_bracket(a, p + 1, end, out, problem))
                return false;
            literal = end + 1;
        }
        p = end + 1;
    }
    add_literal(a, literal, p, out);
    return true;
}

/* Writes alternative i of a bracket into the buffer and returns its length. */
static size_t print_run(const struct range_part *part, size_t i, char *out, size_t room)
{
    const struct run *run = part->runs;
    for (; i >= run_length(run); run++)
        i -= run_length(run);
    switch (run->kind) {
    case RUN_NUMBERS: {
        char digits[24];
        int n = 0;
        for (unsigned long value = run->first + i; value || n == 0 || n < run->width; value /= 10)
            digits[n++] = (char)('0' + value % 10);
        for (int j = 0; j < n && (size_t)j < room; j++)
            out[j] = digits[n - 1 - j];
        return (size_t)n;
    }
    case RUN_LETTERS:
        if (room)
            out[0] = (char)(run->first + i);
        return 1;
    case RUN_WORD:
        memcpy(out, run->word, strlen(run->word) < room ? strlen(run->word) : room);
        return strlen(run->word);
    }
    return 0;
}

const char *range_at(struct topo_arena *a, const struct range *r, size_t i)
{
    size_t length = 0, below = r->count;
    for (size_t k = 0; k < r->n_parts; k++)
        length += r->parts[k].literal ? strlen(r->parts[k].literal) : 24;
    for (size_t k = 0; k < r->n_parts; k++)
        for (size_t w = 0; w < r->parts[k].n_runs; w++)
            if (r->parts[k].runs[w].kind == RUN_WORD)
                length += strlen(r->parts[k].runs[w].word);
    char *name = arena_alloc(a, length + 1);
    size_t used = 0;
    for (size_t k = 0; k < r->n_parts; k++) {
        const struct range_part *part = &r->parts[k];
        if (part->literal) {
            memcpy(name + used, part->literal, strlen(part->literal));
            used += strlen(part->literal);
        } else {
            below /= part->count;
            used += print_run(part, i / below, name + used, length - used);
            i %= below;
        }
    }
    return name;
}
