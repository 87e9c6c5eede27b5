nfsbal hash -p esxi-ip-hash -n 65 10.50.0.1 10.50.0.2
