/* CUBIC in integers against RFC 9438's formulas in double precision. */
#include "emu/sim/congestion.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "emu/model/random.h"
#include "tests/support/seed.h"

#define TICKS 1048576.0

static void root(void **state)
{
    (void)state;
    struct random r = random_stream(test_seed(), "root");
    for (int i = 0; i < 20000; i++) {
        unsigned __int128 x = (unsigned __int128)random_next(&r) << 60 >> random_below(&r, 124);
        unsigned __int128 y = cubic_root(x);
        assert_true(y * y * y <= x);
        assert_true((y + 1) * (y + 1) * (y + 1) > x);
    }
    assert_int_equal(cubic_root(0), 0);
    assert_int_equal(cubic_root(27), 3);
    assert_int_equal(cubic_root(26), 2);
}

static void curve(void **state)
{
    (void)state;
    struct random r = random_stream(test_seed(), "curve");
    for (int i = 0; i < 50000; i++) {
        uint32_t mss = 536 + (uint32_t)random_below(&r, 8500);
        uint64_t w_max = mss * (2 + random_below(&r, 20000)), cwnd = w_max * 7 / 10;
        double k = cbrt((double)(w_max - cwnd) / mss / 0.4);
        assert_true(fabs((double)cubic_k(mss, w_max, cwnd) / TICKS - k) < 2e-6);
        double t = (double)random_below(&r, 60000000) / 1e6;
        double w = (0.4 * pow(t - k, 3)) * mss + (double)w_max;
        uint64_t got = cubic_window(mss, w_max, cubic_k(mss, w_max, cwnd), (int64_t)(t * TICKS));
        /* An error of two ticks in time, and one byte of rounding. */
        double slack = 1.2 * (t - k) * (t - k) * mss * 3e-6 + 3;
        assert_true(w < 0 ? got == 0 || (double)got < slack : fabs((double)got - w) < slack);
    }
    assert_int_equal(cubic_k(1448, 1000, 2000), 0);
}

/* A flow alone after one loss, acknowledged once a round trip: cwnd follows the larger of the cubic curve and the
 * Reno estimate. */
static void growth(void **state)
{
    (void)state;
    static const ps_t rtts[] = {500 * PS_PER_US, 2 * PS_PER_MS, 20 * PS_PER_MS, 100 * PS_PER_MS};
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t mss = 1448;
        struct congestion c;
        congestion_init(&c, CONGESTION_CUBIC, mss);
        c.cwnd = 400 * mss;
        congestion_loss(&c, c.cwnd);
        c.cwnd = c.ssthresh;
        double w_max = 400, w_est = 280, w = 280, k = cbrt(w_max * 0.3 / 0.4), rtt = (double)rtts[i] / 1e12;
        /* The model acknowledges 20 times a round trip, as the real thing would in pieces. */
        for (ps_t now = 0, step = rtts[i] / 20; now < 8 * PS_PER_S; now += step) {
            uint64_t bytes = c.cwnd / 20;
            congestion_acked(&c, bytes, true, 0, 0, rtts[i], rtts[i], now);
            double t = (double)now / 1e12, acked = w / 20;
            w_est += (w_est < 400 ? 9.0 / 17 : 1) * acked / w;
            double target = fmin(0.4 * pow(t + rtt - k, 3) + w_max, 1.5 * w);
            if (target > w)
                w += (target - w) * acked / w;
            w = fmax(w, w_est);
            assert_true(fabs((double)c.cwnd / mss - w) < 0.005 * w);
        }
        assert_true(w > 400);
    }
}

static void reductions(void **state)
{
    (void)state;
    struct congestion c;
    congestion_init(&c, CONGESTION_CUBIC, 1000);
    assert_int_equal(c.cwnd, 10000);
    c.cwnd = 100000;
    congestion_loss(&c, 100000);
    assert_int_equal(c.ssthresh, 70000);
    assert_int_equal(c.cubic.w_max, 100000);
    c.cwnd = 80000; /* lost again below the plateau: fast convergence */
    congestion_loss(&c, 80000);
    assert_int_equal(c.ssthresh, 56000);
    assert_int_equal(c.cubic.w_max, 68000);
    congestion_timeout(&c, 56000);
    assert_int_equal(c.cwnd, 1000);
    congestion_init(&c, CONGESTION_RENO, 1000);
    congestion_loss(&c, 100000 < c.cwnd ? 100000 : c.cwnd);
    assert_int_equal(c.ssthresh, 5000);
    congestion_loss(&c, 100);
    assert_int_equal(c.ssthresh, 2000); /* never below two segments */
}

static void reno_grows_a_segment_per_window(void **state)
{
    (void)state;
    struct congestion c;
    congestion_init(&c, CONGESTION_RENO, 1000);
    c.ssthresh = 10000;
    for (int window = 0; window < 10; window++) {
        uint64_t before = c.cwnd;
        for (int i = 0; i < 10; i++)
            congestion_acked(&c, before / 10, true, 0, 0, PS_PER_MS, PS_PER_MS, 0);
        assert_in_range(c.cwnd - before, 900, 1000);
    }
    uint64_t before = c.cwnd;
    congestion_acked(&c, before, false, 0, 0, PS_PER_MS, PS_PER_MS, 0); /* not what held it back */
    assert_int_equal(c.cwnd, before);
}

static void hystart_leaves_slow_start(void **state)
{
    (void)state;
    /* Each round trip is 6 ms longer than the one before: the queue fills. Rounds of 16 acknowledgements. */
    struct congestion c;
    congestion_init(&c, CONGESTION_CUBIC, 1000);
    uint64_t una = 0;
    ps_t rtt = 10 * PS_PER_MS;
    int rounds = 0;
    while (congestion_slow_start(&c) && rounds < 30) {
        uint64_t nxt = una + c.cwnd, piece = c.cwnd / 16;
        for (int i = 0; i < 16; i++)
            congestion_acked(&c, piece, true, una += piece, nxt, rtt, rtt, rounds * rtt);
        una = nxt;
        rtt += 6 * PS_PER_MS;
        rounds++;
    }
    /* Seen in the third round (two to compare), then five rounds of conservative growth. */
    assert_in_range(rounds, 6, 9);
    /* With a round trip that does not change it goes on. */
    congestion_init(&c, CONGESTION_CUBIC, 1000);
    una = 0;
    for (rounds = 0; rounds < 8; rounds++) {
        uint64_t nxt = una + c.cwnd, piece = c.cwnd / 16;
        for (int i = 0; i < 16; i++)
            congestion_acked(&c, piece, true, una += piece, nxt, rtt, rtt, 0);
        una = nxt;
    }
    assert_true(congestion_slow_start(&c) && c.cwnd > 2000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(root),
        cmocka_unit_test(curve),
        cmocka_unit_test(growth),
        cmocka_unit_test(reductions),
        cmocka_unit_test(reno_grows_a_segment_per_window),
        cmocka_unit_test(hystart_leaves_slow_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
