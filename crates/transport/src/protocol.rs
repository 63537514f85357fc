//! [`Protocol`]: the transport protocol of a run's hosts, with its parameters.

use serde::Serialize;

use crate::config::Config;
use crate::framing::Framing;
use crate::{roce, udp, uec};

/// The names of the protocols, each with its summary.
pub const PROTOCOLS: &[(&str, &str)] = &[
    ("tcp", "TCP or Multipath TCP, by a profile"),
    ("udp", "datagrams at a rate, constant or on and off; nothing is retransmitted"),
    ("roce", "RoCEv2: queue pairs with go-back-N or selective repeat, and DCQCN"),
    ("uec", "Ultra Ethernet: packets over many paths, SACK and NACK, window by delay and marks"),
];

/// A protocol and its parameters; serialised as these.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Protocol {
    /// TCP.
    Tcp(Box<Config>),
    /// Datagrams.
    Udp(udp::Config),
    /// RDMA over Converged Ethernet, version 2.
    Roce(Box<roce::Config>),
    /// Ultra Ethernet.
    Uec(uec::Config),
}

impl Protocol {
    /// Its name.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Tcp(_) => "tcp",
            Self::Udp(_) => "udp",
            Self::Roce(_) => "roce",
            Self::Uec(_) => "uec",
        }
    }

    /// TCP's parameters, if it is TCP.
    pub fn tcp(&self) -> Option<&Config> {
        match self {
            Self::Tcp(config) => Some(config),
            _ => None,
        }
    }

    /// How it divides a flow into packets.
    pub fn framing(&self) -> Framing {
        match self {
            Self::Tcp(config) => config.framing(),
            Self::Udp(config) => config.framing(),
            Self::Roce(config) => config.framing(),
            Self::Uec(config) => config.framing(),
        }
    }

    /// The name of the payload of a full packet among its parameters, and the largest value.
    pub const fn payload_parameter(&self) -> (&'static str, u16) {
        match self {
            Self::Tcp(_) => ("mss", Config::LARGEST_MSS),
            Self::Udp(_) => ("payload", udp::Config::LARGEST_PAYLOAD),
            Self::Roce(_) => ("mtu", roce::Config::LARGEST_MTU),
            Self::Uec(_) => ("mtu", uec::Config::LARGEST_MTU),
        }
    }

    /// The largest flow that it carries.
    pub fn largest_flow(&self) -> u64 {
        match self {
            Self::Tcp(_) => u64::MAX,
            Self::Udp(_) | Self::Roce(_) | Self::Uec(_) => self.framing().largest_numbered_flow(),
        }
    }
}

impl From<Config> for Protocol {
    fn from(config: Config) -> Self {
        Self::Tcp(Box::new(config))
    }
}
