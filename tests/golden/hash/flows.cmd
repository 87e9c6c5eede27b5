printf "src\tdst\tnote\n10.0.0.10\t10.0.0.20\ta b\n10.0.0.10\t10.0.0.21\t\n" | nfsbal hash -p esxi-ip-hash -n 4 --flows -
