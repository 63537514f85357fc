//! [`Source`]: sends the datagrams of a flow.

use weft_units::{Bytes, Duration, Time};

use super::config::{Config, Pattern};

/// The sending side of a flow.
#[derive(Clone, Debug)]
pub struct Source {
    packets: u32,
    /// Payload bytes of the last datagram.
    last: u16,
    sent: u32,
    next_at: Time,
    /// When it stops sending for a while; [`Time::MAX`]: never.
    on_until: Time,
}

/// A datagram: its number from 0, and its payload bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Datagram {
    /// Its number among those of its flow, from 0.
    pub number: u32,
    /// Bytes of payload.
    pub payload: u16,
}

impl Source {
    /// A source of `bytes` that starts `now`. `uniform` draws a number from 0 to below 1.
    pub fn new(config: &Config, bytes: u64, now: Time, uniform: &mut impl FnMut() -> f64) -> Self {
        let (packets, last) = config.framing().numbered_packets(bytes);
        let on_until = match config.pattern {
            Pattern::Constant => Time::MAX,
            Pattern::OnOff => now + exponential(config.mean_on, uniform),
        };
        Self { packets, last, sent: 0, next_at: now, on_until }
    }

    /// When the next datagram is due; `None` once all are sent.
    pub fn next_at(&self) -> Option<Time> {
        (self.sent < self.packets).then_some(self.next_at)
    }

    /// Takes the next datagram; call it once it is due.
    pub fn take(&mut self, config: &Config, uniform: &mut impl FnMut() -> f64) -> Datagram {
        let number = self.sent;
        self.sent += 1;
        let payload = if self.sent == self.packets { self.last } else { config.payload };
        self.next_at += config.rate.tx_time(Bytes(payload.into()));
        while self.next_at >= self.on_until {
            let off = exponential(config.mean_off, uniform);
            self.next_at += off;
            self.on_until = self.on_until + off + exponential(config.mean_on, uniform);
        }
        Datagram { number, payload }
    }
}

fn exponential(mean: Duration, uniform: &mut impl FnMut() -> f64) -> Duration {
    Duration::from_secs_f64(-mean.as_secs_f64() * (1.0 - uniform()).ln())
}
