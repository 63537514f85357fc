//! The Linux switch: its programs against the state machine, on veth pairs, and under the daemon. Almost all of these tests
//! need root and a kernel that loads BPF programs; they are marked as ignored and run with `--include-ignored`.

mod bpffs;
mod conformance;
mod daemons;
mod verified;
mod wires;
