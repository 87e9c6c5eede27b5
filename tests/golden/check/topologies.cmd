# The findings of every topology, by rule. A new file is a new paragraph: tests/run-golden --update, and read the diff.
for file in topologies/*/*.yaml; do
    rc=0
    emu check "$file" >"$TMP/out" || rc=$?
    echo "$file: exit $rc"
    sed -n "s|^$file:[0-9:]* \([a-z]*\) *\([a-z0-9-]*\)  .*|  \1 \2|p" "$TMP/out" | LC_ALL=C sort | uniq -c | sed 's/^ *\([0-9]*\)/  \1/'
done
