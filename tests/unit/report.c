/* The report's forms of results made by hand: what people read, and that the forms for programs say the same. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emu/model/expect.h"
#include "emu/model/result.h"
#include "emu/report/report.h"
#include "tests/support/site.h"

/* Two cases, one link used in the first and both in the second, and an expectation that fails. */
struct fixture {
    struct result *results[2];
    struct expect_case cases[2];
    struct topo_expect expects[2];
    struct expect_outcome outcomes[2];
    struct report report;
};

static struct result *run(const char *name, unsigned links)
{
    struct result *r = result_new(site_new(name, TOPO_WRITE), "train", 5, PS_PER_S, 3);
    r->window_start = PS_PER_S;
    r->window_end = r->duration = 3 * PS_PER_S;
    for (unsigned l = 0; l < links; l++) {
        for (int i = 0; i < 2000; i++)
            result_operation(r, l, (int)l, 2, true, 100000, (1 + i % 10) * PS_PER_MS);
        struct result_link *link = &r->links[2 * l];
        link->bulk_bytes = link->bytes = 200000000;
        link->frames = 23423;
        link->flows_write = 1;
        link->over_time[1] = 0.80001f;
    }
    r->links[0].dropped_frames = 7;
    r->jobs[0].retransmissions = 3;
    r->complete = true;
    result_note(r, "drawn: nothing");
    result_finish(r);
    return r;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->results[0] = run("one", 1);
    f->results[1] = run("two", 2);
    for (int i = 0; i < 2; i++) {
        f->cases[i] = (struct expect_case){f->results[i]->case_name, f->results[i]->topo, f->results[i]};
        f->expects[i] =
            (struct topo_expect){.figure = "a paper, fig. 1", .basis = "stated", .min = nan(""), .max = nan("")};
    }
    f->expects[0].value = "two.write / one.write";
    f->expects[0].near = 1.9;
    f->expects[0].within = 0.08;
    f->expects[1].value = "two.links_used";
    f->expects[1].near = 3;
    f->expects[1].exact = true;
    for (int i = 0; i < 2; i++)
        assert_true(expect_judge(&f->expects[i], f->cases, 2, &f->outcomes[i], NULL));
    f->report = (struct report){.file = "site.yaml",
                                .name = "site",
                                .title = "a little site",
                                .results = (const struct result *const *)f->results,
                                .n_results = 2,
                                .outcomes = f->outcomes,
                                .n_outcomes = 2};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    result_free(f->results[0]);
    result_free(f->results[1]);
    free(f);
    return 0;
}

static char *print(const struct report *r, char form)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(form == 't'   ? report_tsv(r, out)
                     : form == 'j' ? report_json(r, out)
                                   : report_text(r, out, form == 'b'),
                     0);
    fclose(out);
    return text;
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("missing: %s\nin: %s", part, text);
}

static void text(void **state)
{
    struct fixture *f = *state;
    char *full = print(&f->report, 'f');
    has(full, "site: a little site\nsite.yaml, engine train, seed 5, network only");
    has(full, "\none: write 100.0 MB/s from 1 s to 3 s\n note: drawn: nothing\n");
    has(full, "\n ds1        10.0.0.101       100.0      1000    5.01   10.00   10.00              3         0\n");
    has(full, "\n ds2        10.0.0.102         0.0         -       -       -       -              0         0\n");
    has(full, "\n esx1:vmnic1 - sw1:p1  1 Gbit/s          1    80.0 %                    -        7  "
              "################\n");
    has(full, "\n esx1:vmnic2 - sw1:p2  1 Gbit/s                    -                    -        0  idle\n");
    has(full, "\n one        100.0          1.00           1 of 2        7              3  ################\n");
    has(full, "\n two        200.0          2.00           2 of 2        7              3  "
              "################################\n");
    has(full, "two.write / one.write  1.9 +- 8 %  stated     2   +5.3 %  pass\n");
    has(full, "two.links_used                  3  stated     2  -33.3 %  FAIL\n 1 of 2 as expected, 1 NOT\n");
    free(full);

    char *brief = print(&f->report, 'b');
    assert_null(strstr(brief, "ds1"));
    has(brief, "\n two        200.0");
    has(brief, "1 NOT");
    free(brief);
}

static void interrupted(void **state)
{
    struct fixture *f = *state;
    f->results[1]->complete = false;
    f->results[1]->duration = 2500 * PS_PER_MS;
    for (int i = 0; i < 2; i++)
        assert_true(expect_judge(&f->expects[i], f->cases, 2, &f->outcomes[i], NULL));
    char *full = print(&f->report, 'f');
    has(full, "INTERRUPTED at 2.5 s");
    has(full, "not run  case two was interrupted\n 0 of 2 as expected, 2 not run\n");
    free(full);
}

static void programs(void **state)
{
    struct fixture *f = *state;
    char *tsv = print(&f->report, 't'), *json = print(&f->report, 'j'), *again = print(&f->report, 'j');
    has(tsv, "case\tkind\tname\tmetric\tvalue\n\tfile\t\tschema\temu-result/1\n");
    has(tsv, "\none\trun\t\twrite.rate\t100000000\n");
    has(tsv, "\none\tdatastores\tds1\twrite.latency.p95\t0.01\n");
    has(tsv, "\none\tdatastores\tds2\twrite.latency\t\n");
    has(tsv, "\ntwo\tlinks\tesx1:vmnic2>sw1:p2\tutilisation\t0.8\n");
    has(tsv, "\ntwo\tlinks\tesx1:vmnic2>sw1:p2\tover_time.1\t0.8\n");
    has(tsv, "\ntwo\tjobs\twork ds1 esx1\tretransmissions\t3\n");
    has(tsv, "\n\texpect\ta paper, fig. 1 two.links_used\tverdict\tfail\n");
    has(json, "{\n \"schema\": \"emu-result/1\",\n \"file\": \"site.yaml\",");
    has(json, "\"over_time\": [0.0, 0.8, 0.0]}");
    has(json, "\"finished\": null");
    assert_string_equal(json, again);
    free(tsv);
    free(json);
    free(again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interrupted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(programs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
