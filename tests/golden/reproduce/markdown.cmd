emu reproduce --sensitivity --markdown - tests/golden/reproduce/small.yaml
