emu run --seed -1 tests/golden/run/small.yaml
