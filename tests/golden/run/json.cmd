emu run --detail fluid --case one-link --json - tests/golden/run/small.yaml
