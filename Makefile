# The one door: `make quickstart` to try Weft, `make test` to check it.

VENV    := .venv
PYTHON  := $(VENV)/bin/python
WEFT    := $(VENV)/bin/weft
RESULTS ?= quickstart
# Debian's Python does not come with a compiler or with venv; rustup brings cargo.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export CARGO_TERM_COLOR ?= auto

PROGRAMS := weft-switchd weftctl weft-loadgen weft-pktgen
BPF_SOURCES := $(wildcard bpf/*)
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name 'Cargo.toml') Cargo.toml Cargo.lock

# Python tests on real networks, which measure times: they run one at a time.
NETWORKS := controller emulation parity tag_forward

# Tests that need root, a kernel that loads BPF programs, tshark or systemd-analyze are marked `#[ignore]`. They run as root
# and under CI, where one that cannot run fails; for others they are reported as ignored.
NEEDS := $(if $(or $(CI),$(filter 0,$(shell id -u))),--include-ignored)

.PHONY: quickstart build emulation controller test test-all test-long test-rust test-python lint format bench bench-paths bench-switch \
	bench-tags bench-controller fuzz conformance hostile parity deb ns3 mptcp captures system system-bpf system-bench system-emulation \
	system-oracles system-test clean help

help:
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

quickstart: build ## install what is needed, build, compare three schemes, write a report
	$(WEFT) run scenarios/quickstart.toml -o "$(RESULTS)"
	$(WEFT) report "$(RESULTS)"

build: $(VENV)/.weft ## build and install into .venv

emulation: $(VENV)/.emulation ## install Mininet and tools, build the Linux switch and the load generator into .venv

controller: $(VENV)/.controller ## install what `weft controller` needs into .venv

system: ## compiler, Python and Rust, where they are missing
	@sh scripts/install-system.sh build

system-bpf: ## what compiles the eBPF programs
	@sh scripts/install-system.sh bpf

system-emulation: ## what emulation needs: Mininet, Open vSwitch, iproute2, ethtool, iperf3, mptcpize
	@sh scripts/install-system.sh emulation

system-bench: ## what the Linux switch is compared with, and what loads it
	@sh scripts/install-system.sh bench

system-oracles: ## what Rust tests compare with: tshark, systemd-analyze
	@sh scripts/install-system.sh oracles

system-test: ## what the tests need beside: a browser
	@sh scripts/install-system.sh test

$(VENV)/bin/maturin: pyproject.toml | system
	python3 -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --upgrade pip 'maturin>=1.9,<2' || \
	{ echo "error: pip could not install maturin: is the network reachable?" >&2; exit 1; }
	@touch $@

$(VENV)/.weft: $(VENV)/bin/maturin $(RUST_SOURCES) pyproject.toml
	@rm -f $(VENV)/.test
	VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(VENV)/bin/maturin develop --release --quiet
	@touch $@

$(VENV)/.emulation: $(VENV)/.weft $(RUST_SOURCES) $(BPF_SOURCES) | system-bpf system-emulation
	@rm -f $(VENV)/.test
	cargo build --release --quiet -p weft-switchd -p weft-loadgen
	install -m 755 $(addprefix target/release/,$(PROGRAMS)) $(VENV)/bin
	@touch $@

$(VENV)/.controller: $(VENV)/.weft
	$(VENV)/bin/pip install --quiet $$($(PYTHON) scripts/dev_requirements.py controller)
	@touch $@

$(VENV)/.dev: $(VENV)/bin/maturin scripts/dev_requirements.py
	$(VENV)/bin/pip install --quiet $$($(PYTHON) scripts/dev_requirements.py dependencies dev)
	@touch $@

# What tests run, all in one profile and by one command, so that each crate is compiled once: the tests, the programs and
# the extension, which take the place of those of a release build in .venv until the next `make build`.
$(VENV)/.test: $(VENV)/.dev $(RUST_SOURCES) $(BPF_SOURCES) | system-bpf system-emulation
	@rm -f $(VENV)/.weft $(VENV)/.emulation
	cargo build --workspace --lib --bins --tests --quiet
	install -m 755 target/debug/lib_weft.so python/weft/_weft.abi3.so
	install -m 755 $(addprefix target/debug/,$(PROGRAMS)) $(VENV)/bin
	$(PYTHON) scripts/install_editable.py
	@touch $@

test: ## format, lints, dependency direction, tests of all languages, docs' examples
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory test-rust
	@$(MAKE) --no-print-directory test-python

test-rust: $(VENV)/.test | system-oracles ## the tests of all crates
	cargo test --workspace --tests --quiet -- --skip daemons:: $(NEEDS)
	cargo test --workspace --test switchd --quiet -- daemons:: --test-threads 4 $(NEEDS)
	@$(if $(NEEDS),,echo "tests that need root were ignored: sudo make test runs them")

test-python: $(VENV)/.test | system-test ## the tests of the command line, the report and these pages
	$(PYTHON) -m pytest $(addprefix tests/python/,$(NETWORKS))
	$(PYTHON) -m pytest --numprocesses 2 $(addprefix --ignore=tests/python/,$(NETWORKS))

test-all: test ## the tests, then the long ones: all cases of ns-3, a million steps and frames (root), Rust doc examples, long Python tests
	cargo test --workspace --doc --quiet
	cargo test --release -p weft-sim --test ns3_studies all_cases
	$(MAKE) conformance hostile test-long

lint: $(VENV)/.dev | system system-bpf ## formatting, lints of all languages, dependency direction
	cargo fmt --all --check
	$(PYTHON) scripts/check_arrows.py
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/ruff check
	$(VENV)/bin/mypy
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	cargo clippy --workspace --test ns3_studies --test package --quiet -- -D warnings

format: $(VENV)/.dev ## format all sources
	cargo fmt --all
	$(VENV)/bin/ruff format
	$(VENV)/bin/ruff check --fix

deb: | system system-bpf ## the Debian package of the Linux switch, in target/debian
	package=$$(sh packaging/deb.sh) && echo "$$package" && dpkg-deb -I "$$package" && \
	if command -v lintian >/dev/null; then lintian --fail-on error "$$package"; fi && \
	WEFT_DEB="$(CURDIR)/$$package" cargo test --quiet -p weft-switchd --test package

hostile: | system system-bpf ## a million frames of a hostile host through a switch (root; minutes)
	WEFT_HOSTILE_FRAMES=1000000 cargo test --release -p weft-switchd --test switchd hostile -- --include-ignored --nocapture

parity: $(VENV)/.dev $(VENV)/.emulation ## what works over a bridge, over the Linux switch (root; 12 minutes; PARITY="--short" for a minute, "-o FILE" for the table)
	cd tests/python && "$(CURDIR)/$(PYTHON)" -m parity $(PARITY)

bench: build ## packet-hops per second and core, peak memory, ratios to ns-3 and ECMP
	$(WEFT) bench

bench-paths: $(VENV)/.dev $(VENV)/.weft ## path sets beside NetworkX's (as root on a core of its own; 10 minutes; BENCH="--quick" for a look)
	cargo build --release --quiet -p weft-fabric --example path_sets
	$(PYTHON) -m benches.path_sets $(BENCH)

bench-switch: $(VENV)/.weft | system-bpf system-bench ## the Linux switch against the bridge and Open vSwitch (root; 20 minutes; BENCH="forward --quick")
	cargo build --release --quiet -p weft-switchd --bins --examples
	$(PYTHON) -m benches.switch $(BENCH)

bench-tags: $(VENV)/.weft | system-bpf ## what frames cost with tags and with tables (root; 3 minutes; BENCH="--quick" for a look)
	cargo build --release --quiet -p weft-switchd --example tags
	$(PYTHON) -m benches.tags $(BENCH)

bench-controller: $(VENV)/.controller $(VENV)/.dev | system ## the controller under load, beside a plain os-ken learning switch (5 minutes; BENCH="profile --quick")
	cargo build --release --quiet -p weft-ofload
	$(VENV)/bin/pip install --quiet py-spy
	$(PYTHON) -m benches.controller $(BENCH)

fuzz: | system ## fuzz parsers, frames and TCP for a minute each (needs a nightly toolchain and cargo-fuzz)
	sh scripts/fuzz.sh

conformance: | system system-bpf ## a million steps through the eBPF program and the state machine (root; minutes)
	WEFT_CONFORMANCE_STEPS=1000000 cargo test -p weft-switchd --test switchd conformance -- --include-ignored --nocapture

test-long: $(VENV)/.dev $(VENV)/.emulation | system-test system-bench ## the Python tests that `make test` leaves out (root; 10 minutes)
	cargo build --release --quiet -p weft-ofload -p weft-switchd --bins --examples
	cargo build --release --quiet -p weft-fabric --example path_sets
	$(PYTHON) -m pytest -m long

ns3: ## make the ns-3 reference results anew (minutes)
	bash validation/ns3/run.sh

mptcp: $(VENV)/.emulation ## the simulated Multipath TCP against the kernel's (root; 15 minutes)
	$(PYTHON) -m validation.mptcp

captures: | system-emulation ## make the captures of the kernel's Multipath TCP anew (root; a minute)
	cd crates/wire && python3 -m captures

clean: ## remove what was built: target, .venv and quickstart, whatever VENV and RESULTS say
	rm -rf target .venv quickstart
