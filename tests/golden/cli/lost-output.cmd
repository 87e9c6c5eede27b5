# A full disk, a closed stdout and a closed pipe are errors of the command.
emu help >/dev/full; echo $?
emu help >&-; echo $?
{ sleep 0.3; emu help; echo $? >&2; } | true
