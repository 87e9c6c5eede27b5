emu run tests/golden/check/expect-mistake.yaml
