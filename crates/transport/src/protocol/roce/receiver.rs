//! [`Receiver`]: the receiving side of a queue pair, and the packets of both sides, [`Data`] and [`Ack`].

use weft_units::Time;

use super::config::{Config, LossRecovery, SPAN};
use super::telemetry::Telemetry;
use crate::arrivals::Arrivals;
use crate::machine::Arrival;
use crate::one_way::Receiving;
use crate::stats::Stats;

/// A data packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Data {
    /// Its sequence number.
    pub psn: u32,
    /// Bytes of payload.
    pub payload: u16,
    /// Whether the sender needs an acknowledgement at once.
    pub asks: bool,
    /// Whether it was sent before. For bookkeeping only; not part of a header.
    pub is_repeated: bool,
    /// When it was sent: its sender's network card remembers it.
    pub sent: Time,
    /// The ports on its way, if it asks for their state.
    pub telemetry: Option<Box<Telemetry>>,
}

/// An acknowledgement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ack {
    /// All packets below this number have arrived.
    pub next: u32,
    /// Whether it also reports a missing packet.
    pub kind: AckKind,
    /// Whether it notifies of congestion.
    pub is_cnp: bool,
    /// When the packet that it answers was sent.
    pub echo: Time,
    /// The telemetry of the packet that it answers.
    pub telemetry: Option<Box<Telemetry>>,
}

/// The kinds of acknowledgements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckKind {
    /// Nothing.
    Plain,
    /// A packet is missing.
    Nack,
    /// A packet is missing, and this one has arrived.
    Selective(u32),
}

/// The receiving side of a flow.
#[derive(Clone, Debug, Default)]
pub struct Receiver {
    /// Packets that were kept.
    arrivals: Arrivals,
    /// One more than the highest number that has arrived.
    end: u32,
    /// In order since the last acknowledgement.
    unacknowledged: u8,
    /// The missing packet that was reported last, and when it may be reported again.
    reported: Option<(u32, Time)>,
    /// When the sender may be notified of congestion again.
    cnp_at: Time,
    stats: Stats,
}

impl Receiver {
    fn count(&mut self, data: &Data, is_marked: bool) {
        self.stats.ecn_marks += u32::from(is_marked);
        if !data.is_repeated {
            self.stats.first_transmissions_received += 1;
            self.stats.out_of_order += u32::from(data.psn < self.end);
        }
        self.end = self.end.max(data.psn.saturating_add(1));
    }

    /// The report of a packet beyond the first missing one, unless that was reported just before.
    fn out_of_order(&mut self, config: &Config, now: Time, psn: u32, is_new: bool) -> Option<AckKind> {
        let missing = self.arrivals.first_missing();
        let is_recent = self.reported.is_some_and(|(reported, again)| reported == missing && now < again);
        let selective = config.loss_recovery == LossRecovery::SelectiveRepeat;
        if is_recent && !(selective && is_new) {
            return None;
        }
        self.reported = Some((missing, now + config.nack_interval));
        Some(if selective { AckKind::Selective(psn) } else { AckKind::Nack })
    }
}

impl Receiving for Receiver {
    type Config = Config;
    type Data = Data;
    type Answer = Ack;

    fn receive(&mut self, config: &Config, now: Time, data: &Data, arrival: Arrival) -> Option<Ack> {
        let is_marked = arrival.is_marked;
        let expected = self.arrivals.first_missing();
        if data.psn.saturating_sub(expected) >= SPAN && config.loss_recovery == LossRecovery::SelectiveRepeat
        {
            self.stats.impossible += 1;
            return None;
        }
        self.count(data, is_marked);
        let is_beyond = data.psn > expected;
        let keeps = !is_beyond || config.loss_recovery == LossRecovery::SelectiveRepeat;
        let is_new = keeps && self.arrivals.insert(data.psn);
        let next = self.arrivals.first_missing();
        let kind = if is_beyond { self.out_of_order(config, now, data.psn, is_new) } else { None };
        let reports = kind.is_some() && config.cnp_on_out_of_order;
        let is_cnp = (is_marked || reports) && config.is_ecn_capable() && self.cnp_at <= now;
        if is_cnp {
            self.cnp_at = now + config.cnp_interval;
        }
        let is_due = match kind {
            Some(_) => true,
            None if is_beyond => false,
            None => {
                self.unacknowledged += 1;
                // A duplicate means that an acknowledgement was lost.
                self.unacknowledged >= config.ack_every || data.asks || !is_new || self.arrivals.has_gap()
            }
        };
        if !is_due && !is_cnp {
            return None;
        }
        self.unacknowledged = 0;
        let kind = kind.unwrap_or(AckKind::Plain);
        Some(Ack { next, kind, is_cnp, echo: data.sent, telemetry: data.telemetry.clone() })
    }

    /// The number of packets that have arrived in order.
    fn delivered(&self) -> u64 {
        self.arrivals.first_missing().into()
    }

    fn received_bytes(&self, config: &Config) -> u64 {
        self.delivered() * u64::from(config.mtu)
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn heap_bytes(&self) -> usize {
        self.arrivals.heap_bytes()
    }
}
