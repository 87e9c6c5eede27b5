#include "emu/report/outfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t new_file_mode(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

int outfile_open(struct outfile *o, const char *path)
{
    struct stat st;
    bool exists;
    int fd, error;

    *o = (struct outfile){0};
    if (!strcmp(path, "-")) {
        o->file = stdout;
        return 0;
    }
    exists = !stat(path, &st);
    if (exists && !S_ISREG(st.st_mode)) {
        o->file = fopen(path, "w");
        return o->file ? 0 : -errno;
    }
    o->path =
        exists ? realpath(path, NULL) : strdup(path); /* the file that a link points to is replaced, not the link */
    o->temporary = o->path ? malloc(strlen(o->path) + sizeof ".XXXXXX") : NULL;
    if (!o->temporary) {
        error = errno;
        outfile_abandon(o);
        return -error;
    }
    sprintf(o->temporary, "%s.XXXXXX", o->path);
    fd = mkstemp(o->temporary);
    if (fd < 0) {
        error = errno;
        free(o->temporary);
        o->temporary = NULL;
        outfile_abandon(o);
        return -error;
    }
    o->file = fdopen(fd, "w");
    if (!o->file || fchmod(fd, exists ? st.st_mode & 07777 : new_file_mode())) {
        error = errno;
        if (!o->file)
            close(fd);
        outfile_abandon(o);
        return -error;
    }
    return 0;
}

int outfile_commit(struct outfile *o)
{
    int error = 0;
    FILE *file = o->file;
    o->file = NULL;
    if (file == stdout)
        return 0; /* whoever closes it looks */
    if (file) {
        bool lost = ferror(file);
        errno = 0;
        if (fclose(file) || lost)
            error = errno ? errno : EIO;
    }
    if (!error && o->temporary) {
        if (rename(o->temporary, o->path)) {
            error = errno;
        } else {
            free(o->temporary);
            o->temporary = NULL;
        }
    }
    outfile_abandon(o);
    return -error;
}

void outfile_abandon(struct outfile *o)
{
    if (o->file && o->file != stdout)
        fclose(o->file);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->path);
    *o = (struct outfile){0};
}
