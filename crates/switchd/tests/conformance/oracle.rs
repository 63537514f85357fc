//! The state machine behind bytes: a frame is read by `weft-wire`, decided on by `weft-switching`, and
//! what it wants done is written by `weft-wire`.

use weft_switchd::{Counters, Mode, Reason};
use weft_switching::arp_path::ArpPathSwitch;
use weft_switching::tcp_path::TcpPathSwitch;
use weft_switching::tfe::{Classifier, TfeSwitch};
use weft_switching::{Action, Actions, Context, DropReason, Header, Kind, Rewrite, Stream, Switch, stream};
use weft_units::{PortId, Time};
use weft_wire::{
    EtherType, Ethernet, HelloFrame, MacAddr, PATH_HEADER_LEN, PathHeader, PathType, Tuple, VlanTag,
    count_hop, unwrap, wrap,
};

use crate::read::read;
use crate::routed::Routed;
use crate::setting::Setting;

/// What a switch may ask of the world.
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

/// What became of a frame.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outcome {
    /// Frames that leave.
    pub sent: Vec<(PortId, Vec<u8>)>,
    /// What is counted of this frame.
    pub counted: Counters,
    /// What was done to frames, by name.
    pub deeds: Vec<&'static str>,
    /// The number of a flood about two stations that starts here.
    pub stations: Option<u32>,
    /// Whether it was a Hello that may be believed.
    pub hello: bool,
}

impl Outcome {
    fn dropped(reason: Reason) -> Self {
        let counted = Counters { dropped: vec![(reason, 1)], ..Counters::default() };
        Self { counted, ..Self::default() }
    }
}

/// The state machine of a mode.
pub enum Machine {
    Arp(ArpPathSwitch),
    Tcp(TcpPathSwitch),
    Tfe(Box<TfeSwitch>),
    Routed(Box<Routed>),
}

impl Machine {
    /// What does the default forwarding; of modes with routes, what knows ports and floods.
    pub fn base(&self) -> &ArpPathSwitch {
        match self {
            Self::Arp(switch) => switch,
            Self::Routed(switch) => &switch.base,
            _ => self.paths().expect("it keeps flows").base(),
        }
    }

    /// What keeps flows.
    pub fn paths(&self) -> Option<&TcpPathSwitch> {
        match self {
            Self::Arp(_) | Self::Routed(_) => None,
            Self::Tcp(switch) => Some(switch),
            Self::Tfe(switch) => Some(switch.paths()),
        }
    }

    fn receive(&mut self, ctx: &mut Ctx<'_>, port: PortId, header: &Header, frame: &[u8], out: &mut Actions) {
        match self {
            Self::Arp(switch) => switch.receive(ctx, port, header, out),
            Self::Tcp(switch) => switch.receive(ctx, port, header, out),
            Self::Tfe(switch) => switch.receive(ctx, port, header, out),
            Self::Routed(switch) => switch.receive(ctx, port, header, frame, out),
        }
    }

    fn port_changed(&mut self, ctx: &mut Ctx<'_>, port: PortId, up: bool, out: &mut Actions) {
        match self {
            Self::Arp(switch) => switch.port_changed(ctx, port, up, out),
            Self::Tcp(switch) => switch.port_changed(ctx, port, up, out),
            Self::Tfe(switch) => switch.port_changed(ctx, port, up, out),
            Self::Routed(switch) => switch.base.port_changed(ctx, port, up, out),
        }
    }

    fn on_deadline(&mut self, ctx: &mut Ctx<'_>, out: &mut Actions) {
        match self {
            Self::Arp(switch) => switch.on_deadline(ctx, out),
            Self::Tcp(switch) => switch.on_deadline(ctx, out),
            Self::Tfe(switch) => switch.on_deadline(ctx, out),
            Self::Routed(switch) => switch.base.on_deadline(ctx, out),
        }
    }
}

/// A switch.
pub struct Oracle {
    pub switch: Machine,
    pub random: Stream,
    /// Ports that a Hello makes fabric ports.
    may_be_fabric: Vec<bool>,
    /// Whether SYNs are wrapped, but for those that would be too long.
    wraps: bool,
}

impl Oracle {
    pub fn new(setting: &Setting) -> Self {
        let (config, ways) = (&setting.config, setting.ways.clone());
        let switch = match setting.mode {
            Mode::ArpPath => Machine::Arp(ArpPathSwitch::new(config, ways, 1)),
            Mode::TcpPath => Machine::Tcp(TcpPathSwitch::new(config, ways, 1)),
            Mode::Tfe => {
                let classifier = setting.classifier.clone();
                Machine::Tfe(Box::new(TfeSwitch::new(config, ways, classifier, 1)))
            }
            Mode::Ecmp | Mode::Spray => Machine::Routed(Box::new(Routed::new(setting))),
        };
        Self {
            switch,
            random: stream(1, "conformance", 0),
            may_be_fabric: setting.may_be_fabric.clone(),
            wraps: match setting.mode {
                Mode::TcpPath => true,
                Mode::Tfe => !matches!(setting.classifier, Classifier::Auto(_)),
                _ => false,
            },
        }
    }

    /// A frame comes in.
    pub fn receive(&mut self, port: PortId, frame: &[u8], now: Time) -> Outcome {
        let fabric = self.switch.base().ports().is_fabric(port, now);
        let header = match read(frame) {
            // What would be too long when wrapped is forwarded like any other frame.
            Ok(header) if self.wraps && !fabric && opens(&header) && frame.len() + PATH_HEADER_LEN > 1514 => {
                Header { kind: Kind::Other, ..header }
            }
            Ok(header) => header,
            Err(_) if !fabric => {
                return Outcome::dropped(Reason::Switch(DropReason::Untrusted));
            }
            Err(reason) => return Outcome::dropped(Reason::Reader(reason)),
        };
        if header.kind == Kind::Hello {
            return self.on_hello(port, frame, &header, now);
        }
        let mut out = Actions::default();
        self.switch.receive(&mut Ctx { now, random: &mut self.random }, port, &header, frame, &mut out);
        outcome(frame, &out)
    }

    fn on_hello(&mut self, port: PortId, frame: &[u8], header: &Header, now: Time) -> Outcome {
        if !self.may_be_fabric[port.index()] {
            return Outcome::dropped(Reason::Switch(DropReason::Untrusted));
        }
        let hello = HelloFrame::parse(frame, EtherType::HELLO).is_ok();
        if hello {
            let ctx = &mut Ctx { now, random: &mut self.random };
            self.switch.receive(ctx, port, header, frame, &mut Actions::default());
        }
        let counted = Counters { consumed: 1, ..Counters::default() };
        Outcome { counted, hello, ..Outcome::default() }
    }

    /// A port goes down or comes up.
    pub fn set_up(&mut self, port: PortId, up: bool, now: Time) {
        let ctx = &mut Ctx { now, random: &mut self.random };
        self.switch.port_changed(ctx, port, up, &mut Actions::default());
    }

    /// Tables are swept, and flows of dead ports told; what leaves, but for Hellos.
    pub fn tend(&mut self, now: Time) -> Outcome {
        let ctx = &mut Ctx { now, random: &mut self.random };
        let (mut out, mut told) = (Actions::default(), Outcome::default());
        self.switch.on_deadline(ctx, &mut out);
        for (port, header) in out.emitted().iter().filter(|(_, header)| header.kind != Kind::Hello) {
            told.sent.push((*port, own(&[], header)));
            told.deeds.push(match header.kind {
                Kind::PathFail => "fail of an idle flow",
                _ => "request for an idle flow",
            });
        }
        told
    }
}

/// Whether it is a segment that would be wrapped.
fn opens(header: &Header) -> bool {
    header.tcp_flags & (Header::SYN | Header::RST) == Header::SYN
}

/// What is to be done, as bytes.
fn outcome(frame: &[u8], out: &Actions) -> Outcome {
    let mut changed = frame.to_vec();
    let mut longer = vec![0; frame.len() + PATH_HEADER_LEN];
    match out.rewriting() {
        Rewrite::Keep => {}
        Rewrite::Hop => {
            count_hop(&mut changed, EtherType::PATH).expect("it was read");
        }
        Rewrite::Wrap(kind, id) => {
            let path_type = if kind == Kind::PathRequest { PathType::Request } else { PathType::Reply };
            wrap(frame, path_type, id, EtherType::PATH, &mut longer).expect("it was read");
            changed = longer;
        }
        Rewrite::Unwrap => {
            let len = unwrap(frame, EtherType::PATH, &mut longer).expect("it was read");
            changed = longer[..len].to_vec();
        }
    }
    let mut outcome = Outcome::default();
    outcome.deeds.push(match out.rewriting() {
        _ if is_dropped(out) => "dropped",
        Rewrite::Keep => "kept",
        Rewrite::Hop => "hop",
        Rewrite::Wrap(Kind::PathRequest, _) => "wrapped in a request",
        Rewrite::Wrap(..) => "wrapped in a reply",
        Rewrite::Unwrap => "unwrapped",
    });
    for action in out.all() {
        match action {
            Action::Send(port) => {
                outcome.counted.forwarded = 1;
                outcome.sent.push((port, changed.clone()));
            }
            Action::Drop(reason) => outcome.counted.dropped.push((Reason::Switch(reason), 1)),
            Action::Consume => outcome.counted.consumed = 1,
        }
    }
    for (port, header) in out.emitted() {
        outcome.sent.push((*port, own(frame, header)));
        if !header.is_about_flow() && header.kind != Kind::PathReply {
            outcome.stations = Some(header.exploration_id());
        }
        outcome.deeds.push(match (header.kind, header.is_about_flow()) {
            (Kind::PathFail, false) => "fail of a station",
            (Kind::PathFail, true) => "fail of a flow",
            (Kind::PathRequest, _) => "request for a station",
            (Kind::PathReply, _) => "reply of a station",
            (Kind::RecoveryRequest, _) => "request for a flow",
            _ => "reply of a flow",
        });
    }
    outcome
}

fn is_dropped(out: &Actions) -> bool {
    out.all().any(|action| matches!(action, Action::Drop(_)))
}

/// A frame of the switch's own, which `cause` made it send.
fn own(cause: &[u8], header: &Header) -> Vec<u8> {
    let path_type = match header.kind {
        Kind::PathFail => PathType::Fail,
        Kind::PathRequest | Kind::RecoveryRequest => PathType::RecoveryRequest,
        Kind::PathReply | Kind::RecoveryReply => PathType::RecoveryReply,
        kind => panic!("a switch sent a frame of kind {kind:?}"),
    };
    let tuple = Tuple {
        source: MacAddr(header.src.0),
        source_port: header.sport,
        destination: MacAddr(header.dst.0),
        destination_port: header.dport,
    };
    let tags: Vec<VlanTag> = Ethernet::parse(cause).map_or(Vec::new(), |ethernet| ethernet.tags().collect());
    let path = PathHeader { path_type, hops: 0, id: header.exploration_id(), tuple };
    let mut frame = [0; 64];
    let len = path.write(&tags, EtherType::PATH, &mut frame).expect("it fits");
    frame[..len].to_vec()
}
