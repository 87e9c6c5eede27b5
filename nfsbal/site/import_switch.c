/* Switches: `show etherchannel summary` and its relatives; and what neighbours say about themselves, lldpd's JSON. Sources: Cisco
 * IOS and NX-OS command references, lldpctl(8).
 */
#include "nfsbal/site/import_model.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "emu/report/json.h"
#include "hashes/policy.h"

static struct import_device *switch_box(const struct import_input *in)
{
    in->device->kind = IMPORT_SWITCH;
    return in->device;
}

/* ---- port channels ---- */

/* "Gi1/0/21(P)" -> the port; the flag is left out. False: no such word. */
static bool take_member(struct import *m, struct import_team *t, const char *word, size_t n)
{
    size_t name = 0;

    while (name < n && word[name] != '(')
        name++;
    if (name == n || name == 0)
        return false;
    import_word(m, &t->members, import_port_name(m, import_copy(m, word, name)));
    return true;
}

/* One line below the heading: "11   Po11(SU)  LACP  Gi1/0/21(P) ...", NX-OS with a type between, or only more ports. */
static struct import_team *take_channel_line(const struct import_input *in, struct import_team *t, const char *line,
                                             const char *end)
{
    bool first = true, own = false;

    for (const char *p = line; p < end;) {
        const char *word;
        size_t n;

        while (p < end && (isspace((unsigned char)*p) || *p == ','))
            p++;
        word = p;
        while (p < end && !isspace((unsigned char)*p) && *p != ',')
            p++;
        n = (size_t)(p - word);
        if (n == 0)
            break;
        if (first && isdigit((unsigned char)*word)) {
            own = true;
            t = NULL;
        } else if (n > 2 && strncasecmp(word, "Po", 2) == 0 && (isdigit((unsigned char)word[2]) || word[2] == 'r')) {
            t = import_team(in->m, in->device, NULL,
                            import_port_name(in->m, import_copy(in->m, word, strcspn(word, "( \n\r"))), IMPORT_CHANNEL);
            t->mode = "static";
        } else if (t && n == 4 && strncasecmp(word, "LACP", 4) == 0) {
            t->mode = "lacp";
        } else if (t && n == 4 && strncasecmp(word, "PAgP", 4) == 0) {
            import_warn(in, "%s uses PAgP, which only Cisco's own switches answer: taken as static", t->name);
        } else if (t && !own && first && !memchr(word, '(', n)) {
            return NULL; /* another paragraph */
        } else if (t) {
            take_member(in->m, t, word, n);
        }
        first = false;
    }
    return t;
}

static void read_channels(const struct import_input *in)
{
    struct import_team *t = NULL;
    bool below = false;

    switch_box(in)->channels_known = true;
    for (const char *line = in->text; line && *line;) {
        const char *end = line + strcspn(line, "\n"), *p = line + strspn(line, " \t");

        if (strncmp(p, "---", 3) == 0)
            below = true;
        else if (below && p < end)
            t = take_channel_line(in, t, p, end);
        line = *end ? end + 1 : NULL;
    }
}

/* "EtherChannel Load-Balancing Configuration:\n  src-dst-ip", NX-OS "System: source-dest-ip". */
static void read_balance(const struct import_input *in)
{
    const char *p = strstr(in->text, "Configuration");
    const char *name;

    switch_box(in);
    for (p = p ? strchr(p, '\n') : in->text; p && *p; p += strcspn(p, " \t\r\n:")) {
        p += strspn(p, " \t\r\n:");
        name = arena_printf(in->m->arena, "cisco-%.*s", (int)strcspn(p, " \t\r\n:"), p);
        if (hash_policy_find(name)) {
            in->device->hash = name;
            return;
        }
    }
    import_warn(in, "its load balancing is none of the rules that are known");
}

static void read_mtu(const struct import_input *in)
{
    const char *p = strstr(in->text, "System Jumbo MTU size is");

    switch_box(in);
    if (!p)
        p = strstr(in->text, "MTU size is");
    if (p)
        in->device->mtu = import_number(strstr(p, " is") + 3);
}

/* "cisco WS-C3750X-48 (PowerPC405) processor", "Arista DCS-7050TX": vendor and product. */
static void read_version(const struct import_input *in)
{
    for (const char *line = in->text; line && *line;) {
        size_t n = strcspn(line, "\n");
        const char *p = line + strspn(line, " \t");

        if (strncasecmp(p, "cisco ", 6) == 0 && strncmp(p + 6, "IOS", 3) != 0 &&
            strncasecmp(p + 6, "Nexus Op", 8) != 0) {
            size_t word = strcspn(p + 6, " \r\n(");

            if (strncmp(p + 6, "Nexus", 5) == 0)
                word = 5 + 1 + strcspn(p + 12, " \r\n(");
            in->device->model = import_name(in->m, arena_printf(in->m->arena, "cisco-%.*s", (int)word, p + 6));
            break;
        }
        line = line[n] ? line + n + 1 : NULL;
    }
    if (in->device->model)
        switch_box(in);
}

/* ---- lldpctl -f json ---- */

static const char *text_of(struct import *m, const struct json_in *v)
{
    const char *text = json_in_text(v);

    return text && *text ? import_copy(m, text, strlen(text)) : NULL;
}

/* Some versions print a thing as an array of one. */
static const struct json_in *single(const struct json_in *v) { return json_in_is_array(v) ? json_in_element(v, 0) : v; }

static void take_neighbour(const struct import_input *in, const char *name, const struct json_in *v)
{
    const struct json_in *chassis = single(json_in_member(v, "chassis")), *port = single(json_in_member(v, "port"));
    const struct json_in *id = single(json_in_member(port, "id"));
    const char *system = json_in_next_key(chassis, NULL), *type = text_of(in->m, json_in_member(id, "type"));
    const char *where = text_of(in->m, json_in_member(id, "value")),
               *descr = text_of(in->m, single(json_in_member(port, "descr")));
    const struct json_in *about = json_in_member(chassis, system ? system : "");
    struct import_nic *n = import_nic(in->m, in->device, NULL, name);

    if (n->peer_port)
        return;
    if (!json_in_next_key(about, NULL)) { /* a chassis without a system name has no name above it */
        system = json_in_text(json_in_member(single(json_in_member(chassis, "id")), "value"));
        about = chassis;
    }
    if (!system || (!where && !descr))
        return;
    n->peer = import_copy(in->m, system, strlen(system));
    /* A port ID may be a MAC address or a number of no meaning; the description is then the port's name. */
    n->peer_port = (type && (!strcmp(type, "ifname") || !strcmp(type, "ifalias"))) || !descr ? where : descr;
    n->peer_type = text_of(in->m, single(json_in_member(about, "descr")));
}

static void take_interfaces(const struct import_input *in, const struct json_in *v)
{
    for (const char *k = NULL; (k = json_in_next_key(v, k));)
        take_neighbour(in, import_copy(in->m, k, strlen(k)), json_in_member(v, k));
}

static void read_lldp(const struct import_input *in)
{
    const char *p = in->text + strspn(in->text, " \t\r\n");
    const struct json_in *list;
    char problem[256];
    struct json_in *root;

    if (*p != '{') {
        import_warn(in, "only the JSON form is read: lldpctl -f json");
        return;
    }
    root = json_in_parse(in->text, (size_t)(in->end - in->text), problem, sizeof problem);
    if (!root) {
        import_error(in, "%s", problem);
        return;
    }
    list = json_in_member(json_in_member(root, "lldp"), "interface");
    for (size_t i = 0; i < json_in_size(list); i++)
        take_interfaces(in, json_in_element(list, i));
    if (!json_in_is_array(list))
        take_interfaces(in, list);
    json_in_free(root);
}

const struct import_row import_switch_rows[] = {
    {"etherchannel-summary", "Group  Port-channel", read_channels},
    {"port-channel-summary", "Group Port-", read_channels},
    {"etherchannel-load-balance", "EtherChannel Load-Balancing", read_balance},
    {"port-channel-load-balance", NULL, read_balance},
    {"system-mtu", "System Jumbo MTU", read_mtu},
    {"show-version", NULL, read_version},
    {"lldpctl", "\"lldp\":", read_lldp},
    {"lldpcli", NULL, read_lldp},
    {"lldp", NULL, read_lldp},
    {NULL, NULL, NULL},
};
