/* nfsbal mount: a file system over NFS 3, through several VIPs. Also what mount(8) runs as mount.nfsbal. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/cli/cli.h"
#include "emu/cli/options.h"
#include "nfsbal/nfs/commands.h"
#include "nfsbal/client/mount.h"
#include "nfsbal/nfs/mount_process.h"
#include "nfsbal/nfs/mount_site.h"

struct cli_mount_options {
    struct option_list o, datastore;
    const char *at, *host, *plan, *case_name;
    bool foreground, debug, print, one_each, quiet;
};

static const struct option_spec rows[] = {
    OPTION_LIST(struct cli_mount_options, o, "options", 'o', "OPTION,...", "as for mount(8); see nfsbal-mount(1)"),
    OPTION_STRING(struct cli_mount_options, at, "at", 0, "DIR", "mount the datastores of FILE at DIR/DATASTORE"),
    OPTION_LIST(struct cli_mount_options, datastore, "datastore", 0, "NAME",
                "only this one (may be given several times)"),
    OPTION_STRING(struct cli_mount_options, host, "host", 0, "NAME", "which host of FILE this machine is"),
    OPTION_STRING(struct cli_mount_options, plan, "plan", 0, "P", "mounts as this plan wants them (nfsbal plan -o P)"),
    OPTION_STRING(struct cli_mount_options, case_name, "case", 0, "CASE", "this case of FILE"),
    OPTION_FLAG(struct cli_mount_options, one_each, "process-per-datastore", 0,
                "serve each datastore by a process of its own, which fails alone"),
    OPTION_FLAG(struct cli_mount_options, print, "print", 'n', "only print what would be mounted"),
    OPTION_FLAG(struct cli_mount_options, foreground, "foreground", 'f',
                "stay in the foreground, messages on standard error"),
    OPTION_FLAG(struct cli_mount_options, debug, "debug", 'd', "also every request of the kernel"),
};

static const struct option_table table = {
    .operands = "SERVER[,SERVER]...:/EXPORT DIR | FILE --at DIR",
    .min_operands = 1,
    .max_operands = 2,
    .about = "Mounts an NFS 3 export through one or several of its server's addresses (VIPs), or all datastores of a\n"
             "topology file, each through its planned VIP. When a VIP dies its requests go to another.",
    .rows = rows,
    .n_rows = sizeof rows / sizeof rows[0],
};

static void print_wishes(const struct mount_wish *wishes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        printf("%s:%s on %s\n", wishes[i].servers, wishes[i].export, wishes[i].target);
}

/* What is meant for the user and depends on the options. */
static void say(const char *command, const struct mount_options *o)
{
    if (!o->no_lock)
        fprintf(stderr, "%s: locks are local to this host (-o nolock: you know)\n", command);
    if (o->cache == MOUNT_CACHE_WRITE_BEHIND)
        fprintf(
            stderr,
            "%s: cache=write-behind: closing a file does not bring it to the server; one host at a time may use it\n",
            command);
}

static int run(const char *command, const struct cli_mount_options *o, const struct mount_wish *wishes, size_t n)
{
    const struct mount_process process = {
        .command = command, .foreground = o->foreground || o->debug, .debug = o->debug, .one_each = o->one_each};

    if (o->print) {
        if (!o->quiet)
            print_wishes(wishes, n);
        return CLI_OK;
    }
    say(command, &wishes[0].options);
    return mount_process_run(&process, wishes, n);
}

/* An existing directory as an absolute path; an allocated string. */
static char *existing_directory(const char *command, const char *path)
{
    struct stat st;
    char *real = realpath(path, NULL);

    if (real && stat(real, &st) == 0 && S_ISDIR(st.st_mode))
        return real;
    cli_error(CLI_FAILED, command, "%s: %s", path, strerror(real ? ENOTDIR : errno));
    free(real);
    return NULL;
}

/* "SERVER[,SERVER]...:/EXPORT" in pieces; `copy` is changed. */
static bool split_source(char *copy, struct mount_wish *w)
{
    char *colon = strstr(copy, ":/");

    if (!colon || colon == copy)
        return false;
    *colon = '\0';
    w->servers = copy;
    w->export = colon + 1;
    return true;
}

static int mount_source(const char *command, const struct cli_mount_options *o, const struct mount_options *options,
                        const char *source, const char *directory)
{
    char *copy = strdup(source), *target = NULL;
    struct mount_wish wish = {.source = source, .options = *options};
    int rc;

    if (!copy)
        rc = cli_error(CLI_FAILED, command, "no memory");
    else if (!split_source(copy, &wish))
        rc = cli_error(CLI_USAGE, command, "%s: expected SERVER[,SERVER]...:/EXPORT", source);
    else if (!(target = existing_directory(command, directory)))
        rc = CLI_FAILED;
    else {
        wish.target = target;
        rc = run(command, o, &wish, 1);
    }
    free(copy);
    free(target);
    return rc;
}

static int mount_file(const char *command, const struct cli_mount_options *o, const struct mount_options *options,
                      const char *file)
{
    const struct mount_site_config config = {.command = command,
                                             .file = file,
                                             .plan = o->plan,
                                             .case_name = o->case_name,
                                             .host = o->host,
                                             .at = o->at,
                                             .datastores = o->datastore.items,
                                             .n_datastores = o->datastore.n,
                                             .make_directories = !o->print};
    struct mount_site site;
    int rc = mount_site_open(&site, &config, options);

    if (rc == CLI_OK) {
        rc = run(command, o, site.wishes, site.n);
        mount_site_close(&site, rc != CLI_OK);
    }
    return rc;
}

int command_mount(int argc, char **argv)
{
    struct cli_mount_options o = {.at = NULL};
    struct option_list operands = {0};
    struct mount_options options;
    char problem[400];
    int rc = option_parse(&table, argc, argv, &o, &operands);

    mount_options_init(&options);
    for (size_t i = 0; rc == OPTION_GO_ON && i < o.o.n; i++)
        if (!mount_options_parse(&options, o.o.items[i], problem, sizeof problem))
            rc = cli_error(CLI_USAGE, argv[0], "%s", problem);
    if (rc == OPTION_GO_ON) {
        if (o.at && operands.n == 1)
            rc = mount_file(argv[0], &o, &options, operands.items[0]);
        else if (o.at)
            rc = cli_error(CLI_USAGE, argv[0], "--at goes with one FILE, not with SERVER:/EXPORT DIR");
        else if (operands.n < 2)
            rc = cli_error(CLI_USAGE, argv[0], "%s: where? Say a directory, or --at DIR for a topology file",
                           operands.items[0]);
        else if (o.datastore.n || o.host || o.plan || o.case_name || o.one_each)
            rc = cli_error(CLI_USAGE, argv[0],
                           "--datastore, --host, --plan, --case and --process-per-datastore go with FILE --at DIR");
        else
            rc = mount_source(argv[0], &o, &options, operands.items[0], operands.items[1]);
    }
    option_free(&table, &o, &operands);
    return rc;
}

/* As mount(8) calls it: mount.nfsbal SOURCE DIR [-sfnv] [-N NAMESPACE] [-o OPTIONS] [-t TYPE]. -f is "don't" (and with -v say what),
 * -s "don't mind unknown options", which we do mind. */
int command_mount_helper(int argc, char **argv)
{
    struct cli_mount_options o = {.at = NULL};
    struct mount_options options;
    char problem[400], name[] = "mount.nfsbal";
    bool fake = false, verbose = false;
    int c;

    mount_options_init(&options);
    if (argc < 3 || argv[1][0] == '-' || argv[2][0] == '-')
        return cli_error(CLI_USAGE, name, "usage: mount.nfsbal SERVER[,SERVER]...:/EXPORT DIR [-o OPTION,...]");
    for (optind = 3; (c = getopt(argc, argv, "sfnvN:o:t:")) != -1;) {
        if (c == '?')
            return CLI_USAGE;
        if (c == 'f')
            fake = true;
        if (c == 'v')
            verbose = true;
        if (c == 'N')
            return cli_error(CLI_USAGE, name, "-N %s: enter the namespace first (nsenter)", optarg);
        if (c == 'o' && !mount_options_parse(&options, optarg, problem, sizeof problem))
            return cli_error(CLI_USAGE, name, "%s", problem);
    }
    o.print = fake;
    o.quiet = !verbose;
    return mount_source(name, &o, &options, argv[1], argv[2]);
}
