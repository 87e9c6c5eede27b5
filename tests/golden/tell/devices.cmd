# Other devices: one switch as each vendor's, its way of answering.
try() {
    sed "s/model: cisco-3750x/model: $1/" topologies/examples/plant-b.yaml >"$TMP/it.yaml"
    nfsbal tell --date 2024-03-01 "$TMP/it.yaml" 2>&1 | sed "s|$TMP/||"
}
try cisco-nexus-9300 <<'END'
stack1# show port-channel load-balance forwarding-path interface port-channel 11 vlan 50 src-ip 10.50.0.11 dst-ip 10.50.0.101
Missing params will be substituted by 0's.
Module 1: Missing params will be substituted by 0's.
Load-balance Algorithm on switch: source-dest-ip
crc8_hash: 204 Outgoing port id: Gi2/0/21 Param(s) used to calculate load-balance:
        dst-ip:   10.50.0.101
        src-ip:   10.50.0.11
END
try arista-7050 <<'END'
stack1#show load-balance destination port-channel Po11 ingress-interface Et1 src-ipv4-address 10.50.0.11 dst-ipv4-address 10.50.0.101 ip-protocol 6 src-l4-port 0 dst-l4-port 2049
Output Interface: gi2/0/21
END
try dell-force10-s4810 <<'END'
stack1# show port-channel-flow outgoing-port-channel 11 incoming-interface gi 1/0/1 source-ip 10.50.0.11 destination-ip 10.50.0.101 protocol tcp source-port 701 destination-port 2049
Egress Port for port-channel 11, for the given flow, is Gi 2/0/21
END
try hp-5406 <<'END'
stack1# show trunks load-balance interface po11 mac 005056-000001 0200ab-000002 ip 10.50.0.11 10.50.0.101 701 2049 inbound-port 1
Traffic in this flow will be forwarded out port gi2/0/21 based on the configured L3-based load balancing.
END
# Junos names no LAG: the member in the answer tells, but not the port of entry
try juniper-ex4300 <<'EOF'
admin@stack1> show forwarding-options load-balance ingress-interface gi1/0/1.0 family inet source-address 10.50.0.11 destination-address 10.50.0.101 transport-protocol tcp source-port 701 destination-port 2049
Ingress interface: gi1/0/1.0
Egress interface: po11.0
Member link: gi2/0/21.0
EOF
try juniper-ex4300 <<'EOF'
admin@stack1> show forwarding-options load-balance ingress-interface gi1/0/1 family inet source-address 10.50.0.11 destination-address 10.50.0.101 transport-protocol tcp source-port 701 destination-port 2049
error: not supported for switched packets
EOF
