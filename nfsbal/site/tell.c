/* A paste is read line by line with one question open at a time: the last command. Prompts differ by device, so a line is tried
 * as a command from behind each character that ends prompts; the word before it names the device when a node is called so. What
 * stands below a command until the next one is its output: one line of it answers, the others are the device's talk.
 */
#include "nfsbal/site/tell.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "emu/model/path_proof.h"
#include "nfsbal/site/site.h"

enum { LINE_SHOWN = 60, NFS_PORT = 2049 };

enum open {
    OPEN_NOTHING,
    OPEN_QUESTION, /* waits for its answer */
    OPEN_ANSWERED, /* the rest of its output is of no interest */
    OPEN_PING,     /* waits for its outcome */
    OPEN_OTHER     /* another command: its output is not ours */
};

struct reader {
    const struct topo *t;
    struct diag *d;
    struct tell *out;
    int number; /* of the line */
    int device; /* node of the section or prompt, -1 */
    int node;   /* that has the open question */
    struct tell_ping ping;
    enum open open;
    struct path_asked asked;
    char *command; /* the line with the open question; asked points into it */
    int first;     /* first line of its output, 0: none yet */
    int rc;
};

static struct diag_mark at(int line) { return (struct diag_mark){line, 1, 1}; }

/* ---- entries ---- */

static bool overlap(uint16_t a, uint16_t b) { return a == 0 || b == 0 || a == b; }

static bool same_flow(const struct tell_entry *e, int team, const struct topo_addr *src, const struct topo_addr *dst,
                      uint16_t sport, uint16_t dport)
{
    return e->team == team && topo_addr_equal(&e->src, src) && topo_addr_equal(&e->dst, dst) &&
           overlap(e->sport, sport) && overlap(e->dport, dport);
}

/* What the file says about this flow: sets `known`, or reports the contradiction and returns false. */
static bool against_file(struct reader *r, struct tell_entry *e)
{
    const struct topo_node *node = &r->t->nodes[r->t->boxes[r->t->teams[e->team].box].node];

    for (size_t i = 0; i < node->n_observed; i++) {
        const struct topo_observed *o = &node->observed[i];

        if (!same_flow(e, o->team, &o->src, &o->dst, o->sport, o->dport))
            continue;
        if (o->port == e->port) {
            e->known = true;
            return true;
        }
        diag_add(r->d, DIAG_ERROR, NULL, at(e->line), "where the device has changed, delete that line first",
                 "%s chooses %s; line %d of the file has observed %s%s%s", r->t->teams[e->team].name,
                 r->t->ports[e->port].name, o->mark.line, r->t->ports[o->port].name, o->date ? " on " : "",
                 o->date ? o->date : "");
        return false;
    }
    return true;
}

static void add_entry(struct reader *r, struct tell_entry e)
{
    struct tell *a = r->out;

    for (size_t i = 0; i < a->n; i++) {
        const struct tell_entry *other = &a->entries[i];

        if (!same_flow(other, e.team, &e.src, &e.dst, e.sport, e.dport))
            continue;
        if (other->port != e.port)
            diag_add(r->d, DIAG_ERROR, NULL, at(e.line), NULL, "%s chooses %s here and %s in line %d for the same flow",
                     r->t->teams[e.team].name, r->t->ports[e.port].name, r->t->ports[other->port].name, other->line);
        return;
    }
    if (!against_file(r, &e))
        return;
    if (a->n == a->capacity) {
        size_t capacity = a->capacity ? 2 * a->capacity : 64;
        struct tell_entry *entries = realloc(a->entries, capacity * sizeof *entries);

        if (!entries) {
            r->rc = -ENOMEM;
            return;
        }
        a->entries = entries;
        a->capacity = capacity;
    }
    a->entries[a->n++] = e;
}

static void add_connection(struct reader *r, int iface, int vip, uint16_t sport)
{
    struct tell *a = r->out;

    for (size_t i = 0; i < a->n_connections; i++)
        if (a->connections[i].iface == iface && a->connections[i].vip == vip && a->connections[i].sport == sport)
            return;
    if (a->n_connections == a->c_capacity) {
        size_t capacity = a->c_capacity ? 2 * a->c_capacity : 64;
        struct tell_connection *grown = realloc(a->connections, capacity * sizeof *grown);

        if (!grown) {
            r->rc = -ENOMEM;
            return;
        }
        a->connections = grown;
        a->c_capacity = capacity;
    }
    a->connections[a->n_connections++] = (struct tell_connection){iface, vip, sport};
}

/* ---- questions and answers ---- */

/* The question is over: what is left of it is said. */
static void close_question(struct reader *r)
{
    if (r->open == OPEN_PING)
        r->out->unanswered++;
    if (r->open == OPEN_QUESTION && r->first)
        diag_add(r->d, DIAG_WARNING, NULL, at(r->first), NULL, "no answer to `%.*s` can be read here", LINE_SHOWN,
                 r->command);
    else if (r->open == OPEN_QUESTION)
        r->out->unanswered++;
    r->open = OPEN_NOTHING;
    r->first = 0;
}

static bool take_answer(struct reader *r, const char *line)
{
    char name[64];
    int port;

    if (r->asked.team < 0) {
        port = path_proof_member(r->t, r->node, &r->asked, line);
        if (port < 0)
            return false;
        r->asked.team = r->t->ports[port].team;
        snprintf(name, sizeof name, "%s", r->t->ports[port].name);
    } else if (!path_proof_answer(&r->asked, line, name, sizeof name)) {
        return false;
    }
    const struct topo_teaming *teaming = &r->t->teams[r->asked.team].teaming;
    bool ports =
        !teaming->policy.policy || (hash_reads(&teaming->policy) & (HASH_READS_SRC_PORT | HASH_READS_DST_PORT));
    r->open = OPEN_ANSWERED;
    port = path_proof_port(r->t, r->asked.team, name);
    if (port < 0) {
        diag_add(r->d, DIAG_ERROR, NULL, at(r->number), NULL, "`%s` is no member of %s in the file, or not only one",
                 name, r->t->teams[r->asked.team].name);
        return true;
    }
    add_entry(r, (struct tell_entry){.team = r->asked.team,
                                     .port = port,
                                     .src = r->asked.src,
                                     .dst = r->asked.dst,
                                     .sport = ports ? r->asked.sport : 0,
                                     .dport = ports ? r->asked.dport : 0,
                                     .line = r->number});
    return true;
}

/* Whose command is it? The node named, or the only one that has such a command and LAG. -1: none, -2: several. */
static int whose(const struct reader *r, const char *text, int named, struct path_asked *asked)
{
    struct path_asked a;
    int found = -1;
    bool with_team = false;

    for (size_t i = 0; i < r->t->n_nodes; i++) {
        if ((named >= 0 && (int)i != named) || !path_proof_read(r->t, (int)i, text, &a))
            continue;
        if (found >= 0 && ((with_team && a.team >= 0) || (!a.lag && !asked->lag)))
            return -2;
        if (found >= 0 && a.team < 0)
            continue;
        found = (int)i;
        with_team = a.team >= 0;
        *asked = a;
    }
    return found;
}

static bool open_question(struct reader *r, const char *text, int named)
{
    struct path_asked a;
    int node = whose(r, text, named, &a);

    if (node == -1)
        return false;
    close_question(r);
    r->open = OPEN_OTHER;
    if (node == -2) {
        diag_add(r->d, DIAG_ERROR, NULL, at(r->number), "write `## NAME` above, as `nfsbal ask` does",
                 "several devices have this command and LAG: which one answers?");
    } else if (a.by_mac) {
        diag_add(r->d, DIAG_WARNING, NULL, at(r->number), NULL,
                 "asked with MAC addresses: the file's `observed:` knows flows by their IP addresses");
    } else if (a.team < 0 && a.lag) {
        diag_add(r->d, DIAG_ERROR, NULL, at(r->number), NULL, "%s has no LAG `%.*s`", r->t->nodes[node].name,
                 (int)a.lag_length, a.lag);
    } else {
        char *copy = strdup(text);

        free(r->command);
        r->command = copy;
        r->node = node;
        if (!copy)
            r->rc = -ENOMEM;
        else if (path_proof_read(r->t, node, copy, &a)) /* once more: it points into the line */
            r->open = OPEN_QUESTION;
        r->asked = a;
    }
    return true;
}

/* ---- pings ---- */

/* A whole number at the beginning of a word. */
static bool take_number(const char *word, unsigned *out)
{
    char *end;

    if (!isdigit((unsigned char)*word))
        return false;
    *out = (unsigned)strtoul(word, &end, 10);
    return true;
}

/* "vmkping -I vmk1 -d -c 3 -s 8972 10.50.0.101" or "ping -M do -c 3 -I bond0 -s 8972 10.50.0.201": a ping that must not be cut, to
 * a VIP. */
static bool open_ping(struct reader *r, const char *text, int named)
{
    struct tell_ping p = {.node = named, .line = r->number};
    bool whole = false, sized = false, esxi = strncmp(text, "vmkping", 7) == 0;
    size_t skip = esxi ? 7 : strncmp(text, "ping", 4) == 0 ? 4 : 0;
    struct topo_addr to = {0};
    char copy[256], *rest = copy;

    if (!skip || !isspace((unsigned char)text[skip]) || strlen(text) >= sizeof copy)
        return false;
    snprintf(copy, sizeof copy, "%s", text + skip);
    for (char *word; (word = strtok_r(rest, " \t", &rest));) {
        bool valued = strchr("IcMs", word[1] ? word[1] : '?') && word[0] == '-' && !word[2];
        const char *value = valued ? strtok_r(rest, " \t", &rest) : NULL;

        if (valued && !value)
            return false;
        if (valued && word[1] == 'I')
            snprintf(p.iface, sizeof p.iface, "%s", value);
        else if (valued && word[1] == 's')
            sized = take_number(value, &p.size);
        else if (valued && word[1] == 'M')
            whole |= strcmp(value, "do") == 0;
        else if (strcmp(word, "-d") == 0)
            whole |= esxi;
        else if (word[0] != '-' && topo_addr_parse(&to, word))
            snprintf(p.to, sizeof p.to, "%s", word);
    }
    if (!whole || !sized || !p.to[0] || topo_find_vip(r->t, &to) < 0)
        return false;
    close_question(r);
    r->open = OPEN_PING;
    r->ping = p;
    return true;
}

/* The summary of a ping, "3 packets transmitted, 3 packets received, 0% packet loss", ends it. */
static bool take_outcome(struct reader *r, const char *line)
{
    struct tell *a = r->out;
    const char *sent = strstr(line, " packets transmitted"), *received = strstr(line, " received"), *number;

    if (strstr(line, "essage too long") || strstr(line, "rag needed") || strstr(line, "acket too big"))
        r->ping.too_long = true;
    if (!sent || !take_number(line, &r->ping.sent))
        return r->ping.too_long;
    if (!received)
        return false;
    number = strchr(sent, ',');
    number = number ? number + 1 + strspn(number + 1, " ") : "";
    if (!take_number(number, &r->ping.received))
        return false;
    if (a->n_pings == a->p_capacity) {
        size_t capacity = a->p_capacity ? 2 * a->p_capacity : 64;
        struct tell_ping *grown = realloc(a->pings, capacity * sizeof *grown);

        if (!grown) {
            r->rc = -ENOMEM;
            return true;
        }
        a->pings = grown;
        a->p_capacity = capacity;
    }
    a->pings[a->n_pings++] = r->ping;
    r->open = OPEN_ANSWERED;
    return true;
}

/* The node that a prompt names: "stack1#", "[root@esx1:~] ", "admin@sw1.corp>". -1: none. */
static int node_of_prompt(const struct topo *t, const char *prompt, size_t n)
{
    const char *begin = prompt, *end = prompt + n;

    for (const char *p = prompt; p < end; p++)
        if (strchr("@[{ ", *p))
            begin = p + 1;
    for (const char *p = begin; p <= end; p++)
        if (p == end || strchr(":.(~]} ", *p)) {
            int node = site_node(t, begin, (size_t)(p - begin));

            if (node >= 0 || p == end)
                return node;
        }
    return -1;
}

/* A line that is a command: with or without a prompt. */
static bool take_command(struct reader *r, const char *line)
{
    if (open_question(r, line, r->device) || open_ping(r, line, r->device))
        return true;
    for (const char *p = line; *p && p < line + 80; p++) {
        const char *text = p + 1 + strspn(p + 1, " \t~]");
        int node;

        if (!strchr("#>$%]", *p))
            continue;
        node = node_of_prompt(r->t, line, (size_t)(p - line));
        if (*text && (open_question(r, text, node >= 0 ? node : r->device) ||
                      open_ping(r, text, node >= 0 ? node : r->device))) {
            r->device = node >= 0 ? node : r->device;
            return true;
        }
        if (node < 0)
            continue;
        /* A prompt of ours with another command, or none. */
        close_question(r);
        r->device = node;
        r->open = OPEN_OTHER;
        return true;
    }
    return false;
}

/* ---- lines that speak for themselves ---- */

/* An address with a port, "10.50.0.11:701" or "[fd00::11]:701". */
static bool take_endpoint(const char *word, size_t n, struct topo_addr *a, unsigned *port)
{
    char copy[64], *colon, *end;

    if (n >= sizeof copy)
        return false;
    memcpy(copy, word, n);
    copy[n] = '\0';
    colon = strrchr(copy, ':');
    if (!colon || !isdigit((unsigned char)colon[1]))
        return false;
    *port = (unsigned)strtoul(colon + 1, &end, 10);
    *colon = '\0';
    return *end == '\0' && *port <= 65535 && topo_addr_parse(a, copy);
}

static int find_iface(const struct topo *t, const struct topo_addr *a)
{
    for (size_t i = 0; i < t->n_ifaces; i++)
        if (t->ifaces[i].addr.version && topo_addr_equal(&t->ifaces[i].addr, a))
            return (int)i;
    return -1;
}

/* A line of a connection list: the client's end, then the server's. */
static bool take_connection(struct reader *r, const char *line)
{
    struct topo_addr before = {0}, a;
    unsigned port_before = 0, port;

    for (size_t n; *(line += strspn(line, " \t\r")); line += n) {
        n = strcspn(line, " \t\r");
        if (!take_endpoint(line, n, &a, &port))
            continue;
        if (before.version && port == NFS_PORT) {
            int iface = find_iface(r->t, &before), vip = topo_find_vip(r->t, &a);

            if (iface >= 0 && vip >= 0)
                add_connection(r, iface, vip, (uint16_t)port_before);
            return iface >= 0 && vip >= 0;
        }
        before = a;
        port_before = port;
    }
    return false;
}

/* A line of esxtop's network screen: "33554438 vmk1 vmnic2 vSwitch1 ...". The uplink holds for all that the interface sends,
 * unless the rule reads more than the interface. */
static bool take_team_pnic(struct reader *r, const char *line)
{
    const struct topo *t = r->t;
    bool taken = false;

    if (r->device < 0 || t->nodes[r->device].kind != TOPO_ESXI)
        return false;
    for (size_t i = 0; i < t->n_ifaces; i++) {
        const struct topo_iface *f = &t->ifaces[i];
        const char *at_name = strstr(line, f->name), *uplink;
        size_t n = strlen(f->name);
        uint32_t reads = f->teaming && f->teaming->policy.policy ? hash_reads(&f->teaming->policy) : 0;
        char name[64];
        int port;

        if (t->boxes[f->box].node != r->device || !at_name ||
            (at_name > line && !isspace((unsigned char)at_name[-1])) || !isspace((unsigned char)at_name[n]))
            continue;
        uplink = at_name + n + strspn(at_name + n, " \t");
        n = strcspn(uplink, " \t\r");
        if (n == 0 || n >= sizeof name)
            continue;
        memcpy(name, uplink, n);
        name[n] = '\0';
        port = path_proof_port(t, f->team, name);
        if (port < 0 || (reads & (HASH_READS_DST_IP | HASH_READS_DST_MAC | HASH_READS_DST_PORT)))
            continue;
        taken = true;
        for (size_t m = 0; m < t->n_mounts; m++)
            if (t->mounts[m].iface == (int)i && t->mounts[m].vip >= 0)
                add_entry(r, (struct tell_entry){.team = f->team,
                                                 .port = port,
                                                 .src = f->addr,
                                                 .dst = t->vips[t->mounts[m].vip].addr,
                                                 .line = r->number});
    }
    return taken;
}

/* ---- lines ---- */

static void take_section(struct reader *r, const char *line)
{
    const char *name = line + 2 + strspn(line + 2, " \t");
    size_t n = strcspn(name, " \t\r");

    close_question(r);
    r->device = site_node(r->t, name, n);
    if (r->device < 0 && n > 0)
        diag_add(r->d, DIAG_WARNING, NULL, at(r->number), NULL, "there is no node `%.*s`", (int)n, name);
}

static void take_line(struct reader *r, char *line)
{
    size_t n = strlen(line);

    while (n > 0 && isspace((unsigned char)line[n - 1]))
        line[--n] = '\0';
    line += strspn(line, " \t\r\xef\xbb\xbf");
    if (line[0] == '#' && line[1] == '#') {
        take_section(r, line);
        return;
    }
    if (!*line || *line == '#' || take_command(r, line))
        return;
    if (r->open == OPEN_QUESTION && take_answer(r, line))
        return;
    if (r->open == OPEN_PING && take_outcome(r, line))
        return;
    if (take_connection(r, line) || take_team_pnic(r, line))
        return;
    if (r->open == OPEN_QUESTION && r->first == 0)
        r->first = r->number;
    if (r->open == OPEN_NOTHING)
        diag_add(r->d, DIAG_WARNING, NULL, at(r->number), NULL, "`%.*s`: neither a command nor an answer to one",
                 LINE_SHOWN, line);
}

int tell_read(const struct topo *t, FILE *in, struct diag *d, struct tell *out)
{
    struct reader r = {.t = t, .d = d, .out = out, .device = -1};
    char *line = NULL;
    size_t room = 0;

    *out = (struct tell){0};
    while (r.rc == 0 && getline(&line, &room, in) >= 0) {
        r.number++;
        take_line(&r, line);
    }
    if (r.rc == 0 && ferror(in))
        r.rc = -EIO;
    close_question(&r);
    free(line);
    free(r.command);
    return r.rc;
}

void tell_free(struct tell *a)
{
    free(a->entries);
    free(a->pings);
    free(a->connections);
    *a = (struct tell){0};
}
