/* Going into a node of a lab: what runs afterwards has its network. */
#ifndef EMU_LIVE_ENTER_H
#define EMU_LIVE_ENTER_H

#include <stddef.h>

struct lab;
struct lab_node;

/* The calling process enters the node's namespaces for good, sees its devices in /sys, and has EMU_LAB and EMU_NODE in its
 * environment. 0, or -errno with a sentence. */
int enter_node(const struct lab *lab, const struct lab_node *node, char *problem, size_t size);

#endif
