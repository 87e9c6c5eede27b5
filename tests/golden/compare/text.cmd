emu compare tests/golden/compare/a.json tests/golden/compare/b.json
