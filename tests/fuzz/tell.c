/* Whatever is pasted as the devices' answers can be read, and what is read can be written into the file. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/model/topology_file.h"
#include "nfsbal/site/tell.h"

static const char site[] =
    "version: 1\n"
    "nodes:\n"
    "  esx1: {kind: esxi, vswitches: {vSwitch1: {uplinks: 'vmnic[0-1]', teaming: port-id}},\n"
    "    vmknics: {vmk1: {vswitch: vSwitch1, address: 10.0.0.11/24}}}\n"
    "  pve1: {kind: linux, bonds: {bond0: {members: 'e[0-1]', mode: balance-xor, hash: layer3+4}},\n"
    "    interfaces: {bond0: {address: 10.0.0.12/24}}}\n"
    "  sw1:\n"
    "    kind: switch\n"
    "    model: cisco-3750x\n"
    "    hash: cisco-src-dst-ip\n"
    "    lags: {po1: {to: 'pve1:bond0', mode: static}, po2: {to: 'n1:c.lag0', mode: static}}\n"
    "    observed:\n"
    "      - {src: 10.0.0.11, dst: 10.0.0.101, lag: po2, port: gi1/0/5, date: 2024-01-01}\n"
    "  n1: {kind: nas, controllers: {c: {nics: 'e[0-1]', lag: {name: lag0, members: 'e[0-1]', mode: static}}},\n"
    "    vips: {'10.0.0.[101-102]/24': {home: c}}, exports: {/x: {}}}\n"
    "links:\n"
    "  - {ends: ['esx1:vmnic[0-1]', 'sw1:gi1/0/[1-2]'], speed: 1G}\n"
    "  - {ends: ['pve1:e[0-1]', 'sw1:gi1/0/[3-4]'], speed: 1G}\n"
    "  - {ends: ['n1:c.e[0-1]', 'sw1:gi1/0/[5-6]'], speed: 1G}\n"
    "datastores: {x: {export: 'n1:/x', mounted: 10.0.0.101}}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d, said;
    struct topo_file *f;
    struct topo *t;
    struct tell answers;
    char problem[256], *text = NULL;
    FILE *in;

    if (size == 0 || size > 16384)
        return 0;
    diag_init(&d, "site");
    diag_init(&said, "input");
    f = topo_file_parse("site", site, sizeof site - 1, &d);
    t = topo_load(f, NULL, &d);
    in = fmemopen((void *)(uintptr_t)data, size, "r");
    if (!t || !in)
        abort();
    if (tell_read(t, in, &said, &answers) == 0 && diag_count(&said, DIAG_ERROR) == 0)
        text = tell_insert(t, site, sizeof site - 1, &answers, "2024-01-02", problem, sizeof problem);
    if (!text && diag_count(&said, DIAG_ERROR) == 0)
        abort(); /* what is read without errors can be written */
    free(text);
    fclose(in);
    tell_free(&answers);
    topo_free(t);
    topo_file_close(f);
    diag_free(&said);
    diag_free(&d);
    return 0;
}
