sed "s/exact: 2/exact: 3/" tests/golden/run/small.yaml | emu run --detail fluid --quiet --check -
