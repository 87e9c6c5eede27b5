nfsbal hash -p esxi-ip-hash -n 2 10.50.0.300 10.50.0.201
