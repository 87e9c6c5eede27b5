/* Prints a topology in full, one fact a line, so that two of them can be compared as text. */
#ifndef TESTS_SUPPORT_TOPO_DUMP_H
#define TESTS_SUPPORT_TOPO_DUMP_H

#include <stdio.h>

struct topo;
void topo_dump(const struct topo *t, FILE *out);

#endif
