# A finding of some cases names them, one of all does not; an `allow:` that one case needs is used.
emu check tests/golden/check/cases.yaml
emu check --case plain --strict tests/golden/check/cases.yaml >"$TMP/strict"; echo "exit $?"
emu check --case plain tests/golden/check/cases.yaml >"$TMP/mild"; echo "exit $?"
