#!/bin/sh
# Runs every fuzz target, or those named as arguments, for a minute each (FUZZ_SECONDS=600 for longer).
# A target that finds a failure stops; `cargo fuzz` keeps the input in fuzz/artifacts.
set -eu
cd "$(dirname "$0")/.."

# `cargo fuzz` instruments with unstable compiler flags; with this setting the stable compiler takes them.
export RUSTC_BOOTSTRAP=1

wanting=""
cargo fuzz --version >/dev/null 2>&1 || wanting="$wanting
  cargo install cargo-fuzz --locked"
command -v c++ >/dev/null || wanting="$wanting
  a C++ compiler, on Debian: apt-get install g++"
if [ -n "$wanting" ]; then
    echo "error: missing tools for fuzzing; install them and try again:$wanting" >&2
    exit 1
fi

# Writes the messages of the test vectors, one file each.
openflow_seeds() {
    python3 - "$1" <<'END'
import json, pathlib, sys
directory = pathlib.Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
for at, vector in enumerate(json.loads(pathlib.Path("crates/wire/openflow_vectors.json").read_text())):
    (directory / f"{at:03}").write_bytes(bytes.fromhex(vector["message"]))
END
}

# The seed corpus of a target: good and bad inputs from the repository.
seeds() {
    case "$1" in
    scenario) echo scenarios crates/scenario/tests/bad_input ;;
    fabric | infragraph) echo crates/fabric/tests/data ;;
    cdf) echo crates/scenario/tests/bad_input/files ;;
    trace_csv) echo crates/scenario/tests/bad_input/files validation/ns3/cases ;;
    trace_parquet) echo fuzz/seeds/trace_parquet ;;
    trace_htsim | trace_goal | trace_goal_binary | trace_chakra | trace_simai | tuner) echo "fuzz/seeds/$1" ;;
    flow_text) echo fuzz/seeds/flow_text ;;
    openflow) openflow_seeds fuzz/corpus/openflow_vectors && echo fuzz/corpus/openflow_vectors ;;
    wire | tcp_options) python3 crates/wire/vectors.py --seeds fuzz/corpus/wire_vectors && echo fuzz/corpus/wire_vectors ;;
    esac
}

targets="${*:-$(cargo fuzz list)}"
for target in $targets; do
    echo "== $target"
    corpus="fuzz/corpus/$target"
    mkdir -p "$corpus"
    # shellcheck disable=SC2046 # a list of directories
    cargo fuzz run "$target" "$corpus" $(seeds "$target") -- \
        -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 -print_funcs=0 -print_final_stats=1
done
