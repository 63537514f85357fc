//! [`Protocol`]: the transport protocol of a run's hosts, with its parameters.

use serde::{Serialize, Serializer};
use weft_units::{Given, ParamInfo, ParamValue, Parameters as _};

use crate::config::Config;
use crate::congestion::{CongestionControl, ControllerInfo};
use crate::framing::Framing;
use crate::parameters::ConfigError;
use crate::{roce, udp, uec};

/// The names of the protocols, each with its summary.
pub const PROTOCOLS: &[(&str, &str)] = &[
    ("tcp", "TCP or Multipath TCP, by a profile"),
    ("udp", "datagrams at a rate, constant or on and off; nothing is retransmitted"),
    ("roce", "RoCEv2: queue pairs with go-back-N or selective repeat, and DCQCN"),
    ("uec", "Ultra Ethernet: packets over many paths, SACK and NACK, window by delay and marks"),
];

/// A protocol and its parameters; serialised as these.
#[derive(Clone, PartialEq, Debug)]
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

/// Evaluates an expression for the parameters of any protocol.
macro_rules! config {
    ($protocol:expr, $config:ident => $value:expr) => {
        match $protocol {
            Protocol::Tcp($config) => $value,
            Protocol::Udp($config) => $value,
            Protocol::Roce($config) => $value,
            Protocol::Uec($config) => $value,
        }
    };
}

impl Protocol {
    /// Every protocol with its defaults, in the order of [`PROTOCOLS`].
    pub fn all() -> [Self; 4] {
        let (tcp, roce) = (Self::Tcp(Box::default()), Self::Roce(Box::default()));
        [tcp, Self::Udp(udp::Config::default()), roce, Self::Uec(uec::Config::default())]
    }

    /// The protocol of this name with its defaults; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|protocol| protocol.name() == name)
    }

    /// Its parameters with their values; of a custom congestion controller, those that are given.
    pub fn parameters(&self) -> Vec<(&'static ParamInfo, ParamValue)> {
        let mut all = config!(self, config => config.parameters());
        if let Some((info, config)) = self.controller().zip(self.tcp()) {
            let given = |param: &ParamInfo| config.congestion.custom.get(param.name).cloned();
            all.extend(info.params.iter().filter_map(|param| Some((param, given(param)?))));
        }
        all
    }

    /// Takes over the values that are `given`.
    pub fn set(&mut self, given: &Given) {
        config!(self, config => config.set(given));
        if let (Some(info), Self::Tcp(config)) = (self.controller(), self) {
            let own = given.iter().filter(|(name, _)| info.has(name));
            config.congestion.custom.extend(own.map(|(name, value)| (name.clone(), value.clone())));
        }
    }

    /// The custom congestion controller, if it has one.
    pub fn controller(&self) -> Option<&'static ControllerInfo> {
        match self.tcp()?.congestion_control {
            CongestionControl::Custom(info) => Some(info),
            _ => None,
        }
    }

    /// Checks what the types cannot: ranges, and that parameters are consistent.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    pub fn validate(&self) -> Result<(), ConfigError> {
        config!(self, config => config.validate())
    }

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
        config!(self, config => config.framing())
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

impl Serialize for Protocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.parameters().into_iter().map(|(param, value)| (param.name, value)))
    }
}

impl From<Config> for Protocol {
    fn from(config: Config) -> Self {
        Self::Tcp(Box::new(config))
    }
}
