/* The first program of a virtual machine: asks the bonding driver of its kernel which member a frame takes.
 *
 *     bond0 = dummy0 .. dummy6, balance-xor; bond0.VLAN on top of it where a flow has a tag
 *
 * Reads /flows.tsv (smac dmac vlan src dst proto sport dport fragment, as scripts/kernel-oracle writes it), sends a frame of
 * each flow with every policy, looks which member has sent it, and prints POLICY FLOW INDEX lines between "begin" and "end".
 * Static and alone: there is no shell in there. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_vlan.h>
#include <linux/sockios.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MEMBERS = 7, FLOWS_MAX = 4096, FRAME_BYTES = 128 };

static const char *const policies[] = {"layer2", "layer2+3", "layer3+4", "encap2+3", "encap3+4", "vlan+srcmac"};

struct flow {
    uint8_t smac[6], dmac[6];
    int vlan; /* 0: none */
    int version;
    uint8_t src[16], dst[16];
    int proto, sport, dport;
    char fragment; /* '-', 'f'irst, 'l'ater */
};

static void __attribute__((noreturn, format(printf, 1, 2))) give_up(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("failed: ");
    vprintf(format, args);
    va_end(args);
    printf(": %s\nend\n", strerror(errno));
    fflush(stdout);
    reboot(RB_AUTOBOOT);
    for (;;)
        pause();
}

/* "name parameters" lines of /modules.list, in an order in which they can be loaded. */
static void load_modules(void)
{
    char line[256];
    FILE *list = fopen("/modules.list", "r");
    while (list && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        char *parameters = strchr(line, ' ');
        if (parameters)
            *parameters++ = '\0';
        int fd = open(line, O_RDONLY);
        if (fd < 0 || (syscall(SYS_finit_module, fd, parameters ? parameters : "", 0) && errno != EEXIST))
            give_up("%s", line);
        close(fd);
    }
}

static void write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        give_up("%s to %s", text, path);
    close(fd);
}

static void bring_up(int ctl, const char *name)
{
    struct ifreq r = {0};
    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    r.ifr_flags = IFF_UP;
    if (ioctl(ctl, SIOCSIFFLAGS, &r))
        give_up("%s up", name);
}

/* The interface for a flow: the bond, or a VLAN of it. */
static int interface_of(int ctl, int vlan)
{
    static int known[4096];
    struct vlan_ioctl_args a = {.cmd = ADD_VLAN_CMD, .device1 = "bond0", .u.VID = vlan};
    char name[IFNAMSIZ];
    if (known[vlan])
        return known[vlan];
    if (vlan && ioctl(ctl, SIOCSIFVLAN, &a))
        give_up("VLAN %d", vlan);
    if (vlan)
        snprintf(name, sizeof name, "bond0.%d", vlan);
    else
        snprintf(name, sizeof name, "bond0");
    bring_up(ctl, name);
    return known[vlan] = (int)if_nametoindex(name);
}

static uint64_t sent_by(int member)
{
    static int fds[MEMBERS];
    char path[64], text[32];
    if (!fds[member]) {
        snprintf(path, sizeof path, "/sys/class/net/dummy%d/statistics/tx_packets", member);
        fds[member] = open(path, O_RDONLY);
    }
    ssize_t n = pread(fds[member], text, sizeof text - 1, 0);
    if (n <= 0)
        give_up("tx_packets of dummy%d", member);
    text[n] = '\0';
    return strtoull(text, NULL, 10);
}

static void put16(uint8_t *at, unsigned value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

/* An untagged frame; the tag is the VLAN interface's. */
static size_t build(const struct flow *f, uint8_t *out)
{
    size_t n = 14, payload = 32;
    unsigned fragment = f->fragment == 'f' ? 0x2000 : f->fragment == 'l' ? 0x2010 : 0;
    memset(out, 0, FRAME_BYTES);
    memcpy(out, f->dmac, 6);
    memcpy(out + 6, f->smac, 6);
    put16(out + 12, f->version == 4 ? 0x0800 : 0x86dd);
    if (f->version == 4) {
        out[n] = 0x45;
        put16(out + n + 2, (unsigned)(20 + payload));
        put16(out + n + 6, fragment);
        out[n + 8] = 64;
        out[n + 9] = (uint8_t)f->proto;
        memcpy(out + n + 12, f->src, 4);
        memcpy(out + n + 16, f->dst, 4);
        n += 20;
    } else {
        out[n] = 0x60;
        put16(out + n + 4, (unsigned)(payload + (fragment ? 8 : 0)));
        out[n + 6] = fragment ? 44 : (uint8_t)f->proto;
        out[n + 7] = 64;
        memcpy(out + n + 8, f->src, 16);
        memcpy(out + n + 24, f->dst, 16);
        n += 40;
        if (fragment) { /* next header, offset and more, identification */
            out[n] = (uint8_t)f->proto;
            put16(out + n + 2, f->fragment == 'f' ? 1 : 0x81);
            n += 8;
        }
    }
    if (f->fragment != 'l') {
        put16(out + n, (unsigned)f->sport);
        put16(out + n + 2, (unsigned)f->dport);
        out[n + 12] = f->proto == 6 ? 0x50 : 0;
        if (f->proto == 17)
            put16(out + n + 4, (unsigned)payload);
    }
    return n + payload;
}

static bool read_mac(const char *text, uint8_t *mac)
{
    unsigned b[6];
    if (sscanf(text, "%x:%x:%x:%x:%x:%x", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5]) != 6)
        return false;
    for (int i = 0; i < 6; i++)
        mac[i] = (uint8_t)b[i];
    return true;
}

static int read_flows(struct flow *flows)
{
    char line[512], smac[32], dmac[32], src[64], dst[64], fragment[16];
    int n = 0;
    FILE *f = fopen("/flows.tsv", "r");
    if (!f || !fgets(line, sizeof line, f))
        give_up("/flows.tsv");
    while (n < FLOWS_MAX && fgets(line, sizeof line, f)) {
        struct flow *w = &flows[n++];
        if (sscanf(line, "%31s %31s %d %63s %63s %d %d %d %15s", smac, dmac, &w->vlan, src, dst, &w->proto, &w->sport,
                   &w->dport, fragment) != 9)
            give_up("line %d of flows.tsv", n + 1);
        w->version = strchr(src, ':') ? 6 : 4;
        w->fragment = fragment[0] == 'n' ? '-' : fragment[0];
        if (!read_mac(smac, w->smac) || !read_mac(dmac, w->dmac) ||
            inet_pton(w->version == 4 ? AF_INET : AF_INET6, src, w->src) != 1 ||
            inet_pton(w->version == 4 ? AF_INET : AF_INET6, dst, w->dst) != 1)
            give_up("line %d of flows.tsv", n + 1);
    }
    fclose(f);
    return n;
}

/* The member that has sent it; kernels of their own accord send little on a dummy, but if they do, ask again. */
static int ask(int packet, int ctl, const struct flow *f)
{
    uint8_t frame[FRAME_BYTES];
    size_t length = build(f, frame);
    struct sockaddr_ll to = {.sll_family = AF_PACKET,
                             .sll_protocol = htons(f->version == 4 ? ETH_P_IP : ETH_P_IPV6),
                             .sll_ifindex = interface_of(ctl, f->vlan),
                             .sll_halen = 6};
    memcpy(to.sll_addr, f->dmac, 6);
    for (int attempt = 0; attempt < 10; attempt++) {
        uint64_t before[MEMBERS];
        int moved = -1, others = 0;
        for (int i = 0; i < MEMBERS; i++)
            before[i] = sent_by(i);
        if (sendto(packet, frame, length, 0, (struct sockaddr *)&to, sizeof to) < 0)
            give_up("sending");
        for (int i = 0; i < MEMBERS; i++) {
            uint64_t more = sent_by(i) - before[i];
            moved = more == 1 ? i : moved;
            others += (int)more;
        }
        if (others == 1)
            return moved;
    }
    return -1;
}

int main(void)
{
    static struct flow flows[FLOWS_MAX];
    char text[64];
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sysfs", "/sys", "sysfs", 0, NULL);
    write_to("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1"); /* no frames but ours */
    write_to("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    load_modules();
    int ctl = socket(AF_INET, SOCK_DGRAM, 0), packet = socket(AF_PACKET, SOCK_RAW, 0);
    int n = read_flows(flows);
    printf("begin\n");
    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        write_to("/sys/class/net/bond0/bonding/xmit_hash_policy", policies[p]);
        for (int i = 0; p == 0 && i < MEMBERS; i++) {
            snprintf(text, sizeof text, "+dummy%d", i);
            write_to("/sys/class/net/bond0/bonding/slaves", text);
        }
        if (p == 0)
            bring_up(ctl, "bond0");
        for (int i = 0; p == 0 && i < MEMBERS; i++) {
            snprintf(text, sizeof text, "dummy%d", i);
            bring_up(ctl, text);
        }
        usleep(p == 0 ? 300000 : 0); /* until miimon has seen them */
        for (int i = 0; i < n; i++)
            printf("%s %d %d\n", policies[p], i, ask(packet, ctl, &flows[i]));
    }
    printf("end\n");
    fflush(stdout);
    reboot(RB_AUTOBOOT);
    for (;;)
        pause();
}
