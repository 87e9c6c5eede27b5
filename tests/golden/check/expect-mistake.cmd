emu check tests/golden/check/expect-mistake.yaml | grep -A2 ": error"; exit ${PIPESTATUS[0]}
