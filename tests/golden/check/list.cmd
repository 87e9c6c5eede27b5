emu check --list
