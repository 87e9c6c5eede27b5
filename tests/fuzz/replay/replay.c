/* Runs a fuzz target once over every file of its corpus, so that an ordinary build tests what the
 * fuzzer has found. libFuzzer brings a main() of its own; this is the one for builds without it. */

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The target on one file, in a buffer of exactly the file's size: a read past its end is then seen
 * by ASan. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    uint8_t *data = NULL;
    int rc = -1;
    long size = -1;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        goto out;
    data = malloc(size > 0 ? (size_t)size : 1);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size)
        goto out;
    LLVMFuzzerTestOneInput(data, (size_t)size);
    rc = 0;
out:
    if (rc != 0)
        fprintf(stderr, "%s: cannot be read\n", path);
    free(data);
    fclose(file);
    return rc;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 2;
    }
    DIR *folder = opendir(argv[1]);
    if (!folder) {
        fprintf(stderr, "%s: %s: a fuzz target needs a seed corpus\n", argv[1], strerror(errno));
        return 1;
    }
    int files = 0, failed = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        int length = snprintf(path, sizeof(path), "%s/%s", argv[1], entry->d_name);
        if (length < 0 || (size_t)length >= sizeof(path)) {
            fprintf(stderr, "%s/%s: path too long\n", argv[1], entry->d_name);
            failed++;
            continue;
        }
        files++;
        failed += replay_file(path) != 0;
    }
    closedir(folder);
    printf("%d inputs replayed, %d failed\n", files, failed);
    return files == 0 || failed > 0;
}
