#include "emu/model/diag.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 64

static int lower(char c) { return tolower((unsigned char)c); }

/* Optimal string alignment distance (insert, delete, replace, swap two neighbours), letter case
 * ignored. */
static size_t distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        const size_t *before = rows[(i + 1) % 3], *above = rows[(i - 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (lower(a[i - 1]) != lower(b[j - 1]));
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]) &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *diag_nearest(const char *word, const char *const *names, size_t n)
{
    const char *best = NULL;
    size_t length = strlen(word);
    if (length > LONGEST)
        return NULL;
    size_t least = length / 3 + (length < 3 ? 1 : 0); /* of a short word one letter may be wrong */
    for (size_t i = 0; i < n; i++) {
        size_t m = strlen(names[i]);
        if (m > LONGEST || m > length + least || length > m + least)
            continue;
        size_t d = distance(word, length, names[i], m);
        if (d <= least && (!best || d < least)) {
            best = names[i];
            least = d;
        }
    }
    return best;
}
