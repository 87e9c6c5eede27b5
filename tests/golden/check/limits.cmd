emu check tests/golden/check/limits.yaml | grep -E ': (error|warning) |[0-9] error'
