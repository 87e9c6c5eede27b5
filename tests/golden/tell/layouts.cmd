# Where `observed:` goes in a file, by how its author wrote the node.
cat >"$TMP/base.yaml" <<'END'
version: 1
nodes:
  # the host
  h1: {kind: linux, bonds: {bond0: {members: "e[0-1]", mode: balance-xor, hash: layer2+3}}, interfaces: {bond0: {address: 10.0.0.11/24}}}
  sw1:
    kind: switch       # Käse
    model: cisco-2960x
    hash: cisco-src-dst-ip
    lags:
      po1: {to: "h1:bond0", mode: static}
      po2: {to: "n1:c.lag0", mode: static}   # to the NAS
    OBSERVED

  # the NAS, below its comment
  n1: {kind: nas, controllers: {c: {nics: "e[0-1]", lag: {name: lag0, members: "e[0-1]", mode: static, hash: linux-layer2+3}}}, vips: {10.0.0.101/24: {home: c}}, exports: {/x: {}}}
links:
  - {ends: ["h1:e[0-1]", "sw1:gi1/0/[1-2]"], speed: 1G}
  - {ends: ["n1:c.e[0-1]", "sw1:gi1/0/[11-12]"], speed: 1G}
datastores: {x: {export: "n1:/x", mounted: 10.0.0.101}}
END
seen='{src: 10.0.0.9, dst: 10.0.0.101, lag: po2, port: gi1/0/11, date: 2020-01-01}'
flow=$(sed 's/OBSERVED//; s/^  sw1:$/  sw1: {kind: switch, model: cisco-2960x, hash: cisco-src-dst-ip, lags: {po1: {to: "h1:bond0", mode: static}, po2: {to: "n1:c.lag0", mode: static}}}/; /^    /d' "$TMP/base.yaml")
try() {
    echo "$1:"
    nfsbal tell --date 2024-03-01 --write - "$TMP/it.yaml" 2>"$TMP/said" <<'END' >"$TMP/new.yaml"
sw1# test etherchannel load-balance interface po2 ip 10.0.0.11 10.0.0.101
Would select Gi1/0/12 of Po2
END
    sed "s|$TMP/||" "$TMP/said"
    [ -s "$TMP/new.yaml" ] && diff "$TMP/it.yaml" "$TMP/new.yaml"
}
sed 's/OBSERVED//' "$TMP/base.yaml" >"$TMP/it.yaml"; try "nothing there"
sed "s|OBSERVED|observed: [$seen]|" "$TMP/base.yaml" >"$TMP/it.yaml"; try "a list in brackets"
sed "s|OBSERVED|observed: []  # none yet|" "$TMP/base.yaml" >"$TMP/it.yaml"; try "an empty list"
sed "s|    OBSERVED|    observed:\n    - $seen   # long ago|" "$TMP/base.yaml" >"$TMP/it.yaml"; try "a list in lines"
printf '%s' "$flow" >"$TMP/it.yaml"; try "a node in braces"
sed 's/OBSERVED//; s/^  sw1:/  "sw[1-1]":/' "$TMP/base.yaml" >"$TMP/it.yaml"; try "one of a range"
printf '%s' 'version: 1
links:
  - {ends: ["h1:e[0-1]", "sw1:gi1/0/[1-2]"], speed: 1G}
  - {ends: ["n1:c.e[0-1]", "sw1:gi1/0/[11-12]"], speed: 1G}
nodes:
  h1: {kind: linux, bonds: {bond0: {members: "e[0-1]", mode: balance-xor, hash: layer2+3}}, interfaces: {bond0: {address: 10.0.0.11/24}}}
  n1: {kind: nas, controllers: {c: {nics: "e[0-1]", lag: {name: lag0, members: "e[0-1]", mode: static, hash: linux-layer2+3}}}, vips: {10.0.0.101/24: {home: c}}, exports: {/x: {}}}
  sw1:
    kind: switch
    lags: {po1: {to: "h1:bond0", mode: static}, po2: {to: "n1:c.lag0", mode: static}}
    hash: cisco-src-dst-ip
    model: cisco-2960x' >"$TMP/it.yaml"
try "the last lines of the file, without an end"
exit 0
