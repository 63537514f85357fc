//! [`Sender`]: the sending side of a queue pair.

use std::collections::VecDeque;

use weft_units::{Duration, Time};

use super::config::{Config, LossRecovery, SPAN};
use super::control::Control;
use super::path::{Feedback, Path};
use super::receiver::{Ack, AckKind, Data};
use super::telemetry::Telemetry;
use crate::arrivals::Arrivals;
use crate::one_way::Sending;
use crate::protocol_config::ProtocolConfig as _;
use crate::stats::Stats;

/// The sending side of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    packets: u32,
    /// Payload bytes of the last packet.
    last: u16,
    /// Of earlier messages that are not acknowledged: the packet after the last one, and the last one's payload bytes.
    earlier: VecDeque<(u32, u16)>,
    /// The most packets in flight, besides the window of the congestion control.
    window: u32,
    /// The lowest number never sent.
    fresh: u32,
    /// The number to send next: below `fresh` after going back.
    next: u32,
    /// The packets that have arrived. With go-back-N, without gaps.
    arrived: Arrivals,
    /// With selective repeat: the end of the packets that are known to be missing where they have not arrived.
    known_to: u32,
    /// In recovery, the acknowledgement at which it ends.
    recovers_to: Option<u32>,
    /// When the sender stops waiting; [`Time::MAX`]: it does not wait.
    timeout_at: Time,
    control: Control,
    /// When its rate lets it send.
    next_at: Time,
    /// When it sent the last packet, and for how long its link was busy with it.
    last_sent: (Time, Duration),
    stats: Stats,
}

impl Sender {
    /// A flow of `bytes` that starts `now` on this path. At most `window` bytes may be in flight, if there is a limit.
    pub fn new(config: &Config, bytes: u64, window: Option<u64>, path: &Path, now: Time) -> Self {
        let (packets, last) = config.framing().numbered_packets(bytes);
        let most = match config.loss_recovery {
            LossRecovery::GoBackN => u32::MAX,
            LossRecovery::SelectiveRepeat => SPAN,
        };
        let window = window.map_or(u64::from(most), |bytes| (bytes / u64::from(config.mtu)).max(1));
        Self {
            packets,
            last,
            earlier: VecDeque::new(),
            window: u32::try_from(window).unwrap_or(most).min(most),
            fresh: 0,
            next: 0,
            arrived: Arrivals::default(),
            known_to: 0,
            recovers_to: None,
            timeout_at: Time::MAX,
            control: Control::new(config, path),
            next_at: now,
            last_sent: (now, Duration::ZERO),
            stats: Stats::default(),
        }
    }

    /// Payload bytes of a packet, if it is the last one of a message.
    fn ends(&self, psn: u32) -> Option<u16> {
        if psn + 1 == self.packets {
            return Some(self.last);
        }
        self.earlier.iter().find(|(end, _)| *end == psn + 1).map(|(_, last)| *last)
    }

    /// The number of the first packet that is not acknowledged.
    fn acknowledged(&self) -> u32 {
        self.arrived.first_missing()
    }

    /// Whether everything is acknowledged.
    pub fn is_done(&self) -> bool {
        self.acknowledged() >= self.packets
    }

    /// The number of the packet that it would send now, if any.
    fn peek(&mut self, config: &Config) -> Option<u32> {
        self.next = self.next.max(self.acknowledged());
        while self.next < self.fresh {
            if self.next >= self.known_to && self.recovers_to.is_some() {
                // Nothing says that it is lost.
                self.next = self.fresh;
                break;
            }
            if !self.arrived.contains(self.next) {
                return Some(self.next);
            }
            self.next += 1;
        }
        let room = self.fresh - self.acknowledged() < self.room(config);
        (self.fresh < self.packets && room).then_some(self.fresh)
    }

    /// The most packets in flight now.
    fn room(&self, config: &Config) -> u32 {
        self.window.min(self.control.window(config))
    }

    fn timeout(&self, config: &Config) -> Duration {
        match config.loss_recovery {
            LossRecovery::GoBackN => config.retransmission_timeout,
            LossRecovery::SelectiveRepeat if self.fresh - self.acknowledged() <= config.rto_low_packets => {
                config.rto_low
            }
            LossRecovery::SelectiveRepeat => config.rto_high,
        }
    }

    /// A packet beyond a missing one has arrived. Returns whether that is the first sign of a loss.
    fn select(&mut self, psn: u32) -> bool {
        if psn >= self.fresh {
            return false;
        }
        self.arrived.insert(psn);
        let is_first = self.recovers_to.is_none();
        if is_first {
            self.recovers_to = Some(self.fresh);
            self.next = self.acknowledged();
            self.known_to = self.next + 1;
        }
        if psn > self.known_to && self.next >= self.known_to {
            self.next = self.known_to;
        }
        self.known_to = self.known_to.max(psn);
        is_first
    }

    /// It has sent a packet at `now`, of `wire_bytes` bytes on the wire, for which its link needs `tx_time`.
    pub fn sent(&mut self, config: &Config, now: Time, wire_bytes: u32, tx_time: Duration) {
        self.last_sent = (now, tx_time);
        self.next_at = now + self.control.sent(config, now, wire_bytes, tx_time);
    }
}

impl Sending for Sender {
    type Config = Config;
    type Data = Data;
    type Answer = Ack;

    fn write(&mut self, config: &Config, bytes: u64) {
        let (packets, last) = config.framing().numbered_packets(bytes);
        self.earlier.push_back((self.packets, self.last));
        self.packets = self.packets.saturating_add(packets);
        self.last = last;
    }

    fn receive(&mut self, config: &Config, now: Time, ack: &Ack) {
        let before = self.acknowledged();
        self.arrived.fill_to(ack.next.min(self.fresh));
        let acknowledged = self.acknowledged();
        while self.earlier.front().is_some_and(|(end, _)| *end <= acknowledged) {
            self.earlier.pop_front();
        }
        let shows_loss = match ack.kind {
            AckKind::Plain => false,
            AckKind::Nack => {
                self.next = self.acknowledged();
                true
            }
            AckKind::Selective(psn) if config.loss_recovery == LossRecovery::SelectiveRepeat => {
                self.select(psn)
            }
            // Its receiver keeps nothing beyond the missing packet.
            AckKind::Selective(_) => false,
        };
        if self.recovers_to.is_some_and(|end| self.acknowledged() >= end) {
            self.recovers_to = None;
            self.next = self.fresh;
        }
        let waits = self.acknowledged() < self.fresh;
        self.timeout_at = if waits { now + self.timeout(config) } else { Time::MAX };
        let feedback = Feedback {
            round_trip: now.saturating_since(ack.echo),
            acknowledged: self.acknowledged() - before,
            next: self.acknowledged(),
            fresh: self.fresh,
            is_cnp: ack.is_cnp,
            shows_loss,
            telemetry: ack.telemetry.as_deref(),
        };
        self.control.receive(config, now, &feedback);
        let (at, tx_time) = self.last_sent;
        if let Some(gap) = self.control.gap_now(tx_time) {
            self.next_at = at + gap;
        }
    }

    fn sends_at(&mut self, config: &Config) -> Option<Time> {
        self.peek(config).map(|_| self.next_at)
    }

    fn poll_transmit(&mut self, config: &Config, now: Time) -> Option<Data> {
        let psn = self.peek(config)?;
        let is_repeated = psn < self.fresh;
        self.next = psn + 1;
        self.fresh = self.fresh.max(self.next);
        self.stats.data_segments_sent += 1;
        self.stats.retransmissions += u32::from(is_repeated);
        self.timeout_at = now + self.timeout(config);
        let last = self.ends(psn);
        let payload = last.unwrap_or(config.mtu);
        let fills = self.next == self.fresh && self.fresh - self.acknowledged() >= self.room(config);
        Some(Data {
            psn,
            payload,
            asks: last.is_some() || fills || is_repeated || config.asks_always(),
            is_repeated,
            sent: now,
            telemetry: config.telemetry_hops().map(|hops| Box::new(Telemetry::with_room(hops))),
        })
    }

    fn next_timeout(&mut self, _config: &Config) -> Time {
        self.timeout_at
    }

    /// All unacknowledged packets count as lost.
    fn on_timeout(&mut self, config: &Config, now: Time) {
        if now < self.timeout_at {
            return;
        }
        self.stats.timeouts += 1;
        self.control.time_out(config, now);
        self.next = self.acknowledged();
        if config.loss_recovery == LossRecovery::SelectiveRepeat {
            self.recovers_to = Some(self.fresh);
            self.known_to = self.fresh;
        }
        self.timeout_at = now + self.timeout(config);
    }

    fn acked(&self) -> u64 {
        self.acknowledged().into()
    }

    fn window(&self, config: &Config) -> Option<u64> {
        let window = self.room(config);
        (window < u32::MAX).then(|| u64::from(window) * u64::from(config.mtu))
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn heap_bytes(&self) -> usize {
        self.arrived.heap_bytes()
            + self.earlier.capacity() * size_of::<(u32, u16)>()
            + self.control.heap_bytes()
    }
}
