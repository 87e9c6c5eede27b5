#include "emu/report/path_words.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "hashes/range.h"

/* Text that is put together in a buffer; what doesn't fit is cut. */
struct words {
    char *out;
    size_t size, at;
};

static void add(struct words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *format, ...)
{
    va_list args;
    int n;

    if (w->at + 1 >= w->size)
        return;
    va_start(args, format);
    n = vsnprintf(w->out + w->at, w->size - w->at, format, args);
    va_end(args);
    w->at += n > 0 ? (size_t)n : 0;
    if (w->at >= w->size)
        w->at = w->size - 1;
}

static struct words begin(char *out, size_t size)
{
    out[0] = '\0';
    return (struct words){out, size, 0};
}

/* A port's name without its controller, which stands before. */
static const char *short_name(const struct topo *t, int port)
{
    const char *dot = t->boxes[t->ports[port].box].part ? strchr(t->ports[port].name, '.') : NULL;

    return dot ? dot + 1 : t->ports[port].name;
}

void path_words_way(const struct topo *t, const struct path_hop *hop, char *out, size_t size)
{
    struct words w = begin(out, size);

    add(&w, "%s", t->boxes[hop->box].name);
    if (hop->team >= 0 && t->teams[hop->team].kind != TOPO_TEAM_SINGLE)
        add(&w, " %s", t->teams[hop->team].name);
    if (hop->index >= 0) {
        add(&w, " -> %s -> %s", short_name(t, hop->candidates[hop->index]),
            t->ports[topo_linkdir_to(t, hop->linkdir)].full);
        return;
    }
    add(&w, " -> ");
    for (int i = 0; i < hop->n; i++)
        add(&w, "%s%s", i ? " or " : "", short_name(t, hop->candidates[i]));
}

/* What `draws` independent draws over the hop's members come to. */
static void add_draws(struct words *w, const struct path_hop *hop, unsigned draws)
{
    struct hash_selector any;
    struct hash_range r;

    if (draws < 2) {
        add(w, "one of %d", hop->n);
        return;
    }
    hash_selector_unknown(&any, 0);
    if (!hash_range(hop->policy ? hop->policy : &any, (unsigned)hop->n, draws, &r))
        return;
    add(w, "%u connections on %d members: ", draws, hop->n);
    if (draws < (unsigned)hop->n)
        add(w, "%.2f used on average, best %u", r.expected_used, r.best_used);
    else
        add(w, "%s used %.1f %%", hop->n == 2 ? "both" : "all", 100 * (1 - r.chance_idle));
    add(w, ", worst %u:0", draws);
}

/* The bonding driver's generation is part of the answer, also where it is the default and so left out of the name. */
static void add_generation(struct words *w, const struct hash_selector *sel)
{
    char value[32];

    for (unsigned i = 0; i < sel->policy->param_count; i++) {
        if (strcmp(sel->policy->params[i].name, "gen") != 0 || sel->params.value[i] != sel->policy->params[i].preset)
            continue;
        hash_param_text(sel, i, value, sizeof value);
        add(w, " gen=%s", value);
    }
}

void path_words_policy(const struct topo *t, const struct path_hop *hop, char *out, size_t size)
{
    struct words w = begin(out, size);
    char policy[128];

    if (hop->policy) {
        hash_selector_text(hop->policy, false, policy, sizeof policy);
        add(&w, "%s", policy);
        add_generation(&w, hop->policy);
        if (hop->via == PATH_VIA_MLAG_LOCAL)
            add(&w, ", own members");
        if (hop->via == PATH_VIA_PEER_LINK)
            add(&w, ", peer link");
    } else if (hop->via == PATH_VIA_MAC) {
        add(&w, "learned");
    } else if (hop->via == PATH_VIA_ROUTE) {
        add(&w, "route");
    } else if (hop->via == PATH_VIA_PEER_LINK) {
        add(&w, "peer link");
    } else if (hop->via == PATH_VIA_MLAG_LOCAL) {
        add(&w, "own member");
    } else {
        add(&w, hop->team >= 0 && t->teams[hop->team].n_ports > 1 ? "port in use" : "one port");
    }
}

void path_words_rule(const struct path_hop *hop, unsigned draws, char *out, size_t size)
{
    struct words w = begin(out, size);
    uint32_t reads = hop->policy ? hash_reads(hop->policy) : 0;
    char fields[160];

    if (hop->index >= 0) {
        add(&w, "%s", hop->why);
        return;
    }
    if (hop->conditional) {
        add(&w, "depends on the hop before");
        return;
    }
    if (!hop->policy) {
        add(&w, "%s; ", hop->why);
    } else if (hop->status == HASH_STATUS_UNKNOWN) {
        hash_fields_text(reads, fields, sizeof fields);
        add(&w, "rule not published, it reads %s: ", fields);
    } else {
        add(&w, "%s rule, %s: ", hash_status_name(hop->status),
            reads & (HASH_READS_SRC_PORT | HASH_READS_DST_PORT) ? "source ports drawn" : "its choice is history");
    }
    add_draws(&w, hop, draws);
}

const char *path_words_label(const struct path_hop *hop)
{
    return hop->observed ? "observed" : path_label(hop->status, hop->conditional ? TOPO_DRAWN : hop->inputs);
}

void path_words_count(double count, char *out, size_t size)
{
    if (fabs(count - round(count)) < 1e-6)
        snprintf(out, size, "%.0f", round(count));
    else
        snprintf(out, size, "%.1f", count);
}

void path_words_arithmetic(const struct topo *t, const struct flow *flow, char *out, size_t size)
{
    const struct topo_iface *host = &t->ifaces[flow->iface], *nas = &t->ifaces[t->vips[flow->vip].iface];
    const struct topo_team *team = &t->teams[host->team];
    struct words w = begin(out, size);
    uint32_t mtu = host->mtu < nas->mtu ? host->mtu : nas->mtu;
    bool ipv6 = host->addr.version == 6;
    bool timestamps = t->stacks[host->box].timestamps && t->stacks[nas->box].timestamps;
    uint64_t block = t->stacks[host->box].wsize;
    bps_t rate;
    char text[4][32];

    if (team->n_ports == 0 || t->ports[team->ports[0]].link < 0)
        return;
    rate = t->links[t->ports[team->ports[0]].link].rate;
    add(&w, "%s, MTU %u, %s, %s: %s MB/s of TCP payload, %s of NFS data in operations of %s",
        unit_print_rate(text[0], sizeof text[0], rate), (unsigned)mtu, host->vlan ? "tagged" : "untagged",
        timestamps ? "timestamps" : "no timestamps",
        unit_print_mbps(text[1], sizeof text[1], path_goodput(rate, mtu, host->vlan != 0, ipv6, timestamps, 0, true)),
        unit_print_mbps(text[2], sizeof text[2],
                        path_goodput(rate, mtu, host->vlan != 0, ipv6, timestamps, block, true)),
        unit_print_size(text[3], sizeof text[3], block));
}

const char *path_words_via(enum path_via via)
{
    static const char *const names[] = {
        [PATH_VIA_ONLY] = "only",
        [PATH_VIA_POLICY] = "policy",
        [PATH_VIA_MAC] = "mac",
        [PATH_VIA_MLAG_LOCAL] = "mlag-local",
        [PATH_VIA_PEER_LINK] = "peer-link",
        [PATH_VIA_ROUTE] = "route",
    };
    static_assert(sizeof names / sizeof names[0] == PATH_VIA_ROUTE + 1, "one name per way to choose");

    return names[via];
}
