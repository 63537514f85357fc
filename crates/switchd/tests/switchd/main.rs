//! The Linux switch: its programs against the state machine, on veth pairs, and under the daemon. Most of these tests need
//! root and a kernel with BPF; they are marked as ignored and run with `--include-ignored`.

mod bpffs;
mod conformance;
mod daemons;
mod net;
#[path = "../../examples/common/packet.rs"]
mod packet_socket;
mod verified;
mod wait;
mod wires;
