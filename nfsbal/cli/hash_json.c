#include "nfsbal/cli/hash_json.h"

#include "emu/report/json.h"
#include "nfsbal/cli/hash_pairs.h"

#include <stdio.h>

static void add_param(struct json_out *j, const struct hash_selector *preset, unsigned i)
{
    const struct hash_param *p = &preset->policy->params[i];
    char text[160];
    json_out_object(j, NULL, JSON_ON_ONE_LINE);
    json_out_string(j, "name", p->name);
    hash_param_text(preset, i, text, sizeof text);
    json_out_string(j, "default", text);
    if (p->values) {
        json_out_array(j, "values", JSON_ON_ONE_LINE);
        for (unsigned v = 0; p->values[v]; v++)
            json_out_string(j, NULL, p->values[v]);
        json_out_end(j);
    } else if (p->kind == HASH_PARAM_NUMBER) {
        json_out_count(j, "min", p->min);
        json_out_count(j, "max", p->max);
    }
    json_out_string(j, "help", p->help);
    json_out_end(j);
}

static void add_fields(struct json_out *j, const char *key, uint32_t fields)
{
    json_out_array(j, key, JSON_ON_ONE_LINE);
    for (unsigned i = 0; i < HASH_FIELD_COUNT; i++)
        if (fields & 1u << i)
            json_out_string(j, NULL, hash_field_name((enum hash_field)(1u << i)));
    json_out_end(j);
}

int hash_json_list(void)
{
    struct json_out j;
    const struct hash_policy *p;
    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-hash-list/1");
    json_out_array(&j, "policies", JSON_ON_LINES);
    for (unsigned i = 0; (p = hash_policy_at(i)); i++) {
        struct hash_selector preset;
        hash_selector_init(&preset, p);
        json_out_object(&j, NULL, JSON_ON_LINES);
        json_out_string(&j, "name", p->name);
        json_out_array(&j, "aliases", JSON_ON_ONE_LINE);
        for (unsigned a = 0; p->aliases && p->aliases[a]; a++)
            json_out_string(&j, NULL, p->aliases[a]);
        json_out_end(&j);
        json_out_string(&j, "vendor", p->vendor);
        json_out_string(&j, "summary", p->summary);
        json_out_string(&j, "status", hash_status_name(p->status));
        json_out_string(&j, "caveat", p->caveat);
        add_fields(&j, "reads", p->reads);
        json_out_string(&j, "rule", p->rule);
        json_out_string(&j, "when_a_member_fails", hash_failure_name(p->failure));
        json_out_string(&j, "source", p->source);
        json_out_array(&j, "params", JSON_ON_LINES);
        for (unsigned k = 0; k < p->param_count; k++)
            add_param(&j, &preset, k);
        json_out_end(&j);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
    return 0;
}

static void add_selector(struct json_out *j, const struct hash_command *c)
{
    char text[256];
    hash_selector_text(&c->selector, true, text, sizeof text);
    json_out_string(j, "policy", text);
}

int hash_json_pcap(const struct hash_pcap_summary *s)
{
    struct json_out j;
    char name[16];
    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-hash-pcap/1");
    add_selector(&j, s->command);
    json_out_bool(&j, "complete", s->complete);
    json_out_count(&j, "frames", s->frames);
    json_out_count(&j, "bytes", s->bytes);
    json_out_count(&j, "flows", s->flows);
    json_out_count(&j, "frames_without_answer", s->unknown);
    json_out_real(&j, "imbalance", s->imbalance);
    json_out_array(&j, "links", JSON_ON_LINES);
    for (unsigned i = 0; i < s->n_links; i++) {
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "link", hash_member_name(s->command, (int)i, name, sizeof name));
        json_out_count(&j, "frames", s->links[i].frames);
        json_out_count(&j, "bytes", s->links[i].bytes);
        json_out_count(&j, "flows", s->links[i].flows);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_array(&j, "heaviest_of_fullest", JSON_ON_LINES);
    for (size_t i = 0; i < s->n_top; i++) {
        json_out_object(&j, NULL, JSON_ON_ONE_LINE);
        json_out_string(&j, "flow", s->top[i].text);
        json_out_count(&j, "frames", s->top[i].frames);
        json_out_count(&j, "bytes", s->top[i].bytes);
        json_out_end(&j);
    }
    json_out_end(&j);
    json_out_end(&j);
    return 0;
}

static void add_pair(struct json_out *j, const struct hash_command *c, const struct hash_pair *p)
{
    char text[512], name[16];
    struct hash_members members;
    json_out_object(j, NULL, c->why ? JSON_ON_LINES : JSON_ON_ONE_LINE);
    json_out_string(j, "src", p->src);
    json_out_string(j, "dst", p->dst);
    json_out_count(j, "links", p->links);
    if (p->member >= 0) {
        json_out_count(j, "index", (uint64_t)p->member);
        json_out_string(j, "link", hash_member_name(c, p->member, name, sizeof name));
    } else {
        json_out_null(j, "index");
        json_out_null(j, "link");
    }
    if (p->bucket >= 0)
        json_out_count(j, "bucket", (uint64_t)p->bucket);
    if (!p->drawn && p->member != -HASH_UNKNOWN) {
        hash_word_text(hash_value(&c->selector, &p->key), text, sizeof text);
        json_out_string(j, "hash", text);
    }
    json_out_string(j, "label", p->drawn ? "drawn" : hash_status_name(p->label.status));
    if (p->label.reason)
        json_out_string(j, "reason", p->label.reason);
    if (c->why && !p->drawn && hash_command_members(c, p->links, &members)) {
        hash_explain(&c->selector, &p->key, &members, text, sizeof text);
        json_out_string(j, "why", text);
    }
    json_out_end(j);
}

int hash_json_pairs(const struct hash_command *c, const struct hash_pair *pairs, size_t n_src, size_t n_dst)
{
    struct json_out j;
    struct hash_range range;
    const struct hash_pair *p = pairs;
    json_out_init(&j, stdout);
    json_out_object(&j, NULL, JSON_ON_LINES);
    json_out_string(&j, "schema", "nfsbal-hash/1");
    add_selector(&j, c);
    json_out_array(&j, "flows", JSON_ON_LINES);
    for (size_t i = 0; i < c->n_links * n_src * n_dst; i++)
        add_pair(&j, c, p++);
    json_out_end(&j);
    for (p = pairs; p < pairs + c->n_links * n_src * n_dst && p->member >= 0; p++)
        ;
    if (p < pairs + c->n_links * n_src * n_dst && hash_pair_range(c, p->links, (unsigned)n_dst, &range)) {
        json_out_object(&j, "distribution_per_source", JSON_ON_ONE_LINE);
        json_out_count(&j, "links", range.n);
        json_out_count(&j, "flows", range.flows);
        json_out_count(&j, "best_links_used", range.best_used);
        json_out_count(&j, "worst_links_used", range.worst_used);
        json_out_real(&j, "expected_links_used", range.expected_used);
        json_out_real(&j, "expected_flows_on_busiest", range.expected_busiest);
        json_out_real(&j, "chance_a_link_idles", range.chance_idle);
        json_out_end(&j);
    }
    json_out_end(&j);
    return 0;
}
