emu compare tests/golden/compare/a.json docs/emu-result.schema.json
