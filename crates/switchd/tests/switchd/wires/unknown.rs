//! Frames to a station that no switch knows arrive unchanged over three switches.

use weft_wire::Mac;

use crate::wires::packet::{self, Segment, is_marked, meaningless, nobody};
use crate::wires::tap::{Frame, Tap};
use crate::wires::{OTHERS, arrives, exploring};

/// The number of a station that has never sent anything.
const NOBODY: u16 = 0x0900;

/// Frames of many kinds to a station that has never sent anything.
fn frames() -> Vec<(String, Frame)> {
    let mut frames = Vec::new();
    let mut port = 1000;
    for tags in 0..=2 {
        for ipv6 in [false, true] {
            for partial in [true, false] {
                for (flags, data) in [(packet::SYN, 0), (packet::ACK, 900)] {
                    port += 1;
                    let segment = Segment { ipv6, tags, port, partial, options: 0, data };
                    let what = format!("IPv6 {ipv6}, {tags} tags, checksum left {partial}, flags {flags}");
                    frames.push((what, segment.to_nobody(NOBODY, flags)));
                }
            }
        }
        for len in [46, 1400] {
            frames.push((
                format!("an unknown EtherType, {tags} tags, {len} bytes"),
                meaningless(tags, len, NOBODY),
            ));
        }
    }
    frames
}

#[test]
#[ignore = "needs root and BPF"]
fn a_frame_to_a_station_that_nobody_knows_arrives_byte_for_byte() {
    let row = exploring();
    for offload in [true, false] {
        row.offload(OTHERS, offload);
        // A second copy of the first round's frame must not pass for the second's.
        let ([a, b], middle) = (row.taps(), Tap::open(&row.fabric, "s2a"));
        for (what, frame) in frames() {
            let what = format!("offload {offload}, {what}");
            a.send(&frame);
            if what.contains("EtherType") {
                assert_eq!(b.next(|bytes| bytes == frame.bytes).as_ref(), Some(&frame), "{what}");
            } else {
                arrives(&b, &frame, || what.clone());
            }
            let between =
                middle.next(is_marked).unwrap_or_else(|| panic!("{what}: no flood mark between switches"));
            assert_eq!(between.bytes[..6], frame.bytes[..6], "{what}: destination");
            assert_eq!(between.bytes[7..12], frame.bytes[7..12], "{what}: source");
            assert_eq!(between.bytes.len(), frame.bytes.len(), "{what}: length");
        }
    }
    for switch in &row.switches {
        assert!(!switch.stations().contains(&Mac(nobody(NOBODY)).bits()), "the station must remain unknown");
    }
}

#[test]
#[ignore = "needs root and BPF"]
fn segments_that_the_kernel_holds_together_reach_a_station_that_nobody_knows_unbroken() {
    let row = exploring();
    let [a, b] = row.taps();
    for (ipv6, port) in [(false, 2000), (true, 2001)] {
        let segment = Segment { ipv6, tags: 0, port, partial: true, options: 0, data: 20_000 };
        let together = Frame { segment: 1400, ..segment.to_nobody(NOBODY, packet::ACK) };
        a.send(&together);
        let got = b.next(|bytes| bytes.starts_with(packet::until_checksum(&together.bytes)));
        assert_eq!(got, Some(together), "IPv6 {ipv6}");
    }
}
