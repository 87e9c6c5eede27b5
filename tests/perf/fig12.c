/* Figure 12 with four uplinks, 30 virtual seconds: how many times faster than real time. */
#include "tests/perf/run_load.h"

static const char *const file = "topologies/fs7500/fig12-nics.yaml";

static char *read_text(void)
{
    FILE *f = fopen(file, "r");
    char *text = calloc(1, 1 << 16);
    if (!f || !text || fread(text, 1, (1 << 16) - 1, f) == 0) {
        perror(file);
        exit(1);
    }
    fclose(f);
    return text;
}

/* "mtu: 9000" becomes "mtu: 1500". */
static void lower_mtu(char *text)
{
    for (char *at = text; (at = strstr(at, "mtu: 9000")); at += 9) {
        at[5] = '1';
        at[6] = '5';
    }
}

static void bench(const char *name, const char *text, enum sim_detail detail)
{
    double best = 0;
    for (int i = 0; i < 3; i++) {
        double seconds;
        struct result *r = run_load(file, text, "nics-4", detail, &seconds);
        double times = (double)r->duration / 1e12 / seconds;
        if (i == 0)
            printf("%s: %.1f MB/s, %llu events\n", name, r->write.rate / 1e6, (unsigned long long)r->events);
        best = times > best ? times : best;
        result_free(r);
    }
    printf("bench: %s %.6g times-real-time\n", name, best);
}

int main(void)
{
    char *text = read_text();
    bench("trains", text, SIM_TRAIN);
    bench("frames-9000", text, SIM_FRAME);
    lower_mtu(text);
    bench("trains-1500", text, SIM_TRAIN);
    bench("frames-1500", text, SIM_FRAME);
    free(text);
    return 0;
}
