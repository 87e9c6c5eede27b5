nfsbal hash -p esxi-ip-hash -n 4 10.10.5.11 10.10.5.101
