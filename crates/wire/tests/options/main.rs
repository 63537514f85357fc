//! TCP options, those of Multipath TCP above all: against a second implementation, against what the kernel
//! sends, against tshark, and what holds for all of them.

mod captures;
mod notation;
#[path = "../common/pcap.rs"]
mod pcap;
mod properties;
mod tshark;
mod vectors;
