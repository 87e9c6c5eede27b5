/* A diff for people and as JSON: private to nfsbal/cli/diff*.c. */
#ifndef NFSBAL_CLI_DIFF_TEXT_H
#define NFSBAL_CLI_DIFF_TEXT_H

#include <stdio.h>

struct diff;

void diff_text(const struct diff *x, const char *plan, FILE *out); /* `plan`: the name of its file */
void diff_json(const struct diff *x, const char *plan, FILE *out);

#endif
