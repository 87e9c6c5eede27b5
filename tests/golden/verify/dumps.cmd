# What the devices print, in a folder of one file per node.
f=topologies/examples/pve-truenas.yaml
for t in t0 t1; do
    n=$([ $t = t0 ] && echo 0 || echo 4000000000)
    mkdir "$TMP/$t"
    printf '[{"ifname":"lo","stats64":{"rx":{"bytes":1},"tx":{"bytes":1}}},{"ifname":"eno1","stats64":{"rx":{"bytes":%d},"tx":{"bytes":%d}}},{"ifname":"eno2","stats64":{"rx":{"bytes":%d},"tx":{"bytes":7}}}]' $((n / 2)) $n $((n / 2)) >"$TMP/$t/pve1.json"
    printf 'eno1:\nNIC statistics:\n     rx_packets: 5\n     rx_bytes: %d\n     tx_bytes: %d\n     rx_queue_0_bytes: 1\neno2:\nNIC statistics:\n     tx_bytes: 9\n     rx_bytes: 9\n' $n $n >"$TMP/$t/pve2.txt"
    {
        for p in 1 2 3 4 11 12; do
            printf 'sfp%d is up, line protocol is up (connected)\n  Hardware is Ten Gigabit Ethernet, address is 0000.0000.0001\n     5 packets input, %d bytes, 0 no buffer\n     5 packets output, %d bytes, 0 underruns\n' $p $((n / 2)) $((n / 2))
        done
    } >"$TMP/$t/sw1.log"
    echo "who is this" >"$TMP/$t/someone.txt"
done
nfsbal verify $f --observed "$TMP/t0" "$TMP/t1" --all 2>&1 | sed "s|$TMP/||"
# The others, in one file: ESXi, NX-OS, ONTAP.
f=topologies/examples/plant-b.yaml
for t in t2 t3; do
    n=$([ $t = t2 ] && echo 0 || echo 600000000)
    {
        echo "## esx1"; echo $((1700000000 + n / 1000000))
        for i in 2 3 4 5; do
            printf 'NIC statistics for vmnic%d\n   Packets received: 7\n   Bytes received: %d\n   Bytes sent: %d\n' $i $((i / 3 * (1 - i / 5) * n)) $((i / 3 * (1 - i / 5) * n))
        done
        echo "## stack1"
        printf 'Ethernet1/1 is up\n' # no port of the file
        printf 'GigabitEthernet1/0/21 is up\nadmin state is up\n  RX\n    12 unicast packets  0 multicast packets\n    12 input packets  %d bytes\n  TX\n    12 output packets  %d bytes\n' $n $n
        echo "## fas:n2"
        printf 'Object: nic_common\nInstance: e0c\n    rx_bytes                          %d\n    tx_bytes                          %d\n' $n $n
    } >"$TMP/$t"
done
nfsbal verify $f --observed "$TMP/t2" "$TMP/t3" --json | grep -E '"(esx1:.*|fas:n2.e0c|stack1:gi1/0/21)>.*"counter": "steady"'
