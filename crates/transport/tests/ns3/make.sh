#!/bin/sh
# Writes traces.txt: the segments that ns-3.37 (Debian: libns3-dev) sends in each case of cases.txt.
set -eu
cd "$(dirname "$0")"
program=$(mktemp -d)/trace
"${CXX:-c++}" -std=c++17 -O2 -o "$program" trace.cc \
    -lns3-applications -lns3-traffic-control -lns3-point-to-point -lns3-internet -lns3-network -lns3-core
grep -v '^#' cases.txt | while read -r name arguments; do
    echo "case $name $arguments"
    # shellcheck disable=SC2086
    "$program" $arguments
done >traces.txt
rm "$program"
