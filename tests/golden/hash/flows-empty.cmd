nfsbal hash -p esxi-ip-hash -n 4 --flows - </dev/null
