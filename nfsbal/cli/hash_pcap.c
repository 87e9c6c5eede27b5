/* `nfsbal hash --pcap`: what the captured traffic would do under a policy.
 *
 * Every frame is hashed as it stands. Flows (addresses, protocol, ports, VLAN) are counted in a hash table so that the
 * heaviest flows of the fullest link can be named. libpcap reads both pcap and pcapng.
 */
#include "nfsbal/cli/hash.h"

#include <arpa/inet.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/cli/cli.h"
#include "emu/report/table.h"
#include "nfsbal/cli/hash_json.h"

enum { TOP_FLOWS = 5 };

/* What makes a flow here. Zeroed before it is filled: compared as bytes. */
struct flow_id {
    uint8_t src[HASH_IP_BYTES], dst[HASH_IP_BYTES];
    uint8_t smac[HASH_MAC_BYTES], dmac[HASH_MAC_BYTES]; /* of frames that are not IP */
    uint16_t sport, dport, vlan, ethertype;
    uint8_t ip_version, proto;
};

struct flow_count {
    struct flow_id id;
    uint64_t frames, bytes;
    int link; /* of its latest frame; -1: none yet, or unknown */
};

struct capture {
    const struct hash_command *command;
    struct hash_members members;
    struct hash_pcap_link links[HASH_MEMBERS_MAX];
    uint64_t unknown;         /* frames without an answer */
    struct flow_count *flows; /* open addressing; frames 0: free */
    size_t n_flows, capacity; /* capacity is a power of two */
};

static uint64_t id_hash(const struct flow_id *id)
{
    uint64_t h = 0xcbf29ce484222325u; /* FNV-1a: only spreads our own table */
    for (size_t i = 0; i < sizeof *id; i++)
        h = (h ^ ((const uint8_t *)id)[i]) * 0x100000001b3u;
    return h ^ h >> 32;
}

static struct flow_count *find_slot(struct flow_count *flows, size_t capacity, const struct flow_id *id)
{
    size_t i = id_hash(id) & (capacity - 1);
    while (flows[i].frames && memcmp(&flows[i].id, id, sizeof *id) != 0)
        i = (i + 1) & (capacity - 1);
    return &flows[i];
}

/* The flow's counter, made when it is new. NULL on lack of memory. */
static struct flow_count *find_flow(struct capture *c, const struct flow_id *id)
{
    if (2 * (c->n_flows + 1) > c->capacity) {
        size_t capacity = c->capacity ? 2 * c->capacity : 1024;
        struct flow_count *flows = calloc(capacity, sizeof *flows);
        if (!flows)
            return NULL;
        for (size_t i = 0; i < c->capacity; i++)
            if (c->flows[i].frames)
                *find_slot(flows, capacity, &c->flows[i].id) = c->flows[i];
        free(c->flows);
        c->flows = flows;
        c->capacity = capacity;
    }
    struct flow_count *f = find_slot(c->flows, c->capacity, id);
    if (!f->frames) {
        f->id = *id;
        f->link = -1;
        c->n_flows++;
    }
    return f;
}

static void fill_id(struct flow_id *id, const struct hash_key *key)
{
    memset(id, 0, sizeof *id);
    id->ip_version = key->ip_version;
    id->vlan = key->tag == HASH_TAG_NONE ? 0 : key->tci & 0xfff;
    id->ethertype = key->ethertype;
    if (!key->ip_version) {
        memcpy(id->smac, key->smac, sizeof id->smac);
        memcpy(id->dmac, key->dmac, sizeof id->dmac);
        return;
    }
    memcpy(id->src, key->src, sizeof id->src);
    memcpy(id->dst, key->dst, sizeof id->dst);
    id->proto = key->proto;
    id->sport = key->has_ports ? key->sport : 0;
    id->dport = key->has_ports ? key->dport : 0;
}

static bool count_frame(struct capture *c, const uint8_t *frame, size_t captured, uint64_t length)
{
    struct hash_key key;
    struct flow_id id;
    if (!hash_key_from_frame(&key, frame, captured, HASH_NO_TCI)) {
        c->unknown++;
        return true;
    }
    key.port_id = c->command->base.port_id;
    key.ingress_port = c->command->base.ingress_port;
    int member = hash_pick(&c->command->selector, &key, &c->members);
    fill_id(&id, &key);
    struct flow_count *f = find_flow(c, &id);
    if (!f)
        return false;
    f->frames++;
    f->bytes += length;
    if (member < 0) {
        c->unknown++;
        return true;
    }
    if (f->link != member) { /* a flow that changes its link counts on each */
        f->link = member;
        c->links[member].flows++;
    }
    c->links[member].frames++;
    c->links[member].bytes += length;
    return true;
}

static int heavier(const void *a, const void *b)
{
    const struct flow_count *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return memcmp(&x->id, &y->id, sizeof x->id);
}

static void flow_text(const struct flow_id *id, char *out, size_t size)
{
    char src[INET6_ADDRSTRLEN] = "", dst[INET6_ADDRSTRLEN] = "";
    if (!id->ip_version) {
        snprintf(out, size, "%02x:%02x:%02x:%02x:%02x:%02x > %02x:%02x:%02x:%02x:%02x:%02x type 0x%04x", id->smac[0],
                 id->smac[1], id->smac[2], id->smac[3], id->smac[4], id->smac[5], id->dmac[0], id->dmac[1], id->dmac[2],
                 id->dmac[3], id->dmac[4], id->dmac[5], id->ethertype);
        return;
    }
    int family = id->ip_version == 4 ? AF_INET : AF_INET6;
    inet_ntop(family, id->src, src, sizeof src);
    inet_ntop(family, id->dst, dst, sizeof dst);
    if (id->sport || id->dport)
        snprintf(out, size, family == AF_INET ? "%s:%u > %s:%u proto %u" : "[%s]:%u > [%s]:%u proto %u", src, id->sport,
                 dst, id->dport, id->proto);
    else
        snprintf(out, size, "%s > %s proto %u", src, dst, id->proto);
}

/* The fullest link's heaviest flows, heaviest first, into s->top. */
static void pick_top(struct capture *c, struct hash_pcap_summary *s)
{
    size_t used = 0;
    for (size_t i = 0; i < c->capacity; i++)
        if (c->flows[i].frames && c->flows[i].link == s->fullest)
            c->flows[used++] = c->flows[i];
    qsort(c->flows, used, sizeof *c->flows, heavier);
    s->n_top = used < TOP_FLOWS ? used : TOP_FLOWS;
    for (size_t i = 0; i < s->n_top; i++) {
        flow_text(&c->flows[i].id, s->top[i].text, sizeof s->top[i].text);
        s->top[i].frames = c->flows[i].frames;
        s->top[i].bytes = c->flows[i].bytes;
    }
}

static void summarise(struct capture *c, struct hash_pcap_summary *s)
{
    uint64_t most = 0;
    s->command = c->command;
    s->links = c->links;
    s->n_links = c->command->links[0];
    s->flows = c->n_flows;
    s->unknown = c->unknown;
    s->fullest = -1;
    for (unsigned i = 0; i < s->n_links; i++) {
        s->frames += c->links[i].frames;
        s->bytes += c->links[i].bytes;
        if (c->links[i].bytes > most) {
            most = c->links[i].bytes;
            s->fullest = (int)i;
        }
    }
    s->imbalance = s->bytes ? (double)most * s->n_links / (double)s->bytes : 0;
    if (c->flows && s->fullest >= 0)
        pick_top(c, s);
}

static void print_summary(const struct hash_pcap_summary *s)
{
    static const struct table_column link_columns[] = {{"link", TABLE_LEFT},
                                                       {"frames", TABLE_RIGHT},
                                                       {"bytes", TABLE_RIGHT},
                                                       {"share", TABLE_RIGHT},
                                                       {"flows", TABLE_RIGHT}};
    static const struct table_column flow_columns[] = {
        {"flow", TABLE_LEFT}, {"frames", TABLE_RIGHT}, {"bytes", TABLE_RIGHT}};
    char name[16];
    struct table *t = table_new(link_columns, 5);
    for (unsigned i = 0; i < s->n_links; i++) {
        struct table_row *row = table_row(t, NULL);
        table_cell(t, row, 0, hash_member_name(s->command, (int)i, name, sizeof name));
        table_cellf(t, row, 1, "%llu", (unsigned long long)s->links[i].frames);
        table_cellf(t, row, 2, "%llu", (unsigned long long)s->links[i].bytes);
        table_cellf(t, row, 3, "%.1f %%", s->bytes ? 100.0 * (double)s->links[i].bytes / (double)s->bytes : 0.0);
        table_cellf(t, row, 4, "%llu", (unsigned long long)s->links[i].flows);
    }
    table_print(t, stdout, TABLE_TEXT, 0);
    table_free(t);
    printf("\n%llu frames, %llu bytes, %llu flows", (unsigned long long)s->frames, (unsigned long long)s->bytes,
           (unsigned long long)s->flows);
    if (s->bytes)
        printf("; fullest link over the mean: %.2f", s->imbalance);
    printf("\n");
    if (s->unknown)
        printf("%llu frames without an answer\n", (unsigned long long)s->unknown);
    if (!s->n_top)
        return;
    printf("\nheaviest flows of link %s\n", hash_member_name(s->command, s->fullest, name, sizeof name));
    t = table_new(flow_columns, 3);
    for (size_t i = 0; i < s->n_top; i++) {
        struct table_row *row = table_row(t, NULL);
        table_cell(t, row, 0, s->top[i].text);
        table_cellf(t, row, 1, "%llu", (unsigned long long)s->top[i].frames);
        table_cellf(t, row, 2, "%llu", (unsigned long long)s->top[i].bytes);
    }
    table_print(t, stdout, TABLE_TEXT, 0);
    table_free(t);
}

int hash_pcap(const struct hash_command *command, const char *path)
{
    char error[PCAP_ERRBUF_SIZE] = "";
    struct capture c = {.command = command};
    struct hash_pcap_summary summary = {0};
    struct pcap_pkthdr *header;
    const uint8_t *frame;
    int more = 1, rc = CLI_OK;

    if (command->selector.policy->status == HASH_STATUS_UNKNOWN)
        return cli_error(CLI_USAGE, command->label, "%s: its rule is not published, so no frame has an answer",
                         command->selector.policy->name);
    uint32_t missing =
        hash_missing_inputs(command, command->given | ~(uint32_t)(HASH_READS_PORT_ID | HASH_READS_INGRESS));
    if (missing)
        return hash_report_missing(command, missing, "a capture does not hold it; give --port-id or --ingress");
    if (!hash_command_members(command, command->links[0], &c.members))
        return CLI_USAGE;
    pcap_t *in = pcap_open_offline(path, error);
    if (!in)
        return cli_error(CLI_USAGE, command->label, "%s", error);
    if (pcap_datalink(in) != DLT_EN10MB) {
        const char *type = pcap_datalink_val_to_name(pcap_datalink(in));
        rc = cli_error(CLI_USAGE, command->label, "%s: link type %s: only Ethernet captures can be hashed", path,
                       type ? type : "unknown");
        goto out;
    }
    while ((more = pcap_next_ex(in, &header, &frame)) == 1) {
        if (!count_frame(&c, frame, header->caplen, header->len)) {
            rc = cli_error(CLI_FAILED, command->label, "out of memory after %zu flows", c.n_flows);
            goto out;
        }
    }
    summarise(&c, &summary);
    summary.complete = more == PCAP_ERROR_BREAK;
    if (command->json)
        rc = hash_json_pcap(&summary) ? cli_error(CLI_FAILED, command->label, "out of memory") : CLI_OK;
    else
        print_summary(&summary);
    if (!summary.complete)
        rc = cli_error(CLI_FAILED, command->label, "%s: %s; the frames before that are counted", path, pcap_geterr(in));
out:
    pcap_close(in);
    free(c.flows);
    return rc;
}
