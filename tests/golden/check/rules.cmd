# What each rule says: its findings in case `bad` of its file. tests/unit/check.c holds that there are some, and none in `good`.
for file in tests/golden/check/rules/*.yaml; do
    id=$(basename "$file" .yaml)
    emu check --case bad "$file" | awk -v id="$id" '
        /^tests\/golden\// { own = $3 == id }
        /^[0-9]+ (error|warning|note|acknowledged)/ { own = 0 }
        own'
done
