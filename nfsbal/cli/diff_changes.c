/* Steps of a diff that change the site before any datastore moves: addresses, controllers, volumes, hashes. */
#include <string.h>

#include "emu/report/json.h"
#include "nfsbal/cli/diff_text.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/plan/diff.h"

enum { IP4_ICMP = 28 };

static const char *target(const struct diff_change *c, size_t word) { return c->change.words.words[word]; }

static void print_address(const struct diff *x, const struct diff_change *c, FILE *out)
{
    const char *host = target(c, 1), *iface = target(c, 2), *now = c->change.from, *then = target(c, 3);
    int box = topo_find_box(x->today, host);
    bool esxi = box >= 0 && emit_is_esxi(x->today, box);
    unsigned mtu = 1500;
    for (size_t i = 0; i < x->today->n_ifaces; i++)
        if (x->today->ifaces[i].box == box && !strcmp(x->today->ifaces[i].name, iface))
            mtu = x->today->ifaces[i].mtu;
    fprintf(out,
            "   pre-check, only reads: nobody has %s (IPAM; arping -D -I INTERFACE %s); the export rules give it\n"
            "      read-write and root access\n",
            then, then);
    if (esxi) {
        fprintf(out, "   a  maintenance mode on %s: its VMs move to the others\n", host);
        fprintf(out, "   b  on %s: esxcli network ip interface ipv4 set -i %s -t static -I %s -N NETMASK\n", host,
                iface, then);
        fprintf(out, "   c  check: vmkping -I %s -d -s %u VIP for each VIP; esxcli storage nfs list: all accessible\n",
                iface, mtu - IP4_ICMP);
        fputs("   d  leave maintenance mode; the next host only when this one is well\n", out);
    } else {
        fprintf(out, "   a  on %s: stop what uses the mounts, unmount them\n", host);
        fprintf(out, "   b  give %s the address %s instead of %s where the system keeps it, and bring it up\n", iface,
                then, now);
        fputs("   c  mount again, check with findmnt, start what uses the mounts\n", out);
    }
    fprintf(out, "   -- point of no return: none\n   rollback  a, then b with %s\n", now);
}

/* What a binding of this host mounts, where that is not part of a datastore's step; else NULL. */
static const struct topo_mount *bound_mount(const struct diff *x, const struct diff_change *c, const char *host,
                                            int box)
{
    int datastore = topo_find_datastore(x->goal, target(c, 1));
    if (c->change.lever != PLAN_LEVER_VMK_BINDING || strcmp(target(c, 2), host) != 0 || datastore < 0 ||
        diff_moves(x, datastore, box))
        return NULL;
    for (size_t m = 0; m < x->goal->n_mounts; m++)
        if (x->goal->mounts[m].datastore == datastore && x->goal->mounts[m].host == box)
            return &x->goal->mounts[m];
    return NULL;
}

/* The bindings of a host that are a step of their own, the first of which is c: it mounts the same strings again, so that
 * datastores keep their identity. */
static void print_bindings(const struct diff *x, size_t first, FILE *out)
{
    const char *host = target(&x->changes[first], 2);
    int box = topo_find_box(x->today, host);
    fputs("   pre-check, only reads: the release binds mounts (esxcli system version get); the former strings: esxcli "
          "storage "
          "nfs\n"
          "      list; the export rules give the interfaces' addresses read-write and root access, and they reach the "
          "VIPs:\n",
          out);
    for (size_t i = first; i < x->n_changes; i++) {
        const struct topo_mount *m = bound_mount(x, &x->changes[i], host, box);
        if (m)
            fprintf(out, "      vmkping -I %s -d -s %u %s\n", x->goal->ifaces[m->iface].name,
                    x->goal->ifaces[m->iface].mtu - IP4_ICMP, x->goal->vips[m->vip].text);
    }
    fprintf(
        out,
        "   a  maintenance mode on %s: its VMs move to the others; no HA heartbeat, scratch or log of the host is on "
        "these\n",
        host);
    for (size_t i = first; i < x->n_changes; i++) {
        const struct topo_mount *m = bound_mount(x, &x->changes[i], host, box);
        if (m) {
            fprintf(out, "   b  on %s: unmount %s, then ", host, target(&x->changes[i], 1));
            emit_command(out, x->goal, m);
            fputc('\n', out);
        }
    }
    fprintf(out,
            "      (the wording of -I is not confirmed by a public document: esxcli storage nfs add --help shows it)\n"
            "   c  check: the same volume UUID as on the other hosts (the string is the same); esxcli network ip "
            "connection "
            "list\n"
            "      shows the address of the interface\n"
            "   d  leave maintenance mode; the next host only when this one is well\n"
            "   -- point of no return: none\n   rollback  a, then mount as before: the same without -I, or with %s\n",
            x->changes[first].change.from ? x->changes[first].change.from : "the former interface");
}

static bool is_ontap(const struct diff *x)
{
    for (size_t n = 0; n < x->today->n_nodes; n++)
        if (x->today->nodes[n].kind == TOPO_NAS && x->today->nodes[n].model &&
            strncmp(x->today->nodes[n].model, "netapp", 6) == 0)
            return true;
    return false;
}

static void print_home(const struct diff *x, const struct diff_change *c, FILE *out)
{
    const char *vip = target(c, 1), *to = target(c, 2);
    if (is_ontap(x))
        fprintf(out,
                "   pre-check, only reads: network interface show -address %s; the broadcast domain has a port on %s\n"
                "   a  network interface modify -vserver SVM -lif LIF -home-node %s -home-port PORT\n"
                "   b  network interface revert -vserver SVM -lif LIF\n",
                vip, to, to);
    else
        fprintf(out,
                "   a  move %s to controller %s in the NAS; clients stay connected while it answers again at once\n",
                vip, to);
    fprintf(out,
            "   check: the switches have learned its address there (gratuitous ARP); hosts still reach it\n"
            "   -- point of no return: none\n   rollback  the same with %s\n",
            c->change.from);
}

static void print_owner(const struct diff *x, const struct diff_change *c, FILE *out)
{
    const char *to = target(c, 2);
    if (is_ontap(x))
        fprintf(out,
                "   pre-check, only reads: an aggregate of %s has the space; no snapshot policy or mirror forbids it\n"
                "   a  volume move start -vserver SVM -volume VOLUME -destination-aggregate AGGREGATE-OF-%s\n"
                "   b  volume move show: until it is done; clients notice a pause of seconds at the cut-over\n",
                to, to);
    else
        fprintf(out, "   a  move the volume to controller %s in the NAS, while it is in use\n", to);
    fprintf(out, "   -- point of no return: none\n   rollback  the same to %s\n", c->change.from);
}

static void print_hash(const struct diff_change *c, FILE *out)
{
    const char *sw = target(c, 1), *then = target(c, 2), *now = c->change.from;
    bool cisco = strncmp(then, "cisco-", 6) == 0 && now && strncmp(now, "cisco-", 6) == 0;
    fprintf(
        out,
        "   it holds for the whole switch: every port channel of %s chooses anew, also for other traffic, and a few\n"
        "   frames may arrive out of order at that moment. One switch at a time\n",
        sw);
    fputs("   pre-check, only reads: show the present setting and save the configuration\n", out);
    if (cisco)
        fprintf(out, "   a  on %s: port-channel load-balance %s\n", sw, then + 6);
    else
        fprintf(out, "   a  on %s: set the hash of port channels to %s\n", sw, then);
    fputs("   b  check: nfsbal verify with the counters of before and after\n   -- point of no return: none\n", out);
    if (cisco)
        fprintf(out, "   rollback  port-channel load-balance %s\n", now + 6);
    else
        fprintf(out, "   rollback  back to %s\n", now ? now : "the former setting");
}

bool diff_moves(const struct diff *x, int datastore, int host)
{
    for (size_t s = 0; s < x->n_steps; s++)
        for (size_t m = 0; m < x->steps[s].n_mounts && x->steps[s].datastore == datastore; m++)
            if (x->steps[s].mounts[m].goal->host == host && x->steps[s].cost != PLAN_ROLLING)
                return true;
    return false;
}

size_t diff_site_steps(const struct diff *x)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n_changes; i++)
        n += !x->changes[i].follows;
    return n;
}

void diff_changes_text(const struct diff *x, FILE *out)
{
    size_t number = 0;
    for (size_t i = 0; i < x->n_changes; i++) {
        const struct diff_change *c = &x->changes[i];
        if (c->follows)
            continue;
        enum plan_cost cost = plan_lever_cost(c->change.lever);
        const struct plan_way_facts *way = plan_way(plan_change_way(x->goal, &c->change));
        fprintf(out, "\n%zu  ", ++number);
        if (c->change.lever == PLAN_LEVER_VMK_BINDING)
            fprintf(out, "%s: datastores bound to interfaces", target(c, 2));
        else
            plan_change_print(&c->change, out);
        fprintf(out, "   class %d: %s   %s since %s\n", (int)cost, plan_cost_name(cost),
                plan_support_name(way->support), way->since);
        switch (c->change.lever) {
        case PLAN_LEVER_VMK_ADDRESS:
            print_address(x, c, out);
            break;
        case PLAN_LEVER_LIF_HOME:
            print_home(x, c, out);
            break;
        case PLAN_LEVER_VOLUME_OWNER:
            print_owner(x, c, out);
            break;
        case PLAN_LEVER_SWITCH_HASH:
            print_hash(c, out);
            break;
        case PLAN_LEVER_VMK_BINDING:
            print_bindings(x, i, out);
            break;
        case PLAN_LEVER_VIP:
        case PLAN_LEVER_NAMES:
        case PLAN_LEVERS:
            break;
        }
        fprintf(out, "   busiest NAS link then: %.4g flows%s%s\n", c->busiest, c->linkdir < 0 ? "" : ", ",
                c->linkdir < 0 ? "" : topo_linkdir_name(x->goal, c->linkdir));
    }
}

void diff_changes_json(const struct diff *x, struct json_out *j)
{
    json_out_array(j, "site_changes", JSON_ON_LINES);
    for (size_t i = 0; i < x->n_changes; i++) {
        const struct diff_change *c = &x->changes[i];
        json_out_object(j, NULL, JSON_ON_LINES);
        json_out_string(j, "lever", plan_lever_name(c->change.lever));
        json_out_integer(j, "class", plan_lever_cost(c->change.lever));
        json_out_string(j, "stops", plan_cost_name(plan_lever_cost(c->change.lever)));
        json_out_string(j, "from", c->change.from);
        json_out_array(j, "do", JSON_ON_ONE_LINE);
        for (size_t k = 0; k < TOPO_CHANGE_WORDS && c->change.words.words[k]; k++)
            json_out_string(j, NULL, c->change.words.words[k]);
        json_out_end(j);
        json_out_object(j, "busiest_nas_link", JSON_ON_ONE_LINE);
        json_out_string(j, "link", c->linkdir < 0 ? NULL : topo_linkdir_name(x->goal, c->linkdir));
        json_out_real(j, "flows", c->busiest);
        json_out_end(j);
        json_out_end(j);
    }
    json_out_end(j);
}
