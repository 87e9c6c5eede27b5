nfsbal hash -p cisco-src-dst-ip -n 4 --why --json 10.50.0.11 10.50.0.[101-102]
