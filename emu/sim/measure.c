/* What is counted.
 *
 * Links are counted train by train where they start on a wire; use over time comes from the wires' own counters, read at
 * the end of each slice. When the window is and how long slices are: schedule.c. */
#include "emu/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "emu/fabric/fabric.h"
#include "emu/model/schedule.h"
#include "emu/sim/calls_wire.h"
#include "emu/sim/storage_count.h"

void measure_tap(void *context, int linkdir, const struct train *n, ps_t start)
{
    struct sim *s = context;
    int phase = s->phase = schedule_phase(s->result, start, s->phase);
    if (phase >= 0) {
        struct link_count *l = &s->counts[(size_t)phase * s->result->n_links + (size_t)linkdir];
        l->frames += n->frames;
        l->bytes += train_wire_bytes(n);
        if (n->kind == TRAIN_DATA) {
            const struct sim_conn *c = n->flow->owner;
            if (c->bulk[n->flow == &c->flow[SIM_TO_CLIENT]])
                l->bulk_bytes += n->u.tcp.length;
        }
    }
    if (n->kind == TRAIN_DATA && s->first_hop[linkdir] && n->u.tcp.length) {
        struct sim_conn *c = n->flow->owner;
        tcp_sent(&c->end[n->flow == &c->flow[SIM_TO_CLIENT]], n->u.tcp.length, eventq_now(s->queue));
    }
    if (s->options->tap)
        s->options->tap(s->options->context, linkdir, n, start);
}

bool measure_init(struct sim *s)
{
    s->slice_busy = calloc(s->result->n_links + 1, sizeof(*s->slice_busy));
    s->counts = calloc(s->result->n_phases * s->result->n_links + 1, sizeof(*s->counts));
    s->first_hop = calloc(s->result->n_links + 1, sizeof(*s->first_hop));
    for (size_t d = 0; s->first_hop && d < s->result->n_links; d++) {
        const struct topo *t = s->topo;
        enum topo_kind kind = t->nodes[t->boxes[t->ports[topo_linkdir_from(t, (int)d)].box].node].kind;
        s->first_hop[d] = kind == TOPO_ESXI || kind == TOPO_LINUX || kind == TOPO_NAS;
    }
    return s->slice_busy && s->counts && s->first_hop;
}

void measure_free(struct sim *s)
{
    free(s->slice_busy);
    free(s->counts);
    free(s->first_hop);
}

/* Gives what back ends have sent since the last time to a phase. */
static void count_back_ends(struct sim *s, ps_t now)
{
    int phase = schedule_phase(s->result, now - 1, 0);
    for (size_t d = 0; s->san_links && d < s->result->n_links; d++) {
        struct link_count *from = &s->san_links[d].count;
        if (phase >= 0) {
            struct link_count *to = &s->counts[(size_t)phase * s->result->n_links + d];
            to->frames += from->frames;
            to->bytes += from->bytes;
            to->bulk_bytes += from->bulk_bytes;
        }
        *from = (struct link_count){0};
    }
}

void measure_slice(struct sim *s, ps_t now)
{
    struct result *r = s->result;
    count_back_ends(s, now);
    if (s->slices == r->n_slices) {
        schedule_join_slices(r, s->slices);
        s->slices /= 2;
    }
    if (now < (ps_t)(s->slices + 1) * r->slice)
        return;
    for (size_t d = 0; d < r->n_links; d++) {
        struct fabric_counters c;
        fabric_counters(s->fabric, (int)d, &c);
        /* A wire books the time for all that is queued: what is beyond the slice belongs to the next. */
        ps_t busy = c.busy - s->slice_busy[d] < r->slice ? c.busy - s->slice_busy[d] : r->slice;
        r->links[d].over_time[s->slices] = (float)((double)busy / (double)r->slice);
        s->slice_busy[d] += busy;
        if (s->san_links) {
            double most = (double)s->topo->links[d / 2].rate / 8 * (double)r->slice / 1e12;
            r->links[d].over_time[s->slices] += (float)((double)s->san_links[d].slice_bytes / most);
            s->san_links[d].slice_bytes = 0;
        }
    }
    s->slices++;
}

static void count_tcp(struct sim *s)
{
    struct result *r = s->result;
    for (size_t i = 0; i < s->n_conns; i++) {
        const struct sim_conn *c = &s->conns[i];
        if (c->job == UINT32_MAX)
            continue;
        struct result_job *j = &r->jobs[c->job];
        for (int k = 0; k < 2; k++) {
            j->retransmissions += c->end[k].retransmitted;
            j->timeouts += c->end[k].timeouts;
        }
    }
}

void measure_finish(struct sim *s, ps_t now)
{
    struct result *r = s->result;
    const struct topo *t = s->topo;
    schedule_close(r, now, s->slices);
    for (size_t d = 0; d < r->n_links; d++) {
        struct fabric_counters c;
        fabric_counters(s->fabric, (int)d, &c);
        r->links[d].dropped_frames = c.frames_tail_dropped;
        r->links[d].lost_frames = c.frames_lost;
        r->links[d].queue_peak = c.queue_peak;
    }
    for (size_t b = 0; b < t->n_boxes; b++) {
        struct fabric_box_counters c;
        fabric_box_counters(s->fabric, (int)b, &c);
        r->flooded_unicast += c.flooded_unicast;
        r->mac_flaps += c.mac_flaps;
    }
    for (size_t i = 0; i < t->n_nodes; i++)
        storage_count_into(r, (int)i, s->limits[i].storage);
    schedule_count_links(r, s->counts);
    count_tcp(s);
    result_finish(r);
}
