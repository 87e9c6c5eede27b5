emu run --help
