#include "nfsbal/cli/diff_text.h"

#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "emu/model/path.h"
#include "emu/report/json.h"
#include "nfsbal/emit/mount.h"
#include "nfsbal/emit/quote.h"
#include "nfsbal/plan/diff.h"

enum { SERVER = 1024, IP4_ICMP = 28, IP6_ICMP = 48 };

static const char *plural(size_t n) { return n == 1 ? "" : "s"; }

static const char *host_name(const struct diff *x, const struct topo_mount *m) { return x->goal->boxes[m->host].name; }

/* ---- runs of mounts that are alike ---- */

typedef bool same_fn(const struct diff *x, const struct diff_mount *a, const struct diff_mount *b);

static bool same_today(const struct diff *x, const struct diff_mount *a, const struct diff_mount *b)
{
    (void)x;
    return a->today && b->today && !strcmp(a->today->server, b->today->server) &&
           !strcmp(a->today->path, b->today->path) && emit_same_binding(x->today, a->today, b->today);
}

static bool same_goal(const struct diff *x, const struct diff_mount *a, const struct diff_mount *b)
{
    return !strcmp(a->goal->server, b->goal->server) && !strcmp(a->goal->path, b->goal->path) &&
           a->goal->asked == b->goal->asked && emit_same_binding(x->goal, a->goal, b->goal) &&
           emit_is_esxi(x->goal, a->goal->host) == emit_is_esxi(x->goal, b->goal->host);
}

/* True when mounts[i] is the first of those like it. */
static bool leads(const struct diff *x, const struct diff_step *s, size_t i, same_fn *same)
{
    for (size_t k = 0; k < i; k++)
        if (same(x, &s->mounts[k], &s->mounts[i]))
            return false;
    return true;
}

static void print_hosts(const struct diff *x, const struct diff_step *s, size_t like, same_fn *same, FILE *out)
{
    const char *comma = "";
    for (size_t i = 0; i < s->n_mounts; i++)
        if (!same || same(x, &s->mounts[like], &s->mounts[i])) {
            fprintf(out, "%s%s", comma, host_name(x, s->mounts[i].goal));
            comma = ", ";
        }
}

static bool any_esxi(const struct diff *x, const struct diff_step *s)
{
    for (size_t i = 0; i < s->n_mounts; i++)
        if (emit_is_esxi(x->goal, s->mounts[i].goal->host))
            return true;
    return false;
}

/* ---- before anything ---- */

static bool uses_vip(const struct topo *t, int host, int vip)
{
    for (size_t m = 0; m < t->n_mounts; m++)
        if (t->mounts[m].host == host && t->mounts[m].vip == vip)
            return true;
    return false;
}

/* The mount by which a host meets a VIP for the first time, or NULL. */
static const struct topo_mount *first_meeting(const struct diff *x, int host, int vip)
{
    for (size_t i = 0; i < x->goal->n_mounts; i++) {
        const struct topo_mount *m = &x->goal->mounts[i];
        if (m->host == host && m->vip == vip)
            return m->iface < 0 || uses_vip(x->today, host, vip) ? NULL : m;
    }
    return NULL;
}

static void print_ping(const struct topo *t, const struct topo_mount *m, FILE *out)
{
    const struct topo_iface *iface = &t->ifaces[m->iface];
    const struct topo_vip *vip = &t->vips[m->vip];
    unsigned size = iface->mtu - (vip->addr.version == 6 ? IP6_ICMP : IP4_ICMP);
    if (emit_is_esxi(t, m->host))
        fprintf(out, "vmkping %s-I %s -d -s %u %s", vip->addr.version == 6 ? "-6 " : "", iface->name, size, vip->text);
    else
        fprintf(out, "ping -c 3 -M do -I %s -s %u %s", iface->name, size, vip->text);
}

static bool same_ping(const struct topo *t, const struct topo_mount *a, const struct topo_mount *b)
{
    const struct topo_iface *i = &t->ifaces[a->iface], *k = &t->ifaces[b->iface];
    return a->vip == b->vip && emit_is_esxi(t, a->host) == emit_is_esxi(t, b->host) && !strcmp(i->name, k->name) &&
           i->mtu == k->mtu;
}

/* A ping that proves the way and the MTU, for each host and VIP that meet for the first time; hosts with equal ones together. */
static void print_pings(const struct diff *x, FILE *out)
{
    const struct topo *t = x->goal;
    int n = (int)t->n_boxes;
    for (int vip = 0; vip < (int)t->n_vips; vip++)
        for (int host = 0; host < n; host++) {
            const struct topo_mount *m = first_meeting(x, host, vip), *other;
            bool first = m != NULL;
            for (int k = 0; k < host && first; k++)
                first = !((other = first_meeting(x, k, vip)) && same_ping(t, other, m));
            if (!first)
                continue;
            fprintf(out, "   [0]  on %s", t->boxes[host].name);
            for (int k = host + 1; k < n; k++)
                if ((other = first_meeting(x, k, vip)) && same_ping(t, m, other))
                    fprintf(out, ", %s", t->boxes[k].name);
            fputs(": ", out);
            print_ping(t, m, out);
            fputc('\n', out);
        }
}

/* Mounts of a host to a VIP where they are more than SunRPC.MaxConnPerIP, its limit into *limit; else 0. */
static unsigned sharing(const struct topo *t, int host, int vip, unsigned *limit)
{
    bool given;
    unsigned n = 0;
    if (!emit_is_esxi(t, host))
        return 0;
    *limit = topo_connections_per_ip(&t->nodes[t->boxes[host].node], &given);
    for (size_t m = 0; m < t->n_mounts; m++)
        n += t->mounts[m].host == host && t->mounts[m].vip == vip;
    return n > *limit ? n : 0;
}

/* Hosts that would share connections because one VIP has more mounts than SunRPC.MaxConnPerIP, those that are alike together. */
static void print_limits(const struct diff *x, FILE *out)
{
    const struct topo *t = x->goal;
    int hosts = (int)t->n_boxes;
    for (int vip = 0; vip < (int)t->n_vips; vip++)
        for (int host = 0; host < hosts; host++) {
            unsigned limit, other, n = sharing(t, host, vip, &limit);
            bool first = n > 0;
            for (int k = 0; k < host && first; k++)
                first = sharing(t, k, vip, &other) != n || other != limit;
            if (!first)
                continue;
            fprintf(out, "   [1]  %s", t->boxes[host].name);
            for (int k = host + 1; k < hosts; k++)
                if (sharing(t, k, vip, &other) == n && other == limit)
                    fprintf(out, ", %s", t->boxes[k].name);
            fprintf(
                out,
                ": %u mounts to %s share %u connections; SunRPC.MaxConnPerIP %u -> %u gives each its own (reboot)\n", n,
                t->vips[vip].text, limit, limit, n);
        }
}

static void print_before(const struct diff *x, FILE *out)
{
    fputs("\n0  before anything: what only reads\n", out);
    print_pings(x, out);
    fputs("   [0]  the export rules of the NAS give every host below read-write and root access on its new address\n",
          out);
    print_limits(x, out);
}

/* ---- a step ---- */

static void print_head(const struct diff *x, size_t i, enum diff_way way, FILE *out)
{
    const struct diff_step *s = &x->steps[i];
    const struct topo_datastore *ds = &x->goal->datastores[s->datastore];
    fprintf(out, "\n%zu  %s", diff_site_steps(x) + i + 1, ds->name);
    if (s->host >= 0)
        fprintf(out, " on %s", x->goal->boxes[s->host].name);
    if (s->can_copy && way != DIFF_OUTAGE)
        fprintf(out, "   class %d: %s%s", (int)PLAN_COPY, plan_cost_name(PLAN_COPY), way == DIFF_BOTH ? ", or" : "");
    if (!s->can_copy || way != DIFF_COPY)
        fprintf(out, "%s class %d: %s", s->can_copy && way == DIFF_BOTH ? "" : "  ", (int)s->cost,
                plan_cost_name(s->cost));
    if (s->vms > 0 && (!s->can_copy || way != DIFF_COPY))
        fprintf(out, ", %u VM%s off", s->vms, plural(s->vms));
    for (size_t h = 0; h < ds->n_holds; h++)
        fprintf(out, "%s%s", h ? ", " : "; holds ", ds->holds[h]);
    fputc('\n', out);
    for (size_t m = 0; m < s->n_mounts; m++) {
        const struct diff_mount *change = &s->mounts[m];
        if (change->today && leads(x, s, m, same_today)) {
            fprintf(out, "   today  %s (", change->today->server);
            print_hosts(x, s, m, same_today, out);
            fputs(")\n", out);
        }
    }
    for (size_t m = 0; m < s->n_mounts; m++)
        if (leads(x, s, m, same_goal)) {
            fprintf(out, "   then   %s", s->mounts[m].goal->server);
            if (strcmp(s->mounts[m].goal->server, x->goal->vips[s->mounts[m].goal->vip].text) != 0)
                fprintf(out, " = %s", x->goal->vips[s->mounts[m].goal->vip].text);
            fputs(" (", out);
            print_hosts(x, s, m, same_goal, out);
            fputs(")\n", out);
        }
    if (s->drift)
        fprintf(out, "   repairs the drift on the way: most hosts have %s today, not all\n", s->drift);
}

static void print_mounts(const struct diff *x, const struct diff_step *s, const char *letter, FILE *out)
{
    for (size_t m = 0; m < s->n_mounts; m++)
        if (leads(x, s, m, same_goal)) {
            fprintf(out, "   %s  on ", letter);
            print_hosts(x, s, m, same_goal, out);
            fputs(": ", out);
            emit_command(out, x->goal, s->mounts[m].goal);
            fputc('\n', out);
        }
}

static void print_former(const struct diff *x, const struct diff_step *s, FILE *out)
{
    for (size_t m = 0; m < s->n_mounts; m++)
        if (s->mounts[m].today && leads(x, s, m, same_today)) {
            fputs("   rollback  on ", out);
            print_hosts(x, s, m, same_today, out);
            fputs(": a, b, then ", out);
            emit_command(out, x->today, s->mounts[m].today);
            fputc('\n', out);
        }
}

/* A datastore that gets a name of its own with this step: later moves are rolling. */
static void print_name(const struct diff *x, const struct diff_step *s, FILE *out)
{
    for (size_t i = 0; i < x->n_changes; i++) {
        const struct diff_change *c = &x->changes[i];
        if (c->change.lever != PLAN_LEVER_NAMES ||
            strcmp(c->change.words.words[1], x->goal->datastores[s->datastore].name) != 0)
            continue;
        fprintf(out,
                "   first   [0] nothing stops: the name %s for %s in DNS, a low TTL; every host resolves it: nslookup\n"
                "           try it on one test datastore first. Later moves of this datastore are rolling then\n",
                c->change.words.words[2], x->goal->vips[s->mounts[0].goal->vip].text);
    }
}

/* "; nfsbal path: esx1 then sends by vmnic5" */
static void print_uplink(const struct diff *x, const struct diff_step *s, FILE *out)
{
    const struct topo_mount *m = s->mounts[0].goal;
    struct flow flow = {.mount = (int)(m - x->goal->mounts),
                        .iface = m->iface,
                        .vip = m->vip,
                        .sport = 1023,
                        .dport = 2049,
                        .sport_origin = TOPO_DRAWN};
    struct path path;
    if (m->vip < 0 || m->iface < 0 || path_walk(x->goal, NULL, &flow, FLOW_WRITE, false, &path) != PATH_OK ||
        path.n_hops == 0 || path.hops[0].index < 0 || path.hops[0].inputs == TOPO_DRAWN)
        return;
    fprintf(out, "; nfsbal path: %s then sends by %s", x->goal->boxes[m->host].name,
            x->goal->ports[topo_linkdir_from(x->goal, path.hops[0].linkdir)].name);
}

static void print_outage(const struct diff *x, const struct diff_step *s, FILE *out)
{
    const char *name = x->goal->datastores[s->datastore].name;
    bool esxi = any_esxi(x, s);
    if (esxi) {
        fputs("   pre-check, only reads\n"
              "      virtual machines and templates registered there: vim-cmd vmsvc/getallvms\n"
              "      an ISO of it attached to a VM elsewhere | HA heartbeat datastore | datastore cluster, Storage I/O "
              "Control\n"
              "      scratch, syslog, core dump or swap location of a host\n"
              "      a backup job that names it | a snapshot or replication on the NAS that names the path\n"
              "      the former string on each host: esxcli storage nfs list\n",
              out);
    } else {
        fputs("   pre-check, only reads\n      who has files open there: fuser -vm MOUNT_POINT\n"
              "      units, containers, backups and exports that name the mount point\n",
              out);
    }
    print_name(x, s, out);
    if (esxi)
        fprintf(
            out,
            "   a  stop and unregister %u VM%s; note folders, tags, permissions: they get new IDs, backups start new "
            "chains\n",
            s->vms, plural(s->vms));
    else
        fputs("   a  stop whatever uses it\n", out);
    fputs("   b  unmount on ALL of ", out);
    print_hosts(x, s, 0, NULL, out);
    fputs(", each checked to be gone", out);
    if (esxi)
        fprintf(out, "; if one keeps it, vCenter names the new one \"%s (1)\"", name);
    fputs("\n   -- point of no return: none; after b the former string can be mounted again\n", out);
    print_mounts(x, s, "c", out);
    fputs(esxi ? "   d  check: the same volume UUID on all hosts; register the VMs; power on one first"
               : "   d  check: findmnt shows the new source on all hosts; start what uses it",
          out);
    print_uplink(x, s, out);
    fputc('\n', out);
    print_former(x, s, out);
}

static void print_rolling(const struct diff *x, const struct diff_step *s, FILE *out)
{
    const struct topo_mount *today = s->mounts[0].today, *goal = s->mounts[0].goal;
    fprintf(
        out,
        "   pre-check, only reads: what the name resolves to now on every host, and for how long (TTL): nslookup %s\n",
        goal->server);
    fprintf(out, "   a  point the name %s to %s instead of %s\n", goal->server, x->goal->vips[goal->vip].text,
            today && today->vip >= 0 ? x->today->vips[today->vip].text : "?");
    /* A mounted datastore keeps the address that its name once resolved to. */
    fputs(any_esxi(x, s) ? "   b  one host at a time: maintenance mode, reboot, leave it: "
                         : "   b  one host at a time: stop what uses it there, unmount, mount, start: ",
          out);
    print_hosts(x, s, 0, NULL, out);
    fputs("\n   c  check on each host: the connection goes to the new address\n"
          "   -- point of no return: none\n",
          out);
    fprintf(out, "   rollback  a with %s, then b\n",
            today && today->vip >= 0 ? x->today->vips[today->vip].text : "the former address");
}

static bool hosts_alike(const struct diff *x, const struct diff_step *s, size_t i, FILE *out)
{
    bool first = leads(x, s, i, same_goal);
    if (first && out)
        print_hosts(x, s, i, same_goal, out);
    return first;
}

/* Both ways, the cheaper first, or the one that is asked for. */
static void print_move(const struct diff *x, const struct diff_step *s, enum diff_way way, FILE *out)
{
    const char *name = x->goal->datastores[s->datastore].name;
    if (s->can_copy && way != DIFF_OUTAGE) {
        fprintf(out, "   %s [2] copy: a new export and Storage vMotion; no outage, needs the space of %s once more\n",
                way == DIFF_BOTH ? "cheaper  " : "by", name);
        diff_copy(x, s, hosts_alike, out);
    }
    if (s->can_copy && way == DIFF_BOTH)
        fprintf(out, "   or        [3] outage: the same datastore by its new string, %u VM%s off\n", s->vms,
                plural(s->vms));
    if (!s->can_copy || way != DIFF_COPY)
        print_outage(x, s, out);
}

static void print_step(const struct diff *x, size_t i, enum diff_way way, FILE *out)
{
    const struct diff_step *s = &x->steps[i];
    print_head(x, i, way, out);
    switch (s->cost) {
    case PLAN_NOTHING_STOPS:
        print_mounts(x, s, "a", out);
        break;
    case PLAN_ROLLING:
        print_rolling(x, s, out);
        break;
    case PLAN_COPY:
    case PLAN_OUTAGE:
        print_move(x, s, way, out);
        break;
    }
    fprintf(out, "   busiest NAS link then: %.4g flow%s%s%s\n", s->busiest, fabs(s->busiest - 1) < 1e-9 ? "" : "s",
            s->linkdir < 0 ? "" : ", ", s->linkdir < 0 ? "" : topo_linkdir_name(x->goal, s->linkdir));
}

/* ", made 3 days ago": by the time of the file. "" when there is none, or it lies ahead. */
static const char *age_words(const char *path, char out[64])
{
    struct stat file;
    time_t now = time(NULL);
    out[0] = '\0';
    if (!strcmp(path, "-") || stat(path, &file) != 0 || file.st_mtime > now)
        return out;
    long hours = (long)((now - file.st_mtime) / 3600), days = hours / 24;
    if (days > 0)
        snprintf(out, 64, ", made %ld day%s ago,", days, plural((size_t)days));
    else if (hours > 0)
        snprintf(out, 64, ", made %ld hour%s ago,", hours, plural((size_t)hours));
    else
        snprintf(out, 64, ", made within the hour,");
    return out;
}

/* "6 of class 2 (copy) or class 3 (outage, 39 VMs)" */
static void print_class(const struct diff *x, int c, size_t n, unsigned vms, enum diff_way way, FILE *out)
{
    size_t copies = c == PLAN_OUTAGE && way != DIFF_OUTAGE ? diff_copies(x) : 0;
    if (copies > 0)
        fprintf(out, "%zu of class %d (%s)", copies, (int)PLAN_COPY, plan_cost_name(PLAN_COPY));
    if (copies > 0 && way == DIFF_COPY && copies == n)
        return;
    if (copies > 0 && copies == n)
        fprintf(out, " or class %d (%s", c, plan_cost_name((enum plan_cost)c));
    else if (copies > 0)
        fprintf(out, ", %zu of class %d (%s", way == DIFF_COPY ? n - copies : n, c, plan_cost_name((enum plan_cost)c));
    else
        fprintf(out, "%zu of class %d (%s", n, c, plan_cost_name((enum plan_cost)c));
    if (vms > 0 && !(copies > 0 && way == DIFF_COPY))
        fprintf(out, ", %u VM%s", vms, plural(vms));
    fputc(')', out);
}

void diff_text(const struct diff *x, const char *plan, enum diff_way way, FILE *out)
{
    size_t site = diff_site_steps(x), steps = x->n_steps + site;
    char age[64];
    fprintf(out, "%s%s fits: nothing that it depends on has changed\n", plan, age_words(plan, age));
    if (steps == 0) {
        fputs("nothing to do: every datastore is mounted as the plan says\n", out);
        return;
    }
    fprintf(out, "%zu step%s:", steps, plural(steps));
    const char *comma = " ";
    for (int c = PLAN_NOTHING_STOPS; c <= (int)PLAN_OUTAGE; c++) {
        unsigned vms;
        size_t n = diff_count(x, (enum plan_cost)c, &vms);
        for (size_t i = 0; i < x->n_changes; i++)
            n += !x->changes[i].follows && (int)plan_lever_cost(x->changes[i].change.lever) == c;
        if (n == 0)
            continue;
        fputs(comma, out);
        print_class(x, c, n, vms, way, out);
        comma = ", ";
    }
    fputs(". Stop after any of them: the site stays consistent\n", out);
    print_before(x, out);
    diff_changes_text(x, out);
    for (size_t i = 0; i < x->n_steps; i++)
        print_step(x, i, way, out);
    fprintf(out, "\nbusiest NAS link after each step: ");
    comma = "";
    for (size_t i = 0; i < x->n_changes; i++)
        if (!x->changes[i].follows) {
            fprintf(out, "%s%.4g", comma, x->changes[i].busiest);
            comma = ", ";
        }
    for (size_t i = 0; i < x->n_steps; i++) {
        fprintf(out, "%s%.4g", comma, x->steps[i].busiest);
        comma = ", ";
    }
    fprintf(out, " flows (today %.4g)\n", x->busiest);
}

/* ---- JSON ---- */

static void json_link(const struct diff *x, struct json_out *j, double flows, int linkdir)
{
    json_out_object(j, "busiest_nas_link", JSON_ON_ONE_LINE);
    json_out_string(j, "link", linkdir < 0 ? NULL : topo_linkdir_name(x->goal, linkdir));
    json_out_real(j, "flows", flows);
    json_out_end(j);
}

static void json_step(const struct diff *x, const struct diff_step *s, struct json_out *j)
{
    json_out_object(j, NULL, JSON_ON_LINES);
    json_out_string(j, "datastore", x->goal->datastores[s->datastore].name);
    json_out_integer(j, "class", s->cost);
    json_out_string(j, "stops", plan_cost_name(s->cost));
    json_out_count(j, "vms", s->vms);
    json_out_bool(j, "can_copy", s->can_copy);
    json_out_bool(j, "repairs_drift", s->drift != NULL);
    json_out_array(j, "mounts", JSON_ON_LINES);
    for (size_t i = 0; i < s->n_mounts; i++) {
        const struct diff_mount *m = &s->mounts[i];
        json_out_object(j, NULL, JSON_ON_ONE_LINE);
        json_out_string(j, "host", host_name(x, m->goal));
        json_out_string(j, "server_today", m->today ? m->today->server : NULL);
        json_out_string(j, "server", m->goal->server);
        json_out_string(j, "vip", x->goal->vips[m->goal->vip].text);
        json_out_string(j, "path", m->goal->path);
        json_out_end(j);
    }
    json_out_end(j);
    json_link(x, j, s->busiest, s->linkdir);
    json_out_end(j);
}

void diff_json(const struct diff *x, const char *plan, FILE *out)
{
    struct json_out j;
    json_out_init(&j, out);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-diff/1");
    json_out_string(&j, "plan", plan);
    json_out_string(&j, "topology", x->goal->name);
    json_out_string(&j, "case", x->goal->case_name);
    json_link(x, &j, x->busiest, x->linkdir);
    diff_changes_json(x, &j);
    json_out_array(&j, "steps", JSON_ON_LINES);
    for (size_t i = 0; i < x->n_steps; i++)
        json_step(x, &x->steps[i], &j);
    json_out_end(&j);
    json_out_end(&j);
}
