#!/usr/bin/env bash
# needs: full. emu top in a terminal (tmux): what it shows, its keys, sizes; and emu metrics, read by Prometheus' own parser.
# shellcheck disable=SC1091,SC2154,SC2086,SC2015 # the rig's variables; names of labs have no blanks
set -euo pipefail
. tests/support/lab_rig.bash

command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
emu up -q --no-nas --name $lab --case ip-hash topologies/fs7500/fig09-teaming.yaml

mux() { tmux -S "$rig/tmux" "$@"; }
end() {
    local rc=$?
    set +e
    mux kill-server 2>/dev/null
    (exit $rc)
    rig_down
}
trap end EXIT
screen() { mux capture-pane -p -t top; }
keys() { mux send-keys -t top "$@"; }
# Waits until the screen has a line like this; shows it when it never comes.
shows() { # PATTERN
    local _
    for _ in $(seq 200); do
        ! screen | grep -qE -- "$1" || return 0
        sleep 0.1
    done
    screen
    fail "the screen never shows: $1"
}
shows_not() {
    local _
    for _ in $(seq 200); do
        screen | grep -qE -- "$1" || return 0
        sleep 0.1
    done
    screen
    fail "the screen still shows: $1"
}

# Something to see: 10.10.5.101 by vmnic4, at 20 Mbit/s, which any machine keeps up with.
emu set $lab esx1:vmnic4 rate=20M
emu exec $lab fs7500:ctl1 -- iperf3 -s -1 -D
for _ in $(seq 100); do
    ! emu exec $lab fs7500:ctl1 -- ss -Hltn "sport = :5201" | grep -q . || break
    sleep 0.05
done
emu exec $lab esx1 -- timeout 120 iperf3 -c 10.10.5.101 -t 100 >/dev/null 2>&1 &
mux -f /dev/null new-session -d -s top -x 110 -y 34 "cd '$rig' && emu top $lab --interval 200ms; echo ended with \$?; sleep 100"

echo "-- what it shows"
shows "^ emu top $lab: BP1024 figure 9"
shows '^ esx1:vmnic4>pc7048:ge3 +(1[5-9]|20)\.[0-9] +([7-9][0-9]|100)\.[0-9] .*\|\|\|\|'
shows '^ esx1:vmnic2>pc7048:ge1 +0\.0 .* 1 idle' # one mount's writes belong there
shows '4 busy, 20 idle|3 busy, 21 idle|2 busy, 22 idle' # acknowledgements are little
keys s
shows 'sort: rate'
[ "$(screen | sed -n 4p | grep -c 'vmnic4>pc7048:ge3\|pc7048:ge11>')" = 1 ] || fail "the busiest isn't on top: $(screen)"
keys s s s s
shows 'sort: name'
for _ in 1 2 3 4; do keys Down; done
shows 'flows on esx1:vmnic4>pc7048:ge3, chosen by esx1 vSwitch1: esxi-ip-hash'
shows '10\.10\.5\.11:[0-9]+ > 10\.10\.5\.101:5201  esx1 > fs7500:ctl1'
shows 'esxi-ip-hash: 0x0A0A050B xor 0x0A0A0565 = 0x0000006E, mod 4 = 2  \(exact\)'
keys i
shows 'idle links: hidden'
shows_not '^ esx1:vmnic2>'
keys i

echo "-- sizes"
mux resize-window -t top -x 60 -y 12
shows '^ esx1:vmnic4>pc7048:ge3'
shows_not 'queue'
mux resize-window -t top -x 20 -y 3
shows '^too small'
mux resize-window -t top -x 160 -y 50
shows 'queue flows  plan'
shows '^ pc7048:ge18>fs7500:ctl2.eth3'

echo "-- keys that change the lab"
keys f
shows '^ esx1:vmnic4>pc7048:ge3 .* down$'
shows '2 failed'
shows '^ esx1:vmnic[235]>pc7048:ge[124] +[1-9][0-9]*\.' # the flow goes on by another uplink
keys h
shows_not 'failed'
keys b
shows '^ esx1:vmnic4>pc7048:ge3 .* blackhole'
keys o
shows '^ esx1:vmnic4>pc7048:ge3 .* one-way'
shows_not '^ pc7048:ge3>esx1:vmnic4 .* (one-way|blackhole)'
keys h
shows_not '(one-way|failed)'
keys c
shows "capturing esx1:vmnic4"
sleep 1
keys c
shows '[1-9][0-9]* frames captured of esx1:vmnic4'
[ -s "$rig/$lab-esx1.vmnic4.pcap" ] || fail "no capture: $(ls "$rig")"
keys '?'
shows 'carrier stays, all frames get lost'
keys x
shows '^ esx1:vmnic4>'
keys q
shows '^ended with 0'

# A plain terminal without colours, as over a serial line; Ctrl-C is an end as well, and the terminal is as it was.
mux new-session -d -s plain -x 80 -y 24 "TERM=vt100 emu top $lab --interval 100ms; echo ended with \$?; stty -a | grep -o ' echo '; sleep 100"
plain() { mux capture-pane -p -t plain | grep -cE -- "$1" >/dev/null; }
for _ in $(seq 100); do
    ! plain '^ esx1:vmnic4>pc7048:ge3' || break
    sleep 0.05
done
plain '^ esx1:vmnic4>pc7048:ge3' || fail "nothing on a vt100: $(mux capture-pane -p -t plain)"
mux send-keys -t plain C-c
for _ in $(seq 100); do
    ! plain '^ *echo' || break
    sleep 0.05
done
plain '^ended with 0' && plain '^ *echo' || fail "after Ctrl-C: $(mux capture-pane -p -t plain)"

echo "-- for scripts"
emu top $lab --once --interval 100ms | grep -qE '^esx1:vmnic4>pc7048:ge3 ' || fail "--once"
emu top $lab --json --interval 100ms | python3 -c '
import json, sys
top = json.load(sys.stdin)
assert top["schema"] == "emu-top/1" and len(top["links"]) == 24
link, = [l for l in top["links"] if l["name"] == "esx1:vmnic4>pc7048:ge3"]
assert link["planned"] == 1 and link["bit_per_s"] == 20000000 and link["policy"] == "esxi-ip-hash" and not link["idle"], link
flow, = [f for f in top["flows"] if f["link"] == link["name"] and f["dport"] == 5201 and f["rate"] > 100000]
assert flow["agrees"] and flow["from"] == "esx1" and flow["to"] == "fs7500:ctl1", flow
' || fail "--json"
refused() { # CODE PATTERN COMMAND...
    local code=$1 pattern=$2 rc=0
    shift 2
    timeout 20 "$@" </dev/null >"$rig/out" 2>"$rig/err" || rc=$?
    [ $rc -eq "$code" ] || fail "$*: exit $rc, not $code: $(cat "$rig/err")"
    grep -qE -- "$pattern" "$rig/err" || fail "$*: no \"$pattern\" in: $(cat "$rig/err")"
}
refused 2 'no terminal; --once' emu top $lab
mux new-session -d -s odd "TERM=no-such-terminal emu top $lab 2>'$rig/odd'; echo \$? >'$rig/odd.rc'"
for _ in $(seq 100); do
    [ ! -s "$rig/odd.rc" ] || break
    sleep 0.05
done
[ "$(cat "$rig/odd.rc")" = 1 ] || fail "an unknown terminal: exit $(cat "$rig/odd.rc")"
grep -q "no terminal of kind .no-such-terminal." "$rig/odd" || fail "an unknown terminal: $(cat "$rig/odd")"

echo "-- metrics"
emu metrics $lab --once >"$rig/metrics"
python=/usr/bin/python3 # where Debian's packages are
[ -x $python ] || python=python3
$python - "$rig/metrics" <<'EOF' || fail "metrics --once"
import sys
text = open(sys.argv[1]).read()
assert text.endswith("\n") and "\n\n" not in text
try:
    from prometheus_client.parser import text_string_to_metric_families as parse
except ImportError:
    print("skipped: python3-prometheus-client is not installed")
    sys.exit()
families = {f.name: f for f in parse(text)}
assert len(families) == 15, families.keys()
for f in families.values():
    assert f.documentation and f.type in ("counter", "gauge"), f
    assert (f.type == "counter") == all(s.name.endswith("_total") for s in f.samples), f
links = {s.labels["link"]: s.value for s in families["emu_link_bytes"].samples}
assert len(links) == 24 and links["esx1:vmnic4>pc7048:ge3"] > 1e6, links
assert {s.value for s in families["emu_link_up"].samples} == {1.0}
EOF
emu metrics $lab --listen 127.0.0.1:0 >"$rig/url" &
tcp=$!
emu metrics $lab >"$rig/path" &
unix=$!
for _ in $(seq 100); do
    [ ! -s "$rig/url" ] || [ ! -s "$rig/path" ] || break
    sleep 0.05
done
python3 - "$(cat "$rig/url")" "$(cat "$rig/path")" <<'EOF' || fail "metrics over HTTP"
import http.client, socket, sys, urllib.error, urllib.request
url, path = sys.argv[1:]
first = urllib.request.urlopen(url)
assert first.status == 200 and first.headers["Content-Type"].startswith("text/plain; version=0.0.4")
one = [float(l.split()[-1]) for l in first.read().decode().splitlines() if l.startswith("emu_lab_uptime_seconds")]
two = [float(l.split()[-1]) for l in urllib.request.urlopen(url).read().decode().splitlines() if l.startswith("emu_lab_uptime_seconds")]
assert two > one
for where, code in (("nowhere", 404), ("metrics/", 404)):
    try:
        urllib.request.urlopen(url.replace("metrics", where))
        raise SystemExit("no error")
    except urllib.error.HTTPError as e:
        assert e.code == code, e
host, port = url.split("/")[2].split(":")
for request, answer in ((b"POST /metrics HTTP/1.1\r\n\r\n", b"405"), (b"nonsense\r\n\r\n", b"400"), (b"\x00\xff\r\n\r\n", b"400"),
                        (b"HEAD /metrics HTTP/1.0\r\n\r\n", b"200"), (b"GET / HTTP/1.1\r\n\r\n", b"200")):
    s = socket.create_connection((host, int(port)))
    s.sendall(request)
    text = b""
    while chunk := s.recv(65536):
        text += chunk
    assert text.split()[1] == answer, (request, text)
    assert not request.startswith(b"HEAD") or text.endswith(b"\r\n\r\n")
s = socket.socket(socket.AF_UNIX)
s.connect(path)
s.sendall(b"GET /metrics HTTP/1.1\r\nHost: lab\r\n\r\n")
text = b""
while chunk := s.recv(65536):
    text += chunk
assert b"emu_link_frames_total{" in text
EOF
refused 1 'Address already in use' emu metrics $lab --listen "$(sed 's|http://||; s|/metrics||' "$rig/url")"
refused 2 'not an address with a port' emu metrics $lab --listen somewhere
kill -INT $tcp
wait $tcp || fail "metrics ends with $?"
mux new-session -d -s top2 -x 90 -y 20 "emu top $lab; echo ended with \$?; sleep 100"
for _ in $(seq 100); do
    ! mux capture-pane -p -t top2 | grep -q "emu top $lab" || break
    sleep 0.05
done
emu down -q $lab
for _ in $(seq 100); do
    ! mux capture-pane -p -t top2 | grep -q "^ended with 1" || break
    sleep 0.05
done
mux capture-pane -p -t top2 | grep -q "^emu top: $lab: the lab has gone away" || fail "the end of the lab: $(mux capture-pane -p -t top2)"
wait $unix || fail "metrics doesn't end with the lab: $?"
nothing_left "after down"
