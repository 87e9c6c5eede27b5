#include "emu/fabric/fabric.h"

#include <stdio.h>
#include <string.h>

#include "emu/fabric/fabric_internal.h"

#include "emu/fabric/hot.h"

void fabric_drop(struct fabric *f, struct train *t, uint64_t *counter)
{
    *counter += t->frames;
    train_release(f->pool, t);
}

void fabric_deliver(struct fabric *f, int iface, struct train *t, ps_t now)
{
    fabric_retag(t, 0);
    if (!train_group_mac(t->dst))
        memcpy(t->dst, f->ifaces[iface].mac, 6);
    f->config.deliver(f->config.context, iface, t, now);
}

FABRIC_HOT void fabric_send(struct fabric *f, int iface, int vip, struct train *t, ps_t now)
{
    struct fabric_box *box = &f->boxes[f->ifaces[iface].box];

    if (f->ifaces[iface].team < 0 || box->off)
        fabric_drop(f, t, &box->counters.no_port_dropped);
    else if (box->kind == TOPO_NAS)
        fabric_nas_send(f, iface, vip, t, now);
    else
        fabric_host_send(f, iface, t, now);
}

/* ---- faults and changes ---- */

void fabric_link_state(struct fabric *f, int link, int from_end, enum topo_link_state state, ps_t now)
{
    f->link_state[link] = state;
    f->link_from[link] = from_end;
    fabric_link_update(f, link, now);
}

void fabric_link_rate(struct fabric *f, int link, bps_t rate, ps_t now)
{
    wire_set_rate(&f->wires[2 * link], rate, now);
    wire_set_rate(&f->wires[2 * link + 1], rate, now);
}

void fabric_link_delay(struct fabric *f, int link, ps_t delay, ps_t now)
{
    wire_set_delay(&f->wires[2 * link], delay, now);
    wire_set_delay(&f->wires[2 * link + 1], delay, now);
}

void fabric_link_loss(struct fabric *f, int link, double loss, ps_t now)
{
    (void)now;
    wire_set_loss(&f->wires[2 * link], loss);
    wire_set_loss(&f->wires[2 * link + 1], loss);
}

void fabric_link_buffer(struct fabric *f, int link, uint64_t buffer, ps_t now)
{
    (void)now;
    for (int d = 2 * link; d < 2 * link + 2; d++)
        if (fabric_drops(f, d))
            wire_set_buffer(&f->wires[d], buffer, fabric_vague(f));
}

void fabric_vip_move(struct fabric *f, int vip, int box, bool garp, ps_t now)
{
    fabric_nas_place(f, vip, box, garp, now);
}

void fabric_vip_state(struct fabric *f, int vip, bool up, ps_t now)
{
    f->vips[vip].up = up;
    fabric_nas_place(f, vip, f->vips[vip].box, up, now);
}

void fabric_box_state(struct fabric *f, int box, bool up, ps_t now)
{
    const struct topo_box *b = &f->topo->boxes[box];

    f->boxes[box].off = !up;
    for (int port = b->first_port; port < b->first_port + b->n_ports; port++)
        if (f->topo->ports[port].link >= 0)
            fabric_link_update(f, f->topo->ports[port].link, now);
}

void fabric_apply(struct fabric *f, const struct topo_event *e, ps_t now)
{
    switch (e->what) {
    case TOPO_EV_LINK_STATE:
        fabric_link_state(f, e->link, e->from_end, e->state, now);
        break;
    case TOPO_EV_LINK_RATE:
        fabric_link_rate(f, e->link, e->rate, now);
        break;
    case TOPO_EV_LINK_DELAY:
        fabric_link_delay(f, e->link, e->delay, now);
        break;
    case TOPO_EV_LINK_LOSS:
        fabric_link_loss(f, e->link, e->loss, now);
        break;
    case TOPO_EV_VIP_MOVE:
        fabric_vip_move(f, e->vip, e->box, e->garp, now);
        break;
    case TOPO_EV_VIP_STATE:
        fabric_vip_state(f, e->vip, e->up, now);
        break;
    case TOPO_EV_BOX_STATE:
        fabric_box_state(f, e->box, e->up, now);
        break;
    }
}

/* ---- questions ---- */

int fabric_vip_box(const struct fabric *f, int vip) { return f->vips[vip].up ? f->vips[vip].box : -1; }

bool fabric_vip_place(const struct fabric *f, int vip, int *iface, uint8_t mac[6])
{
    if (fabric_vip_box(f, vip) < 0 || f->vips[vip].iface < 0)
        return false;
    *iface = f->vips[vip].iface;
    fabric_nas_vip_mac(f, vip, mac);
    return true;
}

void fabric_forget_flows(struct fabric *f) { f->generation++; }

void fabric_link(const struct fabric *f, int linkdir, ps_t now, struct fabric_link *out)
{
    const struct wire *w = &f->wires[linkdir];

    *out = (struct fabric_link){
        .state = f->link_state[linkdir / 2],
        .from_end = f->link_from[linkdir / 2],
        .carrier = f->ports[topo_linkdir_from(f->topo, linkdir)].carrier,
        .rate = w->rate,
        .delay = w->delay,
        .loss = (double)w->lose / 4294967296.0,
        .buffer = w->buffer,
        .queued = wire_queued(w, now),
    };
}

void fabric_counters(const struct fabric *f, int linkdir, struct fabric_counters *out)
{
    const struct wire *w = &f->wires[linkdir];
    const struct wire_counters *c = &w->counters;
    uint64_t frames, bytes;

    wire_flying(w, &frames, &bytes);
    *out = (struct fabric_counters){
        .frames_in = c->frames_in,
        .bytes_in = c->bytes_in,
        .frames_out = c->frames_out,
        .bytes_out = c->bytes_out,
        .frames_tail_dropped = c->frames_dropped,
        .bytes_tail_dropped = c->bytes_dropped,
        .frames_lost = c->frames_lost,
        .bytes_lost = c->bytes_lost,
        .frames_in_flight = frames,
        .bytes_in_flight = bytes,
        .queue_peak = wire_queue_peak(w),
        .busy = c->busy,
    };
}

void fabric_box_counters(const struct fabric *f, int box, struct fabric_box_counters *out)
{
    *out = f->boxes[box].counters;
}

bool fabric_conserves(const struct fabric *f, char *problem, size_t size)
{
    for (size_t d = 0; d < 2 * f->topo->n_links; d++) {
        const struct wire_counters *c = &f->wires[d].counters;
        uint64_t frames, bytes;

        if (wire_conserves(&f->wires[d]))
            continue;
        wire_flying(&f->wires[d], &frames, &bytes);
        snprintf(problem, size,
                 "%s: %llu frames and %llu bytes went in; %llu and %llu arrived, %llu and %llu were dropped, %llu and "
                 "%llu lost, %llu and %llu are in flight",
                 topo_linkdir_name(f->topo, (int)d), (unsigned long long)c->frames_in, (unsigned long long)c->bytes_in,
                 (unsigned long long)c->frames_out, (unsigned long long)c->bytes_out,
                 (unsigned long long)c->frames_dropped, (unsigned long long)c->bytes_dropped,
                 (unsigned long long)c->frames_lost, (unsigned long long)c->bytes_lost, (unsigned long long)frames,
                 (unsigned long long)bytes);
        return false;
    }
    return true;
}
