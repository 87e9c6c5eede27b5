/* A policy with its parameters: set from text, printed back, and what they change about it. */
#include "hashes/policy.h"

#include <string.h>

#include "hashes/fields.h"
#include "hashes/trace.h"
#include "hashes/vendors.h"

static struct hash_trace start(char *out, size_t size)
{
    if (size)
        out[0] = 0;
    return (struct hash_trace){out, size, 0};
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Whether the `length` letters at `text` are `name`, letter case aside. */
static bool is_word(const char *text, size_t length, const char *name)
{
    if (strlen(name) != length)
        return false;
    for (size_t i = 0; i < length; i++)
        if (lower(text[i]) != lower(name[i]))
            return false;
    return length > 0;
}

void hash_selector_init(struct hash_selector *sel, const struct hash_policy *policy)
{
    memset(sel, 0, sizeof *sel);
    sel->policy = policy;
    for (unsigned i = 0; i < policy->param_count; i++) {
        sel->params.value[i] = policy->params[i].preset;
        if (policy->params[i].preset_bytes)
            memcpy(sel->params.bytes, policy->params[i].preset_bytes, HASH_KEY_BYTES);
    }
}

void hash_selector_unknown(struct hash_selector *sel, uint32_t fields)
{
    hash_selector_init(sel, hash_policy_find("unknown"));
    sel->params.value[0] = fields;
}

static void list_values(struct hash_trace *text, const struct hash_param *param)
{
    const char *comma = "";

    for (unsigned i = 0; param->values[i]; i++) {
        if (!*param->values[i])
            continue;
        hash_trace_more(text, "%s%s", comma, param->values[i]);
        comma = ", ";
    }
}

/* Position of a word among the values, or -1. */
static int value_index(const struct hash_param *param, const char *word, size_t length)
{
    for (unsigned i = 0; param->values[i]; i++)
        if (is_word(word, length, param->values[i]))
            return (int)i;
    return -1;
}

static bool set_choice(const struct hash_param *param, const char *value, uint64_t *stored, struct hash_trace *error)
{
    const int index = value_index(param, value, strlen(value));

    if (index < 0) {
        hash_trace_more(error, "%s: '%s' is none of ", param->name, value);
        list_values(error, param);
        return false;
    }
    *stored = (uint64_t)index;
    return true;
}

static bool set_set(const struct hash_param *param, const char *value, uint64_t *stored, struct hash_trace *error)
{
    uint64_t bits = 0;
    const char *word = value;

    for (;;) {
        const size_t length = strcspn(word, ",");
        const int index = value_index(param, word, length);

        if (index < 0) {
            hash_trace_more(error, "%s: '%.*s' is none of ", param->name, (int)length, word);
            list_values(error, param);
            return false;
        }
        bits |= UINT64_C(1) << index;
        if (word[length] == 0)
            break;
        word += length + 1;
    }
    *stored = bits;
    return true;
}

static int digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Decimal, or hexadecimal after 0x. No sign, no space, no locale. */
static bool parse_number(const char *text, uint64_t *number)
{
    unsigned base = 10;

    *number = 0;
    if (text[0] == '0' && lower(text[1]) == 'x') {
        base = 16;
        text += 2;
    }
    if (!*text)
        return false;
    for (; *text; text++) {
        const unsigned d = (unsigned)digit(*text);

        if (d >= base || *number > (UINT64_MAX - d) / base)
            return false;
        *number = *number * base + d;
    }
    return true;
}

static bool set_number(const struct hash_param *param, const char *value, uint64_t *stored, struct hash_trace *error)
{
    const bool power = param->kind == HASH_PARAM_POWER;
    uint64_t number;

    if (!parse_number(value, &number) || number < param->min || number > param->max ||
        (power && (number & (number - 1)) != 0)) {
        hash_trace_more(error, "%s: '%s' is not a %s from %llu to %llu", param->name, value,
                        power ? "power of two" : "number", (unsigned long long)param->min,
                        (unsigned long long)param->max);
        return false;
    }
    *stored = number;
    return true;
}

/* Forty bytes in hexadecimal; colons and spaces between bytes are allowed. */
static bool set_bytes(const struct hash_param *param, const char *value, uint8_t *bytes, struct hash_trace *error)
{
    uint8_t parsed[HASH_KEY_BYTES];
    size_t count = 0;
    const char *p = value;

    while (*p) {
        if (*p == ':' || *p == ' ') {
            p++;
            continue;
        }
        if (digit(p[0]) > 15 || digit(p[1]) > 15 || count == HASH_KEY_BYTES) {
            count = 0;
            break;
        }
        parsed[count++] = (uint8_t)(digit(p[0]) << 4 | digit(p[1]));
        p += 2;
    }
    if (count != HASH_KEY_BYTES) {
        hash_trace_more(error, "%s: '%s' is not %d bytes in hexadecimal", param->name, value, HASH_KEY_BYTES);
        return false;
    }
    memcpy(bytes, parsed, sizeof parsed);
    return true;
}

static void unknown_key(const struct hash_policy *policy, const char *key, struct hash_trace *error)
{
    if (policy->param_count == 0) {
        hash_trace_more(error, "%s has no parameter '%s': it has none", policy->name, key);
        return;
    }
    hash_trace_more(error, "%s has no parameter '%s': it has ", policy->name, key);
    for (unsigned i = 0; i < policy->param_count; i++)
        hash_trace_more(error, "%s%s", i ? ", " : "", policy->params[i].name);
}

bool hash_selector_set(struct hash_selector *sel, const char *key, const char *value, char *error, size_t size)
{
    struct hash_trace text = start(error, size);

    for (unsigned i = 0; i < sel->policy->param_count; i++) {
        const struct hash_param *param = &sel->policy->params[i];

        if (!is_word(key, strlen(key), param->name))
            continue;
        switch (param->kind) {
        case HASH_PARAM_CHOICE:
            return set_choice(param, value, &sel->params.value[i], &text);
        case HASH_PARAM_SET:
            return set_set(param, value, &sel->params.value[i], &text);
        case HASH_PARAM_NUMBER:
        case HASH_PARAM_POWER:
            return set_number(param, value, &sel->params.value[i], &text);
        case HASH_PARAM_BYTES:
            return set_bytes(param, value, sel->params.bytes, &text);
        }
    }
    unknown_key(sel->policy, key, &text);
    return false;
}

static void add_param(struct hash_trace *text, const struct hash_selector *sel, unsigned index)
{
    const struct hash_param *param = &sel->policy->params[index];
    const uint64_t value = sel->params.value[index];
    const char *comma = "";

    switch (param->kind) {
    case HASH_PARAM_CHOICE:
        hash_trace_more(text, "%s", param->values[value]);
        break;
    case HASH_PARAM_SET:
        for (unsigned i = 0; param->values[i]; i++) {
            if (value >> i & 1) {
                hash_trace_more(text, "%s%s", comma, param->values[i]);
                comma = ",";
            }
        }
        break;
    case HASH_PARAM_NUMBER:
    case HASH_PARAM_POWER:
        hash_trace_more(text, "%llu", (unsigned long long)value);
        break;
    case HASH_PARAM_BYTES:
        for (unsigned i = 0; i < HASH_KEY_BYTES; i++)
            hash_trace_more(text, "%02x", sel->params.bytes[i]);
        break;
    }
}

void hash_param_text(const struct hash_selector *sel, unsigned index, char *out, size_t size)
{
    struct hash_trace text = start(out, size);

    if (index < sel->policy->param_count)
        add_param(&text, sel, index);
}

static bool is_preset(const struct hash_selector *sel, unsigned index)
{
    const struct hash_param *param = &sel->policy->params[index];

    if (param->preset_bytes)
        return memcmp(sel->params.bytes, param->preset_bytes, HASH_KEY_BYTES) == 0;
    return sel->params.value[index] == param->preset;
}

void hash_selector_text(const struct hash_selector *sel, bool all, char *out, size_t size)
{
    struct hash_trace text = start(out, size);

    hash_trace_more(&text, "%s", sel->policy->name);
    for (unsigned i = 0; i < sel->policy->param_count; i++) {
        if (!all && is_preset(sel, i))
            continue;
        hash_trace_more(&text, " %s=", sel->policy->params[i].name);
        add_param(&text, sel, i);
    }
}

void hash_fields_text(uint32_t fields, char *out, size_t size)
{
    struct hash_trace text = start(out, size);
    const char *comma = "";

    for (unsigned i = 0; i < HASH_FIELD_COUNT; i++) {
        if (fields >> i & 1) {
            hash_trace_more(&text, "%s%s", comma, hash_field_names[i]);
            comma = ",";
        }
    }
}

uint32_t hash_reads(const struct hash_selector *sel)
{
    return sel->policy->reads_now ? sel->policy->reads_now(sel) : sel->policy->reads;
}

enum hash_failure hash_failure_rule(const struct hash_selector *sel)
{
    return sel->policy->failure_now ? sel->policy->failure_now(sel) : sel->policy->failure;
}

struct hash_label hash_label(const struct hash_selector *sel, const struct hash_key *key, unsigned n)
{
    if (sel->policy->label)
        return sel->policy->label(sel, key, n);
    return (struct hash_label){sel->policy->status, sel->policy->caveat};
}
