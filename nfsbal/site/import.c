/* Theory of operation. The folder's files are cut into outputs (a collector writes several into one file), each is given to the
 * first reader whose row fits its name, or its content where the name tells nothing, and the readers add facts to the device.
 * The order of files doesn't matter: things are found by name or made. import_join.c brings the devices together, and
 * import_write.c prints.
 */
#include "nfsbal/site/import.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "emu/model/topology.h"
#include "nfsbal/site/import_model.h"

enum { FILE_MAX = 16 << 20, FILES_MAX = 4096, DEPTH_MAX = 6, PATH_ROOM = 4096 };

static const char marker[] = "==== ";

/* ---- facts ---- */

struct import *import_new(void)
{
    struct topo_arena *arena = arena_new();
    struct import *m = arena_alloc(arena, sizeof *m);

    m->arena = arena;
    return m;
}

void import_free(struct import *m)
{
    if (m)
        arena_free(m->arena);
}

/* An element of any list: its link to the next stands first. */
struct any {
    struct any *next;
};

void *import_add(struct import *m, void *list, size_t size)
{
    struct {
        struct any *first, **end;
    } *l = list;
    struct any *item = arena_alloc(m->arena, size);

    if (!l->first)
        l->end = &l->first;
    *l->end = item;
    l->end = &item->next;
    return item;
}

struct import_device *import_device(struct import *m, const char *name)
{
    struct import_device *d;

    for (d = m->devices.first; d; d = d->next)
        if (strcmp(d->name, name) == 0)
            return d;
    d = IMPORT_ADD(m, &m->devices, struct import_device);
    d->name = import_copy(m, name, strlen(name));
    return d;
}

static bool same_owner(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

struct import_nic *import_find_nic(const struct import_device *d, const char *owner, const char *name)
{
    for (struct import_nic *n = d->nics.first; n; n = n->next)
        if (strcmp(n->name, name) == 0 && same_owner(n->owner, owner))
            return n;
    return NULL;
}

struct import_nic *import_nic(struct import *m, struct import_device *d, const char *owner, const char *name)
{
    struct import_nic *n = import_find_nic(d, owner, name);

    if (!n) {
        n = IMPORT_ADD(m, &d->nics, struct import_nic);
        n->name = import_copy(m, name, strlen(name));
        n->owner = owner ? import_copy(m, owner, strlen(owner)) : NULL;
    }
    return n;
}

struct import_team *import_find_team(const struct import_device *d, const char *owner, const char *name)
{
    for (struct import_team *t = d->teams.first; t; t = t->next)
        if (strcmp(t->name, name) == 0 && same_owner(t->owner, owner))
            return t;
    return NULL;
}

struct import_team *import_team(struct import *m, struct import_device *d, const char *owner, const char *name,
                                enum import_team_kind kind)
{
    struct import_team *t = import_find_team(d, owner, name);

    if (!t) {
        t = IMPORT_ADD(m, &d->teams, struct import_team);
        t->name = import_copy(m, name, strlen(name));
        t->owner = owner ? import_copy(m, owner, strlen(owner)) : NULL;
    }
    t->kind = kind;
    return t;
}

struct import_portgroup *import_portgroup(struct import *m, struct import_device *d, const char *name)
{
    struct import_portgroup *p;

    for (p = d->portgroups.first; p; p = p->next)
        if (strcmp(p->name, name) == 0)
            return p;
    p = IMPORT_ADD(m, &d->portgroups, struct import_portgroup);
    p->name = import_copy(m, name, strlen(name));
    return p;
}

struct import_iface *import_find_iface(const struct import_device *d, const char *name)
{
    for (struct import_iface *f = d->ifaces.first; f; f = f->next)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}

struct import_iface *import_iface(struct import *m, struct import_device *d, const char *name)
{
    struct import_iface *f = import_find_iface(d, name);

    if (!f) {
        f = IMPORT_ADD(m, &d->ifaces, struct import_iface);
        f->name = import_copy(m, name, strlen(name));
    }
    return f;
}

bool import_has(const struct import_words *w, const char *text)
{
    for (size_t i = 0; i < w->n; i++)
        if (strcmp(w->items[i], text) == 0)
            return true;
    return false;
}

void import_word(struct import *m, struct import_words *w, const char *text)
{
    if (!*text || import_has(w, text))
        return;
    w->items = arena_grow(m->arena, w->items, w->n, &w->room, sizeof *w->items);
    w->items[w->n++] = import_copy(m, text, strlen(text));
}

void import_split(struct import *m, struct import_words *w, const char *text)
{
    for (size_t n; text && *(text += strspn(text, ", \t\r")); text += n) {
        n = strcspn(text, ", \t\r");
        import_word(m, w, import_copy(m, text, n));
    }
}

/* Without control characters: nothing that is read can break a line of what is written. */
const char *import_copy(struct import *m, const char *text, size_t length)
{
    char *copy = arena_copy(m->arena, text, length);

    for (char *p = copy; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return copy;
}

bool import_address(const char *text)
{
    struct topo_addr a;

    return !strchr(text, '/') && topo_addr_parse(&a, text);
}

/* The prefix of "255.255.255.0" or "24"; -1: neither. */
static int prefix_of(const char *netmask)
{
    struct topo_addr a;
    uint32_t bits = 0;
    int n = 0;

    if (netmask[strspn(netmask, "0123456789")] == '\0' && *netmask) {
        unsigned value = import_number(netmask);

        return value >= 1 && value <= 128 ? (int)value : -1;
    }
    if (!topo_addr_parse(&a, netmask) || a.version != 4)
        return -1;
    for (int i = 0; i < 4; i++)
        bits = bits << 8 | a.bytes[i];
    for (; bits & 0x80000000u; bits <<= 1)
        n++;
    return bits == 0 && n > 0 ? n : -1;
}

const char *import_cidr(struct import *m, const char *address, const char *netmask)
{
    struct topo_addr a;
    const char *slash = address ? strchr(address, '/') : NULL;
    const char *text;
    int prefix;

    if (!address)
        return NULL;
    prefix = slash ? prefix_of(slash + 1) : netmask ? prefix_of(netmask) : -1;
    text = import_copy(m, address, slash ? (size_t)(slash - address) : strlen(address));
    if (prefix < 0 || !topo_addr_parse(&a, text) || strcmp(text, "0.0.0.0") == 0 ||
        prefix > (a.version == 4 ? 32 : 128))
        return NULL;
    return arena_printf(m->arena, "%s/%d", text, prefix);
}

unsigned import_number(const char *text)
{
    unsigned long value = 0;

    for (text += strspn(text, " \t"); isdigit((unsigned char)*text) && value < 1000000000; text++)
        value = value * 10 + (unsigned long)(*text - '0');
    return (unsigned)value;
}

static void say(const struct import_input *in, enum diag_severity severity, const char *format, va_list list)
    __attribute__((format(printf, 3, 0)));

static void say(const struct import_input *in, enum diag_severity severity, const char *format, va_list list)
{
    char text[400];

    vsnprintf(text, sizeof text, format, list);
    diag_add(in->d, severity, NULL, (struct diag_mark){.line = in->line}, NULL, "%s", text);
}

void import_warn(const struct import_input *in, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(in, DIAG_WARNING, format, list);
    va_end(list);
}

void import_error(const struct import_input *in, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(in, DIAG_ERROR, format, list);
    va_end(list);
}

/* ---- which reader ---- */

/* The words of a command or path, joined by "-" and with "-" at both ends: "-storage-nfs-list-". */
static void words_of(char *out, size_t size, const char *name)
{
    size_t n = 1;

    out[0] = '-';
    for (; *name && n + 2 < size; name++) {
        if (isalnum((unsigned char)*name))
            out[n++] = (char)tolower((unsigned char)*name);
        else if (out[n - 1] != '-')
            out[n++] = '-';
    }
    if (out[n - 1] != '-')
        out[n++] = '-';
    out[n] = '\0';
}

static bool has_words(const char *words, const char *row)
{
    const char *found = words;
    size_t n = strlen(row);

    while ((found = strstr(found + 1, row)))
        if (found[-1] == '-' && found[n] == '-')
            return true;
    return false;
}

static const struct import_row *const all_rows[] = {import_esxi_rows, import_nas_rows, import_switch_rows,
                                                    import_linux_rows};
enum { TABLES = sizeof all_rows / sizeof *all_rows };

static const struct import_row *row_of(const struct import_input *in)
{
    char words[600];

    words_of(words, sizeof words, in->command);
    for (size_t i = 0; i < TABLES; i++)
        for (const struct import_row *r = all_rows[i]; r->read; r++)
            if (r->name && has_words(words, r->name))
                return r;
    for (size_t i = 0; i < TABLES; i++)
        for (const struct import_row *r = all_rows[i]; r->read; r++)
            if (r->content && strstr(in->text, r->content))
                return r;
    return NULL;
}

static void take_output(struct import *m, struct import_device *device, const char *command, const char *text,
                        size_t length, int line, struct diag *d)
{
    char *copy = arena_copy(m->arena, text, length);
    struct import_input in = {m, device, command, copy, copy + strlen(copy), d, line};
    const struct import_row *row;

    if (copy[strspn(copy, " \t\r\n")] == '\0')
        return;
    row = row_of(&in);
    if (!row) {
        import_warn(&in, "`%.80s` is none of the outputs that can be read; passed over", command);
        return;
    }
    m->understood++;
    row->read(&in);
}

/* The collector's marker lines, or NULL. */
static const char *find_marker(const char *from, const char *end)
{
    for (const char *p = from; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));

        if ((size_t)(end - p) > sizeof marker - 1 && memcmp(p, marker, sizeof marker - 1) == 0)
            return p;
        if (!stop)
            break;
        p = stop + 1;
    }
    return NULL;
}

void import_text(struct import *m, const char *device, const char *name, const char *text, size_t length,
                 struct diag *d)
{
    struct import_device *dev = import_device(m, device);
    const char *end = text + length, *at = length ? find_marker(text, end) : NULL;
    int line = 1;

    dev->has_folder = true;
    if (length == 0)
        return;
    if (!at) {
        take_output(m, dev, name, text, length, 0, d);
        return;
    }
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    while (at) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const char *from = stop ? stop + 1 : end;
        const char *next = find_marker(from, end);
        const char *command =
            import_copy(m, at + sizeof marker - 1, (size_t)((stop ? stop : end) - at) - (sizeof marker - 1));

        take_output(m, dev, command, from, (size_t)((next ? next : end) - from), line, d);
        for (const char *p = at; p < (next ? next : end); p++)
            line += *p == '\n';
        at = next;
    }
}

/* ---- folders ---- */

struct folder {
    struct import *m;
    char *problem;
    size_t size;
    size_t files;
    bool broken;
};

static int read_whole(const char *path, char **text, size_t *length)
{
    FILE *in = fopen(path, "rb");
    size_t room = 0;
    int rc = in ? 0 : -errno;

    *text = NULL;
    *length = 0;
    while (rc == 0 && !feof(in)) {
        char *grown;

        if (*length == room) {
            room = room ? 2 * room : 65536;
            grown = room > FILE_MAX ? NULL : realloc(*text, room);
            if (!grown) {
                rc = room > FILE_MAX ? -EFBIG : -ENOMEM;
                break;
            }
            *text = grown;
        }
        *length += fread(*text + *length, 1, room - *length, in);
        if (ferror(in))
            rc = -EIO;
    }
    if (in)
        fclose(in);
    return rc;
}

static int take_file(struct folder *f, const char *path, const char *device, const char *name)
{
    struct diag d;
    char *text;
    size_t length;
    int rc = read_whole(path, &text, &length);

    if (rc == 0 && ++f->files > FILES_MAX)
        rc = -E2BIG;
    if (rc == 0) {
        diag_init(&d, path);
        import_text(f->m, device, name, text, length, &d);
        diag_print_text(&d, stderr, false);
        f->broken = f->broken || diag_count(&d, DIAG_ERROR) > 0;
        diag_free(&d);
    } else {
        snprintf(f->problem, f->size, "%s: %s", path, strerror(-rc));
    }
    free(text);
    return rc;
}

static int visible(const struct dirent *e) { return e->d_name[0] != '.'; }

/* The files of a device, at any depth; `name` is the path below its folder. Without a device yet: the folder of the site. */
static int take_folder(struct folder *f, const char *path, const char *device, const char *name, int depth)
{
    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort), rc = 0;

    if (n < 0) {
        rc = -errno;
        snprintf(f->problem, f->size, "%s: %s", path, strerror(-rc));
        return rc;
    }
    for (int i = 0; i < n; i++) {
        char file[PATH_ROOM], below[PATH_ROOM];
        const char *entry = entries[i]->d_name;
        struct stat st;

        if (rc == 0 &&
            ((size_t)snprintf(file, sizeof file, "%s/%s", path, entry) >= sizeof file ||
             (size_t)snprintf(below, sizeof below, "%s%s%s", name, *name ? "/" : "", entry) >= sizeof below)) {
            rc = -ENAMETOOLONG;
            snprintf(f->problem, f->size, "%s: %s", path, strerror(-rc));
        }
        if (rc == 0 && stat(file, &st) != 0) {
            rc = -errno;
            snprintf(f->problem, f->size, "%s: %s", file, strerror(-rc));
        }
        if (rc == 0 && S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            rc = take_folder(f, file, device ? device : entry, device ? below : "", depth + 1);
        else if (rc == 0 && S_ISREG(st.st_mode) && device)
            rc = take_file(f, file, device, below);
        else if (rc == 0)
            fprintf(stderr, "%s: warning  %s; it is passed over\n", file,
                    S_ISREG(st.st_mode) ? "a file beside the devices' folders" : "no file, or too deep");
        free(entries[i]);
    }
    free(entries);
    return rc;
}

int import_folder(struct import *m, const char *path, char *problem, size_t size)
{
    struct folder f = {.m = m, .problem = problem, .size = size};
    int rc = take_folder(&f, path, NULL, "", 0);

    if (rc != 0)
        return rc;
    if (m->understood == 0 && !f.broken)
        fprintf(stderr, "%s: error    there is no output of a device that can be read\n", path);
    return f.broken || m->understood == 0 ? -EINVAL : 0;
}

/* ---- names ---- */

/* Long names of Cisco's and others' ports, and how the file calls them. */
static const struct {
    const char *text, *name;
} port_words[] = {
    {"TwentyFiveGigE", "twe"},
    {"TwentyFiveGigabitEthernet", "twe"},
    {"HundredGigE", "hu"},
    {"HundredGigabitEthernet", "hu"},
    {"FortyGigabitEthernet", "fo"},
    {"FortyGigE", "fo"},
    {"TenGigabitEthernet", "te"},
    {"TenGigE", "te"},
    {"TwoGigabitEthernet", "tw"},
    {"FiveGigabitEthernet", "fi"},
    {"GigabitEthernet", "gi"},
    {"FastEthernet", "fa"},
    {"Ethernet", "eth"},
    {"Port-channel", "po"},
};

const char *import_port_name(struct import *m, const char *text)
{
    char name[160];
    size_t n = 0;

    text += strspn(text, " \t");
    for (size_t i = 0; i < sizeof port_words / sizeof *port_words; i++) {
        size_t length = strlen(port_words[i].text);

        if (strncasecmp(text, port_words[i].text, length) == 0) {
            n = (size_t)snprintf(name, sizeof name, "%s", port_words[i].name);
            text += length;
            text += strspn(text, " ");
            break;
        }
    }
    for (; *text && n + 1 < sizeof name; text++)
        name[n++] = (char)tolower((unsigned char)*text);
    name[n] = '\0';
    return import_name(m, name);
}

const char *import_name(struct import *m, const char *text)
{
    char *name = arena_copy(m->arena, text, strlen(text));

    for (char *p = name; *p; p++)
        if ((unsigned char)*p <= ' ' || strchr(":>,[]{}\"'`", *p))
            *p = '_';
    return *name ? name : "_";
}

const char *import_host_name(struct import *m, const char *text)
{
    size_t n = strcspn(text, "("); /* CDP of Nexus: NAME(SERIAL) */

    if (!import_address(text) && strcspn(text, ".") < n)
        n = strcspn(text, ".");
    return import_name(m, import_copy(m, text, n ? n : strlen(text)));
}
