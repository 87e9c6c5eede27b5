#!/usr/bin/env python3
"""Whether a lab's links carried what its rules say of a kernel's connections.

usage: flows.py PATH TOP write|read    PATH: emu path --json with the connections' ports, TOP: emu top --json

Each connection of PATH must have carried its share of the data, at least half of what even would be, over the predicted links and
over no other. Prints a line per connection.
"""
import json
import sys

SMALL = 100_000  # bytes: calls and acknowledgements, not data


def main(path_file, top_file, way):
    with open(path_file) as f:
        flows = json.load(f)["flows"]
    with open(top_file) as f:
        seen = json.load(f)["flows"]
    wrong, carried = [], []
    for flow in flows:
        client, vip, sport = flow["client"], flow["vip"], flow["sport"]
        expected = [hop["link"] for hop in flow[way]["hops"]]
        ends = (client, sport, vip, 2049) if way == "write" else (vip, 2049, client, sport)
        links = {}
        for s in seen:
            if (s["src"], s["sport"], s["dst"], s["dport"]) == ends and s["bytes"] > SMALL:
                links[s["link"]] = links.get(s["link"], 0) + s["bytes"]
        carried.append(max(links.values(), default=0))
        print(f"  port {sport}: " + (", ".join(f"{name} {n / 1e6:.1f} MB" for name, n in links.items()) or "nothing"))
        if not links:
            wrong.append(f"port {sport} carried no data")
        elif not set(links) <= set(expected) or len(links) != len(set(expected)):
            wrong.append(f"port {sport}: expected over {', '.join(expected)}")
    even = sum(carried) / len(carried)
    wrong += [f"port {f['sport']} carried {c / 1e6:.1f} MB of {even / 1e6:.1f}" for f, c in zip(flows, carried) if c < even / 2]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
