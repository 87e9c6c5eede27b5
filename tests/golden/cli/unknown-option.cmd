emu compare --wihtin 2% a b
