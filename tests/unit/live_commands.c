/* needs: full
 * What a running lab can be asked: a fabric in virtual time behind the real control socket, server and client in one loop.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include <ev.h>

#include "emu/live/capture.h"
#include "emu/live/carried.h"
#include "emu/live/changes.h"
#include "emu/live/commands.h"
#include "emu/live/control.h"
#include "emu/report/json.h"
#include "tests/support/fabric_rig.h"

static const char site[] =
    "version: 1\n"
    "name: lab\n"
    "nodes:\n"
    "  esx1: {kind: esxi, version: \"7.0u3\", vswitches: {vSwitch1: {uplinks: \"vmnic[0-3]\", teaming: ip-hash}},\n"
    "         portgroups: {nfs: {vswitch: vSwitch1, vlan: 50}},\n"
    "         vmknics: {vmk1: {portgroup: nfs, address: 10.0.0.16/24}}}\n"
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, vlans: [50],\n"
    "       lags: {po1: {to: \"esx1:vSwitch1\", mode: static, vlan: trunk}}, ports: {\"[5-6]\": {vlan: 50}}}\n"
    "  nas: {kind: nas, controllers: {ctl1: {nics: [e0]}, ctl2: {nics: [e0]}},\n"
    "        exports: {/v: {}}, vips: {\"10.0.0.[100-101]/24\": {home: ctl1}}}\n"
    "links:\n"
    "  - {ends: [\"esx1:vmnic[0-3]\", \"sw:[1-4]\"], speed: 1G, delay: 3us}\n"
    "  - {ends: [\"nas:ctl[1-2].e0\", \"sw:[5-6]\"], speed: 1G, buffer: 20000B}\n";

static struct rig r;
static struct ev_loop *loop;
static struct commands *commands;
static struct control_server *server;
static char path[200];
static struct topo_event applied[8];
static int n_applied;

static ps_t now(void *context)
{
    (void)context;
    return rig_now(&r);
}

static bool apply(void *context, const struct topo_event *event, char *problem, size_t size)
{
    (void)context;
    assert_true(n_applied < 8);
    applied[n_applied++] = *event;
    fabric_apply(r.fabric, event, rig_now(&r));
    snprintf(problem, size, "it can't be lost");
    return event->what != TOPO_EV_LINK_LOSS || event->loss != 0.5;
}

/* As long as it says; addresses, then the number of the frame. */
static size_t frame(const struct train *t, uint32_t i, uint8_t *out, size_t size)
{
    size_t n = i + 1 < t->frames ? t->frame_bytes : t->last_bytes;

    n -= t->tagged ? TRAIN_TAG_BYTES : 0;
    assert_true(size >= n);
    memset(out, 0, n);
    memcpy(out, t->dst, 6);
    memcpy(out + 6, t->src, 6);
    out[12] = 0x08;
    out[14] = (uint8_t)i;
    return n;
}

static void tap(void *context, int linkdir, const struct train *t, ps_t start)
{
    (void)context;
    commands_tap(commands, linkdir, t, start);
}

static void open_lab(double scale)
{
    struct commands_lab lab = {
        .name = "lab1", .scale = scale, .now = now, .apply = apply, .frame = frame, .context = &r};
    const char *tmp = getenv("TMPDIR");
    int fd;

    rig_open(&r, site);
    loop = ev_loop_new(0);
    lab.topo = r.topo;
    lab.fabric = r.fabric;
    lab.pool = r.pool;
    lab.loop = loop;
    commands = commands_new(&lab);
    r.watch = tap;
    n_applied = 0;
    snprintf(path, sizeof path, "%s/live-commands-XXXXXX", tmp ? tmp : "/tmp");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    assert_int_equal(control_server_new(&server, loop, path, commands_handle, commands), 0);
}

static void close_lab(void)
{
    commands_free(commands);
    control_server_free(server);
    ev_loop_destroy(loop);
    rig_close(&r);
}

static int dial(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
    assert_int_equal(connect(fd, (const struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

static struct json_in *ask_on(int fd, const char *request)
{
    static char line[100000];
    size_t n = 0;
    char problem[256];
    struct json_in *reply;

    assert_int_equal(send(fd, request, strlen(request), 0), (ssize_t)strlen(request));
    assert_int_equal(send(fd, "\n", 1, 0), 1);
    while (n == 0 || line[n - 1] != '\n') {
        ssize_t got;

        ev_run(loop, EVRUN_NOWAIT);
        got = recv(fd, line + n, 1, MSG_DONTWAIT);
        n += got > 0;
        assert_true(n < sizeof line);
    }
    reply = json_in_parse(line, n, problem, sizeof problem);
    if (!reply)
        fail_msg("%s: %.*s", problem, (int)n, line);
    return reply;
}

static struct json_in *ask(const char *request)
{
    int fd = dial();
    struct json_in *reply = ask_on(fd, request);

    close(fd);
    return reply;
}

static struct json_in *asked(const char *request)
{
    struct json_in *reply = ask(request);

    if (!json_in_true(json_in_member(reply, "ok")))
        fail_msg("%s: %s", request, json_in_text(json_in_member(reply, "error")));
    return reply;
}

static void refused(const char *request, const char *error)
{
    struct json_in *reply = ask(request);

    assert_false(json_in_true(json_in_member(reply, "ok")));
    assert_string_equal(json_in_text(json_in_member(reply, "error")), error);
    json_in_free(reply);
}

static const struct json_in *link_in(const struct json_in *reply, const char *name)
{
    return json_in_element(json_in_member(reply, "links"), (size_t)rig_linkdir(&r, name));
}

static double number(const struct json_in *object, const char *key)
{
    double n = -1;

    if (!json_in_number(json_in_member(object, key), &n))
        fail_msg("no number %s", key);
    return n;
}

static const char *text(const struct json_in *object, const char *key)
{
    return json_in_text(json_in_member(object, key));
}

static void talk(unsigned vip)
{
    char name[32];
    int esx = rig_iface(&r, "esx1", 0), v;

    snprintf(name, sizeof name, "10.0.0.%u", vip);
    v = rig_vip(&r, name);
    assert_true(rig_reaches(&r, esx, v));
    rig_answer(&r, esx, v, 10);
}

static void describes(void **state)
{
    struct json_in *reply;
    const struct json_in *l;

    (void)state;
    open_lab(1);
    reply = asked("{\"do\": \"status\"}");
    assert_string_equal(text(reply, "name"), "lab1");
    assert_int_equal(number(reply, "links"), 6);
    json_in_free(reply);
    reply = asked("{\"do\": \"links\"}");
    assert_int_equal(json_in_size(json_in_member(reply, "links")), 12);
    l = link_in(reply, "sw:2>esx1:vmnic1");
    assert_string_equal(text(l, "name"), "sw:2>esx1:vmnic1");
    assert_string_equal(text(l, "from"), "sw");
    assert_string_equal(text(l, "to"), "esx1");
    assert_string_equal(text(l, "team"), "po1");
    assert_string_equal(text(l, "policy"), "xor-src-dst-ip");
    l = link_in(reply, "nas:ctl1.e0>sw:5");
    assert_null(text(l, "team"));
    assert_null(text(l, "policy"));
    json_in_free(reply);
    refused("{\"do\": \"flow\"}", "a lab can't `flow`; did you mean `flows`?");
    refused("{\"do\": \"make coffee\"}", "a lab can't `make coffee`");
    close_lab();
}

static void counts(void **state)
{
    struct json_in *reply;
    const struct json_in *l;

    (void)state;
    open_lab(1);
    talk(101);
    reply = asked("{\"do\": \"counters\"}");
    l = link_in(reply, "sw:2>esx1:vmnic1"); /* ten full frames, with tags */
    assert_int_equal(number(l, "frames"), 10);
    assert_int_equal(number(l, "bytes"), 10 * 1542);
    assert_int_equal(number(l, "rate"), 1000000000);
    assert_string_equal(text(l, "state"), "up");
    assert_true(json_in_true(json_in_member(l, "carrier")));
    assert_int_equal(number(link_in(reply, "sw:1>esx1:vmnic0"), "frames"), 0);
    assert_true(number(reply, "time") > 0.001);
    assert_int_equal(number(link_in(reply, "sw:5>nas:ctl1.e0"), "buffer"), 20000);
    json_in_free(reply);
    close_lab();
}

static void tells_flows_with_their_rule(void **state)
{
    struct json_in *reply;
    const struct json_in *f;

    (void)state;
    open_lab(1);
    talk(100);
    talk(101);
    reply = asked("{\"do\": \"flows\"}");
    assert_int_equal(json_in_size(json_in_member(reply, "flows")), 8);
    json_in_free(reply);
    reply = asked("{\"do\": \"flows\", \"link\": \"esx1:vmnic1>sw:2\"}");
    assert_int_equal(json_in_size(json_in_member(reply, "flows")), 1);
    f = json_in_element(json_in_member(reply, "flows"), 0);
    assert_string_equal(text(f, "src"), "10.0.0.16");
    assert_string_equal(text(f, "dst"), "10.0.0.101");
    assert_string_equal(text(f, "from"), "esx1");
    assert_string_equal(text(f, "to"), "nas:ctl1");
    assert_int_equal(number(f, "dport"), 2049);
    assert_int_equal(number(f, "frames"), 1);
    assert_string_equal(text(f, "policy"), "esxi-ip-hash");
    assert_string_equal(text(f, "label"), "exact");
    assert_string_equal(text(f, "why"), "0x0A000010 xor 0x0A000065 = 0x00000075, mod 4 = 1");
    assert_true(json_in_true(json_in_member(f, "agrees")));
    json_in_free(reply);
    reply = asked("{\"do\": \"flows\", \"link\": \"esx1:vmnic1\"}"); /* both directions */
    assert_int_equal(json_in_size(json_in_member(reply, "flows")), 2);
    json_in_free(reply);
    /* Page by page: three times three of eight. */
    for (int page = 0, seen = 0; page < 3; page++) {
        char request[80];
        uint64_t next = 0;

        snprintf(request, sizeof request, "{\"do\": \"flows\", \"max\": 3, \"after\": %d}", 3 * page);
        reply = asked(request);
        seen += (int)json_in_size(json_in_member(reply, "flows"));
        assert_true(json_in_count(json_in_member(reply, "next"), &next) == (page < 2));
        assert_int_equal(next, page < 2 ? 3 * page + 3 : 0);
        assert_int_equal(seen, page < 2 ? 3 * page + 3 : 8);
        json_in_free(reply);
    }
    refused("{\"do\": \"flows\", \"max\": 0}", "\"after\" and \"max\" are numbers, and \"max\" isn't 0");
    reply = asked("{\"do\": \"counters\"}");
    assert_int_equal(number(link_in(reply, "sw:2>esx1:vmnic1"), "flows"), 1);
    assert_int_equal(number(link_in(reply, "sw:5>nas:ctl1.e0"), "flows"), 2);
    json_in_free(reply);
    rig_run(&r, 5 * PS_PER_S);
    reply = asked("{\"do\": \"counters\"}");
    assert_int_equal(number(link_in(reply, "sw:5>nas:ctl1.e0"), "flows"), 0);
    json_in_free(reply);
    reply = asked("{\"do\": \"flows\", \"within\": 2}");
    assert_int_equal(json_in_size(json_in_member(reply, "flows")), 0);
    json_in_free(reply);
    refused("{\"do\": \"flows\", \"within\": -1}", "\"within\" is a number of seconds up to a million");
    close_lab();
}

static void sets_a_link(void **state)
{
    struct fabric_link l;
    struct json_in *reply;

    (void)state;
    open_lab(1);
    reply =
        asked("{\"do\": \"set\", \"link\": \"sw:5\", \"changes\": [\"state=one-way\", \"rate=500M\", \"delay=2ms\", "
              "\"loss=1%\", \"buffer=64KiB\"]}");
    assert_string_equal(text(json_in_element(json_in_member(reply, "links"), 0), "state"), "up");
    assert_string_equal(text(json_in_element(json_in_member(reply, "links"), 1), "state"), "one-way");
    json_in_free(reply);
    fabric_link(r.fabric, rig_linkdir(&r, "sw:5>nas:ctl1.e0"), rig_now(&r), &l);
    assert_int_equal(l.state, TOPO_LINK_ONE_WAY);
    assert_int_equal(l.from_end, 1);
    assert_int_equal(l.rate, 500000000);
    assert_int_equal(l.delay, 2 * PS_PER_MS);
    assert_true(l.loss > 0.00999 && l.loss < 0.01001);
    assert_int_equal(l.buffer, 65536);
    assert_int_equal(n_applied, 4);
    /* A direction names the end that one-way is about. */
    json_in_free(asked("{\"do\": \"set\", \"link\": \"nas:ctl1.e0>sw:5\", \"changes\": [\"state=one-way\"]}"));
    assert_int_equal(applied[4].from_end, 0);
    for (int i = 0; i < 3; i++) {
        static const char *const states[] = {"down", "blackhole", "up"};
        char request[200];

        snprintf(request, sizeof request, "{\"do\": \"set\", \"link\": \"esx1:vmnic2\", \"changes\": [\"state=%s\"]}",
                 states[i]);
        reply = asked(request);
        assert_string_equal(text(json_in_element(json_in_member(reply, "links"), 0), "state"), states[i]);
        json_in_free(reply);
    }
    close_lab();
}

static void scales_what_it_sets(void **state)
{
    (void)state;
    open_lab(0.25);
    json_in_free(asked("{\"do\": \"set\", \"link\": \"sw:5\", \"changes\": [\"rate=500M\", \"delay=2ms\"]}"));
    assert_int_equal(applied[0].rate, 125000000);
    assert_int_equal(applied[1].delay, 8 * PS_PER_MS);
    close_lab();
}

#define SET(link, changes) "{\"do\": \"set\", \"link\": \"" link "\", \"changes\": [" changes "]}"

static void refuses_what_no_link_has(void **state)
{
    (void)state;
    open_lab(1);
    refused("{\"do\": \"set\"}", "`set` needs a \"link\" and \"changes\" to it");
    refused(SET("sw:5", ""), "`set` needs a \"link\" and \"changes\" to it");
    refused(SET("esx1:vmnik2", "\"state=up\""),
            "there is no port with a cable `esx1:vmnik2`; did you mean `esx1:vmnic2`?");
    refused(SET("esx1:vmnic2>sw:4", "\"state=up\""), "the cable at `esx1:vmnic2` leads to `sw:3`, not to `sw:4`");
    refused(SET("sw:5", "\"down\""), "`down` is not KEY=VALUE; keys are state, rate, delay, loss, buffer");
    refused(SET("sw:5", "1"), "\"changes\" is a list of texts");
    refused(SET("sw:5", "\"stat=up\""), "a link has no `stat`; did you mean `state`?");
    refused(SET("sw:5", "\"colour=red\""), "a link has no `colour`; it has state, rate, delay, loss, buffer");
    refused(SET("sw:5", "\"state=broken\""), "state: `broken` is not up, down, blackhole or one-way");
    refused(SET("sw:5", "\"rate=fast\""), "rate: `fast` is not a rate such as 1G, 100M or 2.5Gbit/s");
    refused(SET("sw:5", "\"rate=0\""), "rate: `0` is not a rate such as 1G, 100M or 2.5Gbit/s");
    refused(SET("sw:5", "\"rate=2T\""), "rate: `2T` is not from 1 kbit/s to 1 Tbit/s");
    refused(SET("sw:5", "\"delay=11s\""), "delay: `11s` is not from 0 to 10 s");
    refused(SET("sw:5", "\"loss=101%\""), "loss: `101%` is not from 0% to 100%");
    refused(SET("sw:5", "\"buffer=1KiB\""), "buffer: `1KiB` is not from 16 KiB to 1 GiB");
    refused(SET("sw:5", "\"state=up\", \"state=down\""), "state: given twice, the second time with `down`");
    /* All or nothing. */
    refused(SET("sw:5", "\"state=down\", \"rate=1G\", \"delay=x\""),
            "delay: `x` is not a time such as 5us, 2.5ms, 30s or 10min");
    assert_int_equal(n_applied, 0);
    /* What the datapath can't do is its own sentence. */
    refused(SET("sw:5", "\"loss=50%\""), "it can't be lost");
    close_lab();
}

static void moves_a_vip(void **state)
{
    struct json_in *reply;

    (void)state;
    open_lab(1);
    talk(100);
    reply = asked("{\"do\": \"move\", \"vip\": \"10.0.0.100\", \"controller\": \"ctl2\", \"garp\": true}");
    assert_string_equal(text(reply, "from"), "nas:ctl1");
    assert_string_equal(text(reply, "to"), "nas:ctl2");
    json_in_free(reply);
    assert_int_equal(applied[0].what, TOPO_EV_VIP_MOVE);
    assert_true(applied[0].garp);
    assert_int_equal(fabric_vip_box(r.fabric, rig_vip(&r, "10.0.0.100")), rig_box(&r, "nas:ctl2"));
    json_in_free(asked("{\"do\": \"move\", \"vip\": \"10.0.0.100\", \"controller\": \"nas:ctl1\"}"));
    assert_false(applied[1].garp);
    refused("{\"do\": \"move\", \"vip\": \"10.0.0.100\"}", "`move` needs a \"vip\" and a \"controller\"");
    refused("{\"do\": \"move\", \"vip\": \"10.0.0.110\", \"controller\": \"ctl1\"}",
            "there is no VIP `10.0.0.110`; did you mean `10.0.0.100`?");
    refused("{\"do\": \"move\", \"vip\": \"10.0.0.100\", \"controller\": \"ctl3\"}",
            "nas has no controller `ctl3`; did you mean `ctl1`?");
    refused("{\"do\": \"move\", \"vip\": \"10.0.0.100\", \"controller\": \"esx1\"}", "nas has no controller `esx1`");
    close_lab();
}

/* ---- captures ---- */

struct record {
    uint32_t seconds, nanoseconds, captured, length;
};

static size_t receive(int fd, uint8_t *out, size_t size)
{
    size_t n = 0;

    for (int quiet = 0; quiet < 10;) {
        ssize_t got;

        ev_run(loop, EVRUN_NOWAIT);
        got = recv(fd, out + n, size - n, MSG_DONTWAIT);
        quiet = got > 0 ? 0 : quiet + 1;
        n += got > 0 ? (size_t)got : 0;
        if (got <= 0)
            usleep(10000); /* frames that wait for the timer */
    }
    return n;
}

/* Reads a stream into frames by kind; all in order of time. */
static void read_capture(int fd, uint32_t snap, bool tagged, int *arp, int *data)
{
    static uint8_t bytes[200000];
    uint32_t header[6];
    int64_t before = 0;
    size_t n = receive(fd, bytes, sizeof bytes), at = sizeof header;

    *arp = *data = 0;
    memcpy(header, bytes, sizeof header);
    assert_int_equal(header[0], 0xA1B23C4D);
    assert_int_equal(header[4], snap);
    assert_int_equal(header[5], 1);
    while (at < n) {
        struct record rec;
        const uint8_t *type = bytes + at + sizeof rec + 12;
        uint32_t tag = tagged ? 4 : 0, length;

        memcpy(&rec, bytes + at, sizeof rec);
        assert_true((int64_t)rec.seconds * 1000000000 + rec.nanoseconds >= before);
        before = (int64_t)rec.seconds * 1000000000 + rec.nanoseconds;
        if (tagged) {
            assert_memory_equal(type, "\x81\x00\x00\x32", 4);
            type += 4;
        }
        assert_int_equal(type[0], 8);
        length = (type[1] == 6 ? 60 : 1514) + tag;
        *(type[1] == 6 ? arp : data) += 1;
        assert_int_equal(rec.length, length);
        assert_int_equal(rec.captured, length < snap ? length : snap);
        at += sizeof rec + rec.captured;
    }
    assert_int_equal(at, n);
}

static void captures_a_link(void **state)
{
    struct json_in *reply;
    int fd[2], arp, data;

    (void)state;
    open_lab(1);
    for (int i = 0; i < 2; i++) {
        fd[i] = dial();
        reply = ask_on(fd[i], i ? "{\"do\": \"capture\", \"link\": \"sw:5\"}"
                                : "{\"do\": \"capture\", \"link\": \"esx1:vmnic1\", \"snap\": 100}");
        assert_true(json_in_true(json_in_member(reply, "ok")));
        assert_int_equal(number(reply, "capture"), 1 + i);
        json_in_free(reply);
    }
    talk(101); /* a frame up, ten down */
    talk(100); /* on another uplink */
    read_capture(fd[0], 100, true, &arp, &data);
    assert_int_equal(data, 11);
    assert_int_equal(arp, 0); /* by the first member */
    reply = asked("{\"do\": \"captured\", \"capture\": 1}");
    assert_int_equal(number(reply, "frames"), 11);
    assert_int_equal(number(reply, "bytes"), 11 * 1518);
    assert_int_equal(number(reply, "lost"), 0);
    json_in_free(reply);
    read_capture(fd[1], CAPTURE_SNAP_MAX, false, &arp, &data);
    assert_int_equal(data, 22);
    assert_int_equal(arp, 4);
    close(fd[0]);
    ev_run(loop, EVRUN_NOWAIT);
    refused("{\"do\": \"captured\", \"capture\": 1}", "there is no capture 1");
    close_lab(); /* the rig finds trains that nobody released */
    close(fd[1]);
}

/* A reader that stops reading loses frames, and is told how many. The lab goes on, and ends with the capture still open. */
static void loses_what_is_not_read(void **state)
{
    static uint8_t bytes[1 << 20];
    struct json_in *reply;
    int esx, vip, fd;
    double lost, frames;

    (void)state;
    open_lab(1);
    talk(101);
    esx = rig_iface(&r, "esx1", 0);
    vip = rig_vip(&r, "10.0.0.101");
    fd = dial();
    reply = ask_on(fd, "{\"do\": \"capture\", \"link\": \"sw:2>esx1:vmnic1\"}");
    json_in_free(reply);
    for (int i = 0; i < 300; i++)
        rig_answer(&r, esx, vip, 40);
    rig_run(&r, PS_PER_S);
    usleep(100000); /* until the timer writes the last frames */
    ev_run(loop, EVRUN_NOWAIT);
    reply = asked("{\"do\": \"captured\", \"capture\": 1}");
    lost = number(reply, "lost");
    frames = number(reply, "frames");
    json_in_free(reply);
    assert_true(lost > 3000);
    assert_true(lost + frames == 12000);
    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ev_run(loop, EVRUN_NOWAIT);
    rig_answer(&r, esx, vip, 40);
    reply = asked("{\"do\": \"captured\", \"capture\": 1}");
    assert_true(number(reply, "frames") > frames);
    json_in_free(reply);
    close_lab();
    close(fd);
}

static void refuses_captures_of_nothing(void **state)
{
    (void)state;
    open_lab(1);
    refused("{\"do\": \"capture\"}", "`capture` needs a \"link\"");
    refused("{\"do\": \"capture\", \"link\": \"sw:9\"}", "there is no port with a cable `sw:9`; did you mean `sw:1`?");
    refused("{\"do\": \"capture\", \"link\": \"sw:5\", \"snap\": 10}", "\"snap\" is a number from 64 to 262144");
    refused("{\"do\": \"captured\"}", "`captured` needs the number of a \"capture\"");
    close_lab();
}

/* ---- the table of flows ---- */

static void counts_anew_under_a_number_used_again(void **state)
{
    struct carried *c = carried_new();
    struct train_flow flow = {.id = 7};
    struct train t = {.kind = TRAIN_DATA, .flow = &flow, .frames = 2, .frame_bytes = 1514, .last_bytes = 100};

    (void)state;
    flow.key.ip_version = 4;
    carried_train(c, 3, &t, 10);
    carried_train(c, 3, &t, 20);
    carried_train(c, 4, &t, 20);
    assert_int_equal(carried_count(c), 2);
    assert_int_equal(carried_at(c, 0)->bytes, 2 * (1538 + 124));
    assert_int_equal(carried_at(c, 0)->frames, 4);
    flow.key.sport = 99;
    carried_train(c, 3, &t, 30);
    assert_int_equal(carried_count(c), 2);
    assert_int_equal(carried_at(c, 0)->bytes, 1538 + 124);
    assert_int_equal(carried_at(c, 0)->first, 30);
    assert_int_equal(carried_at(c, 0)->key.sport, 99);
    t.flow = NULL;
    carried_train(c, 3, &t, 30);
    assert_int_equal(carried_count(c), 2);
    carried_free(c);
}

static void forgets_old_flows_when_full(void **state)
{
    struct carried *c = carried_new();
    struct train_flow flow = {.id = 0};
    struct train t = {.kind = TRAIN_DATA, .flow = &flow, .frames = 1, .last_bytes = 100};

    (void)state;
    for (uint32_t i = 0; i < CARRIED_MAX; i++) {
        flow.id = i;
        carried_train(c, 1, &t, i < 1000 ? 0 : 5 * PS_PER_S);
    }
    flow.id = CARRIED_MAX;
    carried_train(c, 1, &t, 6 * PS_PER_S);
    assert_int_equal(carried_untold(c), 1);
    for (uint32_t i = 1; i <= 2000; i++) {
        flow.id = CARRIED_MAX + i;
        carried_train(c, 1, &t, 11 * PS_PER_S);
    }
    /* It looks through all of it once in 1024 trains. */
    assert_int_equal(carried_untold(c), 1024);
    assert_int_equal(carried_count(c), CARRIED_MAX - 1000 + 2000 - 1023);
    flow.id = 2000; /* still known, after all has moved */
    carried_train(c, 1, &t, 11 * PS_PER_S);
    for (size_t i = 0; i < carried_count(c); i++)
        if (carried_at(c, i)->id == 2000)
            assert_int_equal(carried_at(c, i)->frames, 2);
    carried_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(describes),
        cmocka_unit_test(counts),
        cmocka_unit_test(tells_flows_with_their_rule),
        cmocka_unit_test(sets_a_link),
        cmocka_unit_test(scales_what_it_sets),
        cmocka_unit_test(refuses_what_no_link_has),
        cmocka_unit_test(moves_a_vip),
        cmocka_unit_test(captures_a_link),
        cmocka_unit_test(loses_what_is_not_read),
        cmocka_unit_test(refuses_captures_of_nothing),
        cmocka_unit_test(counts_anew_under_a_number_used_again),
        cmocka_unit_test(forgets_old_flows_when_full),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
