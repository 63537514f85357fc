//! The exploration family: ARP-Path, TCP-Path and TFE on small fabrics, and on random ones.

mod arp_path;
mod corners;
mod limits;
mod locating;
mod moves;
mod net;
mod one_switch;
mod over;
mod properties;
mod recovery;
mod routed;
mod tcp_path;
mod tfe;
mod unknown;
