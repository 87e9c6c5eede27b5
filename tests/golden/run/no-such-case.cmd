emu run --case two-lniks --case x tests/golden/run/small.yaml
