//! [`Link`]: one direction of a cable, and [`LinkSpec`], its properties for a builder.

use weft_units::{Duration, NodeId, PortId, Rate, TxClock};

use crate::{Limit, Overhead, QueueSpec};

/// The properties of one direction of a cable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSpec {
    /// Bits per second on the wire.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// The queue in front of it.
    pub queue: QueueSpec,
    /// The bytes around an IP packet.
    pub overhead: Overhead,
}

impl LinkSpec {
    /// A link of `rate` and `delay` with the default queue and Ethernet framing.
    pub fn new(rate: Rate, delay: Duration) -> Self {
        Self { rate, delay, queue: QueueSpec::default(), overhead: Overhead::Ethernet }
    }

    /// This link with another queue.
    pub fn with_queue(self, queue: QueueSpec) -> Self {
        Self { queue, ..self }
    }

    /// This link at another rate.
    pub fn with_rate(self, rate: Rate) -> Self {
        Self { rate, ..self }
    }

    /// This link with another framing.
    pub fn with_overhead(self, overhead: Overhead) -> Self {
        Self { overhead, ..self }
    }
}

impl Default for LinkSpec {
    /// 10 Gbps, 1 us, 1000 packets, Ethernet.
    fn default() -> Self {
        Self::new(Rate::from_gbps(10), Duration::from_us(1))
    }
}

/// One direction of a cable of a fabric.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Link {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// The interface of `from`.
    pub from_port: PortId,
    /// The interface of `to`.
    pub to_port: PortId,
    /// Bits per second on the wire.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// The queue in front of it.
    pub queue: QueueSpec,
    /// The bytes around an IP packet.
    pub overhead: Overhead,
    /// Whether the cable works when a run starts; both directions of a cable agree.
    pub up: bool,
}

impl Link {
    /// The time that an IP packet takes to cross the link, once it has left the queue: serialisation and propagation.
    pub fn crossing(&self, ip_bytes: u32) -> Duration {
        TxClock::new(self.rate).tx_time(self.overhead.wire_bytes(ip_bytes)) + self.delay
    }

    /// The limit of the queue that cut packets join: by default twice that of the others, in bytes, as in uet-htsim. A full IP
    /// packet has `full_packet` bytes.
    pub fn trim_limit(&self, full_packet: u32) -> Limit {
        self.queue.trim_queue.unwrap_or(Limit::Bytes(match self.queue.limit {
            Limit::Bytes(bytes) => bytes.saturating_mul(2),
            Limit::Packets(packets) => {
                2 * u64::from(packets) * u64::from(self.overhead.wire_bytes(full_packet))
            }
            Limit::Unlimited => return Limit::Unlimited,
        }))
    }

    /// The properties without the ends.
    pub fn spec(&self) -> LinkSpec {
        LinkSpec { rate: self.rate, delay: self.delay, queue: self.queue.clone(), overhead: self.overhead }
    }

    /// This link with the properties of `spec`.
    pub(crate) fn respecify(&mut self, spec: &LinkSpec) {
        self.rate = spec.rate;
        self.delay = spec.delay;
        self.queue = spec.queue.clone();
        self.overhead = spec.overhead;
    }
}
