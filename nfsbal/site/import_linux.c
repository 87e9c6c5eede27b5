/* Linux and Proxmox: /proc/mounts, /proc/net/bonding, `ip -j`, interfaces(5), storage.cfg, hosts(5), exports(5), sysfs. Sources:
 * proc(5), Linux Documentation/networking/bonding.rst, ip(8), interfaces(5) of ifupdown and ifupdown2, Proxmox VE's manual
 * ("Storage: NFS backend", "Network configuration").
 */
#include "nfsbal/site/import_model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emu/report/json.h"

enum { WORDS = 64 };

static struct import_device *linux_host(const struct import_input *in)
{
    if (in->device->kind == IMPORT_UNKNOWN)
        in->device->kind = IMPORT_LINUX;
    return in->device;
}

/* ---- lines and words ---- */

static bool next_line(const char **at, const char **line, size_t *length)
{
    if (!*at || !**at)
        return false;
    *line = *at;
    *length = strcspn(*at, "\n");
    *at += *length;
    if (**at)
        (*at)++;
    while (*length > 0 && isspace((unsigned char)(*line)[*length - 1]))
        (*length)--;
    return true;
}

/* The words of a line, up to WORDS; the rest is left out. */
static size_t words_of(struct import *m, const char *line, size_t length, const char **words)
{
    size_t n = 0;

    for (size_t i = 0; i < length && n < WORDS;) {
        size_t start;

        while (i < length && isspace((unsigned char)line[i]))
            i++;
        start = i;
        while (i < length && !isspace((unsigned char)line[i]))
            i++;
        if (i > start)
            words[n++] = import_copy(m, line + start, i - start);
    }
    return n;
}

/* "a\040b" of fstab(5) and /proc/mounts. Control characters stay escaped: no name has them. */
static const char *unescape(struct import *m, const char *text)
{
    char *out = arena_copy(m->arena, text, strlen(text)), *to = out;

    for (const char *p = out; *p; p++) {
        if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' && p[3] >= '0' && p[3] <= '7') {
            int c = (p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0');

            if (c >= ' ' && c != 0x7f) {
                *to++ = (char)c;
                p += 3;
                continue;
            }
        }
        *to++ = *p;
    }
    *to = '\0';
    return out;
}

/* ---- mounts ---- */

/* "nas:/path", "[fd00::1]:/path". */
static bool split_source(struct import *m, const char *source, struct import_mount *out)
{
    const char *colon = strstr(source, ":/");
    size_t skip = *source == '[' && colon && colon > source && colon[-1] == ']';

    if (!colon)
        return false;
    out->server = import_copy(m, source + skip, (size_t)(colon - source) - 2 * skip);
    out->path = import_copy(m, colon + 1, strlen(colon + 1));
    return *out->server != '\0';
}

static void take_options(struct import *m, const char *options, struct import_mount *out)
{
    for (const char *p = options; *p; p += strcspn(p, ","), p += *p == ',') {
        size_t n = strcspn(p, ",");

        if (strncmp(p, "vers=", 5) == 0)
            out->version = import_copy(m, p + 5, n - 5);
        else if (strncmp(p, "nfsvers=", 8) == 0)
            out->version = import_copy(m, p + 8, n - 8);
        else if (strncmp(p, "nconnect=", 9) == 0)
            out->nconnect = import_number(p + 9);
        else if (strncmp(p, "addr=", 5) == 0 && import_address(import_copy(m, p + 5, n - 5)))
            out->address = import_copy(m, p + 5, n - 5);
    }
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static void read_mounts(const struct import_input *in)
{
    struct import_device *d = linux_host(in);
    bool configured = strstr(in->command, "fstab") != NULL;
    const char *at = in->text, *line, *words[WORDS];
    size_t length;

    while (next_line(&at, &line, &length)) {
        size_t n = words_of(in->m, line, length, words);
        struct import_mount mount = {.next = NULL}, *to;

        if (n < 4 || *words[0] == '#' || (strcmp(words[2], "nfs") != 0 && strcmp(words[2], "nfs4") != 0) ||
            !split_source(in->m, unescape(in->m, words[0]), &mount))
            continue;
        if (strcmp(words[2], "nfs4") == 0)
            mount.version = "4.2";
        take_options(in->m, words[3], &mount);
        mount.name = last_part(unescape(in->m, words[1]));
        mount.configured = configured;
        to = IMPORT_ADD(in->m, &d->mounts, struct import_mount);
        mount.next = to->next;
        *to = mount;
    }
}

/* "nfs: ID", then indented lines of one key each. */
static void read_storage_cfg(const struct import_input *in)
{
    struct import_device *d = linux_host(in);
    const char *at = in->text, *line, *words[WORDS];
    struct import_mount *mount = NULL;
    size_t length;

    while (next_line(&at, &line, &length)) {
        size_t n = words_of(in->m, line, length, words);

        if (n == 0 || *words[0] == '#')
            continue;
        if (!isspace((unsigned char)*line)) {
            mount = NULL;
            if (n >= 2 && strcmp(words[0], "nfs:") == 0) {
                mount = IMPORT_ADD(in->m, &d->mounts, struct import_mount);
                mount->name = words[1];
                mount->configured = true;
            }
            continue;
        }
        if (!mount || n < 2)
            continue;
        if (strcmp(words[0], "server") == 0) {
            mount->server = words[1];
        } else if (strcmp(words[0], "export") == 0) {
            const char *from = strstr(line, "export") + strlen("export");

            from += strspn(from, " \t");
            mount->path = import_copy(in->m, from, (size_t)(line + length - from));
        } else if (strcmp(words[0], "options") == 0) {
            take_options(in->m, words[1], mount);
        } else if (strcmp(words[0], "nodes") == 0) {
            struct import_words nodes = {0};

            import_split(in->m, &nodes, words[1]);
            if (!import_has(&nodes, in->device->name))
                mount->name = NULL; /* not of this node */
        }
    }
}

/* ---- bonds ---- */

static const char *bond_mode(const struct import_input *in, const char *text)
{
    static const char *const modes[][2] = {
        {"802.3ad", "802.3ad"},
        {"IEEE 802.3ad", "802.3ad"},
        {"active-backup", "active-backup"},
        {"fault-tolerance", "active-backup"},
        {"balance-xor", "balance-xor"},
        {"(xor)", "balance-xor"},
        {"balance-tlb", "balance-tlb"},
        {"transmit load balancing", "balance-tlb"},
        {"balance-alb", "balance-alb"},
        {"adaptive load balancing", "balance-alb"},
    };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strstr(text, modes[i][0]))
            return modes[i][1];
    if (text[0] >= '1' && text[0] <= '6' && !text[1])
        return (const char *const[]){
            "active-backup", "balance-xor", NULL, "802.3ad", "balance-tlb", "balance-alb"}[text[0] - '1'];
    import_warn(in, "bonds of mode `%.60s` can't be described", text);
    return NULL;
}

static const char *bond_hash(struct import *m, const char *text)
{
    size_t n = strcspn(text, " (");

    return n ? arena_printf(m->arena, "linux-%.*s", (int)n, text) : NULL;
}

/* The text behind "Key: " when the line is of this key, else NULL. */
static const char *value_of(struct import *m, const char *line, size_t length, const char *key)
{
    size_t n = strlen(key);

    while (length > 0 && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    if (length <= n || strncasecmp(line, key, n) != 0 || line[n] != ':')
        return NULL;
    line += n + 1;
    length -= n + 1;
    while (length > 0 && isspace((unsigned char)*line)) {
        line++;
        length--;
    }
    return import_copy(m, line, length);
}

static void read_bond(const struct import_input *in)
{
    const char *name = strrchr(in->command, '/'), *at = in->text, *line, *value;
    struct import_device *d = linux_host(in);
    struct import_nic *nic = NULL;
    struct import_team *t;
    size_t length;

    if (!name)
        name = strrchr(in->command, '-');
    name = name ? name + 1 : in->command;
    name = import_copy(in->m, name, strcspn(name, " ."));
    if (!strstr(in->text, "Bonding Mode:")) {
        import_warn(in, "it has no `Bonding Mode:`");
        return;
    }
    t = import_team(in->m, d, NULL, name, IMPORT_BOND);
    while (next_line(&at, &line, &length)) {
        if ((value = value_of(in->m, line, length, "Bonding Mode"))) {
            t->mode = bond_mode(in, value);
        } else if ((value = value_of(in->m, line, length, "Transmit Hash Policy"))) {
            t->policy = bond_hash(in->m, value);
        } else if ((value = value_of(in->m, line, length, "LACP rate"))) {
            t->lacp_rate = strncmp(value, "fast", 4) == 0 ? "fast" : "slow";
        } else if ((value = value_of(in->m, line, length, "Primary Slave")) && strncmp(value, "None", 4) != 0) {
            t->primary = import_copy(in->m, value, strcspn(value, " "));
        } else if ((value = value_of(in->m, line, length, "Slave Interface"))) {
            nic = import_nic(in->m, d, NULL, value);
            import_word(in->m, &t->members, value);
        } else if ((value = value_of(in->m, line, length, "Speed")) && nic && import_number(value)) {
            nic->mbps = import_number(value);
        } else if ((value = value_of(in->m, line, length, "Permanent HW addr")) && nic) {
            nic->mac = value;
        }
    }
}

/* ---- ip -j ---- */

static const char *text_of(const struct json_in *v, const char *key) { return json_in_text(json_in_member(v, key)); }

static unsigned number_of(const struct json_in *v, const char *key)
{
    double number = 0;

    return json_in_number(json_in_member(v, key), &number) && number > 0 && number < 1e9 ? (unsigned)number : 0;
}

static const char *keep(struct import *m, const char *text) { return text ? import_copy(m, text, strlen(text)) : NULL; }

/* What needs no driver beneath: interfaces of guests and of this host alone. */
static bool is_virtual(const char *name, const char *kind)
{
    static const char *const kinds[] = {"tun",     "dummy", "ifb", "vxlan", "wireguard",
                                        "macvtap", "vrf",   "sit", "ipip",  "gre"};
    static const char *const names[] = {"lo", "tap", "veth", "fwbr", "fwpr", "fwln", "docker", "virbr", "vnet"};

    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return strcmp(names[i], "lo") != 0 || !name[2];
    return false;
}

static void take_addresses(const struct import_input *in, struct import_iface *f, const struct json_in *list)
{
    for (size_t i = 0; i < json_in_size(list); i++) {
        const struct json_in *a = json_in_element(list, i);
        const char *scope = text_of(a, "scope");
        const char *cidr;

        if (scope && strcmp(scope, "global") != 0)
            continue;
        cidr = import_cidr(in->m, text_of(a, "local"), arena_printf(in->m->arena, "%u", number_of(a, "prefixlen")));
        if (cidr)
            import_word(in->m, &f->addresses, cidr);
    }
}

static void take_bond(const struct import_input *in, struct import_team *t, const struct json_in *data)
{
    const char *mode = text_of(data, "mode"), *hash = text_of(data, "xmit_hash_policy");
    const char *rate = text_of(data, "ad_lacp_rate"), *primary = text_of(data, "primary");

    if (mode)
        t->mode = bond_mode(in, mode);
    if (hash)
        t->policy = bond_hash(in->m, hash);
    if (rate)
        t->lacp_rate = strcmp(rate, "fast") == 0 ? "fast" : "slow";
    if (primary)
        t->primary = keep(in->m, primary);
}

/* One interface, of `ip addr` or `ip link`: what either doesn't say stays as it is. */
static void take_link(const struct import_input *in, const struct json_in *v)
{
    struct import_device *d = linux_host(in);
    const char *name = keep(in->m, text_of(v, "ifname")), *master = keep(in->m, text_of(v, "master"));
    const char *mac = keep(in->m, text_of(v, "address")), *beneath = keep(in->m, text_of(v, "link"));
    const struct json_in *info = json_in_member(v, "linkinfo"), *data = json_in_member(info, "info_data");
    const char *kind = text_of(info, "info_kind"), *slave = text_of(info, "info_slave_kind");
    unsigned mtu = number_of(v, "mtu");
    struct import_team *t;
    struct import_iface *f;

    if (!name || is_virtual(name, kind))
        return;
    if (kind && (strcmp(kind, "bond") == 0 || strcmp(kind, "bridge") == 0)) {
        t = import_team(in->m, d, NULL, name, kind[1] == 'o' ? IMPORT_BOND : IMPORT_BRIDGE);
        t->mtu = mtu ? mtu : t->mtu;
        t->mac = mac ? mac : t->mac;
        take_bond(in, t, data);
    }
    if (master && slave && (strcmp(slave, "bond") == 0 || strcmp(slave, "bridge") == 0)) {
        t = import_team(in->m, d, NULL, master, slave[1] == 'o' ? IMPORT_BOND : IMPORT_BRIDGE);
        import_word(in->m, &t->members, name);
    }
    f = import_iface(in->m, d, name);
    f->mtu = mtu ? mtu : f->mtu;
    f->mac = mac ? mac : f->mac;
    if (kind && strcmp(kind, "vlan") == 0) {
        f->vlan_known = true;
        f->vlan = number_of(data, "id");
    }
    if (beneath)
        f->parent = beneath;
    take_addresses(in, f, json_in_member(v, "addr_info"));
    if (!kind && !strchr(name, '.') && !beneath && !import_find_team(d, NULL, name)) {
        const char *own = keep(in->m, text_of(v, "permaddr"));
        struct import_nic *nic = import_nic(in->m, d, NULL, name);

        nic->mac = own ? own : nic->mac ? nic->mac : mac;
    }
}

static void read_ip(const struct import_input *in)
{
    const char *p = in->text + strspn(in->text, " \t\r\n");
    char problem[256];
    struct json_in *root;

    if (*p != '[') {
        import_warn(in, "only the JSON form is read: ip -j -d link, ip -j addr");
        return;
    }
    root = json_in_parse(in->text, (size_t)(in->end - in->text), problem, sizeof problem);
    if (!root) {
        import_error(in, "%s", problem);
        return;
    }
    for (size_t i = 0; i < json_in_size(root); i++)
        take_link(in, json_in_element(root, i));
    json_in_free(root);
}

/* ---- interfaces(5) ---- */

static void take_stanza_option(const struct import_input *in, const char *name, const char **words, size_t n)
{
    struct import_device *d = in->device;
    struct import_iface *f = import_iface(in->m, d, name);
    const char *key = strncmp(words[0], "bond_", 5) == 0 || strncmp(words[0], "bridge_", 7) == 0
                          ? words[0] + strcspn(words[0], "_") + 1
                      : strncmp(words[0], "bond-", 5) == 0 || strncmp(words[0], "bridge-", 7) == 0
                          ? words[0] + strcspn(words[0], "-") + 1
                          : NULL;
    bool bridge = words[0][0] == 'b' && words[0][1] == 'r';
    struct import_team *t = key ? import_team(in->m, d, NULL, name, bridge ? IMPORT_BRIDGE : IMPORT_BOND) : NULL;

    if (key && (strcmp(key, "slaves") == 0 || strcmp(key, "ports") == 0)) {
        for (size_t i = 1; i < n; i++)
            if (strcmp(words[i], "none") != 0 && !is_virtual(words[i], NULL))
                import_word(in->m, &t->members, words[i]);
        for (size_t i = 1; i < n && !bridge; i++)
            if (strcmp(words[i], "none") != 0)
                import_nic(in->m, d, NULL, words[i]);
    } else if (key && strcmp(key, "mode") == 0) {
        t->mode = bond_mode(in, words[1]);
    } else if (key && strcasecmp(key, "xmit-hash-policy") == 0) {
        t->policy = bond_hash(in->m, words[1]);
    } else if (key && strcasecmp(key, "xmit_hash_policy") == 0) {
        t->policy = bond_hash(in->m, words[1]);
    } else if (key && strncmp(key, "lacp", 4) == 0) {
        t->lacp_rate = strcmp(words[1], "fast") == 0 || strcmp(words[1], "1") == 0 ? "fast" : "slow";
    } else if (key && strcmp(key, "primary") == 0) {
        t->primary = words[1];
    } else if (strcmp(words[0], "address") == 0) {
        const char *cidr = strchr(words[1], '/') ? import_cidr(in->m, words[1], NULL) : NULL;

        if (cidr)
            import_word(in->m, &f->addresses, cidr);
        else
            f->bare = words[1];
    } else if (strcmp(words[0], "netmask") == 0 && f->bare) {
        const char *cidr = import_cidr(in->m, f->bare, words[1]);

        if (cidr)
            import_word(in->m, &f->addresses, cidr);
        f->bare = NULL;
    } else if (strcmp(words[0], "gateway") == 0 && import_address(words[1])) {
        f->gateway = words[1];
    } else if (strcmp(words[0], "mtu") == 0) {
        f->mtu = import_number(words[1]);
    } else if (strcmp(words[0], "vlan-raw-device") == 0 || strcmp(words[0], "vlan_raw_device") == 0) {
        f->parent = words[1];
    } else if (strcmp(words[0], "vlan-id") == 0) {
        f->vlan_known = true;
        f->vlan = import_number(words[1]);
    } else if (strcmp(words[0], "hwaddress") == 0 && words[n - 1][2] == ':') {
        f->mac = words[n - 1];
    }
}

/* Names that say their VLAN: eth0.50, vmbr0.50, vlan50 (with a raw device). */
static void vlans_by_name(struct import *m, struct import_device *d)
{
    for (struct import_iface *f = d->ifaces.first; f; f = f->next) {
        const char *dot = strrchr(f->name, '.');

        if (dot && !f->vlan_known && import_number(dot + 1)) {
            f->vlan_known = true;
            f->vlan = import_number(dot + 1);
            if (!f->parent)
                f->parent = import_copy(m, f->name, (size_t)(dot - f->name));
        } else if (strncmp(f->name, "vlan", 4) == 0 && f->parent && !f->vlan_known && import_number(f->name + 4)) {
            f->vlan_known = true;
            f->vlan = import_number(f->name + 4);
        }
    }
}

static void read_interfaces(const struct import_input *in)
{
    struct import_device *d = linux_host(in);
    const char *at = in->text, *line, *words[WORDS], *name = NULL;
    size_t length;

    while (next_line(&at, &line, &length)) {
        size_t n = words_of(in->m, line, length, words);

        if (n == 0 || *words[0] == '#')
            continue;
        if (strcmp(words[0], "iface") == 0 && n >= 2) {
            name = is_virtual(words[1], NULL) ? NULL : words[1];
            if (name)
                import_iface(in->m, d, name);
        } else if (strcmp(words[0], "auto") == 0 || strncmp(words[0], "allow-", 6) == 0 ||
                   strncmp(words[0], "source", 6) == 0 || strcmp(words[0], "mapping") == 0) {
            name = NULL;
        } else if (name && n >= 2) {
            take_stanza_option(in, name, words, n);
        }
    }
    vlans_by_name(in->m, d);
}

/* ---- small ones ---- */

/* "NAME MBPS" a line; a NIC without a link has -1, or nothing. */
static void read_speeds(const struct import_input *in)
{
    struct import_device *d = linux_host(in);
    const char *at = in->text, *line, *words[WORDS];
    size_t length;

    while (next_line(&at, &line, &length))
        if (words_of(in->m, line, length, words) >= 2 && !is_virtual(words[0], NULL) && import_number(words[1]))
            import_nic(in->m, d, NULL, words[0])->mbps = import_number(words[1]);
}

static void read_kernel(const struct import_input *in)
{
    const char *p = in->text;

    linux_host(in);
    while (*p && !isdigit((unsigned char)*p))
        p++;
    if (*p)
        in->device->version = import_copy(in->m, p, strspn(p, "0123456789."));
}

/* hosts(5), or `getent hosts`: an address and its names. */
static void read_hosts(const struct import_input *in)
{
    const char *at = in->text, *line, *words[WORDS];
    size_t length;

    while (next_line(&at, &line, &length)) {
        size_t n = words_of(in->m, line, length, words);

        for (size_t i = 1; i < n && import_address(words[0]) && *words[i] != '#'; i++) {
            struct import_pair *p = IMPORT_ADD(in->m, &in->m->names, struct import_pair);

            p->key = words[i];
            p->value = words[0];
        }
    }
}

/* nslookup, of bind or busybox: "Name: nas1" and then "Address: 10.0.0.1" or "Address 1: 10.0.0.1 nas1". */
static void read_nslookup(const struct import_input *in)
{
    const char *at = in->text, *line, *words[WORDS], *name = NULL;
    size_t length;

    while (next_line(&at, &line, &length)) {
        size_t n = words_of(in->m, line, length, words);
        const char *address = n < 2 || strncmp(words[0], "Address", 7) != 0 ? NULL
                              : words[0][7] == ':'                          ? words[1]
                              : n > 2                                       ? words[2]
                                                                            : NULL;

        if (n >= 2 && strcmp(words[0], "Name:") == 0) {
            name = words[1];
        } else if (name && address && import_address(address)) {
            struct import_pair *p = IMPORT_ADD(in->m, &in->m->names, struct import_pair);

            p->key = name;
            p->value = address;
        }
    }
}

static void read_exports(const struct import_input *in)
{
    struct import_device *d = linux_host(in);
    const char *at = in->text, *line;
    size_t length;

    while (next_line(&at, &line, &length)) {
        struct import_export *e;
        size_t n = 0;

        if (length == 0 || (*line != '/' && *line != '"'))
            continue;
        e = IMPORT_ADD(in->m, &d->exports, struct import_export);
        if (*line == '"') {
            line++;
            length--;
            while (n < length && line[n] != '"')
                n++;
        } else {
            while (n < length && !isspace((unsigned char)line[n]))
                n++;
        }
        e->path = unescape(in->m, import_copy(in->m, line, n));
    }
}

const struct import_row import_linux_rows[] = {
    {"proc-mounts", NULL, read_mounts},
    {"self-mounts", NULL, read_mounts},
    {"etc-fstab", NULL, read_mounts},
    {"fstab", NULL, read_mounts},
    {"net-bonding", "Ethernet Channel Bonding Driver", read_bond},
    {"ip-j-addr", NULL, read_ip},
    {"ip-j-d-addr", NULL, read_ip},
    {"ip-j-addr-show", NULL, read_ip},
    {"ip-addr", NULL, read_ip},
    {"ip-j-link", NULL, read_ip},
    {"ip-j-d-link", NULL, read_ip},
    {"ip-d-j-link", NULL, read_ip},
    {"ip-link", NULL, read_ip},
    {"storage-cfg", NULL, read_storage_cfg},
    {"network-interfaces", NULL, read_interfaces},
    {"interfaces", NULL, read_interfaces},
    {"class-net-speed", NULL, read_speeds},
    {"class-net", NULL, read_speeds},
    {"uname", NULL, read_kernel},
    {"etc-hosts", NULL, read_hosts},
    {"getent-hosts", NULL, read_hosts},
    {"nslookup", NULL, read_nslookup},
    {"etc-exports", NULL, read_exports},
    {"exportfs", NULL, read_exports},
    {"exports", NULL, read_exports},
    {"mounts", NULL, read_mounts},
    {"hosts", NULL, read_hosts},
    {NULL, NULL, NULL},
};
