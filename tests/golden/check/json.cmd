emu check --json --case bad tests/golden/check/rules/vip-collision.yaml
emu check --list --json | sed -n 1,5p
