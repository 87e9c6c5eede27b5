emu check tests/golden/check/mlag.yaml | grep -E ': (error|warning) |error'
