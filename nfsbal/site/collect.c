/* Sources: esxcli reference (network nic stats), ONTAP command reference (statistics show -object nic_common), Cisco IOS, NX-OS and
 * Arista EOS `show interfaces`, Junos CLI reference, Linux Documentation/ABI/testing/sysfs-class-net-statistics.
 */
#include "nfsbal/site/collect.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

struct collect {
    enum topo_kind kind;
    const char *model; /* beginning of the node's model, or NULL: any */
    bool advice;
    const char
        *command; /* {ports}: names of the ports, {port:}: what stands before a port's name, "sw1:" or "fas:n1." */
};

#define SYSFS                                                                                   \
    "for n in {ports}; do s=/sys/class/net/$n/statistics; printf '%s\\t{port:}%s\\t%s\\t%s\\n'" \
    " $(date +%s) $n $(cat $s/rx_bytes $s/tx_bytes); done"
#define BY_HAND "write the counters of {ports} as lines time<TAB>{port:}PORT<TAB>rx_bytes<TAB>tx_bytes"

/* The first row that fits counts. */
static const struct collect rows[] = {
    {TOPO_ESXI, NULL, false, "date +%s; for n in {ports}; do esxcli network nic stats get -n $n; done"},
    {TOPO_LINUX, NULL, false, SYSFS},
    {TOPO_ROUTER, NULL, false, SYSFS},
    {TOPO_SWITCH, "cisco-nexus", false, "show interface | include \"is up|is down|input packets|output packets\""},
    {TOPO_SWITCH, "nexus", false, "show interface | include \"is up|is down|input packets|output packets\""},
    {TOPO_SWITCH, "cisco", false, "show interfaces | include line protocol|packets input|packets output"},
    {TOPO_SWITCH, "catalyst", false, "show interfaces | include line protocol|packets input|packets output"},
    {TOPO_SWITCH, "arista", false, "show interfaces | include line protocol|packets input|packets output"},
    {TOPO_SWITCH, "juniper", false, "show interfaces extensive | match \"Physical interface|bytes\""},
    {TOPO_SWITCH, NULL, true, BY_HAND},
    {TOPO_NAS, "netapp", false, "statistics show -object nic_common -counter rx_bytes|tx_bytes -raw"},
    {TOPO_NAS, "truenas", false, SYSFS},
    {TOPO_NAS, NULL, true, BY_HAND},
};

static void put_ports(const struct topo *t, int box, char *out, size_t size)
{
    const struct topo_box *b = &t->boxes[box];
    size_t at = 0;

    for (int p = b->first_port; p < b->first_port + b->n_ports && at < size; p++) {
        const char *dot = b->part ? strchr(t->ports[p].name, '.') : NULL;

        if (t->ports[p].link >= 0)
            at += (size_t)snprintf(out + at, size - at, "%s%s", at ? " " : "", dot ? dot + 1 : t->ports[p].name);
    }
}

bool collect_box(const struct topo *t, int box, char *out, size_t size, bool *advice)
{
    const struct topo_node *node = &t->nodes[t->boxes[box].node];
    const struct collect *row = rows;
    char ports[2048] = "";
    size_t at = 0;

    put_ports(t, box, ports, sizeof ports);
    if (!*ports)
        return false;
    while (row->kind != node->kind ||
           (row->model && (!node->model || strncasecmp(node->model, row->model, strlen(row->model)) != 0)))
        row++;
    *advice = row->advice;
    out[0] = '\0';
    for (const char *p = row->command; *p && at + 1 < size;) {
        if (strncmp(p, "{ports}", 7) == 0) {
            at += (size_t)snprintf(out + at, size - at, "%s", ports);
            p += 7;
        } else if (strncmp(p, "{port:}", 7) == 0) {
            at += (size_t)snprintf(out + at, size - at, "%s:%s%s", node->name,
                                   t->boxes[box].part ? t->boxes[box].part : "", t->boxes[box].part ? "." : "");
            p += 7;
        } else {
            out[at++] = *p++;
            out[at] = '\0';
        }
    }
    return true;
}
