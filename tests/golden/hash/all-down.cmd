nfsbal hash -p xor-dst-ip -n 2 --down 0,1 10.0.0.1 10.0.0.2
