nfsbal hash -p linux-layer2 -n 2 10.50.0.11 10.50.0.201
