/* A diff for people and as JSON: private to nfsbal/cli/diff*.c. */
#ifndef NFSBAL_CLI_DIFF_TEXT_H
#define NFSBAL_CLI_DIFF_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct diff;
struct diff_step;
struct json_out;

/* What changes besides mounts: numbered from 1, before the datastores; how many of these there are. */
size_t diff_site_steps(const struct diff *x);
/* A step mounts the datastore anew on the host (box). */
bool diff_moves(const struct diff *x, int datastore, int host);
void diff_changes_text(const struct diff *x, FILE *out);
void diff_changes_json(const struct diff *x, struct json_out *j);

/* Which way is written out where an outage could be a copy. */
enum diff_way { DIFF_BOTH = -1, DIFF_COPY, DIFF_OUTAGE };

/* The hosts of the mounts like the i-th of a step; nothing, and false, when an earlier one is like it. `out` NULL: only that. */
typedef bool diff_hosts_fn(const struct diff *x, const struct diff_step *s, size_t i, FILE *out);
void diff_copy(const struct diff *x, const struct diff_step *s, diff_hosts_fn *hosts, FILE *out);

void diff_text(const struct diff *x, const char *plan, enum diff_way way, FILE *out); /* `plan`: the name of its file */
void diff_json(const struct diff *x, const char *plan, FILE *out);

#endif
