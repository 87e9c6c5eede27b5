emu reproduce --sensitivity --seeds 2 tests/golden/reproduce/small.yaml
