#!/usr/bin/env python3
"""Writes to a file for a while and keeps a journal outside of it; later holds the file against the journal.

usage: journal.py write FILE JOURNAL SEED SECONDS [direct]     0: done; 3: an error of the file system, said on stderr
       journal.py check FILE JOURNAL

Each block holds the number of the write that it is of, many times over. A journal line is written before what it is about happens
("w BLOCK NUMBER", "f" fsync begins) and after ("F" fsync has returned; "r BLOCK NUMBER" what a read saw). Check: each block holds
its last write before the last fsync that returned, or a later one, whole; and so did each read while it ran.
"""
import mmap
import os
import random
import struct
import sys
import time

BLOCK, BLOCKS = 32768, 128


def fill(number, block):
    return struct.pack("<II", number, block) * (BLOCK // 8)


def write(path, journal, seed, seconds, direct):
    draw = random.Random(seed)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | (os.O_DIRECT if direct else 0), 0o644)
    log = open(journal, "a", buffering=1)
    buffer = mmap.mmap(-1, BLOCK)
    last, number, longest = {}, 0, 0.0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        block = draw.randrange(BLOCKS)
        what = draw.random()
        if what < 0.75:
            number += 1
            last[block] = number
            log.write(f"w {block} {number}\n")
            buffer[:] = fill(number, block)
            assert os.pwritev(fd, [buffer], block * BLOCK) == BLOCK
        elif what < 0.95:
            if block not in last:
                continue
            assert os.preadv(fd, [buffer], block * BLOCK) == BLOCK
            assert buffer[:] == fill(last[block], block), f"read block {block}: not write {last[block]}"
        else:
            log.write("f\n")
            os.fsync(fd)
            log.write("F\n")
        longest = max(longest, time.monotonic() - begin)
        if draw.random() < 0.01:
            time.sleep(0.002)
    log.write("f\n")
    os.fsync(fd)
    log.write("F\n")
    os.close(fd)
    print(f"{number} writes, longest wait {longest:.2f} s")


def check(path, journal):
    written, sealed, pending = {}, {}, {}
    for line in open(journal):
        if not line.endswith("\n"):
            break
        words = line.split()
        if words[0] == "w":
            written.setdefault(int(words[1]), []).append(int(words[2]))
        elif words[0] == "f":
            pending = {b: w[-1] for b, w in written.items()}
        elif words[0] == "F":
            sealed.update(pending)
    size = os.stat(path).st_size
    with open(path, "rb") as f:
        for block, numbers in sorted(written.items()):
            f.seek(block * BLOCK)
            data = f.read(BLOCK)
            allowed = [n for n in numbers if n >= sealed.get(block, 0)]
            if block not in sealed and data.count(0) == len(data):
                continue  # never synced: may be missing
            if len(data) < BLOCK:
                assert block not in sealed, f"block {block}: only {len(data)} of its bytes are there (file: {size})"
                continue
            number, where = struct.unpack_from("<II", data)
            assert where == block, f"block {block} holds block {where}"
            assert number in allowed, f"block {block}: write {number} instead of {allowed[0]} or later"
            if block in sealed and len(allowed) == 1:
                assert data == fill(number, block), f"block {block} is torn"
    print(f"{len(written)} blocks, {len(sealed)} of them synced: all right")


def main():
    if sys.argv[1] == "check":
        check(*sys.argv[2:4])
        return
    try:
        write(sys.argv[2], sys.argv[3], int(sys.argv[4]), float(sys.argv[5]), "direct" in sys.argv)
    except OSError as e:
        print(e, file=sys.stderr)
        sys.exit(3)


main()
