#!/usr/bin/env bash
# Installs ns-3.37 (Debian 12), builds the reference program, runs the cases of cases/runs.csv and stores their results.
#
#   ./run.sh                 every case; results to reference/
#   ./run.sh --case GLOB     only the cases whose name matches, e.g. --case 'web40-1.*.ecmp.*'
#   ./run.sh --check         run, but compare with the stored results instead of replacing them
#   ./run.sh --no-install    do not run apt-get
#
# Output is deterministic: running it again changes only reference/performance.csv.
# The program and temporary files go to $BUILD (default: target/ns3-reference in the repository).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD:-$here/../../target/ns3-reference}
pattern='*'
check=false
install=true
while (($#)); do
    case $1 in
    --case) pattern=${2:?--case needs a name or pattern}; shift 2 ;;
    --check) check=true; shift ;;
    --no-install) install=false; shift ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done

install_ns3() {
    local sudo=''
    ((EUID == 0)) || sudo=sudo
    if [[ $install == true ]] && ! { [[ -e /usr/include/ns3/core-module.h ]] && command -v g++ >/dev/null; }; then
        $sudo apt-get update -q
        $sudo apt-get install -qy --no-install-recommends g++ libns3-dev
    fi
    local version
    version=$(dpkg-query -W -f '${Version}' libns3-dev 2>/dev/null || true)
    if [[ $version != 3.37* ]]; then
        echo "run.sh: the stored results need ns-3.37 (Debian 12), but libns3-dev is '${version:-not installed}'" >&2
        exit 1
    fi
}

build_reference() {
    mkdir -p "$build"
    # NS3_LOG_ENABLE, as in Debian's libraries: it adds members to Queue<Packet>, so without it program and libraries
    # disagree on the layout. Debian's pkg-config files omit it (and require libraries that may not be installed).
    g++ -std=c++17 -O2 -DNS3_LOG_ENABLE -Wall -Wextra -o "$build/reference" "$here/reference.cc" \
        -lns3-point-to-point -lns3-traffic-control -lns3-internet -lns3-network -lns3-core
}

# The attributes in force, one file per TCP; README.md quotes them.
store_attributes() {
    local tcp
    for tcp in newreno newreno-sack cubic; do
        "$build/reference" --fabric="$here/cases/fat-tree-4.fabric.csv" --flows="$here/cases/lone.flows.csv" \
            --scheme=single_path --tcp="$tcp" --attributes="$build/attributes.$tcp.csv" --stop=0 >/dev/null
        [[ $check == true ]] || cp "$build/attributes.$tcp.csv" "$here/reference/"
    done
}

run_cases() {
    local name fabric flows scheme tcp seed line out ran=0 failed=0
    : >"$build/performance.csv"
    while IFS=, read -r name fabric flows scheme tcp seed; do
        # shellcheck disable=SC2254 # the pattern is unquoted on purpose
        case $name in case) continue ;; $pattern) ;; *) continue ;; esac
        out=$build/$name.csv
        line=$("$build/reference" --fabric="$here/cases/$fabric.fabric.csv" --flows="$here/cases/$flows.flows.csv" \
            --scheme="$scheme" --tcp="$tcp" --seed="$seed" --out="$out")
        echo "$name $line"
        sed -E 's/[{}]//g; s/"[a-z_]+"://g' <<<"$name,$line" >>"$build/performance.csv"
        if [[ $check == false ]]; then
            mv "$out" "$here/reference/$name.csv"
        elif ! cmp -s "$out" "$here/reference/$name.csv"; then
            echo "run.sh: $name differs from reference/$name.csv, see $out" >&2
            failed=$((failed + 1))
        fi
        ran=$((ran + 1))
    done <"$here/cases/runs.csv"
    ((ran > 0)) || echo "run.sh: no case matches '$pattern'; cases/runs.csv lists them" >&2
    echo "$ran cases, $failed differ" >&2
    ((ran > 0 && failed == 0))
}

install_ns3
build_reference
mkdir -p "$here/reference"
store_attributes
run_cases
if [[ $check == false && $pattern == '*' ]]; then
    { echo case,packet_hops,cpu_seconds,simulated_seconds,flows,flows_finished,drops; cat "$build/performance.csv"; } \
        >"$here/reference/performance.csv"
    python3 "$here/summarise.py"
fi
