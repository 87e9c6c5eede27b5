#!/usr/bin/env bash
# The same link as Mininet makes it: two hosts on a Linux bridge, TCLink with 1000 Mbit/s.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
python=/usr/bin/python3
need brctl bridge-utils
$python -c 'import mininet' 2>/dev/null || { echo "skipped: mininet is not installed (Debian: mininet)"; exit 77; }

rate=$($python - <<'EOF'
import re, time
from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
setLogLevel("critical")
net = Mininet(switch=LinuxBridge, controller=None, link=TCLink)
switch = net.addSwitch("s1")
for name in ("h1", "h2"):
    net.addLink(net.addHost(name), switch, bw=1000)
net.start()
h1, h2 = net.get("h1", "h2")
try:
    h2.cmd("iperf3 -s -1 -D -p 5301")
    time.sleep(1)
    out = h1.cmd("timeout 40 iperf3 -c %s -p 5301 -t 6 -O 1 -i 0 -f m -C cubic" % h2.IP())
    print(re.findall(r"([0-9.]+) Mbits/sec.*receiver", out)[0])
finally:
    net.stop()
EOF
)
echo "MTU 1500: $rate Mbit/s of 941.5"
echo "bench: accuracy-1500 $(accuracy "$rate" 941.5) %"
