emu compare --tsv tests/golden/compare/a.json tests/golden/compare/b.json 2>/dev/null
