# docs/checks.md holds what the program says.
diff <(sed '1,/^<!-- rules -->$/d' docs/checks.md) <(emu check --explain all) && echo "docs/checks.md is up to date"
