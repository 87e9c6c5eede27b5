/* How to make an uncertain hop certain: a read-only command of the device that chose, for this very flow. */
#ifndef EMU_MODEL_PATH_PROOF_H
#define EMU_MODEL_PATH_PROOF_H

#include "emu/model/path.h"

/* What is written: advice for people, a command whose output they read themselves, or one whose answer names a port and can be
 * read back by path_proof_answer(). */
enum path_proof_form { PATH_PROOF_ADVICE, PATH_PROOF_SHOW, PATH_PROOF_TELL };

/* Writes the command (or, where the device has none, what to compare) and returns true; false when the hop needs none: its
 * index is exact, or nothing is chosen. The device is known by its node's kind and `model:`; *box is where to ask, *form (may
 * be NULL) what kind of text it is. */
bool path_proof(const struct topo *t, const struct flow *flow, enum flow_direction direction,
                const struct path_hop *hop, int *box, enum path_proof_form *form, char *out, size_t size);

/* False for switches whose commands are worded after their reference alone (FTOS, Junos, HPE and Aruba): nobody has tried them on a
 * box, so whoever prints them says so. */
bool path_proof_confirmed(const struct topo_node *node);

/* What a command line of the form PATH_PROOF_TELL asks. */
struct path_asked {
    int team; /* whose choice; -1: this node has no such LAG, `lag` is its name, or NULL: the command names none */
    const char *lag; /* in `line`, not terminated */
    size_t lag_length;
    bool by_mac; /* asked with MAC addresses: src and dst are not known */
    struct topo_addr src, dst;
    uint16_t sport, dport; /* 0: not asked for */
    const char *entry;     /* port by which the flow comes in, not terminated; NULL: not said */
    size_t entry_length;
    const char *answer; /* private: how the device answers */
};

/* Reads a command line (without the prompt) as this node takes it; words may be shortened as command lines allow, names of
 * ports and LAGs written as the device does. False when it is none of its commands, or an address is malformed. */
bool path_proof_read(const struct topo *t, int node, const char *line, struct path_asked *out);

/* For a command that names no LAG: the member of some LAG of this node in a line of the answer, but not the port of entry.
 * -1: none, or not only one. */
int path_proof_member(const struct topo *t, int node, const struct path_asked *asked, const char *line);

/* Finds the port in a line of the device's answer; false when this line doesn't name one. `port` gets the device's word. */
bool path_proof_answer(const struct path_asked *asked, const char *line, char *port, size_t size);

/* The member of a team that a device calls so: "GigabitEthernet2/0/21", "Gi2/0/21", "Te 1/21". -1: none, or not only one. */
int path_proof_port(const struct topo *t, int team, const char *name);
int path_proof_node_port(const struct topo *t, int node, const char *name); /* any port of a node */

#endif
