/* Expectations of a topology file: `value:` expressions over the results of its cases, held against what a document says.
 *
 *     value  = term { ("+" | "-") term }           term = factor { ("*" | "/") factor }
 *     factor = NUMBER | CASE "." METRIC [ "[" SELECTOR "]" ] | "(" value ")" | "-" factor
 *
 * CASE is a name of `cases:`, or `run` in a file without cases. A name may hold dashes: `ip-hash.write`; a minus between
 * two values needs a blank before it. NUMBER may carry a unit: 118MB/s, 1Gbit/s (as bytes/s), 4.5ms (as seconds), 8%.
 *
 *     write, read               NFS payload, bytes/s over the measuring window; all, or of the selected
 *                               datastore, host, VIP, controller or NAS
 *     links_used                links (cables) of hosts that carried bulk data in the window, in whichever direction;
 *                               selector: those of that host, NAS, controller or switch
 *     util[LINKDIR]             share of the rate, 0..1, with all overhead on the wire
 *     flows[LINKDIR]            flows with bulk data whose path uses it
 *     drops                     frames dropped by full queues; all, or on the selected link direction
 *     retransmissions, timeouts TCP, whole run; all, or of the selected datastore or host
 *     flooded, flaps            unicast frames flooded by switches, MAC addresses that moved; whole run
 *     latency_p50, _p95, _p99   seconds, reads and writes together; all, or of the selected datastore or host
 *     iops                      operations a second: all or of the selected datastore or host, in the window; of machines,
 *                               [GROUP] or [GROUP:PHASE], from the first that enters to the last that leaves
 *     iops_peak                 of all machines, or [GROUP], in their busiest 10 s
 *     disk_iops, disk_read, disk_write, disk_util
 *                               [NAS:GROUP] of a `storage:`, whole run: operations a second of one disk, bytes/s of all
 *                               disks, parity and mirrors included, share of their time
 *     duration, job_time        seconds: of a group or phase, first in to last out; of one machine, mean. duration also of
 *                               what ends by bytes, first start to last end: all, or of a datastore or host
 *     latency_mean, _max        seconds, of a group or phase, whole run; the mean also of all, a datastore or a host
 *     read_mean, write_mean     the same of reads and of writes alone
 *     load                      what `raise:` made of the file's load, as a multiple
 */
#ifndef EMU_MODEL_EXPECT_H
#define EMU_MODEL_EXPECT_H

#include <stdbool.h>
#include <stddef.h>

struct diag;
struct result;
struct topo;
struct topo_expect;
struct topo_file;

struct expect_case {
    const char *name; /* NULL: the file without cases */
    const struct topo *topo;
    const struct result *result; /* NULL: not run */
};

enum expect_unit { EXPECT_NUMBER, EXPECT_BYTES_PER_S, EXPECT_SECONDS };

enum expect_verdict {
    EXPECT_PASS,
    EXPECT_FAIL,
    EXPECT_NOT_RUN,    /* a case that it needs was not run, or not to its end */
    EXPECT_UNDEFINED,  /* division by zero, latency without operations: counts as failed */
    EXPECT_NOT_CLAIMED /* the file says why the model does not claim it; there is a value all the same */
};
const char *expect_verdict_name(enum expect_verdict verdict);

struct expect_outcome {
    const struct topo_expect *expect;
    enum expect_verdict verdict;
    double value; /* NaN when not run or undefined */
    double error; /* (value - near) / near; NaN without `near` or a value */
    enum expect_unit unit;
    char problem[128]; /* in words where undefined or not run */
};

/* Evaluates `text`. False when it is no expression over these cases and their topologies: `at` is then the offset of the
 * place and out->problem says what is wrong. Results may be missing; names are checked all the same. Only value, unit,
 * verdict (PASS when there is a value) and problem are set. */
bool expect_evaluate(const char *text, const struct expect_case *cases, size_t n, struct expect_outcome *out,
                     size_t *at);

/* Judges an expectation. False, with an error added to d, when its expression is wrong. */
bool expect_judge(const struct topo_expect *expect, const struct expect_case *cases, size_t n,
                  struct expect_outcome *out, struct diag *d);

/* Checks all expressions and inputs of a file whose cases can be read, without results: mistakes become errors in d. */
void expect_check_file(const struct topo_file *f, struct diag *d);

#endif
