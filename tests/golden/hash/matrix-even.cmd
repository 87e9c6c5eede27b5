nfsbal hash -p esxi-ip-hash -n 2,4 10.10.5.11 10.10.5.[101-104]
