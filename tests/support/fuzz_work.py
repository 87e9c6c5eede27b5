#!/usr/bin/env python3
"""Works on files while a server's replies are spoilt: fuzz_work.py DIR SAME-DIR-ON-THE-SERVER SEED SECONDS BOUND

Whatever fails may fail, with an error and within BOUND seconds. What succeeded has happened: in the end each file whose last
operations all succeeded is on the server as they left it.
"""
import errno
import os
import random
import sys
import time
from collections import Counter

top, server, seed, seconds, bound = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
draw = random.Random(seed)
names = [f"f{i}" for i in range(12)] + ["d/g", "d/h"]
known = {}  # name: bytes; None: something failed, nobody knows; missing: not there
errors, done, differs, longest = Counter(), Counter(), 0, 0.0
SIZE = 300_000


def write(name):
    data, offset = draw.randbytes(draw.choice((1, 100, 5000, 150_000))), draw.randrange(SIZE // 2)
    old = known.get(name, b"")
    known[name] = None
    fd = os.open(f"{top}/{name}", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        for i in range(0, len(data), 40_000):
            os.pwrite(fd, data[i: i + 40_000], offset + i)
        os.fsync(fd)
    finally:
        os.close(fd)
    if old is not None:
        known[name] = old[:offset].ljust(offset, b"\0") + data + old[offset + len(data):]


def truncate(name):
    size, old = draw.randrange(SIZE), known.get(name)
    known[name] = None
    os.truncate(f"{top}/{name}", size)
    if old is not None:
        known[name] = old[:size].ljust(size, b"\0")


def unlink(name):
    known[name] = None
    os.unlink(f"{top}/{name}")
    del known[name]


def rename(name):
    to = draw.choice(names)
    old = known.get(name)
    if name == to or name not in known:
        return
    known[name] = known[to] = None
    os.rename(f"{top}/{name}", f"{top}/{to}")
    del known[name]
    known[to] = old


def read(name):
    global differs
    fd = os.open(f"{top}/{name}", os.O_RDONLY | draw.choice((0, os.O_DIRECT)))
    try:
        got = b""
        while (piece := os.read(fd, 1 << 20)):
            got += piece
    finally:
        os.close(fd)
    if known.get(name) is not None and got != known[name]:
        differs += 1


def look(name):
    os.stat(f"{top}/{name}")
    os.listdir(top)
    with os.scandir(f"{top}/d") as entries:
        for e in entries:
            e.stat()


def links(name):
    path = f"{top}/l{draw.randrange(5)}"
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    os.symlink(name, path)
    os.readlink(path)


while True:
    try:
        os.mkdir(f"{top}/d")
    except FileExistsError:
        break
    except OSError as e:
        errors[errno.errorcode[e.errno]] += 1
end = time.monotonic() + seconds
while time.monotonic() < end:
    operation = draw.choice((write, write, write, truncate, unlink, rename, read, read, look, look, links))
    begin = time.monotonic()
    try:
        operation(draw.choice(names))
        done[operation.__name__] += 1
    except OSError as e:
        errors[errno.errorcode.get(e.errno, str(e.errno))] += 1
    took = time.monotonic() - begin
    longest = max(longest, took)
    assert took < bound, f"{operation.__name__} took {took:.1f} s"

checked = 0
for name, data in known.items():
    if data is None:
        continue
    with open(f"{server}/{name}", "rb") as f:
        there = f.read()
    assert there == data, f"{name}: {len(there)} bytes on the server, not the {len(data)} that were acknowledged"
    checked += 1
print(f"{sum(done.values())} done {dict(done)}, {sum(errors.values())} failed {dict(errors)}, longest {longest:.2f} s, "
      f"{checked} files as acknowledged, {differs} reads of other bytes")
assert sum(done.values()) > 20 * seconds / 4, "hardly anything was done"
