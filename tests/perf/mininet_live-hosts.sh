#!/usr/bin/env bash
# 64 hosts on a Linux bridge as Mininet makes them, and takes them away.
# shellcheck disable=SC1091,SC2154,SC2086,SC2034 # what live.bash has; commands of the rig are words, its paths have no blanks
set -euo pipefail
. tests/perf/live.bash
python=/usr/bin/python3
need brctl bridge-utils
$python -c 'import mininet' 2>/dev/null || { echo "skipped: mininet is not installed (Debian: mininet)"; exit 77; }

$python - <<'EOF'
import time
from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge
from mininet.topo import SingleSwitchTopo
setLogLevel("critical")
begin = time.time()
net = Mininet(topo=SingleSwitchTopo(64), switch=LinuxBridge, controller=None, link=TCLink, autoSetMacs=True)
net.start()
up = time.time()
net.stop()
down = time.time()
print("64 hosts up in %.2f s, down in %.2f s" % (up - begin, down - up))
print("bench: up-64 %.3f /s\nbench: down-64 %.3f /s" % (1 / (up - begin), 1 / (down - up)))
EOF
