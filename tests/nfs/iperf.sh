#!/usr/bin/env bash
# needs: full release alone
# Figures 9 and 12 of BP1024 with a TCP stream of iperf3 to each VIP, through real kernels and our fabric:
#
#       esx1 ==1-4 x 1G== pc7048 ==1G== one NIC per VIP (ctl1: .101 .103, ctl2: .102 .104)
#
# A full link at MTU 9000 carries 990 Mbit/s of TCP payload; n links n times as much, within 3 %.
set -euo pipefail
. tests/nfs/library.sh
need_root_and iperf3 iperf3

listens() { emu exec $lab "fs7500:ctl$((2 - $1 % 2))" -- ss -Hlnt | grep -q "10.10.5.10$1:5201"; }

# COMMAND... : before what else runs on the machine, as emu live does it with servers and load.
preferred() { setsid -w bash -c 'echo -10 >/proc/self/autogroup; exec nice -n -10 "$@"' preferred "$@" 2>/dev/null; }

measure() { # FILE CASE STREAMS LINKS : the sum of the streams is what so many links carry
    local file=$1 case=$2 streams=$3 links=$4 i jobs=()
    rm -f "$tmp"/client.* "$tmp"/server.*
    emu up --quiet --no-nas --name $lab --case "$case" "topologies/fs7500/$file"
    for ((i = 1; i <= streams; i++)); do
        preferred emu exec $lab "fs7500:ctl$((2 - i % 2))" -- iperf3 -s -D -1 -J --logfile "$tmp/server.$i" -B "10.10.5.10$i"
    done
    for ((i = 1; i <= streams; i++)); do
        wait_for 10 "iperf3 to listen" listens "$i"
    done
    for ((i = 1; i <= streams; i++)); do
        preferred emu exec $lab esx1 -- iperf3 -c "10.10.5.10$i" -t 2 -O 1 -J >"$tmp/client.$i" &
        jobs+=($!)
    done
    for i in "${jobs[@]}"; do wait "$i" || { cat "$tmp"/client.*; fail "$file $case: iperf3"; }; done
    for ((i = 1; i <= streams; i++)); do
        wait_for 10 "iperf3's report" grep -q '^}' "$tmp/server.$i"
    done
    emu down --quiet $lab 2>"$tmp/down" || fail "emu down"
    python3 - "$case" "$links" "$tmp" "$streams" <<'PYTHON' || { cat "$tmp/down"; fail "$file $case: not within 3 %"; }
import json, sys
case, links, folder, streams = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])
def rate(i):  # of the server's whole seconds: the sum at its end counts the time until it has heard of the end
    whole = [s["sum"] for s in json.load(open(f"{folder}/server.{i}"))["intervals"] if s["sum"]["seconds"] > 0.5 and not s["sum"]["omitted"]]
    return 8e-6 * sum(s["bytes"] for s in whole) / sum(s["seconds"] for s in whole)
rates = [rate(i) for i in range(1, streams + 1)]
print(f"{case}: {sum(rates):.0f} Mbit/s, expected {990 * links} ({', '.join(f'{r:.0f}' for r in rates)})")
sys.exit(not 0.97 * 990 * links <= sum(rates) <= 1.03 * 990 * links)
PYTHON
}

up_to_three_times measure fig09-teaming.yaml port-id 4 1
up_to_three_times measure fig09-teaming.yaml mac-hash 4 1
up_to_three_times measure fig09-teaming.yaml ip-hash 4 4
for n in 1 2 3 4; do up_to_three_times measure fig12-nics.yaml "nics-$n" "$n" "$n"; done
nothing_left
