# Each file below errors/ has the mistake that it is named after; what a user sees.
cd tests/golden/topology/errors
for file in *.yaml; do
    emu check "$file" && echo "$file: exit 0"
done
emu check missing.yaml
