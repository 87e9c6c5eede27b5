#!/usr/bin/env python3
"""Stands between an NFS 3 client and a real server and spoils some of the server's replies.

usage: nfs_proxy.py LISTEN SERVER SEED RULES [PORT]...

Listens on address LISTEN and hands on to SERVER, at each PORT (2049 20048). RULES is a file of JSON that is read again whenever it
changes: {"mutate": 0.05} spoils that share of the replies, {"answer": {"7": 69}} answers calls of NFS procedure 7 (WRITE) with
status 69 (NFS3ERR_DQUOT) without asking the server. What was done is counted on stderr when it ends. Data in READ replies
is left alone: no client could tell.
"""
import asyncio
import json
import os
import random
import signal
import socket
import struct
import sys
from collections import Counter

NFS, READ, GETATTR, FSINFO = 100003, 6, 1, 19
VALUES = (0, 1, 2, 0x7FFFFFF0, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFC, 0xFFFFFFFF, 5, 10008, 70, 0x10000, 64, 65, 256)
# Words after the status of a reply that fails: wcc_data, attributes.
FAILED_WORDS = {2: 2, 7: 2, 8: 2, 9: 2, 10: 2, 11: 2, 12: 2, 13: 2, 14: 4, 15: 3, 21: 2}
kinds = Counter()


class Rules:
    def __init__(self, path):
        self.path, self.at, self.mutate, self.answer = path, None, 0.0, {}

    def look(self):
        at = os.stat(self.path).st_mtime_ns
        if at != self.at:
            try:
                with open(self.path) as f:
                    r = json.load(f)
            except ValueError:  # half written
                return self
            self.at, self.mutate, self.answer = at, r.get("mutate", 0.0), {int(k): v for k, v in r.get("answer", {}).items()}
        return self


async def record(reader):
    whole = b""
    while True:
        mark = struct.unpack(">I", await reader.readexactly(4))[0]
        whole += await reader.readexactly(mark & 0x7FFFFFFF)
        if mark >> 31:
            return whole


def marked(data):
    return struct.pack(">I", 0x80000000 | len(data)) + data


def reset(writer):
    if writer.is_closing():
        return
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.close()


async def spoil(draw, data, procedure, others, out):
    """Sends a reply in another way than it came. False: the connection is to end."""
    kind = draw.choice(("flip", "flip", "word", "word", "cut", "tail", "mark", "close", "garbage", "xid", "again", "dribble", "stall",
                        "fragments"))
    kinds[kind] += 1
    area = min(len(data), 128) if procedure == READ else len(data)
    body = bytearray(data)
    if kind == "flip":
        for _ in range(draw.randrange(1, 5)):
            body[draw.randrange(area)] ^= 1 << draw.randrange(8)
    elif kind == "word" and area >= 8:
        struct.pack_into(">I", body, draw.randrange(4 if area > 4 else 0, area - 3, 4), draw.choice(VALUES))
    elif kind == "cut":
        del body[draw.randrange(len(body)):]
    elif kind == "tail":
        body += draw.randbytes(draw.randrange(1, 64))
    elif kind == "garbage" and len(body) > 28:
        body[24:] = draw.randbytes(len(body) - 24)
    elif kind == "xid" and others:
        struct.pack_into(">I", body, 0, draw.choice(sorted(others)))
    elif kind == "mark":
        out.write(struct.pack(">I", draw.choice((0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x80000000 | (len(data) + 1000)))) + data)
        await asyncio.sleep(0.05)
        return False
    elif kind == "close":
        out.write(marked(data)[: draw.randrange(len(data) + 4)])
        return False
    elif kind == "again":
        out.write(marked(data))
    elif kind == "stall":
        await asyncio.sleep(draw.uniform(0.05, 0.6))
    elif kind == "dribble":
        whole = marked(data)
        for i in range(0, min(len(whole), 200), 5):
            out.write(whole[i: i + 5])
            await out.drain()
            await asyncio.sleep(0.002)
        out.write(whole[(min(len(whole), 200) + 4) // 5 * 5:])
        return True
    elif kind == "fragments":
        at = draw.randrange(len(data) + 1)
        out.write(struct.pack(">I", at) + data[:at] + struct.pack(">I", 0) + marked(data[at:]))
        return True
    out.write(marked(bytes(body)))
    return True


async def serve(client_in, client_out, to, port, draw, rules):
    try:
        server_in, server_out = await asyncio.open_connection(to, port)
    except OSError:
        reset(client_out)
        return
    calls = {}  # xid: program and procedure

    async def up():
        while True:
            data = await record(client_in)
            xid, _, _, program, _, procedure = struct.unpack(">6I", data[:24])
            status = rules.look().answer.get(procedure) if program == NFS else None
            if status is not None:
                words = FAILED_WORDS.get(procedure, 1)
                client_out.write(marked(struct.pack(">7I", xid, 1, 0, 0, 0, 0, status) + bytes(4 * words)))
                kinds["answered"] += 1
                continue
            calls[xid] = (program, procedure)
            server_out.write(marked(data))
            await server_out.drain()

    async def down():
        first = 3  # the root of a connection that was made again: a lie there keeps the path away for half a minute
        while True:
            data = await record(server_in)
            program, procedure = calls.pop(struct.unpack(">I", data[:4])[0], (0, 0))
            share = rules.look().mutate
            if program != NFS or (first > 0 and procedure in (GETATTR, FSINFO)):
                share /= 50
            first -= 1
            if draw.random() >= share:
                client_out.write(marked(data))
            elif not await spoil(draw, data, procedure, calls, client_out):
                return
            await client_out.drain()

    tasks = [asyncio.ensure_future(up()), asyncio.ensure_future(down())]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for t in tasks:
        t.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    server_out.close()
    if draw.random() < 0.5:
        reset(client_out)
    else:
        client_out.close()


async def main():
    listen, to, seed, path = sys.argv[1:5]
    ports = [int(p) for p in sys.argv[5:]] or [2049, 20048]
    rules, count = Rules(path), 0
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    def accept(port):
        async def accepted(client_in, client_out):
            nonlocal count
            count += 1
            await serve(client_in, client_out, to, port, random.Random(f"{seed} {count}"), rules)
        return accepted
    servers = [await asyncio.start_server(accept(p), listen, p, limit=1 << 21) for p in ports]
    print("ready", flush=True)
    await stop.wait()
    for s in servers:
        s.close()
    print("replies spoilt:", sum(kinds.values()), dict(sorted(kinds.items())), f"on {count} connections", file=sys.stderr, flush=True)
    os._exit(0)

asyncio.run(main())
