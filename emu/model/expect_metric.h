/* The metrics that an expectation may name; their list and meaning are in expect.h. Private to expect.c. */
#ifndef EMU_MODEL_EXPECT_METRIC_H
#define EMU_MODEL_EXPECT_METRIC_H

#include "emu/model/expect.h"

/* What a selector may name. */
enum expect_kind {
    EXPECT_ALL,
    EXPECT_DATASTORE,
    EXPECT_HOST,
    EXPECT_VIP,
    EXPECT_CONTROLLER,
    EXPECT_NODE, /* a NAS or switch as a whole */
    EXPECT_LINKDIR,
    EXPECT_DISKS, /* a group of disks: NODE:GROUP */
    EXPECT_VMS    /* a group of virtual machines, or one of its phases */
};

/* A selector, looked up in a topology. */
struct expect_selection {
    enum expect_kind kind;
    int index; /* datastore, box (host, controller), VIP, node, linkdir; of machines see expect_vms.h */
};

struct expect_metric {
    const char *name;
    enum expect_unit unit;
    unsigned kinds;                                                                       /* 1 << enum expect_kind */
    double (*value)(const struct result *r, struct expect_selection s, double parameter); /* NaN: undefined */
    double parameter;
};

const struct expect_metric *expect_metric_find(const char *name, size_t length);
const char *expect_metric_nearest(const char *name);

/* Looks the selector up among what the metric takes. Returns NULL, or a sentence about what is wrong, in buf. */
const char *expect_select(const struct topo *t, const struct expect_metric *m, const char *selector,
                          struct expect_selection *out, char *buf, size_t size);

#endif
