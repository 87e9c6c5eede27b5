emu reproduce --sensitivity --seeds 2 --json - tests/golden/reproduce/small.yaml
