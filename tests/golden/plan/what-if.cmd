nfsbal plan topologies/examples/plant-b.yaml --what-if "speed fas 10G" --what-if "add-host esx7 10.50.0.17" --what-if "fail esx1:vmnic3"
