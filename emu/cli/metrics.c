/* emu metrics: a live lab's counters for Prometheus. needs: full */
#include "emu/cli/commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/interrupt.h"
#include "emu/cli/lab_client.h"
#include "emu/cli/options.h"
#include "emu/live/control.h"
#include "emu/live/lab.h"
#include "emu/live/metrics.h"
#include "emu/live/metrics_http.h"
#include "emu/live/watch.h"

struct metrics_options {
    const char *listen;
    bool once;
};

static const struct option_spec rows[] = {
    OPTION_STRING(struct metrics_options, listen, "listen", 'l', "ADDRESS:PORT",
                  "TCP instead of the Unix socket: 127.0.0.1:9200; port 0: any"),
    OPTION_FLAG(struct metrics_options, once, "once", '1', "print them and end"),
};

static const struct option_table table = {
    .operands = "LAB",
    .min_operands = 1,
    .max_operands = 1,
    .about = "Serves the counters of a live lab to Prometheus, on the Unix socket `metrics` of the lab's folder or on\n"
             "a TCP port, until Ctrl-C or the end of the lab.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

struct serving {
    struct control_client *client;
    struct watch *watch;
    bool gone; /* the lab */
};

static bool write_page(void *context, FILE *out)
{
    struct serving *s = context;
    char problem[256];

    s->gone = !watch_update(s->watch, s->client, WATCH_NO_FLOWS, problem, sizeof problem);
    if (!s->gone)
        metrics_write(s->watch, out);
    return !s->gone;
}

/* Until a signal or the end of the lab. */
static void serve(struct serving *s, int listener)
{
    const volatile sig_atomic_t *interrupted = interrupt_catch();
    struct pollfd p[] = {{.fd = listener, .events = POLLIN}, {.fd = control_fd(s->client), .events = POLLIN}};

    while (!*interrupted && !s->gone) {
        if (poll(p, 2, -1) < 0)
            continue;
        if (p[1].revents) /* it says nothing unasked: this is its end */
            return;
        if (p[0].revents)
            metrics_answer(listener, write_page, s);
    }
}

/* The socket in the lab's folder; the path is the caller's to unlink and free. */
static int listen_in_folder(const char *command, const char *name, char **path, int *rc)
{
    char problem[512];
    struct lab *lab = lab_open(name, problem, sizeof problem);
    int fd;

    *path = lab ? lab_path(lab, "metrics") : NULL;
    lab_free(lab);
    fd = *path ? metrics_listen_unix(*path) : -ENOMEM;
    if (fd < 0)
        *rc = cli_error(CLI_FAILED, command, "%s: %s", *path ? *path : name, strerror(-fd));
    return fd;
}

static int listen_on_port(const char *command, const char *address, int *rc)
{
    int port = 0, fd = metrics_listen(address, &port);

    if (fd == -EINVAL)
        *rc = cli_error(CLI_USAGE, command,
                        "--listen: `%s` is not an address with a port such as 127.0.0.1:9200 or [::1]:9200", address);
    else if (fd < 0)
        *rc = cli_error(CLI_FAILED, command, "--listen %s: %s", address, strerror(-fd));
    else
        printf("http://%.*s:%d/metrics\n", (int)(strrchr(address, ':') - address), address, port);
    return fd;
}

static int run_serving(const char *command, const struct metrics_options *o, const char *lab, struct serving *s)
{
    char *path = NULL;
    int rc = CLI_OK,
        listener = o->listen ? listen_on_port(command, o->listen, &rc) : listen_in_folder(command, lab, &path, &rc);

    if (listener >= 0) {
        if (path)
            printf("%s\n", path);
        fflush(stdout); /* who started us may wait for this line */
        serve(s, listener);
        close(listener);
        if (path)
            unlink(path);
    }
    free(path);
    return rc;
}

static int run(const char *command, const struct metrics_options *o, const char *lab)
{
    int rc;
    struct serving s = {.client = lab_client(command, lab, &rc)};
    char problem[512];

    if (!s.client)
        return rc;
    s.watch = watch_new(s.client, problem, sizeof problem);
    if (!s.watch) {
        rc = lab_client_failed(command, s.client, problem);
    } else if (o->once) {
        metrics_write(s.watch, stdout);
        rc = CLI_OK;
    } else {
        rc = run_serving(command, o, lab, &s);
    }
    watch_free(s.watch);
    control_disconnect(s.client);
    return rc;
}

int cmd_metrics(int argc, char **argv)
{
    struct metrics_options options = {.once = false};
    struct option_list operands = {0};
    int rc = option_parse(&table, argc, argv, &options, &operands);

    if (rc == OPTION_GO_ON && options.once && options.listen)
        rc = cli_error(CLI_USAGE, argv[0], "--once listens nowhere: it goes without --listen");
    if (rc == OPTION_GO_ON)
        rc = run(argv[0], &options, operands.items[0]);
    option_free(&table, &options, &operands);
    return rc;
}
