sed "s/speed: 1G/speed: 1X/" tests/golden/run/small.yaml | emu run -
