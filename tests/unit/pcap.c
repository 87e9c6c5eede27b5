/* Captures (needs: full): what stands in the files, read back with libpcap; the frames' lengths, times, checksums. That
 * tshark agrees is checked by scripts/pcap.sh over a whole run. */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pcap/pcap.h>

#include <cmocka.h>

#include "emu/model/topology_file.h"
#include "emu/report/frames.h"
#include "emu/report/pcap.h"
#include "tests/support/site.h"

static struct train_flow flow4, flow6;
static char folder[PATH_MAX];

static void make_flow(struct train_flow *f, int version)
{
    struct hash_flow flow = {.ip_version = version, .proto = 6, .sport = 700, .dport = 2049};
    inet_pton(version == 4 ? AF_INET : AF_INET6, version == 4 ? "10.0.0.11" : "fd00::11", flow.src);
    inet_pton(version == 4 ? AF_INET : AF_INET6, version == 4 ? "10.0.0.101" : "fd00::101", flow.dst);
    hash_key_flow(&f->key, &flow);
}

static int set_up(void **state)
{
    (void)state;
    make_flow(&flow4, 4);
    make_flow(&flow6, 6);
    snprintf(folder, sizeof folder, "/tmp/pcap-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[PATH_MAX + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* A train of TCP data with timestamps at MTU 1500: full frames, the last one with the rest. */
static struct train data_train(uint32_t length, ps_t head, ps_t frame_time)
{
    struct train t = {.kind = TRAIN_DATA, .flow = &flow4, .src = {2, 0, 0, 0, 0, 1}, .dst = {2, 0, 0, 0, 0, 2}};
    uint32_t mss = 1448;
    t.frames = length ? (length + mss - 1) / mss : 1;
    t.u.tcp = (struct train_tcp){.seq = UINT64_C(0x1FFFFFF00),
                                 .ack = 77,
                                 .length = length,
                                 .mss = mss,
                                 .window = 1 << 20,
                                 .flags = TRAIN_ACK | TRAIN_PSH,
                                 .tsval = 5 * PS_PER_MS,
                                 .tsecr = PS_PER_MS};
    t.frame_bytes = 66 + mss;
    t.last_bytes = 66 + (length ? length - (t.frames - 1) * mss : 0);
    if (t.frames == 1)
        t.frame_bytes = t.last_bytes;
    t.head = t.body = head;
    t.tail = head + (t.frames - 1) * frame_time;
    return t;
}

static uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

static uint32_t get32(const uint8_t *p) { return (uint32_t)get16(p) << 16 | get16(p + 2); }

static uint32_t add(uint32_t sum, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i += 2)
        sum += get16(p + i);
    return sum;
}

static uint16_t fold(uint32_t sum)
{
    while (sum >> 16)
        sum = (sum & 0xFFFF) + (sum >> 16);
    return (uint16_t)sum;
}

/* IPv4 and TCP checksums of a frame whose payload is zeros; the IP header begins at `at`. */
static void check_sums(const struct frame_image *image, size_t at)
{
    const uint8_t *ip = image->bytes + at;
    uint32_t total = get16(ip + 2), header = (uint32_t)(ip[20 + 12] >> 4) * 4;
    assert_int_equal(fold(add(0, ip, 20)), 0xFFFF);
    assert_int_equal(fold(add(add(6 + total - 20, ip + 12, 8), ip + 20, header)), 0xFFFF);
}

static void data_frames(void **state)
{
    (void)state;
    struct frames f;
    struct frame_image image;
    struct train t = data_train(4000, 0, 1000);
    frames_of(&f, &t);
    for (uint32_t i = 0; i < 3; i++) {
        frames_image(&f, i, (uint16_t)(9 + i), &image);
        assert_int_equal(image.length, i < 2 ? 1514 : 66 + 4000 - 2 * 1448);
        assert_int_equal(image.captured, FRAME_SNAP);
        assert_int_equal(get16(image.bytes + 12), 0x0800);
        assert_int_equal(get16(image.bytes + 14 + 2), image.length - 14);
        assert_int_equal(get16(image.bytes + 14 + 4), 9 + i);
        assert_int_equal(get16(image.bytes + 34), 700);
        assert_int_equal(get16(image.bytes + 36), 2049);
        assert_int_equal(get32(image.bytes + 38), (uint32_t)(0xFFFFFF00 + i * 1448)); /* modulo 2^32 */
        assert_int_equal(image.bytes[46] >> 4, 8);
        assert_int_equal(image.bytes[47], i == 2 ? 0x18 : 0x10); /* PSH on the last only */
        assert_int_equal(get32(image.bytes + 54), 0x0101080A);
        assert_int_equal(get32(image.bytes + 58), 5);
        check_sums(&image, 14);
    }
    t.tagged = true; /* the tag makes every frame four bytes longer */
    t.vlan = 50;
    t.frame_bytes += 4;
    t.last_bytes += 4;
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get32(image.bytes + 12), 0x81000032);
    assert_int_equal(get16(image.bytes + 16), 0x0800);
    assert_int_equal(get16(image.bytes + 18 + 2), 1500);
    check_sums(&image, 18);
}

static void options(void **state)
{
    (void)state;
    struct frames f;
    struct frame_image image;
    struct train t = data_train(0, 0, 0);
    t.u.tcp.n_sack = 2;
    t.u.tcp.sack[1].from = 0x10;
    t.u.tcp.sack[1].to = 0x20;
    t.last_bytes = 14 + 40 + 12 + 20;
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get32(image.bytes + 54 + 12), 0x01010512);
    assert_int_equal(get32(image.bytes + 54 + 12 + 4 + 8), 0x10);
    check_sums(&image, 14);

    t = data_train(0, 0, 0);
    t.u.tcp.flags = TRAIN_SYN;
    t.last_bytes = 14 + 40 + 20;
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(image.bytes[47], 0x02);
    assert_int_equal(get32(image.bytes + 54), 0x02040000 + 1448);
    assert_int_equal(get32(image.bytes + 42), 0); /* no ACK flag, no acknowledgement */
    check_sums(&image, 14);

    t = data_train(0, 0, 0); /* without timestamps an acknowledgement is padded to 60 bytes: no options */
    t.u.tcp.tsval = -1;
    t.last_bytes = 60;
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get16(image.bytes + 16), 40);
    assert_int_equal(image.captured, 60);
    check_sums(&image, 14);
}

static void other_frames(void **state)
{
    (void)state;
    struct frames f;
    struct frame_image image;
    struct train t = {.kind = TRAIN_ARP, .frames = 1, .frame_bytes = 60, .last_bytes = 60, .src = {2, 0, 0, 0, 0, 1}};
    memset(t.dst, 0xFF, 6);
    t.u.arp = (struct train_arp){.reply = false, .sender_mac = {2, 0, 0, 0, 0, 1}, .sender_ip = {10, 0, 0, 11}};
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get16(image.bytes + 12), 0x0806);
    assert_int_equal(get16(image.bytes + 20), 1);
    assert_int_equal(get32(image.bytes + 28), 0x0A00000B);
    t.kind = TRAIN_NOTIFY;
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get16(image.bytes + 12), 0x8035);
    memcpy(t.dst, t.src, 6);
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get16(image.bytes + 12), 0x9000);

    t = data_train(100, 0, 0);
    t.flow = &flow6;
    t.last_bytes += 20;
    frames_of(&f, &t);
    frames_image(&f, 0, 0, &image);
    assert_int_equal(get16(image.bytes + 12), 0x86DD);
    assert_int_equal(get16(image.bytes + 18), 100 + 32);
    assert_int_equal(fold(add(add(6 + 132, image.bytes + 22, 32), image.bytes + 54, 32)), 0xFFFF);
}

/* Both directions of a cable in one file, in order of time although trains come as a whole. */
static void files(void **state)
{
    (void)state;
    char problem[256], path[PATH_MAX + 64], error[PCAP_ERRBUF_SIZE];
    struct topo *topo = site_new(NULL, TOPO_WRITE);
    snprintf(path, sizeof path, "%s/made", folder);
    struct capture *c = capture_new(path, topo, problem, sizeof problem);
    assert_non_null(c);
    struct train a = data_train(65160, 1 * PS_PER_MS, 12 * PS_PER_US), b = data_train(0, 1100 * PS_PER_US, 0);
    struct train late = data_train(1448, 1300 * PS_PER_US, 0); /* passes between frames of the first train */
    capture_train(c, 0, &a);
    capture_train(c, 1, &b);
    capture_train(c, 0, &late);
    capture_train(c, 3, &b);
    assert_int_equal(capture_close(c, problem, sizeof problem), 0);

    snprintf(path, sizeof path, "%s/made/esx1.vmnic1--sw1.p1.pcap", folder);
    pcap_t *in = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, error);
    assert_non_null(in);
    struct pcap_pkthdr *header;
    const unsigned char *bytes;
    int64_t last = 0;
    unsigned n = 0, acks = 0;
    while (pcap_next_ex(in, &header, &bytes) == 1) {
        int64_t ns = header->ts.tv_sec * INT64_C(1000000000) + header->ts.tv_usec;
        assert_true(ns >= last);
        assert_int_equal(header->caplen, header->len < FRAME_SNAP ? header->len : FRAME_SNAP);
        acks += header->len == 66;
        if (header->len == 66)
            assert_int_equal(ns, 1100000);
        last = ns;
        n++;
    }
    assert_int_equal(n, 45 + 1 + 1);
    assert_int_equal(acks, 1);
    assert_int_equal(last, 1000000 + 44 * 12000);
    pcap_close(in);
    snprintf(path, sizeof path, "%s/made/esx1.vmnic2--sw1.p2.pcap", folder);
    assert_int_equal(access(path, R_OK), 0);
    snprintf(path, sizeof path, "%s/made/nas.c1.eth0--sw1.p3.pcap", folder);
    assert_int_equal(access(path, R_OK), -1); /* nothing was there to capture */
    topo_free(topo);
}

static void failures(void **state)
{
    (void)state;
    char problem[256], path[PATH_MAX + 64];
    struct topo *topo = site_new(NULL, TOPO_WRITE);
    struct train t = data_train(1448, PS_PER_MS, 0);
    snprintf(path, sizeof path, "%s/no/such", folder);
    assert_null(capture_new(path, topo, problem, sizeof problem));
    assert_non_null(strstr(problem, strerror(ENOENT)));
    assert_null(capture_new("/dev/null", topo, problem, sizeof problem));
    assert_non_null(strstr(problem, strerror(ENOTDIR)));

    snprintf(path, sizeof path, "%s/given-up", folder);
    struct capture *c = capture_new(path, topo, problem, sizeof problem);
    capture_train(c, 0, &t);
    capture_abandon(c);
    assert_int_equal(access(path, F_OK), -1);
    capture_abandon(NULL);

    c = capture_new(path, topo, problem, sizeof problem);
    assert_int_equal(rmdir(path), 0); /* somebody takes the folder away */
    capture_train(c, 0, &t);
    assert_true(capture_close(c, problem, sizeof problem) < 0);
    assert_non_null(strstr(problem, "esx1.vmnic1--sw1.p1.pcap"));
    topo_free(topo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_frames), cmocka_unit_test(options),  cmocka_unit_test(other_frames),
        cmocka_unit_test(files),       cmocka_unit_test(failures),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
