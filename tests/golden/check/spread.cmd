emu check tests/golden/check/spread.yaml | grep -E -A3 '  (vip-collision|idle-uplinks|vip-unused|input-drawn|hash-unknown|lag-under-explicit|ip-hash-standby|single-point)  |error   '
