emu compare --within 2 a.json b.json
