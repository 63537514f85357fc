//! [`Southbound`]: a controller, its unconfirmed transactions, and the bytes to send.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use weft_wire::Error;

use super::audits::Audits;
use super::counts::Counts;
use super::open::Open;
use super::port_limit::PortLimit;
use super::session::Session;
use crate::clock::Duration;
use crate::command::Command;
use crate::controller::Controller;
use crate::ids::{FrameRef, PortNo, SwitchId};
use crate::offences::Offences;
use crate::settings::Settings;

/// A core that can be passed between threads.
pub type Core = Box<dyn Controller + Send + Sync>;

/// Why parsing stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop<'a> {
    /// The rest is less than a complete message, or not a message.
    Rest,
    /// The next message is not handled here.
    Other,
    /// An LLDP frame was received and consumed.
    Lldp {
        /// The ingress port.
        port: PortNo,
        /// The frame.
        frame: &'a [u8],
    },
    /// A malformed message was consumed.
    Malformed(Error),
}

/// A fault that needs attention.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trouble {
    /// A switch did not confirm rules within the deadline.
    Late(SwitchId),
    /// A switch has too many unanswered barrier requests.
    Backlog(SwitchId),
    /// A switch had lost this many rules, which were installed again.
    Repaired(SwitchId, usize),
}

/// Limits of switches and ports.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SouthboundLimits {
    /// How long a switch may take to confirm rules.
    pub install_deadline: Duration,
    /// Packet-ins per port and second.
    pub packets_per_port_s: u64,
    /// Answers to the controller's own probes per port and second, counted separately and at most as many as those.
    pub answers_per_port_s: u64,
    /// LLDP frames per port and second, counted separately.
    pub lldp_per_port_s: u64,
    /// Unanswered barrier requests per switch.
    pub backlog: usize,
    /// Interval between audits of a switch's rules; `None` for no audits.
    pub audit: Option<Duration>,
}

impl Default for SouthboundLimits {
    fn default() -> Self {
        Self::of(&Settings::default())
    }
}

impl SouthboundLimits {
    /// The limits with the deadline of `settings`.
    pub fn of(settings: &Settings) -> Self {
        Self {
            install_deadline: Duration::from_secs_f64(settings.install_deadline_s),
            packets_per_port_s: 5000,
            answers_per_port_s: 1000,
            lldp_per_port_s: 50,
            backlog: 200_000,
            audit: Some(Duration::from_ms(500)),
        }
    }
}

/// A controller, its unconfirmed transactions, and the bytes to send.
pub struct Southbound {
    pub(super) core: Core,
    pub(super) limits: SouthboundLimits,
    pub(super) sessions: FxHashMap<SwitchId, Session>,
    /// Switches with bytes to send, oldest first.
    pub(super) to_send: Vec<SwitchId>,
    pub(super) frames: FxHashMap<FrameRef, Box<[u8]>>,
    pub(super) last_frame: u64,
    pub(super) open: Open,
    pub(super) audits: Audits,
    pub(super) ports: PortLimit,
    pub(super) answers: PortLimit,
    pub(super) lldp: PortLimit,
    pub(super) counts: Counts,
    /// Frames of ports blocked before they reached the core.
    pub(super) offences: Offences,
    pub(super) set_ups: Vec<Duration>,
    pub(super) troubles: Vec<Trouble>,
    /// Commands of the core that are not executed yet.
    pub(super) work: VecDeque<Command>,
    pub(super) is_working: bool,
    /// Reused buffer for the core's commands.
    pub(super) said: Vec<Command>,
}

impl Southbound {
    /// Executes the decisions of `core`.
    pub fn new(core: Core, limits: SouthboundLimits) -> Self {
        Self {
            core,
            limits,
            sessions: FxHashMap::default(),
            to_send: Vec::new(),
            frames: FxHashMap::default(),
            last_frame: 0,
            open: Open::default(),
            audits: Audits::default(),
            ports: PortLimit::new(limits.packets_per_port_s),
            answers: PortLimit::new(limits.answers_per_port_s.min(limits.packets_per_port_s)),
            lldp: PortLimit::new(limits.lldp_per_port_s),
            counts: Counts::default(),
            offences: Offences::default(),
            set_ups: Vec::new(),
            troubles: Vec::new(),
            work: VecDeque::new(),
            is_working: false,
            said: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_limits_of_ports_and_switches() {
        let SouthboundLimits {
            install_deadline,
            packets_per_port_s,
            answers_per_port_s,
            lldp_per_port_s,
            ..
        } = SouthboundLimits::default();
        let ports = format!(
            "Per port, {packets_per_port_s} packet-ins/s, {answers_per_port_s} probe answers/s and {lldp_per_port_s} LLDP \
             frames/s are accepted"
        );
        let switches = format!("`did not confirm rules within {} s`", install_deadline.as_secs_f64());
        let page = include_str!("../../../../docs/controller.md");
        assert!(page.contains(&ports) && page.contains(&switches), "{ports}; {switches}");
    }
}
