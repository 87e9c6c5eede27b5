emu run --detail fluid --quiet - <tests/golden/run/small.yaml
