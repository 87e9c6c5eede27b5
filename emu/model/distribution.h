/* Seeded distributions for service and arrival times.
 *
 * A draw takes one step of a random stream and uses +, -, *, / and square roots only, each rounded as IEEE 754 says, so that the
 * same seed gives the same times on every machine (the C library's log() and exp() differ in their last bits).
 */
#ifndef EMU_MODEL_DISTRIBUTION_H
#define EMU_MODEL_DISTRIBUTION_H

#include <stddef.h>

struct random;

enum distribution_kind {
    DISTRIBUTION_CONSTANT,
    DISTRIBUTION_EXPONENTIAL,
    DISTRIBUTION_UNIFORM,    /* between mean x (1 - spread) and mean x (1 + spread) */
    DISTRIBUTION_LOG_NORMAL, /* spread: standard deviation / mean */
    DISTRIBUTION_TABLE       /* values at equal steps of probability, straight lines between them */
};

extern const char *const distribution_names[]; /* NULL-terminated */

struct distribution {
    enum distribution_kind kind;
    double mean;
    double spread;
    const double *table; /* ascending; n >= 2: the first is the least, the last the greatest value */
    size_t n;
};

/* The next value, >= 0. */
double distribution_draw(const struct distribution *d, struct random *r);

/* Mean, variance and the probability of values <= x, by formula: what tests and closed forms use. */
double distribution_mean(const struct distribution *d);
double distribution_variance(const struct distribution *d);
double distribution_below(const struct distribution *d, double x);

#endif
