/* needs: full
 * The control socket: requests, refusals, streams, hostile and slow peers. The server runs in a child of its own, as it does
 * in a lab, and ends with the connection that says "end".
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

#include <cmocka.h>

#include <ev.h>

#include "emu/live/control.h"
#include "emu/live/control_address.h"
#include "emu/report/json.h"

enum { TIMEOUT = 20000, STREAM_BYTES = 3000000 };

struct rig {
    char folder[400], path[500];
    pid_t child;
};

/* ---- the lab's side ---- */

struct lab {
    struct ev_loop *loop;
    struct control_connection *stream;
    bool closed;
};

static void stream_closed(void *owner)
{
    struct lab *lab = owner;

    lab->stream = NULL;
    lab->closed = true;
}

static bool handle(void *context, struct control_call *call)
{
    struct lab *lab = context;

    if (strcmp(call->what, "echo") == 0) {
        json_out_string(call->reply, "text", json_in_text(json_in_member(call->request, "text")));
    } else if (strcmp(call->what, "big") == 0) {
        json_out_array(call->reply, "numbers", JSON_ON_ONE_LINE);
        for (int i = 0; i < 200000; i++)
            json_out_integer(call->reply, NULL, i);
        json_out_end(call->reply);
    } else if (strcmp(call->what, "half") == 0) {
        json_out_string(call->reply, "text", "to be dropped");
        snprintf(call->problem, sizeof call->problem, "no such thing as `%s`", call->what);
        return false;
    } else if (strcmp(call->what, "stream") == 0) {
        static char bytes[STREAM_BYTES];
        uint64_t end = 0;

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(i % 251);
        control_stream_begin(call->connection, stream_closed, lab);
        lab->stream = call->connection;
        json_out_integer(call->reply, "bytes", STREAM_BYTES);
        (void)end;
        lab->closed = false;
    } else if (strcmp(call->what, "fill") == 0) {
        static char bytes[STREAM_BYTES];

        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (char)(i % 251);
        json_out_bool(call->reply, "taken", lab->stream && control_stream_write(lab->stream, bytes, sizeof bytes));
        if (lab->stream && json_in_true(json_in_member(call->request, "end"))) {
            struct control_connection *c = lab->stream;

            lab->stream = NULL;
            control_stream_end(c);
        }
    } else if (strcmp(call->what, "closed") == 0) {
        json_out_bool(call->reply, "closed", lab->closed);
    } else if (strcmp(call->what, "end") == 0) {
        ev_break(lab->loop, EVBREAK_ALL);
    } else {
        return false;
    }
    return true;
}

static void serve(const char *path, int ready)
{
    struct lab lab = {.loop = ev_loop_new(0)};
    struct control_server *s;
    int error = control_server_new(&s, lab.loop, path, handle, &lab);

    if (write(ready, &error, sizeof error) != sizeof error || error)
        _exit(1);
    ev_run(lab.loop, 0);
    control_server_free(s);
    ev_loop_destroy(lab.loop);
}

/* ---- the asking side ---- */

static int start(struct rig *r)
{
    int ready[2], error = -EIO;

    assert_int_equal(pipe(ready), 0);
    r->child = fork();
    assert_true(r->child >= 0);
    if (r->child == 0) {
        serve(r->path, ready[1]);
        _exit(0);
    }
    close(ready[1]);
    if (read(ready[0], &error, sizeof error) != sizeof error)
        error = -EIO;
    close(ready[0]);
    return error;
}

static int setup(void **state)
{
    struct rig *r = calloc(1, sizeof *r);
    const char *tmp = getenv("TMPDIR");

    /* Longer than a Unix address. */
    snprintf(r->folder, sizeof r->folder, "%s/control-XXXXXX", tmp ? tmp : "/tmp");
    assert_non_null(mkdtemp(r->folder));
    for (int i = 0; i < 3; i++) {
        strcat(r->folder, "/a-folder-with-a-name-that-is-quite-long");
        assert_int_equal(mkdir(r->folder, 0700), 0);
    }
    snprintf(r->path, sizeof r->path, "%s/control", r->folder);
    assert_true(strlen(r->path) > 108);
    assert_int_equal(start(r), 0);
    *state = r;
    return 0;
}

static struct control_client *client(const struct rig *r)
{
    struct control_client *c;

    assert_int_equal(control_connect(&c, r->path), 0);
    return c;
}

static struct json_in *ask(struct control_client *c)
{
    char problem[256] = "";
    struct json_in *reply = control_ask(c, TIMEOUT, problem, sizeof problem);

    if (!reply)
        fail_msg("%s", problem);
    return reply;
}

static int stop(struct rig *r)
{
    struct control_client *c = client(r);
    int status;

    control_begin(c, "end");
    json_in_free(ask(c));
    control_disconnect(c);
    assert_int_equal(waitpid(r->child, &status, 0), r->child);
    return status;
}

static int teardown(void **state)
{
    struct rig *r = *state;

    assert_int_equal(stop(r), 0);
    assert_int_equal(access(r->path, F_OK), -1); /* the socket is gone */
    for (int i = 0; i < 4; i++) {
        assert_int_equal(rmdir(r->folder), 0);
        *strrchr(r->folder, '/') = 0;
    }
    free(r);
    return 0;
}

static void echoes(void **state)
{
    struct control_client *c = client(*state);
    struct json_in *reply;
    struct stat st;

    assert_int_equal(stat(((struct rig *)*state)->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    for (int i = 0; i < 3; i++) {
        json_out_string(control_begin(c, "echo"), "text", "line\nline \"two\" \xc3\xa4");
        reply = ask(c);
        assert_string_equal(json_in_text(json_in_member(reply, "text")), "line\nline \"two\" \xc3\xa4");
        json_in_free(reply);
    }
    control_disconnect(c);
}

static void refuses(void **state)
{
    struct control_client *c = client(*state);
    char problem[256];

    control_begin(c, "half");
    assert_null(control_ask(c, TIMEOUT, problem, sizeof problem));
    assert_string_equal(problem, "no such thing as `half`");
    assert_true(control_refused(c));
    control_begin(c, "nonsense");
    assert_null(control_ask(c, TIMEOUT, problem, sizeof problem));
    assert_string_equal(problem, "nonsense failed");
    /* and the connection goes on */
    json_out_string(control_begin(c, "echo"), "text", "x");
    json_in_free(ask(c));
    control_disconnect(c);
}

static void answers_big(void **state)
{
    struct control_client *c = client(*state);
    struct json_in *reply;

    control_begin(c, "big");
    reply = ask(c);
    assert_int_equal(json_in_size(json_in_member(reply, "numbers")), 200000);
    json_in_free(reply);
    control_disconnect(c);
}

static int plain_socket(const struct rig *r)
{
    struct control_address a;
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_int_equal(control_address(&a, r->path), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&a.address, sizeof a.address), 0);
    control_address_close(&a);
    return fd;
}

/* Sends text, reads until `lines` lines are in or the end; their number. */
static size_t talk(int fd, const char *text, size_t n, size_t lines, char *answer, size_t size)
{
    size_t got = 0, seen = 0;

    assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), (ssize_t)n);
    while (seen < lines) {
        ssize_t r = recv(fd, answer + got, size - 1 - got, 0);

        if (r <= 0)
            break;
        for (ssize_t i = 0; i < r; i++)
            seen += answer[got + (size_t)i] == '\n';
        got += (size_t)r;
    }
    answer[got] = 0;
    return seen;
}

static void takes_nonsense(void **state)
{
    static const char *const nonsense[] = {"\n",        "{\n", "[]\n", "3\n", "{\"do\": 1}\n", "{\"do\": null}\n",
                                           "\xff\xfe\n"};
    char answer[1000];
    int fd = plain_socket(*state);

    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        assert_int_equal(talk(fd, nonsense[i], strlen(nonsense[i]), 1, answer, sizeof answer), 1);
        assert_non_null(strstr(answer, "\"ok\": false"));
    }
    close(fd);
}

/* Several requests at once are answered in order, one that comes in pieces too. */
static void takes_pieces(void **state)
{
    static const char requests[] =
        "{\"do\": \"echo\", \"text\": \"1\"}\n{\"do\": \"nothing\"}\n{\"do\": \"echo\", \"text\": \"2\"}\n";
    char answer[1000];
    int fd = plain_socket(*state);

    assert_int_equal(talk(fd, requests, sizeof requests - 1, 3, answer, sizeof answer), 3);
    assert_string_equal(answer, "{\"ok\": true, \"text\": \"1\"}\n{\"ok\": false, \"error\": \"nothing failed\"}\n"
                                "{\"ok\": true, \"text\": \"2\"}\n");
    for (size_t i = 0; i + 1 < strlen(requests) && requests[i] != '\n'; i++)
        assert_int_equal(send(fd, requests + i, 1, MSG_NOSIGNAL), 1);
    assert_int_equal(talk(fd, "\n", 1, 1, answer, sizeof answer), 1);
    assert_string_equal(answer, "{\"ok\": true, \"text\": \"1\"}\n");
    close(fd);
}

static void ends_endless_lines(void **state)
{
    static char blanks[64 * 1024];
    char answer[1000];
    int fd = plain_socket(*state);

    memset(blanks, ' ', sizeof blanks);
    assert_int_equal(talk(fd, blanks, sizeof blanks, 2, answer, sizeof answer), 1);
    assert_non_null(strstr(answer, "64 KiB"));
    close(fd);
}

/* A peer that asks and never reads holds up nobody. */
static void is_not_held_up(void **state)
{
    static const char request[] = "{\"do\": \"big\"}\n";
    int fd = plain_socket(*state), sent = 0;
    struct control_client *c;

    while (send(fd, request, sizeof request - 1, MSG_DONTWAIT | MSG_NOSIGNAL) > 0 && sent < 100000)
        sent++;
    c = client(*state);
    json_out_string(control_begin(c, "echo"), "text", "x");
    json_in_free(ask(c));
    control_disconnect(c);
    close(fd);
}

static void streams(void **state)
{
    struct control_client *c = client(*state), *other = client(*state);
    struct json_in *reply;
    size_t got = 0;
    bool taken = true;
    int times = 0;

    control_begin(c, "stream");
    json_in_free(ask(c));
    /* Nobody reads: in the end there is no room. */
    for (; taken && times < 20; times += taken) {
        control_begin(other, "fill");
        reply = ask(other);
        taken = json_in_true(json_in_member(reply, "taken"));
        json_in_free(reply);
    }
    assert_in_range(times, 2, 19);
    json_out_bool(control_begin(other, "fill"), "end", true);
    json_in_free(ask(other));
    for (;;) {
        unsigned char bytes[5000];
        ssize_t n = control_read(c, bytes, sizeof bytes, TIMEOUT);

        assert_true(n >= 0);
        if (n == 0)
            break;
        for (ssize_t i = 0; i < n; i++, got++)
            if (bytes[i] != got % STREAM_BYTES % 251)
                fail_msg("byte %zu", got);
    }
    assert_int_equal(got, (size_t)times * STREAM_BYTES);
    control_disconnect(c);
    control_disconnect(other);
}

static void tells_of_a_stream_closed(void **state)
{
    struct control_client *c = client(*state), *other = client(*state);
    bool closed = false;
    char byte;

    control_begin(c, "stream");
    json_in_free(ask(c));
    assert_int_equal(control_read(c, &byte, 1, 10), -EAGAIN);
    control_disconnect(c);
    for (int i = 0; i < 1000 && !closed; i++) {
        struct json_in *reply;

        control_begin(other, "closed");
        reply = ask(other);
        closed = json_in_true(json_in_member(reply, "closed"));
        json_in_free(reply);
        usleep(1000);
    }
    assert_true(closed);
    control_disconnect(other);
}

/* More peers than the server takes at once: the rest wait their turn. */
static void takes_many_in_turn(void **state)
{
    int fd[100];
    char answer[100];

    for (int i = 0; i < 70; i++)
        fd[i] = plain_socket(*state);
    for (int i = 0; i < 70; i++) {
        assert_int_equal(talk(fd[i], "{\"do\": \"echo\"}\n", 15, 1, answer, sizeof answer), 1);
        close(fd[i]);
    }
}

static void replaces_a_dead_socket(void **state)
{
    struct rig *r = *state;
    pid_t alive = r->child;
    int status;

    assert_int_equal(start(r), -EADDRINUSE);
    waitpid(r->child, NULL, 0);
    kill(alive, SIGKILL);
    assert_int_equal(waitpid(alive, &status, 0), alive);
    assert_int_equal(start(r), 0);
}

static void says_that_nobody_listens(void **state)
{
    struct control_client *c;
    char path[600];

    snprintf(path, sizeof path, "%s/none", ((struct rig *)*state)->folder);
    assert_int_equal(control_connect(&c, path), -ENOENT);
    assert_null(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echoes),
        cmocka_unit_test(refuses),
        cmocka_unit_test(answers_big),
        cmocka_unit_test(takes_nonsense),
        cmocka_unit_test(takes_pieces),
        cmocka_unit_test(ends_endless_lines),
        cmocka_unit_test(is_not_held_up),
        cmocka_unit_test(streams),
        cmocka_unit_test(tells_of_a_stream_closed),
        cmocka_unit_test(takes_many_in_turn),
        cmocka_unit_test(replaces_a_dead_socket),
        cmocka_unit_test(says_that_nobody_listens),
    };

    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, setup, teardown);
}
