//! [`Protocol`]: the transport protocol of a run's hosts, with its parameters. A protocol besides TCP is a module here
//! and a line of `protocols!`; its parameters describe everything else that depends on it ([`ProtocolConfig`]).

use serde::{Serialize, Serializer};
use weft_units::{Given, ParamInfo, ParamValue, Parameters as _, alternatives};

use crate::config::Config;
use crate::congestion::{CongestionControl, ControllerInfo};
use crate::framing::Framing;
use crate::protocol_config::ProtocolConfig;

pub mod roce;
pub mod udp;
pub mod uec;

/// Declares the protocols, each with the type of its parameters, its name and its summary.
macro_rules! protocols {
    ($($(#[$doc:meta])+ $Name:ident($Config:ty) = $name:literal, $summary:literal;)+) => {
        /// The names of the protocols, each with its summary.
        pub const PROTOCOLS: &[(&str, &str)] = &[$(($name, $summary)),+];

        /// A protocol and its parameters; serialised as these.
        #[derive(Clone, PartialEq, Debug)]
        pub enum Protocol {
            $($(#[$doc])+ $Name(Box<$Config>),)+
        }

        impl Protocol {
            /// Every protocol with its defaults, in the order of [`PROTOCOLS`].
            pub fn all() -> [Self; PROTOCOLS.len()] {
                [$(Self::$Name(Box::default())),+]
            }

            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Name(_) => $name,)+
                }
            }

            /// Its properties, which follow from its parameters.
            pub fn config(&self) -> &dyn ProtocolConfig {
                match self {
                    $(Self::$Name(config) => &**config,)+
                }
            }

            /// Its parameters, to fill in the missing ones.
            pub fn config_mut(&mut self) -> &mut dyn ProtocolConfig {
                match self {
                    $(Self::$Name(config) => &mut **config,)+
                }
            }

            fn own_parameters(&self) -> Vec<(&'static ParamInfo, ParamValue)> {
                match self {
                    $(Self::$Name(config) => config.parameters(),)+
                }
            }

            fn set_own(&mut self, given: &Given) {
                match self {
                    $(Self::$Name(config) => config.set(given),)+
                }
            }
        }

        $(impl From<$Config> for Protocol {
            fn from(config: $Config) -> Self {
                Self::$Name(Box::new(config))
            }
        })+
    };
}

protocols! {
    /// TCP.
    Tcp(Config) = "tcp", "TCP or Multipath TCP, by a profile";
    /// Datagrams.
    Udp(udp::Config) = "udp", "datagrams at a rate, constant or on and off; nothing is retransmitted";
    /// RDMA over Converged Ethernet, version 2.
    Roce(roce::Config) = "roce", "RoCEv2: queue pairs with go-back-N or selective repeat; DCQCN, HPCC, TIMELY or Swift";
    /// Ultra Ethernet.
    Uec(uec::Config) = "uec", "Ultra Ethernet: packets over many paths, SACK and NACK, window by delay and marks";
}

impl Protocol {
    /// The protocol of this name with its defaults; `None` if there is none.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|protocol| protocol.name() == name)
    }

    /// The names of the protocols for which something holds, for messages, such as `"tcp", "roce" or "uec"`.
    pub fn quoted(holds: fn(&dyn ProtocolConfig) -> bool) -> String {
        let all = Self::all().into_iter().filter(|protocol| holds(protocol.config()));
        alternatives(&all.map(|protocol| format!("\"{}\"", protocol.name())).collect::<Vec<_>>())
    }

    /// Its parameters with their values; of a custom congestion controller, those that are given.
    pub fn parameters(&self) -> Vec<(&'static ParamInfo, ParamValue)> {
        let mut all = self.own_parameters();
        if let Some((info, config)) = self.controller().zip(self.tcp()) {
            let given = |param: &ParamInfo| config.congestion.custom.get(param.name).cloned();
            all.extend(info.params.iter().filter_map(|param| Some((param, given(param)?))));
        }
        all
    }

    /// Takes over the values that are `given`.
    pub fn set(&mut self, given: &Given) {
        self.set_own(given);
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

    /// TCP's parameters, if it is TCP.
    pub fn tcp(&self) -> Option<&Config> {
        match self {
            Self::Tcp(config) => Some(config),
            _ => None,
        }
    }

    /// The protocol of connections within a scale-up domain, if its parameters differ there.
    pub fn within_domains(&self) -> Option<Self> {
        match self {
            Self::Tcp(_) | Self::Udp(_) => None,
            Self::Roce(config) => config.within_domains().map(Self::from),
            Self::Uec(config) => config.within_domains().map(Self::from),
        }
    }

    /// How it divides a flow into packets.
    pub fn framing(&self) -> Framing {
        self.config().framing()
    }
}

impl Serialize for Protocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.parameters().into_iter().map(|(param, value)| (param.name, value)))
    }
}
