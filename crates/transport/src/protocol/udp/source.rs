//! [`Source`]: sends the datagrams of a flow.
//!
//! Only the source knows when a flow has ended of which some datagrams are missing: the last one was sent, and the time in
//! which it might still arrive is over.

use std::convert::Infallible;

use rand_core::RngCore;
use rand_xoshiro::Xoshiro256PlusPlus;
use weft_units::{Bytes, Duration, Time};

use super::config::{Config, Pattern};
use crate::one_way::Sending;
use crate::protocol_config::ProtocolConfig as _;
use crate::stats::Stats;

/// The sending side of a flow.
#[derive(Clone, Debug)]
pub struct Source {
    packets: u32,
    /// Payload bytes of the last datagram.
    last: u16,
    bytes_sent: u64,
    next_at: Time,
    /// When it stops sending for a while; [`Time::MAX`]: never.
    on_until: Time,
    /// When the flow ends, if it has not by then; [`Time::MAX`] until all is sent.
    ends_at: Time,
    has_ended: bool,
    random: Xoshiro256PlusPlus,
    stats: Stats,
}

/// A datagram: its number from 0, and its payload bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Datagram {
    /// Its number among those of its flow, from 0.
    pub number: u32,
    /// Bytes of payload.
    pub payload: u16,
}

impl Source {
    /// A source of `bytes` that starts `now`, with a random stream of its own.
    pub fn new(config: &Config, bytes: u64, now: Time, mut random: Xoshiro256PlusPlus) -> Self {
        let (packets, last) = config.framing().numbered_packets(bytes);
        let on_until = match config.pattern {
            Pattern::Constant => Time::MAX,
            Pattern::OnOff => now + exponential(config.mean_on, &mut random),
        };
        Self {
            packets,
            last,
            bytes_sent: 0,
            next_at: now,
            on_until,
            ends_at: Time::MAX,
            has_ended: false,
            random,
            stats: Stats::default(),
        }
    }
}

impl Sending for Source {
    type Config = Config;
    type Data = Datagram;
    type Answer = Infallible;

    /// A flow of datagrams is one message.
    fn write(&mut self, _config: &Config, _bytes: u64) {}

    fn receive(&mut self, _config: &Config, _now: Time, _answer: &Infallible) {}

    fn sends_at(&mut self, _config: &Config) -> Option<Time> {
        (self.stats.data_segments_sent < self.packets).then_some(self.next_at)
    }

    fn poll_transmit(&mut self, config: &Config, now: Time) -> Option<Datagram> {
        self.sends_at(config).filter(|at| *at <= now)?;
        let number = self.stats.data_segments_sent;
        self.stats.data_segments_sent += 1;
        let is_last = number + 1 == self.packets;
        let payload = if is_last { self.last } else { config.payload };
        self.bytes_sent += u64::from(payload);
        self.next_at += config.rate.tx_time(Bytes(payload.into()));
        while self.next_at >= self.on_until {
            let off = exponential(config.mean_off, &mut self.random);
            self.next_at += off;
            self.on_until = self.on_until + off + exponential(config.mean_on, &mut self.random);
        }
        if is_last {
            self.ends_at = now + config.linger;
        }
        Some(Datagram { number, payload })
    }

    fn next_timeout(&mut self, config: &Config) -> Time {
        self.sends_at(config).unwrap_or(self.ends_at)
    }

    fn on_timeout(&mut self, _config: &Config, now: Time) {
        if self.ends_at <= now {
            (self.ends_at, self.has_ended) = (Time::MAX, true);
        }
    }

    /// Bytes that it has sent: nothing is acknowledged.
    fn acked(&self) -> u64 {
        self.bytes_sent
    }

    fn window(&self, _config: &Config) -> Option<u64> {
        None
    }

    fn is_aborted(&self) -> bool {
        self.has_ended
    }

    fn stats(&self) -> Stats {
        self.stats
    }

    fn heap_bytes(&self) -> usize {
        0
    }
}

fn exponential(mean: Duration, random: &mut Xoshiro256PlusPlus) -> Duration {
    let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    Duration::from_secs_f64(-mean.as_secs_f64() * (1.0 - uniform).ln())
}
