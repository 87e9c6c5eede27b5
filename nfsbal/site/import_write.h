/* The writer of an import: private to nfsbal/site/import_write*.c. */
#ifndef NFSBAL_SITE_IMPORT_WRITE_H
#define NFSBAL_SITE_IMPORT_WRITE_H

#include <stdio.h>

#include "nfsbal/site/import_model.h"

struct import_writer {
    struct import *m;
    FILE *out, *gaps;
    size_t n_gaps;
    bool first; /* of the members of a flow map */
};

/* A comment that says what no input tells, and which command does (NULL: none). Each is counted. */
void import_gap(struct import_writer *w, int indent, const char *node, const char *command, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A scalar, quoted where YAML would read it as something else. */
void import_scalar(struct import_writer *w, const char *text);
/* What no quoting saves: brackets are ranges here, {name} is replaced. */
bool import_can_write(const char *text);

/* The policy when it is one that is known, else NULL with a gap. */
const char *import_policy(struct import_writer *w, int indent, const char *node, const char *team, const char *policy);

/* Members of "{a: b, c: [d, e]}"; those without a value are left out. import_open() begins, import_close() ends the line. */
void import_open(struct import_writer *w, int indent, const char *name);
void import_member(struct import_writer *w, const char *name, const char *value);
void import_member_number(struct import_writer *w, const char *name, unsigned value); /* 0: left out */
void import_member_mtu(struct import_writer *w, unsigned mtu);                        /* out of range: left out */
void import_member_words(struct import_writer *w, const char *name, const struct import_words *words);
void import_close(struct import_writer *w);

void import_write_switch(struct import_writer *w, const struct import_device *d);
void import_write_nas(struct import_writer *w, const struct import_device *d);
void import_write_links(struct import_writer *w);
void import_write_datastores(struct import_writer *w);

#endif
