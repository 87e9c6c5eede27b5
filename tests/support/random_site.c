#define _GNU_SOURCE /* vasprintf */
#include "tests/support/random_site.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/seed.h"

enum { MAX_SWITCHES = 3, MAX_TEAM = 4, MAX_VIPS = 6, MAX_PIECES = 64 };

/* Pieces of the text, joined at the end in their order or in the opposite one. */
struct pieces {
    char *text[MAX_PIECES];
    int n;
};

struct maker {
    uint64_t state;
    unsigned looks;
    const char *host, *sw, *nas; /* names begin so */
    struct pieces nodes, links, datastores;
    FILE *out;                /* the node at hand */
    FILE *lags[MAX_SWITCHES]; /* lines for the switches */
    int next_port[MAX_SWITCHES], next_lag[MAX_SWITCHES];
    int switches, vips;
    unsigned vip[MAX_VIPS]; /* last bytes of the addresses */
    bool vlan;
};

static unsigned draw(struct maker *m, unsigned n)
{
    m->state = m->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((m->state >> 33) % n);
}

static const char *one_of(struct maker *m, const char *const *words, unsigned n) { return words[draw(m, n)]; }

static void add(struct pieces *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct pieces *p, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (p->n == MAX_PIECES || vasprintf(&p->text[p->n++], format, args) < 0)
        abort();
    va_end(args);
}

static void join(struct pieces *p, bool backwards, FILE *out)
{
    for (int i = 0; i < p->n; i++)
        fputs(p->text[backwards ? p->n - 1 - i : i], out);
    for (int i = 0; i < p->n; i++)
        free(p->text[i]);
}

static void add_link(struct maker *m, const char *a, const char *b, const char *speed)
{
    bool turn = m->looks & RANDOM_SITE_REVERSED;

    add(&m->links, "  - {ends: ['%s', '%s'], speed: %s}\n", turn ? b : a, turn ? a : b, speed);
}

/* Cables from n NICs to a switch, and a LAG over them there if asked. */
static void cable(struct maker *m, const char *nic, int first, int n, int sw, const char *lag_to, const char *mode)
{
    int port = m->next_port[sw];
    char a[64], b[64];

    snprintf(a, sizeof a, "%s[%d-%d]", nic, first, first + n - 1);
    snprintf(b, sizeof b, "%s%d:p[%d-%d]", m->sw, sw, port, port + n - 1);
    add_link(m, a, b, "1G");
    m->next_port[sw] += n;
    if (lag_to)
        fprintf(m->lags[sw], "      po%d: {to: '%s', mode: %s%s}\n", m->next_lag[sw]++, lag_to, mode,
                m->vlan ? ", vlan: trunk" : "");
    else if (m->vlan)
        for (int i = 0; i < n; i++)
            fprintf(m->lags[sw], "#PORT p%d\n", port + i);
}

static void esxi(struct maker *m, int h)
{
    static const char *const plain[] = {"port-id", "mac-hash", "explicit"};
    static const char *const any[] = {"port-id", "mac-hash", "ip-hash", "ip-hash"};
    int n = 1 + (int)draw(m, MAX_TEAM), sw = (int)draw(m, (unsigned)m->switches);
    bool lag = draw(m, 2) == 0;
    const char *teaming = lag ? one_of(m, any, 4) : one_of(m, plain, 3);
    char nic[32], to[32];

    fprintf(m->out, "  %s%d: {kind: esxi, vswitches: {v: {uplinks: 'nic[0-%d]', teaming: %s", m->host, h, n - 1,
            teaming);
    if (!lag && n > 1 && draw(m, 3) == 0)
        fprintf(m->out, ", standby: [nic%d]", (int)draw(m, (unsigned)n));
    fprintf(m->out, "}},\n    portgroups: {g: {vswitch: v%s}},\n", m->vlan ? ", vlan: 50" : "");
    fprintf(m->out,
            "    vmknics: {vmk1: {portgroup: g, address: 10.0.0.%u/24, mac: '00:50:56:00:%02x:%02x', port-id: %u}}}\n",
            10 + (unsigned)h * 20 + draw(m, 20), (unsigned)h, draw(m, 256), draw(m, 100));
    snprintf(nic, sizeof nic, "%s%d:nic", m->host, h);
    snprintf(to, sizeof to, "%s%d:v", m->host, h);
    if (lag || n == 1) {
        cable(m, nic, 0, n, sw, lag ? to : NULL, "static");
        return;
    }
    for (int i = 0; i < n; i++)
        cable(m, nic, i, 1, (int)draw(m, (unsigned)m->switches), NULL, NULL);
}

static void linux_host(struct maker *m, int h)
{
    static const char *const hashes[] = {"linux-layer2", "linux-layer2+3", "linux-layer3+4"};
    int n = 1 + (int)draw(m, MAX_TEAM), sw = (int)draw(m, (unsigned)m->switches);
    bool lag = draw(m, 3) != 0;
    char nic[32], to[32];

    fprintf(m->out,
            "  %s%d: {kind: linux, kernel: '6.8', bonds: {b: {members: 'nic[0-%d]', mac: '3c:ec:ef:00:%02x:%02x', ",
            m->host, h, n - 1, (unsigned)h, draw(m, 256));
    if (lag)
        fprintf(m->out, "mode: 802.3ad, hash: %s}},\n", one_of(m, hashes, 3));
    else
        fprintf(m->out, "mode: active-backup}},\n");
    fprintf(m->out, "    interfaces: {%s: {%saddress: 10.0.0.%u/24}}}\n", m->vlan ? "b.50" : "b",
            m->vlan ? "vlan: 50, " : "", 10 + (unsigned)h * 20 + draw(m, 20));
    snprintf(nic, sizeof nic, "%s%d:nic", m->host, h);
    snprintf(to, sizeof to, "%s%d:b", m->host, h);
    if (lag) {
        cable(m, nic, 0, n, sw, to, "lacp");
        return;
    }
    for (int i = 0; i < n; i++)
        cable(m, nic, i, 1, (int)draw(m, (unsigned)m->switches), NULL, NULL);
}

static void controller(struct maker *m, int c)
{
    static const char *const hashes[] = {"linux-layer2+3", "netapp-ip", "xor-src-dst-ip", "linux-layer3+4"};
    static const char *const transmits[] = {"xor-dst-ip", "xor-src-dst-ip"};
    int n = 1 + (int)draw(m, MAX_TEAM), sw = (int)draw(m, (unsigned)m->switches);
    unsigned kind = draw(m, 3);
    char nic[32], to[32];

    if (kind == 2)
        n = 1;
    fprintf(m->out, "      c%d: {nics: {", c);
    for (int i = 0; i < n; i++)
        fprintf(m->out, "%se%d: {mac: '00:15:17:%02x:%02x:%02x'}", i ? ", " : "", i, (unsigned)c, (unsigned)i,
                draw(m, 256));
    fprintf(m->out, "}%s", m->vlan ? ", vlan: 50" : "");
    if (kind == 0)
        fprintf(m->out, ", lag: {name: a, mode: lacp, hash: %s, mac: '00:a0:98:00:%02x:%02x'}", one_of(m, hashes, 4),
                (unsigned)c, draw(m, 256));
    else if (kind == 1)
        fprintf(m->out, ", team: {receive: vip, transmit: %s}", one_of(m, transmits, 2));
    fprintf(m->out, "}\n");
    snprintf(nic, sizeof nic, "%s:c%d.e", m->nas, c);
    snprintf(to, sizeof to, "%s:c%d.a", m->nas, c);
    cable(m, nic, 0, n, sw, kind == 0 ? to : NULL, "lacp");
}

static void nas(struct maker *m)
{
    int controllers = 1 + (int)draw(m, 2);

    m->vips = 1 + (int)draw(m, MAX_VIPS);

    fprintf(m->out, "  %s:\n    kind: nas\n    controllers:\n", m->nas);
    for (int c = 0; c < controllers; c++)
        controller(m, c);
    fprintf(m->out, "    vips:\n");
    for (int v = 0; v < m->vips; v++) {
        m->vip[v] = 100 + (unsigned)v * 20 + draw(m, 20);
        fprintf(m->out, "      10.0.0.%u/24: {home: c%u}\n", m->vip[v], draw(m, (unsigned)controllers));
    }
    fprintf(m->out, "    exports: {/x: {}}\n");
}

static void between(struct maker *m)
{
    const char *trunk = m->vlan ? ", vlan: trunk" : "";

    for (int s = 0; s + 1 < m->switches; s++) {
        int n = 1 + (int)draw(m, 3);
        char a[64], b[64];

        snprintf(a, sizeof a, "%s%d:u[0-%d]", m->sw, s, n - 1);
        snprintf(b, sizeof b, "%s%d:d[0-%d]", m->sw, s + 1, n - 1);
        add_link(m, a, b, "10G");
        if (n == 1 && draw(m, 2)) {
            if (m->vlan)
                fprintf(m->lags[s], "#PORT u0\n"), fprintf(m->lags[s + 1], "#PORT d0\n");
            continue;
        }
        fprintf(m->lags[s], "      up: {to: '%s%d:down', mode: lacp%s}\n", m->sw, s + 1, trunk);
        fprintf(m->lags[s + 1], "      down: {to: '%s%d:up', mode: lacp%s}\n", m->sw, s, trunk);
    }
}

/* The LAG lines of a switch, and from its marked lines those of single trunk ports. */
static void print_switch(struct maker *m, int s, const char *lines)
{
    static const char *const hashes[] = {"xor-src-dst-ip", "cisco-src-dst-ip", "cisco-src-mac", "xor-src-dst-mac",
                                         "linux-layer3+4"};
    bool any = false;

    fprintf(m->out, "  %s%d:\n    kind: switch\n    hash: %s\n", m->sw, s, one_of(m, hashes, 5));
    if (m->vlan)
        fprintf(m->out, "    vlans: [50]\n");
    for (int ports = 0; ports < 2; ports++) {
        any = false;
        for (const char *line = lines; *line;) {
            const char *end = line;
            bool port = *line == '#';

            while (*end != '\n')
                end++;
            if (port == (ports == 1)) {
                if (!any)
                    fprintf(m->out, ports ? "    ports:\n" : "    lags:\n");
                any = true;
                if (port)
                    fprintf(m->out, "      %.*s: {vlan: trunk}\n", (int)(end - line - 6), line + 6);
                else
                    fprintf(m->out, "%.*s\n", (int)(end - line), line);
            }
            line = end + 1;
        }
    }
}

typedef void node_function(struct maker *m, int number);

static void nas_node(struct maker *m, int number)
{
    (void)number;
    nas(m);
}

/* The text that a node's function prints becomes a piece of its own. */
static void add_node(struct maker *m, node_function *print, int number)
{
    char *text = NULL;
    size_t size;

    m->out = open_memstream(&text, &size);
    print(m, number);
    fclose(m->out);
    add(&m->nodes, "%s", text);
    free(text);
}

/* Nodes, cables and the lines of LAGs and trunks that go with them. */
static void make(struct maker *m)
{
    char *lags[MAX_SWITCHES] = {NULL};
    size_t size[MAX_SWITCHES];
    int hosts = 1 + (int)draw(m, 3);

    for (int s = 0; s < m->switches; s++) {
        m->lags[s] = open_memstream(&lags[s], &size[s]);
        m->next_lag[s] = 1;
    }
    for (int h = 0; h < hosts; h++)
        add_node(m, draw(m, 2) ? esxi : linux_host, h);
    add_node(m, nas_node, 0);
    between(m);
    for (int s = 0; s < m->switches; s++) {
        char *text = NULL;
        size_t length;

        fclose(m->lags[s]);
        m->out = open_memstream(&text, &length);
        print_switch(m, s, lags[s]);
        fclose(m->out);
        add(&m->nodes, "%s", text);
        free(text);
        free(lags[s]);
    }
    /* Each VIP is mounted by all hosts. */
    for (int v = 0; v < m->vips; v++)
        add(&m->datastores, "  d%d: {export: '%s:/x', mounted: 10.0.0.%u}\n", v, m->nas, m->vip[v]);
}

char *random_site(uint64_t seed, unsigned looks)
{
    bool renamed = looks & RANDOM_SITE_RENAMED, backwards = looks & RANDOM_SITE_PERMUTED;
    struct maker m = {
        .state = (seed + 1000003 * (test_seed() - 1)) * UINT64_C(0x9e3779b97f4a7c15) + 1,
        .looks = looks,
        .host = renamed ? RANDOM_SITE_HOST : "h",
        .sw = renamed ? RANDOM_SITE_SWITCH : "sw",
        .nas = renamed ? RANDOM_SITE_NAS : "nas",
    };
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    m.switches = 1 + (int)draw(&m, MAX_SWITCHES);
    m.vlan = draw(&m, 2);
    make(&m);
    fprintf(out, "version: 1\nname: random\nnodes:\n");
    join(&m.nodes, backwards, out);
    fprintf(out, "links:\n");
    join(&m.links, backwards, out);
    fprintf(out, "datastores:\n");
    join(&m.datastores, backwards, out);
    fprintf(out, "workloads:\n  w: {op: mixed, read-share: 50%%, block: 64KiB, outstanding: 2, for: 60ms}\n");
    fclose(out);
    return text;
}
