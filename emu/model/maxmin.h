/* Max-min fair rates of flows over capacities, by classes of equal flows.
 *
 * Progressive filling: all flows rise together until a resource is full; its flows are frozen at that rate, the rest go
 * on. A flow uses each of its resources with a share (1, or less where a hop is known only in distribution) and may have
 * a cap of its own. The state is kept between solves so that the start or end of a flow costs only what it touches.
 */
#ifndef EMU_MODEL_MAXMIN_H
#define EMU_MODEL_MAXMIN_H

#include <stddef.h>

struct maxmin; /* a problem: resources (link directions, stations) and classes of flows */

struct maxmin *maxmin_new(size_t n_resources);
void maxmin_free(struct maxmin *m);
void maxmin_set_capacity(struct maxmin *m, size_t resource, double capacity);

struct maxmin_use {
    int resource;
    double share;
};

/* Adds a class of `count` equal flows (count may be 0 and change later); returns its id or -ENOMEM. */
int maxmin_add_class(struct maxmin *m, const struct maxmin_use *uses, size_t n_uses, double weight, double cap,
                     size_t count);
void maxmin_set_count(struct maxmin *m, int class_, size_t count);
void maxmin_set_cap(struct maxmin *m, int class_, double cap);

void maxmin_solve(struct maxmin *m);
double maxmin_rate(const struct maxmin *m, int class_);      /* of one flow of the class */
double maxmin_used(const struct maxmin *m, size_t resource); /* sum over flows */
int maxmin_bottleneck(const struct maxmin *m, int class_);   /* resource that froze it, or -1: its cap */

#endif
