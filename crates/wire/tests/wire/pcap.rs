//! Writes frames to a file for tshark.

use std::io::Write;

/// A capture file in the classic format, nanoseconds apart.
pub fn write_pcap(path: &std::path::Path, frames: &[Vec<u8>]) {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 4 << 16 | 2, 0, 0, 65535, 1] {
        file.write_all(&word.to_le_bytes()).unwrap();
    }
    for (at, frame) in frames.iter().enumerate() {
        for word in [0, at as u32, frame.len() as u32, frame.len() as u32] {
            file.write_all(&word.to_le_bytes()).unwrap();
        }
        file.write_all(frame).unwrap();
    }
    std::fs::write(path, file).unwrap();
}
