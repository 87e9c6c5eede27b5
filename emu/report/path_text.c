/* One mount in words: its ends, every hop in both directions with rule and label, who is on the same links, what that comes
 * to in MB/s, and what would make an uncertain hop certain. */
#include "emu/report/path_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/path_proof.h"
#include "emu/model/path_site.h"
#include "emu/report/path_words.h"
#include "emu/report/table.h"

enum { TEXT = 640, NAMES_SHOWN = 16 };

/* The connections of one mount in one direction. */
struct walks {
    struct path_site *s;
    int mount; /* whose connections they are */
    enum flow_direction direction;
    size_t first, n; /* flows */
    struct path *paths;
    int *group; /* of connections with the same way; the first connection's number */
};

static bool same_way(const struct path *a, const struct path *b)
{
    if (a->n_hops != b->n_hops || a->end != b->end)
        return false;
    for (size_t h = 0; h < a->n_hops; h++)
        if (a->hops[h].linkdir != b->hops[h].linkdir || a->hops[h].team != b->hops[h].team)
            return false;
    return true;
}

static int walk_all(struct walks *w, struct path_site *s, int mount, enum flow_direction direction)
{
    *w = (struct walks){.s = s, .mount = mount, .direction = direction, .first = s->first_flow[mount]};
    w->n = s->first_flow[mount + 1] - w->first;
    w->paths = calloc(w->n + 1, sizeof *w->paths);
    w->group = calloc(w->n + 1, sizeof *w->group);
    if (!w->paths || !w->group)
        return -ENOMEM;
    for (size_t i = 0; i < w->n; i++) {
        size_t g = 0;

        path_walk(s->t, NULL, &s->flows[w->first + i], direction, true, &w->paths[i]);
        while (!same_way(&w->paths[g], &w->paths[i]))
            g++;
        w->group[i] = (int)g;
    }
    return 0;
}

static void walks_free(struct walks *w)
{
    free(w->paths);
    free(w->group);
}

/* Connections that draw independently at hop h. */
static unsigned draws_at(const struct walks *w, size_t h)
{
    unsigned n = 0;

    for (size_t i = 0; i < w->n; i++) {
        size_t k = 0;

        if (w->paths[i].n_hops <= h)
            continue;
        while (k < i && (w->paths[k].n_hops <= h || w->paths[k].hops[h].draw != w->paths[i].hops[h].draw))
            k++;
        n += k == i;
    }
    return n;
}

static const char *nfs_name(enum topo_nfs nfs) { return nfs == TOPO_NFS3 ? "3" : nfs == TOPO_NFS41 ? "4.1" : "4.2"; }

static void print_server(const struct topo *t, const struct topo_mount *m, FILE *out)
{
    const struct topo_vip *v = &t->vips[m->vip];
    int owner = t->exports[t->datastores[m->datastore].export_].owner;

    fprintf(out, "%s (", v->text);
    if (strcmp(m->server, v->text) != 0)
        fprintf(out, "%s, ", m->server);
    fprintf(out, "home %s", t->boxes[v->home].name);
    if (owner < 0 || owner == v->home)
        fprintf(out, "%s%s)\n", owner < 0 ? "" : ", owner ", owner < 0 ? "" : t->boxes[owner].name);
    else
        fprintf(out, ", owner %s: %s)\n", t->boxes[owner].name,
                t->nodes[v->node].indirect == TOPO_INDIRECT_FREE  ? "served at no cost"
                : t->nodes[v->node].indirect == TOPO_INDIRECT_HOP ? "served over an extra hop inside the NAS"
                                                                  : "not served there");
}

/* True when some hop of the connections reads the client's port. */
static bool reads_port(const struct walks *w)
{
    uint32_t field = w->direction == FLOW_WRITE ? HASH_READS_SRC_PORT : HASH_READS_DST_PORT;

    for (size_t i = 0; i < w->n; i++)
        for (size_t h = 0; h < w->paths[i].n_hops; h++)
            if (w->paths[i].hops[h].policy && w->paths[i].hops[h].n > 1 &&
                hash_reads(w->paths[i].hops[h].policy) & field)
                return true;
    return false;
}

static void print_ports(const struct path_site *s, size_t first, size_t n, FILE *out)
{
    if (s->flows[first].sport_origin == TOPO_DRAWN) {
        fprintf(out, "source port%s drawn at every connect\n", n == 1 ? "" : "s");
        return;
    }
    fprintf(out, "source port%s", n == 1 ? "" : "s");
    for (size_t c = 0; c < n; c++)
        if (s->flows[first + c].sport_origin == TOPO_DRAWN)
            fprintf(out, "%s drawn", c ? "," : "");
        else
            fprintf(out, "%s %u", c ? "," : "", (unsigned)s->flows[first + c].sport);
    fputc('\n', out);
}

static void print_ends(const struct path_site *s, int mount, const struct walks *both, FILE *out)
{
    const struct topo *t = s->t;
    const struct topo_mount *m = &t->mounts[mount];
    const struct topo_datastore *d = &t->datastores[m->datastore];
    int owner = path_site_owner(t, mount);
    const struct topo_iface *i = &t->ifaces[m->iface];
    char address[64];

    fprintf(out, "%s on %s   %s (%s", d->name, t->boxes[m->host].name,
            topo_addr_print(address, sizeof address, &i->addr, false), i->name);
    if (m->bound)
        fputs(", bound to it", out);
    else if (m->iface_origin == TOPO_ASSUMED)
        fputs(", assumed: several interfaces in that subnet", out);
    else if (m->gateway_iface >= 0)
        fprintf(out, ", by %s", t->boxes[t->ifaces[m->gateway_iface].box].name);
    fputs(")  <->  ", out);
    print_server(t, m, out);
    fprintf(out, " NFS %s, ", nfs_name(d->nfs));
    if (owner != mount && t->nodes[t->boxes[m->host].node].kind == TOPO_ESXI)
        fputs("over a connection that other datastores use too, ", out);
    else if (owner != mount)
        fprintf(out, "over the connections of %s, ", t->datastores[t->mounts[owner].datastore].name);
    else
        fprintf(out, "%zu connection%s, ", both->n, both->n == 1 ? "" : "s");
    if (reads_port(&both[0]) || reads_port(&both[1]))
        print_ports(s, both->first, both->n, out);
    else
        fputs("no hop reads the source port\n", out);
}

/* "connections 1, 4 (source ports 701, 704)" */
static void print_group(const struct walks *w, size_t g, FILE *out)
{
    bool any = false;

    fputs("  connections", out);
    for (size_t i = 0; i < w->n; i++)
        if (w->group[i] == (int)g) {
            fprintf(out, "%s %zu", any ? "," : "", i + 1);
            any = true;
        }
    fputs(":\n", out);
}

/* A hop's three columns; the arithmetic stands on a line of its own below. */
struct hop_text {
    char way[TEXT], policy[TEXT], rule[TEXT];
    const char *label;
};

static void hop_text(const struct walks *w, const struct path *p, size_t h, struct hop_text *out)
{
    path_words_way(w->s->t, &p->hops[h], out->way, sizeof out->way);
    path_words_policy(w->s->t, &p->hops[h], out->policy, sizeof out->policy);
    path_words_rule(&p->hops[h], draws_at(w, h), out->rule, sizeof out->rule);
    out->label = path_words_label(&p->hops[h]);
}

static void widths(const struct walks *w, int *way, int *policy)
{
    for (size_t i = 0; i < w->n; i++)
        for (size_t h = 0; h < w->paths[i].n_hops; h++) {
            struct hop_text text;

            hop_text(w, &w->paths[i], h, &text);
            *way = (int)strlen(text.way) > *way ? (int)strlen(text.way) : *way;
            *policy = (int)strlen(text.policy) > *policy ? (int)strlen(text.policy) : *policy;
        }
}

/* All hops of a direction, by groups of connections with the same way. */
static void print_hops(const struct walks *w, unsigned *number, int way, int policy, FILE *out)
{
    bool groups = false;

    fprintf(out, "\n %s\n", w->direction == FLOW_WRITE ? "write" : "read");
    for (size_t i = 0; i < w->n; i++)
        groups |= w->group[i] != 0;
    for (size_t g = 0; g < w->n; g++) {
        const struct path *p = &w->paths[g];

        if (w->group[g] != (int)g)
            continue;
        if (groups)
            print_group(w, g, out);
        for (size_t h = 0; h < p->n_hops; h++) {
            struct hop_text text;

            hop_text(w, p, h, &text);
            fprintf(out, " %2u  %-*s  %-*s  %s\n", ++*number, way, text.way, policy, text.policy, text.label);
            if (text.rule[0])
                fprintf(out, "       %s\n", text.rule);
        }
        if (p->end != PATH_OK)
            fprintf(out, "     stops there: %s\n", p->problem);
    }
}

/* By connection, where they part: "by connection: 0,1,1,0". */
static void print_indices(const struct walks *w, unsigned first, FILE *out)
{
    for (size_t h = 0; h < w->paths[0].n_hops; h++) {
        bool differ = false;

        for (size_t i = 1; i < w->n; i++)
            differ |= w->paths[i].n_hops > h && w->paths[i].hops[h].index != w->paths[0].hops[h].index;
        if (!differ)
            continue;
        fprintf(out, "  hop %zu by connection: ", first + h + 1);
        for (size_t i = 0; i < w->n; i++)
            if (w->paths[i].n_hops > h && w->paths[i].hops[h].index >= 0)
                fprintf(out, "%s%d", i ? "," : "", w->paths[i].hops[h].index);
            else
                fprintf(out, "%s?", i ? "," : "");
        fputc('\n', out);
    }
}

/* --- who is on the same links --- */

/* Appends a word after a blank, or counts it when there are too many. */
struct list {
    char text[TEXT];
    size_t at, n;
};

static void list_add(struct list *l, const char *word)
{
    if (l->n++ < NAMES_SHOWN && l->at < sizeof l->text)
        l->at += (size_t)snprintf(l->text + l->at, sizeof l->text - l->at, "%s%s", l->at ? " " : "", word);
}

static const char *list_end(struct list *l)
{
    if (l->n > NAMES_SHOWN && l->at < sizeof l->text)
        snprintf(l->text + l->at, sizeof l->text - l->at, " and %zu more", l->n - NAMES_SHOWN);
    return l->n ? l->text : "-";
}

static int host_of(const struct path_site *s, int flow) { return s->t->mounts[s->flows[flow].mount].host; }

static const char *datastore_of(const struct path_site *s, int flow)
{
    return s->t->datastores[s->t->mounts[s->flows[flow].mount].datastore].name;
}

/* Datastores of the host on a link direction: each once, in order. */
static void names_on(const struct path_site *s, int linkdir, int host, enum flow_direction direction, struct list *l)
{
    size_t n;
    const struct predict_load *loads = predict_loads(s->predict[direction], linkdir, &n);
    int last = -1;

    for (size_t i = 0; i < n; i++)
        if (host_of(s, loads[i].flow) == host && s->flows[loads[i].flow].mount != last) {
            last = s->flows[loads[i].flow].mount;
            list_add(l, datastore_of(s, loads[i].flow));
        }
}

/* "esx1:6 esx5:6", in the order of the file. */
static int hosts_on(const struct path_site *s, int linkdir, enum flow_direction direction, struct list *l)
{
    size_t n;
    const struct predict_load *loads = predict_loads(s->predict[direction], linkdir, &n);
    double *by_box = calloc(s->t->n_boxes + 1, sizeof *by_box);

    if (!by_box)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        by_box[host_of(s, loads[i].flow)] += loads[i].share * s->counts[loads[i].flow];
    for (size_t b = 0; b < s->t->n_boxes; b++) {
        char word[160], count[32];

        if (by_box[b] <= 0)
            continue;
        path_words_count(by_box[b], count, sizeof count);
        snprintf(word, sizeof word, "%s:%s", s->t->boxes[b].name, count);
        list_add(l, word);
    }
    free(by_box);
    return 0;
}

/* The ports of the hop's team, or its one port. */
static size_t ports_of(const struct topo *t, const struct path_hop *hop, const int **ports)
{
    if (hop->team >= 0) {
        *ports = t->teams[hop->team].ports;
        return t->teams[hop->team].n_ports;
    }
    *ports = hop->candidates;
    return (size_t)hop->n;
}

/* True when the link ends at the host: what is on it is one host's, so datastores say more than hosts. */
static bool at_host(const struct topo *t, int port, int host)
{
    int out = topo_port_out(t, port);

    return t->ports[port].box == host || (out >= 0 && t->ports[topo_linkdir_to(t, out)].box == host);
}

/* Datastores of the host whose flow must take the same member as this one at hop h, whichever that is: they are equal in all
 * that the rule reads. */
static void certain_with(const struct walks *w, size_t h, const struct path_hop *hop, struct list *l)
{
    const struct path_site *s = w->s;
    int host = s->t->mounts[w->mount].host;
    size_t n;
    const size_t *flows = path_site_flows_of(w->s, host, &n);
    struct path p;

    for (size_t i = 0; i < n; i++) {
        if (s->flows[flows[i]].mount == w->mount)
            continue;
        path_walk(s->t, NULL, &s->flows[flows[i]], w->direction, false, &p);
        if (p.n_hops > h && p.hops[h].team == hop->team && p.hops[h].draw == hop->draw)
            list_add(l, datastore_of(s, (int)flows[i]));
    }
}

/* How many flows share this one's member for certain: all that are there where the rule is exact, else those of this host that
 * are equal in all that it reads. */
static void put_certain(struct table *table, struct table_row *row, const struct walks *w, size_t h,
                        const struct path_hop *hop, const char *on)
{
    struct list l = {.n = 0};

    if (hop->n < 2) {
        table_cell(table, row, 3, hop->index >= 0 ? on : "");
        return;
    }
    if (hop->index >= 0 && (hop->observed || (hop->status == HASH_EXACT && hop->inputs <= TOPO_DERIVED))) {
        table_cell(table, row, 3, on);
        return;
    }
    certain_with(w, h, hop, &l);
    table_cellf(table, row, 3, "%zu", l.n + 1);
}

static int share_row(const struct walks *w, size_t h, const struct path_hop *hop, unsigned number, struct table *table)
{
    const struct path_site *s = w->s;
    const struct topo *t = s->t;
    int host = t->mounts[w->mount].host;
    const int *ports;
    size_t n = ports_of(t, hop, &ports);
    double total = 0, on = 0;
    struct list who = {.n = 0}, idle = {.n = 0};
    int rc = 0;
    char a[32] = "", b[32], c[32];
    struct table_row *row = table_row(table, NULL);
    for (size_t i = 0; i < n; i++) {
        int out = topo_port_out(t, ports[i]);
        double count = out < 0 ? 0 : path_site_count(s, out, -1, w->direction);

        total += count;
        if (out >= 0 && out == hop->linkdir)
            on = count;
        if (n > 1 && count <= 0)
            list_add(&idle, t->ports[ports[i]].name);
    }
    table_cellf(table, row, 0, "%u", number);
    path_words_count(total, b, sizeof b);
    path_words_count(total / (double)n, c, sizeof c);
    if (hop->index >= 0) {
        table_cell(table, row, 1, t->ports[hop->candidates[hop->index]].full);
        path_words_count(on, a, sizeof a);
        table_cellf(table, row, 2, "%s of %s", a, b);
        if (at_host(t, hop->candidates[hop->index], host))
            names_on(s, hop->linkdir, host, w->direction, &who);
        else
            rc = hosts_on(s, hop->linkdir, w->direction, &who);
    } else {
        table_cellf(table, row, 1, "one of %d", hop->n);
        table_cellf(table, row, 2, "about %s of %s", c, b);
        certain_with(w, h, hop, &who);
    }
    put_certain(table, row, w, h, hop, a);
    table_cell(table, row, 4, n > 1 ? c : "-");
    table_cell(table, row, 5, list_end(&who));
    table_cell(table, row, 6, list_end(&idle));
    return rc;
}

static int print_shares(const struct walks *both, FILE *out)
{
    static const struct table_column columns[] = {
        {"hop", TABLE_RIGHT},  {"link", TABLE_LEFT},      {"flows", TABLE_LEFT}, {"certain", TABLE_RIGHT},
        {"even", TABLE_RIGHT}, {"shared by", TABLE_LEFT}, {"idle", TABLE_LEFT}};
    struct table *table = table_new(columns, 7);
    unsigned number = 0;
    int rc = 0;

    for (int d = 0; d < 2; d++)
        for (size_t g = 0; g < both[d].n; g++)
            for (size_t h = 0; rc == 0 && both[d].group[g] == (int)g && h < both[d].paths[g].n_hops; h++)
                rc = share_row(&both[d], h, &both[d].paths[g].hops[h], ++number, table);
    if (rc == 0)
        rc = table_print(table, out, TABLE_TEXT, 1);
    table_free(table);
    return rc;
}

static void cell_rate(struct table *table, struct table_row *row, size_t column, double least, double most)
{
    char a[32], b[32];

    unit_print_mbps(a, sizeof a, least);
    unit_print_mbps(b, sizeof b, most);
    if (strcmp(a, b) == 0)
        table_cell(table, row, column, b);
    else
        table_cellf(table, row, column, "%s - %s", a, b);
}

static int print_rates(struct path_site *s, int mount, FILE *out)
{
    const struct topo *t = s->t;
    char title[160];
    int host = t->mounts[mount].host, rc = 0;
    size_t n = 0;
    struct table *table;
    bool drawn = false;

    for (size_t m = 0; m < t->n_mounts; m++)
        n += t->mounts[m].host == host;
    snprintf(title, sizeof title, "all %zu of %s busy", n, t->boxes[host].name);
    table = table_new((const struct table_column[]){{"MB/s of NFS data", TABLE_LEFT},
                                                    {"alone", TABLE_RIGHT},
                                                    {title, TABLE_RIGHT},
                                                    {"every host busy", TABLE_RIGHT}},
                      4);
    for (int d = 0; d < 2 && rc == 0; d++) {
        struct table_row *row = table_row(table, NULL);
        struct path_rates r;

        rc = path_site_rates(s, mount, (enum flow_direction)d, &r);
        table_cell(table, row, 0, d == FLOW_WRITE ? "write" : "read");
        cell_rate(table, row, 1, r.least, r.alone);
        cell_rate(table, row, 2, r.host, r.host);
        cell_rate(table, row, 3, r.all, r.all);
        drawn |= path_site_drawn(s, mount, (enum flow_direction)d);
    }
    if (rc == 0)
        rc = table_print(table, out, TABLE_TEXT, 1);
    table_free(table);
    if (drawn)
        fputs(" hops without index count with their draws spread evenly, on average the best case\n", out);
    return rc;
}

/* Commands for the uncertain hops, each once. */
static void print_proofs(const struct walks *both, FILE *out)
{
    const struct path_site *s = both->s;
    unsigned number = 0;
    char seen[8][TEXT];
    size_t n_seen = 0;

    for (int d = 0; d < 2; d++)
        for (size_t g = 0; g < both[d].n; g++)
            for (size_t h = 0; both[d].group[g] == (int)g && h < both[d].paths[g].n_hops; h++) {
                char command[TEXT / 2], line[TEXT];
                size_t k = 0;
                int box;

                number++;
                if (!path_proof(s->t, &s->flows[both[d].first + g], (enum flow_direction)d, &both[d].paths[g].hops[h],
                                &box, NULL, command, sizeof command))
                    continue;
                snprintf(line, sizeof line, "on %s%s: %s", s->t->boxes[box].name,
                         path_proof_confirmed(&s->t->nodes[s->t->boxes[box].node]) ? "" : " (wording not confirmed)",
                         command);
                while (k < n_seen && strcmp(seen[k], line) != 0)
                    k++;
                if (k < n_seen || n_seen == sizeof seen / sizeof seen[0])
                    continue;
                memcpy(seen[n_seen++], line, sizeof line);
                fprintf(out, " to make hop %u certain, %s\n", number, line);
            }
}

/* Source ports that nobody gave: how to give them. */
static void print_hint(const struct walks *both, FILE *out)
{
    const struct path_site *s = both->s;

    if ((!reads_port(&both[0]) && !reads_port(&both[1])) || s->flows[both->first].sport_origin != TOPO_DRAWN)
        return;
    fputs(" with --sport ", out);
    for (size_t i = 0; i < both->n; i++)
        fprintf(out, "%sP%zu", i ? "," : "", i + 1);
    fputs(" (the mount's own source ports) this is its own answer until it connects again\n", out);
}

static void print_pathless(const struct path_site *s, int mount, FILE *out)
{
    const struct topo_mount *m = &s->t->mounts[mount];

    fprintf(out, "%s on %s: no path, %s\n", s->t->datastores[m->datastore].name, s->t->boxes[m->host].name,
            m->vip < 0 ? "its server is no VIP of the file" : "no interface leads to its VIP");
}

static int print_both(struct path_site *s, int mount, const struct walks *both, FILE *out)
{
    unsigned number = 0;
    int way = 0, policy = 0, rc;
    char text[TEXT];

    print_ends(s, mount, both, out);
    widths(&both[0], &way, &policy);
    widths(&both[1], &way, &policy);
    for (int d = 0; d < 2; d++) {
        unsigned first = number;

        print_hops(&both[d], &number, way, policy, out);
        print_indices(&both[d], first, out);
    }
    fputc('\n', out);
    rc = print_shares(both, out);
    fputc('\n', out);
    if (rc == 0)
        rc = print_rates(s, mount, out);
    path_words_arithmetic(s->t, &s->flows[both->first], text, sizeof text);
    fprintf(out, " %s; %s\n", s->t->network_only ? "network only" : "storage limits count", text);
    print_proofs(both, out);
    print_hint(both, out);
    return rc;
}

static int print_mount(struct path_site *s, int mount, FILE *out)
{
    struct walks both[2] = {{0}, {0}};
    int rc = 0;

    for (int d = 0; d < 2 && rc == 0; d++)
        rc = walk_all(&both[d], s, mount, (enum flow_direction)d);
    if (rc == 0 && both[0].n == 0)
        print_pathless(s, mount, out);
    else if (rc == 0)
        rc = print_both(s, mount, both, out);
    walks_free(&both[0]);
    walks_free(&both[1]);
    return rc;
}

int path_text_mounts(struct path_site *s, const struct path_choice *choice, FILE *out)
{
    int rc = 0;

    for (size_t i = 0; i < choice->n_mounts && rc == 0; i++) {
        if (i > 0)
            fputc('\n', out);
        rc = print_mount(s, choice->mounts[i], out);
    }
    return rc;
}
