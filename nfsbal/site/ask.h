/* The questions that make the uncertain choices of a site certain: read-only commands of its devices, each once. */
#ifndef NFSBAL_SITE_ASK_H
#define NFSBAL_SITE_ASK_H

#include <stddef.h>

#include "emu/model/path.h"
#include "emu/model/path_proof.h"

struct ask_question {
    int box;                   /* where to ask */
    int team;                  /* whose choice it is about; -1: of no team, or of several */
    enum path_proof_form form; /* a command to run, or advice */
    const char *label;         /* of the choice as it stands: "approximate"; "" for a ping */
    char *text;
    size_t flows; /* how many choices hang on it, each direction of a connection for itself */
    size_t place; /* private */
};

struct ask {
    struct ask_question *items; /* by box, then team, then in the order of flows */
    size_t n, capacity;
    size_t *slots, n_slots; /* private */
};

/* Questions about every hop whose choice is not certain. 0 or -ENOMEM; ask_free() in any case. */
int ask_choices(const struct topo *t, struct ask *out);

/* Pings that prove the largest frame, from every host that mounts to every VIP of the NAS that is up. A host with an MTU too
 * small for headers has none. 0 or -ENOMEM. */
int ask_mtu(const struct topo *t, struct ask *out);

void ask_free(struct ask *a);

#endif
