nfsbal import tests/golden/import/harbour
