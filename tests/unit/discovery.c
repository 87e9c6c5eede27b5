/* Neighbour discovery: packets as RFC 4861 has them, and what was put is read again. */
#include "emu/fabric/discovery.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const uint8_t mac[6] = {2, 1, 2, 3, 4, 5};
static const uint8_t me[16] = {0xfd, [15] = 0x12}, you[16] = {0xfd, [13] = 0xaa, 0xbb, 0xcc};

static struct train_arp packet_of(bool reply, const uint8_t *sender, const uint8_t *target)
{
    struct train_arp a = {.reply = reply, .version = 6};

    memcpy(a.sender_mac, mac, 6);
    memcpy(a.sender_ip, sender, 16);
    memcpy(a.target_ip, target, 16);
    return a;
}

/* Over the pseudo header and the message, the checksum included, all ones come out. */
static void assert_checksum(const uint8_t *p)
{
    uint32_t sum = 58 + 32;

    for (int i = 8; i < DISCOVERY_PACKET; i += 2)
        sum += (uint32_t)(p[i] << 8 | p[i + 1]);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    assert_int_equal(sum, 0xffff);
}

static void assert_back(const uint8_t *packet, const struct train_arp *a)
{
    static const uint8_t other[6] = {6};
    struct train_arp b;

    assert_checksum(packet);
    assert_true(discovery_read(packet, DISCOVERY_PACKET, other, &b));
    assert_int_equal(b.reply, a->reply);
    assert_int_equal(b.version, 6);
    assert_memory_equal(b.sender_ip, a->sender_ip, 16);
    assert_memory_equal(b.target_ip, a->target_ip, 16);
    assert_memory_equal(b.sender_mac, a->sender_mac, 6);
}

static void solicitation(void **state)
{
    static const uint8_t group[16] = {0xff, 2, [11] = 1, 0xff, 0xaa, 0xbb, 0xcc},
                         group_mac[6] = {0x33, 0x33, 0xff, 0xaa, 0xbb, 0xcc};
    struct train_arp a = packet_of(false, me, you);
    uint8_t p[DISCOVERY_PACKET], to[6];

    (void)state;
    discovery_put(&a, true, p);
    assert_int_equal(p[40], 135);
    assert_int_equal(p[7], 255);
    assert_memory_equal(p + 8, me, 16);
    assert_memory_equal(p + 24, group, 16);
    assert_memory_equal(p + 48, you, 16);
    assert_memory_equal(p + 64, ((const uint8_t[]){1, 1, 2, 1, 2, 3, 4, 5}), 8);
    assert_back(p, &a);
    discovery_group(&a, to);
    assert_memory_equal(to, group_mac, 6);
    discovery_put(&a, false, p); /* is he still there? */
    assert_memory_equal(p + 24, you, 16);
    assert_back(p, &a);
}

static void advertisement(void **state)
{
    static const uint8_t all[16] = {0xff, 2, [15] = 1};
    struct train_arp a = packet_of(true, you, me), gratuitous = packet_of(false, you, you);
    uint8_t p[DISCOVERY_PACKET];

    (void)state;
    discovery_put(&a, false, p);
    assert_int_equal(p[40], 136);
    assert_int_equal(p[44], 0x60); /* solicited, override */
    assert_memory_equal(p + 24, me, 16);
    assert_memory_equal(p + 48, you, 16);
    assert_int_equal(p[64], 2);
    assert_back(p, &a);
    discovery_put(&gratuitous, true, p);
    assert_int_equal(p[40], 136);
    assert_int_equal(p[44], 0x20);
    assert_memory_equal(p + 24, all, 16);
    assert_back(p, &gratuitous);
}

/* Who looks whether an address is free has none: it doesn't say where it is, and is answered by telling all. */
static void duplicate_address_detection(void **state)
{
    static const uint8_t none[16], all[16] = {0xff, 2, [15] = 1}, from[6] = {2, 9};
    struct train_arp a = packet_of(false, none, you), b;
    uint8_t p[DISCOVERY_PACKET];

    (void)state;
    discovery_put(&a, true, p);
    assert_int_not_equal(p[64], 1);
    assert_true(discovery_read(p, sizeof p, from, &b));
    assert_memory_equal(b.sender_mac, from, 6);
    a = packet_of(true, you, none);
    discovery_put(&a, false, p);
    assert_memory_equal(p + 24, all, 16);
    assert_int_equal(p[44], 0x20);
}

static void others_are_refused(void **state)
{
    struct train_arp a = packet_of(false, me, you), b;
    uint8_t p[DISCOVERY_PACKET];
    static const struct {
        int at;
        uint8_t value;
    } wrong[] = {{0, 0x40}, {6, 6}, {7, 64}, {40, 128}, {41, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        discovery_put(&a, true, p);
        p[wrong[i].at] = wrong[i].value;
        assert_false(discovery_read(p, sizeof p, mac, &b));
    }
    discovery_put(&a, true, p);
    assert_false(discovery_read(p, 63, mac, &b));
    p[65] = 0; /* an option without length ends the search */
    assert_true(discovery_read(p, sizeof p, mac, &b));
    p[65] = 9; /* longer than the packet */
    assert_true(discovery_read(p, sizeof p, mac, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solicitation),
        cmocka_unit_test(advertisement),
        cmocka_unit_test(duplicate_address_detection),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
