#!/usr/bin/env python3
"""Random operations on one file against an array in memory. usage: fsx.py FILE OPERATIONS SEED [MAX_SIZE [OTHER_NAME_OF_FILE]]

OTHER_NAME_OF_FILE: the same file seen from elsewhere (the server's directory); it must be equal after each close.
"""
import errno
import mmap
import os
import random
import sys


class Fsx:
    def __init__(self, path, seed, largest, elsewhere):
        self.path, self.elsewhere, self.largest = path, elsewhere, largest
        self.draw = random.Random(seed)
        self.model = bytearray()
        self.log = []
        self.maps = True
        self.open(os.O_CREAT | os.O_TRUNC)

    def open(self, flags=0):
        self.fd = os.open(self.path, os.O_RDWR | flags, 0o644)

    def place(self):
        """An offset and a length, often at borders of pages and of WRITEs, often where the file ends."""
        d = self.draw
        offset = d.choice([d.randrange(self.largest), len(self.model), 4096 * d.randrange(self.largest // 4096),
                           max(0, len(self.model) - d.randrange(1, 5000)), (1 << 20) * d.randrange(1 + (self.largest >> 20))])
        offset = min(offset, self.largest - 1)
        length = min(d.choice([1, 7, 512, 4096, d.randrange(1, 70000), d.randrange(1, 1 << 20)]), self.largest - offset)
        return offset, max(1, length)

    def store(self, offset, data):
        if offset > len(self.model):
            self.model.extend(bytes(offset - len(self.model)))
        self.model[offset:offset + len(data)] = data

    def write(self):
        offset, n = self.place()
        data = self.draw.randbytes(n)
        self.log.append(f"write {offset} +{n}")
        assert os.pwrite(self.fd, data, offset) == n
        self.store(offset, data)

    def append(self):
        n = self.draw.randrange(1, 20000)
        if len(self.model) + n > self.largest:
            return
        data = self.draw.randbytes(n)
        self.log.append(f"append +{n}")
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        assert os.write(fd, data) == n
        os.close(fd)
        self.store(len(self.model), data)

    def check(self, offset, n, data):
        wanted = bytes(self.model[offset:offset + n])
        if data != wanted:
            at = next((i for i, (a, b) in enumerate(zip(data, wanted)) if a != b), min(len(data), len(wanted)))
            raise AssertionError(f"read {offset} +{n}: {len(data)} bytes instead of {len(wanted)}, differs at {offset + at}")

    def read(self):
        offset, n = self.place()
        self.log.append(f"read {offset} +{n}")
        self.check(offset, n, os.pread(self.fd, n, offset))

    def direct(self):
        n = 4096 * self.draw.randrange(1, 40)
        offset = 4096 * self.draw.randrange(self.largest // 4096)
        if offset + n > self.largest:
            return
        buffer = mmap.mmap(-1, n)
        fd = os.open(self.path, os.O_RDWR | os.O_DIRECT)
        if self.draw.random() < 0.5:
            self.log.append(f"direct write {offset} +{n}")
            data = self.draw.randbytes(n)
            buffer[:] = data
            assert os.pwritev(fd, [buffer], offset) == n
            self.store(offset, data)
        else:
            self.log.append(f"direct read {offset} +{n}")
            got = os.preadv(fd, [buffer], offset)
            self.check(offset, n, buffer[:got])
        os.close(fd)

    def mapped(self):
        if not self.maps or not self.model:
            return
        offset, n = self.place()
        n = min(n, len(self.model) - offset)
        if n <= 0:
            return
        try:
            m = mmap.mmap(self.fd, len(self.model))
        except OSError as e:
            assert e.errno == errno.ENODEV
            self.maps = False  # cache=none
            return
        if self.draw.random() < 0.5:
            self.log.append(f"mapped write {offset} +{n}")
            data = self.draw.randbytes(n)
            m[offset:offset + n] = data
            self.model[offset:offset + n] = data
            m.flush()
        else:
            self.log.append(f"mapped read {offset} +{n}")
            self.check(offset, n, m[offset:offset + n])
        m.close()

    def truncate(self):
        size = self.place()[0]
        self.log.append(f"truncate {len(self.model)} -> {size}")
        if self.draw.random() < 0.5:
            os.ftruncate(self.fd, size)
        else:
            os.truncate(self.path, size)
        if size < len(self.model):
            del self.model[size:]
        else:
            self.model.extend(bytes(size - len(self.model)))

    def size(self):
        self.log.append("stat")
        st = self.draw.choice([lambda: os.fstat(self.fd), lambda: os.stat(self.path)])()
        assert st.st_size == len(self.model), f"size {st.st_size} instead of {len(self.model)}"

    def sync(self):
        self.log.append("fsync")
        os.fsync(self.fd)

    def reopen(self):
        self.log.append("close, open")
        os.close(self.fd)
        if self.elsewhere:
            with open(self.elsewhere, "rb") as f:
                data = f.read()
            assert data == bytes(self.model), f"seen from elsewhere: {len(data)} bytes, differs"
        self.open()

    def run(self, n):
        steps = [self.write] * 6 + [self.read] * 5 + [self.mapped] * 2 + [self.truncate, self.append, self.direct,
                                                                          self.direct, self.size, self.sync, self.reopen]
        for i in range(n):
            try:
                self.draw.choice(steps)()
            except Exception:
                print(f"FAILED at operation {i}; the last ones:", *self.log[-30:], sep="\n  ")
                raise
        os.close(self.fd)


def main():
    path, n, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    largest = int(sys.argv[4]) if len(sys.argv) > 4 else 1 << 20
    print(f"fsx: seed {seed}, {n} operations, at most {largest} bytes")
    Fsx(path, seed, largest, sys.argv[5] if len(sys.argv) > 5 else None).run(n)


main()
