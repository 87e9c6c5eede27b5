/* needs: full. Any bytes on the control socket of a lab: each line gets one answer, a line of JSON, and what was asked for wrongly
 * changes nothing that breaks the fabric. A capture that is asked for gets the lab's frames. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ev.h>

#include "emu/fabric/eventq.h"
#include "emu/fabric/fabric.h"
#include "emu/live/commands.h"
#include "emu/live/control.h"
#include "emu/model/topology_file.h"
#include "emu/report/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char site[] =
    "version: 1\n"
    "name: lab\n"
    "nodes:\n"
    "  esx1: {kind: esxi, vswitches: {vSwitch1: {uplinks: 'vmnic[0-1]', teaming: ip-hash}},\n"
    "    vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.16/24}}}\n"
    "  sw: {kind: switch, mtu: 9216, hash: xor-src-dst-ip, lags: {po1: {to: 'esx1:vSwitch1', mode: static}}}\n"
    "  nas: {kind: nas, controllers: {'c[1-2]': {nics: [e0]}}, exports: {/v: {}},\n"
    "    vips: {'10.0.0.[100-101]/24': {home: round-robin}}}\n"
    "links:\n"
    "  - {ends: ['esx1:vmnic[0-1]', 'sw:[1-2]'], speed: 1G}\n"
    "  - {ends: ['nas:c[1-2].e0', 'sw:[5-6]'], speed: 1G}\n";

static struct lab {
    struct topo *topo;
    struct eventq *queue;
    struct train_pool *pool;
    struct fabric *fabric;
    struct ev_loop *loop;
    struct commands *commands;
    struct control_server *server;
    struct train_flow flow;
    char path[64];
} lab;

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static void deliver(void *context, int iface, struct train *t, ps_t now)
{
    (void)context;
    (void)iface;
    (void)now;
    train_release(lab.pool, t);
}

static void tap(void *context, int linkdir, const struct train *t, ps_t start)
{
    (void)context;
    commands_tap(lab.commands, linkdir, t, start);
}

static ps_t now(void *context)
{
    (void)context;
    eventq_run(lab.queue, eventq_now(lab.queue) + PS_PER_MS);
    return eventq_now(lab.queue);
}

static bool apply(void *context, const struct topo_event *event, char *problem, size_t size)
{
    (void)context;
    (void)problem;
    (void)size;
    fabric_apply(lab.fabric, event, eventq_now(lab.queue));
    return true;
}

static size_t frame(const struct train *t, uint32_t i, uint8_t *out, size_t size)
{
    size_t n = i + 1 < t->frames ? t->frame_bytes : t->last_bytes;

    memset(out, 0, n < size ? n : size);
    return n;
}

static void open_lab(void)
{
    struct fabric_config fabric = {.seed = 1, .deliver = deliver, .tap = tap};
    struct commands_lab c = {.name = "lab", .scale = 0.5, .now = now, .apply = apply, .frame = frame};
    struct diag d;
    struct topo_file *f;

    diag_init(&d, "site");
    f = topo_file_parse("site", site, sizeof site - 1, &d);
    lab.topo = topo_load(f, NULL, &d);
    topo_file_close(f);
    diag_free(&d);
    lab.queue = eventq_new();
    lab.pool = train_pool_new();
    lab.loop = ev_loop_new(EVFLAG_NOENV);
    demand(lab.topo && lab.queue && lab.pool && lab.loop);
    lab.fabric = fabric_new(lab.topo, lab.queue, lab.pool, &fabric);
    demand(lab.fabric != NULL);
    c.topo = lab.topo;
    c.fabric = lab.fabric;
    c.pool = lab.pool;
    c.loop = lab.loop;
    lab.commands = commands_new(&c);
    snprintf(lab.path, sizeof lab.path, "/tmp/fuzz-control-%ld", (long)getpid());
    demand(lab.commands && control_server_new(&lab.server, lab.loop, lab.path, commands_handle, lab.commands) == 0);
}

static void close_lab(void)
{
    char problem[512];

    demand(fabric_conserves(lab.fabric, problem, sizeof problem));
    commands_free(lab.commands);
    control_server_free(lab.server);
    fabric_free(lab.fabric);
    demand(train_pool_used(lab.pool) == 0);
    train_pool_free(lab.pool);
    eventq_free(lab.queue);
    ev_loop_destroy(lab.loop);
    topo_free(lab.topo);
}

/* A train from the host to wherever the first VIP was first. */
static void send_train(void)
{
    struct hash_flow f = {
        .ip_version = 4, .src = {10, 0, 0, 16}, .dst = {10, 0, 0, 100}, .proto = 6, .sport = 700, .dport = 2049};
    struct train *t = train_new(lab.pool);

    hash_key_flow(&lab.flow.key, &f);
    memset(&t->u, 0, sizeof t->u);
    t->kind = TRAIN_DATA;
    t->flow = &lab.flow;
    t->frames = 3;
    t->frame_bytes = 1514;
    t->last_bytes = 100;
    t->u.tcp.mss = 1448;
    t->u.tcp.length = 2 * 1448 + 34;
    memcpy(t->src, lab.topo->ifaces[0].mac, 6);
    memcpy(t->dst, "\x02\0\0\0\0\1", 6);
    train_ready(t, eventq_now(lab.queue));
    fabric_send(lab.fabric, 0, -1, t, eventq_now(lab.queue));
}

/* Whole lines in answer[0 .. n-1] are JSON and say whether it went well; true when one of them begins a capture. */
static bool look_at_answers(const char *answer, size_t n)
{
    char problem[256];

    for (size_t at = 0; at < n;) {
        const char *end = memchr(answer + at, '\n', n - at);
        struct json_in *j;
        bool stream;

        if (!end)
            return false;
        j = json_in_parse(answer + at, (size_t)(end - answer) - at, problem, sizeof problem);
        demand(j && (json_in_true(json_in_member(j, "ok")) || json_in_text(json_in_member(j, "error"))));
        stream = json_in_member(j, "capture") != NULL;
        json_in_free(j);
        if (stream)
            return true;
        at = (size_t)(end - answer) + 1;
    }
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answer[1 << 20];
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    size_t n = 0;
    int fd;

    if (size > 8192)
        return 0;
    open_lab();
    send_train();
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    memcpy(a.sun_path, lab.path, sizeof lab.path);
    demand(fd >= 0 && connect(fd, (const struct sockaddr *)&a, sizeof a) == 0);
    demand(send(fd, data, size, MSG_NOSIGNAL) == (ssize_t)size);
    shutdown(fd, SHUT_WR);
    for (int quiet = 0; quiet < 3 && n < sizeof answer;) {
        ssize_t got;

        ev_run(lab.loop, EVRUN_NOWAIT);
        send_train();
        eventq_run(lab.queue, eventq_now(lab.queue) + PS_PER_MS);
        got = recv(fd, answer + n, sizeof answer - n, MSG_DONTWAIT);
        quiet = got > 0 ? 0 : quiet + 1;
        n += got > 0 ? (size_t)got : 0;
    }
    look_at_answers(answer, n);
    close(fd);
    ev_run(lab.loop, EVRUN_NOWAIT);
    close_lab();
    return 0;
}
