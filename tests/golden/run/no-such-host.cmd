emu run --host esx2 tests/golden/run/small.yaml
