emu run --detail packet tests/golden/run/small.yaml
