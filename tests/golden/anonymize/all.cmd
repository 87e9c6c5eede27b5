# Nothing of the names and addresses is left, the file reads, and it means the same.
nfsbal anonymize --seed 3 --map "$TMP/map" tests/golden/anonymize/all.yaml | tee "$TMP/out.yaml"
cat "$TMP/map"
grep -n -i -E 'acme|berlin|payroll|crm|filer|head-|payday|192\.168|00:50:56|3c:ec' "$TMP/out.yaml"
emu check "$TMP/out.yaml" | tail -1
