# `make quickstart` to try Weft, `make test` to check it.

VENV    := .venv
PYTHON  := $(VENV)/bin/python
WEFT    := $(VENV)/bin/weft
# Python byte-compiles what it imports; to compile everything takes as long as the rest of the installation.
PIP_INSTALL := $(VENV)/bin/pip --disable-pip-version-check install --quiet --no-compile
RESULTS ?= results/quickstart
# rustup installs cargo there.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export CARGO_TERM_COLOR ?= auto
# The tests start Weft hundreds of times: without bytecode, each start takes 0.9 s instead of 0.25 s.
unexport PYTHONDONTWRITEBYTECODE

# No built-in rules for C: make would try them for each Rust source.
.SUFFIXES:

PROGRAMS := weft-switchd weftctl weft-loadgen weft-pktgen
BPF_SOURCES := $(wildcard bpf/*)
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock

# Python tests on real networks: most of them wait most of the time.
NETWORKS := controller cluster emulation tag_forward

# Tests that need root, a kernel with BPF, tshark or systemd-analyze are marked `#[ignore]`. They run as root and under CI,
# where a test that cannot run fails; for other users they are reported as ignored.
NEEDS := $(if $(or $(CI),$(filter 0,$(shell id -u))),--include-ignored)

# Clippy's driver in the place of the compiler: lints, then compiles. Without MAKEFLAGS cargo uses all cores under --jobs.
LINTED := MAKEFLAGS= RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

.PHONY: quickstart build emulation controller test test-all test-long test-rust test-python lint style \
	test-computing test-waiting test-crates test-daemons test-networks test-commands \
	format bench bench-htsim bench-paths bench-switch bench-tags bench-controller bench-results bench-build fuzz conformance hostile \
	parity deb deb-weft wheel sdist check-wheel project \
	ns3 mptcp frr gallery site captures system system-bpf system-bench system-emulation system-install system-kernel system-oracles system-test \
	test-kernel clean help

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

quickstart: build ## install dependencies, build, compare three schemes, write a report
	$(WEFT) run scenarios/quickstart.toml -o "$(RESULTS)"
	$(WEFT) report "$(RESULTS)"

build: $(VENV)/.weft ## build and install into .venv

emulation: $(VENV)/.emulation ## install Mininet and tools, build the Linux switch and the load generator into .venv

controller: $(VENV)/.controller ## install what `weft controller --metrics` needs into .venv

system: ## install a compiler, Python and Rust if missing
	@sh scripts/install-system.sh build

system-bpf: ## install the eBPF compiler (clang, libbpf)
	@sh scripts/install-system.sh bpf

system-emulation: ## install Mininet, Open vSwitch, iproute2, ethtool, iperf3, mptcpize for emulation
	@sh scripts/install-system.sh emulation

system-bench: ## install tools for benchmarks of the Linux switch
	@sh scripts/install-system.sh bench

system-install: ## install tools that make a bare Debian, to check packages in
	@sh scripts/install-system.sh install

system-kernel: ## install a virtual machine for tests that need other kernels
	@sh scripts/install-system.sh kernel

system-oracles: ## install tshark, systemd-analyze and promtool for tests
	@sh scripts/install-system.sh oracles

system-test: ## install a browser and FRR for the tests
	@sh scripts/install-system.sh test

$(VENV)/bin/maturin: pyproject.toml | system
	python3 -m venv $(VENV)
	$(PIP_INSTALL) --upgrade pip 'maturin>=1.9,<2' || \
	{ echo "error: pip could not install maturin: is the network reachable?" >&2; exit 1; }
	@touch $@

$(VENV)/.weft: $(VENV)/bin/maturin $(RUST_SOURCES) pyproject.toml
	@rm -f $(VENV)/.test
	$(PIP_INSTALL) $$($(PYTHON) scripts/dev_requirements.py dependencies)
	PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(VENV)/bin/maturin develop --release
	@touch $@

$(VENV)/.emulation: $(VENV)/.weft $(RUST_SOURCES) $(BPF_SOURCES) | system-bpf system-emulation
	@rm -f $(VENV)/.test
	cargo build --release --quiet -p weft-switchd -p weft-loadgen
	install -m 755 $(addprefix target/release/,$(PROGRAMS)) $(VENV)/bin
	@touch $@

$(VENV)/.controller: $(VENV)/.weft
	$(PIP_INSTALL) $$($(PYTHON) scripts/dev_requirements.py controller)
	@touch $@

$(VENV)/.dev: $(VENV)/bin/maturin scripts/dev_requirements.py
	$(PIP_INSTALL) $$($(PYTHON) scripts/dev_requirements.py dependencies dev)
	@touch $@

# Builds tests, programs and the extension in one profile with one command under clippy's driver, so that each crate is
# compiled once for lints and tests. They replace the release build in .venv until the next `make build`.
target/debug/.test: $(RUST_SOURCES) $(BPF_SOURCES) | system system-bpf system-emulation
	$(LINTED) cargo build --workspace --lib --bins --tests --examples --quiet
	$(LINTED) cargo build --workspace --test ns3_studies --test package --quiet
	@touch $@

$(VENV)/.test: $(VENV)/.dev target/debug/.test
	@rm -f $(VENV)/.weft $(VENV)/.emulation
	install -m 755 target/debug/lib_weft.so python/weft/_weft.abi3.so
	install -m 755 $(addprefix target/debug/,$(PROGRAMS)) $(VENV)/bin
	$(PYTHON) scripts/install_editable.py
	@touch $@

test: ## formatting, lints, dependency direction, Rust and Python tests, examples in docs
	@# First, so that no two jobs install packages at the same time.
	@$(MAKE) --no-print-directory system system-bpf system-emulation system-oracles system-test
	@$(MAKE) --no-print-directory --jobs 2 style $(VENV)/.test
	@# Side by side: tests that compute, and tests that mostly wait for daemons and networks.
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=line test-computing test-waiting

test-computing:
	@$(MAKE) --no-print-directory test-crates
	@$(MAKE) --no-print-directory test-commands

test-waiting:
	@$(MAKE) --no-print-directory test-daemons
	@$(MAKE) --no-print-directory test-networks

test-rust: test-crates test-daemons ## the tests of all crates

test-python: test-networks test-commands ## the Python tests: command line, report, docs

test-crates: $(VENV)/.test | system-oracles
	$(LINTED) cargo test --workspace --tests --quiet -- --skip daemons:: $(NEEDS)
	@$(if $(NEEDS),,echo "tests that need root were ignored; to include them: sudo make test")

test-daemons: $(VENV)/.test
	$(LINTED) cargo test --workspace --test switchd --quiet -- daemons:: --skip daemons::devices --test-threads 6 $(NEEDS)

test-networks: $(VENV)/.test | system-test
	$(PYTHON) -m pytest tests/python/parity
	$(PYTHON) -m pytest --numprocesses 4 --dist worksteal $(addprefix tests/python/,$(NETWORKS))

test-commands: $(VENV)/.test | system-test
	$(PYTHON) -m pytest --numprocesses 3 --dist worksteal $(addprefix --ignore=tests/python/,parity $(NETWORKS))

test-all: test ## `make test`, then the long tests: all ns-3 cases, conformance and hostile (root), Rust doc examples, long Python tests
	$(LINTED) cargo test --workspace --doc --quiet
	cargo test --release -p weft-sim --test ns3_studies all_cases
	$(MAKE) conformance hostile check-wheel site test-long

lint: style | system-bpf ## formatting, lints, dependency direction
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy --workspace --test ns3_studies --test package --quiet -- -D warnings

style: $(VENV)/.dev project | system ## formatting, Python lints, dependency direction, fuzz targets, files of the project
	cargo fmt --all --check
	$(PYTHON) scripts/check_arrows.py
	$(PYTHON) scripts/check_circles.py
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	@# The fuzz targets are a workspace of their own. To check them takes no libFuzzer.
	MAKEFLAGS= CUSTOM_LIBFUZZER_PATH=/dev/null cargo check --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir target/fuzz

project: | $(VENV)/bin/maturin ## licences of crates, GitHub's workflows, Dockerfile, citation
	@sh scripts/lint-project.sh $(VENV)/tools $(VENV)/bin/pip

format: $(VENV)/.dev ## format all sources
	cargo fmt --all
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

wheel: $(VENV)/.dev | system system-bpf ## build the wheel with all programs, in target/wheels (10 minutes; WHEEL=--here for this machine's glibc)
	$(PIP_INSTALL) ziglang cargo-zigbuild auditwheel wheel
	$(PYTHON) scripts/wheel.py $(WHEEL)

sdist: $(VENV)/bin/maturin ## build the source distribution, in target/wheels
	$(PYTHON) scripts/plugin_sources.py python/weft/sources
	$(VENV)/bin/maturin sdist --out target/wheels

check-wheel: wheel sdist deb deb-weft | system-install ## install wheel, sdist and packages in a bare Debian and use them (root; minutes)
	$(PYTHON) -m pytest -m long tests/python/install

# Without DEBEMAIL, the maintainer has no address.
deb: LOCAL := $(if $(DEBEMAIL),,--suppress-tags bogus-mail-host,bogus-mail-host-in-debian-changelog)
deb: | system system-bpf ## build the Debian package of the Linux switch, in target/debian
	package=$$(sh packaging/deb.sh) && echo "$$package" && dpkg-deb -I "$$package" && \
	if command -v lintian >/dev/null; then lintian --fail-on error $(LOCAL) "$$package"; fi && \
	WEFT_DEB="$(CURDIR)/$$package" cargo test --quiet -p weft-switchd --test package

deb-weft: wheel ## build the Debian package of weft with its dependencies, in target/debian
	package=$$(PYTHON="$(PYTHON)" sh packaging/weft-deb.sh) && echo "$$package" && dpkg-deb -I "$$package"

hostile: | system system-bpf ## send a million hostile frames through a switch (root; minutes)
	WEFT_HOSTILE_FRAMES=1000000 cargo test --release -p weft-switchd --test switchd hostile -- --include-ignored --nocapture

parity: $(VENV)/.dev $(VENV)/.emulation ## compare the Linux switch with a Linux bridge (root; 12 minutes; PARITY="--short" for 1 minute, "-o FILE" for the table)
	cd tests/python && PYTHONPATH="$(CURDIR)" "$(CURDIR)/$(PYTHON)" -m parity $(PARITY)

bench: build ## benchmark the simulator: packet-hops per second and core, peak memory, ratios to ns-3 and ECMP
	$(WEFT) bench

bench-htsim: build ## compare CPU time and memory with a uet-htsim that is built: HTSIM=DIR (an hour; BENCH="--rounds 1"); writes the table of docs/speed.md
	$(WEFT) bench --against htsim --htsim "$(HTSIM)" --json $(BENCH) > target/htsim.json
	$(PYTHON) scripts/speed_tables.py docs/speed.md < target/htsim.json

bench-paths: $(VENV)/.dev $(VENV)/.weft ## benchmark path sets against NetworkX (10 minutes; as root on a reserved core; BENCH="--quick" for a short run)
	cargo build --release --quiet -p weft-fabric --example path_sets
	$(PYTHON) -m benches.path_sets $(BENCH)

bench-switch: $(VENV)/.weft | system-bpf system-bench ## benchmark the Linux switch against the bridge and Open vSwitch (root; 20 minutes; BENCH="forward --quick")
	cargo build --release --quiet -p weft-switchd --bins --examples
	$(PYTHON) -m benches.switch $(BENCH)

bench-tags: $(VENV)/.weft | system-bpf ## benchmark per-frame cost with tags and with tables (root; 3 minutes; BENCH="--quick" for a short run)
	cargo build --release --quiet -p weft-switchd --example tags
	$(PYTHON) -m benches.tags $(BENCH)

bench-controller: $(VENV)/.controller $(VENV)/.dev | system ## benchmark the controller against a plain os-ken learning switch (5 minutes; BENCH="profile --quick")
	cargo build --release --quiet -p weft-ofload
	$(PIP_INSTALL) py-spy
	$(PYTHON) -m benches.controller $(BENCH)

bench-results: $(VENV)/.dev $(VENV)/.weft ## benchmark summary, report and query on 2 000 runs with 10 million flows (10 minutes; BENCH="--quick")
	$(PYTHON) -m benches.results $(BENCH)

bench-build: $(VENV)/.dev ## time a newcomer's first builds in fresh clones (20 minutes; BENCH="--rounds 1")
	$(PYTHON) -m benches.build $(BENCH)

fuzz: | system ## fuzz parsers, frames and TCP, a minute per target (needs cargo-fuzz)
	sh scripts/fuzz.sh

conformance: | system system-bpf ## compare the eBPF program with the state machine over a million steps (root; minutes)
	WEFT_CONFORMANCE_STEPS=1000000 cargo test --release -p weft-switchd --test switchd conformance -- --include-ignored --nocapture

test-kernel: | system system-bpf system-kernel ## tests of the Linux switch that need a kernel with 802.1Q, bonds and netem, in a virtual machine (5 minutes; TESTS=daemons:: for all of the daemon)
	program=$$($(LINTED) sh scripts/switch-tests.sh) && \
		sh scripts/virtual-machine.sh sh scripts/kernel-tests.sh "$$program" $(or $(TESTS),daemons::devices)

test-long: $(VENV)/.dev $(VENV)/.emulation | system-test system-bench ## the long Python tests that `make test` skips (root; 10 minutes)
	cargo build --release --quiet -p weft-ofload -p weft-switchd --bins --examples
	cargo build --release --quiet -p weft-fabric --example path_sets
	$(PYTHON) -m pytest -m long --ignore=tests/python/install

gallery: build ## run the scenarios of the gallery, write docs/gallery.md and its pictures (half a minute; GALLERY="failure" for one)
	$(PYTHON) scripts/gallery.py $(GALLERY)
	$(PYTHON) scripts/clusters.py

site: $(VENV)/bin/maturin ## the documentation as a site with a search and the Python API, in target/site; broken links fail
	$(PIP_INSTALL) $$($(PYTHON) scripts/dev_requirements.py site)
	NO_MKDOCS_2_WARNING=1 $(PYTHON) -m mkdocs build --quiet

ns3: ## regenerate the ns-3 reference results (minutes)
	bash validation/ns3/run.sh

mptcp: $(VENV)/.emulation ## compare the simulated Multipath TCP with the kernel's (root; 15 minutes)
	$(PYTHON) -m validation.mptcp

frr: $(VENV)/.dev $(VENV)/.weft | system-test ## measure how fast FRR reacts to failed links, for fabric.reaction (root; 5 minutes)
	$(PYTHON) -m validation.frr

captures: | system-emulation ## regenerate the captures of the kernel's Multipath TCP (root; a minute)
	cd crates/wire && python3 -m captures

clean: ## remove target, .venv and results/quickstart, whatever VENV and RESULTS are
	rm -rf target .venv results/quickstart
