emu size --capacity 2480GB --image 25GB --memory 1GB --write-cache 2GB
emu size --capacity 2539.5GB --image 25GB --memory 1GB --write-cache 2GB
emu size --capacity 2480GB --image 25GB --memory 1GB --write-cache 2GB --headroom 0%
emu size --capacity 2480GB --image 25GB --memory 1GB --write-cache 2GB --reserve 0%
emu size --capacity 2480GB --image 25GB --memory 1GB --write-cache 2GB --raise vm-groups/desk/total --value 'run.latency_mean[desk]' --max 5ms tests/golden/size/desktops.yaml
emu size --json --raise vm-groups/desk/total --value 'run.latency_mean[desk]' --max 5ms tests/golden/size/desktops.yaml
emu size --raise vm-groups/desk/total --value 'run.latency_mean[desk]' --max 1us tests/golden/size/desktops.yaml
emu size --raise vm-groups/desk/total --value 'run.latency_mean[desk]' --max 5ms --most 100 tests/golden/size/desktops.yaml
