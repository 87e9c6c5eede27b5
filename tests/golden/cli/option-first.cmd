emu --within 2% compare
