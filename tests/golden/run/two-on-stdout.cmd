emu run --tsv --json - tests/golden/run/small.yaml
