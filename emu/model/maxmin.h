/* Max-min fair rates of flows over capacities, by classes of equal flows.
 *
 * Progressive filling: all flows rise together (each by its weight) until a resource is full; its flows are frozen at that
 * rate, the rest go on. A flow uses each of its resources with a share: 1, or less where a hop is known only in
 * distribution, or more where a byte of payload takes more than a byte of the resource. It may have a cap of its own.
 *
 * The state is kept between solves: the start or end of a flow redoes only the resources that it can have touched.
 * Adding classes is for set-up (the next solve starts from nothing); give a class the count 0 and change it later.
 */
#ifndef EMU_MODEL_MAXMIN_H
#define EMU_MODEL_MAXMIN_H

#include <stddef.h>

struct maxmin; /* a problem: resources (link directions, stations) and classes of flows */

/* A problem whose resources all have capacity 0. NULL on lack of memory. */
struct maxmin *maxmin_new(size_t n_resources);
void maxmin_free(struct maxmin *m); /* accepts NULL */
/* Capacity in the unit of rates times shares, >= 0. */
void maxmin_set_capacity(struct maxmin *m, size_t resource, double capacity);

struct maxmin_use {
    int resource;
    double share; /* > 0; several uses of one resource add up */
};

#define MAXMIN_NO_CAP 0.0

/* Adds a class of `count` equal flows; returns its id (0, 1, ...) or -ENOMEM. A flow of weight w gets w times the rate of a
 * flow of weight 1 that meets the same bottleneck. `cap` limits one flow. */
int maxmin_add_class(struct maxmin *m, const struct maxmin_use *uses, size_t n_uses, double weight, double cap,
                     size_t count);
void maxmin_set_count(struct maxmin *m, int class_, size_t count);
void maxmin_set_cap(struct maxmin *m, int class_, double cap);

/* 0, or -ENOMEM, only possible in the first solve after classes were added. */
int maxmin_solve(struct maxmin *m);

/* Classes whose rate the last solve changed, in no order. Valid until the next solve. */
const int *maxmin_changed(const struct maxmin *m, size_t *n);

double maxmin_rate(const struct maxmin *m,
                   int class_); /* of one flow; 0 for a class without flows, INFINITY without limit */
double maxmin_used(const struct maxmin *m, size_t resource); /* sum over flows of rate times share */

enum { MAXMIN_CAP = -1, MAXMIN_NO_LIMIT = -2 };
int maxmin_bottleneck(const struct maxmin *m, int class_); /* the resource that froze it, or one of the above */

#endif
