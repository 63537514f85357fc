#!/bin/sh
# Builds the tests of the Linux switch and prints the path of their program, as cargo names it: target/ also has programs of other
# settings and of earlier sources.
set -eu
cd "$(dirname "$0")/.."
messages=$(cargo test --package weft-switchd --test switchd --no-run --quiet --message-format=json-render-diagnostics)
program=$(printf '%s\n' "$messages" | sed -n 's|.*"executable":"\([^"]*/deps/switchd-[0-9a-f]*\)".*|\1|p')
[ -n "$program" ] || { echo "error: cargo names no program of the tests" >&2; exit 1; }
echo "$program"
