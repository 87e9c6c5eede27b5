#include "emu/model/distribution.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "emu/model/random.h"

const char *const distribution_names[] = {"constant", "exponential", "uniform", "log-normal", "table", NULL};
static_assert(sizeof(distribution_names) / sizeof(distribution_names[0]) == DISTRIBUTION_TABLE + 2,
              "a name per kind, and NULL");

#define LN2 0.693147180559945309417232121458

/* A number in (0, 1): the upper 52 bits of a draw and a half. */
static double open_unit(struct random *r) { return ((double)(random_next(r) >> 12) + 0.5) / 4503599627370496.0; }

/* ln(x) for 0 < x < 2^1023: x = m 2^e with m about 1, ln m by the series of the inverse hyperbolic tangent. */
static double plain_log(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    int e = (int)(bits >> 52) - 1023;
    bits = (bits & UINT64_C(0xFFFFFFFFFFFFF)) | UINT64_C(1023) << 52;
    double m;
    memcpy(&m, &bits, sizeof(m));
    if (m > 1.4142135623730951) {
        m /= 2;
        e++;
    }
    double t = (m - 1) / (m + 1), q = t * t, sum = 0;
    for (int k = 21; k > 0; k -= 2)
        sum = sum * q + 1.0 / k;
    return (double)e * LN2 + 2 * t * sum;
}

/* e^x for |x| < 700: x = k ln 2 + f, e^f by its series. */
static double plain_exp(double x)
{
    double k = (double)(long)(x / LN2 + (x < 0 ? -0.5 : 0.5)), f = x - k * LN2, sum = 1, term = 1;
    for (int i = 1; i < 18; i++) {
        term *= f / i;
        sum += term;
    }
    uint64_t bits = (uint64_t)(1023 + (long)k) << 52;
    double power;
    memcpy(&power, &bits, sizeof(power));
    return sum * power;
}

/* The standard normal value below which a share p of all values lies. P. J. Acklam's rational approximation, relative
 * error below 1.2e-9. */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00},
                        b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01},
                        c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00},
                        d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    const double low = 0.02425;
    if (p > 0.5)
        return -normal_quantile(1 - p);
    if (p < low) {
        double q = sqrt(-2 * plain_log(p));
        return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
               ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    }
    double q = p - 0.5, s = q * q;
    return (((((a[0] * s + a[1]) * s + a[2]) * s + a[3]) * s + a[4]) * s + a[5]) * q /
           (((((b[0] * s + b[1]) * s + b[2]) * s + b[3]) * s + b[4]) * s + 1);
}

double distribution_draw(const struct distribution *d, struct random *r)
{
    double u;
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        break;
    case DISTRIBUTION_EXPONENTIAL:
        return -d->mean * plain_log(open_unit(r));
    case DISTRIBUTION_UNIFORM:
        return d->mean * (1 + d->spread * (2 * open_unit(r) - 1));
    case DISTRIBUTION_LOG_NORMAL:
        u = plain_log(1 + d->spread * d->spread);
        return d->mean * plain_exp(sqrt(u) * normal_quantile(open_unit(r)) - u / 2);
    case DISTRIBUTION_TABLE:
        u = open_unit(r) * (double)(d->n - 1);
        return d->table[(size_t)u] + (u - (double)(size_t)u) * (d->table[(size_t)u + 1] - d->table[(size_t)u]);
    }
    return d->mean;
}

double distribution_mean(const struct distribution *d)
{
    double sum = 0;
    if (d->kind != DISTRIBUTION_TABLE)
        return d->mean;
    for (size_t i = 0; i + 1 < d->n; i++)
        sum += (d->table[i] + d->table[i + 1]) / 2;
    return sum / (double)(d->n - 1);
}

double distribution_variance(const struct distribution *d)
{
    double mean = distribution_mean(d), sum = 0;
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        return 0;
    case DISTRIBUTION_EXPONENTIAL:
        return mean * mean;
    case DISTRIBUTION_UNIFORM:
        return mean * mean * d->spread * d->spread / 3;
    case DISTRIBUTION_LOG_NORMAL:
        return mean * mean * d->spread * d->spread;
    case DISTRIBUTION_TABLE:
        break;
    }
    for (size_t i = 0; i + 1 < d->n; i++) {
        double a = d->table[i], b = d->table[i + 1];
        sum += (a * a + a * b + b * b) / 3;
    }
    return sum / (double)(d->n - 1) - mean * mean;
}

double distribution_below(const struct distribution *d, double x)
{
    double s;
    switch (d->kind) {
    case DISTRIBUTION_CONSTANT:
        break;
    case DISTRIBUTION_EXPONENTIAL:
        return x <= 0 ? 0 : 1 - exp(-x / d->mean);
    case DISTRIBUTION_UNIFORM:
        if (d->spread <= 0)
            break;
        return fmin(1, fmax(0, (x / d->mean - 1 + d->spread) / (2 * d->spread)));
    case DISTRIBUTION_LOG_NORMAL:
        if (d->spread <= 0)
            break;
        s = sqrt(log(1 + d->spread * d->spread));
        return x <= 0 ? 0 : erfc(-(log(x / d->mean) + s * s / 2) / (s * sqrt(2))) / 2;
    case DISTRIBUTION_TABLE:
        for (size_t i = 0; i + 1 < d->n; i++)
            if (x < d->table[i + 1])
                return x < d->table[i]
                           ? (double)i / (double)(d->n - 1)
                           : ((double)i + (x - d->table[i]) / (d->table[i + 1] - d->table[i])) / (double)(d->n - 1);
        return 1;
    }
    return x >= d->mean;
}
