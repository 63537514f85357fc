//! [`ProtocolConfig`]: the properties of a protocol that follow from its parameters. Scenarios, results and warnings
//! ask here instead of naming protocols, so that a protocol is described where its parameters are.

use weft_units::{Duration, Rate};

use crate::framing::Framing;
use crate::parameters::ConfigError;

/// The parameters of a protocol.
pub trait ProtocolConfig {
    /// How it divides a flow into packets.
    fn framing(&self) -> Framing;

    /// Checks conditions that the types cannot express: ranges, and that parameters are consistent.
    ///
    /// # Errors
    /// The first parameter that is out of range or contradicts another.
    fn validate(&self) -> Result<(), ConfigError>;

    /// The name of the parameter that is the payload of a full packet.
    fn payload_key(&self) -> &'static str;

    /// The largest flow that it carries: that of numbered packets, unless it says otherwise.
    fn largest_flow(&self) -> u64 {
        self.framing().largest_numbered_flow()
    }

    /// Whether it has connections, on which lost packets are sent again. Otherwise, lost packets are gone.
    fn has_connections(&self) -> bool {
        true
    }

    /// Whether it makes use of packets whose payload a switch has cut off.
    fn takes_trimmed(&self) -> bool {
        false
    }

    /// Parameters that have no effect with the values of others.
    fn idle(&self) -> &'static [Idle] {
        &[]
    }

    /// The effect on its congestion control if no queue marks packets, if it waits for marks.
    fn without_marks(&self) -> Option<&'static str> {
        None
    }

    /// Why its packets are not ECN-capable, if they are not.
    fn without_ecn(&self) -> Option<WithoutEcn> {
        None
    }

    /// Whether hosts adapt their choice of paths to the fate of earlier packets.
    fn adapts_paths(&self) -> bool {
        false
    }

    /// By which parameters its hosts choose the paths of packets, if they do so by entropy.
    fn path_choice(&self) -> Option<PathChoice> {
        None
    }

    /// For how many switches on their way its packets have room to add their telemetry; `None`: they ask for none.
    fn telemetry_hops(&self) -> Option<u8> {
        None
    }

    /// The additive increase of its rate, if that must fit the links.
    fn step(&self) -> Option<Step> {
        None
    }

    /// Its timeout, if that must fit the fabric.
    fn fixed_timeout(&self) -> Option<FixedTimeout> {
        None
    }

    /// The initial window of a host whose link has `rate`, if it was given.
    fn first_window(&self, _rate: Rate) -> Option<FirstWindow> {
        None
    }

    /// Computes the missing times from the round-trip time of the longest path in the idle fabric, for a full packet
    /// and its answer. Only called if there is a [`fixed_timeout`](Self::fixed_timeout); `trims`: whether ports trim.
    fn settle_times(&mut self, _longest: Duration, _trims: bool) {}
}

/// Parameters that have no effect while another has some value.
#[derive(Clone, Copy, Debug)]
pub struct Idle {
    /// The parameters that have no effect.
    pub keys: &'static [&'static str],
    /// The parameter that decides this.
    pub decides: &'static str,
    /// Its value with which they have no effect.
    pub value: &'static str,
    /// The meaning of the value, or a remedy.
    pub advice: &'static str,
}

/// How hosts choose the paths of packets by entropy, which switches hash.
#[derive(Clone, Copy, Debug)]
pub struct PathChoice {
    /// Which hosts.
    pub hosts: &'static str,
    /// The parameter that names the choice.
    pub key: &'static str,
    /// The values of that parameter.
    pub values: &'static [&'static str],
    /// All parameters that have no effect if switches do not hash entropy.
    pub keys: &'static [&'static str],
}

/// The additive increase of a rate.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The parameter.
    pub key: &'static str,
    /// Its value.
    pub step: Rate,
    /// The rate of the links that its default is for.
    pub suits: Rate,
}

/// The time after which a packet that is not acknowledged is sent again, whatever was measured.
#[derive(Clone, Copy, Debug)]
pub struct FixedTimeout {
    /// This time: the parameter `rto`.
    pub rto: Duration,
    /// The round-trip time of the longest path in the idle fabric, if it is known.
    pub base_rtt: Option<Duration>,
    /// Bytes of the IP packet in which an answer travels.
    pub answer: u16,
}

/// An initial window that a scenario sets, and its bound.
#[derive(Clone, Copy, Debug)]
pub struct FirstWindow {
    /// The parameter `initial_window`, in packets.
    pub packets: u32,
    /// The largest window in packets.
    pub largest: u32,
}

/// Why no packet of a protocol is ECN-capable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithoutEcn {
    /// The key and its value that decide so.
    pub why: &'static str,
    /// What to set instead.
    pub fix: &'static str,
}
