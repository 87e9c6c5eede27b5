nfsbal hash -p juniper-ex -n 4 10.0.0.1 10.0.0.[2-9]
