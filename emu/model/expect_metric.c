#include "emu/model/expect_metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "emu/model/diag.h"
#include "emu/model/expect_vms.h"
#include "emu/model/result.h"
#include "emu/model/storage.h"
#include "emu/model/topology.h"

static const struct result_entity *entity(const struct result *r, struct expect_selection s)
{
    switch (s.kind) {
    case EXPECT_DATASTORE:
        return &r->datastores[s.index];
    case EXPECT_HOST:
        return &r->hosts[r->entity_of_box[s.index]];
    case EXPECT_VIP:
        return &r->vips[s.index];
    case EXPECT_CONTROLLER:
        return &r->controllers[r->entity_of_box[s.index]];
    case EXPECT_ALL:
    case EXPECT_NODE:
    case EXPECT_LINKDIR:
    case EXPECT_DISKS:
    case EXPECT_VMS:
        break;
    }
    return NULL;
}

/* parameter: 1 = write, 0 = read */
static double rate(const struct result *r, struct expect_selection s, double write)
{
    const struct topo *t = r->topo;
    if (s.kind == EXPECT_ALL)
        return write > 0 ? r->write.rate : r->read.rate;
    if (s.kind == EXPECT_NODE) {
        double sum = 0;
        for (int b = t->nodes[s.index].first_box; b < t->nodes[s.index].first_box + t->nodes[s.index].n_boxes; b++) {
            const struct result_entity *e = &r->controllers[r->entity_of_box[b]];
            sum += write > 0 ? e->write.rate : e->read.rate;
        }
        return sum;
    }
    return write > 0 ? entity(r, s)->write.rate : entity(r, s)->read.rate;
}

static bool end_is_selected(const struct topo *t, int port, struct expect_selection s)
{
    int box = t->ports[port].box;
    enum topo_kind kind = t->nodes[t->boxes[box].node].kind;
    if (s.kind == EXPECT_ALL)
        return kind == TOPO_ESXI || kind == TOPO_LINUX;
    return s.kind == EXPECT_NODE ? t->boxes[box].node == s.index : box == s.index;
}

static double links_used(const struct result *r, struct expect_selection s, double parameter)
{
    (void)parameter;
    const struct topo *t = r->topo;
    unsigned n = 0;
    for (size_t l = 0; l < t->n_links; l++)
        if (end_is_selected(t, t->links[l].port[0], s) || end_is_selected(t, t->links[l].port[1], s))
            n += !r->links[2 * l].idle || !r->links[2 * l + 1].idle;
    return n;
}

enum mounts_what { MOUNTS_ALL, MOUNTS_CONNECTIONS };

/* Mounts, or their TCP connections, that hosts have. */
static double mounts(const struct result *r, struct expect_selection s, double parameter)
{
    const struct topo *t = r->topo;
    double n = 0;
    for (size_t i = 0; i < t->n_mounts; i++) {
        const struct topo_mount *m = &t->mounts[i];
        if (m->vip < 0 || m->iface < 0 || m->refused || (s.kind == EXPECT_HOST && m->host != s.index) ||
            (s.kind == EXPECT_VIP && m->vip != s.index))
            continue;
        n += parameter > 0 ? m->nconnect * (m->n_vips ? m->n_vips : 1) : 1;
    }
    return n;
}

static double util(const struct result *r, struct expect_selection s, double parameter)
{
    (void)parameter;
    return r->links[s.index].utilisation;
}

static double flows(const struct result *r, struct expect_selection s, double parameter)
{
    (void)parameter;
    return r->links[s.index].flows_write + r->links[s.index].flows_read;
}

static double drops(const struct result *r, struct expect_selection s, double parameter)
{
    (void)parameter;
    double sum = 0;
    if (s.kind == EXPECT_LINKDIR)
        return (double)r->links[s.index].dropped_frames;
    for (size_t d = 0; d < r->n_links; d++)
        sum += (double)r->links[d].dropped_frames;
    return sum;
}

/* parameter: 1 = timeouts, 0 = retransmissions */
static double tcp_events(const struct result *r, struct expect_selection s, double parameter)
{
    bool timeouts = parameter > 0;
    if (s.kind == EXPECT_ALL)
        return (double)(timeouts ? r->timeouts : r->retransmissions);
    return (double)(timeouts ? entity(r, s)->timeouts : entity(r, s)->retransmissions);
}

/* parameter: 1 = flaps, 0 = flooded */
static double switch_events(const struct result *r, struct expect_selection s, double parameter)
{
    (void)s;
    return (double)(parameter > 0 ? r->mac_flaps : r->flooded_unicast);
}

static double latency(const struct result *r, struct expect_selection s, double p)
{
    const struct result_io *read = &r->read, *write = &r->write;
    if (s.kind != EXPECT_ALL) {
        read = &entity(r, s)->read;
        write = &entity(r, s)->write;
    }
    if (!read->latency->count && !write->latency->count)
        return nan("");
    return (double)result_latency_percentile_of(read->latency, write->latency, p) / (double)PS_PER_S;
}

enum mean_of { MEAN_ALL, MEAN_READ, MEAN_WRITE };

static double mean(const struct result *r, struct expect_selection s, double of)
{
    static const struct result_latency none;
    const struct result_io *read = &r->read, *write = &r->write;
    if (s.kind == EXPECT_VMS)
        return expect_vms_mean(r, s.index);
    if (s.kind != EXPECT_ALL) {
        read = &entity(r, s)->read;
        write = &entity(r, s)->write;
    }
    return result_latency_mean(of == MEAN_WRITE ? &none : read->latency, of == MEAN_READ ? &none : write->latency);
}

static double load(const struct result *r, struct expect_selection s, double parameter)
{
    (void)s;
    (void)parameter;
    return r->load;
}

/* From the first start to the last end of what ends by bytes. */
static double bytes_time(const struct result *r, struct expect_selection s)
{
    const struct topo *t = r->topo;
    ps_t first = PS_NEVER, last = -1;
    for (size_t i = 0; i < r->n_jobs; i++) {
        const struct result_job *j = &r->jobs[i];
        const struct topo_mount *m = &t->mounts[j->mount];
        bool mine = s.kind == EXPECT_ALL || (s.kind == EXPECT_DATASTORE && m->datastore == s.index) ||
                    (s.kind == EXPECT_HOST && m->host == s.index);
        if (!mine || j->finished < 0)
            continue;
        ps_t start = t->workloads[j->workload].start;
        first = start < first ? start : first;
        last = j->finished > last ? j->finished : last;
    }
    return last >= 0 ? (double)(last - first) / (double)PS_PER_S : nan("");
}

/* Operations a second: of all in the measuring window, or of machines in their time. */
static double operation_rate(const struct result *r, struct expect_selection s, double parameter)
{
    (void)parameter;
    if (s.kind == EXPECT_VMS)
        return expect_vms_rate(r, s.index);
    if (s.kind == EXPECT_ALL)
        return r->read.operation_rate + r->write.operation_rate;
    return entity(r, s)->read.operation_rate + entity(r, s)->write.operation_rate;
}

static double peak(const struct result *r, struct expect_selection s, double parameter)
{
    (void)parameter;
    if (!r->n_vm_groups || (s.kind == EXPECT_VMS && s.index < 0)) /* phases keep no history */
        return nan("");
    return result_vm_peak(r, s.kind == EXPECT_VMS ? s.index : -1);
}

enum vms_metric { VMS_DURATION, VMS_TIME, VMS_LONGEST };

static double machines(const struct result *r, struct expect_selection s, double parameter)
{
    static double (*const values[])(const struct result *, int) = {expect_vms_duration, expect_vms_time,
                                                                   expect_vms_longest};
    if (parameter == VMS_DURATION && s.kind != EXPECT_VMS)
        return bytes_time(r, s);
    return values[(int)parameter](r, s.index);
}

enum disks_metric { DISKS_IOPS, DISKS_READ, DISKS_WRITE, DISKS_UTIL };

/* Of a group of disks, over the whole run: operations a second of one disk, bytes/s of all, share of their time. */
static double disks(const struct result *r, struct expect_selection s, double parameter)
{
    const struct result_disks *d = &r->disks[s.index];
    double seconds = (double)r->duration / (double)PS_PER_S;
    if (!d->counted)
        return nan("");
    switch ((enum disks_metric)parameter) {
    case DISKS_IOPS:
        return (double)(d->reads + d->writes) / seconds / d->disks;
    case DISKS_READ:
        return (double)d->read_bytes / seconds;
    case DISKS_WRITE:
        return (double)d->write_bytes / seconds;
    case DISKS_UTIL:
        break;
    }
    return (double)d->busy / (double)PS_PER_S / d->disks / seconds;
}

#define BIT(kind) (1u << (kind))
#define ENTITIES  (BIT(EXPECT_ALL) | BIT(EXPECT_DATASTORE) | BIT(EXPECT_HOST))

// clang-format off
static const struct expect_metric metrics[] = {
    {"write",           EXPECT_BYTES_PER_S, ENTITIES | BIT(EXPECT_VIP) | BIT(EXPECT_CONTROLLER) | BIT(EXPECT_NODE), rate, 1},
    {"read",            EXPECT_BYTES_PER_S, ENTITIES | BIT(EXPECT_VIP) | BIT(EXPECT_CONTROLLER) | BIT(EXPECT_NODE), rate, 0},
    {"links_used",      EXPECT_NUMBER,      BIT(EXPECT_ALL) | BIT(EXPECT_HOST) | BIT(EXPECT_CONTROLLER) | BIT(EXPECT_NODE), links_used, 0},
    {"util",            EXPECT_NUMBER,      BIT(EXPECT_LINKDIR), util, 0},
    {"flows",           EXPECT_NUMBER,      BIT(EXPECT_LINKDIR), flows, 0},
    {"drops",           EXPECT_NUMBER,      BIT(EXPECT_ALL) | BIT(EXPECT_LINKDIR), drops, 0},
    {"retransmissions", EXPECT_NUMBER,      ENTITIES, tcp_events, 0},
    {"timeouts",        EXPECT_NUMBER,      ENTITIES, tcp_events, 1},
    {"flooded",         EXPECT_NUMBER,      BIT(EXPECT_ALL), switch_events, 0},
    {"flaps",           EXPECT_NUMBER,      BIT(EXPECT_ALL), switch_events, 1},
    {"latency_p50",     EXPECT_SECONDS,     ENTITIES, latency, 0.50},
    {"latency_p95",     EXPECT_SECONDS,     ENTITIES, latency, 0.95},
    {"latency_p99",     EXPECT_SECONDS,     ENTITIES, latency, 0.99},
    {"iops",            EXPECT_NUMBER,      ENTITIES | BIT(EXPECT_VMS), operation_rate, 0},
    {"iops_peak",       EXPECT_NUMBER,      BIT(EXPECT_ALL) | BIT(EXPECT_VMS), peak, 0},
    {"disk_iops",       EXPECT_NUMBER,      BIT(EXPECT_DISKS), disks, DISKS_IOPS},
    {"disk_read",       EXPECT_BYTES_PER_S, BIT(EXPECT_DISKS), disks, DISKS_READ},
    {"disk_write",      EXPECT_BYTES_PER_S, BIT(EXPECT_DISKS), disks, DISKS_WRITE},
    {"disk_util",       EXPECT_NUMBER,      BIT(EXPECT_DISKS), disks, DISKS_UTIL},
    {"duration",        EXPECT_SECONDS,     ENTITIES | BIT(EXPECT_VMS), machines, VMS_DURATION},
    {"job_time",        EXPECT_SECONDS,     BIT(EXPECT_VMS), machines, VMS_TIME},
    {"latency_mean",    EXPECT_SECONDS,     ENTITIES | BIT(EXPECT_VMS), mean, MEAN_ALL},
    {"read_mean",       EXPECT_SECONDS,     ENTITIES, mean, MEAN_READ},
    {"write_mean",      EXPECT_SECONDS,     ENTITIES, mean, MEAN_WRITE},
    {"load",            EXPECT_NUMBER,      BIT(EXPECT_ALL), load, 0},
    {"mounts",          EXPECT_NUMBER,      BIT(EXPECT_ALL) | BIT(EXPECT_HOST) | BIT(EXPECT_VIP), mounts, MOUNTS_ALL},
    {"connections",     EXPECT_NUMBER,      BIT(EXPECT_ALL) | BIT(EXPECT_HOST) | BIT(EXPECT_VIP), mounts, MOUNTS_CONNECTIONS},
    {"latency_max",     EXPECT_SECONDS,     BIT(EXPECT_VMS), machines, VMS_LONGEST},
};
// clang-format on
enum { N_METRICS = sizeof metrics / sizeof metrics[0] };

const struct expect_metric *expect_metric_find(const char *name, size_t length)
{
    for (size_t i = 0; i < N_METRICS; i++)
        if (strlen(metrics[i].name) == length && !memcmp(metrics[i].name, name, length))
            return &metrics[i];
    return NULL;
}

const char *expect_metric_nearest(const char *name)
{
    const char *names[N_METRICS];
    for (size_t i = 0; i < N_METRICS; i++)
        names[i] = metrics[i].name;
    return diag_nearest(name, names, N_METRICS);
}

/* NODE:GROUP of the i-th group of disks; in the topology's memory only as two strings, so kept here while it is compared. */
static const char *name_of_disks(const struct topo *t, size_t i, char *buf, size_t size)
{
    for (size_t n = 0; n < t->n_nodes; n++) {
        const struct storage_model *m = t->nodes[n].storage;
        if (m && i < m->n_groups) {
            snprintf(buf, size, "%s:%s", t->nodes[n].name, m->groups[i].name);
            return buf;
        }
        i -= m ? m->n_groups : 0;
    }
    return NULL;
}

/* The name of the i-th thing of a kind, or NULL behind the last. */
static const char *name_of(const struct topo *t, enum expect_kind kind, size_t i, char *buf, size_t size)
{
    switch (kind) {
    case EXPECT_DATASTORE:
        return i < t->n_datastores ? t->datastores[i].name : NULL;
    case EXPECT_VIP:
        return i < t->n_vips ? t->vips[i].text : NULL;
    case EXPECT_HOST:
    case EXPECT_CONTROLLER:
        return i < t->n_boxes ? t->boxes[i].name : NULL;
    case EXPECT_NODE:
        return i < t->n_nodes ? t->nodes[i].name : NULL;
    case EXPECT_LINKDIR:
        return i < 2 * t->n_links ? topo_linkdir_name(t, (int)i) : NULL;
    case EXPECT_DISKS:
        return name_of_disks(t, i, buf, size);
    case EXPECT_VMS:
        return i < t->n_vm_groups ? t->vm_groups[i].name : NULL;
    case EXPECT_ALL:
        break;
    }
    return NULL;
}

/* Whether the i-th thing that name_of() lists is of that kind indeed. */
static bool is_of_kind(const struct topo *t, enum expect_kind kind, size_t i, bool switches)
{
    if (kind == EXPECT_HOST || kind == EXPECT_CONTROLLER) {
        enum topo_kind k = t->nodes[t->boxes[i].node].kind;
        return kind == EXPECT_HOST ? k == TOPO_ESXI || k == TOPO_LINUX : k == TOPO_NAS;
    }
    if (kind == EXPECT_NODE)
        return t->nodes[i].kind == TOPO_NAS || (switches && t->nodes[i].kind == TOPO_SWITCH);
    return true;
}

const char *expect_select(const struct topo *t, const struct expect_metric *m, const char *selector,
                          struct expect_selection *out, char *buf, size_t size)
{
    const char *near = NULL, *name;
    char scratch[256], kept[256];
    bool switches = m->value == links_used;
    *out = (struct expect_selection){.kind = EXPECT_ALL, .index = -1};
    if (!selector) {
        if (m->kinds & BIT(EXPECT_ALL))
            return NULL;
        if (m->kinds & BIT(EXPECT_DISKS))
            snprintf(buf, size, "%s needs a group of disks: %s[NAS:GROUP]", m->name, m->name);
        else if (m->kinds & BIT(EXPECT_VMS))
            snprintf(buf, size, "%s needs a group of machines: %s[GROUP] or %s[GROUP:PHASE]", m->name, m->name,
                     m->name);
        else
            snprintf(buf, size, "%s needs a link direction: %s[esx1:vmnic2>sw1:ge1]", m->name, m->name);
        return buf;
    }
    if (m->kinds & BIT(EXPECT_VMS) && expect_vms_select(t, selector, &out->index)) {
        out->kind = EXPECT_VMS;
        return NULL;
    }
    for (enum expect_kind kind = EXPECT_DATASTORE; kind <= EXPECT_VMS; kind++) {
        for (size_t i = 0; m->kinds & BIT(kind) && (name = name_of(t, kind, i, scratch, sizeof scratch)); i++) {
            if (!is_of_kind(t, kind, i, switches))
                continue;
            if (!strcmp(name, selector) && kind != EXPECT_VMS) {
                *out = (struct expect_selection){.kind = kind, .index = (int)i};
                return NULL;
            }
            if (!near && (near = diag_nearest(selector, &name, 1)) == scratch) {
                snprintf(kept, sizeof kept, "%s", scratch);
                near = kept;
            }
        }
    }
    if (m->kinds == BIT(EXPECT_ALL))
        snprintf(buf, size, "%s takes no selector, got `%s`", m->name, selector);
    else if (near)
        snprintf(buf, size, "%s[%s]: no such name; did you mean `%s`?", m->name, selector, near);
    else
        snprintf(buf, size, "%s[%s]: no such name that it can be selected by", m->name, selector);
    return buf;
}
