nfsbal hash -p esxi-ip-hash --members vmnic2,vmnic3,vmnic4,vmnic5 --why 10.10.5.11 10.10.5.101
