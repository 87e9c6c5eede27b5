emu check tests/golden/check/vm-groups.yaml
