//! Frames and messages: against vectors, against tshark, and what holds for all of them.

mod dissector;
mod openflow;
mod options;
mod pcap;
mod properties;
mod vectors;
