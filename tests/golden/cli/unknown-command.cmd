emu compar a b
