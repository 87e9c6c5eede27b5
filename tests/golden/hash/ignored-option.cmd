nfsbal hash -p esxi-ip-hash -n 2 --flows - --vlan 3
