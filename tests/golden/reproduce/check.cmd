emu reproduce --check -q tests/golden/reproduce/small.yaml
