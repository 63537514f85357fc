//! [`Machine`]: the state machine of a mode.

use weft_switchd::Mode;
use weft_switching::arp_path::ArpPathSwitch;
use weft_switching::snooping::Membership;
use weft_switching::tcp_path::TcpPathSwitch;
use weft_switching::tfe::TfeSwitch;
use weft_switching::{Actions, Context, Header, Stream, Switch};
use weft_units::{PortId, Time};

use crate::conformance::routed::Routed;
use crate::conformance::setting::Setting;

/// The context of a switch.
pub struct Ctx<'a> {
    pub now: Time,
    pub random: &'a mut Stream,
}

impl Context for Ctx<'_> {
    fn now(&self) -> Time {
        self.now
    }
    fn queue_bytes(&self, _port: PortId) -> u64 {
        0
    }
    fn random(&mut self) -> &mut Stream {
        self.random
    }
}

/// The state machine of a mode.
pub enum Machine {
    Arp(Box<ArpPathSwitch>),
    Tcp(Box<TcpPathSwitch>),
    Tfe(Box<TfeSwitch>),
    Routed(Box<Routed>),
}

impl Machine {
    pub fn new(setting: &Setting) -> Self {
        let (config, ways) = (&setting.config, setting.ways.clone());
        match setting.mode {
            Mode::ArpPath => Self::Arp(Box::new(ArpPathSwitch::new(config, ways, 1))),
            Mode::TcpPath => Self::Tcp(Box::new(TcpPathSwitch::new(config, ways, 1))),
            Mode::Tfe => {
                let classifier = setting.classifier.clone();
                Self::Tfe(Box::new(TfeSwitch::new(config, ways, classifier, 1)))
            }
            Mode::Ecmp | Mode::Spray => Self::Routed(Box::new(Routed::new(setting))),
            Mode::TagForward | Mode::FlowTable => panic!("tagged modes are compared in `tagged`"),
        }
    }

    /// The default forwarding.
    pub fn base(&self) -> &ArpPathSwitch {
        match self {
            Self::Arp(switch) => switch,
            Self::Routed(switch) => switch.switch.base(),
            _ => self.paths().expect("the mode has flows").base(),
        }
    }

    /// The flow table, in modes that have one.
    pub fn paths(&self) -> Option<&TcpPathSwitch> {
        match self {
            Self::Arp(_) | Self::Routed(_) => None,
            Self::Tcp(switch) => Some(switch),
            Self::Tfe(switch) => Some(switch.paths()),
        }
    }

    /// A message about groups; called before the frame that carries it is received.
    pub fn hear_membership(&mut self, port: PortId, header: &Header, message: Membership, now: Time) {
        match self {
            Self::Arp(switch) => switch.hear_membership(port, header, message, now),
            Self::Tcp(switch) => switch.hear_membership(port, header, message, now),
            Self::Tfe(switch) => switch.hear_membership(port, header, message, now),
            Self::Routed(switch) => switch.switch.hear_membership(port, header, message, now),
        }
    }

    pub fn receive(
        &mut self,
        ctx: &mut Ctx<'_>,
        port: PortId,
        header: &Header,
        frame: &[u8],
        out: &mut Actions,
    ) {
        match self {
            Self::Arp(switch) => switch.receive(ctx, port, header, out),
            Self::Tcp(switch) => switch.receive(ctx, port, header, out),
            Self::Tfe(switch) => switch.receive(ctx, port, header, out),
            Self::Routed(switch) => switch.receive(ctx, port, header, frame, out),
        }
    }

    pub fn port_changed(&mut self, ctx: &mut Ctx<'_>, port: PortId, up: bool, out: &mut Actions) {
        match self {
            Self::Arp(switch) => switch.port_changed(ctx, port, up, out),
            Self::Tcp(switch) => switch.port_changed(ctx, port, up, out),
            Self::Tfe(switch) => switch.port_changed(ctx, port, up, out),
            Self::Routed(switch) => switch.switch.port_changed(ctx, port, up, out),
        }
    }

    pub fn on_deadline(&mut self, ctx: &mut Ctx<'_>, out: &mut Actions) {
        match self {
            Self::Arp(switch) => switch.on_deadline(ctx, out),
            Self::Tcp(switch) => switch.on_deadline(ctx, out),
            Self::Tfe(switch) => switch.on_deadline(ctx, out),
            Self::Routed(switch) => switch.switch.on_deadline(ctx, out),
        }
    }
}
