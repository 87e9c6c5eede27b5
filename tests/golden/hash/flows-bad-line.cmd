printf "src\tdst\n10.0.0.10\t10.0.0.20\n10.0.0.10\t10.0.0.999\n" | nfsbal hash -p esxi-ip-hash -n 4 --flows -
