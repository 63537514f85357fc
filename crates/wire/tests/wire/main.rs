//! Frames and messages: compared with vectors and tshark, and their general properties.

mod dissector;
mod json;
mod openflow;
mod options;
mod pcap;
mod properties;
mod vectors;
