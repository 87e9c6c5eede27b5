#!/usr/bin/env bash
# needs: full release
# The bonding driver of a real kernel agrees with `hashes`.
exec scripts/kernel-oracle --flows 500 bonding
