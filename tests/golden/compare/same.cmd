emu compare --within 0% --tsv tests/golden/compare/a.json tests/golden/compare/a.json | wc -l
