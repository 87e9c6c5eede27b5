/* needs: full */
#include "tests/support/client_bed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "nfsbal/client/loop.h"

static enum fake_action hook(void *context, struct fake_call *c)
{
    struct bed *b = context;

    if (c->mount || c->procedure != b->procedure || b->times == 0 || (b->vip >= 0 && c->vip != (unsigned)b->vip))
        return FAKE_ANSWER;
    b->times--;
    c->after_ms = b->after_ms;
    return b->action;
}

static void mutate(void *context, struct fake_call *c) { ((struct bed *)context)->mutate(c); }

void bed_next_is(struct bed *b, uint32_t procedure, enum fake_action action, int64_t after_ms)
{
    b->procedure = procedure;
    b->action = action;
    b->after_ms = after_ms;
    b->times = 1;
    b->vip = -1;
}

static void on_ready(void *context, const char *problem)
{
    struct bed *b = context;

    b->ready = true;
    snprintf(b->problem, sizeof b->problem, "%s", problem ? problem : "");
    loop_stop(b->loop);
}

static void on_report(void *context, const char *line)
{
    struct bed *b = context;
    size_t n = strlen(b->reports);

    snprintf(b->reports + n, sizeof b->reports - n, "%s\n", line);
}

static void hung(void *context)
{
    (void)context;
    fail_msg("nothing happened for 20 s");
}

void bed_run(struct bed *b)
{
    struct loop_timer timer = {.active = false};

    loop_timer_start(b->loop, &timer, 20 * NS_PER_S, hung, b);
    loop_run(b->loop);
    loop_timer_stop(&timer);
}

static void stop(void *context) { loop_stop(((struct bed *)context)->loop); }

void bed_run_for(struct bed *b, int64_t ms)
{
    struct loop_timer timer = {.active = false};
    int64_t end = loop_clock() + ms * NS_PER_MS;

    for (int64_t left; (left = end - loop_clock()) > 0;) {
        loop_timer_start(b->loop, &timer, left, stop, b);
        loop_run(b->loop);
        loop_timer_stop(&timer);
    }
}

void bed_new(struct bed *b, unsigned n_vips)
{
    struct fake_hooks hooks = {.call = hook, .mutate = mutate, .context = b};

    memset(b, 0, sizeof *b);
    b->loop = loop_new();
    b->fake = fake_nfs_new(b->loop, n_vips, &hooks);
    fake_nfs_config(b->fake, &b->config, b->servers);
    b->config.report = on_report;
    b->config.report_context = b;
    b->config.spread = PATHS_SPREAD_STRIPE;
}

void bed_mount(struct bed *b)
{
    b->paths = paths_new(b->loop, &b->config, on_ready, b);
    assert_non_null(b->paths);
    bed_run(b);
    assert_true(b->ready);
}

void bed_free(struct bed *b)
{
    paths_free(b->paths);
    fake_nfs_free(b->fake);
    loop_free(b->loop);
}

static void on_done(struct request *r, const struct nfs3_result *result)
{
    struct answer *a = r->arg;

    assert_false(a->done);
    a->done = true;
    a->status = result->status;
    a->count = result->count;
    a->n_entries = result->n_entries;
    a->verifier = result->verifier;
    if (result->fh)
        a->fh = *result->fh;
    if (result->attr)
        a->attr = *result->attr;
    if (result->target)
        snprintf(a->text, sizeof a->text, "%s", result->target);
    loop_stop(a->bed->loop);
}

void bed_start(struct bed *b, struct answer *a, struct nfs3_call call)
{
    memset(a, 0, sizeof *a);
    a->bed = b;
    a->request.call = call;
    a->request.done = on_done;
    a->request.arg = a;
    a->request.want = REQUEST_ANY_PATH;
    paths_submit(b->paths, &a->request);
}

void bed_await(struct answer *a)
{
    while (!a->done)
        bed_run(a->bed);
}

enum nfs3_status bed_call(struct bed *b, struct answer *a, struct nfs3_call call)
{
    bed_start(b, a, call);
    bed_await(a);
    return a->status;
}

struct nfs3_fh bed_root(const struct bed *b) { return paths_root(b->paths)->fh; }

struct nfs3_call bed_named(const struct bed *b, enum nfs3_procedure procedure, const char *name)
{
    return (struct nfs3_call){.procedure = procedure, .fh = bed_root(b), .name = name};
}

struct nfs3_fh bed_make_file(struct bed *b, const char *name)
{
    struct answer a;

    assert_int_equal(bed_call(b, &a, bed_named(b, NFS3_CREATE, name)), NFS3_SUCCESS);
    return a.fh;
}
