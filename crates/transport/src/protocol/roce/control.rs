//! [`Control`]: how a sender limits its rate and its window.

use weft_units::{Duration, Time};

use super::config::{Config, CongestionControl};
use super::dcqcn::Dcqcn;
use super::hpcc::Hpcc;
use super::path::{Feedback, Path, gap};
use super::swift::Swift;
use super::timely::Timely;

/// The congestion control of a sender.
#[derive(Clone, Debug)]
pub enum Control {
    /// None: the rate of the link.
    Off,
    /// A rate, by marks.
    Dcqcn(Dcqcn),
    /// A window and its rate, by telemetry.
    Hpcc(Box<Hpcc>),
    /// A rate, by round-trip times.
    Timely(Timely),
    /// A window, by round-trip times.
    Swift(Swift),
}

impl Control {
    /// Of a flow with this path.
    pub fn new(config: &Config, path: &Path) -> Self {
        let based = Path { round_trip: config.base_rtt_of(path), ..*path };
        match config.congestion_control {
            CongestionControl::Off => Self::Off,
            CongestionControl::Dcqcn => Self::Dcqcn(Dcqcn::new(path.line)),
            CongestionControl::Hpcc => Self::Hpcc(Box::new(Hpcc::new(config.min_rate, &based))),
            CongestionControl::Timely => {
                Self::Timely(Timely::new(&config.timely, config.mtu, config.min_rate, &based))
            }
            CongestionControl::Swift => Self::Swift(Swift::new(&config.swift, path)),
        }
    }

    /// The most packets in flight.
    pub fn window(&self, config: &Config) -> u32 {
        match self {
            Self::Hpcc(hpcc) => hpcc.packets(config.mtu),
            Self::Swift(swift) => swift.packets(),
            _ => u32::MAX,
        }
    }

    /// It sends a packet of `wire_bytes` bytes on the wire, for which its link needs `tx_time`. Returns the time after
    /// which it may send the next one.
    pub fn sent(&mut self, config: &Config, now: Time, wire_bytes: u32, tx_time: Duration) -> Duration {
        match self {
            Self::Off => tx_time,
            Self::Dcqcn(dcqcn) => {
                let gap = dcqcn.gap(config, now, wire_bytes);
                dcqcn.sent(config, now, wire_bytes);
                gap
            }
            Self::Hpcc(hpcc) => gap(wire_bytes, hpcc.rate()),
            Self::Timely(timely) => gap(wire_bytes, timely.rate()),
            Self::Swift(swift) => swift.gap().unwrap_or(tx_time),
        }
    }

    /// The time from the last packet, for which the link needed `tx_time`, to the next one, if acknowledgements change it.
    pub fn gap_now(&self, tx_time: Duration) -> Option<Duration> {
        match self {
            Self::Swift(swift) => Some(swift.gap().unwrap_or(tx_time)),
            _ => None,
        }
    }

    /// An acknowledgement arrives.
    pub fn receive(&mut self, config: &Config, now: Time, feedback: &Feedback<'_>) {
        match self {
            Self::Off => {}
            Self::Dcqcn(dcqcn) if feedback.is_cnp => dcqcn.notify(config, now),
            Self::Dcqcn(_) => {}
            Self::Hpcc(hpcc) => hpcc.receive(&config.hpcc, feedback),
            Self::Timely(timely) => timely.receive(&config.timely, now, feedback),
            Self::Swift(swift) => swift.receive(&config.swift, now, feedback),
        }
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        if matches!(self, Self::Hpcc(_)) { size_of::<Hpcc>() } else { 0 }
    }

    /// The sender has waited in vain for acknowledgements.
    pub fn time_out(&mut self, config: &Config, now: Time) {
        if let Self::Swift(swift) = self {
            swift.time_out(&config.swift, now);
        }
    }
}
