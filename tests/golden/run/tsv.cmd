emu run --detail fluid --case one-link --tsv tests/golden/run/small.yaml
