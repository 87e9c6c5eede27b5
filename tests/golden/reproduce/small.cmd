emu reproduce tests/golden/reproduce/small.yaml
