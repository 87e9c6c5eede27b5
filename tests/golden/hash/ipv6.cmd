nfsbal hash -p linux-layer3+4 -n 2,3,4 "[2001:db8:1::10]:800" 2001:db8:1::20
