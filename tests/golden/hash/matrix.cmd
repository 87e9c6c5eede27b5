nfsbal hash -p esxi-ip-hash -n 3 10.50.0.[15-16] 10.50.0.[101-104]
