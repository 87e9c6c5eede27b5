/* A fabric of a topology text with end points that only note what arrives: for tests of the fabric by itself.
 *
 * The rig sends frames as a host or controller would: ARP first (rig_ask), then data to the address that came back. It counts
 * what arrives per interface and what is sent per link direction, and holds conservation of every wire when it closes.
 */
#ifndef TESTS_SUPPORT_FABRIC_RIG_H
#define TESTS_SUPPORT_FABRIC_RIG_H

#include "emu/fabric/eventq.h"
#include "emu/fabric/fabric.h"

struct rig_end {        /* an interface */
    uint64_t data, arp; /* frames that arrived */
    struct train last;  /* the latest of them; pointers in it are void */
    struct train_arp arp_last;
};

enum { RIG_FLOWS = 256 };

struct rig {
    struct topo *topo;
    struct eventq *queue;
    struct train_pool *pool;
    struct fabric *fabric;
    /* Instead of noting: NULL unless a test sets it. Gets the rig as context. */
    void (*deliver)(void *context, int iface, struct train *t, ps_t now);
    /* As fabric_config.tap, beside the rig's own. NULL unless a test sets it. */
    void (*watch)(void *context, int linkdir, const struct train *t, ps_t start);
    struct rig_end *ends; /* by interface */
    uint64_t *sent[2];    /* by link direction: frames of data; of all other kinds */
    struct train_flow flows[RIG_FLOWS];
    uint8_t heard[RIG_FLOWS][6]; /* by flow: the address that its last frame came from */
    int n_flows;
};

/* Fails the test when the text has errors. */
void rig_open(struct rig *r, const char *yaml);
void rig_close(struct rig *r); /* asserts that nothing was lost or made, in wires and pool */

void rig_run(struct rig *r, ps_t time); /* from now on */
ps_t rig_now(const struct rig *r);

int rig_iface(const struct rig *r, const char *host, unsigned nth); /* nth interface of a box */
int rig_vip(const struct rig *r, const char *address);
int rig_linkdir(const struct rig *r, const char *name); /* "esx1:vmnic0>sw1:p1" */
int rig_box(const struct rig *r, const char *name);
int rig_link(const struct rig *r, const char *port); /* the cable at this port */

/* The flow from interface to VIP (or, `to_vip` false, back), port numbers by `sport`. Made when first asked for. */
const struct train_flow *rig_flow(struct rig *r, int iface, int vip, bool to_vip, uint16_t sport);

/* iface asks who has the VIP, and runs a millisecond. True when an answer came: it is in ends[iface].arp_last. */
bool rig_ask(struct rig *r, int iface, int vip);
/* A full frame (or `frames` of them) from iface to the VIP at that address, and a millisecond. */
void rig_send(struct rig *r, int iface, int vip, const uint8_t to[6], uint32_t frames);
/* ARP and then a frame to the VIP; true when it arrived at the interface where the VIP is. */
bool rig_reaches(struct rig *r, int iface, int vip);
/* Frames from the VIP to the host's interface, to the address where its own came from. */
void rig_answer(struct rig *r, int iface, int vip, uint32_t frames);

uint64_t rig_sent(const struct rig *r, const char *linkdir); /* frames of data */
struct fabric_box_counters rig_counters(const struct rig *r, const char *box);

#endif
