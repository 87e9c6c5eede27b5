# What `nfsbal mount` and its stand-in are made to do, on a real server over a veth, unshaped. Source it; $work is a mounted
# folder. Best of three rounds where a round is short; files are overwritten: the first touch of fresh memory is slow and not what is
# measured.
# shellcheck shell=bash disable=SC2154

best=0
better() { best=$(awk -v a="$best" -v b="$1" 'BEGIN { print (b > a ? b : a) }'); }
per_second() { awk '/copied/ { print $1 / $(NF - 3) / 1e6 }'; } # of dd, MB/s
elapsed() { # COMMAND... : its seconds
    local t0 t1
    t0=$(date +%s%N)
    "$@"
    t1=$(date +%s%N)
    awk -v d=$((t1 - t0)) 'BEGIN { print d / 1e9 }'
}
drop() { sync && echo 3 >/proc/sys/vm/drop_caches; }

measure_data() {
    dd if=/dev/zero of="$work/f" bs=1M count=256 conv=fsync status=none
    best=0
    for _ in 1 2 3; do
        better "$(dd if=/dev/zero of="$work/f" bs=1M count=256 conv=fsync,notrunc 2>&1 | per_second)"
    done
    echo "bench: write $best MB/s"
    best=0
    for _ in 1 2 3; do
        drop
        better "$(dd if="$work/f" of=/dev/null bs=1M 2>&1 | per_second)"
    done
    echo "bench: read $best MB/s"
    best=0
    for _ in 1 2; do
        better "$(fio --name=r --filename="$work/f" --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=32 \
            --runtime=2 --time_based --output-format=terse --terse-version=3 | awk -F';' '{ print $8 }')"
    done
    echo "bench: random-read $best operations/s"
}

# 10,000 files of 1 KB in 100 folders, as a source tree has them.
make_tar() { # FILE
    python3 - "$1" <<'PYTHON'
import io, sys, tarfile
with tarfile.open(sys.argv[1], "w") as tar:
    for d in range(100):
        folder = tarfile.TarInfo(f"tree/dir{d:02}")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(folder)
        for f in range(100):
            file = tarfile.TarInfo(f"tree/dir{d:02}/file{f:02}.c")
            file.size, file.mtime = 1000, 1500000000 + f
            tar.addfile(file, io.BytesIO(b"x" * 1000))
PYTHON
}

measure_names() {
    local seconds
    make_tar "$rig/tree.tar"
    seconds=$(elapsed tar -C "$work" -xf "$rig/tree.tar")
    awk -v s="$seconds" 'BEGIN { print "bench: untar " 10000 / s " files/s" }'
    best=0
    for _ in 1 2; do
        drop
        seconds=$(elapsed find "$work/tree" -type f -size +9c -printf '' -o -name none)
        better "$(awk -v s="$seconds" 'BEGIN { print 10000 / s }')"
    done
    echo "bench: find $best files/s"
}
