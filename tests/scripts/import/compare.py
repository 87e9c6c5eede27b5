#!/usr/bin/env python3
"""Compares two `emu path --json` results: every flow takes the same links with the same shares, hop by hop. The first is what
the second should be."""
import json
import sys


def flows(path):
    with open(path, encoding="utf-8") as f:
        result = json.load(f)
    found = {}
    for flow in result["flows"]:
        for direction in "write", "read":
            hops = [
                (h["box"], h["link"], h["policy"], h["status"], [(c["link"], c["share"]) for c in h["candidates"]])
                for h in flow[direction]["hops"]
            ]
            found[flow["datastore"], flow["host"], flow["connection"], direction] = (flow["client"], flow["vip"], flow[direction]["end"], hops)
    return found


want, have = flows(sys.argv[1]), flows(sys.argv[2])
wrong = 0
for key in sorted(set(want) | set(have), key=str):
    if want.get(key) != have.get(key):
        wrong += 1
        print("%s:\n  %s\n  %s" % (key, want.get(key), have.get(key)))
print("%d of %d ways are the same" % (len(want) - wrong, len(want)))
sys.exit(wrong > 0 or not want)
