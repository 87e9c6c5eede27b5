emu check
emu check --list --strict
emu check --explain vip-colision
emu check --explain all tests/golden/check/rules/mtu.yaml
emu check --expand --json tests/golden/check/rules/mtu.yaml
emu check --case god tests/golden/check/rules/mtu.yaml
