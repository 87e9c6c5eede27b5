/* emu capture: the frames of a live lab's link. needs: full */
#include "emu/cli/commands.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu/cli/capture_stream.h"
#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/lab_client.h"
#include "emu/cli/options.h"
#include "emu/live/control.h"
#include "emu/model/units.h"

struct capture_options {
    const char *write;
    int64_t snap, count;
    ps_t duration;
    bool quiet;
};

static const char *parse_duration(const char *text, void *member)
{
    ps_t time;
    const char *expected = unit_parse_time(text, &time);

    if (!expected && time <= 0)
        expected = "a time above 0";
    if (!expected)
        *(ps_t *)member = time;
    return expected;
}

static const struct option_spec rows[] = {
    OPTION_STRING(struct capture_options, write, "write", 'w', "FILE", "where to; - is standard output"),
    OPTION_INTEGER(struct capture_options, snap, "snap", 's', "BYTES", 64, 262144,
                   "of each frame at most; by default all"),
    OPTION_INTEGER(struct capture_options, count, "count", 'c', "N", 1, INT64_MAX, "end after N frames"),
    OPTION_VALUE(struct capture_options, duration, "for", 0, "TIME", parse_duration, "end after this time, 10s"),
    OPTION_FLAG(struct capture_options, quiet, "quiet", 'q', "no words at the end"),
};

static const struct option_table table = {
    .operands = "LAB LINK -w FILE",
    .min_operands = 2,
    .max_operands = 2,
    .about = "Captures a link of a live lab until Ctrl-C, into a pcap file with nanoseconds. LINK is one of its ports\n"
             "(esx1:vmnic2: both directions) or a direction (\"esx1:vmnic2>sw1:ge3\"). Super-frames appear as the\n"
             "real frames that they stand for, each at the time when its last bit is in at the far end.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

enum { LOOK_MS = 100 }; /* how long a signal or the end of the time may go unnoticed */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Until a signal, the limit, the end of the time or of the lab. */
static int pump(const char *command, const struct capture_options *o, struct capture_stream *s)
{
    const volatile sig_atomic_t *interrupted = interrupt_catch();
    int64_t end = now_ms() + o->duration / PS_PER_MS;
    enum capture_going going = CAPTURE_GOES_ON;
    char problem[512];

    while (going == CAPTURE_GOES_ON && !*interrupted && (o->duration == 0 || now_ms() < end))
        going = capture_stream_pump(s, LOOK_MS, problem, sizeof problem);
    return going == CAPTURE_FAILED ? cli_error(CLI_FAILED, command, "%s", problem) : CLI_OK;
}

/* Who reads a pipe may want to know how it went as well. */
static void print_end(const struct capture_stream *s, uint64_t lost)
{
    fprintf(stderr, "%" PRIu64 " frames captured, %" PRIu64 " bytes", s->frames, s->bytes);
    if (lost)
        fprintf(stderr, "; %" PRIu64 " frames are missing, they came faster than they were read", lost);
    fputc('\n', stderr);
}

static int run(const char *command, const struct capture_options *o, const char *lab, const char *link)
{
    int rc;
    struct control_client *c = lab_client(command, lab, &rc), *other = c ? lab_client(command, lab, &rc) : NULL;
    struct capture_stream s;
    char problem[512];

    if (!other) {
        control_disconnect(c);
        return rc;
    }
    if (!capture_stream_begin(&s, c, link, (uint64_t)o->snap, o->write, problem, sizeof problem)) {
        rc = lab_client_failed(command, c, problem);
        control_disconnect(c);
        control_disconnect(other);
        return rc;
    }
    s.limit = (uint64_t)o->count;
    rc = pump(command, o, &s);
    if (!o->quiet)
        print_end(&s, capture_stream_lost(&s, other));
    control_disconnect(other);
    if (!capture_stream_end(&s, problem, sizeof problem) && rc == CLI_OK)
        rc = cli_error(CLI_FAILED, command, "%s", problem);
    return rc;
}

int cmd_capture(int argc, char **argv)
{
    struct capture_options options = {.write = NULL};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc != OPTION_GO_ON)
        goto out;
    if (!options.write)
        rc = cli_error(CLI_USAGE, argv[0], "-w FILE is missing: where shall the frames go? - is standard output");
    else if (strcmp(options.write, "-") == 0 && isatty(STDOUT_FILENO))
        rc = cli_error(CLI_USAGE, argv[0],
                       "-w -: standard output is a terminal, which can't show frames; pipe them on, "
                       "into `tshark -r -` for example");
    else
        rc = run(argv[0], &options, operands.items[0], operands.items[1]);
out:
    option_free(&table, &options, &operands);
    return rc;
}
