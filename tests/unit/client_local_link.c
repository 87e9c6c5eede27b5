/* Which member of a bond a connection takes, and source ports that use them all: on a copy of /sys and /proc.
 * needs: full */
#include "nfsbal/client/local_link.h"
#include "nfsbal/client/port_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[64];

static void put(const char *path, const char *text)
{
    char full[200];
    FILE *f;

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *c = full + strlen(root) + 1; (c = strchr(c, '/')); c++) {
        *c = '\0';
        mkdir(full, 0700);
        *c = '/';
    }
    f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root, "/tmp/local_link_XXXXXX");
    if (!mkdtemp(root))
        return -1;
    put("sys/class/net/bond0/bonding/mode", "802.3ad 4\n");
    put("sys/class/net/bond0/bonding/xmit_hash_policy", "layer3+4 1\n");
    put("sys/class/net/bond0/bonding/slaves", "eth0 eth1 eth2 eth3\n");
    put("sys/class/net/bond0/address", "02:00:00:00:00:01\n");
    put("sys/class/net/bond0.10/lower_bond0/x", "");
    put("sys/class/net/bond0.10/address", "02:00:00:00:00:01\n");
    put("sys/class/net/eth0/operstate", "up\n");
    put("sys/class/net/eth1/operstate", "up\n");
    put("sys/class/net/eth2/operstate", "down\n");
    put("sys/class/net/eth3/operstate", "up\n");
    put("sys/class/net/eth9/address", "02:00:00:00:00:09\n");
    put("proc/net/arp", "IP address HW type Flags HW address Mask Device\n"
                        "10.0.0.101 0x1 0x2 02:00:00:00:00:65 * bond0\n");
    return 0;
}

static int remove_root(void **state)
{
    char command[100];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static union conn_address address(const char *text, uint16_t port)
{
    union conn_address a;

    assert_true(conn_parse_address(text, port, &a));
    return a;
}

static void the_bond_below(void **state)
{
    struct local_link l;

    (void)state;
    assert_true(local_link_find(root, "bond0.10", &l));
    assert_string_equal(l.bond, "bond0");
    assert_string_equal(l.policy, "layer3+4");
    assert_int_equal(l.n_members, 4);
    assert_false(l.up[2]);
    assert_true(l.hashed);
    assert_true(local_link_find(root, "eth9", &l));
    assert_string_equal(l.bond, "");
    assert_false(l.hashed);
}

/* Layer 2 reads the next hop's MAC: known for one server, not for the other. */
static void what_the_hash_reads(void **state)
{
    union conn_address source = address("10.0.0.1", 0), known = address("10.0.0.101", 2049),
                       unknown = address("10.0.0.102", 2049);
    struct local_link l;

    (void)state;
    put("sys/class/net/bond0/bonding/xmit_hash_policy", "layer2 0\n");
    assert_true(local_link_find(root, "bond0", &l));
    assert_in_range(local_link_member(root, &l, &source, &known, 700), 0, 3);
    assert_int_equal(local_link_member(root, &l, &source, &known, 700),
                     local_link_member(root, &l, &source, &known, 701)); /* ports are not read */
    assert_int_equal(local_link_member(root, &l, &source, &unknown, 700), -1);
    put("sys/class/net/bond0/bonding/xmit_hash_policy", "layer3+4 1\n");
}

static bool even(const union conn_address *source, uint16_t port)
{
    (void)source;
    return port % 2 == 0;
}

static void ports_over_all_members(void **state)
{
    union conn_address source = address("10.0.0.1", 0), servers[16];
    uint16_t ports[16] = {0};
    unsigned load[4] = {0};
    struct local_link l;

    (void)state;
    for (int i = 0; i < 16; i++)
        servers[i] = address(i % 2 ? "10.0.0.101" : "10.0.0.104", 2049);
    assert_true(local_link_find(root, "bond0", &l));
    for (int reserved = 0; reserved < 2; reserved++) {
        memset(load, 0, sizeof load);
        assert_true(local_link_plan(root, &l, &source, servers, 16, reserved, even, ports));
        for (int i = 0; i < 16; i++) {
            int member = local_link_member(root, &l, &source, &servers[i], ports[i]);

            assert_in_range(member, 0, 3);
            load[member]++;
            assert_int_equal(ports[i] % 2, 0);
            assert_true(reserved ? ports[i] < 1024 : ports[i] >= 32768);
            for (int k = 0; k < i; k++)
                assert_int_not_equal(ports[i], ports[k]);
        }
        assert_int_equal(load[2], 0); /* it is down */
        for (int m = 0; m < 4; m++)
            if (m != 2)
                assert_in_range(load[m], 5, 6);
    }
    put("sys/class/net/bond0/bonding/xmit_hash_policy", "layer2+3 2\n");
    assert_true(local_link_find(root, "bond0", &l));
    assert_false(local_link_plan(root, &l, &source, servers, 16, false, even, ports)); /* ports change nothing */
    put("sys/class/net/bond0/bonding/xmit_hash_policy", "layer3+4 1\n");
}

/* Four mounts with a planned server and one that stands by: those in use are even by themselves. */
static void ports_of_several_mounts(void **state)
{
    enum { MOUNTS = 4, SERVERS = 2 };
    union conn_address source = address("10.0.0.1", 0), servers[MOUNTS][SERVERS];
    uint16_t ports[MOUNTS][SERVERS];
    struct port_plan_set sets[MOUNTS];
    unsigned load[4] = {0};
    struct local_link l;

    (void)state;
    for (int i = 0; i < MOUNTS; i++) {
        servers[i][0] = address(i % 2 ? "10.0.0.101" : "10.0.0.104", 0);
        servers[i][1] = address(i % 2 ? "10.0.0.104" : "10.0.0.101", 0);
        sets[i] = (struct port_plan_set){.servers = servers[i], .n = SERVERS, .each = 1, .ports = ports[i]};
    }
    assert_true(local_link_find(root, "bond0", &l));
    assert_true(port_plan_on(root, &l, &source, sets, MOUNTS, 2049, false, even));
    for (int k = 0; k < SERVERS; k++)
        for (int i = 0; i < MOUNTS; i++) {
            union conn_address server = servers[i][k];

            server.in.sin_port = htons(2049);
            load[local_link_member(root, &l, &source, &server, ports[i][k])]++;
            if (k == 0 && i == MOUNTS - 1)
                assert_true(load[0] >= 1 && load[0] <= 2 && load[1] >= 1 && load[3] >= 1 && load[2] == 0);
        }
    assert_int_equal(load[0] + load[1] + load[3], MOUNTS * SERVERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bond_below),
        cmocka_unit_test(what_the_hash_reads),
        cmocka_unit_test(ports_over_all_members),
        cmocka_unit_test(ports_of_several_mounts),
    };

    return cmocka_run_group_tests(tests, make_root, remove_root);
}
