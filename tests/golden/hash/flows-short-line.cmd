printf "src\tdst\n10.0.0.1\n" | nfsbal hash -p esxi-ip-hash -n 4 --flows -
