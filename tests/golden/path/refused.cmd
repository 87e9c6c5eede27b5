! emu path topologies/examples/plant-b.yaml --host esx9
! emu path topologies/examples/plant-b.yaml --host stack1
! emu path topologies/examples/plant-b.yaml --datastore ds99
! emu path topologies/examples/plant-b.yaml --case none
! emu path topologies/examples/plant-b.yaml --sport 701
! emu path topologies/examples/plant-b.yaml --host esx1 --datastore ds01 --sport 701,x
! emu path topologies/examples/plant-b.yaml --host esx1 --datastore ds01 --sport 701,702
! emu path --json --tsv topologies/examples/plant-b.yaml
emu path topologies/examples/no-such-file.yaml
