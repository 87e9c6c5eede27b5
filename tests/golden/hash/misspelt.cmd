nfsbal hash -p esxi-iphash -n 2 10.50.0.11 10.50.0.201
