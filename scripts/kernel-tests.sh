#!/bin/sh
# Runs the tests of the Linux switch named by the arguments on a machine with a kernel that has all modules, as root. The first
# argument is the program of the tests (scripts/switch-tests.sh).
set -eu
program=$1
shift
for module in veth sch_ingress cls_bpf act_bpf 8021q bonding sch_netem; do
    modprobe "$module" || { echo "error: the kernel $(uname -r) cannot load the module $module" >&2; exit 1; }
done
cd "$(dirname "$0")/../crates/switchd"
uname -sr
exec "$program" "$@" --include-ignored --test-threads 2
