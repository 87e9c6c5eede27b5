/* The table of policies: names as people say them, parameters, labels, and that every row is complete. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hashes/key.h"
#include "hashes/policy.h"
#include "tests/support/hash_text.h"

static const struct hash_policy *must_find(const char *prefix, const char *name)
{
    const struct hash_policy *policy = hash_policy_find_for(prefix, name);

    if (!policy)
        fail_msg("'%s' with prefix '%s' finds nothing", name, prefix ? prefix : "");
    return policy;
}

static void assert_finds(const char *prefix, const char *name, const char *expected)
{
    assert_string_equal(must_find(prefix, name)->name, expected);
}

static void test_names_as_people_say_them(void **state)
{
    (void)state;
    assert_finds(NULL, "esxi-ip-hash", "esxi-ip-hash");
    assert_finds("esxi", "ip-hash", "esxi-ip-hash");
    assert_finds("esxi", "Route based on IP hash", "esxi-ip-hash");
    assert_finds(NULL, "loadbalance_ip", "esxi-ip-hash");
    assert_finds("esxi", "loadbalance_srcid", "esxi-port-id");
    assert_finds("esxi", "esxi-lacp-srcDestIpTcpUdpPortVlan", "esxi-lacp-src-dst-ip-port-vlan");
    assert_finds("esxi", "lacp-src-dst-ip", "esxi-lacp-src-dst-ip");
    assert_finds("linux", "layer3+4", "linux-layer3+4");
    assert_finds("linux", "linux-layer2+3", "linux-layer2+3");
    assert_finds("linux", "balance-alb", "linux-alb");
    assert_finds("ovs", "balance-slb", "ovs-slb");
    assert_finds("cisco", "src-dst-ip", "cisco-src-dst-ip");
    assert_finds("at9000", "src-dst-ip", "at9000-src-dst-ip");
    assert_finds(NULL, "src-dst-ip", "xor-src-dst-ip");
    assert_finds("dell", "mode-6", "dell-mode-6");
    assert_finds("dell", "netapp-ip", "netapp-ip"); /* the full name always works */
    assert_finds("netapp", "ip", "netapp-ip");
    assert_finds("freebsd", "lagg", "freebsd-lagg");
    assert_finds(NULL, "XOR_SRC_DST_IP", "xor-src-dst-ip");
    assert_null(hash_policy_find("ip-hush"));
    assert_null(hash_policy_find(""));
    assert_null(hash_policy_find_for("esxi", "layer9"));
}

static void test_did_you_mean(void **state)
{
    (void)state;
    assert_string_equal(hash_policy_nearest("esxi", "ip-hush"), "ip-hash");
    assert_string_equal(hash_policy_nearest(NULL, "linux-layer3-4"), "linux-layer3+4");
    assert_string_equal(hash_policy_nearest("cisco", "src-dts-ip"), "src-dst-ip");
    assert_string_equal(hash_policy_nearest(NULL, "netap-ip"), "netapp-ip");
    assert_null(hash_policy_nearest(NULL, "quaternion"));
}

/* Canonical names as they are promised to users. */
static void test_promised_names(void **state)
{
    static const char *const names[] = {
        "esxi-port-id",
        "esxi-mac-hash",
        "esxi-ip-hash",
        "esxi-explicit",
        "esxi-lbt",
        "linux-layer2",
        "linux-layer2+3",
        "linux-layer3+4",
        "linux-encap2+3",
        "linux-encap3+4",
        "linux-vlan+srcmac",
        "linux-alb",
        "linux-active-backup",
        "team",
        "ovs-slb",
        "ovs-tcp",
        "cisco-src-ip",
        "cisco-dst-ip",
        "cisco-src-dst-ip",
        "cisco-src-mac",
        "cisco-dst-mac",
        "cisco-src-dst-mac",
        "dell-mode-1",
        "dell-mode-7",
        "rtag7",
        "hp-bl-src",
        "hp-gbe2c-ip",
        "at9000-src-mac",
        "alteon",
        "netapp-7mode-ip",
        "netapp-7mode-mac",
        "netapp-ip",
        "illumos",
        "freebsd-lagg",
        "rss-toeplitz",
        "xor-src-ip",
        "xor-dst-ip",
        "xor-src-dst-ip",
        "xor-src-mac",
        "xor-l4",
        "unknown",
        "nexus-5500",
        "nexus-7000",
        "juniper-ex",
        "arista",
        "force10",
        "procurve",
    };
    unsigned lacp = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        assert_finds(NULL, names[i], names[i]);
    for (unsigned i = 0; hash_policy_at(i); i++)
        lacp += strncmp(hash_policy_at(i)->name, "esxi-lacp-", 10) == 0;
    assert_int_equal(lacp, 20);
}

static void check_row(const struct hash_policy *policy)
{
    assert_ptr_equal(hash_policy_find(policy->name), policy);
    assert_true(strncmp(policy->name, policy->prefix, strlen(policy->prefix)) == 0 ||
                policy->status == HASH_STATUS_UNKNOWN);
    assert_non_null(policy->vendor);
    assert_true(*policy->summary && *policy->rule && *policy->source);
    /* What isn't exact says why. */
    assert_true(policy->status == HASH_EXACT || policy->caveat);
    assert_true((policy->status == HASH_STATUS_UNKNOWN) == (policy->reduction == HASH_REDUCE_NONE));
    assert_true(policy->value || policy->reduction == HASH_REDUCE_NONE || policy->reduction == HASH_REDUCE_ACTIVE);
    assert_true((policy->reduction == HASH_REDUCE_ACTIVE) == (policy->choose != NULL));
    assert_true(policy->param_count <= HASH_PARAMS_MAX);
    for (const char *const *alias = policy->aliases; alias && *alias; alias++)
        assert_ptr_equal(must_find(policy->prefix, *alias), policy);
}

static void test_every_row(void **state)
{
    unsigned i;

    (void)state;
    for (i = 0; hash_policy_at(i); i++) {
        print_message("%s\n", hash_policy_at(i)->name);
        check_row(hash_policy_at(i));
    }
    assert_true(i > 80);
    assert_null(hash_policy_at(i + 1));
}

/* Without a prefix an alias means one policy or, when several vendors say it, the first of the table; two policies of
 * one vendor never share one. */
static void test_aliases_are_unique_per_vendor(void **state)
{
    const struct hash_policy *a, *b;

    (void)state;
    for (unsigned i = 0; (a = hash_policy_at(i)); i++)
        for (const char *const *alias = a->aliases; alias && *alias; alias++)
            for (unsigned j = i + 1; (b = hash_policy_at(j)); j++)
                for (const char *const *other = b->aliases; other && *other; other++)
                    if (strcmp(a->prefix, b->prefix) == 0)
                        assert_string_not_equal(*alias, *other);
}

/* Every parameter prints its default, and takes back what it prints. */
static void test_parameters_round_trip(void **state)
{
    const struct hash_policy *policy;
    char text[256], again[256], error[256];

    (void)state;
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++) {
        struct hash_selector sel;

        hash_selector_init(&sel, policy);
        for (unsigned p = 0; p < policy->param_count; p++) {
            hash_param_text(&sel, p, text, sizeof text);
            if (!hash_selector_set(&sel, policy->params[p].name, text, error, sizeof error))
                fail_msg("%s %s=%s: %s", policy->name, policy->params[p].name, text, error);
            hash_param_text(&sel, p, again, sizeof again);
            assert_string_equal(text, again);
        }
        hash_selector_text(&sel, false, text, sizeof text);
        assert_string_equal(text, policy->name);
    }
}

static void assert_refused(const char *policy, const char *key, const char *value, const char *reason)
{
    struct hash_selector sel, before;
    char error[256];

    hash_selector_init(&sel, hash_policy_find(policy));
    before = sel;
    assert_false(hash_selector_set(&sel, key, value, error, sizeof error));
    assert_string_equal(error, reason);
    assert_memory_equal(&sel, &before, sizeof sel);
}

static void test_bad_parameters_are_refused(void **state)
{
    (void)state;
    assert_refused("linux-layer3+4", "gen", "g7", "gen: 'g7' is none of g1, g2, g3, g4, g4b, g5, g6");
    assert_refused("linux-vlan+srcmac", "gen", "g3", "gen: 'g3' is none of g4, g4b, g5, g6");
    assert_refused("linux-vlan+srcmac", "gen", "", "gen: '' is none of g4, g4b, g5, g6");
    assert_refused("linux-layer2", "seed", "1", "linux-layer2 has no parameter 'seed': it has gen");
    assert_refused("esxi-port-id", "gen", "g1", "esxi-port-id has no parameter 'gen': it has none");
    assert_refused("ovs-slb", "basis", "-1", "basis: '-1' is not a number from 0 to 4294967295");
    assert_refused("ovs-slb", "basis", "4294967296", "basis: '4294967296' is not a number from 0 to 4294967295");
    assert_refused("ovs-slb", "basis", "0x", "basis: '0x' is not a number from 0 to 4294967295");
    assert_refused("ovs-slb", "basis", "99999999999999999999999",
                   "basis: '99999999999999999999999' is not a number from 0 to 4294967295");
    assert_refused("rss-toeplitz", "table", "100", "table: '100' is not a power of two from 1 to 65536");
    assert_refused("rss-toeplitz", "key", "6d5a", "key: '6d5a' is not 40 bytes in hexadecimal");
    assert_refused("illumos", "policy", "L3,L5", "policy: 'L5' is none of L2, L3, L4");
    assert_refused("illumos", "policy", "L3,", "policy: '' is none of L2, L3, L4");
}

static void test_selector_text(void **state)
{
    struct hash_selector sel;
    char text[256];

    (void)state;
    assert_true(hash_text_selector("Freebsd_lagg", "lagghash=L3,l2 seed=0x10 gen=9", &sel));
    hash_selector_text(&sel, false, text, sizeof text);
    assert_string_equal(text, "freebsd-lagg lagghash=l2,l3 seed=16 gen=9");
    hash_selector_text(&sel, true, text, sizeof text);
    assert_string_equal(text, "freebsd-lagg lagghash=l2,l3 seed=16 gen=9 proto=lacp");
    hash_selector_text(&sel, true, text, 10); /* cut, never past the end */
    assert_string_equal(text, "freebsd-l");
}

static void test_reads(void **state)
{
    struct hash_selector sel;
    char text[256];
    uint32_t fields;

    (void)state;
    assert_true(hash_text_selector("illumos", "-", &sel));
    hash_fields_text(hash_reads(&sel), text, sizeof text);
    assert_string_equal(text, "src-port,dst-port");
    assert_true(hash_text_selector("linux-layer2+3", "-", &sel));
    hash_fields_text(hash_reads(&sel), text, sizeof text);
    assert_string_equal(text, "src-mac,dst-mac,ethertype,src-ip,dst-ip");
    assert_true(hash_text_selector("unknown", "fields=src-dst-ip,l4", &sel));
    hash_fields_text(hash_reads(&sel), text, sizeof text);
    assert_string_equal(text, "src-ip,dst-ip,src-port,dst-port");
    hash_selector_unknown(&sel, HASH_READS_SRC_IP | HASH_READS_DST_IP);
    hash_selector_text(&sel, false, text, sizeof text);
    assert_string_equal(text, "unknown fields=src-ip,dst-ip");
    assert_true(hash_field_find("SRC-IP", &fields));
    assert_int_equal(fields, HASH_READS_SRC_IP);
    assert_true(hash_field_find("src-dst-mac", &fields));
    assert_int_equal(fields, HASH_READS_SRC_MAC | HASH_READS_DST_MAC);
    assert_false(hash_field_find("ttl", &fields));
    assert_string_equal(hash_field_name(HASH_READS_FLOW_LABEL), "flow-label");
}

/* The page for users names every policy and every parameter. */
static void test_documented(void **state)
{
    static char page[65536];
    FILE *file = fopen("docs/hashes.md", "r");
    const struct hash_policy *policy;
    char name[80];
    size_t length;

    (void)state;
    assert_non_null(file);
    length = fread(page, 1, sizeof page - 1, file);
    fclose(file);
    assert_true(length > 0 && length < sizeof page - 1);
    page[length] = 0;
    for (unsigned i = 0; (policy = hash_policy_at(i)); i++) {
        snprintf(name, sizeof name, "`%s`", policy->name);
        if (!strstr(page, name) && strncmp(policy->name, "dell-mode-", 10) != 0)
            fail_msg("docs/hashes.md does not name %s", policy->name);
        for (unsigned p = 0; p < policy->param_count; p++) {
            snprintf(name, sizeof name, "`%s", policy->params[p].name);
            if (!strstr(page, name))
                fail_msg("docs/hashes.md does not name %s of %s", policy->params[p].name, policy->name);
        }
    }
}

static enum hash_status status_of(const char *policy, const char *params, const char *flow, unsigned n)
{
    struct hash_selector sel;
    struct hash_key key;

    assert_true(hash_text_selector(policy, params, &sel));
    if (!flow)
        return hash_label(&sel, NULL, n).status;
    assert_true(hash_text_key(flow, &key));
    return hash_label(&sel, &key, n).status;
}

static void test_labels(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 8; n++)
        assert_int_equal(status_of("esxi-ip-hash", "-", NULL, n), 256 % n ? HASH_APPROXIMATE : HASH_EXACT);
    /* Where both readings agree the answer is exact over any number of uplinks. */
    assert_int_equal(status_of("esxi-ip-hash", "-", "src=10.0.0.1 dst=10.0.0.77", 3), HASH_EXACT);
    assert_int_equal(status_of("esxi-ip-hash", "-", "src=10.0.0.1 dst=10.0.1.1", 3), HASH_APPROXIMATE);
    assert_int_equal(status_of("esxi-ip-hash", "-", "src=10.0.0.1 dst=10.0.1.1", 4), HASH_EXACT);
    assert_int_equal(status_of("esxi-ip-hash", "-", "@P7", 2), HASH_STATUS_UNKNOWN);
    assert_int_equal(status_of("esxi-ip-hash", "-", "ethertype=0x88cc", 2), HASH_APPROXIMATE);
    assert_int_equal(status_of("esxi-port-id", "-", NULL, 2), HASH_APPROXIMATE);
    assert_int_equal(status_of("linux-layer3+4", "-", NULL, 2), HASH_EXACT);
    assert_int_equal(status_of("linux-layer3+4", "gen=g4", "@P1 proto=1 icmp=8/0/7", 2), HASH_APPROXIMATE);
    assert_int_equal(status_of("linux-layer3+4", "gen=g4 icmp=yes", "@P1 proto=1 icmp=8/0/7", 2), HASH_EXACT);
    assert_int_equal(status_of("freebsd-lagg", "-", NULL, 2), HASH_APPROXIMATE);
    assert_int_equal(status_of("freebsd-lagg", "seed=1", NULL, 2), HASH_EXACT);
    assert_int_equal(status_of("freebsd-lagg", "seed=1", "@P1 tag=inline vlan=5", 2), HASH_APPROXIMATE);
    assert_int_equal(status_of("netapp-ip", "-", NULL, 2), HASH_REVERSE_ENGINEERED);
    assert_int_equal(status_of("cisco-src-dst-ip", "-", NULL, 2), HASH_APPROXIMATE);
    assert_int_equal(status_of("arista", "-", NULL, 2), HASH_STATUS_UNKNOWN);
    assert_string_equal(hash_status_name(HASH_REVERSE_ENGINEERED), "reverse-engineered");
    assert_string_equal(hash_status_name(HASH_STATUS_UNKNOWN), "unknown");
}

static void assert_gen(const char *version, const char *gen, bool doubtful)
{
    const char *doubt = "untouched";
    const char *found = hash_linux_gen_for_kernel(version, &doubt);

    if (!gen) {
        assert_null(found);
        return;
    }
    assert_string_equal(found, gen);
    assert_int_equal(doubt != NULL, doubtful);
}

static void test_kernel_generations(void **state)
{
    (void)state;
    assert_gen("2.6.32", "g1", false);
    assert_gen("3.13.11", "g1", false);
    assert_gen("3.14", "g2", false);
    assert_gen("3.16.84", "g2", false);
    assert_gen("3.17", "g3", false);
    assert_gen("4.14.336", "g3", false);
    assert_gen("4.15", "g4", true);
    assert_gen("5.10.0-28-amd64", "g4", true);
    assert_gen("5.14", "g4", true);
    assert_gen("5.15.131", "g5", true);
    assert_gen("5.17.5", "g5", false);
    assert_gen("5.17.6", "g6", false);
    assert_gen("5.18", "g6", false);
    assert_gen("6.1.0-28-amd64", "g6", false);
    assert_gen("6.8", "g6", false);
    assert_gen("10.0", "g6", false);
    assert_gen("", NULL, false);
    assert_gen("six", NULL, false);
    assert_gen("6", NULL, false);
    assert_gen("6.", NULL, false);
    assert_gen("6.1.x", NULL, false);
    assert_gen("99999999999.1", NULL, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_as_people_say_them),
        cmocka_unit_test(test_did_you_mean),
        cmocka_unit_test(test_promised_names),
        cmocka_unit_test(test_every_row),
        cmocka_unit_test(test_aliases_are_unique_per_vendor),
        cmocka_unit_test(test_parameters_round_trip),
        cmocka_unit_test(test_bad_parameters_are_refused),
        cmocka_unit_test(test_selector_text),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_documented),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_kernel_generations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
