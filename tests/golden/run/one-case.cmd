emu run --detail fluid --case two-links tests/golden/run/small.yaml
