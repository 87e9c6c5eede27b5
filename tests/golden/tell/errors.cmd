f=topologies/examples/plant-b.yaml
t='test etherchannel load-balance interface'
echo | nfsbal tell $f; echo "rc $?"
nfsbal tell --date 1.2.2024 $f; echo "rc $?"
nfsbal tell -; echo "rc $?"
nfsbal tell "$TMP/absent" 2>&1 | sed "s|$TMP/||"
try() { nfsbal tell --date 2024-03-01 --write "$TMP/new" $f; echo "rc $? $(ls "$TMP")"; }
printf 'hello\nstack1#%s po11 ip 10.50.0.11 10.50.0.101\nWould select Gi3/0/1 of Po11\n' "$t" | try
printf 'stack1#%s po99 ip 10.50.0.11 10.50.0.101\nWould select Gi2/0/21 of Po11\n' "$t" | try
printf 'stack1#%s po11 ip 10.50.0.11 10.50.0.101\nWould select Gi2/0/21 of Po11\nstack1#%s po11 ip 10.50.0.11 10.50.0.101\nWould select Gi2/0/22 of Po11\n' "$t" "$t" | try
printf '## nobody\n%s po11 mac 0050.5600.0001 0200.0000.0001\nWould select Gi2/0/21 of Po11\n' "$t" | try
printf '%s po11 ip 10.50.0.11 10.50.0.101\nWould select Gi2/0/22 of Po11\n' "$t" | nfsbal tell --date 2024-03-01 --write "$TMP/told" $f
printf '%s po11 ip 10.50.0.11 10.50.0.101\nWould select Gi2/0/21 of Po11\n' "$t" | nfsbal tell "$TMP/told"; echo "rc $?"
exit 0
