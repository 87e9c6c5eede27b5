# Answers of `nfsbal ask --mtu`: what did not come back is said, nothing goes into the file
f=topologies/examples/plant-b.yaml
nfsbal tell $f <<'EOF'
## esx1
vmkping -I vmk1 -d -c 3 -s 8972 10.50.0.101
PING 10.50.0.101 (10.50.0.101): 8972 data bytes
8980 bytes from 10.50.0.101: icmp_seq=0 ttl=64 time=0.421 ms

--- 10.50.0.101 ping statistics ---
3 packets transmitted, 3 packets received, 0% packet loss
round-trip min/avg/max = 0.398/0.410/0.421 ms
[root@esx2:~] vmkping -I vmk1 -d -c 3 -s 8972 10.50.0.102
PING 10.50.0.102 (10.50.0.102): 8972 data bytes
sendto() failed (Message too long)

--- 10.50.0.102 ping statistics ---
3 packets transmitted, 0 packets received, 100% packet loss
[root@esx2:~] vmkping -I vmk1 -d -c 3 -s 8972 10.50.0.103
EOF
echo "rc $?"
nfsbal tell topologies/examples/pve-truenas.yaml <<'EOF'
root@pve1:~# ping -M do -c 3 -I vmbr0.50 -s 8972 10.50.0.201
PING 10.50.0.201 (10.50.0.201) from 10.50.0.11 vmbr0.50: 8972(9000) bytes of data.
8980 bytes from 10.50.0.201: icmp_seq=1 ttl=64 time=0.3 ms

--- 10.50.0.201 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2031ms
rtt min/avg/max/mdev = 0.281/0.301/0.321/0.016 ms
EOF
echo "rc $?"
# A small ping proves nothing
printf 'root@pve1:~# ping -c 3 10.50.0.201\n3 packets transmitted, 3 received, 0%% packet loss, time 2031ms\n' | nfsbal tell topologies/examples/pve-truenas.yaml; echo "rc $?"
