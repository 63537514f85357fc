#!/bin/sh
# Runs the tests of the Linux switch named by the arguments on a machine with a kernel that has all modules, as root.
set -eu
cd "$(dirname "$0")/.."
for module in veth sch_ingress cls_bpf act_bpf 8021q bonding sch_netem; do
    modprobe "$module" || { echo "error: the kernel $(uname -r) has no module $module" >&2; exit 1; }
done
# The newest: cargo keeps those of other settings.
tests=$(ls -t target/debug/deps/switchd-*[0-9a-f] | head -n1)
cd crates/switchd
uname -sr
exec "../../$tests" "$@" --include-ignored --test-threads 2
