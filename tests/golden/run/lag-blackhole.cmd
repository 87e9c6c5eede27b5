emu run topologies/examples/lag-blackhole.yaml
