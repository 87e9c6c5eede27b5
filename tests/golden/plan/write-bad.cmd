F=$PWD/topologies; cd $TMP
nfsbal plan $F/examples/plant-b.yaml --levers vip,names --max-changes 2 --write new.yaml >/dev/null 2>err; echo $?; ls; tail -1 err
nfsbal plan $F/fs7500/fig09-teaming.yaml --case ip-hash --write new.yaml; echo $?
nfsbal plan $F/examples/plant-b.yaml --max-changes 2 --write none/new.yaml >/dev/null; echo $?
