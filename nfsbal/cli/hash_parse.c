#include "nfsbal/cli/hash.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "emu/cli/options.h"

const char *hash_parse_endpoint(const char *text, uint8_t address[HASH_IP_BYTES], uint8_t *version, int *port)
{
    static const char expected[] = "an address such as 10.0.0.1, 10.0.0.1:800, 2001:db8::1 or [2001:db8::1]:800";
    char host[INET6_ADDRSTRLEN];
    const char *end, *after;
    int64_t number = -1;

    if (text[0] == '[') {
        end = strchr(++text, ']');
        if (!end || (end[1] && end[1] != ':'))
            return expected;
        after = end[1] ? end + 2 : NULL;
    } else {
        end = strchr(text, ':');
        if (!end || strchr(end + 1, ':')) /* no port, or a bare IPv6 address */
            end = text + strlen(text);
        after = *end ? end + 1 : NULL;
    }
    if ((size_t)(end - text) >= sizeof host)
        return expected;
    memcpy(host, text, (size_t)(end - text));
    host[end - text] = '\0';
    memset(address, 0, HASH_IP_BYTES);
    if (inet_pton(AF_INET, host, address) == 1)
        *version = 4;
    else if (inet_pton(AF_INET6, host, address) == 1)
        *version = 6;
    else
        return expected;
    if (after && !option_parse_integer(after, 0, 65535, &number))
        return "a port from 0 to 65535 after the address";
    *port = (int)number;
    return NULL;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *hash_parse_mac(const char *text, uint8_t mac[HASH_MAC_BYTES])
{
    static const char expected[] = "a MAC address such as 00:50:56:6a:11:01";
    uint8_t out[HASH_MAC_BYTES];
    for (int i = 0; i < HASH_MAC_BYTES; i++) {
        int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);
        if (low < 0)
            return expected;
        out[i] = (uint8_t)(high << 4 | low);
        text += 2;
        if (i < HASH_MAC_BYTES - 1 && *text != ':' && *text != '-')
            return expected;
        text += i < HASH_MAC_BYTES - 1;
    }
    if (*text)
        return expected;
    memcpy(mac, out, sizeof out);
    return NULL;
}

const char *hash_parse_proto(const char *text, uint8_t *proto)
{
    static const struct {
        const char *name;
        uint8_t number;
    } names[] = {{"tcp", 6}, {"udp", 17}, {"icmp", 1}, {"icmpv6", 58}, {"sctp", 132}, {"esp", 50}};
    int64_t number;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(text, names[i].name)) {
            *proto = names[i].number;
            return NULL;
        }
    }
    if (!option_parse_integer(text, 0, 255, &number))
        return "tcp, udp, icmp, icmpv6, sctp, esp or a protocol number from 0 to 255";
    *proto = (uint8_t)number;
    return NULL;
}
