nfsbal hash -p freebsd-lagg --param seed=0 --param lagghash=l3 -n 4 --down 1 10.0.0.1 10.0.0.[2-9]
