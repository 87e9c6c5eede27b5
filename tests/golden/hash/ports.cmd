nfsbal hash -p linux-layer3+4 -n 2 10.50.0.11:[701-704] 10.50.0.201
