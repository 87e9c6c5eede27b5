#include "nfsbal/client/local_link.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "hashes/key.h"
#include "hashes/pick.h"

enum { DEPTH_MAX = 4, RESERVED_FIRST = 665, RESERVED_LAST = 1023, ORDINARY_FIRST = 32768, ORDINARY_LAST = 60999 };

/* The first line of a file, without its end. */
static bool read_line(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool read_line(char *out, size_t size, const char *format, ...)
{
    char path[512];
    va_list args;
    FILE *f;
    bool good;

    va_start(args, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is, in the line above */
    vsnprintf(path, sizeof path, format, args);
    va_end(args);
    f = fopen(path, "re");
    good = f && fgets(out, (int)size, f);
    if (f)
        fclose(f);
    if (good)
        out[strcspn(out, "\n")] = '\0';
    return good;
}

static bool is_bond(const char *root, const char *interface)
{
    char path[300];
    struct stat st;

    snprintf(path, sizeof path, "%s/sys/class/net/%s/bonding", root, interface);
    return stat(path, &st) == 0;
}

/* The bond below an interface: itself, or what a VLAN or bridge stands on. */
static bool find_bond(const char *root, const char *interface, char *bond, int depth)
{
    char path[300];
    struct dirent *e;
    bool found = false;
    DIR *d;

    if (is_bond(root, interface)) {
        snprintf(bond, IF_NAMESIZE, "%s", interface);
        return true;
    }
    snprintf(path, sizeof path, "%s/sys/class/net/%s", root, interface);
    d = depth < DEPTH_MAX ? opendir(path) : NULL;
    while (d && !found && (e = readdir(d)))
        if (strncmp(e->d_name, "lower_", 6) == 0)
            found = find_bond(root, e->d_name + 6, bond, depth + 1);
    if (d)
        closedir(d);
    return found;
}

static void read_members(const char *root, struct local_link *l)
{
    char line[1024], state[32], *save = NULL;

    if (!read_line(line, sizeof line, "%s/sys/class/net/%s/bonding/slaves", root, l->bond))
        return;
    for (char *name = strtok_r(line, " ", &save); name && l->n_members < HASH_MEMBERS_MAX;
         name = strtok_r(NULL, " ", &save)) {
        snprintf(l->members[l->n_members], IF_NAMESIZE, "%s", name);
        l->up[l->n_members++] =
            !read_line(state, sizeof state, "%s/sys/class/net/%s/operstate", root, name) || strcmp(state, "up") == 0;
    }
}

/* The modes that send by xmit_hash_policy. */
static void read_policy(const char *root, struct local_link *l)
{
    const struct hash_policy *policy;
    struct utsname kernel;
    const char *gen;
    char error[128];

    if (read_line(l->mode, sizeof l->mode, "%s/sys/class/net/%s/bonding/mode", root, l->bond))
        l->mode[strcspn(l->mode, " ")] = '\0';
    if (read_line(l->policy, sizeof l->policy, "%s/sys/class/net/%s/bonding/xmit_hash_policy", root, l->bond))
        l->policy[strcspn(l->policy, " ")] = '\0';
    if (strcmp(l->mode, "802.3ad") != 0 && strcmp(l->mode, "balance-xor") != 0)
        return;
    policy = hash_policy_find_for("linux", l->policy);
    if (!policy)
        return;
    hash_selector_init(&l->selector, policy);
    gen = uname(&kernel) == 0 ? hash_linux_gen_for_kernel(kernel.release, NULL) : NULL;
    if (gen)
        hash_selector_set(&l->selector, "gen", gen, error, sizeof error);
    l->hashed = l->n_members > 0;
}

/* "02:00:00:00:00:01" */
static bool parse_mac(const char *text, uint8_t *mac)
{
    char *end;

    for (int i = 0; i < 6; i++) {
        unsigned long byte = strtoul(text, &end, 16);

        if (end == text || byte > 255 || (i < 5 && *end != ':'))
            return false;
        mac[i] = (uint8_t)byte;
        text = end + 1;
    }
    return true;
}

bool local_link_find(const char *root, const char *interface, struct local_link *l)
{
    char line[64];

    memset(l, 0, sizeof *l);
    snprintf(l->interface, sizeof l->interface, "%s", interface);
    if (read_line(line, sizeof line, "%s/sys/class/net/%s/address", root, interface))
        parse_mac(line, l->mac);
    if (find_bond(root, interface, l->bond, 0)) {
        read_members(root, l);
        read_policy(root, l);
    }
    return true;
}

static const uint8_t *bytes_of(const union conn_address *a)
{
    return a->any.sa_family == AF_INET6 ? (const uint8_t *)&a->in6.sin6_addr : (const uint8_t *)&a->in.sin_addr;
}

static size_t length_of(const union conn_address *a) { return a->any.sa_family == AF_INET6 ? 16 : 4; }

bool local_link_of(const union conn_address *source, struct local_link *out)
{
    struct ifaddrs *list = NULL;
    bool found = false;

    if (getifaddrs(&list))
        return false;
    for (const struct ifaddrs *i = list; i && !found; i = i->ifa_next) {
        union conn_address a;

        if (!i->ifa_addr || i->ifa_addr->sa_family != source->any.sa_family)
            continue;
        memcpy(&a, i->ifa_addr, source->any.sa_family == AF_INET6 ? sizeof a.in6 : sizeof a.in);
        found = memcmp(bytes_of(&a), bytes_of(source), length_of(source)) == 0;
        if (found)
            local_link_find("", i->ifa_name, out);
    }
    freeifaddrs(list);
    return found;
}

/* The next hop's MAC: the server's, when it is on the same link and has been spoken to. */
static bool next_hop(const char *root, const union conn_address *server, uint8_t *mac)
{
    char path[300], line[256], wanted[64];
    bool found = false;
    FILE *f;

    snprintf(path, sizeof path, "%s/proc/net/arp", root);
    conn_print_address(server, wanted, sizeof wanted);
    f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f)) { /* address, type, flags, MAC */
        char *save = NULL, *address = strtok_r(line, " ", &save), *flags, *text;

        strtok_r(NULL, " ", &save);
        flags = strtok_r(NULL, " ", &save);
        text = strtok_r(NULL, " ", &save);
        if (text && strcmp(address, wanted) == 0)
            found = strcmp(flags, "0x0") != 0 && parse_mac(text, mac);
    }
    if (f)
        fclose(f);
    return found;
}

static uint16_t port_of(const union conn_address *a)
{
    return ntohs(a->any.sa_family == AF_INET6 ? a->in6.sin6_port : a->in.sin_port);
}

int local_link_member(const char *root, const struct local_link *l, const union conn_address *source,
                      const union conn_address *server, uint16_t source_port)
{
    struct hash_flow flow = {.ip_version = source->any.sa_family == AF_INET6 ? 6 : 4};
    struct hash_members members;
    struct hash_key key;
    int member;

    if (!l->hashed)
        return -1;
    memcpy(flow.src, bytes_of(source), length_of(source));
    memcpy(flow.dst, bytes_of(server), length_of(server));
    memcpy(flow.smac, l->mac, sizeof flow.smac);
    flow.proto = IPPROTO_TCP;
    flow.sport = source_port;
    flow.dport = port_of(server);
    if (!next_hop(root, server, flow.dmac) && (hash_reads(&l->selector) & HASH_READS_DST_MAC))
        return -1;
    hash_key_flow(&key, &flow);
    hash_members_init(&members, l->n_members);
    for (unsigned i = 0; i < l->n_members; i++)
        if (!l->up[i])
            hash_members_down(&l->selector, &members, i);
    member = hash_pick(&l->selector, &key, &members);
    return member >= 0 ? member : -1;
}

bool local_link_port_is_free(const union conn_address *source, uint16_t port)
{
    union conn_address a = *source;
    int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool good;

    if (a.any.sa_family == AF_INET6)
        a.in6.sin6_port = htons(port);
    else
        a.in.sin_port = htons(port);
    good = fd >= 0 && bind(fd, &a.any, a.any.sa_family == AF_INET6 ? sizeof a.in6 : sizeof a.in) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}

static bool taken(const uint16_t *ports, size_t n, unsigned port)
{
    for (size_t i = 0; i < n; i++)
        if (ports[i] == port)
            return true;
    return false;
}

bool local_link_plan(const char *root, const struct local_link *l, const union conn_address *source,
                     const union conn_address *servers, size_t n, bool reserved,
                     bool (*is_free)(const union conn_address *source, uint16_t port), uint16_t *ports)
{
    unsigned load[HASH_MEMBERS_MAX] = {0}, first = reserved ? RESERVED_FIRST : ORDINARY_FIRST;
    unsigned last = reserved ? RESERVED_LAST : ORDINARY_LAST, usable = 0;

    if (!l->hashed || !(hash_reads(&l->selector) & HASH_READS_SRC_PORT))
        return false;
    for (unsigned i = 0; i < l->n_members; i++)
        usable += l->up[i];
    for (size_t i = 0; usable && i < n; i++) {
        unsigned least = UINT32_MAX;
        bool done = false;

        for (unsigned m = 0; m < l->n_members; m++)
            if (l->up[m] && load[m] < least)
                least = load[m];
        for (unsigned port = first; !done && port <= last; port++) {
            int member;

            if (taken(ports, i, port))
                continue;
            member = local_link_member(root, l, source, &servers[i], (uint16_t)port);
            if (member < 0 || load[member] != least || !is_free(source, (uint16_t)port))
                continue;
            ports[i] = (uint16_t)port;
            load[member]++;
            done = true;
        }
        if (!done)
            return false;
    }
    return usable > 0;
}

bool local_link_source(const union conn_address *server, union conn_address *source)
{
    int fd = socket(server->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof *source;
    bool good;

    memset(source, 0, sizeof *source);
    good = fd >= 0 &&
           connect(fd, &server->any, server->any.sa_family == AF_INET6 ? sizeof server->in6 : sizeof server->in) == 0 &&
           getsockname(fd, &source->any, &size) == 0;
    if (fd >= 0)
        close(fd);
    return good;
}
