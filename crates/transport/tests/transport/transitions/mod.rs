//! Single transitions, one protocol rule each: an ACK, a timeout or a segment, and the endpoint's response.

mod connection;
mod marks;
mod ns3;
mod rack;
mod recovery;
mod windows;

use crate::common::hand::Hand;
use weft_transport::{Config, CongestionControl, Flags, Segment};
use weft_units::{Bytes, Duration};

/// The standards without RACK: RFC 6675 or 6582, RFC 6298, Reno, with round figures.
fn plain(sack: bool) -> Config {
    Config {
        mss: 1000,
        congestion_control: CongestionControl::Reno,
        sack,
        dsack: false,
        rack: false,
        tail_loss_probe: false,
        frto: false,
        undo: false,
        proportional_rate_reduction: false,
        initial_receive_window: Bytes(1 << 20),
        ..Config::profile("linux").unwrap()
    }
}

fn rack() -> Config {
    Config { mss: 1000, congestion_control: CongestionControl::Reno, ..Config::profile("linux").unwrap() }
}

const MS: Duration = Duration::from_ms(1);
const NO_DATA: [i64; 0] = [];
const NO_ACKS: [u32; 0] = [];

fn numbers(range: std::ops::RangeInclusive<i64>) -> Vec<i64> {
    range.collect()
}

/// An ACK that echoes a congestion mark.
fn marked(hand: &Hand, n: u32) -> Segment {
    let mut ack = hand.ack_with(n, &[]);
    ack.flags |= Flags::ECE;
    ack
}
