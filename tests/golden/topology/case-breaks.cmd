# An error of one case is that case's; the others stay as they are.
cd tests/golden/topology/cases
emu check --case bad case-breaks.yaml
emu check --expand --case good case-breaks.yaml | sed -n 1,3p
emu check --expand --case worse case-breaks.yaml
