/* Options of nfsbal mount: each honoured, accepted or refused with the reason. needs: full */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsbal/client/mount_options.h"

static struct mount_options o;
static char problem[300];

static bool parse(const char *text)
{
    mount_options_init(&o);
    *problem = '\0';
    return mount_options_parse(&o, text, problem, sizeof problem);
}

static void refused(const char *text, const char *word)
{
    assert_false(parse(text));
    if (!strstr(problem, word))
        fail_msg("-o %s: `%s` says nothing of `%s`", text, problem, word);
}

static void defaults(void **state)
{
    (void)state;
    assert_true(parse(""));
    assert_false(o.soft || o.read_only || o.sync || o.reserved);
    assert_true(o.cto && o.permissions && o.plus);
    assert_int_equal(o.cache, MOUNT_CACHE_AUTO);
    assert_int_equal(o.spread, MOUNT_SPREAD_MOUNT);
    assert_int_equal(o.ac_reg_min, 3000000000);
    assert_int_equal(o.ac_dir_max, 60000000000);
    assert_int_equal(o.uid, -1);
    assert_int_equal(o.timeo, -1);
}

static void honoured(void **state)
{
    (void)state;
    assert_true(parse("ro,soft,timeo=5,retrans=0,wsize=65536,rsize=64KiB,spread=stripe,cache=none,nconnect=4"));
    assert_true(o.read_only && o.soft);
    assert_int_equal(o.timeo, 500); /* tenths of a second */
    assert_int_equal(o.retrans, 0);
    assert_int_equal(o.wsize, 65536);
    assert_int_equal(o.rsize, 65536);
    assert_int_equal(o.spread, MOUNT_SPREAD_STRIPE);
    assert_int_equal(o.cache, MOUNT_CACHE_NONE);
    assert_int_equal(o.nconnect, 4);
    assert_true(parse("timeo=300ms,bound=300ms,failback=30s,quarantine=10"));
    assert_int_equal(o.timeo, 300);
    assert_int_equal(o.bound, 300);
    assert_int_equal(o.failback, 30000);
    assert_int_equal(o.quarantine, 10000);
    assert_true(parse("ro,rw,soft,hard")); /* the last word counts */
    assert_false(o.read_only || o.soft);
    assert_true(parse("uid=0,gid=4294967294,noresvport,choice=weighted,congestion=cubic,srcaddr=fd00::1"));
    assert_int_equal(o.gid, 4294967294);
    assert_string_equal(o.congestion, "cubic");
}

static void caching(void **state)
{
    (void)state;
    assert_true(parse("actimeo=7"));
    assert_int_equal(o.ac_reg_min, 7000000000);
    assert_int_equal(o.ac_dir_max, 7000000000);
    assert_true(parse("noac"));
    assert_int_equal(o.ac_reg_max, 0);
    assert_true(o.sync);
    assert_true(parse("noac,ac"));
    assert_int_equal(o.ac_reg_max, 60000000000);
    assert_true(parse("acregmin=90")); /* at least min */
    assert_int_equal(o.ac_reg_max, 90000000000);
}

static void lists(void **state)
{
    (void)state;
    assert_true(parse("srcport=700-702:900,vips=10.0.0.[101,103],ro"));
    assert_int_equal(o.n_source_ports, 4);
    assert_int_equal(o.source_ports[2], 702);
    assert_int_equal(o.source_ports[3], 900);
    assert_string_equal(o.vips, "10.0.0.[101,103]");
    assert_true(o.read_only);
    assert_true(parse("srcport=700,sport=plan"));
    assert_true(o.plan_ports && o.n_source_ports == 0);
    assert_true(parse("srcport=plan,srcport=700,resolve=0"));
    assert_true(!o.plan_ports && o.n_source_ports == 1 && o.resolve == 0);
    assert_true(parse("vips=nas2~10.0.0.[101,103]~[fd00::1],rw"));
    assert_string_equal(o.vips, "nas2,10.0.0.[101,103],[fd00::1]");
}

static void accepted(void **state)
{
    (void)state;
    assert_true(
        parse("defaults,_netdev,nofail,nolock,vers=3,proto=tcp,sec=sys,x-systemd.automount,,noauto,local_lock=all"));
    assert_true(o.no_lock);
    assert_true(parse("X-mount.mkdir,user=joe,users,comment=mine,nodiratime,lazytime"));
}

static void refusals(void **state)
{
    (void)state;
    refused("nonsense", "unknown");
    refused("vers=4.1", "NFS 3");
    refused("nfsvers=4", "NFS 3");
    refused("lock", "local");
    refused("udp", "TCP");
    refused("proto=udp", "TCP");
    refused("sec=krb5p", "AUTH_SYS");
    refused("bg", "foreground");
    refused("wsize=3", "4096 to 1048576 bytes");
    refused("wsize=big", "wsize=big");
    refused("wsize", "needs a value");
    refused("ro=1", "takes no value");
    refused("noac=1", "takes no value");
    refused("actimeo", "needs a value");
    refused("spread=all", "mount, file or stripe");
    refused("srcport=0", "ports such as");
    refused("srcport=70000", "ports such as");
    refused("srcport=1-300", "at most 256");
    refused("uid=-1", "whole number");
    refused("acregmin=99999999", "day");
    refused("timeo=0", "1 to 6000000 ms");
    refused("congestion=averyverylongname", "shorter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults), cmocka_unit_test(honoured), cmocka_unit_test(caching),
        cmocka_unit_test(lists),    cmocka_unit_test(accepted), cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
