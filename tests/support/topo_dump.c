#include "tests/support/topo_dump.h"

#include <inttypes.h>
#include <string.h>

#include "emu/model/topology.h"

static const char *or_dash(const char *text) { return text ? text : "-"; }

static const char *port_name(const struct topo *t, int port) { return port < 0 ? "-" : t->ports[port].full; }

static const char *box_name(const struct topo *t, int box) { return box < 0 ? "-" : t->boxes[box].name; }

static const char *vip_text(const struct topo *t, int vip) { return vip < 0 ? "-" : t->vips[vip].text; }

static void dump_mac(const uint8_t mac[6], enum topo_origin origin, FILE *out)
{
    fprintf(out, " mac=%02x%02x%02x%02x%02x%02x/%d", mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], origin);
}

static void dump_vlan(const struct topo_vlan *v, FILE *out)
{
    fprintf(out, " vlan=%d/%u/%u", v->mode, v->access, v->native);
    for (size_t i = 0; i < v->n_allowed; i++)
        fprintf(out, ",%u", v->allowed[i]);
}

static void dump_addr(const char *label, const struct topo_addr *a, FILE *out)
{
    char text[64];
    fprintf(out, " %s=%s", label, topo_addr_print(text, sizeof(text), a, true));
}

static void dump_ports(const struct topo *t, const char *label, const int *ports, size_t n, FILE *out)
{
    fprintf(out, " %s=", label);
    for (size_t i = 0; i < n; i++)
        fprintf(out, "%s%s", i ? "," : "", port_name(t, ports[i]));
}

static void dump_teaming(const struct topo *t, const struct topo_teaming *g, FILE *out)
{
    char policy[160] = "none";
    if (g->policy.policy)
        hash_selector_text(&g->policy, true, policy, sizeof(policy));
    fprintf(out, " policy=%s/%d", policy, g->policy_origin);
    dump_ports(t, "active", g->active, g->n_active, out);
    dump_ports(t, "standby", g->standby, g->n_standby, out);
    dump_ports(t, "unused", g->unused, g->n_unused, out);
    fprintf(out, " failback=%d notify=%d detect=%d", g->failback, g->notify, g->detect);
}

static void dump_node(const struct topo *t, const struct topo_node *n, FILE *out)
{
    char policy[160] = "none";
    if (n->hash.policy)
        hash_selector_text(&n->hash, true, policy, sizeof(policy));
    fprintf(out,
            "node %s kind=%d model=%s version=%s boxes=%d mtu=%u hash=%s members=%d bias=%d mlag=%s ageing=%" PRId64,
            n->name, n->kind, or_dash(n->model), or_dash(n->version), n->n_boxes, n->mtu, policy, n->members,
            n->local_bias, n->mlag_peer < 0 ? "-" : t->nodes[n->mlag_peer].name, n->mac_ageing);
    fprintf(out, " peer-link=%s indirect=%d", n->mlag_peer_link < 0 ? "-" : t->teams[n->mlag_peer_link].name,
            n->indirect);
    for (size_t i = 0; i < n->n_vlans; i++)
        fprintf(out, " vlan=%u", n->vlans[i]);
    for (size_t i = 0; i < n->n_limits; i++)
        fprintf(out, " %s=%" PRId64, n->limits[i].name, n->limits[i].value);
    for (size_t i = 0; i < n->n_observed; i++) {
        const struct topo_observed *o = &n->observed[i];
        fprintf(out, " observed=%s>%s:%u:%u@%s", t->teams[o->team].name, t->ports[o->port].name, o->sport, o->dport,
                o->date);
        dump_addr("src", &o->src, out);
        dump_addr("dst", &o->dst, out);
    }
    fputc('\n', out);
}

static void dump_structure(const struct topo *t, FILE *out)
{
    for (size_t i = 0; i < t->n_nodes; i++)
        dump_node(t, &t->nodes[i], out);
    for (size_t i = 0; i < t->n_boxes; i++) {
        const struct topo_box *b = &t->boxes[i];
        const struct topo_stack *s = &t->stacks[i];
        fprintf(out, "box %s node=%s ports=%d takeover=%s limit=%g/%g/%g", b->name, t->nodes[b->node].name, b->n_ports,
                box_name(t, b->takeover), b->limit_read, b->limit_write, b->limit_iops);
        fprintf(out, " tcp=%s/%d/%" PRIu64 "/%" PRIu64 " nfs=%" PRIu64 "/%" PRIu64 "/%d\n", s->congestion,
                s->timestamps, s->send_buffer, s->receive_buffer, s->rsize, s->wsize, s->stable);
    }
    for (size_t i = 0; i < t->n_ports; i++) {
        const struct topo_port *p = &t->ports[i];
        fprintf(out, "port %s name=%s box=%s cable=%s team=%s chassis=%d", p->full, p->name, t->boxes[p->box].name,
                p->link < 0 ? "-" : port_name(t, t->links[p->link].port[!p->end]),
                p->team < 0 ? "-" : t->teams[p->team].name, p->chassis);
        dump_vlan(&p->vlan, out);
        dump_mac(p->mac, p->mac_origin, out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < t->n_links; i++) {
        const struct topo_link *l = &t->links[i];
        const char *a = topo_linkdir_name(t, (int)(2 * i)), *b = topo_linkdir_name(t, (int)(2 * i + 1));
        bool swap = strcmp(a, b) > 0; /* which end stands first in the file is no matter */
        fprintf(out, "link %s rate=%" PRIu64 " delay=%" PRId64 " buffer=%" PRIu64 " loss=%g down=%d back=%s\n",
                swap ? b : a, l->rate, l->delay, l->buffer, l->loss, l->down, swap ? a : b);
    }
    for (size_t i = 0; i < t->n_teams; i++) {
        const struct topo_team *m = &t->teams[i];
        fprintf(out, "team %s kind=%d box=%s mode=%d fast=%d mtu=%u peer=%s%s%s delay=%" PRId64 " learning=%" PRId64,
                m->name, m->kind, t->boxes[m->box].name, m->mode, m->lacp_fast, m->mtu,
                m->peer_team < 0 ? "-" : t->boxes[t->teams[m->peer_team].box].name, m->peer_team < 0 ? "" : "/",
                m->peer_team < 0 ? "" : t->teams[m->peer_team].name, m->link_down_delay, m->learning);
        dump_ports(t, "ports", m->ports, m->n_ports, out);
        dump_teaming(t, &m->teaming, out);
        dump_vlan(&m->vlan, out);
        dump_mac(m->mac, m->mac_origin, out);
        fputc('\n', out);
    }
}

static void dump_addresses(const struct topo *t, FILE *out)
{
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        fprintf(out, "iface %s box=%s team=%s group=%s vlan=%u mtu=%u port-id=%u/%d management=%d weight=%u", f->name,
                t->boxes[f->box].name, t->teams[f->team].name, or_dash(f->portgroup), f->vlan, f->mtu, f->port_id,
                f->port_id_origin, f->management, f->weight);
        dump_addr("addr", &f->addr, out);
        dump_addr("gateway", &f->gateway, out);
        dump_mac(f->mac, f->mac_origin, out);
        if (f->teaming != &t->teams[f->team].teaming)
            dump_teaming(t, f->teaming, out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < t->n_vips; i++) {
        const struct topo_vip *v = &t->vips[i];
        fprintf(out, "vip %s name=%s node=%s svm=%d home=%s iface=%s ordinal=%d up=%d", v->text, or_dash(v->name),
                t->nodes[v->node].name, v->svm, box_name(t, v->home), v->iface < 0 ? "-" : t->ifaces[v->iface].name,
                v->ordinal, v->up);
        dump_addr("addr", &v->addr, out);
        dump_mac(v->mac, v->mac_origin, out);
        fputc('\n', out);
    }
    for (size_t i = 0; i < t->n_exports; i++)
        fprintf(out, "export %s node=%s svm=%d owner=%s\n", t->exports[i].path, t->nodes[t->exports[i].node].name,
                t->exports[i].svm, box_name(t, t->exports[i].owner));
}

static void dump_mounts(const struct topo *t, FILE *out)
{
    for (size_t i = 0; i < t->n_datastores; i++) {
        const struct topo_datastore *d = &t->datastores[i];
        fprintf(
            out,
            "datastore %s export=%s nfs=%d server=%s nconnect=%u per-host=%d weight=%g/%g/%d/%d exclusive=%d apart=%s",
            d->name, t->exports[d->export_].path, d->nfs, or_dash(d->server), d->nconnect, d->per_host, d->weight_read,
            d->weight_write, d->weight_given, d->weight_is_rate, d->exclusive, or_dash(d->apart));
        fprintf(out, " vms=%u pin=%s wish=%s mounts=%d", d->vms, vip_text(t, d->pin), vip_text(t, d->wish),
                d->n_mounts);
        for (size_t k = 0; k < d->n_holds; k++)
            fprintf(out, " holds=%s", d->holds[k]);
        fputc('\n', out);
    }
    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        fprintf(out, "mount %s on %s %s:%s vip=%s iface=%s/%d gateway=%s nconnect=%u/%u shares=%s",
                t->datastores[m->datastore].name, t->boxes[m->host].name, m->server, m->path, vip_text(t, m->vip),
                m->iface < 0 ? "-" : t->ifaces[m->iface].name, m->iface_origin,
                m->gateway_iface < 0 ? "-" : t->ifaces[m->gateway_iface].name, m->nconnect, m->asked,
                m->shares_with < 0 ? "-" : t->datastores[t->mounts[m->shares_with].datastore].name);
        for (size_t k = 0; k < m->n_vips; k++)
            fprintf(out, " +%s", vip_text(t, m->vips[k]));
        fputc('\n', out);
    }
}

static void dump_runs(const struct topo *t, FILE *out)
{
    for (size_t i = 0; i < t->n_workloads; i++) {
        const struct topo_workload *w = &t->workloads[i];
        fprintf(out, "workload %s op=%d share=%g sequential=%d block=%" PRIu64 " outstanding=%u rate=%g iops=%g",
                w->name, w->op, w->read_share, w->sequential, w->block, w->outstanding, w->rate, w->iops);
        fprintf(out, " start=%" PRId64 " for=%" PRId64 " bytes=%" PRIu64 " stable=%d/%d synthetic=%d mounts=", w->start,
                w->duration, w->bytes, w->stable_given, w->stable, w->synthetic);
        for (size_t k = 0; k < w->n_mounts; k++)
            fprintf(out, "%s%s@%s", k ? "," : "", t->datastores[t->mounts[w->mounts[k]].datastore].name,
                    t->boxes[t->mounts[w->mounts[k]].host].name);
        fputc('\n', out);
    }
    for (size_t i = 0; i < t->n_events; i++) {
        const struct topo_event *e = &t->events[i];
        fprintf(out,
                "event at=%" PRId64 " what=%d link=%s state=%d rate=%" PRIu64 " delay=%" PRId64 " loss=%g vip=%s box=%s"
                " garp=%d up=%d\n",
                e->at, e->what, e->link < 0 ? "-" : port_name(t, t->links[e->link].port[e->from_end]), e->state,
                e->rate, e->delay, e->loss, vip_text(t, e->vip), box_name(t, e->box), e->garp, e->up);
    }
    for (size_t i = 0; i < t->n_background; i++)
        fprintf(out, "background %s %g\n", topo_linkdir_name(t, t->background[i].linkdir), t->background[i].share);
    for (size_t i = 0; i < t->n_allows; i++)
        fprintf(out, "allow %s: %s\n", t->allows[i].id, t->allows[i].reason);
    for (size_t i = 0; i < t->n_expects; i++) {
        const struct topo_expect *e = &t->expects[i];
        fprintf(out, "expect %s %s near=%g within=%g exact=%d min=%g max=%g basis=%s note=%s\n", or_dash(e->figure),
                e->value, e->near, e->within, e->exact, e->min, e->max, e->basis, or_dash(e->note));
    }
}

void topo_dump(const struct topo *t, FILE *out)
{
    fprintf(out, "topology %s: %s network-only=%d\n", t->name, or_dash(t->title), t->network_only);
    dump_structure(t, out);
    dump_addresses(t, out);
    dump_mounts(t, out);
    dump_runs(t, out);
}
