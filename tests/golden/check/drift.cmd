emu check tests/golden/check/drift.yaml | grep -E '  (server-string-drift|alias-mount)  '
