#include "nfsbal/client/mount_options.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "emu/model/units.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

enum kind {
    FLAG,     /* no value: member = value */
    FLAG_INT, /* likewise, an int */
    CHOICE,   /* value is one of `words` */
    NUMBER,   /* integer within min..max, as it is */
    SIZE,     /* bytes: "1048576", "64KiB" */
    SECONDS,  /* "30", "2.5s", "300ms", kept in ns */
    TIME_MS,  /* "3s", "300ms"; a bare number is seconds; kept in ms */
    TENTHS,   /* timeo: a bare number is tenths of a second; kept in ms */
    PORTS,    /* "700", "700-707", "700:702" */
    TEXT,     /* up to `max` bytes */
    SERVERS,  /* TEXT with "," or, where that would end the option, "~" between its parts; kept with "," */
    MUST_BE,  /* only one of `words` is possible; `why` not another */
    NOTHING,  /* has nothing to do here */
    REFUSED,  /* `why` */
    SEVERAL,  /* actimeo, noac: see set_several() */
};

static const char *const caches[] = {"none", "auto", "write-behind", NULL};
static const char *const spreads[] = {"mount", "file", "stripe", NULL};
static const char *const choices[] = {"round-robin", "least-bytes", "weighted", NULL};
static const char *const three[] = {"3", "3.0", NULL};
static const char *const tcp[] = {"tcp", "tcp6", NULL};
static const char *const sys[] = {"sys", "unix", NULL};
static const char *const local[] = {"all", NULL};

static const char v4[] = "this client speaks NFS 3; the library beneath can't write with NFS 4";
static const char no_udp[] = "this client uses TCP";
static const char no_nlm[] = "locks are local to this host (the server is told of none): say nolock";

struct row {
    const char *name;
    enum kind kind;
    size_t offset;
    int64_t value; /* FLAG */
    int64_t min, max;
    const char *const *words;
    const char *why;
};

#define MEMBER(m) offsetof(struct mount_options, m)

// clang-format off
static const struct row rows[] = {
    {"ro", FLAG, MEMBER(read_only), 1, 0, 0, NULL, NULL},
    {"rw", FLAG, MEMBER(read_only), 0, 0, 0, NULL, NULL},
    {"nosuid", FLAG, MEMBER(no_suid), 1, 0, 0, NULL, NULL},
    {"suid", FLAG, MEMBER(no_suid), 0, 0, 0, NULL, NULL},
    {"nodev", FLAG, MEMBER(no_dev), 1, 0, 0, NULL, NULL},
    {"dev", FLAG, MEMBER(no_dev), 0, 0, 0, NULL, NULL},
    {"noexec", FLAG, MEMBER(no_exec), 1, 0, 0, NULL, NULL},
    {"exec", FLAG, MEMBER(no_exec), 0, 0, 0, NULL, NULL},
    {"noatime", FLAG, MEMBER(no_atime), 1, 0, 0, NULL, NULL},
    {"atime", FLAG, MEMBER(no_atime), 0, 0, 0, NULL, NULL},
    {"allow_other", FLAG_INT, MEMBER(allow_other), 1, 0, 0, NULL, NULL},
    {"noallow_other", FLAG_INT, MEMBER(allow_other), 0, 0, 0, NULL, NULL},
    {"default_permissions", FLAG, MEMBER(permissions), 1, 0, 0, NULL, NULL},
    {"nodefault_permissions", FLAG, MEMBER(permissions), 0, 0, 0, NULL, NULL},
    {"sync", FLAG, MEMBER(sync), 1, 0, 0, NULL, NULL},
    {"async", FLAG, MEMBER(sync), 0, 0, 0, NULL, NULL},
    {"soft", FLAG, MEMBER(soft), 1, 0, 0, NULL, NULL},
    {"hard", FLAG, MEMBER(soft), 0, 0, 0, NULL, NULL},
    {"nolock", FLAG, MEMBER(no_lock), 1, 0, 0, NULL, NULL},
    {"cto", FLAG, MEMBER(cto), 1, 0, 0, NULL, NULL},
    {"nocto", FLAG, MEMBER(cto), 0, 0, 0, NULL, NULL},
    {"rdirplus", FLAG, MEMBER(plus), 1, 0, 0, NULL, NULL},
    {"nordirplus", FLAG, MEMBER(plus), 0, 0, 0, NULL, NULL},
    {"resvport", FLAG, MEMBER(reserved), 1, 0, 0, NULL, NULL},
    {"noresvport", FLAG, MEMBER(reserved), 0, 0, 0, NULL, NULL},
    {"cache", CHOICE, MEMBER(cache), 0, 0, 0, caches, NULL},
    {"spread", CHOICE, MEMBER(spread), 0, 0, 0, spreads, NULL},
    {"choice", CHOICE, MEMBER(choice), 0, 0, 0, choices, NULL},
    {"rsize", SIZE, MEMBER(rsize), 0, 4096, 1 << 20, NULL, NULL},
    {"wsize", SIZE, MEMBER(wsize), 0, 4096, 1 << 20, NULL, NULL},
    {"dirty", SIZE, MEMBER(dirty), 0, 8 << 20, INT64_C(1) << 40, NULL, NULL},
    {"readahead", SIZE, MEMBER(read_ahead), 0, 0, 256 << 20, NULL, NULL},
    {"timeo", TENTHS, MEMBER(timeo), 0, 1, 6000000, NULL, NULL},
    {"retrans", NUMBER, MEMBER(retrans), 0, 0, 1000, NULL, NULL},
    {"nconnect", NUMBER, MEMBER(nconnect), 0, 1, 16, NULL, NULL},
    {"uid", NUMBER, MEMBER(uid), 0, 0, 4294967294, NULL, NULL},
    {"gid", NUMBER, MEMBER(gid), 0, 0, 4294967294, NULL, NULL},
    {"port", NUMBER, MEMBER(port), 0, 0, 65535, NULL, NULL},
    {"mountport", NUMBER, MEMBER(mount_port), 0, 0, 65535, NULL, NULL},
    {"actimeo", SEVERAL, 0, 0, 0, 86400 * S, NULL, NULL},
    {"noac", SEVERAL, 0, 0, 0, 0, NULL, NULL},
    {"ac", SEVERAL, 0, 1, 0, 0, NULL, NULL},
    {"acregmin", SECONDS, MEMBER(ac_reg_min), 0, 0, 86400 * S, NULL, NULL},
    {"acregmax", SECONDS, MEMBER(ac_reg_max), 0, 0, 86400 * S, NULL, NULL},
    {"acdirmin", SECONDS, MEMBER(ac_dir_min), 0, 0, 86400 * S, NULL, NULL},
    {"acdirmax", SECONDS, MEMBER(ac_dir_max), 0, 0, 86400 * S, NULL, NULL},
    {"bound", TIME_MS, MEMBER(bound), 0, 50, 3600000, NULL, NULL},
    {"failback", TIME_MS, MEMBER(failback), 0, 0, 86400000, NULL, NULL},
    {"quarantine", TIME_MS, MEMBER(quarantine), 0, 0, 86400000, NULL, NULL},
    {"resolve", TIME_MS, MEMBER(resolve), 0, 0, 86400000, NULL, NULL},
    {"srcport", PORTS, 0, 0, 1, 65535, NULL, NULL},
    {"sport", PORTS, 0, 0, 1, 65535, NULL, NULL},
    {"srcaddr", TEXT, MEMBER(source), 0, 0, sizeof ((struct mount_options *)0)->source, NULL, NULL},
    {"congestion", TEXT, MEMBER(congestion), 0, 0, sizeof ((struct mount_options *)0)->congestion, NULL, NULL},
    {"vips", SERVERS, MEMBER(vips), 0, 0, MOUNT_TEXT_MAX, NULL, NULL},

    {"vers", MUST_BE, 0, 0, 0, 0, three, v4},
    {"nfsvers", MUST_BE, 0, 0, 0, 0, three, v4},
    {"mountvers", MUST_BE, 0, 0, 0, 0, three, "MOUNT version 3 belongs to NFS 3"},
    {"proto", MUST_BE, 0, 0, 0, 0, tcp, no_udp},
    {"mountproto", MUST_BE, 0, 0, 0, 0, tcp, no_udp},
    {"sec", MUST_BE, 0, 0, 0, 0, sys, "only AUTH_SYS (sec=sys): user and group numbers, no Kerberos"},
    {"local_lock", MUST_BE, 0, 0, 0, 0, local, no_nlm},
    {"tcp", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"fg", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"intr", NOTHING, 0, 0, 0, 0, NULL, NULL}, /* as in nfs(5): ignored since Linux 2.6.25 */
    {"nointr", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"sharecache", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"noacl", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"defaults", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"relatime", NOTHING, 0, 0, 0, 0, NULL, NULL}, /* access times are the server's */
    {"auto", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"noauto", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"nofail", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"user", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"nouser", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"users", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"nousers", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"owner", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"group", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"diratime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"nodiratime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"strictatime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"norelatime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"nostrictatime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"lazytime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"nolazytime", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"silent", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"loud", NOTHING, 0, 0, 0, 0, NULL, NULL},
    {"_netdev", NOTHING, 0, 0, 0, 0, NULL, NULL},

    {"udp", REFUSED, 0, 0, 0, 0, NULL, no_udp},
    {"lock", REFUSED, 0, 0, 0, 0, NULL, no_nlm},
    {"bg", REFUSED, 0, 0, 0, 0, NULL, "a hard mount waits for its servers in the foreground; let systemd retry it"},
    {"remount", REFUSED, 0, 0, 0, 0, NULL, "a mount of this kind can't be changed: unmount it and mount it again"},
    {"fsc", REFUSED, 0, 0, 0, 0, NULL, "there is no cache on disk"},
    {"nosharecache", REFUSED, 0, 0, 0, 0, NULL, "each mount has one cache above all of its connections"},
    {"acl", REFUSED, 0, 0, 0, 0, NULL, "this client doesn't speak NFSACL; the server still applies the ACLs"},
    {"lookupcache", REFUSED, 0, 0, 0, 0, NULL, "names are cached as long as attributes: see actimeo"},
    {"retry", REFUSED, 0, 0, 0, 0, NULL, "a hard mount waits for ever, a soft one timeo x (retrans + 1)"},
    {"max_read", REFUSED, 0, 0, 0, 0, NULL, "it follows from rsize"},
    {"max_write", REFUSED, 0, 0, 0, 0, NULL, "it follows from wsize"},
    {"writeback_cache", REFUSED, 0, 0, 0, 0, NULL, "the kernel's write-back cache breaks close-to-open; this client has its own"},
};
// clang-format on

void mount_options_init(struct mount_options *o)
{
    *o = (struct mount_options){
        .allow_other = -1,
        .permissions = true,
        .cache = MOUNT_CACHE_AUTO,
        .choice = MOUNT_CHOICE_LEAST_BYTES,
        .timeo = -1,
        .retrans = -1,
        .ac_reg_min = 3 * S,
        .ac_reg_max = 60 * S,
        .ac_dir_min = 30 * S,
        .ac_dir_max = 60 * S,
        .cto = true,
        .plus = true,
        .bound = -1,
        .failback = -1,
        .quarantine = -1,
        .resolve = 60000,
        .uid = -1,
        .gid = -1,
        .dirty = -1,
        .read_ahead = -1,
    };
}

static const char *const *find_word(const char *const *words, const char *value)
{
    for (; *words; words++)
        if (strcmp(*words, value) == 0)
            return words;
    return NULL;
}

static bool all_digits(const char *s) { return *s && strspn(s, "0123456789") == strlen(s); }

/* An integer of at most 18 digits. */
static bool parse_integer(const char *text, int64_t *out)
{
    if (!all_digits(text) || strlen(text) > 18)
        return false;
    *out = strtoll(text, NULL, 10);
    return true;
}

/* Time with a unit, or a bare number of `unit` ns. */
static const char *parse_time(const char *text, int64_t unit, int64_t *ns)
{
    ps_t ps;
    const char *expected;

    if (parse_integer(text, ns)) {
        if (*ns > INT64_C(1000000000))
            return "a shorter time";
        *ns *= unit;
        return NULL;
    }
    expected = unit_parse_time(text, &ps);
    if (!expected)
        *ns = ps / PS_PER_NS;
    return expected;
}

static const char *parse_ports(struct mount_options *o, char *value)
{
    o->n_source_ports = 0;
    o->plan_ports = strcmp(value, "plan") == 0;
    if (o->plan_ports)
        return NULL;
    for (char *save, *part = strtok_r(value, ":", &save); part; part = strtok_r(NULL, ":", &save)) {
        char *dash = strchr(part, '-');
        int64_t from, to;

        if (dash)
            *dash++ = '\0';
        if (!parse_integer(part, &from) || !parse_integer(dash ? dash : part, &to) || from < 1 || to > 65535 ||
            from > to)
            return "ports such as 700, 700-707 or 700:720:740, or plan";
        if (o->n_source_ports + (size_t)(to - from + 1) > MOUNT_PORTS_MAX)
            return "at most 256 ports";
        for (; from <= to; from++)
            o->source_ports[o->n_source_ports++] = (uint16_t)from;
    }
    return o->n_source_ports ? NULL : "at least one port";
}

static const char *set_several(struct mount_options *o, const struct row *r, const char *value)
{
    struct mount_options defaults;
    int64_t time = 0;
    const char *expected = value ? parse_time(value, S, &time) : NULL;

    if (expected || time > r->max)
        return expected ? expected : "at most a day";
    mount_options_init(&defaults);
    if (strcmp(r->name, "ac") == 0) {
        o->ac_reg_min = defaults.ac_reg_min;
        o->ac_reg_max = defaults.ac_reg_max;
        o->ac_dir_min = defaults.ac_dir_min;
        o->ac_dir_max = defaults.ac_dir_max;
        return NULL;
    }
    o->ac_reg_min = o->ac_reg_max = o->ac_dir_min = o->ac_dir_max = time;
    if (strcmp(r->name, "noac") == 0)
        o->sync = true; /* as nfs(5) has it */
    return NULL;
}

static bool needs_value(enum kind kind)
{
    return kind != FLAG && kind != FLAG_INT && kind != NOTHING && kind != REFUSED;
}

static const char *set_integer(const struct row *r, const char *value, int64_t *member)
{
    static char range[80];
    int64_t number = 0;
    uint64_t bytes;
    const char *expected = NULL;

    switch (r->kind) {
    case NUMBER:
        expected = parse_integer(value, &number) ? NULL : "a whole number";
        break;
    case SIZE:
        expected = unit_parse_size(value, &bytes);
        number = bytes < INT64_MAX ? (int64_t)bytes : INT64_MAX;
        break;
    case SECONDS:
        expected = parse_time(value, S, &number);
        break;
    case TIME_MS:
        expected = parse_time(value, S, &number);
        number /= MS;
        break;
    default:
        expected = parse_time(value, S / 10, &number);
        number /= MS;
    }
    if (expected)
        return expected;
    if (number < r->min || number > r->max) {
        if (r->kind == SECONDS)
            return "at most a day";
        snprintf(range, sizeof range, "%lld to %lld%s", (long long)r->min, (long long)r->max,
                 r->kind == SIZE                           ? " bytes"
                 : r->kind == TIME_MS || r->kind == TENTHS ? " ms"
                                                           : "");
        return range;
    }
    *member = number;
    return NULL;
}

/* NULL, or what was expected. */
static const char *set(struct mount_options *o, const struct row *r, char *value)
{
    void *member = (char *)o + r->offset;

    switch (r->kind) {
    case FLAG:
        *(bool *)member = r->value != 0;
        return NULL;
    case FLAG_INT:
        *(int *)member = (int)r->value;
        return NULL;
    case CHOICE: {
        const char *const *word = find_word(r->words, value);

        if (!word)
            return r->words == caches    ? "none, auto or write-behind"
                   : r->words == spreads ? "mount, file or stripe"
                                         : "round-robin, least-bytes or weighted";
        *(int64_t *)member = word - r->words;
        return NULL;
    }
    case TEXT:
    case SERVERS:
        if (!*value || strlen(value) >= (size_t)r->max)
            return *value ? "a shorter text" : "a value";
        memcpy(member, value, strlen(value) + 1);
        for (char *c = member; r->kind == SERVERS && (c = strchr(c, '~')) != NULL;)
            *c = ',';
        return NULL;
    case PORTS:
        return parse_ports(o, value);
    case SEVERAL:
        return set_several(o, r, value);
    case NUMBER:
    case SIZE:
    case SECONDS:
    case TIME_MS:
    case TENTHS:
        return set_integer(r, value, member);
    case MUST_BE:
    case NOTHING:
    case REFUSED:
        break;
    }
    return NULL;
}

static bool complain(char *problem, size_t size, const char *name, const char *value, const char *what)
{
    snprintf(problem, size, "-o %s%s%s: %s", name, value ? "=" : "", value ? value : "", what);
    return false;
}

static bool parse_one(struct mount_options *o, char *text, char *problem, size_t size)
{
    char *value = strchr(text, '='), shown[64];
    const struct row *r = NULL;
    const char *expected;

    if (value)
        *value++ = '\0';
    snprintf(shown, sizeof shown, "%s", value ? value : "");
    /* Fstab's for other programs: x-systemd.automount, X-mount.mkdir, comment=...; mount(8) says who mounts: user=NAME. */
    if (strncasecmp(text, "x-", 2) == 0 || (value && (strcmp(text, "comment") == 0 || strcmp(text, "user") == 0)))
        return true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, text) == 0)
            r = &rows[i];
    if (!r)
        return complain(problem, size, text, value, "unknown option");
    if (r->kind == REFUSED)
        return complain(problem, size, text, value, r->why);
    if (r->kind == MUST_BE && value && !find_word(r->words, value))
        return complain(problem, size, text, value, r->why);
    if (r->kind == SEVERAL ? (r->max > 0) != (value != NULL) : needs_value(r->kind) != (value != NULL))
        return complain(problem, size, text, value, value ? "takes no value" : "needs a value");
    expected = set(o, r, value);
    if (expected) {
        snprintf(problem, size, "-o %s=%s: expected %s", text, shown, expected);
        return false;
    }
    return true;
}

/* Cuts at commas outside of brackets: vips=10.0.0.[101,103]. */
static char *next_option(char **rest)
{
    char *begin = *rest, *p;
    int depth = 0;

    if (!begin)
        return NULL;
    for (p = begin; *p && (*p != ',' || depth > 0); p++)
        depth += (*p == '[') - (*p == ']');
    *rest = *p ? p + 1 : NULL;
    *p = '\0';
    return begin;
}

bool mount_options_parse(struct mount_options *o, const char *text, char *problem, size_t size)
{
    char *copy = strdup(text), *rest = copy, *one;
    bool ok = copy != NULL;

    if (!ok)
        snprintf(problem, size, "no memory");
    while (ok && (one = next_option(&rest)) != NULL)
        ok = !*one || parse_one(o, one, problem, size);
    free(copy);
    if (ok && o->ac_reg_max < o->ac_reg_min)
        o->ac_reg_max = o->ac_reg_min;
    if (ok && o->ac_dir_max < o->ac_dir_min)
        o->ac_dir_max = o->ac_dir_min;
    return ok;
}

const char *mount_cache_name(enum mount_cache c) { return caches[c]; }

const char *mount_spread_name(enum mount_spread s) { return spreads[s]; }
