/* The topology of a case with one number of the file made larger or smaller: how far does a result move with it? */
#ifndef EMU_MODEL_TOPOLOGY_SCALE_H
#define EMU_MODEL_TOPOLOGY_SCALE_H

#include <stdbool.h>

struct diag;
struct topo;
struct topo_file;
struct topo_input;

/* As topo_load(), with the number at each place of the input (after the case's `set` is merged) times `factor`: what
 * counts things is rounded to a whole number, what has a unit keeps it. *moved is false when none of the places is in this
 * case or none changed by rounding; the topology is then that of topo_load(). An error in d: a place that is no number, or is
 * in neither the file nor any of its cases. */
struct topo *topo_load_scaled(const struct topo_file *f, const char *case_name, const struct topo_input *input,
                              double factor, bool *moved, struct diag *d);

/* As topo_load(), with another text in the place of the number at `place`. NULL, with an error in d, when there is none. */
struct topo *topo_load_with(const struct topo_file *f, const char *case_name, const char *place, const char *text,
                            struct diag *d);

/* True when every place of the input is a number in the file or one of its cases; else an error in d. */
bool topo_input_check(const struct topo_file *f, const struct topo_input *input, struct diag *d);

/* What the file says at the first place of a checked input ("64KiB"), in the file's memory; of the first case that has it
 * where the file has not. */
const char *topo_input_text(const struct topo_file *f, const struct topo_input *input);

#endif
