emu size; echo $?
emu size --capacity 2TB; echo $?
emu size --raise vm-groups/desk/total; echo $?
emu size tests/golden/size/desktops.yaml; echo $?
emu size --raise vm-groups/none/total --value run.iops tests/golden/size/desktops.yaml; echo $?
emu size --raise vm-groups/desk/total --value run.nothing tests/golden/size/desktops.yaml; echo $?
emu size --raise vm-groups/desk/count --value run.iops tests/golden/size/desktops.yaml; echo $?
emu size --raise vm-groups/desk/phases/0/name --value run.iops tests/golden/size/desktops.yaml; echo $?
