emu check tests/golden/check/switches.yaml | grep -E ': (error|warning) '
