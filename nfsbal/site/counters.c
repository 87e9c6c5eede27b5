#include "nfsbal/site/counters.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "emu/model/path_proof.h"
#include "emu/report/json.h"
#include "nfsbal/site/site.h"

enum { EPOCH_DIGITS = 9, FILES_MAX = 4096 };

static const double SLACK = 1.05; /* clocks of devices and of those who read them are not in step */
static const double SLACK_BYTES = 1e6;

struct reader {
    const struct topo *t;
    struct counters *out;
    struct diag *d;
    int node, port;   /* -1: none yet */
    const char *part; /* controller whose lines these are, or NULL */
    double time;
    int number; /* of the line */
};

static void error(struct reader *r, const char *what, const char *value)
{
    diag_add(r->d, DIAG_ERROR, NULL, (struct diag_mark){r->number, 1, 1}, NULL, "%s: `%.60s`", what, value);
}

/* ---- values ---- */

static bool number(const char *text, uint64_t *value, const char **end)
{
    char *stop;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *value = strtoull(text, &stop, 10);
    if (end)
        *end = stop;
    return errno == 0;
}

static void store(struct reader *r, bool rx, uint64_t value)
{
    struct counter *c;

    if (r->port < 0)
        return;
    c = &r->out->ports[r->port];
    r->out->found += !c->has_rx && !c->has_tx;
    if (rx) {
        c->has_rx = true;
        c->rx = value;
    } else {
        c->has_tx = true;
        c->tx = value;
    }
    c->time = r->time;
}

/* ---- lines ---- */

/* time, node:port, rx, tx between tabs. */
static bool take_native(struct reader *r, char *line)
{
    char *field[4], *end;
    uint64_t rx, tx;
    const char *rest;
    double time;
    int port;

    field[0] = line;
    for (int i = 1; i < 4; i++) {
        char *tab = strchr(field[i - 1], '\t');

        if (!tab)
            return false;
        *tab = '\0';
        field[i] = tab + 1;
    }
    if (strcmp(field[1], "port") == 0)
        return true;
    time = strtod(field[0], &end);
    port = topo_find_port(r->t, field[1]);
    if (end == field[0] || *end || !isfinite(time))
        error(r, "no time in seconds", field[0]);
    else if (port < 0)
        error(r, "the topology has no such port", field[1]);
    else if (!number(field[2], &rx, &rest) || *rest)
        error(r, "no count of bytes received", field[2]);
    else if (!number(field[3], &tx, &rest) || *rest)
        error(r, "no count of bytes sent", field[3]);
    else {
        r->time = time;
        r->port = port;
        store(r, true, rx);
        store(r, false, tx);
    }
    return true;
}

/* Whose lines follow: a node, or one controller of it. */
static bool turn_to_node(struct reader *r, const char *name, size_t n)
{
    r->node = site_node(r->t, name, n);
    r->part = NULL;
    r->port = -1;
    r->time = (double)NAN;
    for (size_t i = 0; r->node >= 0 && i < r->t->n_boxes; i++)
        if (r->t->boxes[i].part && strlen(r->t->boxes[i].name) == n && strncasecmp(r->t->boxes[i].name, name, n) == 0)
            r->part = r->t->boxes[i].part;
    return r->node >= 0;
}

/* Makes the port of that name the one that counters belong to; -1 where the topology has none such. */
static void turn_to(struct reader *r, const char *name, size_t n)
{
    char copy[128];

    while (n > 0 && strchr(":,.", name[n - 1]))
        n--;
    if (n == 0 || (size_t)snprintf(copy, sizeof copy, "%s%s%.*s", r->part ? r->part : "", r->part ? "." : "", (int)n,
                                   name) >= sizeof copy)
        return;
    r->port = r->node >= 0 ? path_proof_node_port(r->t, r->node, copy) : -1;
}

/* Lines that begin what is said about a port. */
static bool take_heading(struct reader *r, const char *line)
{
    static const char *const before[] = {"NIC statistics for ", "ethtool -S ", "Physical interface: ", "Instance: "};
    size_t n = strcspn(line, " \t,");

    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        if (strncmp(line, before[i], strlen(before[i])) == 0) {
            line += strlen(before[i]);
            turn_to(r, line, strcspn(line, " \t,:"));
            return true;
        }
    if (strncmp(line + n, " is up", 6) == 0 || strncmp(line + n, " is down", 8) == 0 ||
        strncmp(line + n, " is admin", 9) == 0 || (n > 1 && line[n - 1] == ':' && line[n] == '\0')) {
        turn_to(r, line, n);
        return true;
    }
    return false;
}

/* A count behind a phrase: one that begins the line, or one about packets that have been counted before it. */
static bool count_behind(const char *line, const char *phrase, uint64_t *value)
{
    const char *p = phrase[0] == 'p' ? strstr(line, phrase) : line;

    if (!p || strncmp(p, phrase, strlen(phrase)) != 0)
        return false;
    p += strlen(phrase);
    p += strspn(p, " \t:");
    return number(p, value, NULL);
}

/* NX-OS: "  12 input packets  3456 bytes". */
static bool packets_then_bytes(const char *line, const char *phrase, uint64_t *value)
{
    const char *p = strstr(line, phrase), *end;

    if (!p)
        return false;
    p += strlen(phrase);
    p += strspn(p, " \t,");
    return number(p, value, &end) && strncmp(end + strspn(end, " "), "bytes", 5) == 0;
}

static void take_counter(struct reader *r, const char *line)
{
    static const struct {
        const char *phrase;
        bool rx, packets;
    } forms[] = {
        {"Bytes received", true, false}, {"Bytes sent", false, false},    {"rx_bytes", true, false},
        {"tx_bytes", false, false},      {"packets input,", true, false}, {"packets output,", false, false},
        {"input packets", true, true},   {"output packets", false, true}, {"Input  bytes", true, false},
        {"Output bytes", false, false},
    };
    uint64_t value;

    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (forms[i].packets ? packets_then_bytes(line, forms[i].phrase, &value)
                             : count_behind(line, forms[i].phrase, &value))
            store(r, forms[i].rx, value);
}

static void take_line(struct reader *r, char *line)
{
    size_t n = strlen(line), digits;

    while (n > 0 && isspace((unsigned char)line[n - 1]))
        line[--n] = '\0';
    if (take_native(r, line))
        return;
    line += strspn(line, " \t");
    digits = strspn(line, "0123456789");
    if (line[0] == '#' && line[1] == '#') {
        const char *name = line + 2 + strspn(line + 2, " \t");

        if (!turn_to_node(r, name, strcspn(name, " \t")))
            error(r, "there is no such node", name);
    } else if (digits >= EPOCH_DIGITS && line[digits] == '\0') {
        r->time = strtod(line, NULL);
    } else if (!take_heading(r, line) && !(line[0] == '#')) {
        take_counter(r, line);
    }
}

/* ---- files ---- */

static int read_json(struct reader *r, const char *path)
{
    char problem[256];
    struct json_in *root = json_in_load(path, problem, sizeof problem);
    double value;

    if (!root) {
        diag_add(r->d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "%s", problem);
        return 0;
    }
    for (size_t i = 0; i < json_in_size(root); i++) {
        const struct json_in *link = json_in_element(root, i);
        const struct json_in *stats = json_in_member(link, "stats64");
        const char *name = json_in_text(json_in_member(link, "ifname"));

        r->port = -1;
        if (name)
            turn_to(r, name, strlen(name));
        if (json_in_number(json_in_member(json_in_member(stats, "rx"), "bytes"), &value) && value >= 0)
            store(r, true, (uint64_t)value);
        if (json_in_number(json_in_member(json_in_member(stats, "tx"), "bytes"), &value) && value >= 0)
            store(r, false, (uint64_t)value);
    }
    json_in_free(root);
    return 0;
}

static int read_file(struct reader *r, const char *path)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    int c;

    if (!in) {
        diag_add(r->d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "cannot be opened: %s", strerror(errno));
        return 0;
    }
    c = getc(in);
    if (c == '[' && in != stdin) {
        fclose(in);
        return read_json(r, path);
    }
    if (c != EOF)
        ungetc(c, in);
    for (r->number = 1; getline(&line, &room, in) >= 0; r->number++)
        take_line(r, line);
    if (ferror(in))
        diag_add(r->d, DIAG_ERROR, NULL, (struct diag_mark){0}, NULL, "cannot be read: %s", strerror(errno));
    free(line);
    if (in != stdin)
        fclose(in);
    return 0;
}

/* One file with its own messages; `node` NULL: the lines say whose they are. */
static int read_one(const struct topo *t, const char *path, const char *node, size_t length, struct counters *out)
{
    struct diag d;
    struct reader r = {.t = t, .out = out, .d = &d, .node = -1, .port = -1, .time = (double)NAN};
    int rc;

    if (node)
        turn_to_node(&r, node, length);
    diag_init(&d, path);
    rc = read_file(&r, path);
    diag_print_text(&d, stderr, false);
    if (rc == 0 && diag_count(&d, DIAG_ERROR) > 0)
        rc = -EINVAL;
    diag_free(&d);
    return rc;
}

static int visible(const struct dirent *e) { return e->d_name[0] != '.'; }

static int read_folder(const struct topo *t, const char *path, struct counters *out)
{
    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort), rc = 0;

    if (n < 0)
        return -errno;
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *dot = strrchr(name, '.');
        size_t length = dot ? (size_t)(dot - name) : strlen(name);
        char file[4096];

        if (rc == 0 && (size_t)snprintf(file, sizeof file, "%s/%s", path, name) >= sizeof file)
            rc = -EINVAL;
        if (rc == 0 && site_node(t, name, length) < 0)
            fprintf(stderr, "%s: warning  there is no node `%.*s`; the file is passed over\n", file, (int)length, name);
        else if (rc == 0)
            rc = read_one(t, file, name, length, out);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int counters_read(const struct topo *t, const char *path, struct counters *out)
{
    struct stat st;
    int rc;

    *out = (struct counters){.ports = calloc(t->n_ports + 1, sizeof *out->ports)};
    if (!out->ports)
        return -ENOMEM;
    for (size_t i = 0; i < t->n_ports; i++)
        out->ports[i].time = (double)NAN;
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        rc = read_folder(t, path, out);
    else
        rc = read_one(t, path, NULL, 0, out);
    if (rc == 0 && out->found == 0) {
        fprintf(stderr, "%s: error    no counter of a port of this topology\n", path);
        rc = -EINVAL;
    }
    return rc;
}

void counters_free(struct counters *c)
{
    free(c->ports);
    *c = (struct counters){0};
}

/* ---- between two readings ---- */

enum counter_state counter_delta(uint64_t before, uint64_t after, bps_t rate, double seconds, double *bytes)
{
    const uint64_t half = UINT64_C(1) << 31;
    bool timed = isfinite(seconds) && seconds > 0;
    double most = timed ? (double)rate / 8 * seconds * SLACK + SLACK_BYTES : (double)INFINITY;

    if (after >= before) {
        *bytes = (double)(after - before);
        return *bytes <= most ? COUNTER_STEADY : COUNTER_IMPOSSIBLE;
    }
    if (before <= UINT32_MAX) {
        *bytes = (double)(after + (UINT64_C(1) << 32) - before);
        if (timed ? *bytes <= most : before >= half && after < half)
            return COUNTER_WRAPPED;
    }
    *bytes = (double)(after - before); /* modulo 2^64 */
    if (timed ? *bytes <= most : *bytes < 0x1p62)
        return COUNTER_WRAPPED;
    *bytes = (double)after;
    return *bytes <= most ? COUNTER_RESET : COUNTER_IMPOSSIBLE;
}

double counters_seconds(const struct counters *before, const struct counters *after, int port)
{
    return after->ports[port].time - before->ports[port].time;
}

enum counter_state counters_linkdir(const struct topo *t, const struct counters *before, const struct counters *after,
                                    int linkdir, double *bytes)
{
    int from = topo_linkdir_from(t, linkdir), to = topo_linkdir_to(t, linkdir);
    bps_t rate = t->links[linkdir / 2].rate;
    enum counter_state sent = COUNTER_NONE, received = COUNTER_NONE;
    double other = 0;

    *bytes = 0;
    if (before->ports[from].has_tx && after->ports[from].has_tx)
        sent = counter_delta(before->ports[from].tx, after->ports[from].tx, rate, counters_seconds(before, after, from),
                             bytes);
    if (sent == COUNTER_STEADY || sent == COUNTER_WRAPPED)
        return sent;
    if (before->ports[to].has_rx && after->ports[to].has_rx)
        received =
            counter_delta(before->ports[to].rx, after->ports[to].rx, rate, counters_seconds(before, after, to), &other);
    if (received == COUNTER_NONE || (received == COUNTER_IMPOSSIBLE && sent != COUNTER_NONE))
        return sent;
    *bytes = other;
    return received;
}
