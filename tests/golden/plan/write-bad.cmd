F=$PWD/topologies; cd $TMP
sed 's/"ds\[01,03,05\]": /"ds[01,03,05]": \&a /' $F/examples/plant-b.yaml >anchor.yaml
nfsbal plan anchor.yaml --max-changes 2 --write new.yaml >/dev/null 2>err; echo $?; ls
nfsbal plan $F/examples/plant-b.yaml --case none --write new.yaml 2>&1 | sed "s|$F|topologies|"; echo ${PIPESTATUS[0]}
nfsbal plan $F/examples/plant-b.yaml --max-changes 2 --write none/new.yaml >/dev/null; echo $?
