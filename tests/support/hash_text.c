#include "tests/support/hash_text.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hashes/key.h"
#include "hashes/policy.h"

enum { LINE = 1024 };

struct words {
    struct hash_flow flow;
    struct hash_arp arp;
};

static bool bad(const char *key, const char *value)
{
    fprintf(stderr, "hash_text: bad word '%s=%s'\n", key, value);
    return false;
}

static bool parse_hex(const char *text, uint8_t *out, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char pair[3] = "", *end;

        if (*text == ':')
            text++;
        snprintf(pair, sizeof pair, "%s", text);
        out[i] = (uint8_t)strtoul(pair, &end, 16);
        if (end != pair + 2)
            return false;
        text += 2;
    }
    return *text == 0;
}

static bool parse_address(const char *text, struct hash_flow *flow, uint8_t *out)
{
    if (inet_pton(AF_INET, text, out) == 1)
        flow->ip_version = 4;
    else if (inet_pton(AF_INET6, text, out) == 1)
        flow->ip_version = 6;
    else
        return false;
    return true;
}

static bool set_fragment(struct hash_flow *flow, const char *value)
{
    if (strcmp(value, "first") == 0)
        flow->fragment = HASH_FRAGMENT_FIRST;
    else if (strcmp(value, "later") == 0)
        flow->fragment = HASH_FRAGMENT_LATER;
    else
        return false;
    return true;
}

static bool set_id(struct hash_flow *flow, const char *value)
{
    return parse_hex(value, flow->fragment_id, strlen(value) == 4 ? 2 : 4);
}

static bool set_icmp(struct hash_flow *flow, const char *value)
{
    char *end;

    flow->icmp_type = (uint8_t)strtoul(value, &end, 0);
    if (*end != '/')
        return false;
    flow->icmp_code = (uint8_t)strtoul(end + 1, &end, 0);
    if (*end != '/')
        return false;
    flow->icmp_id = (uint16_t)strtoul(end + 1, &end, 0);
    return *end == 0;
}

static bool read_packet(const char *name, struct words *words);

static bool set_address_word(struct words *w, const char *key, const char *value, bool *known)
{
    struct hash_flow *flow = &w->flow;

    *known = true;
    if (strcmp(key, "src") == 0)
        return parse_address(value, flow, flow->src);
    if (strcmp(key, "dst") == 0)
        return parse_address(value, flow, flow->dst);
    if (strcmp(key, "smac") == 0)
        return parse_hex(value, flow->smac, 6);
    if (strcmp(key, "dmac") == 0)
        return parse_hex(value, flow->dmac, 6);
    if (strcmp(key, "sha") == 0)
        return parse_hex(value, w->arp.sender_mac, 6);
    if (strcmp(key, "tha") == 0)
        return parse_hex(value, w->arp.target_mac, 6);
    if (strcmp(key, "spa") == 0)
        return inet_pton(AF_INET, value, w->arp.sender_ip) == 1;
    if (strcmp(key, "tpa") == 0)
        return inet_pton(AF_INET, value, w->arp.target_ip) == 1;
    if (strcmp(key, "fragment") == 0)
        return set_fragment(flow, value);
    if (strcmp(key, "id") == 0)
        return set_id(flow, value);
    if (strcmp(key, "payload") == 0)
        return parse_hex(value, flow->payload, 4);
    if (strcmp(key, "icmp") == 0)
        return set_icmp(flow, value);
    *known = false;
    return false;
}

static bool set_number_word(struct words *w, const char *key, const char *value)
{
    struct hash_flow *flow = &w->flow;
    char *end;
    const unsigned long number = strtoul(value, &end, 0);

    if (*end || end == value)
        return false;
    if (strcmp(key, "proto") == 0)
        flow->proto = (uint8_t)number;
    else if (strcmp(key, "sport") == 0)
        flow->sport = (uint16_t)number;
    else if (strcmp(key, "dport") == 0)
        flow->dport = (uint16_t)number;
    else if (strcmp(key, "ethertype") == 0)
        flow->ethertype = (uint16_t)number;
    else if (strcmp(key, "ip") == 0)
        flow->ip_version = (uint8_t)number;
    else if (strcmp(key, "esp") == 0)
        flow->esp_spi = (uint32_t)number;
    else if (strcmp(key, "flowlabel") == 0)
        flow->flow_label = (uint32_t)number;
    else if (strcmp(key, "portid") == 0)
        flow->port_id = (uint32_t)number;
    else if (strcmp(key, "ingress") == 0)
        flow->ingress_port = (uint16_t)number;
    else if (strcmp(key, "module") == 0)
        flow->ingress_module = (uint16_t)number;
    else if (strcmp(key, "arp") == 0)
        w->arp.op = (uint16_t)number;
    else if (strcmp(key, "vlan") == 0) {
        flow->tci = (uint16_t)number;
        if (flow->tag == HASH_TAG_NONE)
            flow->tag = HASH_TAG_OFFLOADED;
    } else
        return false;
    return true;
}

static bool set_word(struct words *w, char *word)
{
    char *value = strchr(word, '=');
    bool known, good;

    if (word[0] == '@')
        return read_packet(word + 1, w);
    if (!value)
        return bad(word, "");
    *value++ = 0;
    if (strcmp(word, "tag") == 0) {
        w->flow.tag = strcmp(value, "inline") == 0 ? HASH_TAG_INLINE : HASH_TAG_OFFLOADED;
        return true;
    }
    good = set_address_word(w, word, value, &known);
    if (!known)
        good = set_number_word(w, word, value);
    return good || bad(word, value);
}

static bool set_words(struct words *w, const char *text)
{
    char copy[LINE], *save = NULL;

    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        if (!set_word(w, word))
            return false;
    return true;
}

static bool read_packet(const char *name, struct words *words)
{
    FILE *file = fopen("tests/vectors/hash-packets.tsv", "r");
    const size_t length = strlen(name);
    char line[LINE];
    bool found = false;

    if (!file) {
        perror("tests/vectors/hash-packets.tsv");
        return false;
    }
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, name, length) == 0 && line[length] == '\t')
            found = set_words(words, line + length + 1);
    }
    fclose(file);
    return found || bad("@", name);
}

bool hash_text_flow(const char *text, struct hash_flow *flow)
{
    struct words words = {0};

    if (!set_words(&words, text))
        return false;
    *flow = words.flow;
    return true;
}

bool hash_text_key(const char *text, struct hash_key *key)
{
    struct words words = {0};

    if (!set_words(&words, text))
        return false;
    if (words.arp.op) {
        memcpy(words.arp.smac, words.flow.smac, sizeof words.arp.smac);
        memcpy(words.arp.dmac, words.flow.dmac, sizeof words.arp.dmac);
        hash_key_arp(key, &words.arp);
    } else {
        hash_key_flow(key, &words.flow);
    }
    return true;
}

bool hash_text_selector(const char *policy, const char *params, struct hash_selector *sel)
{
    const struct hash_policy *found = hash_policy_find(policy);
    char copy[LINE], error[256], *save = NULL;

    if (!found) {
        fprintf(stderr, "hash_text: no policy '%s'\n", policy);
        return false;
    }
    hash_selector_init(sel, found);
    if (strcmp(params, "-") == 0)
        return true;
    snprintf(copy, sizeof copy, "%s", params);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');

        if (!value)
            return bad(word, "");
        *value++ = 0;
        if (!hash_selector_set(sel, word, value, error, sizeof error)) {
            fprintf(stderr, "hash_text: %s: %s\n", policy, error);
            return false;
        }
    }
    return true;
}
