/* Eight clones of BP1024: all 5.4 hours with fluid, the first ten minutes with trains and with whole calls. */
#include "tests/perf/run_load.h"

static const char *const file = "topologies/fs7500/clone.yaml";

/* The file with `for` in its workload: what the first minutes are. */
static char *first_minutes(const char *length)
{
    FILE *f = fopen(file, "r");
    char *text = calloc(1, 1 << 16), *all = calloc(1, 1 << 17);
    if (!f || !text || !all || fread(text, 1, (1 << 16) - 1, f) == 0) {
        perror(file);
        exit(1);
    }
    fclose(f);
    char *at = strstr(text, "op: clone,");
    if (!at) {
        fprintf(stderr, "%s: no clone\n", file);
        exit(1);
    }
    at += strlen("op: clone,");
    snprintf(all, 1 << 17, "%.*s for: %s,%s", (int)(at - text), text, length, at);
    free(text);
    return all;
}

int main(void)
{
    double seconds;
    char *text = first_minutes("600s");
    struct result *r = run_load(file, text, "eight-vms", SIM_TRAIN, &seconds);
    printf("trains: %.1f MB/s, %llu events, %.2f s\n", r->write.rate / 1e6, (unsigned long long)r->events, seconds);
    printf("bench: trains %.6g times-real-time\n", (double)r->duration / 1e12 / seconds);
    printf("bench: trains-in-5s %.6g of-its-limit\n", 5 / seconds);
    result_free(r);
    r = run_load(file, text, "eight-vms", SIM_CALL, &seconds);
    printf("bench: calls %.6g times-real-time\n", (double)r->duration / 1e12 / seconds);
    result_free(r);
    r = run_load(file, NULL, "eight-vms", SIM_FLUID, &seconds);
    printf("bench: fluid %.6g times-real-time\n", (double)r->duration / 1e12 / (seconds > 1e-6 ? seconds : 1e-6));
    printf("bench: fluid-in-5s %.6g of-its-limit\n", 5 / (seconds > 1e-6 ? seconds : 1e-6));
    result_free(r);
    free(text);
    return 0;
}
