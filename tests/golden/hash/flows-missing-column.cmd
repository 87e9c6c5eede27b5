printf "src\tdst\n" | nfsbal hash -p linux-layer3+4 -n 4 --flows -
