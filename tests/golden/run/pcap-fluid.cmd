# needs: full
emu run --detail fluid --pcap not/made tests/golden/run/small.yaml
