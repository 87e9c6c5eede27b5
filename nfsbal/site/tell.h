/* Answers of the real devices, as pasted from sessions with them, and what they say about the choices of a topology. */
#ifndef NFSBAL_SITE_TELL_H
#define NFSBAL_SITE_TELL_H

#include <stddef.h>
#include <stdio.h>

#include "emu/model/topology.h"

struct tell_entry { /* this flow leaves this team by this port */
    int team, port;
    struct topo_addr src, dst;
    uint16_t sport, dport; /* 0: any */
    int line;              /* of the answer */
    bool known;            /* the file says so already */
};

struct tell_connection { /* a connection that a host has: its source port settles rules that read it */
    int iface, vip;
    uint16_t sport;
};

struct tell_ping { /* of `ask --mtu` */
    int node;
    char iface[32], to[64];
    unsigned size; /* of the ping's data */
    unsigned sent, received;
    bool too_long; /* some hop said so */
    int line;
};

struct tell {
    struct tell_ping *pings;
    size_t n_pings, p_capacity;
    struct tell_entry *entries;
    size_t n, capacity;
    struct tell_connection *connections;
    size_t n_connections, c_capacity;
    size_t unanswered; /* commands without any output */
};

/* Reads answers to the questions of ask.h. Lines are commands (with the device's prompt, or below a "## DEVICE" line) and what
 * the device printed below; "#" begins a comment. Also read: lines of esxtop's network screen (USED-BY, TEAM-PNIC) and of
 * connection lists (ss -tn, esxcli network ip connection list), and pings that must not be cut (ask_mtu()) with their outcome. What can't be read is a warning in d, what contradicts the file
 * or another answer an error. 0, -ENOMEM or -EIO; tell_free() in any case. */
int tell_read(const struct topo *t, FILE *in, struct diag *d, struct tell *out);
void tell_free(struct tell *a);

/* The text of the topology file with the new entries added to `observed:` of their nodes and nothing else changed; free() it.
 * `date` is the day of the answers. NULL with the reason in `problem` (of `size` bytes). */
char *tell_insert(const struct topo *t, const char *text, size_t length, const struct tell *a, const char *date,
                  char *problem, size_t size);

/* One entry as the file has it: "{src: 10.50.0.11, ..., date: 2024-05-01}". */
void tell_print(const struct topo *t, const struct tell_entry *e, const char *date, FILE *out);

#endif
