nfsbal hash -p linux-layer2+3 --param gen=g9 -n 2 10.50.0.1 10.50.0.2
