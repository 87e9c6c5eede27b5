emu check --expand --case bad tests/golden/check/rules/vip-collision.yaml
