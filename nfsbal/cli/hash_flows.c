/* `nfsbal hash --flows`: tab-separated flows in, the same lines out with `hash` and `link` added.
 *
 * The header line names the columns in any order; src and dst must be there, unknown columns are passed on untouched. One
 * pass, one line in memory, no allocation per line: this runs over millions of lines. The common column types are
 * therefore read by hand here; what is written in an unusual way (IPv6, a named protocol) goes through the same parsers as
 * the command line.
 */
#include "nfsbal/cli/hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"

enum column {
    COL_SRC,
    COL_DST,
    COL_PROTO,
    COL_SPORT,
    COL_DPORT,
    COL_SMAC,
    COL_DMAC,
    COL_VLAN,
    COL_ETHERTYPE,
    COL_FRAGMENT,
    COL_PORTID,
    COL_OTHER
};

static const struct {
    const char *name;
    uint32_t gives; /* enum hash_field */
} columns[] = {
    [COL_SRC] = {"src", HASH_READS_SRC_IP},
    [COL_DST] = {"dst", HASH_READS_DST_IP},
    [COL_PROTO] = {"proto", HASH_READS_PROTO},
    [COL_SPORT] = {"sport", HASH_READS_SRC_PORT},
    [COL_DPORT] = {"dport", HASH_READS_DST_PORT},
    [COL_SMAC] = {"smac", HASH_READS_SRC_MAC},
    [COL_DMAC] = {"dmac", HASH_READS_DST_MAC},
    [COL_VLAN] = {"vlan", HASH_READS_VLAN},
    [COL_ETHERTYPE] = {"ethertype", 0},
    [COL_FRAGMENT] = {"fragment", 0},
    [COL_PORTID] = {"portid", HASH_READS_PORT_ID},
};
_Static_assert(sizeof columns / sizeof columns[0] == COL_OTHER, "every column has a row");

enum { FIELDS_MAX = 64 };

struct reader {
    const struct hash_command *command;
    const char *path;
    unsigned long line;
    enum column column[FIELDS_MAX];
    size_t n_columns;
    struct hash_members members;
};

/* A decimal number in [0, max] that fills the field; false otherwise. */
static bool read_number(const char *text, size_t length, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    if (!length || length > 10)
        return false;
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return value <= max;
}

/* A dotted quad without leading zeros; false for anything else. */
static bool read_ipv4(const char *text, size_t length, uint8_t out[4])
{
    const char *end = text + length;
    for (int i = 0; i < 4; i++) {
        unsigned value = 0, digits = 0;
        const char *start = text;
        for (; text < end && (unsigned)(*text - '0') <= 9 && digits < 3; text++, digits++)
            value = value * 10 + (unsigned)(*text - '0');
        if (!digits || value > 255 || (digits > 1 && *start == '0'))
            return false;
        out[i] = (uint8_t)value;
        if (i < 3 && (text == end || *text++ != '.'))
            return false;
    }
    return text == end;
}

static const char *read_address(const char *text, size_t length, uint8_t out[HASH_IP_BYTES], uint8_t *version)
{
    uint8_t quad[4];
    char copy[64];
    int port;
    if (read_ipv4(text, length, quad)) {
        memcpy(out, quad, 4);
        *version = 4;
        return NULL;
    }
    if (length >= sizeof copy)
        return "an IPv4 or IPv6 address";
    memcpy(copy, text, length);
    copy[length] = '\0';
    return hash_parse_endpoint(copy, out, version, &port) || port >= 0 ? "an IPv4 or IPv6 address without port" : NULL;
}

/* Reads one named field into the flow. NULL, or what was expected. */
static const char *read_field(enum column column, const char *text, size_t length, struct hash_flow *f,
                              uint8_t version[2])
{
    char copy[32];
    uint64_t number;
    if (column == COL_SRC)
        return read_address(text, length, f->src, &version[0]);
    if (column == COL_DST)
        return read_address(text, length, f->dst, &version[1]);
    if (column == COL_SPORT || column == COL_DPORT) {
        if (!read_number(text, length, 65535, &number))
            return "a port from 0 to 65535";
        *(column == COL_SPORT ? &f->sport : &f->dport) = (uint16_t)number;
        return NULL;
    }
    if (length >= sizeof copy)
        return "a shorter value";
    memcpy(copy, text, length);
    copy[length] = '\0';
    switch (column) {
    case COL_PROTO:
        return hash_parse_proto(copy, &f->proto);
    case COL_SMAC:
        return hash_parse_mac(copy, f->smac);
    case COL_DMAC:
        return hash_parse_mac(copy, f->dmac);
    case COL_VLAN:
        if (!length) /* an empty field: untagged */
            return NULL;
        if (!read_number(text, length, 4094, &number))
            return "a VLAN id from 0 to 4094, or nothing";
        f->tag = HASH_TAG_OFFLOADED;
        f->tci = (uint16_t)number;
        return NULL;
    case COL_ETHERTYPE: {
        char *end;
        unsigned long type = strtoul(copy, &end, 0);
        if (!length || *end || copy[0] < '0' || copy[0] > '9' || type > 0xffff)
            return "an EtherType such as 0x0800";
        f->ethertype = (uint16_t)type;
        return NULL;
    }
    case COL_FRAGMENT:
        f->fragment = !strcmp(copy, "first")   ? HASH_FRAGMENT_FIRST
                      : !strcmp(copy, "later") ? HASH_FRAGMENT_LATER
                                               : HASH_FRAGMENT_NONE;
        return f->fragment || !length || !strcmp(copy, "none") ? NULL : "none, first or later";
    case COL_PORTID:
        if (!read_number(text, length, UINT32_MAX, &number))
            return "a port id";
        f->port_id = (uint32_t)number;
        return NULL;
    case COL_SRC:
    case COL_DST:
    case COL_SPORT:
    case COL_DPORT:
    case COL_OTHER:
        break;
    }
    return NULL;
}

static int bad_field(const struct reader *r, size_t field, const char *text, size_t length, const char *expected)
{
    return cli_error(CLI_USAGE, r->command->label, "%s:%lu: field %zu (%s) `%.*s`: expected %s", r->path, r->line,
                     field + 1, columns[r->column[field]].name, (int)(length < 80 ? length : 80), text, expected);
}

/* The header: which field is what. */
static int read_header(struct reader *r, const char *text, size_t length)
{
    const char *end = text + length;
    uint32_t given = 0;
    unsigned seen = 0;
    for (;;) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        size_t size = (size_t)((tab ? tab : end) - text);
        if (r->n_columns == FIELDS_MAX)
            return cli_error(CLI_USAGE, r->command->label, "%s:1: more than %d columns", r->path, FIELDS_MAX);
        enum column c = COL_OTHER;
        for (unsigned i = 0; i < COL_OTHER; i++)
            if (strlen(columns[i].name) == size && !memcmp(columns[i].name, text, size))
                c = (enum column)i;
        if (c != COL_OTHER && seen & 1u << c)
            return cli_error(CLI_USAGE, r->command->label, "%s:1: column %s stands twice", r->path, columns[c].name);
        if (c != COL_OTHER) {
            seen |= 1u << c;
            given |= columns[c].gives;
        }
        r->column[r->n_columns++] = c;
        if (!tab)
            break;
        text = tab + 1;
    }
    if (~seen & (1u << COL_SRC | 1u << COL_DST))
        return cli_error(CLI_USAGE, r->command->label, "%s:1: the header line must name the columns src and dst",
                         r->path);
    uint32_t missing = hash_missing_inputs(r->command, given);
    return missing ? hash_report_missing(r->command, missing, "the header line names no such column") : CLI_OK;
}

static int read_flow(const struct reader *r, const char *text, size_t length, struct hash_flow *f)
{
    const char *end = text + length, *expected;
    uint8_t version[2] = {0, 0};
    for (size_t field = 0;; field++) {
        const char *tab = memchr(text, '\t', (size_t)(end - text));
        size_t size = (size_t)((tab ? tab : end) - text);
        if (field == r->n_columns)
            return cli_error(CLI_USAGE, r->command->label, "%s:%lu: more fields than the %zu columns of line 1",
                             r->path, r->line, r->n_columns);
        if (r->column[field] != COL_OTHER && (expected = read_field(r->column[field], text, size, f, version)))
            return bad_field(r, field, text, size, expected);
        if (!tab) {
            if (field + 1 < r->n_columns)
                return cli_error(CLI_USAGE, r->command->label, "%s:%lu: %zu fields, line 1 names %zu columns", r->path,
                                 r->line, field + 1, r->n_columns);
            break;
        }
        text = tab + 1;
    }
    if (version[0] != version[1])
        return cli_error(CLI_USAGE, r->command->label, "%s:%lu: src and dst are of different IP versions", r->path,
                         r->line);
    f->ip_version = version[0];
    return CLI_OK;
}

/* "\t0x0000001e\tvmnic4\n" after the line as it came. */
static void print_flow(struct reader *r, const char *text, size_t length, const struct hash_key *key)
{
    static const char digits[] = "0123456789abcdef";
    const struct hash_selector *sel = &r->command->selector;
    char tail[64], name[16];
    size_t n = 0;
    struct hash_word hash = hash_value(sel, key);
    int member = hash_pick(sel, key, &r->members);
    tail[n++] = '\t';
    if (member == -HASH_UNKNOWN) {
        tail[n++] = '-';
    } else {
        int nibbles = hash.high ? 32 : hash.low >> 32 ? 16 : 8;
        tail[n++] = '0';
        tail[n++] = 'x';
        while (nibbles-- > 0)
            tail[n++] = digits[(nibbles >= 16 ? hash.high >> (nibbles - 16) * 4 : hash.low >> nibbles * 4) & 15];
    }
    tail[n++] = '\t';
    fwrite_unlocked(text, 1, length, stdout);
    fwrite_unlocked(tail, 1, n, stdout);
    const char *link = member < 0 ? "-" : hash_member_name(r->command, member, name, sizeof name);
    fwrite_unlocked(link, 1, strlen(link), stdout);
    putchar_unlocked('\n');
}

static int stream(struct reader *r, FILE *in)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length;
    int rc = CLI_OK;
    while (rc == CLI_OK && (length = getline(&text, &size, in)) > 0) {
        size_t n = (size_t)length;
        r->line++;
        if (text[n - 1] == '\n')
            n--;
        if (n && text[n - 1] == '\r')
            n--;
        if (r->line == 1) {
            if ((rc = read_header(r, text, n)) == CLI_OK)
                printf("%.*s\thash\tlink\n", (int)n, text);
            continue;
        }
        struct hash_flow flow = r->command->base;
        struct hash_key key;
        if ((rc = read_flow(r, text, n, &flow)) == CLI_OK) {
            hash_key_flow(&key, &flow);
            print_flow(r, text, n, &key);
            if (ferror(stdout)) /* reported once, when it is closed */
                rc = CLI_FAILED;
        }
    }
    if (rc == CLI_OK && ferror(in))
        rc = cli_error(CLI_FAILED, r->command->label, "%s: %s", r->path, strerror(errno));
    else if (rc == CLI_OK && r->line == 0)
        rc = cli_error(CLI_USAGE, r->command->label, "%s: empty: expected a header line with src and dst", r->path);
    free(text);
    return rc;
}

int hash_flows(const struct hash_command *c, const char *path)
{
    bool standard = !strcmp(path, "-");
    struct reader r = {.command = c, .path = standard ? "standard input" : path};
    if (!hash_command_members(c, c->links[0], &r.members))
        return CLI_USAGE;
    FILE *in = standard ? stdin : fopen(path, "r");
    if (!in)
        return cli_error(CLI_USAGE, c->label, "%s: %s", path, strerror(errno));
    setvbuf(in, NULL, _IOFBF, 1 << 16);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    int rc = stream(&r, in);
    if (!standard)
        fclose(in);
    return rc;
}
