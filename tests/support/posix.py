#!/usr/bin/env python3
"""What POSIX says of files, tried on a directory. usage: posix.py DIR [BIG]

Each function test_* is one topic, run in a directory of its own, as root; some of it as other users. It must pass on a local file
system as well, so that it is the suite that is right. BIG: also what takes long.
"""
import errno
import fcntl
import mmap
import os
import random
import signal
import stat
import struct
import sys
import threading
import time

USER, OTHER, GROUP = 4242, 4343, 5151


def fails(codes, call, *args, **kwargs):
    codes = codes if isinstance(codes, tuple) else (codes,)
    names = " or ".join(errno.errorcode[c] for c in codes)
    try:
        call(*args, **kwargs)
    except OSError as e:
        assert e.errno in codes, f"{call.__name__}{args}: {errno.errorcode[e.errno]} instead of {names}"
        return
    raise AssertionError(f"{call.__name__}{args} did not fail with {names}")


def as_user(uid, gid, groups, function):
    """Runs it in a process of that user; what it raises is raised here."""
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups(groups)
            os.setgid(gid)
            os.setuid(uid)
            function()
        except BaseException as e:  # noqa: B902 - it goes to the parent
            os.write(w, repr(e).encode())
            os._exit(1)
        os._exit(0)
    os.close(w)
    with os.fdopen(r, "rb") as f:
        text = f.read().decode()
    assert os.waitpid(pid, 0)[1] == 0, f"as user {uid}: {text}"


def put(name, data=b"", mode=0o644):
    fd = os.open(name, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, mode)
    assert os.write(fd, data) == len(data)
    os.close(fd)


def get(name):
    with open(name, "rb") as f:
        return f.read()


def exists(name):
    return os.path.lexists(name)


def test_rename():
    put("a", b"a")
    put("b", b"b")
    os.rename("a", "b")
    assert not exists("a") and get("b") == b"a"
    os.rename("b", "b")
    assert get("b") == b"a"
    os.mkdir("d")
    os.mkdir("d/e")
    os.mkdir("empty")
    fails(errno.ENOENT, os.rename, "nothing", "x")
    fails(errno.EISDIR, os.rename, "b", "d")
    fails(errno.ENOTDIR, os.rename, "d", "b")
    fails(errno.EINVAL, os.rename, "d", "d/e/f")
    os.rename("d", "empty")
    assert exists("empty/e") and not exists("d")
    os.mkdir("full")
    put("full/x")
    fails((errno.ENOTEMPTY, errno.EEXIST), os.rename, "empty", "full")


def test_rename_over_open():
    put("old", b"old data")
    put("new", b"new data")
    f = open("old", "rb")
    os.rename("new", "old")
    assert f.read() == b"old data" and get("old") == b"new data"
    f.close()
    left = wait_until(lambda: os.listdir("."), ["old"]) # close(2) does not wait for the file system to hear of it
    assert left == ["old"], left


def test_unlink_while_open():
    fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o600)
    os.write(fd, b"before")
    os.unlink("f")
    assert not exists("f")
    os.write(fd, b" after")
    assert os.pread(fd, 100, 0) == b"before after"
    assert os.fstat(fd).st_size == 12
    put("f", b"another")
    assert os.pread(fd, 100, 0) == b"before after" and get("f") == b"another"
    os.ftruncate(fd, 3)
    assert os.pread(fd, 100, 0) == b"bef"
    os.close(fd)
    left = [n for n in wait_until(lambda: os.listdir("."), ["f"])]
    assert left == ["f"], left


def wait_until(call, wanted):
    for _ in range(100):
        if call() == wanted:
            break
        time.sleep(0.02)
    return call()


def test_truncate():
    put("f", b"0123456789")
    os.truncate("f", 4)
    assert get("f") == b"0123"
    os.truncate("f", 8)
    assert get("f") == b"0123\0\0\0\0"
    fd = os.open("f", os.O_RDWR)
    os.write(fd, b"abcdefghijkl")
    os.ftruncate(fd, 6)
    assert os.fstat(fd).st_size == 6 and os.pread(fd, 20, 0) == b"abcdef"
    os.pwrite(fd, b"xy", 10)
    assert os.pread(fd, 20, 0) == b"abcdef\0\0\0\0xy"
    os.ftruncate(fd, 0)
    os.pwrite(fd, b"z", 3)
    os.close(fd)
    assert get("f") == b"\0\0\0z"
    os.close(os.open("f", os.O_WRONLY | os.O_TRUNC))
    assert get("f") == b""
    fails(errno.EISDIR, os.truncate, ".", 0)
    fails(errno.ENOENT, os.truncate, "nothing", 0)


def test_sparse():
    fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
    os.pwrite(fd, b"end", (5 << 30) - 3)
    os.pwrite(fd, b"middle", 4 << 30)
    os.fsync(fd)
    st = os.fstat(fd)
    assert st.st_size == 5 << 30 and st.st_blocks * 512 < 100 << 20, st
    assert os.pread(fd, 6, 4 << 30) == b"middle" and os.pread(fd, 10, (5 << 30) - 3) == b"end"
    assert os.pread(fd, 1 << 20, 1 << 30) == bytes(1 << 20)
    os.ftruncate(fd, (4 << 30) + 3)
    assert os.pread(fd, 10, 4 << 30) == b"mid"
    os.close(fd)


def test_append():
    a = os.open("f", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
    b = os.open("f", os.O_WRONLY | os.O_APPEND)
    for i in range(50):
        os.write(a, b"a%02d." % i)
        os.write(b, b"b%02d." % i)
    os.close(a)
    os.close(b)
    assert get("f") == b"".join(b"a%02d.b%02d." % (i, i) for i in range(50)), get("f")
    fd = os.open("f", os.O_RDWR | os.O_APPEND)
    os.lseek(fd, 3, os.SEEK_SET)
    os.write(fd, b"end")
    assert os.pread(fd, 10, 400) == b"end"
    os.close(fd)

    def writer(letter):
        fd = os.open("g", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        for _ in range(40):
            os.write(fd, letter * 100)
        os.close(fd)
    threads = [threading.Thread(target=writer, args=(x,)) for x in (b"x", b"y", b"z")]
    [t.start() for t in threads]
    [t.join() for t in threads]
    g = get("g")
    assert len(g) == 12000 and all(len(set(g[i:i + 100])) == 1 for i in range(0, len(g), 100))


def test_exclusive():
    fd = os.open("f", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
    os.write(fd, b"x")
    os.close(fd)
    st = os.stat("f")
    assert stat.S_IMODE(st.st_mode) == 0o640 & ~UMASK, oct(st.st_mode)
    assert abs(st.st_mtime - time.time()) < 60, st
    fails(errno.EEXIST, os.open, "f", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    os.symlink("nowhere", "l")
    fails(errno.EEXIST, os.open, "l", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    won = []

    def race(i):
        try:
            os.close(os.open("r", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            won.append(i)
        except FileExistsError:
            pass
    threads = [threading.Thread(target=race, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(won) == 1, won


def test_links():
    put("f", b"x")
    os.link("f", "g")
    assert os.stat("f").st_nlink == 2 and os.path.samefile("f", "g")
    os.unlink("f")
    assert os.stat("g").st_nlink == 1 and get("g") == b"x"
    fails(errno.EEXIST, os.link, "g", "g")
    os.mkdir("d")
    fails(errno.EPERM, os.link, "d", "e")
    fails(errno.ENOENT, os.link, "nothing", "e")
    for target in ("x", "a/b/../c", "t" * 1000, " blank\tand\nmore", "\u00e4\u4e2d"):
        os.symlink(target, "l")
        assert os.readlink("l") == target
        assert os.lstat("l").st_size == len(target.encode())
        os.unlink("l")
    os.symlink("loop", "loop")
    fails(errno.ELOOP, os.stat, "loop")
    os.symlink("g", "to-g")
    assert get("to-g") == b"x"
    os.link("to-g", "hard", follow_symlinks=False)
    assert os.readlink("hard") == "g"
    fails(errno.EINVAL, os.readlink, "g")


def test_names():
    names = ["x" * 255, "-rf", " ", "a b", "tab\there", "new\nline", "\u00fc\u4e2d\U0001f4be", "*", "'\"\\", "...", ".hidden",
             "A", "a", "back\\slash", "\x01\x7f"]
    raw = b"\xff\xfe not UTF-8"
    for n in names:
        put(n, n.encode())
    put(raw, b"raw")
    assert sorted(os.listdir(b".")) == sorted([n.encode() for n in names] + [raw])
    for n in names:
        assert get(n) == n.encode()
    assert get(raw) == b"raw"
    fails(errno.ENAMETOOLONG, os.open, "y" * 256, os.O_CREAT | os.O_WRONLY)
    fails(errno.ENAMETOOLONG, os.mkdir, "y" * 300)
    fails(errno.ENAMETOOLONG, os.stat, "y" * 256)
    deep = "/".join(["d" * 200] * 15)
    os.makedirs(deep)
    put(deep + "/f", b"deep")
    assert get(deep + "/f") == b"deep"


def test_directories():
    os.mkdir("d", 0o750)
    assert stat.S_IMODE(os.stat("d").st_mode) == 0o750 & ~UMASK
    n = os.stat(".").st_nlink
    fails(errno.EEXIST, os.mkdir, "d")
    put("d/f")
    fails(errno.ENOTEMPTY, os.rmdir, "d")
    fails(errno.ENOTDIR, os.rmdir, "d/f")
    fails(errno.EISDIR, os.unlink, "d")
    fails(errno.ENOTDIR, os.stat, "d/f/g")
    fails(errno.ENOENT, os.rmdir, "nothing")
    os.unlink("d/f")
    os.rmdir("d")
    assert not exists("d") and os.stat(".").st_nlink <= n


def test_types():
    os.mkfifo("fifo", 0o600)
    assert stat.S_ISFIFO(os.stat("fifo").st_mode)
    os.mknod("null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    st = os.stat("null")
    assert stat.S_ISCHR(st.st_mode) and st.st_rdev == os.makedev(1, 3)
    os.mknod("block", 0o600 | stat.S_IFBLK, os.makedev(259, 77))
    assert os.stat("block").st_rdev == os.makedev(259, 77)
    os.mknod("sock", 0o600 | stat.S_IFSOCK)
    assert stat.S_ISSOCK(os.stat("sock").st_mode)
    os.mknod("regular", 0o600 | stat.S_IFREG)
    fails(errno.EEXIST, os.mknod, "regular", 0o600 | stat.S_IFREG)
    assert os.stat("regular").st_size == 0


def test_permissions():
    put("mine", b"secret", 0o600)
    put("grouped", b"shared", 0o640)
    os.chown("mine", USER, USER)
    os.chown("grouped", USER, GROUP)
    os.mkdir("closed", 0o700)
    os.chown("closed", USER, USER)
    put("closed/in", b"in", 0o644)
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)

    def owner():
        assert get("mine") == b"secret" and get("closed/in") == b"in"
        put("sticky/own", b"own")
        os.chmod("mine", 0o604)
        fails(errno.EPERM, os.chown, "mine", OTHER, -1)
    as_user(USER, USER, [], owner)

    def other():
        assert get("mine") == b"secret"
        fails(errno.EACCES, os.open, "mine", os.O_WRONLY)
        fails(errno.EACCES, os.open, "grouped", os.O_RDONLY)
        fails(errno.EACCES, os.stat, "closed/in")
        fails(errno.EACCES, os.listdir, "closed")
        fails(errno.EACCES, os.open, "closed/new", os.O_CREAT | os.O_WRONLY)
        fails(errno.EPERM, os.chmod, "mine", 0o777)
        fails(errno.EPERM, os.utime, "mine", (1, 1))
        fails(errno.EACCES, os.utime, "mine")
        fails(errno.EPERM, os.unlink, "sticky/own")
        assert not os.access("mine", os.W_OK) and os.access("mine", os.R_OK)
        assert not os.access("closed", os.X_OK)
    as_user(OTHER, OTHER, [], other)

    def member():
        assert get("grouped") == b"shared"
        fails(errno.EACCES, os.open, "grouped", os.O_WRONLY)
    as_user(OTHER, OTHER, [1, 2, GROUP], member)

    def creator():
        put("sticky/new")
        st = os.stat("sticky/new")
        assert (st.st_uid, st.st_gid) == (OTHER, OTHER), st
        fd = os.open("sticky/readonly", os.O_CREAT | os.O_RDWR, 0o400)
        os.write(fd, b"the creator may write")  # although the mode says no
        os.close(fd)
        fails(errno.EACCES, os.open, "sticky/readonly", os.O_WRONLY)
    as_user(OTHER, OTHER, [], creator)
    assert get("sticky/readonly") == b"the creator may write"


def test_modes():
    put("f")
    for mode in (0, 0o777, 0o4755, 0o2644, 0o1644, 0o640):
        os.chmod("f", mode)
        assert stat.S_IMODE(os.stat("f").st_mode) == mode, oct(os.stat("f").st_mode)
    os.chmod("f", 0o6755)
    os.chown("f", USER, GROUP)
    st = os.stat("f")
    assert (st.st_uid, st.st_gid) == (USER, GROUP)
    os.chown("f", -1, OTHER)
    assert os.stat("f").st_gid == OTHER
    old = os.umask(0o077)
    put("u", b"", 0o666)
    os.umask(old)
    assert stat.S_IMODE(os.stat("u").st_mode) == 0o600


def test_times():
    put("f", b"x")
    os.utime("f", ns=(1_000_000_000_123_456_789, 1_234_567_890_987_654_321))
    st = os.stat("f")
    assert st.st_atime_ns == 1_000_000_000_123_456_789 and st.st_mtime_ns == 1_234_567_890_987_654_321, st
    os.utime("f")
    assert abs(os.stat("f").st_mtime - time.time()) < 60
    os.utime("f", ns=(5 * 10**9, 7 * 10**9))
    fd = os.open("f", os.O_RDWR)
    os.write(fd, b"y")
    os.utime(fd, ns=(3 * 10**9, 4 * 10**9))  # as tar does, before it closes
    os.close(fd)
    assert os.stat("f").st_mtime == 4
    before = os.stat(".").st_mtime_ns
    time.sleep(0.02)
    put("g")
    assert os.stat(".").st_mtime_ns > before
    before = os.stat("g").st_mtime_ns
    time.sleep(0.02)
    with open("g", "wb") as f:
        f.write(b"new")
    assert os.stat("g").st_mtime_ns > before
    c = os.stat("g").st_ctime_ns
    time.sleep(0.02)
    os.chmod("g", 0o600)
    assert os.stat("g").st_ctime_ns > c


def test_read_write():
    fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
    assert os.read(fd, 10) == b"" and os.pread(fd, 10, 1000) == b""
    big = random.Random(1).randbytes(3_300_001)
    assert os.pwrite(fd, big, 12345) == len(big)
    assert os.pread(fd, len(big), 12345) == big
    assert os.pread(fd, 12345, 0) == bytes(12345)
    assert os.fstat(fd).st_size == 12345 + len(big)
    os.fsync(fd)
    os.close(fd)
    assert get("f")[12345:] == big
    fd = os.open("f", os.O_RDONLY)
    fails(errno.EBADF, os.write, fd, b"x")
    os.close(fd)
    fd = os.open("f", os.O_WRONLY)
    fails(errno.EBADF, os.read, fd, 1)
    os.close(fd)
    fails(errno.ENOENT, os.open, "nothing", os.O_RDONLY)
    fails(errno.EISDIR, os.open, ".", os.O_WRONLY)


def test_two_descriptors():
    a = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
    b = os.open("f", os.O_RDWR)
    for i in range(100):
        os.pwrite(a, b"%04d" % i, 4 * i)
        assert os.pread(b, 4, 4 * i) == b"%04d" % i
        assert os.fstat(b).st_size == 4 * (i + 1)
        os.pwrite(b, b"X", 4 * i)
        assert os.pread(a, 4, 4 * i) == b"X%03d" % i
    os.close(a)
    os.close(b)


def test_direct():
    if not hasattr(os, "O_DIRECT"):
        return
    try:
        fd = os.open("f", os.O_CREAT | os.O_RDWR | os.O_DIRECT, 0o644)
    except OSError as e:
        assert e.errno == errno.EINVAL  # tmpfs of older kernels
        return
    block = mmap.mmap(-1, 65536)
    block[:] = bytes(range(256)) * 256
    for i in range(20):
        assert os.pwritev(fd, [block], i * 65536) == 65536
    back = mmap.mmap(-1, 65536)
    assert os.preadv(fd, [back], 5 * 65536) == 65536 and back[:] == block[:]
    plain = os.open("f", os.O_RDWR)
    os.pwrite(plain, b"through the cache", 100)
    os.fsync(plain)
    assert os.preadv(fd, [back], 0) == 65536 and back[100:117] == b"through the cache"
    block[:5] = b"again"
    os.pwritev(fd, [block], 0)
    assert os.pread(plain, 5, 0) == b"again"
    os.close(plain)
    os.close(fd)


def test_mmap():
    put("f", b"a" * 100_000)
    fd = os.open("f", os.O_RDWR)
    try:
        m = mmap.mmap(fd, 100_000)
    except OSError as e:
        assert e.errno == errno.ENODEV  # cache=none, as documented
        return
    m[50_000:50_005] = b"hello"
    assert os.pread(fd, 5, 50_000) == b"hello"
    m.flush()
    os.pwrite(fd, b"world", 60_000)
    assert m[60_000:60_005] == b"world"
    m[0:3] = b"xyz"
    m.close()
    os.close(fd)
    assert get("f")[:3] == b"xyz" and get("f")[50_000:50_005] == b"hello"
    os.chmod("f", 0o755)
    put("script", b"#!/bin/sh\necho run\n", 0o755)
    assert os.popen("./script").read() == "run\n"


def test_readdir_changing():
    n = 30000 if BIG else 3000
    for i in range(n):
        put(f"{i:06}")
    assert sorted(os.listdir(".")) == [f"{i:06}" for i in range(n)]
    # Half of it goes and others come while it is read: what stays is seen exactly once.
    seen = []
    with os.scandir(".") as entries:
        for k, e in enumerate(entries):
            seen.append(e.name)
            if k % 2 == 0 and k < n:
                gone = f"{n - 1 - k // 2:06}"
                if exists(gone):
                    os.unlink(gone)
                put(f"new{k}")
    old = [s for s in seen if not s.startswith("new")]
    assert len(old) == len(set(old)), "an entry was seen twice"
    stays = {f"{i:06}" for i in range(n - n // 2 - 1)}
    missing = stays - set(old)
    assert not missing, f"{len(missing)} entries were not seen: {sorted(missing)[:5]}"
    with os.scandir(".") as entries:
        stats = {e.name: e.stat().st_size for e in entries}
    assert len(stats) == len(os.listdir("."))
    for name in os.listdir("."):
        os.unlink(name)
    assert os.listdir(".") == []


def test_statfs():
    s = os.statvfs(".")
    assert s.f_namemax == 255 and s.f_blocks >= s.f_bfree >= s.f_bavail and s.f_bsize >= 512
    free = s.f_bavail * s.f_frsize
    put("f", bytes(20 << 20))
    s = os.statvfs(".")
    assert free - s.f_bavail * s.f_frsize < 200 << 20


def test_locks():
    put("f", b"x" * 100)
    fd = os.open("f", os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, 10, 0)

    def other():
        fd = os.open("f", os.O_RDWR)
        fails(errno.EAGAIN, fcntl.lockf, fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 5)
        fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 50)
        fails(errno.EAGAIN, fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    other_fd = os.open("f", os.O_RDWR)
    fcntl.flock(other_fd, fcntl.LOCK_EX)
    pid = os.fork()
    if pid == 0:
        try:
            other()
        except BaseException as e:  # noqa: B902
            print(e, file=sys.stderr)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    os.close(fd)
    os.close(other_fd)


def in_child(function):
    """Starts it in a process; returns a function that waits for it and asserts that it went well."""
    pid = os.fork()
    if pid == 0:
        try:
            function()
        except BaseException as e:  # noqa: B902
            print(repr(e), file=sys.stderr)
            os._exit(1)
        os._exit(0)

    def end():
        assert os.waitpid(pid, 0)[1] == 0, f"{function.__name__} failed"
    return end


def locked_by(fd, first, length, kind=fcntl.F_WRLCK):
    """Who keeps us from this lock: type, first byte, length, process; None if nobody does."""
    t, _, start, n, pid = struct.unpack("hhqqi4x", fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack("hhqqi4x", kind, 0, first, length, 0)))
    return None if t == fcntl.F_UNLCK else (t, start, n, pid)


def test_locks_ranges():
    put("f", b"x" * 100)
    me, fd = os.getpid(), os.open("f", os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, 30, 10)   # 10-39
    fcntl.lockf(fd, fcntl.LOCK_UN, 10, 20)   # ... without 20-29
    fcntl.lockf(fd, fcntl.LOCK_SH, 5, 35)    # ... and 35-39 shared
    fcntl.lockf(fd, fcntl.LOCK_EX, 0, 1000)  # from 1000 to any end

    def other():
        there = os.open("f", os.O_RDWR)
        assert locked_by(there, 0, 0) == (fcntl.F_WRLCK, 10, 10, me), locked_by(there, 0, 0)
        assert locked_by(there, 20, 10) is None
        assert locked_by(there, 20, 20) == (fcntl.F_WRLCK, 30, 5, me)
        assert locked_by(there, 35, 5) == (fcntl.F_RDLCK, 35, 5, me)
        assert locked_by(there, 35, 5, fcntl.F_RDLCK) is None
        assert locked_by(there, 1 << 40, 1) == (fcntl.F_WRLCK, 1000, 0, me)
        assert locked_by(there, 40, 960) is None
    in_child(other)()
    os.close(os.open("f", os.O_RDONLY))  # any close of the file gives all back
    in_child(lambda: fcntl.lockf(os.open("f", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB))()


def test_locks_wait():
    put("f", b"x" * 100)
    fd = os.open("f", os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, 10, 0)
    r, w = os.pipe()

    def waiter():
        there = os.open("f", os.O_RDWR)
        os.write(w, b"1")
        fcntl.lockf(there, fcntl.LOCK_EX, 10, 5)
        assert os.pread(there, 5, 0) == b"given"

    def interrupted():
        def on_alarm(*_):
            raise InterruptedError
        there = os.open("f", os.O_RDWR)
        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            fcntl.lockf(there, fcntl.LOCK_EX, 10, 0)
        except InterruptedError:
            return
        raise AssertionError("the lock was given")
    ends = [in_child(waiter), in_child(waiter)]
    os.read(r, 1)
    os.read(r, 1)
    in_child(interrupted)()
    os.pwrite(fd, b"given", 0)
    fcntl.lockf(fd, fcntl.LOCK_UN, 5, 5)
    for end in ends:
        end()

    fcntl.lockf(fd, fcntl.LOCK_EX, 1, 0)

    def deadlock():
        there = os.open("f", os.O_RDWR)
        fcntl.lockf(there, fcntl.LOCK_EX, 1, 50)
        os.write(w, b"1")
        fcntl.lockf(there, fcntl.LOCK_EX, 1, 0)
    end = in_child(deadlock)
    os.read(r, 1)
    time.sleep(0.2)
    fails(errno.EDEADLK, fcntl.lockf, fd, fcntl.LOCK_EX, 1, 50)
    fcntl.lockf(fd, fcntl.LOCK_UN)
    end()


def test_locks_flock():
    put("f")
    one, two = os.open("f", os.O_RDWR), os.open("f", os.O_RDWR)
    fcntl.flock(one, fcntl.LOCK_SH)
    fcntl.flock(two, fcntl.LOCK_SH)
    fails(errno.EAGAIN, fcntl.flock, two, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)  # what `two` had is gone, as flock(2) warns
    fails(errno.EAGAIN, fcntl.flock, two, fcntl.LOCK_SH | fcntl.LOCK_NB)
    copy = os.dup(one)
    os.close(one)  # still open as `copy`
    fails(errno.EAGAIN, fcntl.flock, two, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def other():
        os.close(copy)  # ours too is that open file
        fcntl.flock(os.open("f", os.O_RDWR), fcntl.LOCK_EX)
    end = in_child(other)
    os.close(copy)
    end()
    fcntl.flock(two, fcntl.LOCK_EX)


def test_locks_of_open_files():
    """As QEMU locks its images."""
    put("f", b"x" * 100)
    get_it, set_it = 36, 37  # F_OFD_GETLK, F_OFD_SETLK
    one, two = os.open("f", os.O_RDWR), os.open("f", os.O_RDWR)

    def lock(fd, kind, first, length):
        fcntl.fcntl(fd, set_it, struct.pack("hhqqi4x", kind, 0, first, length, 0))
    lock(one, fcntl.F_RDLCK, 100, 3)
    lock(two, fcntl.F_RDLCK, 101, 1)
    fails(errno.EAGAIN, lock, two, fcntl.F_WRLCK, 100, 1)
    answer = struct.unpack("hhqqi4x", fcntl.fcntl(two, get_it, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 100, 1, 0)))
    assert answer[:4] == (fcntl.F_RDLCK, 0, 100, 3), answer
    os.close(os.open("f", os.O_RDONLY))  # does not give them back
    fails(errno.EAGAIN, lock, two, fcntl.F_WRLCK, 100, 1)
    os.close(one)
    lock(two, fcntl.F_WRLCK, 100, 1)


def test_fallocate_and_holes():
    fd = os.open("f", os.O_CREAT | os.O_RDWR, 0o644)
    os.posix_fallocate(fd, 0, 100_000)
    assert os.fstat(fd).st_size == 100_000
    assert os.lseek(fd, 0, os.SEEK_END) == 100_000
    os.pwrite(fd, b"x", 5)
    assert os.lseek(fd, 0, os.SEEK_DATA) >= 0
    os.close(fd)


def test_copy():
    put("f", random.Random(2).randbytes(2_500_000))
    a, b = os.open("f", os.O_RDONLY), os.open("g", os.O_CREAT | os.O_WRONLY, 0o644)
    left = 2_500_000
    while left:
        n = os.copy_file_range(a, b, left) if hasattr(os, "copy_file_range") else os.sendfile(b, a, None, left)
        assert n > 0
        left -= n
    os.close(a)
    os.close(b)
    assert get("f") == get("g")


def test_moved_directory():
    os.makedirs("a/b")
    put("a/b/f", b"x")
    here = os.getcwd()
    os.chdir("a/b")
    os.rename(here + "/a", here + "/z")
    assert get("f") == b"x" and os.getcwd() == here + "/z/b"
    put("g", b"y")
    os.chdir(here)
    assert get("z/b/g") == b"y"
    os.chdir("z/b")
    os.unlink("f")
    os.unlink("g")
    os.rmdir(here + "/z/b")
    # NFS has forgotten a removed directory; only the host that removed it can say more.
    fails((errno.ENOENT, errno.ESTALE), os.open, "x", os.O_CREAT | os.O_WRONLY)
    os.chdir(here)


def main():
    global BIG, UMASK
    BIG = len(sys.argv) > 2
    UMASK = os.umask(0o022)
    os.umask(UMASK)
    top, bad = os.path.abspath(sys.argv[1]), 0
    for name, function in sorted(globals().items()):
        if not name.startswith("test_"):
            continue
        os.mkdir(f"{top}/{name}")
        os.chmod(f"{top}/{name}", 0o777)
        os.chdir(f"{top}/{name}")
        begin = time.monotonic()
        try:
            function()
        except Exception as e:  # noqa: B902
            import traceback
            where = traceback.extract_tb(e.__traceback__)
            line = next(f.lineno for f in where if f.name.startswith("test_") or f.name == "as_user")
            print(f"FAILED {name}, line {line}: {e!r}")
            bad += 1
        else:
            print(f"ok {name} ({time.monotonic() - begin:.2f} s)")
        os.chdir(top)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
