/* NFS servers in network namespaces. needs: full
 *
 * nfs-ganesha itself, read and written by libnfs's little programs from within the namespaces. */
#define _GNU_SOURCE
#include "emu/live/server.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>
#include <cmocka.h>

enum { PATIENCE = 60000 }; /* ms, under sanitizers beside other tests */

struct place {
    pid_t holder; /* keeps the namespace open */
    char netns[64], dir[64];
};

struct site {
    char dir[64], volume[80], lab[32];
    struct place place[2];
};

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    int rc = system(command);
    if (rc)
        fail_msg("%s: status %d", command, rc);
}

/* What a command prints, its first line. */
static char *printed(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static char *printed(char *out, size_t size, const char *format, ...)
{
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    FILE *f = popen(command, "r");
    if (!f || !fgets(out, (int)size, f))
        *out = '\0';
    out[strcspn(out, "\n")] = '\0';
    if (f)
        pclose(f);
    return out;
}

/* A process in a network namespace of its own, loopback up; ends with this program. */
static pid_t hold_namespace(void)
{
    int fds[2];
    char byte;
    assert_return_code(pipe(fds), errno);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (unshare(CLONE_NEWNET) || system("ip link set lo up"))
            _exit(1);
        (void)!write(fds[1], "x", 1);
        close(fds[0]);
        close(fds[1]);
        for (;;)
            pause();
    }
    close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    close(fds[0]);
    return pid;
}

static int set_up(void **state)
{
    static struct site s;
    char dir[] = "/run/emu-test-XXXXXX";
    assert_non_null(mkdtemp(dir));
    strcpy(s.dir, dir);
    snprintf(s.volume, sizeof s.volume, "%s/vol1", dir);
    mkdir(s.volume, 0755);
    snprintf(s.lab, sizeof s.lab, "test-%d-", (int)getpid());
    for (int i = 0; i < 2; i++) {
        struct place *p = &s.place[i];
        snprintf(p->dir, sizeof p->dir, "%s/ctl%d", dir, i + 1);
        mkdir(p->dir, 0755);
        p->holder = hold_namespace();
        snprintf(p->netns, sizeof p->netns, "/proc/%d/ns/net", p->holder);
    }
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;
    for (int i = 0; i < 2; i++) {
        kill(s->place[i].holder, SIGKILL);
        waitpid(s->place[i].holder, NULL, 0);
    }
    shell("rm -rf %s", s->dir);
    return 0;
}

static int start(struct server *server, struct site *s, int place, char *problem, size_t size)
{
    static const char *const names[] = {"nas:ctl1", "nas:ctl2"};
    struct server_export exports[] = {{.path = "/vol1", .directory = s->volume}, {.path = "/sink"}};
    const struct server_config c = {.name = names[place],
                                    .netns_path = s->place[place].netns,
                                    .dir = s->place[place].dir,
                                    .lab = s->lab,
                                    .exports = exports,
                                    .n_exports = 2};
    int rc = server_start(server, &c, problem, size);
    return rc ? rc : server_wait(server, PATIENCE, problem, size);
}

#define URL "\"nfs://127.0.0.1%s?nfsport=2049&mountport=20048\""

/* Two controllers export one directory: what one writes the other reads, at once and after the first is gone. */
static void two_serve_one_directory(void **state)
{
    struct site *s = *state;
    struct server a, b;
    char problem[256] = "", text[128];
    assert_int_equal(start(&a, s, 0, problem, sizeof problem), 1);
    assert_int_equal(start(&b, s, 1, problem, sizeof problem), 1);
    int pid[2] = {s->place[0].holder, s->place[1].holder};

    shell("head -c 3000000 /dev/urandom > %s/in", s->dir);
    shell("nsenter -n -t %d nfs-cp %s/in " URL " >/dev/null", pid[0], s->dir, "/vol1/file");
    shell("cmp %s/in %s/file", s->dir, s->volume);
    shell("nsenter -n -t %d nfs-cat " URL " | cmp %s/in", pid[1], "/vol1/file", s->dir);
    /* It grows behind their backs, as by a third controller, and both see the new size: nothing is cached. */
    shell("head -c 1000000 /dev/urandom | tee -a %s/in >> %s/file", s->dir, s->volume);
    shell("nsenter -n -t %d nfs-cat " URL " | cmp %s/in", pid[0], "/vol1/file", s->dir);
    shell("nsenter -n -t %d nfs-cat " URL " | cmp %s/in", pid[1], "/vol1/file", s->dir);
    shell("nsenter -n -t %d nfs-cp %s/in " URL " >/dev/null", pid[1], s->dir, "/vol1/second");
    shell("nsenter -n -t %d nfs-cat " URL " | cmp %s/in", pid[0], "/vol1/second", s->dir);
    server_stop(&a);
    shell("nsenter -n -t %d nfs-cat " URL " | cmp %s/in", pid[1], "/vol1/file", s->dir);
    /* The sink takes anything and keeps nothing. */
    shell("nsenter -n -t %d nfs-cp %s/in " URL " >/dev/null", pid[1], s->dir, "/sink/file");
    assert_string_equal(
        printed(text, sizeof text, "nsenter -n -t %d nfs-cat " URL " | head -c 4", pid[1], "/sink/file"), "aaaa");
    assert_int_equal(server_check(&b, problem, sizeof problem), 1);
    server_stop(&b);
    assert_int_equal(b.pid, 0);
}

/* No process of the server, no socket, no mount is left; what it shared with the outside is as it was. */
static void leaves_nothing(void **state)
{
    struct site *s = *state;
    struct server a;
    char problem[256] = "", text[128];
    assert_int_equal(start(&a, s, 0, problem, sizeof problem), 1);
    server_stop(&a);
    assert_string_equal(printed(text, sizeof text, "nsenter -n -t %d ss -Hlnt", s->place[0].holder), "");
    assert_string_equal(
        printed(text, sizeof text, "grep -c 'EMU_LAB=%s' /proc/[0-9]*/environ 2>/dev/null | grep -v :0", s->lab), "");
    assert_string_equal(printed(text, sizeof text, "grep '^emu-server /run ' /proc/mounts"), "");
    /* And it starts again in the same place. */
    assert_int_equal(start(&a, s, 0, problem, sizeof problem), 1);
    /* Killing the first process takes all of it. */
    kill(a.pid, SIGKILL);
    assert_true(server_wait(&a, PATIENCE, problem, sizeof problem) < 0 ||
                (usleep(200000), server_check(&a, problem, sizeof problem) < 0));
    assert_string_equal(problem, "nas:ctl1: the NFS server was killed");
    usleep(100000);
    assert_string_equal(printed(text, sizeof text, "nsenter -n -t %d ss -Hlnt", s->place[0].holder), "");
    server_stop(&a);
}

static void says_when_it_dies(void **state)
{
    struct site *s = *state;
    struct server a;
    char problem[256] = "", pid[64];
    assert_int_equal(start(&a, s, 0, problem, sizeof problem), 1);
    printed(pid, sizeof pid, "pgrep -x ganesha.nfsd -P %d", a.pid);
    shell("kill -9 %s", pid);
    int rc = 1;
    for (int i = 0; i < PATIENCE / 10 && rc == 1; i++) {
        usleep(10000);
        rc = server_check(&a, problem, sizeof problem);
    }
    assert_int_equal(rc, -ECONNREFUSED);
    assert_non_null(strstr(problem, "nas:ctl1: nfs-ganesha has ended"));
    server_stop(&a);
}

static void port_in_use(void **state)
{
    struct site *s = *state;
    struct server a;
    char problem[256] = "";
    pid_t pid = fork();
    if (pid == 0) { /* somebody else's server in that namespace */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int netns = open(s->place[0].netns, O_RDONLY);
        struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(SERVER_PORT)};
        if (setns(netns, CLONE_NEWNET))
            _exit(1);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(fd, (struct sockaddr *)&any, sizeof any) || listen(fd, 1))
            _exit(1);
        for (;;)
            pause();
    }
    usleep(200000);
    assert_int_equal(start(&a, s, 0, problem, sizeof problem), -ECONNREFUSED);
    assert_string_equal(problem, "nas:ctl1: port 2049 is in use in its namespace");
    server_stop(&a);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void bad_input(void **state)
{
    struct site *s = *state;
    struct server a;
    char problem[256] = "";
    char none[] = "/run/emu-test-none";
    struct server_export e = {.path = "/vol\"1", .directory = s->volume};
    struct server_config c = {
        .name = "nas", .netns_path = s->place[0].netns, .dir = s->place[0].dir, .exports = &e, .n_exports = 1};
    assert_int_equal(server_start(&a, &c, problem, sizeof problem), -EINVAL);
    assert_non_null(strstr(problem, "nas: nfs-ganesha can't export `/vol\"1`"));
    server_stop(&a);

    e.path = "/vol1";
    c.netns_path = "/run/netns/none-of-ours";
    assert_int_equal(server_start(&a, &c, problem, sizeof problem), -ENOENT);
    assert_string_equal(problem, "nas: /run/netns/none-of-ours: No such file or directory");
    server_stop(&a);

    c.netns_path = s->place[0].netns;
    e.directory = none;
    assert_int_equal(server_start(&a, &c, problem, sizeof problem), 0);
    assert_int_equal(server_wait(&a, PATIENCE, problem, sizeof problem), -ECONNREFUSED);
    assert_string_equal(problem, "nas: /run/emu-test-none: No such file or directory");
    server_stop(&a);
    server_stop(&a); /* twice does no harm */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_serve_one_directory),
        cmocka_unit_test(leaves_nothing),
        cmocka_unit_test(says_when_it_dies),
        cmocka_unit_test(port_in_use),
        cmocka_unit_test(bad_input),
    };
    const char *preloaded = getenv("LD_PRELOAD");
    if (preloaded && strstr(preloaded, "vgpreload")) {
        puts("valgrind knows neither namespaces in clone() nor open_tree()");
        return 0;
    }
    if (geteuid() != 0 || server_missing() || access("/usr/bin/nfs-cat", X_OK)) {
        puts("skipped: needs root, nfs-ganesha, rpcbind and libnfs-utils");
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
