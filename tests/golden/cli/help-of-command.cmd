emu help compare; emu compare --help | cmp - <(emu help compare)
