emu path topologies/examples/plant-b.yaml --plan docs/nfsbal-plan.schema.json
